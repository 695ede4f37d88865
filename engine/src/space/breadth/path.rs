//! The shortest way to a violation: every state is its own key.

use super::Run;
use super::worker::Worker;
use crate::limits::StopReason;
use crate::property::Violation;
use crate::space::context::Context;
use crate::space::layout::State;
use crate::space::path::{self, Visited};
use crate::space::trace::{Snapshot, Trace};
use ahash::AHashSet;

impl<const N: usize> Run<'_, N> {
    /// A shortest trace to one of the given states of a level, and what is wrong there.
    pub(super) fn shortest(
        &mut self,
        level: usize,
        errors: Vec<State<N>>,
    ) -> Result<(Violation, Trace), StopReason> {
        let before = &self.levels[..level];
        let distinct = Distinct(self.context);
        path::shortest(&self.context, &distinct, &mut self.workers, before, errors)
    }
}

/// The states of a search that keeps them apart.
pub struct Distinct<'a>(pub Context<'a>);

impl<'a, const N: usize> Visited<N> for Distinct<'a> {
    type Worker = Worker<'a, N>;

    fn unpack(&self, key: &State<N>) -> Snapshot {
        self.0.unpack(key)
    }

    fn key(&self, _: &mut Worker<'a, N>, after: &Snapshot) -> Option<State<N>> {
        self.0.pack(after).ok()
    }

    fn leads_to(
        &self,
        worker: &mut Worker<'a, N>,
        key: &State<N>,
        target: &AHashSet<State<N>>,
    ) -> Result<bool, StopReason> {
        let mut successors = worker.successors_again(&self.0, key)?.iter();
        Ok(successors.any(|next| target.contains(next)))
    }
}
