//! The search that keeps every distinct state, with the states on disk.
//!
//! It goes level by level, as `breadth` does, but asks only at the end of a level which states are
//! new (*delayed duplicate detection*: Stern and Dill, CAV 1998; Korf, AAAI 2004). Threads expand
//! the last level and put all successors into buffers; a full buffer is sorted, and what is left of
//! it without repetitions goes to disk as a *run*. At the end of the level all runs are merged,
//! and what none of the earlier levels has is the next level: again a sorted run. Whole states are
//! compared, so that none is taken for another.
//!
//! ```text
//! last level ── expand ──> runs ── merge ──> without repetitions ── minus visited ──> next level
//! ```
//!
//! Levels are kept in one file, since a trace is found by walking back through them (`trace`).
//! They are at the same time the visited set; so that no level is compared with hundreds of
//! runs, those of about the same size are merged into larger ones. Every level is compared with
//! all states that were visited, once, from beginning to end: that is what the search pays, beside
//! sorting, for needing memory for its buffers and caches alone.
//!
//! If a limit ends the search within a level, the successors that were found until then are judged
//! all the same: one that violates a property was reached by a step from a finished level, so it is
//! reported, and the way to it is looked for as for any other. Where the disk has failed, nothing is
//! reported.
//!
//! [`Spilling`] is the way in: an [`Explorer`] that searches in memory as long as that suffices, and
//! otherwise starts over on disk. The files themselves are made elsewhere ([`Scratch`]).

mod candidates;
mod levels;
mod merge;
mod run;
mod trace;

use super::context::Context;
use super::intern::Interner;
use super::layout::{InWords, Overflow};
use super::search::{End, Exploration, Explorer, Goal, Search, explore};
use crate::limits::StopReason;
use levels::Levels;
use std::fmt::Debug;
use std::io;
use std::sync::Arc;

/// Room on disk.
pub trait Scratch: Debug + Send + Sync {
    /// A new and empty file, which is gone when it is dropped.
    fn file(&self) -> io::Result<Box<dyn ScratchFile>>;

    /// Takes note of what has failed; the search ends without a verdict.
    fn fail(&self, error: &io::Error);
}

/// A file that is written from its beginning to its end, and read anywhere.
pub trait ScratchFile: Send + Sync {
    fn append(&self, bytes: &[u8]) -> io::Result<()>;

    /// Reads exactly so many bytes, or fails.
    fn read(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()>;
}

/// Searches with states on disk if memory does not suffice.
#[derive(Debug, Clone)]
pub struct Spilling {
    pub scratch: Arc<dyn Scratch>,
    /// If it is given, the search is on disk from the beginning, and no buffer holds more states
    /// than this.
    pub most_held: Option<usize>,
}

impl Explorer for Spilling {
    fn explore(&self, search: &Search) -> Exploration {
        let is_apart = !search.stepper.memory.merges();
        let suits = match search.goal {
            Goal::FirstViolation | Goal::Robustness(_) | Goal::AllStates => is_apart,
            Goal::Snapshots | Goal::Labels(..) => false,
        };
        if !suits || self.most_held.is_none() {
            let found = explore(search);
            if !suits || found.end != End::Limit(StopReason::MaxMemory) {
                return found;
            }
        }
        self.explore_on_disk(search)
    }
}

impl Spilling {
    fn explore_on_disk(&self, search: &Search) -> Exploration {
        let program = search.stepper.program;
        let interner = Interner::new(program);
        loop {
            let Some(layout) = interner.layout(false) else {
                return Exploration::none(StopReason::TooWide, program);
            };
            // As in memory: what outgrows its field makes the search start over with wider
            // ones; the interned components stay.
            let attempt = Attempt {
                context: Context {
                    search,
                    interner: &interner,
                    layout: &layout,
                },
                spilling: self,
            };
            if let Ok(exploration) = layout.in_its_words(attempt) {
                return exploration;
            }
        }
    }
}

/// A search with one layout.
struct Attempt<'a> {
    context: Context<'a>,
    spilling: &'a Spilling,
}

impl InWords for Attempt<'_> {
    type Done = Result<Exploration, Overflow>;

    fn run<const N: usize>(self) -> Result<Exploration, Overflow> {
        let Attempt { context, spilling } = self;
        match Levels::<N>::new(context, spilling) {
            Ok(levels) => levels.go(),
            Err(reason) => Ok(Exploration::none(reason, context.program())),
        }
    }
}
