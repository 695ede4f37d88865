//! States that were found in one level of a search.

use super::layout::State;
use std::sync::atomic::{AtomicUsize, Ordering};

/// States in one piece of a level at most.
const PIECE: usize = 1 << 9;

/// States handed to a thread at a time.
pub const CHUNK: usize = 256;

/// The states of a level, in pieces: adding one never moves more than a piece.
pub struct Level<const N: usize> {
    pieces: Vec<Vec<State<N>>>,
}

impl<const N: usize> Level<N> {
    pub fn new() -> Level<N> {
        Level { pieces: Vec::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    pub fn len(&self) -> usize {
        self.pieces.iter().map(Vec::len).sum()
    }

    pub fn states(&self) -> impl Iterator<Item = &State<N>> {
        self.pieces.iter().flatten()
    }

    /// The states in the portions in which they are worked on.
    pub fn chunks(&self) -> Vec<&[State<N>]> {
        let pieces = self.pieces.iter();
        pieces.flat_map(|piece| piece.chunks(CHUNK)).collect()
    }

    #[inline]
    pub fn push(&mut self, state: State<N>) {
        match self.pieces.last_mut() {
            Some(piece) if piece.len() < PIECE => piece.push(state),
            None => self.pieces.push(vec![state]),
            Some(_) => {
                let mut piece = Vec::with_capacity(PIECE);
                piece.push(state);
                self.pieces.push(piece);
            }
        }
    }

    /// Adds what was found by one thread and belongs to several, piece by piece in turn: states
    /// that were found together stay near each other, so that whoever expands them finds the
    /// successors that they share.
    pub fn add_woven(&mut self, parts: impl IntoIterator<Item = Level<N>>) {
        let parts = parts.into_iter().map(|part| part.pieces.into_iter());
        let mut parts: Vec<_> = parts.collect();
        let new: usize = parts.iter().map(ExactSizeIterator::len).sum();
        let all = self.pieces.len() + new;
        self.pieces.reserve_exact(new);
        while self.pieces.len() < all {
            self.pieces.extend(parts.iter_mut().filter_map(|part| {
                let mut piece = part.next()?;
                piece.shrink_to_fit();
                Some(piece)
            }));
        }
    }
}

impl<const N: usize> From<Vec<State<N>>> for Level<N> {
    fn from(states: Vec<State<N>>) -> Level<N> {
        Level {
            pieces: vec![states],
        }
    }
}

/// The chunks of a level for threads to take: each begins with a part of its own and helps
/// the others with theirs when it is done.
pub struct Chunks<'c, const N: usize> {
    chunks: Vec<&'c [State<N>]>,
    /// By thread: the next chunk of its part, and the end of the part.
    parts: Vec<(AtomicUsize, usize)>,
}

impl<'c, const N: usize> Chunks<'c, N> {
    pub fn new(level: &'c Level<N>, threads: usize) -> Chunks<'c, N> {
        let chunks = level.chunks();
        let border = |at: usize| chunks.len() * at / threads;
        let parts = (0..threads).map(|at| (AtomicUsize::new(border(at)), border(at + 1)));
        Chunks {
            parts: parts.collect(),
            chunks,
        }
    }

    /// The next chunk for a thread.
    pub fn next(&self, thread: usize) -> Option<&'c [State<N>]> {
        let (before, from) = self.parts.split_at(thread);
        from.iter().chain(before).find_map(|(next, end)| {
            let at = next.fetch_add(1, Ordering::Relaxed);
            (at < *end).then(|| self.chunks[at])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(states: impl Iterator<Item = u64>) -> Level<1> {
        let mut level = Level::new();
        states.for_each(|state| level.push([state]));
        level
    }

    /// What one thread has found comes before what another has, pieces of owners in turn, and
    /// nothing is lost.
    #[test]
    fn levels_are_woven_by_finder() {
        let long = 3 * PIECE as u64 + 1;
        let mut all = Level::new();
        all.add_woven([level(0..long), level(long..long + 5)]);
        all.add_woven([level(0..0), level(long + 5..2 * long)]);
        let states: Vec<u64> = all.states().map(|state| state[0]).collect();
        assert_eq!(all.len(), states.len());
        let first = PIECE as u64;
        let woven = (0..first).chain(long..long + 5).chain(first..long);
        assert!(states.iter().copied().eq(woven.chain(long + 5..2 * long)));
    }

    /// Every chunk goes to one thread, its own part first.
    #[test]
    fn every_chunk_is_taken_once() {
        let level = level(0..10 * CHUNK as u64);
        let chunks = Chunks::new(&level, 2);
        let begin = |chunk: Option<&[State<1>]>| chunk.map(|chunk| chunk[0][0] / CHUNK as u64);
        assert_eq!(begin(chunks.next(1)), Some(5));
        assert_eq!(begin(chunks.next(0)), Some(0));
        let rest: Vec<u64> = std::iter::from_fn(|| begin(chunks.next(1))).collect();
        assert_eq!(rest, [6, 7, 8, 9, 1, 2, 3, 4]);
        assert_eq!(begin(chunks.next(0)), None);
    }
}
