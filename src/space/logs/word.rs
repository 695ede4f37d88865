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
