//! The search that keeps every distinct state: breadth-first, level by level, in parallel.
//!
//! Each thread is a [`worker`] with a [`table`] of its own: a part of the visited set, chosen
//! by hashes, that no other thread touches. States of a level are expanded by whoever has
//! time, and what is found is handed to its owner. From the levels comes the shortest trace to
//! a violation ([`path`]).

pub(super) mod path;
pub(super) mod table;
pub(super) mod worker;

use super::context::Context;
use super::initial::for_each_initial;
use super::layout::{Overflow, State};
use super::level::{Chunks, Level};
use super::mail::Mail;
use super::pool::{PARALLEL, Workers};
use super::search::{Coverage, End, Exploration, Statistics, Unfinished};
use super::shared::{Pause, Shared, Stop};
use super::slots::hash;
use crate::limits::Pace;
use ahash::AHashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use worker::{Worker, owner};

/// Searches until nothing new is found, or until there is a reason to stop.
pub fn explore<const N: usize>(context: Context) -> Result<Exploration, Overflow> {
    Run::<N>::new(context).go()
}

/// A search for the first states.
pub struct Sample {
    pub found: Exploration,
    /// A violation that was found is the one that a longer search would show: the level that has
    /// it is complete.
    pub shows_violation: bool,
    /// By process: how many states there are to each group of those that differ in its
    /// configuration alone; 0 for one that has very many configurations.
    pub density: Vec<f64>,
}

/// The same, and what it says about the states to come.
pub fn sample<const N: usize>(context: Context) -> Result<Sample, Overflow> {
    let mut run = Run::<N>::new(context);
    let end = End::of(run.search())?;
    let shows_violation = match &run.errors {
        Some((level, _)) => level + 1 < run.levels.len(),
        None => false,
    };
    let density = run.density();
    Ok(Sample {
        found: run.report(end),
        shows_violation,
        density,
    })
}

/// States among which groups are looked for.
const SAMPLE: usize = 1 << 16;

/// Configurations of one process that are too many for sets of them.
const MANY_CONFIGURATIONS: usize = 1 << 13;

/// A search under way.
struct Run<'a, const N: usize> {
    context: Context<'a>,
    claimed: AtomicU64,
    /// The bytes of all tables.
    tables: AtomicU64,
    levels: Vec<Level<N>>,
    workers: Workers<Worker<'a, N>>,
    /// The first level with violations, and those states.
    errors: Option<(usize, Vec<State<N>>)>,
}

impl<'a, const N: usize> Run<'a, N> {
    fn new(context: Context<'a>) -> Run<'a, N> {
        let threads = context.search.threads.max(1);
        Run {
            context,
            claimed: AtomicU64::new(0),
            tables: AtomicU64::new(0),
            levels: Vec::new(),
            workers: Workers::new(threads, |own| Worker::new(context, own, threads)),
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

    /// Inserts the initial states.
    fn start(&mut self) -> Result<(), Unfinished> {
        let (context, workers) = (self.context, self.workers.len());
        for_each_initial(&context, &mut |initial| {
            let state = context.pack(initial)?;
            self.together(|run, shared| {
                let worker = run.nth(owner(hash(&state), workers));
                worker.insert(shared, &[state], 0);
                worker.settle(shared);
            })
        })
    }

    /// Expands the last level; the new states stay with the workers.
    fn expand_level(&mut self) -> Result<(), Unfinished> {
        let frontier = self.levels.pop().expect("there is a level");
        let owners = self.workers.len();
        let parallel = frontier.len() >= PARALLEL && self.workers.start();
        let threads = if parallel { owners } else { 1 };
        let chunks = Chunks::new(&frontier, threads);
        let mail = Mail::new(owners, threads);
        let expanded = self.together(|workers, shared| {
            workers.run(parallel, |worker| {
                let _alarm = mail.alarm();
                worker.expand(shared, &chunks, &mail);
                if parallel {
                    worker.receive_all(shared, &mail);
                }
            });
            for worker in workers.iter_mut() {
                worker.receive(shared, &mail);
                worker.settle(shared);
            }
        });
        self.levels.push(frontier);
        expanded
    }

    /// Lets the workers do something with what they share, unless or until there is a reason
    /// to stop.
    fn together(
        &mut self,
        work: impl FnOnce(&mut Workers<Worker<'a, N>>, &Shared),
    ) -> Result<(), Unfinished> {
        let shared = Shared {
            context: &self.context,
            claimed: &self.claimed,
            capacity: u64::MAX,
            depth: self.levels.len() as u64 + 1,
            tables: &self.tables,
            overhead: self.overhead(),
            outside: &self.claimed,
            stop: Stop::default(),
        };
        work(&mut self.workers, &shared);
        match shared.into_pause() {
            None => Ok(()),
            Some(Pause::End(why)) => Err(why),
            Some(Pause::Grow | Pause::Found) => unreachable!("every table grows by itself"),
        }
    }

    fn density(&self) -> Vec<f64> {
        let processes = self.context.program().process_ids();
        let density = processes
            .zip(&self.context.layout.configs)
            .map(|(process, field)| {
                if self.context.interner.configs_of(process) > MANY_CONFIGURATIONS {
                    return 0.0;
                }
                let mut own = [0; N];
                field.fill(&mut own);
                let states = self.levels.iter().flat_map(Level::states).take(SAMPLE);
                let (mut groups, mut count) = (AHashSet::new(), 0);
                for state in states {
                    let others: State<N> = std::array::from_fn(|at| state[at] & !own[at]);
                    groups.insert(others);
                    count += 1;
                }
                f64::from(count) / groups.len().max(1) as f64
            });
        density.collect()
    }

    /// Memory taken by everything but the states in tables and levels.
    fn overhead(&self) -> u64 {
        let caches = self.workers.iter().map(|worker| worker.cache.bytes());
        (caches.sum::<usize>() + self.context.interner.bytes()) as u64
    }

    /// Collects what the workers found as a new level.
    fn finish_level(&mut self) {
        let depth = self.levels.len();
        let (mut errors, mut standstills) = (Vec::new(), Vec::new());
        for worker in self.workers.iter_mut() {
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
        let mut level = Level::new();
        for finder in 0..self.workers.len() {
            let found = self.workers.iter_mut();
            level.add_woven(found.map(|worker| worker.take_found(finder)));
        }
        self.levels.push(level);
    }

    fn report(mut self, mut end: End) -> Exploration {
        let context = self.context;
        let states = self.claimed.load(Ordering::Relaxed);
        let tables = self.tables.load(Ordering::Relaxed);
        let mut statistics = Statistics {
            states,
            transitions: 0,
            depth: Some(self.levels.len() as u64),
            configurations: context.interner.config_count(),
            table_bytes: tables,
            bytes: tables + self.overhead() + states * size_of::<State<N>>() as u64,
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
        self.workers.iter_mut().for_each(Worker::forget);
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
