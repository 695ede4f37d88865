//! What the fixed point shows: its transitions, its configurations, and its deadlocks.

use super::Run;
use crate::limits::Pace;
use crate::space::pool::PARALLEL;
use crate::space::search::Unfinished;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

pub struct Count {
    pub transitions: u64,
    /// Distinct configurations, over all processes.
    pub configurations: usize,
    /// Some state is a deadlock; only if those are looked for.
    pub deadlock: bool,
}

impl<const N: usize> Run<'_, N> {
    pub(super) fn count(&mut self) -> Result<Count, Unfinished> {
        let transitions = AtomicU64::new(0);
        let deadlock = AtomicBool::new(false);
        let (context, fields) = (self.context, &self.context.layout.configs);
        let find_deadlocks = context.search.deadlock;
        let some_end = self.workers.iter().any(|worker| worker.met_end);
        let table = self.table.as_ref().expect("there is a table");
        let none = vec![false; context.interner.config_count()];
        let occurring = Mutex::new(vec![none.clone(); fields.len()]);
        let parallel = self.claimed.load(Ordering::Relaxed) >= PARALLEL as u64;
        self.workers
            .share(&table.portions(), parallel, |worker, _, slots| {
                let (mut count, mut pace) = (0, Pace::default());
                let mut occur = vec![none.clone(); fields.len()];
                for (_, state) in table.states(slots.clone()) {
                    for (field, occur) in fields.iter().zip(&mut occur) {
                        occur[field.get(&state) as usize] = true;
                    }
                    if some_end && worker.ends_at(&state) {
                        continue;
                    }
                    let successors = worker.cache.count(&state)?;
                    count += successors as u64;
                    context.go_on(&mut pace, 1 + successors)?;
                    if find_deadlocks && successors == 0 && !worker.judge.all_done(&state) {
                        deadlock.store(true, Ordering::Relaxed);
                    }
                }
                transitions.fetch_add(count, Ordering::Relaxed);
                let mut all = occurring.lock().expect("no thread panics here");
                for (all, occur) in all.iter_mut().flatten().zip(occur.iter().flatten()) {
                    *all |= occur;
                }
                Ok::<(), Unfinished>(())
            })?;
        let occurring = occurring.into_inner().expect("no thread panics here");
        let occurring = occurring.iter().flatten().filter(|occurs| **occurs);
        Ok(Count {
            transitions: transitions.into_inner(),
            configurations: occurring.count(),
            deadlock: deadlock.into_inner(),
        })
    }
}
