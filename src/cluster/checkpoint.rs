//! Checkpoints: what each worker has found, in files.
//!
//! A search has a folder of its own, named by a digest of the question, in it each worker one, in
//! it a file for each time that something was written down. A file is written under a temporary
//! name, flushed and renamed, and ends with a digest of all of it.

use super::health::SharedHealth;
use crate::space::spread::{Journal, Lost};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Where checkpoints are kept, and how.
#[derive(Debug, Clone)]
pub struct Checkpoints {
    pub folder: PathBuf,
    /// The time between two of them at least.
    pub every: Duration,
    /// Searches go on from those that are there.
    pub resume: bool,
}

/// The checkpoints of one worker in one search.
pub struct WorkerFiles {
    folder: PathBuf,
    question: [u8; 32],
    /// By number of levels.
    entries: Vec<u64>,
    every: Duration,
    last: Instant,
    health: SharedHealth,
}

const MAGIC: &[u8; 16] = b"fencesmith lvl 1";
const DIGEST: usize = 32;

impl Checkpoints {
    /// The files of one worker for a question.
    pub fn of_worker(
        &self,
        question: [u8; 32],
        (worker, workers): (usize, usize),
        health: &SharedHealth,
    ) -> Result<WorkerFiles, Lost> {
        let name: String = question[..8]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let folder = self
            .folder
            .join(name)
            .join(format!("worker-{worker}-of-{workers}"));
        let mut files = WorkerFiles {
            entries: Vec::new(),
            question,
            every: self.every,
            last: Instant::now(),
            health: health.clone(),
            folder,
        };
        let listed = std::fs::create_dir_all(&files.folder).and_then(|()| listed(&files.folder));
        let folder = files.folder.clone();
        files.entries = files.checked("use", &folder, listed)?;
        if !self.resume {
            files.keep(0)?;
        }
        Ok(files)
    }
}

/// The numbers of levels in the names of files.
fn listed(folder: &Path) -> io::Result<Vec<u64>> {
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("levels-"));
        entries.extend(number.and_then(|number| number.parse::<u64>().ok()));
    }
    entries.sort_unstable();
    Ok(entries)
}

impl WorkerFiles {
    fn path(&self, levels: u64) -> PathBuf {
        self.folder.join(format!("levels-{levels:06}"))
    }

    /// What was done with a file; that it could not be done ends the run.
    fn checked<T>(&self, verb: &str, path: &Path, done: io::Result<T>) -> Result<T, Lost> {
        done.map_err(|error| {
            let path = path.display();
            self.health
                .fail(format!("cannot {verb} the checkpoint '{path}': {error}"));
            Lost
        })
    }

    fn try_write(
        &self,
        path: &Path,
        head: &[u8],
        words: &mut dyn Iterator<Item = u64>,
    ) -> io::Result<()> {
        let file = tempfile::NamedTempFile::new_in(&self.folder)?;
        let mut writer = Hashed {
            inner: BufWriter::with_capacity(1 << 18, file),
            digest: Sha256::new(),
        };
        writer.write_all(MAGIC)?;
        writer.write_all(&self.question)?;
        writer.write_all(&(head.len() as u64).to_le_bytes())?;
        writer.write_all(head)?;
        for word in words {
            writer.write_all(&word.to_le_bytes())?;
        }
        let Hashed { mut inner, digest } = writer;
        inner.write_all(&digest.finalize())?;
        let file = inner.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        File::open(&self.folder)?.sync_all()
    }

    /// Reads a file that is whole: its head, and the words behind it one by one.
    fn try_read(&self, path: &Path, each: &mut dyn FnMut(u64)) -> io::Result<Vec<u8>> {
        let malformed = || io::Error::from(ErrorKind::InvalidData);
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut reader = Hashed {
            inner: BufReader::with_capacity(1 << 18, file),
            digest: Sha256::new(),
        };
        let mut start = [0; MAGIC.len() + DIGEST + 8];
        reader.read_exact(&mut start)?;
        let (magic, question) = start.split_at(MAGIC.len());
        let (question, head) = question.split_at(DIGEST);
        let head = u64::from_le_bytes(*head.first_chunk().expect("it is long enough"));
        let rest = length.saturating_sub((start.len() + DIGEST) as u64);
        let words = rest.checked_sub(head).ok_or_else(malformed)?;
        if magic != MAGIC || question != self.question || words % 8 != 0 {
            return Err(malformed());
        }
        let mut bytes = vec![0; head as usize];
        reader.read_exact(&mut bytes)?;
        let mut word = [0; 8];
        for _ in 0..words / 8 {
            reader.read_exact(&mut word)?;
            each(u64::from_le_bytes(word));
        }
        let Hashed { mut inner, digest } = reader;
        let mut expected = [0; DIGEST];
        inner.read_exact(&mut expected)?;
        match digest.finalize()[..] == expected {
            true => Ok(bytes),
            false => Err(malformed()),
        }
    }
}

impl Journal for WorkerFiles {
    fn is_due(&self) -> bool {
        self.last.elapsed() >= self.every
    }

    fn entries(&self) -> &[u64] {
        &self.entries
    }

    fn keep(&mut self, levels: u64) -> Result<(), Lost> {
        let more = self.entries.iter().filter(|entry| **entry > levels);
        for path in more.map(|entry| self.path(*entry)) {
            self.checked("remove", &path, std::fs::remove_file(&path))?;
        }
        self.entries.retain(|entry| *entry <= levels);
        Ok(())
    }

    fn write(
        &mut self,
        levels: u64,
        head: &[u8],
        words: &mut dyn Iterator<Item = u64>,
    ) -> Result<(), Lost> {
        let path = self.path(levels);
        self.checked("write", &path, self.try_write(&path, head, words))?;
        self.entries.push(levels);
        self.last = Instant::now();
        Ok(())
    }

    fn head(&mut self, levels: u64) -> Result<Vec<u8>, Lost> {
        let path = self.path(levels);
        self.checked("read", &path, self.try_read(&path, &mut |_| {}))
    }

    fn words(&mut self, levels: u64, each: &mut dyn FnMut(u64)) -> Result<(), Lost> {
        let path = self.path(levels);
        self.checked("read", &path, self.try_read(&path, each))?;
        Ok(())
    }

    fn reject(&mut self, levels: u64) -> Lost {
        let path = self.path(levels).display().to_string();
        self.health
            .fail(format!("the checkpoint '{path}' is not one of this search"));
        Lost
    }
}

/// Bytes that pass through, and their digest.
struct Hashed<T> {
    inner: T,
    digest: Sha256,
}

impl<T: Write> Write for Hashed<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.digest.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<T: Read> Read for Hashed<T> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(bytes)?;
        self.digest.update(&bytes[..count]);
        Ok(count)
    }
}
