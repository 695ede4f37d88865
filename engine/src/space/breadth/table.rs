//! A thread's part of the visited set: an open-addressing table of whole states.
//!
//! States are compared bit for bit, so nothing is ever taken for visited that is not. The
//! table does not grow by itself: whoever inserts makes sure that there is room.
//!
//! It grows in place. States lie in the order of their hashes, so each moves up, and those that
//! lie behind it have moved before it: going down from the last slot, the slots from the one
//! that is looked at on hold states at their new places and nothing else. A state whose new home
//! lies below is put aside until all have moved; there are few of them, near the beginning.
//! Memory that the system has to clear is most of the price of a larger table, and two thirds
//! of it are saved in this way.

use crate::limits::StopReason;
use crate::space::layout::State;
use crate::space::slots::{EMPTY, Slots, hash};
use std::sync::atomic::Ordering;

/// Slots that are moved between two looks at the limits.
const CHECKED: usize = 1 << 18;

/// A set of packed states.
pub struct Table<const N: usize> {
    slots: Slots<N>,
    states: u64,
}

impl<const N: usize> Table<N> {
    /// An empty table, or the reason why there is no memory for it.
    fn new(slots: usize) -> std::io::Result<Table<N>> {
        let slots = Slots::extensible(slots)?;
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
            self.put(slot, state);
            self.states += 1;
        }
        !known
    }

    #[inline]
    fn put(&self, slot: usize, state: &State<N>) {
        for (word, value) in self.slots.slot(slot).iter().zip(state) {
            word.store(*value, Ordering::Relaxed);
        }
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

    /// Enlarges a table, up to so many bytes, if it has no room for so many states. Checks from
    /// time to time whether to go on; if not, the table is lost.
    pub fn make_room(
        table: &mut Option<Table<N>>,
        states: u64,
        bytes: Option<u64>,
        check: impl Fn() -> Result<(), StopReason>,
    ) -> Result<(), StopReason> {
        while table.as_ref().map_or(0, Table::room) < states {
            let slots = table.as_ref().map_or(0, |table| table.slots.count());
            let larger = Slots::<N>::larger(slots, 4, bytes).ok_or(StopReason::MaxMemory)?;
            let extended = table.as_mut().is_some_and(|it| it.slots.extend(larger));
            let new = match extended {
                true => None,
                false => Some(Table::new(larger).map_err(|_| StopReason::MaxMemory)?),
            };
            *table = match (table.take(), new) {
                (Some(old), Some(new)) => Some(old.moved_to(new, &check)?),
                (Some(old), None) => Some(old.spread(slots, &check)?),
                (None, new) => new,
            };
        }
        Ok(())
    }

    /// Moves all states to where they belong now that there are more slots than before.
    fn spread(
        mut self,
        before: usize,
        check: impl Fn() -> Result<(), StopReason>,
    ) -> Result<Table<N>, StopReason> {
        let mut aside = Vec::new();
        for slot in (0..before).rev() {
            if let Some(state) = self.slots.get(slot) {
                self.put(slot, &[EMPTY; N]);
                match self.free_from(slot, &state) {
                    Some(new) => self.put(new, &state),
                    None => aside.push(state),
                }
            }
            if slot % CHECKED == 0 {
                check()?;
            }
        }
        self.states -= aside.len() as u64;
        for state in &aside {
            self.insert(state);
        }
        Ok(self)
    }

    /// The slot that a state belongs to that is in no slot, if its search begins at a slot from
    /// `first` on and does not come round.
    #[inline]
    fn free_from(&self, first: usize, state: &State<N>) -> Option<usize> {
        let home = self.slots.home(hash(state));
        let is_free = |slot: &usize| self.slots.slot(*slot)[0].load(Ordering::Relaxed) == EMPTY;
        match home >= first {
            true => (home..self.slots.count()).find(is_free),
            false => None,
        }
    }

    /// Moves all states to a table with more slots, and gives memory back on the way. Both
    /// tables are in the order of hashes, so that both are gone through once, from one end
    /// to the other.
    fn moved_to(
        self,
        mut larger: Table<N>,
        check: impl Fn() -> Result<(), StopReason>,
    ) -> Result<Table<N>, StopReason> {
        for portion in self.slots.portions() {
            for (_, state) in self.slots.states(portion.clone()) {
                larger.insert(&state);
            }
            self.slots.discard(&portion);
            check()?;
        }
        Ok(larger)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::layout::OCCUPIED;

    /// Fewer under `cargo +nightly miri test --lib table`, which is a thousand times slower.
    const STATES: u64 = if cfg!(miri) { 3000 } else { 300_000 };

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
