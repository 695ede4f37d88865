//! One thread's part in expanding a level.

use super::table::Table;
use crate::limits::{Pace, StopReason};
use crate::space::context::Context;
use crate::space::judge::{Judge, Judgement};
use crate::space::layout::State;
use crate::space::level::Level;
use crate::space::search::Unfinished;
use crate::space::shared::{Pause, Shared};
use crate::space::slots::hash;
use crate::space::standstill::StandstillFinder;
use crate::space::successors::{SuccessorCache, Successors};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Successors that wait for their table slots to be fetched.
const BATCH: usize = 128;

/// Successors that a thread remembers, a power of two. Several ways to a state often lead
/// through states that are expanded soon after one another, so that many successors are
/// known to be old without a look at the table.
const RECENT: usize = 1 << 15;

/// Tables with fewer slots than this are fast enough without.
const LARGE_TABLE: usize = 1 << 20;

/// A thread's tables and what it has found in the current level.
pub struct Worker<'a, const N: usize> {
    pub cache: SuccessorCache<'a, N>,
    pub judge: Judge<'a, N>,
    pub next: Level<N>,
    /// Violating states among the new ones.
    pub errors: Vec<State<N>>,
    /// Expanded states without successors in which some process has not stopped.
    pub standstills: Vec<State<N>>,
    pub transitions: u64,
    pub no_room: bool,
    pub reached_final: bool,
    standstill: StandstillFinder<'a, N>,
    credit: u64,
    successors: Successors<N>,
    /// Successors and where their search in the table begins, and room behind them.
    pending: Vec<(usize, State<N>)>,
    waiting: usize,
    /// By hash; empty while the table is small.
    recent: Vec<State<N>>,
    /// What was done since the limits were last looked at.
    pace: Pace,
}

impl<'a, const N: usize> Worker<'a, N> {
    pub fn new(context: Context<'a>) -> Worker<'a, N> {
        Worker {
            cache: SuccessorCache::new(context),
            judge: Judge::new(context),
            next: Level::new(),
            errors: Vec::new(),
            standstills: Vec::new(),
            transitions: 0,
            no_room: false,
            reached_final: false,
            standstill: StandstillFinder::new(context),
            credit: 0,
            successors: Successors::default(),
            pending: Vec::new(),
            waiting: 0,
            recent: Vec::new(),
            pace: Pace::default(),
        }
    }

    /// Expands the chunks of the frontier behind a shared cursor until there are none, or
    /// until the threads have to meet; returns what it did not finish of its last chunk.
    pub fn expand<'c>(
        &mut self,
        shared: &Shared<Table<N>>,
        chunks: &[&'c [State<N>]],
        cursor: &AtomicUsize,
    ) -> Option<&'c [State<N>]> {
        if self.recent.is_empty() && shared.table.slots() >= LARGE_TABLE {
            self.recent = vec![[0; N]; RECENT];
        }
        let mut left = None;
        while let Some(chunk) = chunks.get(cursor.fetch_add(1, Ordering::Relaxed)) {
            let done = match shared.proceed::<N>() {
                true => self.expand_chunk(shared, chunk),
                false => 0,
            };
            if done < chunk.len() {
                left = Some(&chunk[done..]);
                break;
            }
        }
        self.insert_pending(shared.table);
        shared.give_back(&mut self.credit);
        left
    }

    /// Expands the states of a chunk; the number of states it got done.
    fn expand_chunk(&mut self, shared: &Shared<Table<N>>, chunk: &[State<N>]) -> usize {
        for (done, state) in chunk.iter().enumerate() {
            match self.cache.successors(state, &mut self.successors) {
                Ok(no_room) => self.no_room |= no_room,
                Err(why) => {
                    shared.pause(Pause::End(why));
                    return done;
                }
            }
            if !self.reserve(shared) {
                return done;
            }
            self.enqueue(shared.table);
            if self.waiting >= BATCH {
                self.insert_pending(shared.table);
            }
            let successors = self.successors.as_slice().len();
            self.transitions += successors as u64;
            match self.standstill.is_standstill(state, successors) {
                Ok(false) => {}
                Ok(true) => self.standstills.push(*state),
                Err(reason) => {
                    shared.pause(Pause::End(reason.into()));
                    return done;
                }
            }
            if self.pace.is_due(1 + successors) && !shared.proceed::<N>() {
                return done + 1;
            }
        }
        chunk.len()
    }

    /// Lets the successors wait for their slots, except for those that came up recently.
    /// Which these are cannot be foreseen, so nothing here branches on it.
    #[inline]
    fn enqueue(&mut self, table: &Table<N>) {
        let successors = self.successors.as_slice();
        let room = self.waiting + successors.len();
        if self.pending.len() < room {
            self.pending.resize(2 * room, (0, [0; N]));
        }
        let mut fetched = 0;
        for next in successors {
            let hash = hash(next);
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
    fn reserve(&mut self, shared: &Shared<Table<N>>) -> bool {
        let needed = (self.waiting + self.successors.as_slice().len()) as u64;
        if shared.reserve(&mut self.credit, needed) {
            return true;
        }
        if self.waiting > 0 {
            self.insert_pending(shared.table);
            return self.reserve(shared);
        }
        shared.no_room();
        false
    }

    fn insert_pending(&mut self, table: &Table<N>) {
        let pending = std::mem::take(&mut self.pending);
        for (home, state) in &pending[..self.waiting] {
            if table.insert(state, *home) {
                self.credit -= 1;
                self.add(*state);
            }
        }
        self.pending = pending;
        self.waiting = 0;
    }

    /// Takes note of a new state.
    pub fn add(&mut self, state: State<N>) {
        match self.judge.judge(&state) {
            Judgement::Fine => {}
            Judgement::Final => self.reached_final = true,
            Judgement::Violation => self.errors.push(state),
            Judgement::Failure => {
                self.errors.push(state);
                return;
            }
        }
        self.next.push(state);
    }

    /// Finds the successors of a state that was expanded before, while a trace is looked for.
    pub fn successors_again(
        &mut self,
        context: &Context,
        state: &State<N>,
    ) -> Result<&[State<N>], StopReason> {
        let known = self.cache.successors(state, &mut self.successors);
        let successors = match known {
            Ok(_) => self.successors.as_slice(),
            Err(Unfinished::Stop(reason)) => return Err(reason),
            // Only a state that a limit kept from being expanded can outgrow the layout.
            Err(Unfinished::Overflow) => &[],
        };
        if self.pace.is_due(1 + successors.len()) {
            context.check_tracing()?;
        }
        Ok(successors)
    }
}
