//! Runs: sorted states on disk, each once.
//!
//! A run is a sequence of blocks, each with a digest of its states and of its place. What is read
//! has to have its digest and to be in order: a file that was damaged or cut short ends the
//! search, since a state that is missing from the visited set would only cost time, but one
//! that is missing from a level would be lost.

use super::{Scratch, ScratchFile};
use crate::limits::StopReason;
use crate::space::layout::State;
use std::io;
use std::sync::Arc;

/// Bytes of the states of one block, about.
const BLOCK: usize = 1 << 15;

/// Bytes of a digest.
const DIGEST: usize = size_of::<u64>();

/// A file, and who is told when it fails.
pub struct File<'a> {
    scratch: &'a dyn Scratch,
    file: Box<dyn ScratchFile>,
}

impl<'a> File<'a> {
    pub fn new(scratch: &'a dyn Scratch) -> Result<Arc<File<'a>>, StopReason> {
        let file = noted(scratch, scratch.file())?;
        Ok(Arc::new(File { scratch, file }))
    }

    fn append(&self, bytes: &[u8]) -> Result<(), StopReason> {
        noted(self.scratch, self.file.append(bytes))
    }

    fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<(), StopReason> {
        noted(self.scratch, self.file.read(offset, bytes))
    }

    fn damaged(&self) -> StopReason {
        let text = "what is read is not what was written";
        let error = io::Error::new(io::ErrorKind::InvalidData, text);
        self.scratch.fail(&error);
        StopReason::Disk
    }
}

fn noted<T>(scratch: &dyn Scratch, done: io::Result<T>) -> Result<T, StopReason> {
    done.map_err(|error| {
        scratch.fail(&error);
        StopReason::Disk
    })
}

/// A part of a file with sorted states.
#[derive(Clone)]
pub struct Run<'a, const N: usize> {
    file: Arc<File<'a>>,
    offset: u64,
    /// How many states there are.
    pub count: u64,
}

/// States in one block.
const fn per_block(words: usize) -> usize {
    let states = BLOCK / (words * size_of::<u64>());
    if states == 0 { 1 } else { states }
}

/// The bytes of a block with so many states.
fn block_bytes<const N: usize>(states: usize) -> usize {
    states * size_of::<State<N>>() + DIGEST
}

impl<'a, const N: usize> Run<'a, N> {
    /// Where the file goes on behind the run.
    pub fn end(&self) -> u64 {
        self.offset + self.bytes()
    }

    /// What the run takes on disk.
    pub fn bytes(&self) -> u64 {
        let blocks = self.count.div_ceil(per_block(N) as u64);
        self.count * size_of::<State<N>>() as u64 + blocks * DIGEST as u64
    }

    pub fn reader(&self) -> Reader<'a, N> {
        Reader {
            run: self.clone(),
            offset: self.offset,
            left: self.count,
            bytes: Vec::new(),
            block: Vec::new(),
            at: 0,
            last: [0; N],
        }
    }
}

/// A run that is being written.
pub struct Writer<'a, const N: usize> {
    run: Run<'a, N>,
    /// Where the next block goes.
    end: u64,
    block: Vec<State<N>>,
    bytes: Vec<u8>,
}

impl<'a, const N: usize> Writer<'a, N> {
    /// A run in a file of its own.
    pub fn new(scratch: &'a dyn Scratch) -> Result<Writer<'a, N>, StopReason> {
        Ok(Writer::behind(File::new(scratch)?, 0))
    }

    /// A run at the end of a file.
    pub fn behind(file: Arc<File<'a>>, end: u64) -> Writer<'a, N> {
        Writer {
            run: Run {
                file,
                offset: end,
                count: 0,
            },
            end,
            block: Vec::new(),
            bytes: Vec::new(),
        }
    }

    /// Adds a state, which is larger than all before it.
    #[inline]
    pub fn add(&mut self, state: State<N>) -> Result<(), StopReason> {
        self.block.push(state);
        match self.block.len() == per_block(N) {
            true => self.write_block(),
            false => Ok(()),
        }
    }

    fn write_block(&mut self) -> Result<(), StopReason> {
        self.bytes.clear();
        let words = self.block.iter().flatten();
        self.bytes.extend(words.flat_map(|word| word.to_le_bytes()));
        let digest = digest(self.end, &self.block);
        self.bytes.extend_from_slice(&digest.to_le_bytes());
        self.run.file.append(&self.bytes)?;
        self.end += self.bytes.len() as u64;
        self.run.count += self.block.len() as u64;
        self.block.clear();
        Ok(())
    }

    /// The run, when all states were added.
    pub fn finish(mut self) -> Result<Run<'a, N>, StopReason> {
        if !self.block.is_empty() {
            self.write_block()?;
        }
        Ok(self.run)
    }
}

/// A run that is being read.
pub struct Reader<'a, const N: usize> {
    run: Run<'a, N>,
    /// Where the next block is.
    offset: u64,
    /// States behind the block.
    left: u64,
    bytes: Vec<u8>,
    block: Vec<State<N>>,
    /// The next state of the block.
    at: usize,
    last: State<N>,
}

impl<const N: usize> Reader<'_, N> {
    /// The next state; each is larger than the one before.
    #[inline]
    pub fn next(&mut self) -> Result<Option<State<N>>, StopReason> {
        if self.at == self.block.len() {
            if self.left == 0 {
                return Ok(None);
            }
            self.read_block()?;
        }
        let state = self.block[self.at];
        if state <= self.last {
            return Err(self.run.file.damaged());
        }
        self.last = state;
        self.at += 1;
        Ok(Some(state))
    }

    fn read_block(&mut self) -> Result<(), StopReason> {
        let states = self.left.min(per_block(N) as u64) as usize;
        self.bytes.resize(block_bytes::<N>(states), 0);
        self.run.file.read(self.offset, &mut self.bytes)?;
        let (words, _) = self.bytes.as_chunks::<DIGEST>();
        let (written, words) = words.split_last().expect("there is a digest");
        self.block.clear();
        let (states_read, _) = words.as_chunks::<N>();
        let states_read = states_read.iter();
        self.block
            .extend(states_read.map(|state| state.map(u64::from_le_bytes)));
        if digest(self.offset, &self.block) != u64::from_le_bytes(*written) {
            return Err(self.run.file.damaged());
        }
        self.offset += self.bytes.len() as u64;
        self.left -= states as u64;
        self.at = 0;
        Ok(())
    }
}

/// Tells a block apart from what damage makes of it.
fn digest<const N: usize>(offset: u64, block: &[State<N>]) -> u64 {
    let mix = |sum: u64, word: &u64| {
        let mixed = (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 29
    };
    block.iter().flatten().fold(!offset, mix)
}

/// The memory that one reader or writer takes.
pub const fn buffer_bytes(words: usize) -> usize {
    2 * (per_block(words) * words * size_of::<u64>() + DIGEST)
}
