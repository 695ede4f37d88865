//! Memory for the slots of a table of states.
//!
//! A slot is as many words as a state has, and empty while the first of them is zero. How
//! slots are found to be taken is up to the tables that are made of them. A full table is
//! replaced by a larger one, to which its states are moved in the order of their hashes; or,
//! where addresses were set aside for it, more slots are added behind the others.

use super::layout::State;
use memmap2::{MmapOptions, MmapRaw};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Slots, and addresses for more of them.
pub struct Slots<const N: usize> {
    /// Raw, so that no reference to its bytes exists beside those to its words.
    map: MmapRaw,
    count: usize,
}

/// Slots that are moved to a larger table at a time: whole huge pages.
const MOVED: usize = 1 << 18;

/// Slots of a first table.
const FIRST: usize = 1 << 11;

/// How many times as many slots there may be in the end, where there are addresses for them.
const EXTENSIBLE: usize = 16;

/// The first word of a slot that holds no state.
pub const EMPTY: u64 = 0;
/// The first word of a slot whose other words are being written.
const BUSY: u64 = 1;

impl<const N: usize> Slots<N> {
    /// Empty slots, or the reason why there is no memory for them.
    pub fn new(count: usize) -> std::io::Result<Slots<N>> {
        Slots::with_addresses(count, count)
    }

    /// The same with addresses for more slots, where the system gives out so many: they take
    /// memory only when they are used.
    pub fn extensible(count: usize) -> std::io::Result<Slots<N>> {
        let most = count.saturating_mul(EXTENSIBLE);
        Slots::with_addresses(count, most).or_else(|_| Slots::new(count))
    }

    fn with_addresses(count: usize, most: usize) -> std::io::Result<Slots<N>> {
        let bytes = most.saturating_mul(N * 8);
        let mut options = MmapOptions::new();
        // Miri knows no such maps.
        if most > count && !cfg!(miri) {
            options.no_reserve_swap();
        }
        let map = options.len(bytes).map_anon()?;
        let map = MmapRaw::from(map);
        #[cfg(target_os = "linux")]
        if map.len() >= 1 << 21 {
            // Only a hint: without huge pages the table is merely slower.
            let _ = map.advise(memmap2::Advice::HugePage);
        }
        Ok(Slots { map, count })
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// States at which a table of these slots counts as full.
    pub fn capacity(&self) -> u64 {
        self.count as u64 / 4 * 3
    }

    /// How many slots a table has that replaces one with `old` slots, if it should be
    /// `factor` times as large as long as it is small: as many as fit into the bytes that
    /// there is room for, or `None` if that would not help.
    pub fn larger(old: usize, factor: usize, room: Option<u64>) -> Option<usize> {
        let wanted = match old {
            0 => FIRST,
            1..0x10_0000 => old * factor,
            _ => old / 2 * 3,
        };
        let most = room.map_or(usize::MAX, |room| room as usize / size_of::<State<N>>());
        let new = wanted.min(most);
        (new >= old + old / 8 && new >= FIRST).then_some(new)
    }

    pub fn bytes(&self) -> usize {
        self.count * N * 8
    }

    /// Adds empty slots behind the others until there are so many; whether there are addresses
    /// for them. The home of a state changes, so that all states have to be moved.
    pub fn extend(&mut self, count: usize) -> bool {
        let fits = count.saturating_mul(N * 8) <= self.map.len();
        self.count = if fits { count } else { self.count };
        fits
    }

    #[inline]
    fn words(&self) -> &[AtomicU64] {
        // SAFETY: the map is page-aligned, zeroed, writable and at least `count * N` words long, lives
        // as long as `self`, any bit pattern is a valid `AtomicU64`, and the map is only ever
        // accessed through this slice.
        unsafe { std::slice::from_raw_parts(self.map.as_mut_ptr().cast(), self.count * N) }
    }

    /// The words of a slot.
    #[inline]
    pub fn slot(&self, slot: usize) -> &[AtomicU64] {
        &self.words()[slot * N..slot * N + N]
    }

    /// The slot at which the search for a state with this hash begins.
    #[inline]
    pub fn home(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.count as u128) >> 64) as usize
    }

    /// The slot to look at after another.
    #[inline]
    pub fn after(&self, slot: usize) -> usize {
        match slot + 1 == self.count {
            true => 0,
            false => slot + 1,
        }
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

    /// Puts a state into a slot if that is empty; otherwise the first word of the state that
    /// is in it. Whoever meets a slot whose state is being written waits.
    #[inline]
    pub fn claim(&self, slot: usize, state: &State<N>) -> Result<(), u64> {
        let words = self.slot(slot);
        let mut first = words[0].load(Ordering::Acquire);
        if first == EMPTY {
            let claim = if N == 1 { state[0] } else { BUSY };
            match words[0].compare_exchange(EMPTY, claim, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => {
                    if N > 1 {
                        for (word, value) in words.iter().zip(state).skip(1) {
                            word.store(*value, Ordering::Relaxed);
                        }
                        words[0].store(state[0], Ordering::Release);
                    }
                    return Ok(());
                }
                Err(other) => first = other,
            }
        }
        while N > 1 && first == BUSY {
            std::hint::spin_loop();
            first = words[0].load(Ordering::Acquire);
        }
        Err(first)
    }

    /// The words in a slot, if it is not empty; only while nobody claims it.
    #[inline]
    pub fn get(&self, slot: usize) -> Option<State<N>> {
        let words = self.slot(slot);
        let mut state = [EMPTY; N];
        for at in 0..N {
            state[at] = words[at].load(Ordering::Relaxed);
        }
        (state[0] != EMPTY).then_some(state)
    }

    /// All slots of a range that are not empty, and the words in them; only while nobody
    /// claims any.
    #[inline]
    pub fn states(&self, range: Range<usize>) -> impl Iterator<Item = (usize, State<N>)> {
        let words = &self.words()[range.start * N..range.end * N];
        let slots = range.zip(words.chunks_exact(N));
        slots.filter_map(|(slot, words)| {
            let mut state = [EMPTY; N];
            for at in 0..N {
                state[at] = words[at].load(Ordering::Relaxed);
            }
            (state[0] != EMPTY).then_some((slot, state))
        })
    }

    /// The slots, in the portions in which they are moved to a larger table.
    pub fn portions(&self) -> Vec<Range<usize>> {
        let firsts = (0..self.count).step_by(MOVED);
        firsts
            .map(|first| first..self.count.min(first + MOVED))
            .collect()
    }

    /// Gives back the memory of some slots, which must not be used any more.
    pub fn discard(&self, slots: &Range<usize>) {
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
