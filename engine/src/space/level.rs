//! States that were found in one level of a search.

use super::layout::State;

/// States in one piece of a level at most.
const PIECE: usize = 1 << 14;

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

    /// Moves all states of another level here.
    pub fn append(&mut self, other: &mut Level<N>) {
        other.pieces.iter_mut().for_each(Vec::shrink_to_fit);
        self.pieces.append(&mut other.pieces);
    }
}

impl<const N: usize> From<Vec<State<N>>> for Level<N> {
    fn from(states: Vec<State<N>>) -> Level<N> {
        Level {
            pieces: vec![states],
        }
    }
}
