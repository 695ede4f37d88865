//! The states that grow: a shared open-addressing table.
//!
//! A slot holds a state and nothing else. Which slot it is depends on the state's
//! key, and so does whether two states are
//! one: both are compared whole ([`Domain::same_key`]). A state in the table only grows, and
//! that without locks: each word holds whole components, whose union is the union of the
//! states, so the words are replaced one by one, by compare-and-swap. Whoever reads a state
//! meanwhile finds one that lies between the old and the new, and so below the fixed point.
//!
//! [`MARK`] is set in a state that waits to be expanded. Growth sets it *after* the words;
//! [`Table::take`] clears it *before* it reads them. So either the growth is read, or the
//! mark was found clear, and whoever found it so queues the state. States after which nothing
//! comes keep the mark for ever and never enter a queue.

use super::Domain;
use crate::space::layout::{MARK, Overflow, State};
use crate::space::slots::{EMPTY, Slots, hash};
use std::ops::Range;
use std::sync::atomic::Ordering;

/// States, each in the slot of its key; a fixed number of slots.
pub struct Table<const N: usize> {
    slots: Slots<N>,
}

/// What became of a state that was merged into the table.
pub enum Merged<const N: usize> {
    /// It is the first one with its key; it is marked.
    New,
    /// It is merged into another, which was not marked, and is now.
    Grown(State<N>),
    /// It brings nothing, or only to a state that was marked.
    Known,
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

    /// The slot at which the search for a state begins whose key has this hash.
    #[inline]
    pub fn home(&self, hash: u64) -> usize {
        self.slots.home(hash)
    }

    /// Asks the processor to fetch a slot that will be needed soon.
    #[inline]
    pub fn prefetch(&self, slot: usize) {
        self.slots.prefetch(slot);
    }

    /// The slots, in portions to share among threads.
    pub fn portions(&self) -> Vec<Range<usize>> {
        self.slots.portions()
    }

    /// The states in some slots.
    #[inline]
    pub fn states(&self, slots: Range<usize>) -> impl Iterator<Item = (usize, State<N>)> {
        let states = self.slots.states(slots);
        states.map(|(slot, state)| (slot, unmarked(state)))
    }

    /// The state in a slot, if there is one.
    #[inline]
    pub fn get(&self, slot: usize) -> Option<State<N>> {
        self.slots.get(slot).map(unmarked)
    }

    /// Merges a state whose search begins at `home`. There must be room.
    #[inline]
    pub fn merge(
        &self,
        state: &State<N>,
        home: usize,
        domain: &mut impl Domain<N>,
    ) -> Result<Merged<N>, Overflow> {
        let mut slot = home;
        loop {
            let Err(first) = self.slots.claim(slot, &marked(*state)) else {
                return Ok(Merged::New);
            };
            let old = unmarked(self.read(slot, first));
            if old == *state {
                return Ok(Merged::Known);
            }
            match domain.join(&old, state)? {
                Some(joined) if joined == old => return Ok(Merged::Known),
                Some(_) => return self.grow(slot, state, domain),
                None => {}
            }
            slot = self.slots.after(slot);
        }
    }

    /// Merges a state into the one in a slot, which has the same key.
    #[inline(never)]
    fn grow(
        &self,
        slot: usize,
        state: &State<N>,
        domain: &mut impl Domain<N>,
    ) -> Result<Merged<N>, Overflow> {
        let words = self.slots.slot(slot);
        let mut grown = false;
        let (before, joined) = 'again: loop {
            let now = self.read(slot, words[0].load(Ordering::Acquire));
            let old = unmarked(now);
            let joined = domain.join(&old, state)?;
            let joined = joined.expect("the key of a slot stays the same");
            for (at, word) in words.iter().enumerate() {
                if joined[at] != old[at] {
                    let mark = now[at] ^ old[at];
                    let swapped = word.compare_exchange(
                        now[at],
                        joined[at] | mark,
                        Ordering::AcqRel,
                        Ordering::Acquire,
                    );
                    if swapped.is_err() {
                        continue 'again;
                    }
                    grown = true;
                }
            }
            break (old, joined);
        };
        if grown {
            domain.grown(&before, &joined);
        }
        if grown && words[0].fetch_or(MARK, Ordering::AcqRel) & MARK == 0 {
            return Ok(Merged::Grown(joined));
        }
        Ok(Merged::Known)
    }

    /// The words in a slot, the first of which was read.
    #[inline]
    fn read(&self, slot: usize, first: u64) -> State<N> {
        let words = self.slots.slot(slot);
        let mut state = [first; N];
        for at in 1..N {
            state[at] = words[at].load(Ordering::Acquire);
        }
        state
    }

    /// The slot of the state with the key of this one, if there is one. A state that
    /// is being inserted may be missed.
    #[inline]
    pub fn find(
        &self,
        state: &State<N>,
        home: usize,
        domain: &mut impl Domain<N>,
    ) -> Option<usize> {
        let mut slot = home;
        loop {
            let first = self.slots.slot(slot)[0].load(Ordering::Acquire);
            let found = unmarked(self.read(slot, first));
            if first == EMPTY {
                return None;
            }
            if found == *state || domain.same_key(&found, state) {
                return Some(slot);
            }
            slot = self.slots.after(slot);
        }
    }

    /// The state in a slot, which from now on waits no more.
    #[inline]
    pub fn take(&self, slot: usize) -> State<N> {
        let first = self.slots.slot(slot)[0].fetch_and(!MARK, Ordering::AcqRel);
        unmarked(self.read(slot, first))
    }

    /// Moves the states in some slots to a table with more slots and gives their memory
    /// back. Both tables are in the order of hashes, so that both are gone through once,
    /// from one end to the other.
    pub fn move_to(
        &self,
        larger: &Table<N>,
        slots: &Range<usize>,
        domain: &mut impl Domain<N>,
    ) -> Result<(), Overflow> {
        for (_, state) in self.slots.states(slots.clone()) {
            let key = domain.key(&unmarked(state))?;
            let mut slot = larger.home(hash(&key));
            while larger.slots.claim(slot, &state).is_err() {
                slot = larger.slots.after(slot);
            }
        }
        self.slots.discard(slots);
        Ok(())
    }
}

#[inline]
pub fn marked<const N: usize>(mut state: State<N>) -> State<N> {
    state[0] |= MARK;
    state
}

#[inline]
pub fn unmarked<const N: usize>(mut state: State<N>) -> State<N> {
    state[0] &= !MARK;
    state
}
