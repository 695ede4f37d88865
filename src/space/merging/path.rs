//! The shortest way to a violation through merged states.

use super::Run;
use super::shards::Shards;
use super::worker::Worker;
use crate::limits::StopReason;
use crate::property::Violation;
use crate::space::context::Context;
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
        let merged = Merged {
            context: self.context,
            shards: &self.shards,
        };
        path::shortest(&self.context, &merged, &mut self.workers, &levels, errors)
    }

    /// The merged states by level, up to the first level with violations, and those.
    fn levels(&mut self, end: End) -> Result<(Vec<Level<N>>, Vec<State<N>>), StopReason> {
        let (shards, worker) = (&self.shards, self.workers.first());
        let mut levels = Vec::new();
        let mut level = self.starts.clone();
        level.retain(|key| shards.get(key).is_some());
        let mut seen: AHashSet<State<N>> = level.iter().copied().collect();
        loop {
            let state = |key: &State<N>| shards.get(key).expect("it was found");
            let mut errors = Vec::new();
            for key in &level {
                errors.extend(worker.violates(&state(key))?.then_some(*key));
            }
            if !errors.is_empty() {
                return Ok((levels, errors));
            }
            let mut next = Vec::new();
            for key in &level {
                let mut keys = worker.successor_keys(&state(key))?;
                keys.retain(|key| shards.get(key).is_some() && seen.insert(*key));
                next.append(&mut keys);
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
struct Merged<'r, 'a, const N: usize> {
    context: Context<'a>,
    shards: &'r Shards<N>,
}

impl<'a, const N: usize> Visited<N> for Merged<'_, 'a, N> {
    type Worker = Worker<'a, N>;

    fn unpack(&self, key: &State<N>) -> Snapshot {
        let state = self.shards.get(key).expect("it was found");
        self.context.unpack(&state)
    }

    fn key(&self, worker: &mut Worker<'a, N>, after: &Snapshot) -> Option<State<N>> {
        let key = worker.key(&self.context.pack(after).ok()?).ok()?;
        self.shards.get(&key).map(|_| key)
    }

    fn leads_to(
        &self,
        worker: &mut Worker<'a, N>,
        key: &State<N>,
        target: &AHashSet<State<N>>,
    ) -> Result<bool, StopReason> {
        let state = self.shards.get(key).expect("it was found");
        let keys = worker.successor_keys(&state)?;
        Ok(keys.iter().any(|key| target.contains(key)))
    }
}
