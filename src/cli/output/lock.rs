//! A file that one process at a time can hold.

use super::super::Failure;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::Path;

/// A lock of the operating system on a file. It is released when the value is dropped or the
/// process ends, however it ends; the file stays.
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock; `None` if another process has it.
    pub fn take(path: &Path) -> Result<Option<Lock>, Failure> {
        let mut options = OpenOptions::new();
        let file = options.create(true).truncate(false).write(true).open(path);
        let file = file.map_err(|error| Failure::file("write", path, &error))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            // Some network file systems have no locks.
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {
                Ok(Some(Lock { _file: file }))
            }
            Err(TryLockError::Error(error)) => Err(Failure::file("lock", path, &error)),
        }
    }
}
