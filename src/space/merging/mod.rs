//! The search of a partially disjunctive model: states that differ only in the contents of
//! buffer sets are one state, whose sets are the unions.
//!
//! A state whose sets grow is expanded again, until nothing grows any more. The result is
//! the least fixed point of a monotone map, so it depends neither on the order of work nor
//! on the number of threads. States are found in [`shards`] by their skeletons; each thread
//! is a [`worker`]. What a search reports is taken from the fixed point afterwards: the
//! number of transitions ([`count`]), the [`graph`], the shortest trace ([`path`]).

mod count;
mod graph;
mod path;
mod shards;
mod worker;

use super::context::Context;
use super::initial::for_each_initial;
use super::layout::{Overflow, State};
use super::level::CHUNK;
use super::pool::{PARALLEL, Workers};
use super::search::{Coverage, End, Exploration, Statistics};
use crate::limits::StopReason;
use crate::property::Violation;
use shards::{Frontier, Shards};
use worker::Worker;

/// States expanded between two looks at the size of the space.
const BATCH: usize = 1 << 15;

/// Searches to the fixed point.
pub fn explore<const N: usize>(context: Context) -> Result<Exploration, Overflow> {
    let run: Run<N> = Run {
        context,
        shards: Shards::new(),
        workers: Workers::new(context.search.threads, |index| Worker::new(context, index)),
        starts: Vec::new(),
        rounds: 0,
    };
    run.go()
}

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
    fn go(mut self) -> Result<Exploration, Overflow> {
        let mut stop = self.start()?;
        if stop.is_none() && !self.context.search.goal.goes_on() && self.starts_wrong() {
            return self.report(End::FirstViolation);
        }
        let mut frontier = self.shards.take_frontier();
        while stop.is_none() && !frontier.is_empty() {
            stop = self.round(&frontier)?;
            frontier = self.shards.take_frontier();
        }
        let end = match stop {
            Some(reason) => End::Limit(reason),
            None => End::Exhausted,
        };
        self.report(end)
    }

    /// Inserts the initial states.
    fn start(&mut self) -> Result<Option<StopReason>, Overflow> {
        let context = self.context;
        let stop = for_each_initial(context.search.stepper, &mut |initial| {
            let worker = self.workers.first();
            let key = worker.add(&context.pack(initial)?)?;
            self.starts.push(key);
            Ok(match self.starts.len() % 1024 {
                0 => self.stop(self.starts.len() as u64),
                _ => None,
            })
        })?;
        self.workers.first().flush(&self.shards)?;
        Ok(stop)
    }

    /// Something is wrong with an initial state. Nothing is ever merged into one: its
    /// buffers are empty.
    fn starts_wrong(&mut self) -> bool {
        let (shards, worker) = (&self.shards, self.workers.first());
        let mut states = self.starts.iter().filter_map(|key| shards.get(key));
        states.any(|state| worker.violates(&state))
    }

    /// Expands all states of a frontier.
    fn round(&mut self, frontier: &Frontier<N>) -> Result<Option<StopReason>, Overflow> {
        self.rounds += 1;
        for (states, new) in [(&frontier.new, true), (&frontier.grown, false)] {
            for batch in states.chunks(BATCH) {
                self.expand(batch, new)?;
                let stop = self.stop(self.shards.len());
                if stop.is_some() {
                    return Ok(stop);
                }
            }
        }
        Ok(None)
    }

    /// Lets the workers expand states and merge their successors into the shards.
    fn expand(&mut self, batch: &[State<N>], new: bool) -> Result<(), Overflow> {
        let chunks: Vec<&[State<N>]> = batch.chunks(CHUNK).collect();
        let (shards, parallel) = (&self.shards, batch.len() >= PARALLEL);
        self.workers.share(&chunks, parallel, |worker, _, chunk| {
            worker.expand(chunk, new)
        })?;
        self.workers
            .try_run(parallel, |worker| worker.flush(shards))
    }

    fn stop(&self, states: u64) -> Option<StopReason> {
        let search = self.context.search;
        search.monitor.report(states, self.rounds);
        if search.limits.max_states.is_some_and(|most| states >= most) {
            return Some(StopReason::MaxStates);
        }
        if self.context.exceeds_memory(self.bytes()) {
            return Some(StopReason::MaxMemory);
        }
        self.context.stop()
    }

    /// The size of everything, with what the next batch of work may add.
    fn bytes(&self) -> u64 {
        let caches = self.workers.iter().map(|worker| worker.cache.bytes());
        let others = caches.sum::<usize>() + self.context.interner.bytes();
        self.shards.bytes_soon() + others as u64
    }

    fn report(mut self, mut end: End) -> Result<Exploration, Overflow> {
        let context = self.context;
        let (seen, reached_final) = self.shards.finish();
        let mut seen = seen.and_then(|state| self.workers.first().judge.violation(&state));
        let mut transitions = self.workers.iter().map(|worker| worker.transitions).sum();
        match end {
            End::Exhausted => {
                let count = self.count()?;
                transitions = count.transitions;
                seen = seen.or(count.deadlock.then_some(Violation::Deadlock));
            }
            End::FirstViolation => seen = seen.or(Some(Violation::Deadlock)),
            End::Limit(_) => {}
        }
        let goal = context.search.goal;
        let graph = goal.graph_after(&mut end, || self.graph(transitions));
        let violation = seen.filter(|_| graph.is_none()).map(|seen| {
            let found = self.shortest();
            end.with_trace(found, seen)
        });
        let mut snapshots = Vec::new();
        if goal.wants_snapshots() {
            self.shards.for_each(|_, state| {
                let state = context.unpack(state);
                snapshots.extend((!state.failed()).then_some(state));
            });
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
            graph,
        })
    }
}
