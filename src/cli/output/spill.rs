//! Files for states that memory has no room for.

use super::super::Failure;
use super::create_folder;
use crate::space::spill::{Scratch, ScratchFile};
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A folder with files that have no names: the system removes them when the process ends, however
/// it ends.
pub struct SpillFolder {
    path: PathBuf,
    failure: Mutex<Option<String>>,
}

impl SpillFolder {
    /// Makes the folder if it is not there, and finds out whether it can be written to.
    pub fn open(path: &Path) -> Result<Arc<SpillFolder>, Failure> {
        create_folder(path)?;
        let folder = SpillFolder {
            path: path.to_path_buf(),
            failure: Mutex::new(None),
        };
        let tried = folder.file().and_then(|file| file.append(&[0; 4096]));
        tried.map_err(|error| Failure::file("write to", path, &error))?;
        Ok(Arc::new(folder))
    }

    /// What has failed first, if anything has.
    pub fn failure(&self) -> Option<String> {
        let failure = self.failure.lock();
        failure.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Scratch for SpillFolder {
    fn file(&self) -> io::Result<Box<dyn ScratchFile>> {
        let file = tempfile::tempfile_in(&self.path)?;
        Ok(Box::new(SpillFile(Mutex::new(file))))
    }

    fn fail(&self, error: &io::Error) {
        let text = format!("cannot keep states in '{}': {error}", self.path.display());
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert(text);
    }
}

impl fmt::Debug for SpillFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SpillFolder({})", self.path.display())
    }
}

struct SpillFile(Mutex<File>);

impl SpillFile {
    fn at(&self, place: SeekFrom) -> io::Result<std::sync::MutexGuard<'_, File>> {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(place)?;
        Ok(file)
    }
}

impl ScratchFile for SpillFile {
    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        self.at(SeekFrom::End(0))?.write_all(bytes)
    }

    fn read(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.at(SeekFrom::Start(offset))?.read_exact(bytes)
    }
}
