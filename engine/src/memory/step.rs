//! The steps of one process.
//!
//! A step is one edge of the automaton, preceded by edges that may be fused with it, or
//! the flush of one pending store. Steps are found in two stages, because memory is only
//! needed for the last edge: [`Stepper::outline`] walks the automaton and says which
//! places the possible last edges read; [`Stepper::finish`] takes one of them.

use super::execute::{EdgeOutcome, eval, resolve};
use super::{Atomics, Buffers, Entry, Loaded, Memory, Order, Semantics, Stored};
use crate::limits::{StopReason, Watch};
use crate::program::{
    Domain, Edge, EdgeId, Fault, Initial, Instr, Loc, Local, PlaceId, PointId, Process, ProcessId,
    Program, Value,
};
use crate::source::Span;
use indexmap::IndexSet;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::hash::Hash;

/// What a process is doing: everything its steps depend on except memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Config {
    pub at: At,
    pub locals: Vec<Value>,
    pub buffers: Buffers,
}

impl Config {
    /// Roughly the memory that it takes, in bytes.
    pub fn bytes(&self) -> usize {
        size_of::<Config>() + size_of_val(&self.locals[..]) + self.buffers.bytes()
    }

    /// It could be one of this process: every part of it names something that there is.
    pub fn is_one_of(&self, program: &Program, process: ProcessId) -> bool {
        let automaton = program.process(process);
        let in_place = match self.at {
            At::Loc(at) => {
                at.index() < automaton.locations.len()
                    && self.locals.len() == automaton.locals.len()
            }
            At::Failed(_) => self.locals.is_empty(),
        };
        let segments = self.buffers.segments().iter();
        let mut places = segments.flat_map(|segment| {
            let heads = segment.head.iter().map(|entry| entry.place);
            let sets = segment.unordered.iter().map(|stores| stores.place);
            heads.chain(sets)
        });
        in_place && places.all(|place| place.index() < program.places.len())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum At {
    Loc(Loc),
    /// A statement has failed; the run ends here.
    Failed(Failure),
}

/// A failed statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Failure {
    pub span: Span,
    /// What went wrong; `None` for an assertion that does not hold.
    pub fault: Option<Fault>,
}

/// One step of one process.
#[derive(Debug, Clone)]
pub struct Step {
    pub effect: Effect,
    /// The edges taken; none for a flush.
    pub path: Vec<EdgeId>,
    /// The fence points passed while stores were pending.
    pub passed: Vec<PointId>,
    pub next: Config,
    pub writes: Vec<(PlaceId, Value)>,
}

/// What a step does, as traces show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Flush(Entry),
    Store(PlaceId, Value),
    /// A load, and the value it found.
    Load(PlaceId, Value),
    /// A read-modify-write, and the value it found.
    Update(PlaceId, Value),
    /// A step on locals and the value that `havoc` chose.
    Local(Option<Value>),
    Fence,
    Atomic,
}

/// The first stage of a process's steps.
#[derive(Debug, Default)]
pub struct Outline {
    /// Steps that do not read memory.
    pub fixed: Vec<Step>,
    /// Steps that read one place.
    pub reads: Vec<(PlaceId, Approach)>,
    /// Steps that may read any place.
    pub atomics: Vec<Approach>,
    /// A store had to wait for room.
    pub no_room: bool,
}

/// A way to a last edge that reads memory.
#[derive(Debug, Clone)]
pub struct Approach {
    pub path: Vec<EdgeId>,
    locals: Vec<Value>,
    passed: Vec<PointId>,
}

/// A step that has not come to its last edge yet.
struct Walk {
    at: Loc,
    locals: Vec<Value>,
    /// The edges taken, in order.
    path: Option<ListId>,
    /// The fence points passed while stores were pending, in order.
    passed: Option<ListId>,
}

/// The position of a list's last element; `None` stands for the empty list.
type ListId = usize;

/// Lists that share their beginnings. Equal lists have equal numbers.
struct Lists<T>(IndexSet<(Option<ListId>, T)>);

impl<T: Copy + Eq + Hash> Lists<T> {
    fn extend(&mut self, list: Option<ListId>, element: T) -> Option<ListId> {
        Some(self.0.insert_full((list, element)).0)
    }

    fn elements(&self, mut list: Option<ListId>) -> Vec<T> {
        let mut elements = Vec::new();
        while let Some((before, element)) = list.and_then(|id| self.0.get_index(id)) {
            elements.push(*element);
            list = *before;
        }
        elements.reverse();
        elements
    }
}

impl<T> Default for Lists<T> {
    fn default() -> Lists<T> {
        Lists(IndexSet::new())
    }
}

/// How the steps of a program's processes are taken.
pub struct Stepper<'a> {
    pub program: &'a Program,
    pub memory: Box<dyn Memory>,
    pub semantics: Semantics,
    /// Let pending stores carry the label of their instruction.
    pub labelled: bool,
    /// Tell ways apart that differ in nothing but their edges.
    pub all_ways: bool,
    /// The values that are tried where a process chooses any integer without bound.
    pub choices: Vec<Value>,
}

impl Stepper<'_> {
    /// The configurations a process may start in.
    pub fn initial(&self, process: &Process, watch: &Watch) -> Result<Vec<Config>, StopReason> {
        // An integer that may begin with anything begins with each of the choices.
        let chosen = |local: &Local| local.initial == Initial::Any && local.domain.is_unbounded();
        let values = |local: &Local| match chosen(local) {
            true => 0..=self.choices.len() as Value - 1,
            false => initial_values(local.initial, local.domain),
        };
        let values: Vec<_> = process.locals.iter().map(values).collect();
        let mut locals: Vec<Value> = values.iter().map(|values| *values.start()).collect();
        let mut configs = Vec::new();
        while values.iter().all(|values| !values.is_empty()) {
            let mut locals_now = locals.clone();
            for (value, local) in locals_now.iter_mut().zip(&process.locals) {
                *value = if chosen(local) {
                    self.choices[*value as usize]
                } else {
                    *value
                };
            }
            configs.push(self.arrive(process, process.entry, locals_now, Buffers::default()));
            watch.note(1 + locals.len(), configs.len() * config_bytes(process))?;
            let Some(at) = (0..locals.len()).rfind(|&at| locals[at] < *values[at].end()) else {
                break;
            };
            locals[at] += 1;
            for at in at + 1..locals.len() {
                locals[at] = *values[at].start();
            }
        }
        configs.sort();
        configs.dedup();
        Ok(configs)
    }

    /// All steps from a configuration, given the values in memory.
    pub fn steps(
        &self,
        process: &Process,
        config: &Config,
        memory: &dyn Fn(PlaceId) -> Value,
        watch: &Watch,
    ) -> Result<Vec<Step>, StopReason> {
        let outline = self.outline(process, config, watch)?;
        self.outlined_steps(process, config, outline, memory, watch)
    }

    /// The steps of an outline, given the values in memory.
    pub fn outlined_steps(
        &self,
        process: &Process,
        config: &Config,
        outline: Outline,
        memory: &dyn Fn(PlaceId) -> Value,
        watch: &Watch,
    ) -> Result<Vec<Step>, StopReason> {
        let mut steps = outline.fixed;
        let reads = outline.reads.into_iter().map(|(_, approach)| approach);
        for approach in reads.chain(outline.atomics) {
            steps.extend(self.finish(process, config, &approach, memory, watch)?);
        }
        Ok(steps)
    }

    /// Flushes, and all ways to a last edge.
    pub fn outline(
        &self,
        process: &Process,
        config: &Config,
        watch: &Watch,
    ) -> Result<Outline, StopReason> {
        let mut outline = Outline::default();
        let At::Loc(at) = config.at else {
            return Ok(outline);
        };
        let mut flushed = Vec::new();
        self.memory.flushes(&config.buffers, &mut flushed);
        for (entry, buffers) in flushed {
            outline.fixed.push(Step {
                effect: Effect::Flush(entry),
                path: Vec::new(),
                passed: Vec::new(),
                next: Config {
                    buffers,
                    ..config.clone()
                },
                writes: vec![(entry.place, entry.value)],
            });
        }
        let (mut paths, mut passed) = (Lists::default(), Lists::default());
        let mut seen = HashSet::new();
        let mut work = vec![Walk {
            at,
            locals: config.locals.clone(),
            path: None,
            passed: None,
        }];
        while let Some(mut walk) = work.pop() {
            let location = process.location(walk.at);
            if !config.buffers.is_empty() {
                if location.fenced {
                    continue;
                }
                if let Some(point) = location.point {
                    walk.passed = passed.extend(walk.passed, point);
                }
            }
            let way = walk.path.filter(|_| self.all_ways);
            if !seen.insert((walk.at, walk.locals.clone(), walk.passed, way)) {
                continue;
            }
            let held = seen.len() + outline.fixed.len() + outline.reads.len();
            watch.note(1 + walk.locals.len() / 16, held * config_bytes(process))?;
            for (id, edge) in process.edges_from(walk.at).rev() {
                let path = paths.extend(walk.path, id);
                if process.ends_step(edge, self.semantics.fuse) {
                    let approach = Approach {
                        path: paths.elements(path),
                        locals: walk.locals.clone(),
                        passed: passed.elements(walk.passed),
                    };
                    self.last(process, config, edge, approach, &mut outline, watch)?;
                } else if let Some(locals) = self.local_outcome(edge, &walk.locals) {
                    work.push(Walk {
                        at: edge.to,
                        locals,
                        path,
                        passed: walk.passed,
                    });
                }
            }
        }
        Ok(outline)
    }

    /// The locals after a local edge that cannot fail; `None` if a guard closes it.
    fn local_outcome(&self, edge: &Edge, locals: &[Value]) -> Option<Vec<Value>> {
        let value = |expr| eval(expr, locals).expect("a fusable edge cannot fail");
        let mut after = locals.to_vec();
        match &edge.instr {
            Instr::Assign { local, value: expr } => after[local.index()] = value(expr),
            Instr::Guard { condition, wanted } if (value(condition) != 0) != *wanted => {
                return None;
            }
            _ => {}
        }
        Some(after)
    }

    /// Sorts a last edge: finished if it needs no memory, otherwise noted with what it
    /// reads.
    fn last(
        &self,
        process: &Process,
        config: &Config,
        edge: &Edge,
        approach: Approach,
        outline: &mut Outline,
        watch: &Watch,
    ) -> Result<(), StopReason> {
        let buffers = &config.buffers;
        let needs = match &edge.instr {
            Instr::Load { .. } if buffers.delay_loads() => return Ok(()),
            Instr::Load { place, .. } => {
                let place = resolve(place, &approach.locals).ok();
                place.filter(|&place| self.memory.load(buffers, place) == Loaded::FromMemory)
            }
            Instr::Update { place, waits, .. } => match resolve(place, &approach.locals) {
                Ok(place) if *waits && !self.may_update(buffers, place) => return Ok(()),
                place => place.ok(),
            },
            Instr::Atomic(_) => {
                if buffers.is_empty() {
                    outline.atomics.push(approach);
                }
                return Ok(());
            }
            Instr::Store { place, value, .. } => {
                let place = resolve(place, &approach.locals);
                if let (Ok(place), Ok(value)) = (place, eval(value, &approach.locals)) {
                    let (label, mut after) = (None, buffers.clone());
                    let entry = Entry {
                        place,
                        value,
                        label,
                    };
                    if self.memory.store(&mut after, entry) == Stored::NoRoom {
                        outline.no_room = true;
                        return Ok(());
                    }
                }
                None
            }
            _ => None,
        };
        match needs {
            Some(place) => outline.reads.push((place, approach)),
            None => {
                let unread = |_| unreachable!("the edge reads no memory");
                let steps = self.finish(process, config, &approach, &unread, watch)?;
                outline.fixed.extend(steps);
            }
        }
        Ok(())
    }

    fn may_update(&self, buffers: &Buffers, place: PlaceId) -> bool {
        match (self.memory.order(), self.semantics.atomics) {
            (Order::Pso, Atomics::DrainPlace) => {
                !buffers.holds(place) && !buffers.delay_loads() && !buffers.delay_stores()
            }
            _ => buffers.is_empty(),
        }
    }

    /// Takes the last edge of an approach.
    pub fn finish(
        &self,
        process: &Process,
        config: &Config,
        approach: &Approach,
        memory: &dyn Fn(PlaceId) -> Value,
        watch: &Watch,
    ) -> Result<Vec<Step>, StopReason> {
        let id = *approach.path.last().expect("an approach has a last edge");
        let edge = process.edge(id);
        let before = EdgeOutcome::new(approach.locals.clone(), config.buffers.clone());
        let outcomes = self.execute(process, edge, before, memory, watch)?;
        let mut steps = Vec::with_capacity(outcomes.len());
        for outcome in outcomes {
            steps.push(Step {
                effect: outcome.effect,
                path: approach.path.clone(),
                passed: approach.passed.clone(),
                next: match outcome.failure {
                    None => self.arrive(process, edge.to, outcome.locals, outcome.buffers),
                    Some(failure) => Config {
                        at: At::Failed(failure),
                        locals: Vec::new(),
                        buffers: outcome.buffers,
                    },
                },
                writes: outcome.writes,
            });
            watch.note(1, 2 * steps.capacity() * config_bytes(process))?;
        }
        Ok(steps)
    }

    fn arrive(
        &self,
        process: &Process,
        at: Loc,
        mut locals: Vec<Value>,
        buffers: Buffers,
    ) -> Config {
        if self.semantics.reset_dead {
            for (value, live) in locals.iter_mut().zip(&process.location(at).live) {
                *value = if *live { *value } else { 0 };
            }
        }
        Config {
            at: At::Loc(at),
            locals,
            buffers,
        }
    }
}

/// Roughly the memory that a configuration of a process takes, or a step into it.
pub(super) fn config_bytes(process: &Process) -> usize {
    size_of::<Step>() + process.locals.len() * size_of::<Value>()
}

/// The values that a variable may start with.
pub fn initial_values(initial: Initial, domain: Domain) -> std::ops::RangeInclusive<Value> {
    match initial {
        Initial::Value(value) => value..=value,
        Initial::Any => domain.low..=domain.high,
    }
}
