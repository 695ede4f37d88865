//! One thread's part in expanding a level, and its part of the visited set.
//!
//! A state belongs to the thread that its hash names. Whoever finds a successor lets it wait
//! in the lane of its owner; full lanes are inserted, or handed over if the owner is another.

use super::table::Table;
use crate::limits::{Pace, StopReason};
use crate::space::context::Context;
use crate::space::judge::{Judge, Judgement};
use crate::space::layout::State;
use crate::space::level::{Chunks, Level};
use crate::space::mail::{Mail, Sender};
use crate::space::search::Unfinished;
use crate::space::shared::{Pause, Shared};
use crate::space::slots::hash;
use crate::space::standstill::StandstillFinder;
use crate::space::successors::{SuccessorCache, Successors};
use crossbeam_utils::CachePadded;
use std::sync::atomic::Ordering;

/// How many states ahead of the one that is inserted slots are fetched.
const AHEAD: usize = 12;

/// Successors that a thread remembers, a power of two. Several ways to a state often lead
/// through states that are expanded soon after one another, so that many successors are
/// known to be old without a look at the table.
const RECENT: usize = 1 << 15;

/// Tables with fewer bytes than this are fast enough without.
const LARGE_TABLE: usize = 1 << 23;

/// A thread's tables and what it has found in the current level.
pub struct Worker<'a, const N: usize> {
    /// Its number.
    own: usize,
    pub cache: SuccessorCache<'a, N>,
    pub judge: Judge<'a, N>,
    /// The states that belong to it.
    table: Option<Table<N>>,
    /// A limit keeps the table from growing.
    is_full: bool,
    /// New states that belong to it, by the thread that has found them.
    next: Vec<Level<N>>,
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
    /// By owner: states that wait to be inserted or handed over. No two threads write to the
    /// same cache line.
    lanes: Vec<CachePadded<Lane<N>>>,
    /// By hash; empty while the table is small.
    recent: Vec<State<N>>,
    /// What was done since the limits were last looked at.
    pace: Pace,
}

/// States that wait, and room behind them.
struct Lane<const N: usize> {
    states: Vec<State<N>>,
    waiting: usize,
}

impl<'a, const N: usize> Worker<'a, N> {
    /// States that are inserted or handed over at a time: some kilobytes.
    const PARCEL: usize = if N <= 16 { 1024 / N } else { 64 };

    /// One of several workers.
    pub fn new(context: Context<'a>, own: usize, workers: usize) -> Worker<'a, N> {
        let lane = || Lane {
            states: Vec::new(),
            waiting: 0,
        };
        Worker {
            own,
            cache: SuccessorCache::new(context),
            judge: Judge::new(context),
            table: None,
            is_full: false,
            next: (0..workers).map(|_| Level::new()).collect(),
            errors: Vec::new(),
            standstills: Vec::new(),
            transitions: 0,
            no_room: false,
            reached_final: false,
            standstill: StandstillFinder::new(context),
            credit: 0,
            successors: Successors::default(),
            lanes: (0..workers).map(|_| CachePadded::new(lane())).collect(),
            recent: Vec::new(),
            pace: Pace::default(),
        }
    }

    /// Expands chunks of a level until there are none, or until the threads have to stop.
    pub fn expand(&mut self, shared: &Shared, chunks: &Chunks<N>, mail: &Mail<State<N>>) {
        let sender = mail.sender(self.own);
        while let Some(chunk) = chunks.next(self.own) {
            if !shared.proceed::<N>() || !self.expand_chunk(shared, chunk, &sender) {
                break;
            }
            self.receive(shared, mail);
        }
        for owner in 0..self.lanes.len() {
            self.empty_lane(shared, owner, &sender);
        }
    }

    /// Inserts what others find, until nothing more can come.
    pub fn receive_all(&mut self, shared: &Shared, mail: &Mail<State<N>>) {
        while !mail.is_over() {
            if !self.receive(shared, mail) {
                std::thread::yield_now();
            }
        }
    }

    /// Gives back the room that it has reserved and not used.
    pub fn settle(&mut self, shared: &Shared) {
        shared.give_back(&mut self.credit);
    }

    /// Inserts what others have found; whether there was anything.
    pub fn receive(&mut self, shared: &Shared, mail: &Mail<State<N>>) -> bool {
        let parcels = mail.take(self.own);
        for parcel in &parcels {
            self.insert(shared, &parcel.content, parcel.from);
        }
        !parcels.is_empty()
    }

    /// Expands the states of a chunk; whether to go on.
    fn expand_chunk(
        &mut self,
        shared: &Shared,
        chunk: &[State<N>],
        sender: &Sender<State<N>>,
    ) -> bool {
        for state in chunk {
            match self.cache.successors(state, &mut self.successors) {
                Ok(no_room) => self.no_room |= no_room,
                Err(why) => {
                    shared.pause(Pause::End(why));
                    return false;
                }
            }
            self.enqueue();
            for owner in 0..self.lanes.len() {
                if self.lanes[owner].waiting >= Self::PARCEL {
                    self.empty_lane(shared, owner, sender);
                }
            }
            let successors = self.successors.as_slice().len();
            self.transitions += successors as u64;
            match self.standstill.is_standstill(state, successors) {
                Ok(false) => {}
                Ok(true) => self.standstills.push(*state),
                Err(reason) => {
                    shared.pause(Pause::End(reason.into()));
                    return false;
                }
            }
            if self.pace.is_due(1 + successors) && !shared.proceed::<N>() {
                return false;
            }
        }
        !shared.is_paused()
    }

    /// Lets the successors wait in the lanes of their owners, except for those that came up
    /// recently. Which these are cannot be foreseen, so nothing here branches on it.
    #[inline]
    fn enqueue(&mut self) {
        let successors = self.successors.as_slice();
        for lane in &mut self.lanes {
            let room = lane.waiting + successors.len();
            if lane.states.len() < room {
                lane.states.resize(2 * room, [0; N]);
            }
        }
        for next in successors {
            let hash = hash(next);
            let known = match self.recent.get_mut(hash as usize % RECENT) {
                Some(recent) => std::mem::replace(recent, *next) == *next,
                None => false,
            };
            let owner = owner(hash, self.lanes.len());
            let lane: &mut Lane<N> = &mut self.lanes[owner];
            lane.states[lane.waiting] = *next;
            lane.waiting += usize::from(!known);
        }
    }

    /// Inserts the states that wait for an owner, or hands them over.
    fn empty_lane(&mut self, shared: &Shared, owner: usize, sender: &Sender<State<N>>) {
        let waiting = std::mem::take(&mut self.lanes[owner].waiting);
        if waiting == 0 {
            return;
        }
        if owner == self.own {
            let states = std::mem::take(&mut self.lanes[owner].states);
            self.insert(shared, &states[..waiting], self.own);
            self.lanes[owner].states = states;
        } else {
            sender.send(owner, self.lanes[owner].states[..waiting].to_vec());
        }
    }

    /// Inserts states that belong to this thread and that some thread has found, unless it
    /// cannot take any more.
    pub fn insert(&mut self, shared: &Shared, states: &[State<N>], finder: usize) {
        if self.is_full {
            return;
        }
        if let Err(reason) = self.make_room(shared, states.len() as u64) {
            self.is_full = true;
            shared.pause(Pause::End(reason.into()));
            return;
        }
        let mut table = self.table.take().expect("there is room");
        for state in states.iter().take(AHEAD) {
            table.prefetch(state);
        }
        for (at, state) in states.iter().enumerate() {
            if let Some(ahead) = states.get(at + AHEAD) {
                table.prefetch(ahead);
            }
            if !shared.reserve(&mut self.credit, 1) {
                if table.contains(state) {
                    continue;
                }
                shared.no_room();
                break;
            }
            if table.insert(state) {
                self.credit -= 1;
                self.add(*state, finder);
            }
        }
        self.table = Some(table);
    }

    /// Makes room for so many states in the table, within the share of the memory that this
    /// thread may take. A limit that ends this ends the search: the table then lacks states.
    fn make_room(&mut self, shared: &Shared, states: u64) -> Result<(), StopReason> {
        let most = shared.context.search.limits.max_memory;
        let room = most.map(|most| most.saturating_sub(shared.others::<N>()));
        let share = room.map(|room| room / self.lanes.len() as u64);
        let bytes = |table: &Option<Table<N>>| table.as_ref().map_or(0, Table::bytes) as u64;
        let before = bytes(&self.table);
        let made = Table::make_room(&mut self.table, states, share, || shared.context.check());
        let after = bytes(&self.table);
        if before != after {
            shared.tables.fetch_add(after, Ordering::Relaxed);
            shared.tables.fetch_sub(before, Ordering::Relaxed);
            if self.recent.is_empty() && after as usize * self.lanes.len() >= LARGE_TABLE {
                self.recent = vec![[0; N]; RECENT];
            }
        }
        made
    }

    /// Takes note of a new state.
    fn add(&mut self, state: State<N>, finder: usize) {
        match self.judge.judge(&state) {
            Judgement::Fine => {}
            Judgement::Final => self.reached_final = true,
            Judgement::Violation => self.errors.push(state),
            Judgement::Failure => {
                self.errors.push(state);
                return;
            }
        }
        self.next[finder].push(state);
    }

    /// Hands out the new states that a thread has found.
    pub fn take_found(&mut self, finder: usize) -> Level<N> {
        std::mem::replace(&mut self.next[finder], Level::new())
    }

    /// Forgets which states it has seen.
    pub fn forget(&mut self) {
        self.table = None;
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

/// Which of several threads owns a state with this hash. It is mixed once more: slots are
/// chosen by the hash itself, and those of one owner must not lie close together.
#[inline]
pub fn owner(hash: u64, threads: usize) -> usize {
    let mixed = hash.wrapping_mul(0xd6e8_feb8_6659_fd93);
    ((u128::from(mixed) * threads as u128) >> 64) as usize
}
