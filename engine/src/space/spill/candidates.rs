//! One thread's part in expanding a level: successors, in buffers and in runs.

use super::Scratch;
use super::merge::merged;
use super::run::{Run, Writer};
use crate::limits::{Pace, StopReason};
use crate::space::context::Context;
use crate::space::layout::State;
use crate::space::search::Unfinished;
use crate::space::slots::hash;
use crate::space::standstill::StandstillFinder;
use crate::space::successors::{SuccessorCache, Successors};

/// Successors that a thread remembers at most, a power of two: what came up lately need not be
/// sorted again.
const RECENT: usize = 1 << 16;

/// States that a buffer holds at most: sorting them takes no more than a second or two, in which
/// nobody looks at the limits.
const MOST_HELD: usize = 1 << 23;

/// States for which there is always room.
const LEAST_HELD: u64 = 1 << 10;

/// So many runs of a level are merged into one when there are twice as many.
const MERGED: usize = 16;

/// A thread's tables, and the successors that it has found in the current level.
pub struct Worker<'a, const N: usize> {
    context: Context<'a>,
    scratch: &'a dyn Scratch,
    pub cache: SuccessorCache<'a, N>,
    standstill: StandstillFinder<'a, N>,
    successors: Successors<N>,
    /// Successors, some of them several times.
    held: Vec<State<N>>,
    /// The buffer is in order, without repetitions.
    sorted: bool,
    /// States that the buffer may hold.
    capacity: usize,
    /// Full buffers of this level, on disk.
    pub runs: Vec<Run<'a, N>>,
    /// By hash. What is in here is in a buffer, in a run or in a level.
    recent: Vec<State<N>>,
    /// Expanded states in which nothing goes on.
    pub standstills: Vec<State<N>>,
    pub transitions: u64,
    pub no_room: bool,
    pace: Pace,
}

impl<'a, const N: usize> Worker<'a, N> {
    pub fn new(context: Context<'a>, scratch: &'a dyn Scratch) -> Worker<'a, N> {
        Worker {
            context,
            scratch,
            cache: SuccessorCache::new(context),
            standstill: StandstillFinder::new(context),
            successors: Successors::default(),
            held: Vec::new(),
            sorted: true,
            capacity: 0,
            runs: Vec::new(),
            recent: Vec::new(),
            standstills: Vec::new(),
            transitions: 0,
            no_room: false,
            pace: Pace::default(),
        }
    }

    /// Gives the buffers of a level, which is still to be expanded, this many bytes.
    pub fn make_room(&mut self, bytes: u64, most_held: Option<usize>) {
        let most = most_held.unwrap_or(MOST_HELD).min(MOST_HELD);
        let states = bytes / size_of::<State<N>>() as u64;
        let states = states.clamp(LEAST_HELD, most as u64 + RECENT as u64) as usize;
        let remembered = (states / 8).min(most).min(RECENT);
        // The next power of two that is not larger.
        let remembered = (remembered + 1).next_power_of_two() / 2;
        if self.recent.len() != remembered {
            self.recent = vec![[0; N]; remembered];
        }
        self.capacity = (states - remembered).min(most);
        let allocated = self.held.capacity();
        if allocated < self.capacity || allocated > self.capacity / 4 * 5 {
            self.held = Vec::with_capacity(self.capacity);
        }
    }

    /// The memory that its buffers take now.
    pub fn buffer_bytes(&self) -> u64 {
        ((self.held.capacity() + self.recent.len()) * size_of::<State<N>>()) as u64
    }

    /// Expands states.
    pub fn expand(&mut self, states: &[State<N>]) -> Result<(), Unfinished> {
        for state in states {
            self.no_room |= self.cache.successors(state, &mut self.successors)?;
            let successors = std::mem::take(&mut self.successors);
            let count = successors.as_slice().len();
            let mut all = successors.as_slice().iter();
            let added = all.try_for_each(|next| self.add(*next));
            self.successors = successors;
            added?;
            self.transitions += count as u64;
            if self.standstill.is_standstill(state, count)? {
                self.standstills.push(*state);
            }
            self.context.go_on(&mut self.pace, 1 + count)?;
        }
        Ok(())
    }

    /// Takes note of a successor.
    #[inline]
    pub fn add(&mut self, next: State<N>) -> Result<(), StopReason> {
        if !self.recent.is_empty() {
            let slot = hash(&next) as usize & (self.recent.len() - 1);
            if std::mem::replace(&mut self.recent[slot], next) == next {
                return Ok(());
            }
        }
        if self.held.len() >= self.capacity {
            self.make_space()?;
        }
        self.held.push(next);
        self.sorted = false;
        Ok(())
    }

    /// Removes repetitions from the buffer; if it is still more than half full, it goes to disk.
    #[cold]
    fn make_space(&mut self) -> Result<(), StopReason> {
        self.sort();
        if self.held.len() <= self.capacity / 2 {
            return Ok(());
        }
        let mut run = Writer::new(self.scratch)?;
        self.held.drain(..).try_for_each(|state| run.add(state))?;
        self.runs.push(run.finish()?);
        if self.runs.len() >= 2 * MERGED {
            let oldest: Vec<_> = self.runs.drain(..MERGED).collect();
            self.runs
                .push(merged(&self.context, self.scratch, &oldest)?);
        }
        Ok(())
    }

    /// Sorts the buffer and removes repetitions.
    pub fn sort(&mut self) {
        if !self.sorted {
            self.held.sort_unstable();
            self.held.dedup();
            self.sorted = true;
        }
    }

    /// What the buffer holds.
    pub fn held(&self) -> &[State<N>] {
        &self.held
    }

    /// Forgets the successors of a level.
    pub fn clear(&mut self) {
        self.held.clear();
        self.runs.clear();
    }
}
