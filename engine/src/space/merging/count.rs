//! What the fixed point shows: its transitions, its configurations, and its standstills.

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
    /// Some state is a standstill; only if those are looked for.
    pub standstill: bool,
}

impl<const N: usize> Run<'_, N> {
    pub(super) fn count(&mut self) -> Result<Count, Unfinished> {
        let transitions = AtomicU64::new(0);
        let standstill = AtomicBool::new(false);
        let (context, fields) = (self.context, &self.context.layout.configs);
        let some_end = self.workers.iter().any(|worker| worker.domain.met_end);
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
                    if some_end && worker.domain.ends_at(&state) {
                        continue;
                    }
                    let successors = worker.domain.cache.count(&state)?;
                    count += successors as u64;
                    context.go_on(&mut pace, 1 + successors)?;
                    if worker.domain.standstill.is_standstill(&state, successors)? {
                        standstill.store(true, Ordering::Relaxed);
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
            standstill: standstill.into_inner(),
        })
    }
}
