//! What the threads of a search by rows share.

use super::domain::SetSteps;
use super::memo::Answers;
use super::sets::{SetId, Sets};
use crate::limits::{Limits, Monitor};
use crate::program::ProcessId;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// What is asked of a search by rows.
pub struct Task<'a> {
    /// The process along which rows go.
    pub along: ProcessId,
    /// The sets that were met, with earlier layouts as well.
    pub sets: Sets,
    /// How far to go, in states.
    pub limits: &'a Limits,
    /// Who is told of states.
    pub monitor: &'a Monitor,
}

/// What all threads of a search by rows share.
pub struct Common<'a, const N: usize> {
    pub task: &'a Task<'a>,
    /// States found, but for those that threads have yet to add.
    pub states: AtomicU64,
    pub closures: Answers<N, SetId>,
    pub own_steps: Answers<N, Arc<SetSteps<N>>>,
}

impl<'a, const N: usize> Common<'a, N> {
    pub fn new(task: &'a Task<'a>) -> Common<'a, N> {
        Common {
            task,
            states: AtomicU64::new(0),
            closures: Answers::new(),
            own_steps: Answers::new(),
        }
    }

    /// Roughly the memory that it takes.
    pub fn bytes(&self) -> usize {
        self.task.sets.bytes() + self.closures.bytes() + self.own_steps.bytes()
    }
}
