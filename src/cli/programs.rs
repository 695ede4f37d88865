//! Many programs: folders are walked, and a broken program does not stop the others.

use super::args::{Common, distinct};
use super::input::{self, Input};
use super::{Failure, complain};
use crate::experiment::Subject;
use crate::record::ListedProgram;
use clap::ValueEnum;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// The endings of programs in folders.
const ENDINGS: [&str; 3] = ["fen", "litmus", "rmm"];

/// The programs of a sweep.
pub struct Programs {
    /// In order, the broken ones too.
    pub listed: Vec<ListedProgram>,
    /// Those that are well formed, by name.
    pub subjects: HashMap<String, Subject>,
}

impl Programs {
    /// The names of those that are well formed, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let sound = self.listed.iter().filter(|listed| listed.error.is_none());
        sound.map(|listed| listed.program.as_str())
    }

    /// Some program could not be read or is not well formed.
    pub fn broken(&self) -> bool {
        self.listed.iter().any(|listed| listed.error.is_some())
    }
}

/// Reads the programs given and those in the folders given; says on standard error what is
/// wrong with the broken ones.
pub fn load<F: ValueEnum + Send + Sync>(files: &[PathBuf], common: &Common<F>) -> Programs {
    let color = common.stderr_color();
    let mut programs = Programs {
        listed: Vec::new(),
        subjects: HashMap::new(),
    };
    let mut paths = Vec::new();
    for file in files {
        match walk(file) {
            Ok(found) => paths.extend(found),
            Err(text) => {
                complain(&Failure::message(&text).render(color));
                let name = file.display().to_string();
                programs.listed.push(ListedProgram::broken(&name, &text));
            }
        }
    }
    let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    for path in distinct(&paths) {
        match input::program(path, common) {
            Ok(Input {
                source, program, ..
            }) => {
                let name = source.name().to_string();
                programs
                    .listed
                    .push(ListedProgram::readable(&name, source.text()));
                programs.subjects.insert(name, Subject { source, program });
            }
            Err(failure) => {
                complain(&failure.render(color));
                let name = path.display().to_string();
                let text = failure.render(false);
                programs
                    .listed
                    .push(ListedProgram::broken(&name, text.trim_end()));
            }
        }
    }
    programs
}

/// A file itself; the programs in a folder and the folders in it, in order.
fn walk(path: &Path) -> Result<Vec<PathBuf>, String> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let mut found = Vec::new();
    for entry in WalkDir::new(path).sort_by_file_name() {
        let entry = entry.map_err(|error| format!("cannot read '{}': {error}", path.display()))?;
        let ending = entry.path().extension().and_then(|ending| ending.to_str());
        let is_program = ending.is_some_and(|ending| ENDINGS.contains(&ending));
        if is_program && entry.file_type().is_file() {
            found.push(entry.into_path());
        }
    }
    match found.is_empty() {
        true => Err(format!(
            "no .fen, .litmus or .rmm files in '{}'",
            path.display()
        )),
        false => Ok(found),
    }
}
