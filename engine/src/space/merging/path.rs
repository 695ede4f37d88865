//! The shortest way to a violation through merged states: each is its own key.

use super::{Run, Worker};
use crate::limits::StopReason;
use crate::property::Violation;
use crate::space::context::Context;
use crate::space::growing::table::Table;
use crate::space::layout::State;
use crate::space::level::Level;
use crate::space::path::{self, Visited};
use crate::space::search::End;
use crate::space::trace::{Snapshot, Trace};
use ahash::AHashSet;

impl<const N: usize> Run<'_, N> {
    /// A shortest trace to a violation, and what is wrong at its end. If the search was
    /// ended by a limit, states that were not found yet are left out.
    pub(super) fn shortest(&mut self, end: End) -> Result<(Violation, Trace), StopReason> {
        let (levels, errors) = self.levels(end)?;
        let merged = Merging {
            context: self.context,
            table: self.table.as_ref().expect("there is a table"),
        };
        path::shortest(&self.context, &merged, &mut self.workers, &levels, errors)
    }

    /// The merged states by level, up to the first level with violations, and those.
    fn levels(&mut self, end: End) -> Result<(Vec<Level<N>>, Vec<State<N>>), StopReason> {
        let table = self.table.as_ref().expect("there is a table");
        let domain = &mut self.workers.first().domain;
        let mut levels = Vec::new();
        let starts = self.starts.iter();
        let mut level: Vec<State<N>> = starts
            .filter_map(|state| domain.merged(state, table))
            .collect();
        let mut seen: AHashSet<State<N>> = level.iter().copied().collect();
        loop {
            let mut errors = Vec::new();
            for state in &level {
                errors.extend(domain.violates(state)?.then_some(*state));
            }
            if !errors.is_empty() {
                return Ok((levels, errors));
            }
            let mut next = Vec::new();
            for state in &level {
                let mut states = domain.successors_again(state, table)?;
                states.retain(|state| seen.insert(*state));
                next.append(&mut states);
            }
            if next.is_empty() {
                match end {
                    End::Limit(reason) => return Err(reason),
                    _ => unreachable!("a violation was seen"),
                }
            }
            levels.push(Level::from(level));
            level = next;
        }
    }
}

/// The states of a search that merges them.
struct Merging<'r, 'a, const N: usize> {
    context: Context<'a>,
    table: &'r Table<N>,
}

impl<'a, const N: usize> Visited<N> for Merging<'_, 'a, N> {
    type Worker = Worker<'a, N>;

    fn unpack(&self, state: &State<N>) -> Snapshot {
        self.context.unpack(state)
    }

    fn key(&self, worker: &mut Worker<'a, N>, after: &Snapshot) -> Option<State<N>> {
        worker
            .domain
            .merged(&self.context.pack(after).ok()?, self.table)
    }

    fn leads_to(
        &self,
        worker: &mut Worker<'a, N>,
        state: &State<N>,
        target: &AHashSet<State<N>>,
    ) -> Result<bool, StopReason> {
        let successors = worker.domain.successors_again(state, self.table)?;
        Ok(successors.iter().any(|next| target.contains(next)))
    }
}
