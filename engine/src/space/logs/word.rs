//! Downward-closed sets of words: what a lossy channel may hold.
//!
//! The words that a channel may hold are closed under losing letters. Every such set is a finite
//! union of *ideals*, and an ideal is a concatenation of atoms: a letter that may be lost, or
//! any word over a set of letters (Jullien 1969; Abdulla, Bouajjani and Jonsson 1998). A [`Word`]
//! is an ideal in its shortest form: an atom that its neighbour contains is left out.

/// An ideal of words over `L`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Word<L>(Vec<Atom<L>>);

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Atom<L> {
    /// In order, and not empty.
    letters: Box<[L]>,
    /// The letters come any number of times in any order; otherwise there is one letter,
    /// which comes once or not at all.
    star: bool,
}

impl<L> Default for Word<L> {
    fn default() -> Word<L> {
        Word(Vec::new())
    }
}

impl<L: Copy + Ord> Atom<L> {
    /// One letter, once.
    pub fn once(letter: L) -> Atom<L> {
        Atom {
            letters: [letter].into(),
            star: false,
        }
    }

    /// Any number of these letters.
    pub fn star(mut letters: Vec<L>) -> Atom<L> {
        letters.sort_unstable();
        letters.dedup();
        Atom {
            letters: letters.into(),
            star: true,
        }
    }

    pub fn is_star(&self) -> bool {
        self.star
    }

    pub fn letters(&self) -> &[L] {
        &self.letters
    }

    /// All words of the other are words of this one.
    fn contains(&self, other: &Atom<L>) -> bool {
        match (self.star, other.star) {
            (true, _) => is_subset(&other.letters, &self.letters),
            (false, false) => self.letters == other.letters,
            (false, true) => false,
        }
    }
}

impl<L: Copy + Ord> Word<L> {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn atoms(&self) -> &[Atom<L>] {
        &self.0
    }

    /// Puts an atom behind the others.
    pub fn push(&mut self, atom: Atom<L>) {
        if self
            .0
            .last()
            .is_some_and(|last| last.star && last.contains(&atom))
        {
            return;
        }
        while atom.star && self.0.last().is_some_and(|last| atom.contains(last)) {
            self.0.pop();
        }
        self.0.push(atom);
    }

    /// Puts another word behind this one.
    pub fn append(&mut self, other: &Word<L>) {
        for atom in &other.0 {
            self.push(atom.clone());
        }
    }

    /// Leaves out the atoms at the end of which all words are over these letters.
    pub fn trim(&mut self, letters: &[L]) {
        while self
            .0
            .last()
            .is_some_and(|last| is_subset(&last.letters, letters))
        {
            self.0.pop();
        }
    }

    /// What is left from an atom on. An atom that stands for one letter is gone with it.
    pub fn behind(&self, at: usize) -> Word<L> {
        let from = at + usize::from(!self.0[at].star);
        Word(self.0[from..].to_vec())
    }

    /// All words of this one are words of the other.
    pub fn is_within(&self, other: &Word<L>) -> bool {
        let mut at = 0;
        self.0.iter().all(|atom| {
            while let Some(room) = other.0.get(at) {
                if room.contains(atom) {
                    at += usize::from(!room.star);
                    return true;
                }
                at += 1;
            }
            false
        })
    }

    /// A larger word: where `most` factors in a row have the same letters, any word over
    /// these letters takes their place.
    ///
    /// For every `most` there are finitely many words that this leaves alone. A word that is
    /// within one of fewer than `most` atoms stays within it: of so many factors one lies
    /// in a single atom, which is then a star over all of the letters.
    pub fn widen(&mut self, most: usize) {
        'again: loop {
            for from in 0..self.0.len() {
                let mut letters = Vec::new();
                for to in from..self.0.len() {
                    let before = letters.len();
                    letters.extend_from_slice(&self.0[to].letters);
                    letters.sort_unstable();
                    letters.dedup();
                    if before == letters.len() {
                        // A shorter factor has the same letters.
                        continue;
                    }
                    let Some(end) = self.repeated(from, &letters, most) else {
                        continue;
                    };
                    if end == from + 1 && self.0[from].star {
                        continue;
                    }
                    let rest = self.0.split_off(end);
                    self.0.truncate(from);
                    self.push(Atom::star(letters));
                    for atom in rest {
                        self.push(atom);
                    }
                    continue 'again;
                }
            }
            return;
        }
    }

    /// Where a row of factors with exactly these letters ends, if there are so many.
    fn repeated(&self, from: usize, letters: &[L], most: usize) -> Option<usize> {
        let mut factors = 0;
        let mut missing = letters.to_vec();
        for at in from..self.0.len() {
            let atom = &self.0[at];
            if !is_subset(&atom.letters, letters) {
                return None;
            }
            missing.retain(|letter| atom.letters.binary_search(letter).is_err());
            if missing.is_empty() {
                factors += 1;
                if factors == most {
                    return Some(at + 1);
                }
                missing = letters.to_vec();
            }
        }
        None
    }
}

/// Both in order.
fn is_subset<L: Ord>(small: &[L], large: &[L]) -> bool {
    let mut large = large.iter();
    small
        .iter()
        .all(|letter| large.any(|other| other == letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a word belongs to an ideal, letter by letter and with every choice.
    fn holds(atoms: &[Atom<u8>], word: &[u8]) -> bool {
        let Some((first, rest)) = word.split_first() else {
            return true;
        };
        let Some((atom, behind)) = atoms.split_first() else {
            return false;
        };
        let next = if atom.star { atoms } else { behind };
        holds(behind, word) || atom.letters.contains(first) && holds(next, rest)
    }

    /// All words over two letters up to a length.
    fn words(most: usize) -> Vec<Vec<u8>> {
        let mut all = vec![Vec::new()];
        let mut from = 0;
        for _ in 0..most {
            for at in from..all.len() {
                for letter in 0..2 {
                    let mut longer: Vec<u8> = all[at].clone();
                    longer.push(letter);
                    all.push(longer);
                }
            }
            from = all.len() - (1 << all[all.len() - 1].len());
        }
        all
    }

    /// All sequences of so many atoms over two letters, as they are.
    fn sequences(most: usize) -> Vec<Vec<Atom<u8>>> {
        let atoms = [
            Atom::once(0),
            Atom::once(1),
            Atom::star(vec![0]),
            Atom::star(vec![1]),
            Atom::star(vec![1, 0]),
        ];
        let mut all = vec![Vec::new()];
        let mut from = 0;
        for _ in 0..most {
            let to = all.len();
            for at in from..to {
                for atom in &atoms {
                    let mut longer = all[at].clone();
                    longer.push(atom.clone());
                    all.push(longer);
                }
            }
            from = to;
        }
        all
    }

    fn pushed(atoms: &[Atom<u8>]) -> Word<u8> {
        let mut word = Word::default();
        for atom in atoms {
            word.push(atom.clone());
        }
        word
    }

    /// A word of an ideal that no other ideal with so many atoms holds unless it holds all.
    fn witness(ideal: &Word<u8>, most: usize) -> Vec<u8> {
        let parts = ideal.0.iter().map(|atom| match atom.star {
            true => atom.letters.repeat(most + 1),
            false => atom.letters.to_vec(),
        });
        parts.collect::<Vec<_>>().concat()
    }

    #[test]
    fn words_stand_for_what_was_pushed() {
        let words = words(6);
        assert_eq!(words.len(), 127);
        for atoms in sequences(3) {
            let word = pushed(&atoms);
            for sample in &words {
                assert_eq!(holds(&atoms, sample), holds(&word.0, sample), "{atoms:?}");
            }
        }
    }

    #[test]
    fn behind_an_atom_is_what_may_follow_it() {
        let words = words(4);
        for atoms in sequences(3) {
            let word = pushed(&atoms);
            for at in 0..word.0.len() {
                let left = word.behind(at);
                let from = if word.0[at].star { at } else { at + 1 };
                for sample in &words {
                    assert_eq!(holds(&left.0, sample), holds(&word.0[from..], sample));
                }
            }
        }
    }

    #[test]
    fn one_is_within_another_if_all_its_words_are() {
        let samples = words(6);
        let all = sequences(3);
        let mut within = 0;
        for small in &all {
            let small = pushed(small);
            let witness = witness(&small, 3);
            for large in &all {
                let large = pushed(large);
                let inside = small.is_within(&large);
                assert_eq!(inside, holds(&large.0, &witness), "{small:?} {large:?}");
                if inside {
                    within += 1;
                    let mut own = samples.iter().filter(|sample| holds(&small.0, sample));
                    assert!(own.all(|sample| holds(&large.0, sample)));
                }
            }
        }
        assert!(within > all.len() && within < all.len() * all.len());
    }

    #[test]
    fn widening_adds_words_and_stays_within_short_words() {
        let short = sequences(2);
        for atoms in sequences(5) {
            let word = pushed(&atoms);
            for most in 1..=3 {
                let mut wide = word.clone();
                wide.widen(most);
                assert!(word.is_within(&wide), "{word:?} {wide:?}");
                let mut again = wide.clone();
                again.widen(most);
                assert_eq!(again, wide, "{word:?}");
                for large in short.iter().filter(|large| large.len() < most) {
                    let large = pushed(large);
                    let stays = !word.is_within(&large) || wide.is_within(&large);
                    assert!(stays, "{word:?} {wide:?} {large:?}, {most}");
                }
            }
        }
    }

    #[test]
    fn trimmed_words_end_with_another_letter() {
        for atoms in sequences(3) {
            let word = pushed(&atoms);
            let mut trimmed = word.clone();
            trimmed.trim(&[1]);
            let mut back = trimmed.clone();
            back.push(Atom::star(vec![1]));
            assert!(trimmed.is_within(&word) && word.is_within(&back));
        }
    }
}
