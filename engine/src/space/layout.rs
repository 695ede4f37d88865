//! How a state is packed into machine words.
//!
//! A state is one configuration id per process and one value code per shared place. Each
//! is a field of a few bits inside one word. The top bit of the first word is always set,
//! so that no state is all zeroes.

/// A packed state.
pub type State<const N: usize> = [u64; N];

/// The bit that marks a word as the first of a state.
pub const OCCUPIED: u64 = 1 << 63;

/// A bit of the first word that is free for marks, where the layout leaves room for it.
pub const MARK: u64 = 1 << 62;

/// The largest number of words a state may take.
pub const MAX_WORDS: usize = 64;

/// Where a component lives inside a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    pub word: u32,
    pub shift: u32,
    pub bits: u32,
}

/// Work on states of as many words as a layout has.
pub trait InWords {
    type Done;

    fn run<const N: usize>(self) -> Self::Done;
}

/// The fields of all components.
#[derive(Debug, Clone)]
pub struct Layout {
    pub configs: Vec<Field>,
    pub places: Vec<Field>,
    pub words: usize,
}

/// A component did not fit its field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overflow;

impl Layout {
    /// A layout in as few words as will hold the given numbers of bits, with the bits that
    /// are left over given to the configurations. `None` if there are too many. If states
    /// are marked, [`MARK`] stays free.
    pub fn plan(configs: &[u32], places: &[u32], marked: bool) -> Option<Layout> {
        let first = if marked { 62 } else { 63 };
        (1..=MAX_WORDS).find_map(|words| Layout::in_words(words, first, configs, places))
    }

    /// Does work on states of this layout.
    pub fn in_its_words<W: InWords>(&self, work: W) -> W::Done {
        match self.words {
            1 => work.run::<1>(),
            2 => work.run::<2>(),
            3..=4 => work.run::<4>(),
            5..=16 => work.run::<16>(),
            _ => work.run::<64>(),
        }
    }

    /// A layout in this many words; in the first of them, so many bits are used.
    fn in_words(words: usize, first: u32, configs: &[u32], places: &[u32]) -> Option<Layout> {
        let fit = |extra: u32| {
            let wanted = configs.iter().map(|bits| (bits + extra).min(32));
            let wanted = wanted.chain(places.iter().copied());
            pack(words, first, &wanted.collect::<Vec<u32>>())
        };
        let fields = (0..=32).map_while(fit).last()?;
        let (configs, places) = fields.split_at(configs.len());
        Some(Layout {
            configs: configs.to_vec(),
            places: places.to_vec(),
            words,
        })
    }
}

/// Puts fields into words, each into the first word with room for it, widest first.
fn pack(words: usize, first: u32, wanted: &[u32]) -> Option<Vec<Field>> {
    let mut used = vec![0; words];
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(wanted[at]));
    let mut fields = vec![None; wanted.len()];
    for at in order {
        let room = |word: usize| if word == 0 { first } else { 64 };
        let word = (0..words).find(|&word| used[word] + wanted[at] <= room(word))?;
        fields[at] = Some(Field {
            word: word as u32,
            shift: used[word],
            bits: wanted[at],
        });
        used[word] += wanted[at];
    }
    fields.into_iter().collect()
}

impl Field {
    #[inline]
    fn mask(self) -> u64 {
        if self.bits == 0 {
            0
        } else {
            u64::MAX >> (64 - self.bits) << self.shift
        }
    }

    #[inline]
    pub fn get<const N: usize>(self, state: &State<N>) -> u32 {
        let word = if N == 1 { 0 } else { self.word as usize };
        let low = (1u64 << self.bits) - 1;
        (state[word] >> self.shift & low) as u32
    }

    /// Sets all bits of the field.
    pub fn fill<const N: usize>(self, state: &mut State<N>) {
        state[self.word as usize] |= self.mask();
    }

    /// Sets a field that is zero.
    #[inline]
    pub fn add<const N: usize>(self, state: &mut State<N>, value: u32) -> Result<(), Overflow> {
        if u64::from(value) >> self.bits != 0 {
            return Err(Overflow);
        }
        let word = if N == 1 { 0 } else { self.word as usize };
        state[word] |= u64::from(value) << self.shift;
        Ok(())
    }

    #[inline]
    pub fn set<const N: usize>(self, state: &mut State<N>, value: u32) -> Result<(), Overflow> {
        if u64::from(value) >> self.bits != 0 {
            return Err(Overflow);
        }
        let word = &mut state[self.word as usize];
        *word = *word & !self.mask() | u64::from(value) << self.shift;
        Ok(())
    }
}

/// The number of bits that `count` different values need.
pub fn bits_for(count: usize) -> u32 {
    usize::BITS - count.saturating_sub(1).leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_do_not_overlap_and_hold_their_values() {
        let layout = Layout::plan(&[10, 12, 9], &[3, 1, 2, 0], false).unwrap();
        assert_eq!(layout.words, 1);
        let all: Vec<Field> = [layout.configs, layout.places].concat();
        let mut state: State<1> = [OCCUPIED];
        for (at, field) in all.iter().enumerate() {
            field
                .set(&mut state, at as u32 % (1 << field.bits))
                .unwrap();
        }
        for (at, field) in all.iter().enumerate() {
            assert_eq!(field.get(&state), at as u32 % (1 << field.bits));
        }
        assert!(state[0] & OCCUPIED != 0);
        assert_eq!(all[3].set(&mut state, 8), Err(Overflow));
    }

    #[test]
    fn wide_states_take_more_words() {
        let words = |configs: &[u32], places: &[u32], marked| {
            Layout::plan(configs, places, marked).map(|layout| layout.words)
        };
        assert_eq!(words(&[20; 4], &[], false), Some(2));
        assert_eq!(words(&[], &[31; 128], false), Some(64));
        assert_eq!(words(&[], &[32; 200], false), None);
        assert_eq!(words(&[], &[1; 63], false), Some(1));
        assert_eq!(words(&[], &[1; 63], true), Some(2));
    }

    #[test]
    fn bit_counts() {
        assert_eq!([0, 1, 2, 3, 4, 5].map(bits_for), [0, 0, 1, 2, 2, 3]);
    }
}
