//! The search that keeps every distinct state: breadth-first, level by level, in parallel.

mod table;
mod worker;

use super::graph::{self, Graph, NodeId};
use super::initial::for_each_initial;
use super::intern::Interner;
use super::layout::{Layout, Overflow, State};
use super::pool::{PARALLEL, in_parallel};
use super::search::{Coverage, End, Exploration, Search, Statistics};
use super::trace::{self, Snapshot, Trace};
use crate::limits::StopReason;
use crate::property::Violation;
use rayon::ThreadPool;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use table::{Table, hash};
use worker::{CHUNK, Level, Pause, Shared, Worker};

/// Slots of the first table.
const FIRST_SLOTS: usize = 1 << 11;

/// Searches until nothing new is found, or until there is a reason to stop.
pub fn explore<const N: usize>(
    search: &Search,
    interner: &Interner,
    layout: &Layout,
) -> Result<Exploration, Overflow> {
    Run::<N>::new(search, interner, layout).go()
}

/// A search under way.
struct Run<'a, const N: usize> {
    search: &'a Search<'a>,
    interner: &'a Interner<'a>,
    layout: &'a Layout,
    table: Option<Table<N>>,
    claimed: AtomicU64,
    levels: Vec<Level<N>>,
    workers: Vec<Worker<'a, N>>,
    pool: Option<ThreadPool>,
    /// The first level with violations, and those states.
    errors: Option<(usize, Vec<State<N>>)>,
}

impl<'a, const N: usize> Run<'a, N> {
    fn new(search: &'a Search<'a>, interner: &'a Interner<'a>, layout: &'a Layout) -> Run<'a, N> {
        let worker = || Worker::new(search, interner, layout);
        Run {
            search,
            interner,
            layout,
            table: None,
            claimed: AtomicU64::new(0),
            levels: Vec::new(),
            workers: (0..search.threads.max(1)).map(|_| worker()).collect(),
            pool: None,
            errors: None,
        }
    }

    fn go(mut self) -> Result<Exploration, Overflow> {
        let mut stop = self.start()?;
        let mut end = End::Exhausted;
        self.finish_level();
        while stop.is_none() && self.levels.last().is_some_and(|level| !level.is_empty()) {
            if self.errors.is_some() && !self.search.goal.goes_on() {
                end = End::FirstViolation;
                break;
            }
            stop = self.expand_level()?;
            self.finish_level();
        }
        if let Some(reason) = stop {
            end = End::Limit(reason);
        } else if self.errors.is_some() && !self.search.goal.goes_on() {
            end = End::FirstViolation;
        }
        Ok(self.report(end))
    }

    /// Inserts the initial states.
    fn start(&mut self) -> Result<Option<StopReason>, Overflow> {
        if let Some(reason) = self.grow() {
            return Ok(Some(reason));
        }
        for_each_initial(self.search.stepper, &mut |initial| {
            let state = self
                .interner
                .pack(self.layout, &initial.memory, &initial.configs)?;
            Ok(self.add_initial(state))
        })
    }

    fn add_initial(&mut self, state: State<N>) -> Option<StopReason> {
        let claimed = self.claimed.load(Ordering::Relaxed);
        if claimed >= self.search.limits.max_states.unwrap_or(u64::MAX) {
            return Some(StopReason::MaxStates);
        }
        if claimed >= self.capacity()
            && let Some(reason) = self.grow()
        {
            return Some(reason);
        }
        let table = self.table.as_ref().expect("there is a table");
        if table.insert(&state, table.home(hash(&state))) {
            self.claimed.fetch_add(1, Ordering::Relaxed);
            self.workers[0].add(state);
        }
        match claimed % 1024 {
            0 => self.search.monitor.stop(self.search.limits),
            _ => None,
        }
    }

    /// Expands the last level; the new states stay with the workers.
    fn expand_level(&mut self) -> Result<Option<StopReason>, Overflow> {
        let last = self.levels.len() - 1;
        let frontier = std::mem::take(&mut self.levels[last]);
        let mut chunks = chunks(&frontier);
        let outcome = loop {
            let (left, pause) = self.expand(&chunks);
            chunks = left;
            match pause {
                None => break Ok(None),
                Some(Pause::Overflow) => break Err(Overflow),
                Some(Pause::Stop(reason)) => break Ok(Some(reason)),
                Some(Pause::Grow) => {
                    if let Some(reason) = self.grow() {
                        break Ok(Some(reason));
                    }
                }
            }
        };
        self.levels[last] = frontier;
        outcome
    }

    /// Lets the workers expand chunks until they are done or have to meet; returns the
    /// chunks that are left.
    fn expand<'c>(&mut self, chunks: &[&'c [State<N>]]) -> (Vec<&'c [State<N>]>, Option<Pause>) {
        let shared = Shared {
            table: self.table.as_ref().expect("there is a table"),
            claimed: &self.claimed,
            capacity: self.capacity(),
            limits: self.search.limits,
            monitor: self.search.monitor,
            depth: self.levels.len() as u64,
            overhead: self.overhead(),
            cursor: AtomicUsize::new(0),
            paused: AtomicBool::new(false),
            pause: Mutex::new(None),
        };
        let left = Mutex::new(Vec::new());
        let states: usize = chunks.iter().map(|chunk| chunk.len()).sum();
        in_parallel(
            &mut self.workers,
            &mut self.pool,
            states >= PARALLEL,
            |worker| {
                let rest = worker.expand(&shared, chunks);
                left.lock().expect("no thread panics here").extend(rest);
            },
        );
        let untouched = shared.cursor.load(Ordering::Relaxed).min(chunks.len());
        let mut left = left.into_inner().expect("no thread panics here");
        left.extend_from_slice(&chunks[untouched..]);
        let pause = shared.pause.into_inner().expect("no thread panics here");
        (left, pause)
    }

    /// Collects what the workers found as a new level.
    fn finish_level(&mut self) {
        let depth = self.levels.len();
        let mut level = Vec::new();
        let (mut errors, mut deadlocks) = (Vec::new(), Vec::new());
        for worker in &mut self.workers {
            worker.next.iter_mut().for_each(Vec::shrink_to_fit);
            level.append(&mut worker.next);
            errors.append(&mut worker.errors);
            deadlocks.append(&mut worker.deadlocks);
        }
        if self.errors.is_none() {
            if !deadlocks.is_empty() {
                self.errors = Some((depth - 1, deadlocks));
            } else if !errors.is_empty() {
                self.errors = Some((depth, errors));
            }
        }
        self.levels.push(level);
    }

    /// States at which the table counts as full.
    fn capacity(&self) -> u64 {
        let slots = self.table.as_ref().map_or(0, Table::slots) as u64;
        slots / 4 * 3
    }

    /// Memory taken by everything but the log of states.
    fn overhead(&self) -> u64 {
        let table = self.table.as_ref().map_or(0, Table::bytes);
        let rows: usize = self.workers.iter().map(|worker| worker.rows.bytes()).sum();
        (table + rows + self.interner.bytes()) as u64
    }

    /// Replaces the table by a larger one.
    fn grow(&mut self) -> Option<StopReason> {
        let old = self.table.take();
        let slots = old.as_ref().map_or(0, Table::slots);
        let wanted = match slots {
            0 => FIRST_SLOTS,
            1..0x10_0000 => slots * 4,
            _ => slots / 2 * 3,
        };
        let states = self.claimed.load(Ordering::Relaxed) * size_of::<State<N>>() as u64;
        let others = self.overhead() + states;
        let most = match self.search.limits.max_memory {
            None => usize::MAX,
            Some(most) => (most.saturating_sub(others) / size_of::<State<N>>() as u64) as usize,
        };
        let new = wanted.min(most);
        let enough = new >= slots + slots / 8 && new >= FIRST_SLOTS;
        let Some(table) = enough.then(|| Table::new(new).ok()).flatten() else {
            self.table = old;
            return Some(StopReason::MaxMemory);
        };
        if let Some(old) = old {
            let cursor = AtomicUsize::new(0);
            match &self.pool {
                None => old.move_to(&table, &cursor),
                Some(pool) => drop(pool.broadcast(|_| old.move_to(&table, &cursor))),
            }
        }
        self.table = Some(table);
        None
    }

    /// The graph of a search that found all states.
    fn graph(&mut self) -> Result<Graph, StopReason> {
        let table = self.table.as_ref().expect("there is a table");
        let transitions = self.workers.iter().map(|worker| worker.transitions).sum();
        let states = self.claimed.load(Ordering::Relaxed);
        let bytes = self.overhead()
            + states * size_of::<State<N>>() as u64
            + (table.slots() * size_of::<u32>()) as u64
            + Graph::bytes(states, transitions);
        if self
            .search
            .limits
            .max_memory
            .is_some_and(|most| bytes > most)
        {
            return Err(StopReason::MaxMemory);
        }
        let mut nodes = vec![Graph::ERROR; table.slots()];
        let all = self.levels.iter().flatten().flatten();
        for (index, state) in all.enumerate() {
            let slot = table.find(state).expect("every state is in the table");
            nodes[slot] = NodeId(index as u32 + 1);
        }
        let first = self.levels[0].iter().map(Vec::len).sum::<usize>() as u32;
        let wrong_start = self.errors.as_ref().is_some_and(|(level, _)| *level == 0);
        let source = graph::Source {
            workers: &mut self.workers,
            pool: &mut self.pool,
            chunks: self.levels.iter().flat_map(chunks).collect(),
            initial: (u32::from(!wrong_start)..=first).map(NodeId).collect(),
            transitions,
        };
        graph::build(
            source,
            |worker, state, out| worker.rows.tagged(state, out),
            |_, state| nodes[table.find(state).expect("every state is in the table")],
            || self.search.monitor.stop(self.search.limits),
        )
    }

    fn report(mut self, mut end: End) -> Exploration {
        let states = self.claimed.load(Ordering::Relaxed);
        let state_bytes = size_of::<State<N>>() as u64;
        let (overhead, depth) = (self.overhead(), self.levels.len() as u64);
        let table_bytes = self.table.as_ref().map_or(0, Table::bytes) as u64;
        let graph = self.search.goal.graph_after(&mut end, || self.graph());
        self.table = None;
        let unreached = self.interner.unreached();
        let unpack = |state| Snapshot::unpack(self.interner, self.layout, state);
        let all = self.levels.iter().flatten().flatten();
        let snapshots = all
            .filter(|_| self.search.goal.wants_snapshots())
            .map(unpack)
            .collect();
        let (mut transitions, mut no_room, mut reached_final) = (0, false, false);
        for worker in &self.workers {
            transitions += worker.transitions;
            no_room |= worker.no_room;
            reached_final |= worker.reached_final;
        }
        let errors = self.errors.take().filter(|_| graph.is_none());
        let violation = errors.map(|(level, errors)| {
            let found = self.workers[0].judge.violation(&errors[0]);
            let trace = self.shortest(level, errors);
            match trace {
                Some((violation, trace)) => (violation, Some(trace)),
                None => (found.unwrap_or(Violation::Deadlock), None),
            }
        });
        Exploration {
            end,
            statistics: Statistics {
                states,
                transitions,
                depth,
                configurations: self.interner.config_count(),
                table_bytes,
                bytes: overhead + states * state_bytes,
            },
            coverage: Coverage {
                reached_final,
                unreached,
            },
            no_room,
            violation,
            snapshots,
            graph,
        }
    }

    /// A shortest trace to one of the given states of a level, and what is wrong there;
    /// `None` if the search for it was interrupted. Going back level by level, it keeps
    /// the states from which an error is reached in time; going forward through these, it
    /// prefers to stay with one process.
    fn shortest(&mut self, level: usize, errors: Vec<State<N>>) -> Option<(Violation, Trace)> {
        let mut ahead = vec![errors.into_iter().collect()];
        for depth in (0..level).rev() {
            let chunks = chunks(&self.levels[depth]);
            let states: usize = chunks.iter().map(|chunk| chunk.len()).sum();
            let cursor = AtomicUsize::new(0);
            let found = Mutex::new(Ok(ahash::AHashSet::new()));
            let target = ahead.last().expect("there is a target");
            in_parallel(
                &mut self.workers,
                &mut self.pool,
                states >= PARALLEL,
                |worker| {
                    let cancel = || self.search.monitor.interrupted();
                    let part = worker.leading_to(target, &chunks, &cursor, &cancel);
                    let mut found = found.lock().expect("no thread panics here");
                    match (&mut *found, part) {
                        (Ok(found), Ok(part)) => found.extend(part),
                        (found, _) => *found = Err(trace::Cancelled),
                    }
                },
            );
            ahead.push(found.into_inner().expect("no thread panics here").ok()?);
        }
        ahead.reverse();
        let starts = ahead[0].iter();
        let starts = starts.map(|state| Snapshot::unpack(self.interner, self.layout, state));
        let settle = |after: Snapshot| {
            let packed = self
                .interner
                .pack(self.layout, &after.memory, &after.configs);
            Some((packed.ok()?, after))
        };
        let trace = trace::walk(self.search.stepper, starts, &ahead[1..], &settle);
        let last = trace
            .steps
            .last()
            .map_or(&trace.initial, |step| &step.after);
        let violation = last.violation(self.search.stepper.program);
        Some((violation.unwrap_or(Violation::Deadlock), trace))
    }
}

fn chunks<const N: usize>(level: &Level<N>) -> Vec<&[State<N>]> {
    level.iter().flat_map(|piece| piece.chunks(CHUNK)).collect()
}
