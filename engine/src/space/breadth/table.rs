//! The visited set: a shared open-addressing table of whole states.
//!
//! Threads insert without locks. The first word of a slot is claimed by compare-and-swap;
//! for states of several words it is marked busy until the other words are written, and
//! whoever meets it meanwhile waits. States are compared bit for bit, so nothing is ever
//! taken for visited that is not. The table does not grow by itself: the explorer makes
//! sure there is room before it inserts.

use crate::space::layout::State;
use crate::space::slots::{Slots, hash};
use std::ops::Range;
use std::sync::atomic::Ordering;

/// A set of packed states with a fixed number of slots.
pub struct Table<const N: usize> {
    slots: Slots<N>,
}

impl<const N: usize> Table<N> {
    /// An empty table, or the reason why there is no memory for it.
    pub fn new(slots: usize) -> std::io::Result<Table<N>> {
        let slots = Slots::new(slots)?;
        Ok(Table { slots })
    }

    pub fn slots(&self) -> usize {
        self.slots.count()
    }

    /// States at which it counts as full.
    pub fn capacity(&self) -> u64 {
        self.slots.capacity()
    }

    pub fn bytes(&self) -> usize {
        self.slots.bytes()
    }

    /// The slot at which the search for a state with this hash begins.
    #[inline]
    pub fn home(&self, hash: u64) -> usize {
        self.slots.home(hash)
    }

    /// Asks the processor to fetch a slot that will be needed soon.
    #[inline]
    pub fn prefetch(&self, slot: usize) {
        self.slots.prefetch(slot);
    }

    /// The slots, in the portions in which they are moved to a larger table.
    pub fn portions(&self) -> Vec<Range<usize>> {
        self.slots.portions()
    }

    /// Moves the states in some slots to a table with more slots and gives their memory
    /// back. Both tables are in the order of hashes, so that both are gone through once,
    /// from one end to the other.
    pub fn move_to(&self, larger: &Table<N>, slots: &Range<usize>) {
        for (_, state) in self.slots.states(slots.clone()) {
            larger.insert(&state, larger.home(hash(&state)));
        }
        self.slots.discard(slots);
    }

    /// Inserts a state whose search begins at `home`; whether it is new. There must be room.
    #[inline]
    pub fn insert(&self, state: &State<N>, home: usize) -> bool {
        let mut slot = home;
        loop {
            let Err(first) = self.slots.claim(slot, state) else {
                return true;
            };
            let words = self.slots.slot(slot);
            let rest = || (1..N).all(|at| words[at].load(Ordering::Relaxed) == state[at]);
            if first == state[0] && rest() {
                return false;
            }
            slot = self.slots.after(slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::layout::OCCUPIED;

    /// Fewer under `cargo +nightly miri test --lib table`, which is a thousand times slower.
    const STATES: u64 = if cfg!(miri) { 150 } else { 3000 };

    fn fill<const N: usize>() {
        let table = Table::<N>::new(STATES as usize / 3 * 4).unwrap();
        let state = |i: u64| {
            let mut state = [i % 7; N];
            state[0] = OCCUPIED | (i % 50);
            state[N - 1] |= i << 8;
            state
        };
        let fresh = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..2)
                .map(|_| {
                    scope.spawn(|| {
                        let new = |i: &u64| table.insert(&state(*i), table.home(hash(&state(*i))));
                        (0..STATES).filter(new).count()
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|t| t.join().unwrap())
                .sum::<usize>()
        });
        assert_eq!(fresh, STATES as usize);
        assert!((0..STATES).all(|i| !table.insert(&state(i), table.home(hash(&state(i))))));
        let larger = Table::<N>::new(STATES as usize * 2).unwrap();
        for slots in table.portions() {
            table.move_to(&larger, &slots);
        }
        assert!((0..STATES).all(|i| !larger.insert(&state(i), larger.home(hash(&state(i))))));
        assert!(larger.insert(&state(STATES), larger.home(hash(&state(STATES)))));
    }

    #[test]
    fn every_state_is_new_once() {
        fill::<1>();
        fill::<2>();
        fill::<3>();
    }
}
