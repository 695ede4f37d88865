//! The search: states of the frame, each with a zone.
//!
//! A state is covered by one with the same frame and a larger zone: whatever goes wrong behind
//! it goes wrong behind the other. Only states that nothing covers are expanded.
//!
//! States are expanded in batches ([`expand`](super::expand)): threads look up where the steps of
//! a batch lead, with nothing but what was known before it, and what is not covered already is
//! then taken note of in the order of states and steps. So the answer is the same for any number
//! of threads.

use super::expand::{After, Arrival, CHUNK, Chunk, Expansion};
use super::graph::{Frozen, Graph, NONE};
use super::known::Zones;
use super::matrix::Fact;
use super::start::start;
use super::states::{State, States};
use super::zone::{Move, Rounding, Thresholds, Zone};
use crate::limits::{Limits, Monitor, StopReason};
use crate::memory::step::{At, Effect};
use crate::program::{EdgeId, ProcessId};
use crate::property::Violation;
use crate::space::{Coverage, Statistics};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::VecDeque;
use std::sync::Arc;

/// The most states of a batch.
const BATCH: usize = 4096;

/// A batch has one of so many states that there are: what covers a state should be found before
/// the state is expanded, and in a small space it would be in the same batch.
const SHARE: usize = 128;

/// Fewer states than this are not worth a second thread.
const PARALLEL: usize = 1024;

/// What a search found.
pub enum Found {
    /// All states were visited, and none is wrong.
    Exhausted,
    Violation(Violation, Way),
    Limit(StopReason),
}

/// A way to a violation: where it starts, its steps, and what must hold of integers at its end.
#[derive(Clone)]
pub struct Way {
    pub initial: Frozen,
    pub steps: Vec<WayStep>,
    pub end: Vec<Fact>,
}

#[derive(Clone)]
pub struct WayStep {
    pub process: ProcessId,
    pub effect: Effect,
    pub path: Arc<[EdgeId]>,
    pub data: Arc<Move>,
    pub after: Frozen,
}

/// The options of a search.
pub struct Options<'a> {
    pub thresholds: &'a Thresholds,
    /// One zone for each state of the frame.
    pub join: bool,
    pub threads: usize,
    pub limits: &'a Limits,
    pub monitor: &'a Monitor,
}

/// A search under way.
pub struct Explorer<'g, 'a, 'o> {
    graph: &'g mut Graph<'a>,
    options: Options<'o>,
    zones: Zones,
    states: States,
    queue: VecDeque<u32>,
    taken: u64,
    /// The configurations that a process had.
    visited: Vec<Vec<bool>>,
    reached_final: bool,
    pool: Option<ThreadPool>,
}

impl<'g, 'a, 'o> Explorer<'g, 'a, 'o> {
    pub fn new(graph: &'g mut Graph<'a>, options: Options<'o>) -> Explorer<'g, 'a, 'o> {
        Explorer {
            visited: vec![Vec::new(); graph.configs.len()],
            zones: Zones::new(options.thresholds),
            graph,
            options,
            states: States::default(),
            queue: VecDeque::new(),
            taken: 0,
            reached_final: false,
            pool: None,
        }
    }

    pub fn explore(&mut self) -> Found {
        match self.run() {
            Ok(None) => Found::Exhausted,
            Ok(Some((violation, way))) => Found::Violation(violation, way),
            Err(reason) => Found::Limit(reason),
        }
    }

    pub fn statistics(&self) -> Statistics {
        let visited = self.visited.iter().flatten();
        Statistics {
            states: self.states.len(),
            transitions: self.taken,
            depth: None,
            configurations: visited.filter(|visited| **visited).count(),
            table_bytes: self.bytes(),
            bytes: self.bytes(),
        }
    }

    /// What the search holds.
    fn bytes(&self) -> u64 {
        self.graph.bytes + self.zones.bytes + self.states.bytes()
    }

    pub fn coverage(&self) -> Coverage {
        let properties = &self.graph.rules.frame.program.properties;
        let mut positions = Vec::new();
        for (process, (configs, visited)) in
            self.graph.configs.iter().zip(&self.visited).enumerate()
        {
            for (config, _) in configs.iter().zip(visited).filter(|(_, visited)| **visited) {
                if let At::Loc(at) = config.at {
                    positions.push((ProcessId(process as u32), at));
                }
            }
        }
        let unreached = properties.iter().map(|property| {
            let labels = property.labels.iter();
            let reached = |at: &[_]| at.iter().any(|position| positions.contains(position));
            let unreached = labels.filter(|(_, at)| !reached(at));
            unreached.map(|(label, _)| label.clone()).collect()
        });
        Coverage {
            reached_final: self.reached_final,
            unreached: unreached.collect(),
        }
    }

    fn run(&mut self) -> Result<Option<(Violation, Way)>, StopReason> {
        let rounding = Rounding::To(self.options.thresholds);
        for frame in self.graph.initial()? {
            let program = self.graph.judge.program;
            let zone = start(&mut self.graph.rules, program, rounding);
            let zone = self.zones.number(zone);
            if let Some(found) = self.arrive(frame, zone, (NONE, 0)) {
                return Ok(Some(found));
            }
        }
        loop {
            let most = (self.states.len() as usize / SHARE).clamp(1, BATCH);
            let mut batch = Vec::new();
            while batch.len() < most
                && let Some(at) = self.queue.pop_front()
            {
                if !self.states.get(at).covered {
                    batch.push(at);
                }
            }
            if batch.is_empty() {
                return Ok(None);
            }
            let found = self.expand(&batch)?;
            if found.is_some() {
                return Ok(found);
            }
        }
    }

    /// Expands states.
    fn expand(&mut self, batch: &[u32]) -> Result<Option<(Violation, Way)>, StopReason> {
        self.check()?;
        self.prepare(batch)?;
        let parallel = self.options.threads > 1 && batch.len() >= PARALLEL;
        if parallel && self.pool.is_none() {
            let threads = ThreadPoolBuilder::new().num_threads(self.options.threads);
            self.pool = threads.build().ok();
        }
        match self.pool.take() {
            Some(pool) if parallel => {
                let chunks = pool.install(|| self.expansion().chunks(batch));
                self.pool = Some(pool);
                for chunk in chunks? {
                    let found = self.merge(chunk)?;
                    if found.is_some() {
                        return Ok(found);
                    }
                }
            }
            pool => {
                self.pool = pool;
                // What is known by now says the same of a chunk as what was known before, in
                // less time.
                for states in batch.chunks(CHUNK) {
                    let chunk = self.expansion().chunk(states)?;
                    let found = self.merge(chunk)?;
                    if found.is_some() {
                        return Ok(found);
                    }
                }
            }
        }
        Ok(None)
    }

    fn expansion(&self) -> Expansion<'_> {
        let Options {
            limits,
            monitor,
            thresholds,
            ..
        } = self.options;
        Expansion {
            table: &self.graph.table,
            zones: &self.zones,
            states: &self.states,
            thresholds,
            octagon: self.graph.rules.frame.octagon,
            limits,
            monitor,
        }
    }

    /// Takes note of what came of some states, in their order.
    fn merge(&mut self, chunk: Chunk) -> Result<Option<(Violation, Way)>, StopReason> {
        let posts: Vec<u32> = (chunk.posts.into_iter())
            .map(|((data, zone), after)| self.zones.note(data, zone, after))
            .collect();
        let mut arrivals = chunk.arrivals.into_iter().peekable();
        for (from, steps) in chunk.expanded {
            self.check_states()?;
            self.taken += u64::from(steps);
            while let Some(arrival) = arrivals.next_if(|arrival| arrival.from == from) {
                let found = self.take(arrival, &posts);
                if found.is_some() {
                    return Ok(found);
                }
            }
        }
        Ok(None)
    }

    /// Finds the steps of all states of a batch.
    fn prepare(&mut self, batch: &[u32]) -> Result<(), StopReason> {
        let Options {
            limits, monitor, ..
        } = self.options;
        for &at in batch {
            let held = self.bytes();
            let check = |more: usize| match limits.max_memory {
                Some(most) if held + more as u64 > most => Err(StopReason::MaxMemory),
                _ => monitor.stop(limits).map_or(Ok(()), Err),
            };
            let (frame, _) = self.states.parts(at);
            self.graph.prepare(frame, &check)?;
        }
        Ok(())
    }

    fn take(&mut self, arrival: Arrival, posts: &[u32]) -> Option<(Violation, Way)> {
        let zone = match arrival.zone {
            After::Known(zone) => zone,
            After::Found(at) => posts[at as usize],
        };
        let frame = match arrival.frame {
            NONE => {
                let (before, _) = self.states.parts(arrival.from);
                self.graph.target(before, arrival.via as usize)
            }
            frame => frame,
        };
        self.arrive(frame, zone, (arrival.from, arrival.via))
    }

    /// Takes note of a state, unless one that is known covers it; says so if it is wrong.
    fn arrive(
        &mut self,
        frame: u32,
        mut zone: u32,
        (parent, via): (u32, u32),
    ) -> Option<(Violation, Way)> {
        if self.states.cover(&self.zones, frame, zone) {
            return None;
        }
        match self.states.zone_of(frame) {
            None => self.visit(frame),
            Some(old) if self.options.join => {
                let joined = self.zones.zone(zone).join(self.zones.zone(old));
                let joined = self.after(&joined, &Move::default());
                zone = self
                    .zones
                    .number(joined.expect("what holds two zones is not empty"));
            }
            Some(_) => {}
        }
        let state = State {
            frame,
            zone,
            parent,
            via,
            covered: false,
        };
        let number = self.states.add(&self.zones, state);
        self.queue.push_back(number);
        for at in 0..self.graph.wrong(frame).len() {
            let (violation, data) = self.graph.wrong(frame)[at];
            if self.is_possible(data, zone) {
                let end = &self.graph.table.moves[data as usize];
                return Some((violation, self.way(number, end)));
            }
        }
        None
    }

    /// Whether a move is possible.
    fn is_possible(&mut self, data: u32, zone: u32) -> bool {
        let after = self.zones.post(data, zone).unwrap_or_else(|| {
            let step = &self.graph.table.moves[data as usize];
            let after = self.after(self.zones.zone(zone), step);
            self.zones.note(data, zone, after)
        });
        after != NONE
    }

    fn after(&self, zone: &Zone, data: &Move) -> Option<Zone> {
        let rounding = Rounding::To(self.options.thresholds);
        zone.after(data, self.graph.rules.frame.octagon, rounding)
    }

    /// Takes note of what was reached together with a state of the frame.
    fn visit(&mut self, frame: u32) {
        self.reached_final |= self.graph.is_done(frame);
        let row = self.graph.table.row(frame);
        for (visited, config) in self.visited.iter_mut().zip(&row[1..]) {
            let config = *config as usize;
            if visited.len() <= config {
                visited.resize(config + 1, false);
            }
            visited[config] = true;
        }
    }

    /// The way to a state that is wrong if these facts hold.
    fn way(&self, state: u32, end: &Move) -> Way {
        let mut steps = Vec::new();
        let mut at = self.states.get(state);
        while at.parent != NONE {
            let before = self.states.get(at.parent);
            let (process, step) = self.graph.step(before.frame, at.via as usize);
            steps.push(WayStep {
                process,
                effect: step.effect,
                path: step.path.clone(),
                data: self.graph.table.moves[step.data as usize].clone(),
                after: self.graph.frozen(at.frame),
            });
            at = before;
        }
        steps.reverse();
        Way {
            initial: self.graph.frozen(at.frame),
            steps,
            end: end.constraints.clone(),
        }
    }

    fn check(&self) -> Result<(), StopReason> {
        let Options {
            limits, monitor, ..
        } = self.options;
        self.check_states()?;
        if limits.max_memory.is_some_and(|most| self.bytes() > most) {
            return Err(StopReason::MaxMemory);
        }
        monitor.report(self.states.len(), 0);
        monitor.stop(limits).map_or(Ok(()), Err)
    }

    fn check_states(&self) -> Result<(), StopReason> {
        let most = self.options.limits.max_states;
        match most.is_some_and(|most| self.states.len() > most) {
            true => Err(StopReason::MaxStates),
            false => Ok(()),
        }
    }
}
