//! What a search is, and what it finds.

use super::distinct;
use super::graph::Graph;
use super::intern::Interner;
use super::judge::general_properties;
use super::layout::{Layout, Overflow};
use super::limits::{Limits, Monitor, StopReason};
use super::merged;
use super::rows::Tagger;
use super::trace::{Snapshot, Trace};
use crate::memory::step::{Config, Stepper, initial_values};
use crate::program::{Place, Program};
use crate::property::Violation;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::Arc;

/// What to search, and how.
pub struct Search<'a> {
    pub stepper: &'a Stepper<'a>,
    pub limits: &'a Limits,
    pub monitor: &'a Monitor,
    pub threads: usize,
    /// Go on behind violations and count everything.
    pub full: bool,
    /// A state without successors in which some process has not stopped is a violation.
    pub deadlock: bool,
    /// Report all states that were found, unpacked.
    pub collect: bool,
    /// Search on behind the first violation, but not from violating states, and report
    /// the graph with the tags of this tagger.
    pub graph: Option<Tagger<'a>>,
}

/// What a search found.
#[derive(Debug)]
pub struct Exploration {
    pub end: End,
    pub states: u64,
    pub transitions: u64,
    /// Completed levels.
    pub depth: u64,
    /// Some store had to wait for room in its buffer.
    pub no_room: bool,
    /// A violation, and a shortest way to it (none if the search for it was interrupted).
    pub violation: Option<(Violation, Option<Trace>)>,
    /// Some state has every process stopped and every buffer empty.
    pub reached_final: bool,
    /// For each property, the named labels that no process reached.
    pub unreached: Vec<Vec<String>>,
    /// Distinct configurations, over all processes.
    pub configs: usize,
    /// The size of the visited set.
    pub table_bytes: u64,
    /// The size of everything.
    pub bytes: u64,
    /// All states, if they were asked for; without those in which a statement failed.
    pub snapshots: Vec<Snapshot>,
    /// The graph, if it was asked for and the search was exhaustive.
    pub graph: Option<Graph>,
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// All reachable states were found.
    Exhausted,
    /// It stopped at the first level with a violation.
    FirstError,
    Limit(StopReason),
}

impl Search<'_> {
    /// The graph after an exhaustive search, if it was asked for; a limit in building it is
    /// how the search ends.
    pub(super) fn graph_after(
        &self,
        end: &mut End,
        build: impl FnOnce() -> Result<Graph, StopReason>,
    ) -> Option<Graph> {
        if self.graph.is_none() || *end != End::Exhausted {
            return None;
        }
        let graph = build();
        if let Err(reason) = graph {
            *end = End::Limit(reason);
        }
        graph.ok()
    }
}

/// Levels smaller than this are not worth a second thread.
pub(super) const PARALLEL: usize = 2048;

/// Searches the state space of a program.
pub fn explore(search: &Search) -> Exploration {
    let program = search.stepper.program;
    let interner = Interner::new(program, general_properties(program));
    loop {
        let Some(layout) = interner.layout() else {
            return Exploration::none(StopReason::TooWide, program);
        };
        // A component that outgrows its field makes the search start over with wider
        // fields; the interned components stay.
        let result = match layout.words {
            1 => attempt::<1>(search, &interner, &layout),
            2 => attempt::<2>(search, &interner, &layout),
            3..=4 => attempt::<4>(search, &interner, &layout),
            5..=16 => attempt::<16>(search, &interner, &layout),
            _ => attempt::<64>(search, &interner, &layout),
        };
        if let Ok(exploration) = result {
            return exploration;
        }
    }
}

/// One attempt, with one layout.
fn attempt<const N: usize>(
    search: &Search,
    interner: &Interner,
    layout: &Layout,
) -> Result<Exploration, Overflow> {
    match search.stepper.memory.merges() {
        true => merged::explore::<N>(search, interner, layout),
        false => distinct::explore::<N>(search, interner, layout),
    }
}

/// Runs a task once for every worker, on threads if it is worth while.
pub(super) fn in_parallel<W: Send>(
    workers: &mut [W],
    pool: &mut Option<ThreadPool>,
    worth_while: bool,
    task: impl Fn(&mut W) + Sync,
) {
    if workers.len() == 1 || !worth_while {
        return task(&mut workers[0]);
    }
    let builder = || {
        ThreadPoolBuilder::new()
            .num_threads(workers.len())
            .build()
            .ok()
    };
    if pool.is_none() {
        *pool = builder();
    }
    match pool {
        None => task(&mut workers[0]),
        Some(pool) => pool.scope(|scope| {
            for worker in workers {
                scope.spawn(|_| task(worker));
            }
        }),
    }
}

/// Calls `visit` with every initial state until it gives a reason to stop.
pub(super) fn for_each_initial(
    stepper: &Stepper,
    visit: &mut dyn FnMut(&Snapshot) -> Result<Option<StopReason>, Overflow>,
) -> Result<Option<StopReason>, Overflow> {
    let program = stepper.program;
    let configs = program.processes.iter();
    let configs: Vec<Vec<Arc<Config>>> = configs
        .map(|process| stepper.initial(process).into_iter().map(Arc::new).collect())
        .collect();
    let values = |place: &Place| initial_values(place.initial, place.domain);
    let mut chosen = vec![0; configs.len()];
    let mut state = Snapshot {
        memory: program.places.iter().map(|p| *values(p).start()).collect(),
        configs: configs.iter().map(|all| all[0].clone()).collect(),
    };
    'next: loop {
        if let Some(reason) = visit(&state)? {
            return Ok(Some(reason));
        }
        for (process, all) in configs.iter().enumerate() {
            chosen[process] = (chosen[process] + 1) % all.len();
            state.configs[process] = all[chosen[process]].clone();
            if chosen[process] != 0 {
                continue 'next;
            }
        }
        for (value, place) in state.memory.iter_mut().zip(&program.places) {
            if *value < *values(place).end() {
                *value += 1;
                continue 'next;
            }
            *value = *values(place).start();
        }
        return Ok(None);
    }
}

impl Exploration {
    /// A search that could not even begin.
    fn none(reason: StopReason, program: &Program) -> Exploration {
        Exploration {
            end: End::Limit(reason),
            states: 0,
            transitions: 0,
            depth: 0,
            no_room: false,
            violation: None,
            reached_final: false,
            unreached: vec![Vec::new(); program.properties.len()],
            configs: 0,
            table_bytes: 0,
            bytes: 0,
            snapshots: Vec::new(),
            graph: None,
        }
    }
}
