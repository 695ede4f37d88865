//! The search, level by level.

use super::candidates::Worker;
use super::merge::{Merge, merged};
use super::run::{File, Reader, Run, Writer, buffer_bytes};
use super::{Scratch, Spilling};
use crate::limits::{Pace, StopReason};
use crate::space::context::Context;
use crate::space::initial::for_each_initial;
use crate::space::judge::{Judge, Judgement};
use crate::space::layout::{Overflow, State};
use crate::space::level::Level;
use crate::space::pool::{PARALLEL, Workers};
use crate::space::search::{Coverage, End, Exploration, Statistics, Unfinished};
use std::sync::Arc;

/// Words of states that each thread gets to expand before the limits are looked at.
const PORTION: usize = 1 << 16;

/// Memory that is left to those who read and write runs: about forty of them at a time.
const FOR_RUNS: u64 = 3 << 20;

/// A search under way.
pub struct Levels<'a, const N: usize> {
    pub context: Context<'a>,
    scratch: &'a dyn Scratch,
    most_held: Option<usize>,
    /// All levels, one behind the other.
    file: Arc<File<'a>>,
    /// The new states of each level, those included in which a statement has failed.
    pub levels: Vec<Run<'a, N>>,
    /// All states of all levels, in few runs: each has more than twice the states of the next.
    visited: Vec<Run<'a, N>>,
    workers: Workers<Worker<'a, N>>,
    pub judge: Judge<'a, N>,
    states: u64,
    /// States of the last level in which no statement has failed.
    open: u64,
    reached_final: bool,
    /// The first level with violations, and those states.
    errors: Option<(usize, Vec<State<N>>)>,
    /// The most memory that was taken.
    bytes: u64,
}

impl<'a, const N: usize> Levels<'a, N> {
    pub fn new(context: Context<'a>, spilling: &'a Spilling) -> Result<Levels<'a, N>, StopReason> {
        let scratch = &*spilling.scratch;
        Ok(Levels {
            context,
            scratch,
            most_held: spilling.most_held,
            file: File::new(scratch)?,
            levels: Vec::new(),
            visited: Vec::new(),
            workers: Workers::new(context.search.threads, |_| Worker::new(context, scratch)),
            judge: Judge::new(context),
            states: 0,
            open: 0,
            reached_final: false,
            errors: None,
            bytes: 0,
        })
    }

    pub fn go(mut self) -> Result<Exploration, Overflow> {
        let end = End::of(self.search())?;
        if let End::Limit(reason) = end
            && reason != StopReason::Disk
            && self.errors.is_none()
        {
            let seen = self.violation_among_candidates();
            let level = self.levels.len();
            self.errors = seen.map(|violation| (level, vec![violation]));
        }
        Ok(self.report(end))
    }

    /// A violation among the successors of a level that a limit has cut short, as far as there is
    /// time to look. It is none of an earlier level: all states of these were judged.
    fn violation_among_candidates(&mut self) -> Option<State<N>> {
        let (context, judge) = (self.context, &mut self.judge);
        let mut pace = Pace::default();
        let mut is_violation = |state: &State<N>| {
            if pace.is_due(1) {
                context.check_tracing()?;
            }
            Ok::<_, StopReason>(judge.judge(state).is_violation())
        };
        for worker in self.workers.iter() {
            for state in worker.held() {
                if is_violation(state).ok()? {
                    return Some(*state);
                }
            }
        }
        for run in self.workers.iter().flat_map(|worker| &worker.runs) {
            let mut reader = run.reader();
            while let Some(state) = reader.next().ok()? {
                if is_violation(&state).ok()? {
                    return Some(state);
                }
            }
        }
        None
    }

    fn search(&mut self) -> Result<End, Unfinished> {
        self.start()?;
        self.finish_level()?;
        loop {
            if self.errors.is_some() && !self.context.search.goal.goes_on() {
                return Ok(End::FirstViolation);
            }
            if self.open == 0 {
                return Ok(End::Exhausted);
            }
            self.expand_level()?;
            self.finish_level()?;
        }
    }

    /// Takes the initial states for those of a first level.
    fn start(&mut self) -> Result<(), Unfinished> {
        self.make_room()?;
        let context = self.context;
        let worker = self.workers.first();
        for_each_initial(&context, &mut |initial| {
            Ok(worker.add(context.pack(initial)?)?)
        })
    }

    /// Expands the last level; the successors stay with the workers.
    fn expand_level(&mut self) -> Result<(), Unfinished> {
        self.make_room()?;
        let expanded = self.expand_portions();
        let mut standstills = Vec::new();
        for worker in self.workers.iter_mut() {
            standstills.append(&mut worker.standstills);
        }
        if self.errors.is_none() && !standstills.is_empty() {
            self.errors = Some((self.levels.len() - 1, standstills));
        }
        expanded
    }

    fn expand_portions(&mut self) -> Result<(), Unfinished> {
        let level = self.levels.last().expect("there is a level");
        let mut reader = level.reader();
        loop {
            let portion = self.portion(&mut reader)?;
            if portion.is_empty() {
                return Ok(());
            }
            let parallel = portion.len() >= PARALLEL;
            let level = Level::from(portion);
            let expand = |worker: &mut Worker<N>, _, chunk: &&[State<N>]| worker.expand(chunk);
            self.workers.share(&level.chunks(), parallel, expand)?;
            let depth = self.levels.len() as u64 + 1;
            self.context.search.monitor.report(self.states, depth);
            self.check_memory(0)?;
        }
    }

    /// The next states of a level, without those in which a statement has failed: nothing
    /// comes after them.
    pub fn portion(&mut self, reader: &mut Reader<N>) -> Result<Vec<State<N>>, StopReason> {
        let most = (PORTION / N * self.context.search.threads.max(1)).max(1);
        let mut states = Vec::with_capacity(most);
        while states.len() < most
            && let Some(state) = reader.next()?
        {
            if self.judge.judge(&state) != Judgement::Failure {
                states.push(state);
            }
        }
        Ok(states)
    }

    /// Finds out which successors are new, and makes them a level.
    fn finish_level(&mut self) -> Result<(), Unfinished> {
        let depth = self.levels.len();
        let held = self.workers.iter().map(|worker| worker.held().len());
        let parallel = held.sum::<usize>() >= PARALLEL;
        self.workers.run(parallel, Worker::sort);
        self.workers.iter_mut().for_each(Worker::sort);
        let workers = self.workers.iter();
        let runs: Vec<_> = workers.flat_map(|worker| worker.runs.clone()).collect();
        self.check_memory((runs.len() + self.visited.len()) as u64)?;
        let held = self.workers.iter().map(Worker::held);
        let mut found = Merge::new(&runs, held)?;
        let mut visited = Merge::new(&self.visited, [])?;
        let mut known = visited.next()?;
        let end = self.levels.last().map_or(0, Run::end);
        let mut level = Writer::behind(self.file.clone(), end);
        let most = self.context.search.limits.max_states.unwrap_or(u64::MAX);
        let (mut violations, mut pace) = (Vec::new(), Pace::default());
        let mut limit = None;
        self.open = 0;
        while let Some(state) = found.next()? {
            let mut passed = 1;
            while known.is_some_and(|known| known < state) {
                known = visited.next()?;
                passed += 1;
            }
            self.context.go_on(&mut pace, passed)?;
            if known == Some(state) {
                continue;
            }
            if self.states >= most {
                limit = Some(StopReason::MaxStates);
                break;
            }
            self.states += 1;
            let judgement = self.judge.judge(&state);
            self.open += u64::from(judgement != Judgement::Failure);
            match judgement {
                Judgement::Fine => {}
                Judgement::Final => self.reached_final = true,
                Judgement::Violation | Judgement::Failure if self.errors.is_none() => {
                    violations.push(state);
                }
                Judgement::Violation | Judgement::Failure => {}
            }
            level.add(state)?;
        }
        let level = level.finish()?;
        self.workers.iter_mut().for_each(Worker::clear);
        if self.errors.is_none() && !violations.is_empty() {
            self.errors = Some((depth, violations));
        }
        self.visited.push(level.clone());
        self.levels.push(level);
        let monitor = self.context.search.monitor;
        monitor.report(self.states, self.levels.len() as u64);
        limit.map_or(Ok(()), Err)?;
        Ok(self.settle()?)
    }

    /// Merges the last runs of visited states if they have about the same size.
    fn settle(&mut self) -> Result<(), StopReason> {
        let Some((last, before)) = self.visited.split_last() else {
            return Ok(());
        };
        let (mut total, mut kept) = (last.count, before.len());
        for run in before.iter().rev() {
            if run.count > 2 * total {
                break;
            }
            total += run.count;
            kept -= 1;
        }
        let similar = &self.visited[kept..];
        if similar.len() > 1 {
            let merged = merged(&self.context, self.scratch, similar)?;
            self.visited.truncate(kept);
            self.visited.push(merged);
        }
        Ok(())
    }

    /// Memory taken by everything but buffers.
    fn overhead(&self) -> u64 {
        let caches = self.workers.iter().map(|worker| worker.cache.bytes());
        let errors = self.errors.as_ref().map_or(0, |(_, errors)| errors.len());
        let tables = caches.sum::<usize>() + self.context.interner.bytes();
        (tables + errors * size_of::<State<N>>()) as u64
    }

    /// Gives the workers what is left of the memory.
    fn make_room(&mut self) -> Result<(), StopReason> {
        self.check_memory(0)?;
        let most = self.context.search.limits.max_memory.unwrap_or(u64::MAX);
        let room = most.saturating_sub(self.overhead() + FOR_RUNS);
        let portion = (PORTION * size_of::<u64>()) as u64;
        let each = room / self.context.search.threads.max(1) as u64;
        let each = each.saturating_sub(portion);
        let most_held = self.most_held;
        for worker in self.workers.iter_mut() {
            worker.make_room(each, most_held);
        }
        Ok(())
    }

    /// Fails if tables alone take more than there may be, and remembers the most that all took,
    /// with so many runs that are read.
    fn check_memory(&mut self, runs: u64) -> Result<(), StopReason> {
        let buffers = self.workers.iter().map(Worker::buffer_bytes);
        let buffers = buffers.sum::<u64>() + runs * buffer_bytes(N) as u64;
        let overhead = self.overhead();
        self.bytes = self.bytes.max(overhead + buffers);
        self.context.check_memory(overhead)
    }

    fn report(mut self, mut end: End) -> Exploration {
        let context = self.context;
        let visited = self.visited.iter().map(Run::bytes);
        let mut statistics = Statistics {
            states: self.states,
            transitions: 0,
            depth: Some(self.levels.len() as u64),
            configurations: context.interner.config_count(),
            table_bytes: visited.sum(),
            bytes: self.bytes,
        };
        let mut no_room = false;
        for worker in self.workers.iter() {
            statistics.transitions += worker.transitions;
            no_room |= worker.no_room;
        }
        let coverage = Coverage {
            reached_final: self.reached_final,
            unreached: context.interner.unreached(),
        };
        // What comes now needs other caches, and no buffers.
        self.workers = Workers::new(1, |_| Worker::new(context, self.scratch));
        let violation = self.errors.take().map(|(level, errors)| {
            let standstill = context.search.standstill.violation();
            let seen = self.judge.violation(&errors[0]);
            let found = self.shortest(level, errors);
            end.with_trace(found, seen.unwrap_or(standstill))
        });
        Exploration {
            end,
            statistics,
            coverage,
            no_room,
            violation,
            snapshots: Vec::new(),
        }
    }
}
