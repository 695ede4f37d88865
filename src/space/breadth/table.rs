//! The visited set: a shared open-addressing table of whole states.
//!
//! Threads insert without locks. The first word of a slot is claimed by compare-and-swap;
//! for states of several words it is marked busy until the other words are written, and
//! whoever meets it meanwhile waits. States are compared bit for bit, so nothing is ever
//! taken for visited that is not. The table does not grow by itself: the explorer makes
//! sure there is room before it inserts.

use crate::space::layout::State;
use memmap2::{MmapOptions, MmapRaw};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// A set of packed states with a fixed number of slots.
pub struct Table<const N: usize> {
    /// Raw, so that no reference to its bytes exists beside those to its words.
    map: MmapRaw,
    slots: usize,
}

/// Slots that are moved to a larger table at a time: whole huge pages.
const MOVED: usize = 1 << 18;

const EMPTY: u64 = 0;
const BUSY: u64 = 1;

impl<const N: usize> Table<N> {
    /// An empty table, or the reason why there is no memory for it.
    pub fn new(slots: usize) -> std::io::Result<Table<N>> {
        let map = MmapOptions::new().len(slots * N * 8).map_anon()?;
        let map = MmapRaw::from(map);
        #[cfg(target_os = "linux")]
        if map.len() >= 1 << 21 {
            // Only a hint: without huge pages the table is merely slower.
            let _ = map.advise(memmap2::Advice::HugePage);
        }
        Ok(Table { map, slots })
    }

    pub fn slots(&self) -> usize {
        self.slots
    }

    pub fn bytes(&self) -> usize {
        self.map.len()
    }

    fn words(&self) -> &[AtomicU64] {
        // SAFETY: the map is page-aligned, zeroed, writable and `slots * N` words long, lives
        // as long as `self`, any bit pattern is a valid `AtomicU64`, and the map is only ever
        // accessed through this slice.
        unsafe { std::slice::from_raw_parts(self.map.as_mut_ptr().cast(), self.slots * N) }
    }

    /// The slot at which the search for a state with this hash begins.
    #[inline]
    pub fn home(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.slots as u128) >> 64) as usize
    }

    /// Asks the processor to fetch a slot that will be needed soon.
    #[inline]
    pub fn prefetch(&self, slot: usize) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let word: *const AtomicU64 = &self.words()[slot * N];
            // SAFETY: prefetching has no effect on memory, and the address is inside the map.
            unsafe { _mm_prefetch(word.cast(), _MM_HINT_T0) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = slot;
    }

    /// The slots, in the portions in which they are moved to a larger table.
    pub fn portions(&self) -> Vec<Range<usize>> {
        let firsts = (0..self.slots).step_by(MOVED);
        firsts
            .map(|first| first..self.slots.min(first + MOVED))
            .collect()
    }

    /// Moves the states in some slots to a table with more slots and gives their memory
    /// back. Both tables are in the order of hashes, so that both are gone through once,
    /// from one end to the other.
    pub fn move_to(&self, larger: &Table<N>, slots: &Range<usize>) {
        for slot in self.words()[slots.start * N..slots.end * N].chunks_exact(N) {
            let state: State<N> = std::array::from_fn(|at| slot[at].load(Ordering::Relaxed));
            if state[0] != EMPTY {
                larger.insert(&state, larger.home(hash(&state)));
            }
        }
        self.discard(slots);
    }

    /// Gives back the memory of some slots, which must not be used any more.
    fn discard(&self, slots: &Range<usize>) {
        // Miri does not know the advice.
        #[cfg(all(target_os = "linux", not(miri)))]
        {
            let (start, len) = (slots.start * N * 8, slots.len() * N * 8);
            let advice = memmap2::UncheckedAdvice::DontNeed;
            // SAFETY: anonymous memory reads as zeroes afterwards, which are valid words.
            let _ = unsafe { self.map.unchecked_advise_range(advice, start, len) };
        }
        #[cfg(not(all(target_os = "linux", not(miri))))]
        let _ = slots;
    }

    /// Inserts a state whose search begins at `home`; whether it is new. There must be room.
    #[inline]
    pub fn insert(&self, state: &State<N>, home: usize) -> bool {
        let words = self.words();
        let mut slot = home;
        loop {
            let words = &words[slot * N..slot * N + N];
            let mut first = words[0].load(Ordering::Acquire);
            if first == EMPTY {
                let claim = if N == 1 { state[0] } else { BUSY };
                let claimed =
                    words[0].compare_exchange(EMPTY, claim, Ordering::AcqRel, Ordering::Acquire);
                match claimed {
                    Ok(_) => {
                        if N > 1 {
                            for (word, value) in words.iter().zip(state).skip(1) {
                                word.store(*value, Ordering::Relaxed);
                            }
                            words[0].store(state[0], Ordering::Release);
                        }
                        return true;
                    }
                    Err(other) => first = other,
                }
            }
            while N > 1 && first == BUSY {
                std::hint::spin_loop();
                first = words[0].load(Ordering::Acquire);
            }
            let rest = || (1..N).all(|at| words[at].load(Ordering::Relaxed) == state[at]);
            if first == state[0] && rest() {
                return false;
            }
            slot += 1;
            if slot == self.slots {
                slot = 0;
            }
        }
    }
}

/// Mixes all bits of a state into all bits of the result.
#[inline]
pub fn hash<const N: usize>(state: &State<N>) -> u64 {
    let mut hash = 0x2545_f491_4f6c_dd1d;
    for word in state {
        let product = u128::from(hash ^ word) * 0x9e37_79b9_7f4a_7c15;
        hash = (product >> 64) as u64 ^ product as u64;
    }
    hash
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
