//! The search of a partially disjunctive model: states that differ only in the contents of
//! buffer sets are one state, whose sets are the unions.
//!
//! A state whose sets grow is expanded again, until nothing grows any more. The result is
//! the least fixed point of a monotone map: a state is only ever replaced by its union with
//! a successor of another, and in the end every state was expanded as it is. So the result
//! depends neither on the order of work nor on the number of threads. There are no levels:
//! states wait in a [`queue`] whose order keeps them from being expanded more than once,
//! and threads take from it as they please. The merged states are in a [`table`], whose
//! states grow in place; a [`merger`] says which ones are merged, and a [`worker`] is one
//! thread.
//!
//! What a search reports is taken from the fixed point afterwards: the number of transitions
//! and of configurations ([`count`]), avoid formulas ([`avoid`]), the shortest trace
//! ([`path`]).

mod avoid;
mod count;
mod growth;
mod merger;
mod path;
mod queue;
mod table;
mod worker;

use super::avoid::Labels;
use super::context::Context;
use super::initial::for_each_initial;
use super::layout::{Overflow, State};
use super::pool::{PARALLEL, Workers};
use super::search::{Coverage, End, Exploration, Goal, Statistics, Unfinished};
use super::shared::{Pause, Shared, Stop};
use super::slots::hash;
use crate::limits::{Pace, StopReason};
use queue::Queue;
use std::sync::atomic::{AtomicU64, Ordering};
use table::{Merged, Table};
use worker::Worker;

/// Searches to the fixed point.
pub fn explore<const N: usize>(
    context: Context,
    labels: &mut [Labels],
) -> Result<Exploration, Overflow> {
    let run: Run<N> = Run {
        context,
        table: None,
        claimed: AtomicU64::new(0),
        queue: Queue::new(context.search.threads.max(1)),
        workers: Workers::new(context.search.threads, |own| Worker::new(context, own)),
        starts: Vec::new(),
    };
    run.go(labels)
}

pub use avoid::label_relevant;

/// A search under way.
struct Run<'a, const N: usize> {
    context: Context<'a>,
    table: Option<Table<N>>,
    /// States in the table, and those that threads have reserved room for.
    claimed: AtomicU64,
    queue: Queue<N>,
    workers: Workers<Worker<'a, N>>,
    /// The initial states.
    starts: Vec<State<N>>,
}

impl<const N: usize> Run<'_, N> {
    fn go(mut self, labels: &mut [Labels]) -> Result<Exploration, Overflow> {
        let end = End::of(self.search())?;
        self.report(end, labels)
    }

    fn search(&mut self) -> Result<End, Unfinished> {
        self.start()?;
        if !self.context.search.goal.goes_on() && self.starts_wrong()? {
            return Ok(End::FirstViolation);
        }
        loop {
            match self.expand() {
                None if self.queue.len() == 0 => return Ok(End::Exhausted),
                None => {}
                Some(Pause::End(why)) => return Err(why),
                Some(Pause::Grow) => self.grow()?,
            }
        }
    }

    /// Inserts the initial states.
    fn start(&mut self) -> Result<(), Unfinished> {
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
        let home = table.home(hash(&worker.merger.key(&state)?));
        if let Merged::New = table.merge(&state, home, &mut worker.merger)? {
            self.claimed.fetch_add(1, Ordering::Relaxed);
            worker.add(state);
            self.starts.push(state);
        }
        Ok(())
    }

    /// Something is wrong with an initial state. Nothing is ever merged into one: its
    /// buffers are empty.
    fn starts_wrong(&mut self) -> Result<bool, StopReason> {
        let worker = self.workers.first();
        for state in &self.starts {
            if worker.violates(state)? {
                return Ok(true);
            }
        }
        Ok(false)
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
        let many = queue.len() >= PARALLEL as u64;
        // One thread goes on until there is work for others.
        let enough = match many || self.context.search.threads <= 1 {
            true => u64::MAX,
            false => PARALLEL as u64,
        };
        self.workers
            .run(many, |worker| worker.expand(&shared, table, queue, enough));
        shared.into_pause()
    }

    /// The size of everything.
    fn bytes(&self) -> u64 {
        let caches = self.workers.iter();
        let caches = caches.map(|worker| worker.cache.bytes() + worker.merger.bytes());
        let others = caches.sum::<usize>() + self.context.interner.bytes();
        let starts = self.starts.capacity() * size_of::<State<N>>();
        let table = self.table.as_ref().map_or(0, Table::bytes);
        (table + others + starts) as u64
    }

    fn report(mut self, mut end: End, labels: &mut [Labels]) -> Result<Exploration, Overflow> {
        let context = self.context;
        let standstill = context.search.standstill.violation();
        let (mut seen, mut reached_final) = (None, false);
        let mut transitions = 0;
        for worker in self.workers.iter() {
            seen = seen.or(worker.violating);
            reached_final |= worker.reached_final;
            transitions += worker.transitions;
        }
        self.queue = Queue::new(1);
        // A state that was judged to be wrong stays a violation, whatever it is called.
        let judge = &self.workers.first().judge;
        let mut seen = seen.map(|state| judge.violation(&state).unwrap_or(standstill));
        let mut configurations = context.interner.config_count();
        match end {
            End::Exhausted => match self.count() {
                Ok(count) => {
                    transitions = count.transitions;
                    configurations = count.configurations;
                    seen = seen.or(count.standstill.then_some(standstill));
                }
                Err(Unfinished::Stop(reason)) => end = End::Limit(reason),
                Err(Unfinished::Overflow) => return Err(Overflow),
            },
            End::FirstViolation => seen = seen.or(Some(standstill)),
            End::Limit(_) => {}
        }
        let goal = context.search.goal;
        if let (Goal::Labels(_, scope), End::Exhausted) = (goal, end) {
            end = self.label(labels, scope);
        }
        let violation = seen.filter(|_| goal.tagger().is_none()).map(|seen| {
            let found = self.shortest(end);
            end.with_trace(found, seen)
        });
        let (mut snapshots, mut pace) = (Vec::new(), Pace::default());
        let table = self.table.as_ref();
        if let Some(table) = table.filter(|_| goal.wants_snapshots()) {
            let mut all = table.states(0..table.slots());
            let collected =
                all.try_for_each(|(_, state)| context.collect(&state, &mut snapshots, &mut pace));
            end.unless(collected);
        }
        Ok(Exploration {
            end,
            statistics: Statistics {
                states: self.claimed.load(Ordering::Relaxed),
                transitions,
                depth: None,
                configurations,
                table_bytes: table.map_or(0, Table::bytes) as u64,
                bytes: self.bytes(),
            },
            coverage: Coverage {
                reached_final,
                unreached: context.interner.unreached(),
            },
            no_room: false,
            violation,
            snapshots,
        })
    }
}
