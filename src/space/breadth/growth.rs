//! How the table of a search grows, within the memory that it may take.

use super::Run;
use super::table::Table;
use crate::limits::StopReason;
use crate::space::layout::State;
use std::sync::atomic::Ordering;

/// Slots of the first table.
const FIRST_SLOTS: usize = 1 << 11;

impl<const N: usize> Run<'_, N> {
    /// States at which the table counts as full.
    pub(super) fn capacity(&self) -> u64 {
        let slots = self.table.as_ref().map_or(0, Table::slots) as u64;
        slots / 4 * 3
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
        let wanted = match slots {
            0 => FIRST_SLOTS,
            1..0x10_0000 => slots * 4,
            _ => slots / 2 * 3,
        };
        let state_bytes = size_of::<State<N>>() as u64;
        let others = self.overhead() + self.claimed.load(Ordering::Relaxed) * state_bytes;
        let most = match self.context.search.limits.max_memory {
            None => usize::MAX,
            Some(most) => (most.saturating_sub(others) / state_bytes) as usize,
        };
        let new = wanted.min(most);
        let enough = new >= slots + slots / 8 && new >= FIRST_SLOTS;
        let Some(table) = enough.then(|| Table::new(new).ok()).flatten() else {
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
