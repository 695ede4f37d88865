//! Sets of configurations of one process, as bits by their numbers.

/// A set of numbers: bits, without the empty words on both sides.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Members {
    first: usize,
    words: Box<[u64]>,
}

/// A bit for each member's number modulo the number of bits: a subset has no others.
pub type Mask = u128;

/// A set while it is put together: each member once, in the order in which they came.
#[derive(Default)]
pub struct Gathered {
    pub members: Vec<u32>,
    bits: Vec<u64>,
}

impl Gathered {
    pub fn add(&mut self, number: u32) {
        let (word, bit) = (number as usize / 64, 1 << (number % 64));
        if self.bits.len() <= word {
            self.bits.resize(word + 1, 0);
        }
        if self.bits[word] & bit == 0 {
            self.bits[word] |= bit;
            self.members.push(number);
        }
    }

    pub fn clear(&mut self) {
        self.members.clear();
        self.bits.fill(0);
    }

    /// Leaves out those that do not stay.
    pub fn try_retain<E>(
        &mut self,
        mut stays: impl FnMut(u32) -> Result<bool, E>,
    ) -> Result<(), E> {
        let mut kept = Vec::with_capacity(self.members.len());
        for &number in &self.members {
            match stays(number)? {
                true => kept.push(number),
                false => self.bits[number as usize / 64] &= !(1 << (number % 64)),
            }
        }
        self.members = kept;
        Ok(())
    }

    pub fn set(&self) -> Members {
        Members::new(&self.bits)
    }
}

impl Members {
    fn new(bits: &[u64]) -> Members {
        let first = bits.iter().position(|word| *word != 0).unwrap_or(0);
        let end = bits
            .iter()
            .rposition(|word| *word != 0)
            .map_or(first, |at| at + 1);
        Members {
            first,
            words: bits[first..end].into(),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().enumerate().flat_map(|(at, &word)| {
            let begin = 64 * (self.first + at) as u32;
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(begin + bit)
            })
        })
    }

    pub fn len(&self) -> usize {
        let ones = self.words.iter().map(|word| word.count_ones() as usize);
        ones.sum()
    }

    /// What it takes, in bytes.
    pub fn bytes(&self) -> usize {
        size_of::<Members>() + 8 * self.words.len()
    }

    pub fn union(&self, other: &Members) -> Members {
        let end = |set: &Members| set.first + set.words.len();
        let first = match (self.words.is_empty(), other.words.is_empty()) {
            (true, _) => other.first,
            (_, true) => self.first,
            _ => self.first.min(other.first),
        };
        let mut words = vec![0; end(self).max(end(other)) - first];
        for set in [self, other] {
            for (at, word) in set.words.iter().enumerate() {
                words[set.first + at - first] |= word;
            }
        }
        let words = words.into();
        Members { first, words }
    }

    pub fn mask(&self) -> Mask {
        let words = self.words.iter().enumerate();
        words.fold(0, |mask, (at, &word)| {
            mask | Mask::from(word) << (64 * ((self.first + at) % 2))
        })
    }

    pub fn is_subset(&self, other: &Members) -> bool {
        let Some(begin) = self.first.checked_sub(other.first) else {
            return self.words.is_empty();
        };
        let theirs = other.words.get(begin..begin + self.words.len());
        theirs.is_some_and(|theirs| {
            let mut both = self.words.iter().zip(theirs);
            both.all(|(own, theirs)| own & !theirs == 0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(numbers: &[u32]) -> Members {
        let mut gathered = Gathered::default();
        numbers.iter().for_each(|&number| gathered.add(number));
        gathered.set()
    }

    #[test]
    fn unions_have_the_members_of_both() {
        let sets: [&[u32]; 5] = [&[], &[3], &[64, 70], &[1, 200], &[130, 131, 1000]];
        for one in sets {
            for other in sets {
                let union = set(one).union(&set(other));
                assert_eq!(union, set(&[one, other].concat()));
                assert!(set(one).is_subset(&union) && set(other).is_subset(&union));
                assert_eq!(union.len(), union.iter().count());
            }
        }
    }
}
