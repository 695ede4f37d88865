//! A thread's part of the visited set: an open-addressing table of whole states.
//!
//! States are compared bit for bit, so nothing is ever taken for visited that is not. The
//! table does not grow by itself: whoever inserts makes sure that there is room.

use crate::limits::StopReason;
use crate::space::layout::State;
use crate::space::slots::{EMPTY, Slots, hash};
use std::sync::atomic::Ordering;

/// A set of packed states with a fixed number of slots.
pub struct Table<const N: usize> {
    slots: Slots<N>,
    states: u64,
}

impl<const N: usize> Table<N> {
    /// An empty table, or the reason why there is no memory for it.
    fn new(slots: usize) -> std::io::Result<Table<N>> {
        let slots = Slots::new(slots)?;
        Ok(Table { slots, states: 0 })
    }

    /// The number of states that can be inserted before it counts as full.
    fn room(&self) -> u64 {
        self.slots.capacity().saturating_sub(self.states)
    }

    pub fn bytes(&self) -> usize {
        self.slots.bytes()
    }

    /// Asks the processor to fetch the slot at which the search for a state begins.
    #[inline]
    pub fn prefetch(&self, state: &State<N>) {
        self.slots.prefetch(self.slots.home(hash(state)));
    }

    /// Inserts a state; whether it is new. There must be room.
    #[inline]
    pub fn insert(&mut self, state: &State<N>) -> bool {
        let (slot, known) = self.locate(state);
        if !known {
            for (word, value) in self.slots.slot(slot).iter().zip(state) {
                word.store(*value, Ordering::Relaxed);
            }
            self.states += 1;
        }
        !known
    }

    pub fn contains(&self, state: &State<N>) -> bool {
        self.locate(state).1
    }

    /// The slot of a state, or the empty one that it would be put into; whether it is there.
    #[inline]
    fn locate(&self, state: &State<N>) -> (usize, bool) {
        let mut slot = self.slots.home(hash(state));
        loop {
            let words = self.slots.slot(slot);
            let first = words[0].load(Ordering::Relaxed);
            if first == EMPTY {
                return (slot, false);
            }
            let rest = || (1..N).all(|at| words[at].load(Ordering::Relaxed) == state[at]);
            if first == state[0] && rest() {
                return (slot, true);
            }
            slot = self.slots.after(slot);
        }
    }

    /// Replaces a table by a larger one, of at most so many bytes, if it has no room for so many
    /// states. Checks from time to time whether to go on; if not, the table is lost.
    pub fn make_room(
        table: &mut Option<Table<N>>,
        states: u64,
        bytes: Option<u64>,
        check: impl Fn() -> Result<(), StopReason>,
    ) -> Result<(), StopReason> {
        while table.as_ref().map_or(0, Table::room) < states {
            let slots = table.as_ref().map_or(0, |table| table.slots.count());
            let larger = Slots::<N>::larger(slots, 4, bytes);
            let larger = larger.and_then(|slots| Table::new(slots).ok());
            let mut larger = larger.ok_or(StopReason::MaxMemory)?;
            if let Some(old) = table.take() {
                old.move_to(&mut larger, &check)?;
            }
            *table = Some(larger);
        }
        Ok(())
    }

    /// Moves all states to a table with more slots, and gives memory back on the way. Both
    /// tables are in the order of hashes, so that both are gone through once, from one end
    /// to the other.
    fn move_to(
        self,
        larger: &mut Table<N>,
        check: impl Fn() -> Result<(), StopReason>,
    ) -> Result<(), StopReason> {
        for portion in self.slots.portions() {
            for (_, state) in self.slots.states(portion.clone()) {
                larger.insert(&state);
            }
            self.slots.discard(&portion);
            check()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::layout::OCCUPIED;

    /// Fewer under `cargo +nightly miri test --lib table`, which is a thousand times slower.
    const STATES: u64 = if cfg!(miri) { 150 } else { 3000 };

    fn fill<const N: usize>() {
        let table = &mut None;
        let mut insert = |state| {
            Table::<N>::make_room(table, 1, None, || Ok(())).unwrap();
            table.as_mut().unwrap().insert(&state)
        };
        let state = |i: u64| {
            let mut state = [i % 7; N];
            state[0] = OCCUPIED | (i % 50);
            state[N - 1] |= i << 8;
            state
        };
        assert!((0..STATES).all(|i| insert(state(i))));
        assert!((0..STATES).all(|i| !insert(state(i))));
        assert!(insert(state(STATES)));
        assert!(table.as_ref().unwrap().contains(&state(STATES)));
        assert!(!table.as_ref().unwrap().contains(&state(STATES + 1)));
    }

    #[test]
    fn every_state_is_new_once() {
        fill::<1>();
        fill::<2>();
        fill::<3>();
    }
}
