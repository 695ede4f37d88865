//! What a thread has worked out before.

use crate::space::layout::State;
use crate::space::slots::hash;
use ahash::AHashMap;
use std::sync::RwLock;

/// Answers that are found without a look into the map: at first, and at most; powers of two.
const FIRST_RECENT: usize = 1 << 6;
const MOST_RECENT: usize = 1 << 14;

/// Answers by packed questions, recent ones in front.
pub struct Memo<const N: usize, T> {
    recent: Vec<(State<N>, T)>,
    all: AHashMap<State<N>, T>,
    nothing: T,
}

impl<const N: usize, T: Copy> Memo<N, T> {
    /// Without answers. No question is all zeroes; the answer to that is never given.
    pub fn new(nothing: T) -> Memo<N, T> {
        Memo {
            recent: vec![([0; N], nothing); FIRST_RECENT],
            all: AHashMap::new(),
            nothing,
        }
    }

    #[inline]
    pub fn get(&mut self, question: &State<N>) -> Option<T> {
        let at = hash(question) as usize & (self.recent.len() - 1);
        let (known, answer) = self.recent[at];
        if known == *question {
            return Some(answer);
        }
        let answer = *self.all.get(question)?;
        self.recent[at] = (*question, answer);
        Some(answer)
    }

    pub fn insert(&mut self, question: State<N>, answer: T) {
        self.all.insert(question, answer);
        if self.all.len() > self.recent.len() && self.recent.len() < MOST_RECENT {
            self.recent = vec![([0; N], self.nothing); 4 * self.recent.len()];
        }
    }

    /// Roughly the memory that it takes.
    pub fn bytes(&self) -> usize {
        (self.recent.len() + self.all.capacity() * 8 / 7) * size_of::<(State<N>, T)>()
    }
}

/// What some thread has worked out, for those that are asked the same.
pub struct Answers<const N: usize, T> {
    all: RwLock<AHashMap<State<N>, T>>,
}

impl<const N: usize, T: Clone> Answers<N, T> {
    pub fn new() -> Answers<N, T> {
        Answers {
            all: RwLock::default(),
        }
    }

    pub fn get(&self, question: &State<N>) -> Option<T> {
        let all = self.all.read().expect("no thread panics here");
        all.get(question).cloned()
    }

    pub fn insert(&self, question: State<N>, answer: T) {
        let mut all = self.all.write().expect("no thread panics here");
        all.insert(question, answer);
    }

    /// Roughly the memory that it takes, but for what answers refer to.
    pub fn bytes(&self) -> usize {
        let all = self.all.read().expect("no thread panics here");
        all.capacity() * 8 / 7 * size_of::<(State<N>, T)>()
    }
}
