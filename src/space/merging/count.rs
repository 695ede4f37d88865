//! What the fixed point shows: its transitions, and its deadlocks.

use super::Run;
use crate::limits::Pace;
use crate::space::pool::PARALLEL;
use crate::space::search::Unfinished;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

pub struct Count {
    pub transitions: u64,
    /// Some state is a deadlock; only if those are looked for.
    pub deadlock: bool,
}

impl<const N: usize> Run<'_, N> {
    pub(super) fn count(&mut self) -> Result<Count, Unfinished> {
        let transitions = AtomicU64::new(0);
        let deadlock = AtomicBool::new(false);
        let context = self.context;
        let find_deadlocks = context.search.deadlock;
        let parallel = self.shards.len() >= PARALLEL as u64;
        self.workers
            .share(self.shards.as_slice(), parallel, |worker, _, shard| {
                let shard = shard.lock().expect("no thread panics here");
                let (mut count, mut pace) = (0, Pace::default());
                for state in shard.states.values() {
                    if worker.ends_at(state) {
                        continue;
                    }
                    let successors = worker.successors_of(state)?.len();
                    count += successors as u64;
                    context.go_on(&mut pace, 1 + successors)?;
                    if find_deadlocks && successors == 0 && !worker.judge.all_done(state) {
                        deadlock.store(true, Ordering::Relaxed);
                    }
                }
                transitions.fetch_add(count, Ordering::Relaxed);
                Ok::<(), Unfinished>(())
            })?;
        Ok(Count {
            transitions: transitions.into_inner(),
            deadlock: deadlock.into_inner(),
        })
    }
}
