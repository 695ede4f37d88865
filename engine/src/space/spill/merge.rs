//! Many sorted sources as one, without repetitions.

use super::Scratch;
use super::run::{Reader, Run, Writer};
use crate::limits::{Pace, StopReason};
use crate::space::context::Context;
use crate::space::layout::State;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// Sorted states.
enum Source<'a, 'b, const N: usize> {
    Disk(Box<Reader<'a, N>>),
    Memory(std::slice::Iter<'b, State<N>>),
}

impl<const N: usize> Source<'_, '_, N> {
    #[inline]
    fn next(&mut self) -> Result<Option<State<N>>, StopReason> {
        match self {
            Source::Disk(reader) => reader.next(),
            Source::Memory(states) => Ok(states.next().copied()),
        }
    }
}

/// All states of some sources, in order.
pub struct Merge<'a, 'b, const N: usize> {
    sources: Vec<Source<'a, 'b, N>>,
    /// The least state that is left of each source, and which source it is.
    heads: BinaryHeap<Reverse<(State<N>, usize)>>,
}

impl<'a, 'b, const N: usize> Merge<'a, 'b, N> {
    /// Merges runs, and sorted states in memory.
    pub fn new(
        runs: &[Run<'a, N>],
        held: impl IntoIterator<Item = &'b [State<N>]>,
    ) -> Result<Merge<'a, 'b, N>, StopReason> {
        let runs = runs.iter().map(|run| Source::Disk(Box::new(run.reader())));
        let held = held.into_iter().map(|states| Source::Memory(states.iter()));
        let mut sources: Vec<_> = runs.chain(held).collect();
        let mut heads = BinaryHeap::new();
        for (index, source) in sources.iter_mut().enumerate() {
            if let Some(state) = source.next()? {
                heads.push(Reverse((state, index)));
            }
        }
        Ok(Merge { sources, heads })
    }

    /// The next state.
    pub fn next(&mut self) -> Result<Option<State<N>>, StopReason> {
        let Some(&Reverse((least, _))) = self.heads.peek() else {
            return Ok(None);
        };
        while let Some(mut head) = self.heads.peek_mut()
            && head.0.0 == least
        {
            match self.sources[head.0.1].next()? {
                // Sources are in order, and those in memory may have repetitions.
                Some(state) => head.0.0 = state,
                None => drop(PeekMut::pop(head)),
            }
        }
        Ok(Some(least))
    }
}

/// The states of some runs as one.
pub fn merged<'a, const N: usize>(
    context: &Context,
    scratch: &'a dyn Scratch,
    runs: &[Run<'a, N>],
) -> Result<Run<'a, N>, StopReason> {
    let mut all = Merge::new(runs, [])?;
    let mut one = Writer::new(scratch)?;
    let mut pace = Pace::default();
    while let Some(state) = all.next()? {
        one.add(state)?;
        context.go_on(&mut pace, 1)?;
    }
    one.finish()
}
