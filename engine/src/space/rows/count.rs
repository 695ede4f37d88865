//! What the rows show that were found in the end: how many states and transitions there are, and
//! the states themselves.

use super::Run;
use crate::limits::{Pace, StopReason};
use crate::space::pool::PARALLEL;
use crate::space::search::Unfinished;
use crate::space::trace::Snapshot;
use std::sync::atomic::{AtomicU64, Ordering};

pub struct Count {
    pub states: u64,
    pub transitions: u64,
}

impl<const N: usize> Run<'_, N> {
    pub(super) fn count(&mut self) -> Result<Count, Unfinished> {
        let (states, transitions) = (AtomicU64::new(0), AtomicU64::new(0));
        let context = self.context;
        let table = self.table.as_ref().expect("there is a table");
        let parallel = self.claimed.load(Ordering::Relaxed) >= PARALLEL as u64;
        self.workers
            .share(&table.portions(), parallel, |worker, _, slots| {
                let (mut own, mut pace) = ((0, 0), Pace::default());
                for (_, row) in table.states(slots.clone()) {
                    own.0 += worker.domain.len(&row);
                    own.1 += worker.domain.transitions(&row)?;
                    context.go_on(&mut pace, 8)?;
                }
                states.fetch_add(own.0, Ordering::Relaxed);
                transitions.fetch_add(own.1, Ordering::Relaxed);
                Ok::<(), Unfinished>(())
            })?;
        Ok(Count {
            states: states.into_inner(),
            transitions: transitions.into_inner(),
        })
    }

    /// Adds all states, unpacked.
    pub(super) fn collect(&mut self, snapshots: &mut Vec<Snapshot>) -> Result<(), StopReason> {
        let (context, mut pace) = (self.context, Pace::default());
        let table = self.table.as_ref().expect("there is a table");
        let domain = &mut self.workers.first().domain;
        for (_, row) in table.states(0..table.slots()) {
            for state in domain.states(&row) {
                context.collect(&state, snapshots, &mut pace)?;
            }
        }
        Ok(())
    }
}
