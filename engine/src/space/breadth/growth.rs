//! How the table of a search grows, within the memory that it may take.

use super::Run;
use super::table::Table;
use crate::limits::StopReason;
use crate::space::layout::State;
use crate::space::slots::Slots;
use std::sync::atomic::Ordering;

impl<const N: usize> Run<'_, N> {
    /// States at which the table counts as full.
    pub(super) fn capacity(&self) -> u64 {
        self.table.as_ref().map_or(0, Table::capacity)
    }

    /// Memory taken by everything but the states by level.
    pub(super) fn overhead(&self) -> u64 {
        let table = self.table.as_ref().map_or(0, Table::bytes);
        let caches = self.workers.iter().map(|worker| worker.cache.bytes());
        (table + caches.sum::<usize>() + self.context.interner.bytes()) as u64
    }

    /// Replaces the table by a larger one. A limit that ends this ends the search: the
    /// table then lacks states.
    pub(super) fn grow(&mut self) -> Result<(), StopReason> {
        let old = self.table.take();
        let slots = old.as_ref().map_or(0, Table::slots);
        let states = self.claimed.load(Ordering::Relaxed);
        let others = self.overhead() + states * size_of::<State<N>>() as u64;
        let most = self.context.search.limits.max_memory;
        let room = most.map(|most| most.saturating_sub(others));
        let new = Slots::<N>::larger(slots, 4, room);
        let Some(table) = new.and_then(|slots| Table::new(slots).ok()) else {
            self.table = old;
            return Err(StopReason::MaxMemory);
        };
        let table = self.table.insert(table);
        let Some(old) = old else {
            return Ok(());
        };
        let portions = old.portions();
        let context = self.context;
        self.workers
            .share(&portions, portions.len() > 1, |_, _, slots| {
                old.move_to(table, slots);
                context.check()
            })
    }
}
