//! The search of a partially disjunctive model: states that differ only in the contents of
//! buffer sets are one state, whose sets are the unions.
//!
//! A state whose sets grow is expanded again, until nothing grows any more. The result is
//! the least fixed point of a monotone map, so it depends neither on the order of work nor
//! on the number of threads.
mod count;
mod graph;
mod growth;
mod merger;
mod path;
mod table;
mod worker;

use super::context::Context;
use super::initial::for_each_initial;
use super::layout::{Overflow, State};
use super::level::Level;
use super::pool::Workers;
use super::round::{self, Frame, Left, Pause, Round};
use super::search::{Coverage, End, Exploration, Statistics, Unfinished};
use crate::limits::{Pace, StopReason};
use crate::property::Violation;
use std::sync::atomic::{AtomicU64, Ordering};
use table::{Merged, Table};
use worker::Worker;

/// Searches to the fixed point.
pub fn explore<const N: usize>(context: Context) -> Result<Exploration, Overflow> {
    let run: Run<N> = Run {
        context,
        table: None,
        claimed: AtomicU64::new(0),
        queued: AtomicU64::new(0),
        frontier: Frontier::new(),
        workers: Workers::new(context.search.threads, |_| Worker::new(context)),
        starts: Vec::new(),
        rounds: 0,
    };
    run.go()
}

/// A search under way.
struct Run<'a, const N: usize> {
    context: Context<'a>,
    table: Option<Table<N>>,
    /// States in the table, and those that threads have reserved room for.
    claimed: AtomicU64,
    /// States in frontiers.
    queued: AtomicU64,
    frontier: Frontier<N>,
    workers: Workers<Worker<'a, N>>,
    /// The initial states.
    starts: Vec<State<N>>,
    rounds: u64,
}

/// States that wait to be expanded.
struct Frontier<const N: usize> {
    new: Level<N>,
    /// Those that have been expanded before, and have grown since.
    grown: Level<N>,
}

impl<const N: usize> Frontier<N> {
    fn new() -> Frontier<N> {
        Frontier {
            new: Level::new(),
            grown: Level::new(),
        }
    }

    fn append(&mut self, other: &mut Frontier<N>) {
        self.new.append(&mut other.new);
        self.grown.append(&mut other.grown);
    }

    fn is_empty(&self) -> bool {
        self.new.is_empty() && self.grown.is_empty()
    }
}

impl<const N: usize> Run<'_, N> {
    fn go(mut self) -> Result<Exploration, Overflow> {
        let end = End::of(self.search())?;
        self.report(end)
    }

    fn search(&mut self) -> Result<End, Unfinished> {
        self.start()?;
        if !self.context.search.goal.goes_on() && self.starts_wrong()? {
            return Ok(End::FirstViolation);
        }
        let mut expansions = 0;
        loop {
            for worker in self.workers.iter_mut() {
                self.frontier.append(&mut worker.next);
            }
            if self.frontier.is_empty() {
                eprintln!("EXP {} {}", expansions, self.claimed.load(Ordering::Relaxed));
                return Ok(End::Exhausted);
            }
            self.rounds += 1;
            let order = std::env::var("ORDER").unwrap_or_default();
            let new = std::mem::replace(&mut self.frontier.new, Level::new());
            expansions += new.len();
            let had_new = !new.is_empty();
            self.expand(new, true)?;
            if order == "b" && had_new { continue; }
            if order == "c" && had_new && self.rounds % 4 != 0 { continue; }
            let grown = std::mem::replace(&mut self.frontier.grown, Level::new());
            expansions += grown.len();
            self.expand(grown, false)?;
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
        let home = table.home(&worker.merger.key(&state)?);
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

    /// Expands states; what is found stays with the workers.
    fn expand(&mut self, states: Level<N>, new: bool) -> Result<(), Unfinished> {
        let mut chunks = states.chunks();
        loop {
            let (left, pause) = self.expand_chunks(&chunks, new);
            chunks = left;
            match pause {
                None => return Ok(()),
                Some(Pause::End(why)) => return Err(why),
                Some(Pause::Grow) => self.grow()?,
            }
        }
    }

    fn expand_chunks<'c>(&mut self, chunks: &[&'c [State<N>]], new: bool) -> Left<'c, N> {
        let table = self.table.as_ref().expect("there is a table");
        let frame = Frame {
            context: &self.context,
            table,
            claimed: &self.claimed,
            capacity: table.capacity(),
            depth: self.rounds,
            overhead: self.bytes(),
            kept: &self.queued,
        };
        let task = |worker: &mut Worker<N>, round: &Round<_, N>| worker.expand(round, chunks, new);
        round::expand(&mut self.workers, frame, chunks, task)
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

    fn report(mut self, mut end: End) -> Result<Exploration, Overflow> {
        let context = self.context;
        let (mut seen, mut reached_final) = (None, false);
        let mut transitions = 0;
        for worker in self.workers.iter_mut() {
            seen = seen.or(worker.violating);
            reached_final |= worker.reached_final;
            transitions += worker.transitions;
            worker.next = Frontier::new();
        }
        self.frontier = Frontier::new();
        // A state that was judged to be wrong stays a violation, whatever it is called.
        let judge = &self.workers.first().judge;
        let mut seen = seen.map(|state| judge.violation(&state).unwrap_or(Violation::Deadlock));
        let mut configurations = context.interner.config_count();
        match end {
            End::Exhausted => match self.count() {
                Ok(count) => {
                    transitions = count.transitions;
                    configurations = count.configurations;
                    seen = seen.or(count.deadlock.then_some(Violation::Deadlock));
                }
                Err(Unfinished::Stop(reason)) => end = End::Limit(reason),
                Err(Unfinished::Overflow) => return Err(Overflow),
            },
            End::FirstViolation => seen = seen.or(Some(Violation::Deadlock)),
            End::Limit(_) => {}
        }
        let goal = context.search.goal;
        let graph = goal.graph_after(&mut end, || self.graph(transitions));
        let violation = seen.filter(|_| graph.is_none()).map(|seen| {
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
                depth: self.rounds,
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
            graph,
        })
    }
}
