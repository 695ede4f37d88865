//! The search: states of the frame, each with a zone.
//!
//! A state is covered by one with the same frame and a larger zone: whatever goes wrong behind
//! it goes wrong behind the other. Only states that nothing covers are expanded. Numbers of
//! zones and moves depend on the order of discovery; nothing is sorted or chosen by them.

use super::judge::Judge;
use super::matrix::{Fact, Matrix};
use super::rules::Rules;
use super::start::start;
use super::zone::{Move, Rounding, Thresholds, Zone};
use crate::limits::{Limits, Monitor, StopReason, Watch};
use crate::memory::step::{At, Config, Effect};
use crate::program::{EdgeId, PlaceId, ProcessId, Program, Value};
use crate::property::Violation;
use crate::space::{Coverage, Statistics};
use ahash::{AHashMap, AHashSet, RandomState};
use indexmap::{IndexMap, IndexSet};
use std::collections::VecDeque;
use std::sync::Arc;

/// Things that have numbers, in the order in which they were met.
type Interned<T> = IndexSet<T, RandomState>;

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

/// A state of the frame.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Frozen {
    pub memory: Vec<Value>,
    pub configs: Vec<Arc<Config>>,
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
    pub limits: &'a Limits,
    pub monitor: &'a Monitor,
}

/// A search under way.
pub struct Explorer<'a, 'o> {
    rules: Rules<'a>,
    judge: Judge<'a>,
    options: Options<'o>,
    zones: Interned<Zone>,
    /// By zone: its mask.
    masks: Vec<u128>,
    /// A zone and its closed matrix: the moves of one state begin with the same.
    closed: Option<(usize, Matrix)>,
    moves: Interned<Arc<Move>>,
    /// The zone after a move; none if that is empty.
    posts: AHashMap<(usize, usize), Option<usize>>,
    /// Per process.
    configs: Vec<Interned<Arc<Config>>>,
    memories: Interned<Vec<Value>>,
    /// By the numbers of the memory and of the configurations.
    frames: IndexMap<Box<[u32]>, FrameState, RandomState>,
    transitions: AHashMap<(usize, u32, u32), Arc<[Transition]>>,
    states: Vec<State>,
    queue: VecDeque<usize>,
    taken: u64,
    bytes: u64,
    /// The positions that a process was at.
    visited: AHashSet<(ProcessId, crate::program::Loc)>,
    reached_final: bool,
}

/// A state of the frame and its zones.
struct FrameState {
    /// What may be wrong with it, and which facts about integers make it so.
    wrong: Vec<(Violation, usize)>,
    /// The states that nothing covers.
    states: Vec<usize>,
}

struct State {
    frame: usize,
    zone: usize,
    parent: Option<(usize, ProcessId, usize)>,
    covered: bool,
}

/// A step of one process, given memory.
struct Transition {
    effect: Effect,
    path: Arc<[EdgeId]>,
    next: u32,
    writes: Vec<(PlaceId, Value)>,
    data: usize,
}

impl<'a, 'o> Explorer<'a, 'o> {
    pub fn new(program: &'a Program, rules: Rules<'a>, options: Options<'o>) -> Explorer<'a, 'o> {
        Explorer {
            judge: Judge::new(program),
            configs: vec![Interned::default(); program.processes.len()],
            rules,
            options,
            zones: Interned::default(),
            masks: Vec::new(),
            closed: None,
            moves: Interned::default(),
            posts: AHashMap::new(),
            memories: Interned::default(),
            frames: IndexMap::default(),
            transitions: AHashMap::new(),
            states: Vec::new(),
            queue: VecDeque::new(),
            taken: 0,
            bytes: 0,
            visited: AHashSet::new(),
            reached_final: false,
        }
    }

    /// The rules, whose homes the moves of a way refer to.
    pub fn into_rules(self) -> Rules<'a> {
        self.rules
    }

    pub fn explore(&mut self) -> Found {
        match self.run() {
            Ok(None) => Found::Exhausted,
            Ok(Some((violation, way))) => Found::Violation(violation, way),
            Err(reason) => Found::Limit(reason),
        }
    }

    pub fn statistics(&self) -> Statistics {
        Statistics {
            states: self.states.len() as u64,
            transitions: self.taken,
            depth: None,
            configurations: self.configs.iter().map(IndexSet::len).sum(),
            table_bytes: self.bytes,
            bytes: self.bytes,
        }
    }

    pub fn coverage(&self) -> Coverage {
        let properties = &self.rules.frame.program.properties;
        let unreached = properties.iter().map(|property| {
            let labels = property.labels.iter();
            let reached = |at: &[_]| at.iter().any(|position| self.visited.contains(position));
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
        for initial in self.initial()? {
            let zone = start(&mut self.rules, self.judge.program, rounding);
            let frame = self.frame(&initial);
            let zone = self.zone(zone);
            if let Some(found) = self.arrive(frame, zone, None) {
                return Ok(Some(found));
            }
        }
        while let Some(at) = self.queue.pop_front() {
            if self.states[at].covered {
                continue;
            }
            self.check()?;
            if let Some(found) = self.expand(at)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The states of the frame to start from.
    fn initial(&mut self) -> Result<Vec<Frozen>, StopReason> {
        let program = &self.rules.frame.program;
        let watch = Watch::never();
        let mut all = vec![Frozen {
            memory: Vec::new(),
            configs: Vec::new(),
        }];
        for place in &program.places {
            let values = crate::memory::step::initial_values(place.initial, place.domain);
            all = with_each(all, values, |state, value| state.memory.push(value));
        }
        for process in &program.processes {
            let configs = self.rules.stepper.initial(process, &watch)?;
            let configs = configs.into_iter().map(Arc::new);
            let configs: Vec<Arc<Config>> = configs.collect();
            all = with_each(all, configs, |state, config| state.configs.push(config));
        }
        Ok(all)
    }

    /// The number of a state of the frame.
    fn frame(&mut self, state: &Frozen) -> usize {
        let memory = self.memories.insert_full(state.memory.clone()).0 as u32;
        let mut key = vec![memory];
        for (configs, config) in self.configs.iter_mut().zip(&state.configs) {
            key.push(configs.insert_full(config.clone()).0 as u32);
        }
        self.frame_of(key.into())
    }

    fn frame_of(&mut self, key: Box<[u32]>) -> usize {
        if let Some(known) = self.frames.get_index_of(&key) {
            return known;
        }
        let state = self.frozen(&key);
        let wrong = self.judge.wrong(&mut self.rules, &state);
        let wrong = wrong.into_iter().map(|(violation, constraints)| {
            let data = Move {
                constraints,
                ..Move::default()
            };
            (violation, self.moves.insert_full(Arc::new(data)).0)
        });
        let wrong = wrong.collect();
        self.reached_final |= self.judge.all_done(&state);
        for (id, config) in state.configs.iter().enumerate() {
            if let At::Loc(at) = config.at {
                self.visited.insert((ProcessId(id as u32), at));
            }
        }
        self.bytes += (key.len() * 4 + size_of::<FrameState>() + 64) as u64;
        let states = Vec::new();
        self.frames.insert_full(key, FrameState { wrong, states }).0
    }

    fn frozen(&self, key: &[u32]) -> Frozen {
        let configs = self.configs.iter().zip(&key[1..]);
        Frozen {
            memory: self.memories[key[0] as usize].clone(),
            configs: configs.map(|(all, id)| all[*id as usize].clone()).collect(),
        }
    }

    /// Takes note of a state, unless one that is known covers it; says so if it is wrong.
    fn arrive(
        &mut self,
        frame: usize,
        mut zone: usize,
        parent: Option<(usize, ProcessId, usize)>,
    ) -> Option<(Violation, Way)> {
        let known = &self.frames[frame].states;
        if (known.iter()).any(|&state| self.covers(self.states[state].zone, zone)) {
            return None;
        }
        if let (true, Some(&first)) = (self.options.join, known.first()) {
            let old = &self.zones[self.states[first].zone];
            let octagon = self.rules.frame.octagon;
            let rounding = Rounding::To(self.options.thresholds);
            let joined = self.zones[zone].join(old);
            let joined = joined.after(&Move::default(), octagon, rounding);
            let joined = joined.expect("what holds two zones is not empty");
            zone = self.zone(joined);
        }
        let id = self.states.len();
        let mut here = std::mem::take(&mut self.frames[frame].states);
        here.retain(|&other| {
            let covered = self.covers(zone, self.states[other].zone);
            self.states[other].covered = covered;
            !covered
        });
        here.push(id);
        self.frames[frame].states = here;
        self.states.push(State {
            frame,
            zone,
            parent,
            covered: false,
        });
        self.bytes += (size_of::<State>() + 16) as u64;
        self.queue.push_back(id);
        let wrong = self.frames[frame].wrong.clone();
        for (violation, data) in wrong {
            if self.post(data, zone).is_some() {
                return Some((violation, self.way(id, data)));
            }
        }
        None
    }

    fn expand(&mut self, at: usize) -> Result<Option<(Violation, Way)>, StopReason> {
        let State { frame, zone, .. } = self.states[at];
        let key: Box<[u32]> = self.frames.get_index(frame).expect("it is there").0.clone();
        for process in self.judge.program.process_ids() {
            let transitions = self.transitions(process, key[1 + process.index()], key[0])?;
            for (index, transition) in transitions.iter().enumerate() {
                self.taken += 1;
                let Some(zone) = self.post(transition.data, zone) else {
                    continue;
                };
                let mut next = key.clone();
                next[1 + process.index()] = transition.next;
                if !transition.writes.is_empty() {
                    let mut memory = self.memories[key[0] as usize].clone();
                    for (place, value) in &transition.writes {
                        memory[place.index()] = *value;
                    }
                    next[0] = self.memories.insert_full(memory).0 as u32;
                }
                let frame = self.frame_of(next);
                let found = self.arrive(frame, zone, Some((at, process, index)));
                if found.is_some() {
                    return Ok(found);
                }
            }
        }
        Ok(None)
    }

    /// The number of a zone.
    fn zone(&mut self, zone: Zone) -> usize {
        let (size, mask) = (zone.0.len() * size_of::<Fact>() + 96, zone.mask());
        let (id, new) = self.zones.insert_full(zone);
        if new {
            self.masks.push(mask);
            self.bytes += size as u64;
        }
        id
    }

    /// Whether one zone covers another.
    fn covers(&self, larger: usize, smaller: usize) -> bool {
        larger == smaller
            || self.masks[larger] & !self.masks[smaller] == 0
                && self.zones[larger].covers(&self.zones[smaller])
    }

    /// The zone after a move.
    fn post(&mut self, data: usize, zone: usize) -> Option<usize> {
        if let Some(known) = self.posts.get(&(data, zone)) {
            return *known;
        }
        let rounding = Rounding::To(self.options.thresholds);
        let before = match self.closed.take() {
            Some((known, matrix)) if known == zone => matrix,
            _ => self.zones[zone].matrix(self.rules.frame.octagon),
        };
        let after = self.moves[data].post(&before, rounding);
        self.closed = Some((zone, before));
        let after = after.map(|after| self.zone(after));
        self.bytes += 48;
        self.posts.insert((data, zone), after);
        after
    }

    /// What a process can do.
    fn transitions(
        &mut self,
        process: ProcessId,
        config: u32,
        memory: u32,
    ) -> Result<Arc<[Transition]>, StopReason> {
        let key = (process.index(), config, memory);
        if let Some(known) = self.transitions.get(&key) {
            return Ok(known.clone());
        }
        let config = self.configs[process.index()][config as usize].clone();
        let values = &self.memories[memory as usize];
        let (limits, monitor) = (self.options.limits, self.options.monitor);
        let held = self.bytes;
        let check = |more: usize| match limits.max_memory {
            Some(most) if held + more as u64 > most => Err(StopReason::MaxMemory),
            _ => monitor.stop(limits).map_or(Ok(()), Err),
        };
        let watch = Watch::new(&check);
        let value = |place: PlaceId| values[place.index()];
        let ruled = self.rules.steps(process, &config, &value, &watch)?;
        let configs = &mut self.configs[process.index()];
        let moves = &mut self.moves;
        let transitions: Arc<[Transition]> = ruled
            .into_iter()
            .map(|ruled| Transition {
                effect: ruled.step.effect,
                path: ruled.step.path.into(),
                next: configs.insert_full(Arc::new(ruled.step.next)).0 as u32,
                writes: ruled.step.writes,
                data: moves.insert_full(Arc::new(ruled.data)).0,
            })
            .collect();
        self.bytes += (transitions.len() * size_of::<Transition>() + 64) as u64;
        self.transitions.insert(key, transitions.clone());
        Ok(transitions)
    }

    /// The way to a state that is wrong if these facts hold.
    fn way(&self, state: usize, end: usize) -> Way {
        let mut steps = Vec::new();
        let mut at = state;
        while let Some((before, process, index)) = self.states[at].parent {
            let key = |state: usize| {
                let frame = self.frames.get_index(self.states[state].frame);
                frame.expect("it is there").0
            };
            let known = (
                process.index(),
                key(before)[1 + process.index()],
                key(before)[0],
            );
            let transition = &self.transitions[&known][index];
            steps.push(WayStep {
                process,
                effect: transition.effect,
                path: transition.path.clone(),
                data: self.moves[transition.data].clone(),
                after: self.frozen(key(at)),
            });
            at = before;
        }
        steps.reverse();
        let first = self.frames.get_index(self.states[at].frame);
        Way {
            initial: self.frozen(first.expect("it is there").0),
            steps,
            end: self.moves[end].constraints.clone(),
        }
    }

    fn check(&self) -> Result<(), StopReason> {
        let Options {
            limits, monitor, ..
        } = self.options;
        let states = self.states.len() as u64;
        if limits.max_states.is_some_and(|most| states > most) {
            return Err(StopReason::MaxStates);
        }
        if limits.max_memory.is_some_and(|most| self.bytes > most) {
            return Err(StopReason::MaxMemory);
        }
        if states.is_multiple_of(64) || self.queue.len().is_multiple_of(64) {
            monitor.report(states, 0);
            monitor.stop(limits).map_or(Ok(()), Err)?;
        }
        Ok(())
    }
}

/// Each of the states with each of the values.
fn with_each<T: Clone>(
    states: Vec<Frozen>,
    values: impl IntoIterator<Item = T>,
    add: impl Fn(&mut Frozen, T),
) -> Vec<Frozen> {
    let values: Vec<T> = values.into_iter().collect();
    let mut all = Vec::new();
    for state in states {
        for value in &values {
            let mut state = state.clone();
            add(&mut state, value.clone());
            all.push(state);
        }
    }
    all
}
