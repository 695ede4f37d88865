//! The search that keeps every distinct state: breadth-first, level by level, in parallel.
//!
//! The visited set is a [`table`] that is replaced by a larger one when it is full
//! ([`growth`]); each thread is a [`worker`]. From the levels come the shortest trace to a
//! violation ([`path`]).

mod growth;
pub(super) mod path;
pub(super) mod table;
pub(super) mod worker;

use super::context::Context;
use super::initial::for_each_initial;
use super::layout::{Overflow, State};
use super::level::Level;
use super::pool::{PARALLEL, Workers};
use super::search::{Coverage, End, Exploration, Statistics, Unfinished};
use super::shared::{Pause, Shared, Stop};
use super::slots::hash;
use crate::limits::{Pace, StopReason};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use table::Table;
use worker::Worker;

/// Searches until nothing new is found, or until there is a reason to stop.
pub fn explore<const N: usize>(context: Context) -> Result<Exploration, Overflow> {
    Run::<N>::new(context).go()
}

/// A search under way.
struct Run<'a, const N: usize> {
    context: Context<'a>,
    table: Option<Table<N>>,
    claimed: AtomicU64,
    levels: Vec<Level<N>>,
    workers: Workers<Worker<'a, N>>,
    /// The first level with violations, and those states.
    errors: Option<(usize, Vec<State<N>>)>,
}

impl<'a, const N: usize> Run<'a, N> {
    fn new(context: Context<'a>) -> Run<'a, N> {
        Run {
            context,
            table: None,
            claimed: AtomicU64::new(0),
            levels: Vec::new(),
            workers: Workers::new(context.search.threads, |_| Worker::new(context)),
            errors: None,
        }
    }

    fn go(mut self) -> Result<Exploration, Overflow> {
        let end = End::of(self.search())?;
        Ok(self.report(end))
    }

    fn search(&mut self) -> Result<End, Unfinished> {
        let started = self.start();
        self.finish_level();
        started?;
        while !self.found_enough() && !self.exhausted() {
            let expanded = self.expand_level();
            self.finish_level();
            expanded?;
        }
        Ok(match self.found_enough() {
            true => End::FirstViolation,
            false => End::Exhausted,
        })
    }

    fn exhausted(&self) -> bool {
        self.levels.last().is_some_and(Level::is_empty)
    }

    fn found_enough(&self) -> bool {
        self.errors.is_some() && !self.context.search.goal.goes_on()
    }

    fn table(&self) -> &Table<N> {
        self.table.as_ref().expect("there is a table")
    }

    /// Inserts the initial states.
    fn start(&mut self) -> Result<(), Unfinished> {
        self.grow()?;
        let context = self.context;
        for_each_initial(&context, &mut |initial| {
            let state = context.pack(initial)?;
            Ok(self.add_initial(state)?)
        })
    }

    fn add_initial(&mut self, state: State<N>) -> Result<(), StopReason> {
        let claimed = self.claimed.load(Ordering::Relaxed);
        if claimed >= self.context.search.limits.max_states.unwrap_or(u64::MAX) {
            return Err(StopReason::MaxStates);
        }
        if claimed >= self.capacity() {
            self.grow()?;
        }
        let table = self.table();
        if table.insert(&state, table.home(hash(&state))) {
            self.claimed.fetch_add(1, Ordering::Relaxed);
            self.workers.first().add(state);
        }
        Ok(())
    }

    /// Expands the last level; the new states stay with the workers.
    fn expand_level(&mut self) -> Result<(), Unfinished> {
        let frontier = self.levels.pop().expect("there is a level");
        let mut chunks = frontier.chunks();
        let expanded = loop {
            let (left, pause) = self.expand(&chunks);
            chunks = left;
            match pause {
                None => break Ok(()),
                Some(Pause::End(why)) => break Err(why),
                Some(Pause::Grow) => {
                    if let Err(reason) = self.grow() {
                        break Err(reason.into());
                    }
                }
            }
        };
        self.levels.push(frontier);
        expanded
    }

    /// Lets the workers expand chunks until they are done or have to meet; returns the
    /// chunks that are left.
    fn expand<'c>(&mut self, chunks: &[&'c [State<N>]]) -> (Vec<&'c [State<N>]>, Option<Pause>) {
        let shared = Shared {
            context: &self.context,
            table: self.table.as_ref().expect("there is a table"),
            claimed: &self.claimed,
            capacity: self.capacity(),
            depth: self.levels.len() as u64 + 1,
            overhead: self.overhead(),
            outside: &self.claimed,
            stop: Stop::default(),
        };
        let cursor = AtomicUsize::new(0);
        let left = Mutex::new(Vec::new());
        let states: usize = chunks.iter().map(|chunk| chunk.len()).sum();
        self.workers.run(states >= PARALLEL, |worker| {
            let rest = worker.expand(&shared, chunks, &cursor);
            left.lock().expect("no thread panics here").extend(rest);
        });
        let untouched = cursor.into_inner().min(chunks.len());
        let mut left = left.into_inner().expect("no thread panics here");
        left.extend_from_slice(&chunks[untouched..]);
        (left, shared.into_pause())
    }

    /// Collects what the workers found as a new level.
    fn finish_level(&mut self) {
        let depth = self.levels.len();
        let mut level = Level::new();
        let (mut errors, mut standstills) = (Vec::new(), Vec::new());
        for worker in self.workers.iter_mut() {
            level.append(&mut worker.next);
            errors.append(&mut worker.errors);
            standstills.append(&mut worker.standstills);
        }
        if self.errors.is_none() {
            if !standstills.is_empty() {
                self.errors = Some((depth - 1, standstills));
            } else if !errors.is_empty() {
                self.errors = Some((depth, errors));
            }
        }
        self.levels.push(level);
    }

    fn report(mut self, mut end: End) -> Exploration {
        let context = self.context;
        let states = self.claimed.load(Ordering::Relaxed);
        let mut statistics = Statistics {
            states,
            transitions: 0,
            depth: Some(self.levels.len() as u64),
            configurations: context.interner.config_count(),
            table_bytes: self.table.as_ref().map_or(0, Table::bytes) as u64,
            bytes: self.overhead() + states * size_of::<State<N>>() as u64,
        };
        let mut coverage = Coverage {
            reached_final: false,
            unreached: context.interner.unreached(),
        };
        let mut no_room = false;
        for worker in self.workers.iter() {
            statistics.transitions += worker.transitions;
            coverage.reached_final |= worker.reached_final;
            no_room |= worker.no_room;
        }
        let goal = context.search.goal;
        self.table = None;
        let violation = self.errors.take().map(|(level, errors)| {
            let standstill = context.search.standstill.violation();
            let seen = self.workers.first().judge.violation(&errors[0]);
            let found = self.shortest(level, errors);
            end.with_trace(found, seen.unwrap_or(standstill))
        });
        let (mut snapshots, mut pace) = (Vec::new(), Pace::default());
        let all = self.levels.iter().flat_map(Level::states);
        let mut all = all.filter(|_| goal.wants_snapshots());
        let collected = all.try_for_each(|state| context.collect(state, &mut snapshots, &mut pace));
        end.unless(collected);
        Exploration {
            end,
            statistics,
            coverage,
            no_room,
            violation,
            snapshots,
        }
    }
}
