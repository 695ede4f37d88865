//! Searches whose states grow: a state is found more than once, with more each time.
//!
//! A [`Domain`] says which states are one, and what they become together. A state that grows
//! is expanded again, until nothing grows any more. The result is the least fixed point of a
//! monotone map: a state is only ever replaced by its union with a successor of another, and in
//! the end every state was expanded as it is. So the result depends neither on the order of work
//! nor on the number of threads. There are no levels: states wait in a [`queue`] whose order keeps
//! them from being expanded more than once, and threads take from it as they please. The states are
//! in a [`table`], where they grow in place, and a [`worker`] is one thread.

mod growth;
pub(super) mod queue;
pub(super) mod table;
pub(super) mod worker;

use super::context::Context;
use super::initial::for_each_initial;
use super::layout::{Overflow, State};
use super::pool::Workers;
use super::search::{End, Unfinished};
use super::shared::{Pause, Shared, Stop};
use super::slots::hash;
use super::successors::Successors;
use crate::limits::StopReason;
use queue::Queue;
use std::sync::atomic::{AtomicU64, Ordering};
use table::{Merged, Table};
use worker::Worker;

/// What one thread knows of states that grow.
pub trait Domain<const N: usize>: Send {
    /// States that wait from which on other threads are woken.
    const WORTH_SHARING: usize;

    /// States that a thread takes at a time.
    const CHUNK: usize;

    /// An initial state as a state of this domain.
    fn initial(&mut self, state: State<N>) -> Result<State<N>, Unfinished>;

    /// What a state has in common with those that it is joined with.
    fn key(&mut self, state: &State<N>) -> Result<State<N>, Overflow>;

    /// Whether two states have the same key.
    fn same_key(&mut self, one: &State<N>, other: &State<N>) -> bool;

    /// The union of two states, which is in no more than one word unlike the old one where the
    /// domain counts growth; `None` if they have different keys.
    fn join(&mut self, old: &State<N>, new: &State<N>) -> Result<Option<State<N>>, Overflow>;

    /// The number of pending stores: where there are more, the state is expanded sooner.
    fn pending_stores(&mut self, state: &State<N>) -> usize;

    /// Takes note of the first state with its key; whether nothing comes after it.
    fn add(&mut self, state: &State<N>) -> bool;

    /// Takes note that a state was replaced by a larger one.
    fn grown(&mut self, before: &State<N>, after: &State<N>);

    /// Finds the successors of a state, and their keys; how many transitions these are.
    fn successors(
        &mut self,
        state: &State<N>,
        key: &State<N>,
        out: &mut Successors<N>,
    ) -> Result<u64, Unfinished>;

    /// A violation was found. It is shown even if a limit has been reached.
    fn has_violation(&self) -> bool;

    /// Why the search has to end, if there is a reason that only this domain knows.
    fn pause(&mut self) -> Option<Pause>;

    /// Roughly the memory that it takes.
    fn bytes(&self) -> usize;
}

/// A search under way.
pub struct Run<'a, const N: usize, D> {
    pub context: Context<'a>,
    pub table: Option<Table<N>>,
    /// States in the table, and those that threads have reserved room for.
    pub claimed: AtomicU64,
    queue: Queue<N>,
    pub workers: Workers<Worker<N, D>>,
    /// The initial states.
    pub starts: Vec<State<N>>,
}

impl<'a, const N: usize, D: Domain<N>> Run<'a, N, D> {
    /// A search by threads, each of which knows of states what a domain knows.
    pub fn new(context: Context<'a>, domain: impl Fn() -> D) -> Run<'a, N, D> {
        let threads = context.search.threads.max(1);
        Run {
            context,
            table: None,
            claimed: AtomicU64::new(0),
            queue: Queue::new(threads, D::CHUNK),
            workers: Workers::new(threads, |own| Worker::new(own, domain())),
            starts: Vec::new(),
        }
    }

    /// Inserts the initial states.
    pub fn start(&mut self) -> Result<(), Unfinished> {
        self.grow()?;
        let context = self.context;
        for_each_initial(&context, &mut |initial| {
            let state = context.pack(initial)?;
            self.add_initial(state)
        })
    }

    fn add_initial(&mut self, state: State<N>) -> Result<(), Unfinished> {
        let claimed = self.claimed.load(Ordering::Relaxed);
        if claimed >= self.context.search.limits.max_states.unwrap_or(u64::MAX) {
            return Err(StopReason::MaxStates.into());
        }
        let table = self.table.as_ref().expect("there is a table");
        if claimed >= table.capacity() {
            self.grow()?;
        }
        let table = self.table.as_ref().expect("there is a table");
        let worker = self.workers.first();
        let state = worker.domain.initial(state)?;
        let home = table.home(hash(&worker.domain.key(&state)?));
        match table.merge(&state, home, &mut worker.domain)? {
            Merged::New => {
                self.claimed.fetch_add(1, Ordering::Relaxed);
                worker.add(state);
                self.starts.push(state);
            }
            Merged::Grown(_) | Merged::Known => {}
        }
        Ok(())
    }

    /// Searches to the fixed point.
    pub fn search(&mut self) -> Result<End, Unfinished> {
        loop {
            match self.expand() {
                None if self.queue.len() == 0 => return Ok(End::Exhausted),
                None => {}
                Some(Pause::End(why)) => return Err(why),
                Some(Pause::Found) => return Ok(End::FirstViolation),
                Some(Pause::Grow) => self.grow()?,
            }
        }
    }

    /// Forgets what waits to be expanded.
    pub fn forget_queue(&mut self) {
        self.queue = Queue::new(1, D::CHUNK);
    }

    /// Lets the workers expand states until none wait or until they have to meet.
    fn expand(&mut self) -> Option<Pause> {
        let table = self.table.as_ref().expect("there is a table");
        let shared = Shared {
            context: &self.context,
            claimed: &self.claimed,
            capacity: table.capacity(),
            depth: 0,
            tables: &AtomicU64::new(0),
            overhead: self.bytes(),
            outside: self.queue.room(),
            stop: Stop::default(),
        };
        let queue = &self.queue;
        let worth_sharing = D::WORTH_SHARING as u64;
        let many = queue.len() >= worth_sharing;
        // One thread goes on until there is work for others.
        let enough = match many || self.context.search.threads <= 1 {
            true => u64::MAX,
            false => worth_sharing,
        };
        self.workers
            .run(many, |worker| worker.expand(&shared, table, queue, enough));
        shared.into_pause()
    }

    /// The size of everything.
    pub fn bytes(&self) -> u64 {
        let domains = self.workers.iter().map(|worker| worker.domain.bytes());
        let others = domains.sum::<usize>() + self.context.interner.bytes();
        let starts = self.starts.capacity() * size_of::<State<N>>();
        let table = self.table.as_ref().map_or(0, Table::bytes);
        (table + others + starts) as u64
    }
}
