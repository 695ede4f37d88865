//! Finding the files that paths on the command line stand for.

use super::Failure;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// The files that some paths stand for, and the paths that could not be followed.
pub struct Found {
    pub files: Vec<PathBuf>,
    pub failures: Vec<(PathBuf, Failure)>,
}

/// Finds files: a folder stands for all files below it with one of these endings, in the order
/// of their names, and any other path for itself. Links to folders are not followed.
pub fn find(paths: &[PathBuf], endings: &[&str]) -> Found {
    let mut found = Found {
        files: Vec::new(),
        failures: Vec::new(),
    };
    for path in paths {
        match path.is_dir() {
            true => found.walk(path, endings),
            false => found.files.push(path.clone()),
        }
    }
    found
}

impl Found {
    fn walk(&mut self, folder: &Path, endings: &[&str]) {
        let before = (self.files.len(), self.failures.len());
        let wanted = |path: &Path| {
            let ending = path.extension().and_then(|ending| ending.to_str());
            ending.is_some_and(|ending| endings.contains(&ending)) && path.is_file()
        };
        for entry in WalkDir::new(folder).sort_by_file_name() {
            match entry {
                Ok(entry) if wanted(entry.path()) => self.files.push(entry.into_path()),
                Ok(_) => {}
                Err(error) => {
                    let path = error.path().unwrap_or(folder).to_path_buf();
                    let cause = error.into_io_error().unwrap_or(ErrorKind::Other.into());
                    let failure = Failure::file("read", &path, &cause);
                    self.failures.push((path, failure));
                }
            }
        }
        if before == (self.files.len(), self.failures.len()) {
            let text = format!("no {} files in '{}'", any_of(endings), folder.display());
            let failure = Failure::message(text);
            self.failures.push((folder.to_path_buf(), failure));
        }
    }
}

/// Endings in words: `.a, .b or .c`.
fn any_of(endings: &[&str]) -> String {
    let endings: Vec<String> = endings.iter().map(|ending| format!(".{ending}")).collect();
    match endings.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}
