//! The search of a partially disjunctive model: states that differ only in the contents of
//! buffer sets are one state, whose sets are the unions.
//!
//! A state whose sets grow is expanded again, until nothing grows any more. The result is
//! the least fixed point of a monotone map, so it depends neither on the order of work nor
//! on the number of threads. States are found in [`shards`] by their skeletons; each thread
//! is a [`worker`]. What a search reports is taken from the fixed point afterwards: the
//! number of transitions ([`count`]), avoid formulas ([`avoid`]), the shortest trace ([`path`]).

mod avoid;
mod count;
mod path;
mod shards;
mod worker;

use super::avoid::Labels;
use super::context::Context;
use super::initial::for_each_initial;
use super::layout::{Overflow, State};
use super::level::CHUNK;
use super::pool::{PARALLEL, Workers};
use super::search::{Coverage, End, Exploration, Goal, Statistics, Unfinished};
use crate::limits::{Pace, StopReason};
use crate::property::Violation;
use shards::{Frontier, Shards};
use worker::Worker;

/// States expanded between two looks at the size of the space.
const BATCH: usize = 1 << 15;

/// Searches to the fixed point.
pub fn explore<const N: usize>(
    context: Context,
    labels: &mut [Labels],
) -> Result<Exploration, Overflow> {
    let run: Run<N> = Run {
        context,
        shards: Shards::new(),
        workers: Workers::new(context.search.threads, |index| Worker::new(context, index)),
        starts: Vec::new(),
        rounds: 0,
    };
    run.go(labels)
}

pub use avoid::label_relevant;

/// A search under way.
struct Run<'a, const N: usize> {
    context: Context<'a>,
    shards: Shards<N>,
    workers: Workers<Worker<'a, N>>,
    /// The keys of the initial states.
    starts: Vec<State<N>>,
    rounds: u64,
}

impl<const N: usize> Run<'_, N> {
    fn go(mut self, labels: &mut [Labels]) -> Result<Exploration, Overflow> {
        let end = End::of(self.search())?;
        self.report(end, labels)
    }

    fn search(&mut self) -> Result<End, Unfinished> {
        let started = self.start();
        self.workers.first().flush(&self.shards)?;
        started?;
        if !self.context.search.goal.goes_on() && self.starts_wrong()? {
            return Ok(End::FirstViolation);
        }
        let mut frontier = self.shards.take_frontier();
        while !frontier.is_empty() {
            self.round(&frontier)?;
            frontier = self.shards.take_frontier();
        }
        Ok(End::Exhausted)
    }

    /// Inserts the initial states.
    fn start(&mut self) -> Result<(), Unfinished> {
        let context = self.context;
        for_each_initial(&context, &mut |initial| {
            let state = context.pack(initial)?;
            let key = self.workers.first().add(&state, &self.shards)?;
            self.starts.push(key);
            match self.starts.len() % 1024 {
                0 => Ok(self.check(self.starts.len() as u64)?),
                _ => Ok(()),
            }
        })
    }

    /// Something is wrong with an initial state. Nothing is ever merged into one: its
    /// buffers are empty.
    fn starts_wrong(&mut self) -> Result<bool, StopReason> {
        let (shards, worker) = (&self.shards, self.workers.first());
        for state in self.starts.iter().filter_map(|key| shards.get(key)) {
            if worker.violates(&state)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Expands all states of a frontier.
    fn round(&mut self, frontier: &Frontier<N>) -> Result<(), Unfinished> {
        self.rounds += 1;
        for (states, new) in [(&frontier.new, true), (&frontier.grown, false)] {
            for batch in states.chunks(BATCH) {
                self.expand(batch, new)?;
                self.check(self.shards.len())?;
            }
        }
        Ok(())
    }

    /// Lets the workers expand states and merge their successors into the shards.
    fn expand(&mut self, batch: &[State<N>], new: bool) -> Result<(), Unfinished> {
        let chunks: Vec<&[State<N>]> = batch.chunks(CHUNK).collect();
        let (shards, parallel) = (&self.shards, batch.len() >= PARALLEL);
        let expanded = self.workers.share(&chunks, parallel, |worker, _, chunk| {
            worker.expand(chunk, new, shards)
        });
        let flush = |worker: &mut Worker<N>| worker.flush(shards);
        expanded.and(self.workers.try_run(parallel, flush))
    }

    /// Fails if a limit is reached.
    fn check(&self, states: u64) -> Result<(), StopReason> {
        let search = self.context.search;
        search.monitor.report(states, self.rounds);
        if search.limits.max_states.is_some_and(|most| states >= most) {
            return Err(StopReason::MaxStates);
        }
        self.context.check_memory(self.bytes())?;
        self.context.check()
    }

    /// The size of everything, with what the next batch of work may add.
    fn bytes(&self) -> u64 {
        let caches = self.workers.iter().map(|worker| worker.cache.bytes());
        let others = caches.sum::<usize>() + self.context.interner.bytes();
        let starts = self.starts.capacity() * size_of::<State<N>>();
        self.shards.bytes_soon() + (others + starts) as u64
    }

    fn report(mut self, mut end: End, labels: &mut [Labels]) -> Result<Exploration, Overflow> {
        let context = self.context;
        let (seen, reached_final) = self.shards.finish();
        // A state that was judged to be wrong stays a violation, whatever it is called.
        let judge = &self.workers.first().judge;
        let mut seen = seen.map(|state| judge.violation(&state).unwrap_or(Violation::Deadlock));
        let mut transitions = self.workers.iter().map(|worker| worker.transitions).sum();
        match end {
            End::Exhausted => match self.count() {
                Ok(count) => {
                    transitions = count.transitions;
                    seen = seen.or(count.deadlock.then_some(Violation::Deadlock));
                }
                Err(Unfinished::Stop(reason)) => end = End::Limit(reason),
                Err(Unfinished::Overflow) => return Err(Overflow),
            },
            End::FirstViolation => seen = seen.or(Some(Violation::Deadlock)),
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
        if goal.wants_snapshots() {
            let collect = |_: &_, state: &_| context.collect(state, &mut snapshots, &mut pace);
            end.unless(self.shards.try_for_each(collect));
        }
        Ok(Exploration {
            end,
            statistics: Statistics {
                states: self.shards.len(),
                transitions,
                depth: self.rounds,
                configurations: context.interner.config_count(),
                table_bytes: self.shards.bytes(),
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
