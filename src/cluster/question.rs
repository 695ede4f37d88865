//! What process 0 asks all workers.

use crate::limits::{Limits, Monitor};
use crate::memory::Semantics;
use crate::program::Program;
use crate::space::{Goal, Search, Standstill};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::time::{Duration, Instant};

/// What all workers do next.
#[derive(Serialize, Deserialize)]
pub enum Command {
    Search(Box<Question>),
    /// Cells are handed out, until there are none.
    Cells,
    /// The run is over, with this exit code.
    End(u8),
}

/// A search for all workers.
#[derive(Serialize, Deserialize)]
pub struct Question {
    program: Program,
    semantics: Semantics,
    /// All states are counted, those behind violations included.
    full: bool,
    standstill: Standstill,
    max_states: Option<u64>,
    /// Bytes that each process may take, beside its own limit.
    max_memory: Option<u64>,
    /// The time that is left.
    time: Option<Duration>,
}

impl Question {
    /// A search in which each process takes at most so many bytes.
    pub fn new(search: &Search, max_memory: Option<u64>) -> Question {
        let deadline = search.limits.deadline;
        Question {
            program: search.stepper.program.clone(),
            semantics: search.stepper.semantics,
            full: matches!(search.goal, Goal::AllStates),
            standstill: search.standstill,
            max_states: search.limits.max_states,
            max_memory,
            time: deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())),
        }
    }

    /// A digest of what is asked, without limits.
    pub fn digest(&self) -> [u8; 32] {
        let asked = (&self.program, self.semantics, self.full, self.standstill);
        let asked = postcard::to_stdvec(&asked).expect("questions have known lengths");
        Sha256::digest(asked).into()
    }

    /// Does something with the search of one of so many workers of a process, which may take this
    /// much memory.
    pub fn ask<T>(
        &self,
        (workers, max_memory): (u64, u64),
        monitor: &Monitor,
        answer: impl FnOnce(&Search) -> T,
    ) -> T {
        let stepper = self.semantics.stepper(&self.program);
        let limits = Limits {
            max_states: self.max_states,
            max_memory: Some(max_memory.min(self.max_memory.unwrap_or(u64::MAX)) / workers),
            deadline: self.time.and_then(|time| Instant::now().checked_add(time)),
        };
        answer(&Search {
            stepper: &stepper,
            goal: match self.full {
                true => Goal::AllStates,
                false => Goal::FirstViolation,
            },
            standstill: self.standstill,
            limits: &limits,
            monitor,
            threads: 1,
        })
    }
}
