//! Who searches where the memory of one process does not suffice: several processes, or one with
//! states on disk.

use super::args::{self, Common};
use super::interrupt::Interruptible;
use super::output::SpillFolder;
use super::processes::{self, Digests, Leader, Part, Share};
use super::verify;
use super::{Exit, Failure};
use crate::limits::Limits;
use crate::space::Explorer;
use crate::space::spill::Spilling;
use clap::ValueEnum;
use std::sync::Arc;

/// What a command that searches can fall back on.
pub enum Support {
    Nothing,
    Processes(Leader),
    Disk(Arc<SpillFolder>),
}

impl Support {
    /// Comes by what was asked for; or how this process has ended, if another one leads.
    /// `digests` are those of the question.
    pub fn assemble<F: ValueEnum + Send + Sync>(
        args: &args::Processes,
        common: &Common<F>,
        searches: &Interruptible,
        digests: impl FnOnce() -> Result<Digests, Failure>,
    ) -> Result<Result<Support, Exit>, Failure> {
        if let Some(folder) = &args.spill {
            return Ok(Ok(Support::Disk(SpillFolder::open(folder)?)));
        }
        let share = Share {
            others: &args.others,
            max_memory: common.max_memory,
            checkpoints: processes::checkpoints(args),
        };
        let part = processes::assemble(&share, common, searches, digests)?;
        Ok(match part {
            Part::Alone => Ok(Support::Nothing),
            Part::Leader(leader) => Ok(Support::Processes(leader)),
            Part::Done(exit) => Err(exit),
        })
    }

    /// Whoever searches in place of this process alone.
    pub fn explorer(&self) -> Option<Arc<dyn Explorer>> {
        match self {
            Support::Nothing => None,
            Support::Processes(leader) => Some(leader.explorer()),
            Support::Disk(folder) => Some(Arc::new(Spilling {
                scratch: folder.clone(),
                most_held: None,
            })),
        }
    }

    /// The limits of one answer, from now on.
    pub fn limits<F: ValueEnum + Send + Sync>(&self, common: &Common<F>) -> Limits {
        match self {
            Support::Processes(leader) => verify::limits_within(common, leader.max_memory),
            Support::Nothing | Support::Disk(_) => verify::limits(common),
        }
    }

    /// The exit code of the command; says what has failed.
    pub fn conclude(self, exit: Result<Exit, Failure>) -> Result<Exit, Failure> {
        match self {
            Support::Nothing => exit,
            Support::Processes(leader) => exit.map(|exit| leader.end(exit)),
            Support::Disk(folder) => exit.map(|exit| match folder.failure() {
                None => exit,
                Some(text) => exit.min(processes::inconclusive(text)),
            }),
        }
    }
}
