//! A file that grows line by line.

use super::super::Failure;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A file of lines, each of which is on the disk as soon as it was appended.
pub struct Journal {
    path: PathBuf,
    file: Mutex<File>,
}

impl Journal {
    /// Opens or makes the file. A last line without an end was being written when a process
    /// died, and is cut off.
    pub fn open(path: &Path) -> Result<Journal, Failure> {
        cut_torn_line(path).map_err(|error| Failure::file("write", path, &error))?;
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.map_err(|error| Failure::file("open", path, &error))?;
        Ok(Journal {
            path: path.to_path_buf(),
            file: Mutex::new(file),
        })
    }

    /// Appends a line, which ends in a line break.
    pub fn append(&self, line: &str) -> Result<(), Failure> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let written = file.write_all(line.as_bytes());
        let written = written.and_then(|()| file.sync_data());
        written.map_err(|error| Failure::file("write", &self.path, &error))
    }

    /// Removes the file.
    pub fn remove(&self) -> Result<(), Failure> {
        fs::remove_file(&self.path).map_err(|error| Failure::file("remove", &self.path, &error))
    }
}

fn cut_torn_line(path: &Path) -> std::io::Result<()> {
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        read => read?,
    };
    let end = bytes.iter().rposition(|byte| *byte == b'\n');
    let whole = end.map_or(0, |end| end as u64 + 1);
    if whole == bytes.len() as u64 {
        return Ok(());
    }
    OpenOptions::new().write(true).open(path)?.set_len(whole)
}
