//! The states that were met, each with its label.

use crate::formula::{FormulaId, TooLarge};
use crate::limits::{Pace, StopReason};
use crate::space::context::Context;
use crate::space::layout::State;
use crate::space::slots::{EMPTY, hash};

/// Slots of the first table.
const FIRST_SLOTS: usize = 1 << 11;

/// Tables with fewer slots than this grow fast.
const SMALL_TABLE: usize = 1 << 20;

/// An open-addressing table of states and what is known of each.
pub struct LabelTable<const N: usize> {
    slots: Vec<(State<N>, Entry)>,
    len: u64,
}

/// The label of a state, and what has become of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry(u32);

impl Entry {
    /// Its label has changed since it was last expanded.
    pub const WAITING: u32 = 1 << 31;
    /// It has been expanded before.
    pub const EXPANDED: u32 = 1 << 30;
    /// Something is wrong in it.
    pub const ERROR: u32 = 1 << 29;
    const LABEL: u32 = Self::ERROR - 1;

    pub fn new(label: FormulaId) -> Entry {
        Entry(label.0)
    }

    #[inline]
    pub fn label(self) -> FormulaId {
        FormulaId(self.0 & Self::LABEL)
    }

    #[inline]
    pub fn is(self, flag: u32) -> bool {
        self.0 & flag != 0
    }

    #[inline]
    pub fn with(self, flag: u32) -> Entry {
        Entry(self.0 | flag)
    }

    #[inline]
    pub fn without(self, flag: u32) -> Entry {
        Entry(self.0 & !flag)
    }

    /// The entry with another label, if there is room for its number.
    #[inline]
    pub fn labelled(self, label: FormulaId) -> Result<Entry, TooLarge> {
        match label.0 <= Self::LABEL {
            true => Ok(Entry(self.0 & !Self::LABEL | label.0)),
            false => Err(TooLarge),
        }
    }
}

impl<const N: usize> LabelTable<N> {
    pub fn new() -> LabelTable<N> {
        Self::with_slots(FIRST_SLOTS)
    }

    fn with_slots(slots: usize) -> LabelTable<N> {
        LabelTable {
            slots: vec![([0; N], Entry(0)); slots],
            len: 0,
        }
    }

    pub fn len(&self) -> u64 {
        self.len
    }

    /// How many states can be added before it has to grow.
    pub fn room(&self) -> u64 {
        (self.slots.len() as u64 / 4 * 3).saturating_sub(self.len)
    }

    pub fn bytes(&self) -> u64 {
        size_of_val(&self.slots[..]) as u64
    }

    /// The slot at which the search for a state begins.
    #[inline]
    pub fn home(&self, state: &State<N>) -> usize {
        ((u128::from(hash(state)) * self.slots.len() as u128) >> 64) as usize
    }

    /// Asks the processor to fetch a slot that will be needed soon.
    #[inline]
    pub fn prefetch(&self, slot: usize) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let slot: *const (State<N>, Entry) = &self.slots[slot];
            // SAFETY: prefetching has no effect on memory, and the address is that of a slot.
            unsafe { _mm_prefetch(slot.cast(), _MM_HINT_T0) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = slot;
    }

    /// What is known of the state in a slot.
    #[inline]
    pub fn entry(&mut self, slot: usize) -> &mut Entry {
        &mut self.slots[slot].1
    }

    /// The slot of a state whose search begins at `home`, and whether it is new; there must be
    /// room.
    #[inline]
    pub fn claim(&mut self, state: &State<N>, home: usize) -> (usize, bool) {
        let mut slot = home;
        loop {
            let there = &mut self.slots[slot].0;
            if there == state {
                return (slot, false);
            }
            if there[0] == EMPTY {
                *there = *state;
                self.len += 1;
                return (slot, true);
            }
            slot = if slot + 1 == self.slots.len() {
                0
            } else {
                slot + 1
            };
        }
    }

    /// Makes room for more states, if they fit in memory with what else there is. Both tables
    /// are in the order of hashes, so that both are gone through once.
    pub fn grow(&mut self, context: &Context, others: u64) -> Result<(), StopReason> {
        let slots = self.slots.len();
        let wanted = match slots < SMALL_TABLE {
            true => slots * 4,
            false => slots / 2 * 3,
        };
        let most = match context.search.limits.max_memory {
            None => usize::MAX,
            Some(most) => {
                let left = most.saturating_sub(others + self.bytes());
                left as usize / size_of::<(State<N>, Entry)>()
            }
        };
        let wanted = wanted.min(most);
        if wanted < slots + slots / 8 {
            return Err(StopReason::MaxMemory);
        }
        let mut larger = Self::with_slots(wanted);
        let mut pace = Pace::default();
        for (state, entry) in self.slots.iter().filter(|(state, _)| state[0] != EMPTY) {
            let (slot, _) = larger.claim(state, larger.home(state));
            *larger.entry(slot) = *entry;
            context.go_on(&mut pace, 1)?;
        }
        *self = larger;
        Ok(())
    }
}
