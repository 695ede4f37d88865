//! One thread's part in expanding states and joining what is found.

use super::Domain;
use super::queue::{Found, Queue};
use super::table::{Merged, Table, marked, unmarked};
use crate::limits::Pace;
use crate::space::layout::{Overflow, State};
use crate::space::search::Unfinished;
use crate::space::shared::{Pause, Shared};
use crate::space::slots::hash;
use crate::space::successors::Successors;

/// Successors that wait for their table slots to be fetched.
const BATCH: usize = 128;

/// Successors that a thread remembers, a power of two. One that came up recently brings
/// nothing new.
const RECENT: usize = 1 << 15;

/// Tables with fewer slots than this are fast enough without.
const LARGE_TABLE: usize = 1 << 14;

/// A thread's tables, and what it has found.
pub struct Worker<const N: usize, D> {
    /// Its number.
    own: usize,
    pub domain: D,
    /// States that are to be expanded and not in the queue yet. Those that have been before
    /// carry a mark.
    found: Found<N>,
    /// The transitions of the states that it expanded, as they were at the first time.
    pub transitions: u64,
    credit: u64,
    /// Keys of states to be expanded, and where the search for them begins.
    fetched: Vec<(usize, State<N>)>,
    successors: Successors<N>,
    /// Successors and where their search in the table begins, and room behind them.
    pending: Vec<(usize, State<N>)>,
    waiting: usize,
    /// By hash.
    recent: Vec<State<N>>,
    /// What was done since the limits were last looked at.
    pace: Pace,
}

impl<const N: usize, D: Domain<N>> Worker<N, D> {
    pub fn new(own: usize, domain: D) -> Worker<N, D> {
        Worker {
            own,
            domain,
            found: Found::new(),
            transitions: 0,
            credit: 0,
            fetched: Vec::new(),
            successors: Successors::default(),
            pending: Vec::new(),
            waiting: 0,
            recent: Vec::new(),
            pace: Pace::default(),
        }
    }

    /// Expands states of the queue until there are none, or until the threads have to meet,
    /// or until there are enough for several threads.
    pub fn expand(&mut self, shared: &Shared, table: &Table<N>, queue: &Queue<N>, enough: u64) {
        if self.recent.is_empty() && table.slots() >= LARGE_TABLE {
            self.recent = vec![[0; N]; RECENT];
        }
        let stop = || shared.is_paused() || queue.len() >= enough;
        let mut chunk = Vec::new();
        while queue.next(self.own, &mut self.found, &mut chunk, stop) {
            let mut done = 0;
            let expanded = self.expand_chunk(shared, table, &chunk, &mut done);
            let inserted = self.insert_pending(table);
            if let Err(why) = expanded.and(inserted.map_err(Unfinished::from)) {
                shared.pause(Pause::End(why));
            }
            if let Some(why) = self.domain.pause() {
                shared.pause(why);
            }
            for state in &chunk[done..] {
                let stores = self.domain.pending_stores(&unmarked(*state));
                self.found.push(*state, stores);
            }
        }
        shared.give_back(&mut self.credit);
    }

    /// Expands states and counts those that are done.
    fn expand_chunk(
        &mut self,
        shared: &Shared,
        table: &Table<N>,
        chunk: &[State<N>],
        done: &mut usize,
    ) -> Result<(), Unfinished> {
        self.fetched.clear();
        for state in chunk {
            let key = self.domain.key(&unmarked(*state))?;
            let home = table.home(hash(&key));
            table.prefetch(home);
            self.fetched.push((home, key));
        }
        for (at, state) in chunk.iter().enumerate() {
            let (home, key) = self.fetched[at];
            let slot = table.find(&unmarked(*state), home, &mut self.domain);
            let now = table.take(slot.expect("a state that waits is in the table"));
            let transitions = self.domain.successors(&now, &key, &mut self.successors)?;
            let count = self.successors.as_slice().len();
            if !self.reserve(shared, table)? {
                return Ok(());
            }
            self.enqueue(table);
            if self.waiting >= BATCH {
                self.insert_pending(table)?;
            }
            let is_new = *state == unmarked(*state);
            self.transitions += if is_new { transitions } else { 0 };
            *done += 1;
            if self.pace.is_due(1 + count) && !shared.proceed::<N>() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Lets the successors wait for their slots, except for those that came up recently.
    #[inline]
    fn enqueue(&mut self, table: &Table<N>) {
        let (successors, keys) = (self.successors.as_slice(), self.successors.keys());
        let room = self.waiting + successors.len();
        if self.pending.len() < room {
            self.pending.resize(2 * room, (0, [0; N]));
        }
        let mut fetched = 0;
        for (next, key) in successors.iter().zip(keys) {
            let hash = hash(key);
            let home = table.home(hash);
            let known = match self.recent.get_mut(hash as usize % RECENT) {
                Some(recent) => std::mem::replace(recent, *next) == *next,
                None => false,
            };
            fetched = if known { fetched } else { home };
            table.prefetch(fetched);
            self.pending[self.waiting] = (home, *next);
            self.waiting += usize::from(!known);
        }
    }

    /// Makes sure that all pending states and successors have room.
    fn reserve(&mut self, shared: &Shared, table: &Table<N>) -> Result<bool, Overflow> {
        let needed = (self.waiting + self.successors.as_slice().len()) as u64;
        if shared.reserve(&mut self.credit, needed) {
            return Ok(true);
        }
        if self.waiting > 0 {
            self.insert_pending(table)?;
            return self.reserve(shared, table);
        }
        shared.no_room();
        Ok(false)
    }

    fn insert_pending(&mut self, table: &Table<N>) -> Result<(), Overflow> {
        for at in 0..self.waiting {
            let (home, state) = self.pending[at];
            self.merge(&state, home, table)?;
        }
        self.waiting = 0;
        Ok(())
    }

    /// Merges a state into the table.
    fn merge(&mut self, state: &State<N>, home: usize, table: &Table<N>) -> Result<(), Overflow> {
        match table.merge(state, home, &mut self.domain)? {
            Merged::New => {
                self.credit -= 1;
                self.add(*state);
            }
            Merged::Grown(state) => {
                let stores = self.domain.pending_stores(&state);
                self.found.push(marked(state), stores);
            }
            Merged::Known => {}
        }
        Ok(())
    }

    /// Takes note of a new state.
    pub fn add(&mut self, state: State<N>) {
        if !self.domain.add(&state) {
            let stores = self.domain.pending_stores(&state);
            self.found.push(state, stores);
        }
    }
}
