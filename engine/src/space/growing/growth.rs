//! How the table grows, within the memory that it may take.

use super::table::Table;
use super::{Domain, Run};
use crate::limits::StopReason;
use crate::space::layout::State;
use crate::space::search::Unfinished;
use crate::space::slots::Slots;
use std::sync::atomic::Ordering;

impl<const N: usize, D: Domain<N>> Run<'_, N, D> {
    /// Replaces the table by a larger one. A limit that ends this ends the search: the
    /// table then lacks states. One that has a violation to show is moved as long as its
    /// trace may be looked for.
    pub(super) fn grow(&mut self) -> Result<(), Unfinished> {
        let old = self.table.take();
        let slots = old.as_ref().map_or(0, Table::slots);
        let queued = self.queue.room().load(Ordering::Relaxed);
        let others = self.bytes() + queued * size_of::<State<N>>() as u64;
        let most = self.context.search.limits.max_memory;
        let room = most.map(|most| most.saturating_sub(others));
        let new = Slots::<N>::larger(slots, 2, room);
        let Some(table) = new.and_then(|slots| Table::new(slots).ok()) else {
            self.table = old;
            return Err(StopReason::MaxMemory.into());
        };
        let table = self.table.insert(table);
        let Some(old) = old else {
            return Ok(());
        };
        let portions = old.portions();
        let context = self.context;
        let violated = self
            .workers
            .iter()
            .any(|worker| worker.domain.has_violation());
        self.workers
            .share(&portions, portions.len() > 1, |worker, _, slots| {
                old.move_to(table, slots, &mut worker.domain)?;
                match violated {
                    true => context.check_tracing()?,
                    false => context.check()?,
                }
                Ok(())
            })
    }
}
