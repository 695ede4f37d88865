//! Writing files. No other module creates, changes, locks or removes a file.
//!
//! A file is written under a temporary name in the same folder, flushed to the disk and then
//! renamed: if that fails, the old file is still there. Symbolic links are followed; another
//! hard link to the old file keeps the old text. Devices, pipes and standard output cannot be
//! renamed over and are written to directly.

mod conflict;
mod journal;
mod lock;
mod spill;

pub use conflict::refuse_overwriting;
pub use journal::Journal;
pub use lock::Lock;
pub use spill::SpillFolder;

use super::Failure;
use same_file::Handle;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use tempfile::{NamedTempFile, TempDir};

/// How the names of temporary files begin.
pub const TEMPORARY: &str = ".fencesmith-";

/// Writes a file, whole or not at all.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let written = if is_stdout(path) {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush())
    } else if is_stream(path) {
        let file = OpenOptions::new().write(true).open(path);
        file.and_then(|mut file| file.write_all(text.as_bytes()))
    } else {
        resolve(path).and_then(|path| replace(&path, text))
    };
    written.map_err(|error| Failure::file("write", path, &error))
}

/// Makes a folder and those around it.
pub fn create_folder(path: &Path) -> Result<(), Failure> {
    fs::create_dir_all(path).map_err(|error| Failure::file("create", path, &error))
}

/// A folder with these files, by their paths in it, which goes when it is dropped.
pub fn temporary_folder<P: AsRef<Path>>(files: &[(P, &str)]) -> Result<TempDir, Failure> {
    let made = tempfile::Builder::new().prefix(TEMPORARY).tempdir();
    let filled = made.and_then(|folder| {
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap_or(folder.path()))?;
            fs::write(path, text)?;
        }
        Ok(folder)
    });
    filled.map_err(|error| Failure::file("create", &std::env::temp_dir(), &error))
}

/// Something other than a regular file: a device, a pipe, a folder.
fn is_stream(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.is_file())
}

/// A regular file that standard output goes to.
fn is_stdout(path: &Path) -> bool {
    let handle = || Some((handle(path)?, Handle::stdout().ok()?));
    handle().is_some_and(|(file, stdout)| file == stdout)
}

/// What tells a regular file from all others, if it can be read. Opening a pipe might wait.
fn handle(path: &Path) -> Option<Handle> {
    match fs::metadata(path).is_ok_and(|found| found.is_file()) {
        true => Handle::from_path(path).ok(),
        false => None,
    }
}

/// The path of a file without links, whether the file exists or not; its folder must exist.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        found => return found,
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    // A link to a file that does not exist. Links that go round in circles are another error.
    if let Ok(target) = fs::read_link(path) {
        return resolve(&folder.join(target));
    }
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    let name = path.file_name().ok_or(ErrorKind::InvalidInput)?;
    Ok(fs::canonicalize(folder)?.join(name))
}

/// Puts a new file in the place of an old one, if there is one; `path` is no link.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    // Opening the old file fails where it may not be written to.
    let old = match OpenOptions::new().write(true).open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        opened => Some(opened?.metadata()?),
    };
    let mut new = temporary(path.parent().unwrap_or(Path::new("/")))?;
    if let Some(old) = old {
        take_after(new.as_file(), &old)?;
    }
    new.write_all(text.as_bytes())?;
    new.as_file().sync_all()?;
    new.persist(path).map_err(|failed| failed.error)?;
    Ok(())
}

/// A new file with the permissions that new files have by default.
fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.prefix(TEMPORARY).tempfile_in(folder)
}

/// Gives a new file the permissions of the old one, and its owner where that is allowed.
fn take_after(new: &File, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let own = new.metadata()?;
        if (own.uid(), own.gid()) != (old.uid(), old.gid()) {
            let _ = fchown(new, Some(old.uid()), Some(old.gid()));
        }
    }
    new.set_permissions(old.permissions())
}
