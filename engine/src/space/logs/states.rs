//! Products of the sets of all processes over one memory, and the search through them.

use super::process::{ClassSetId, ProcessLogs, SetId, ViewId};
use crate::ids::ids;
use crate::memory::Model;
use crate::memory::step::{Stepper, initial_values};
use crate::program::{Atom, Expr, ProcessId, PropertyKind, Value};
use crate::space::sets::{Budget, Change, Check, Class, Ended, Interned, Observed};
use ahash::AHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

ids!(
    /// The values of all places.
    MemoryId,
    /// A product of sets over one memory.
    StateId,
);

/// A search under way.
pub struct LogSearch<'a> {
    pub stepper: &'a Stepper<'a>,
    /// One for all processes with the same code.
    kinds: Vec<ProcessLogs<'a>>,
    /// By process.
    kind_of: Vec<usize>,
    memories: Interned<Box<[Value]>>,
    /// By memory and kind: what processes of the kind see.
    views: Vec<Box<[ViewId]>>,
    pub states: Vec<State>,
    /// By memory: the states that no other covers.
    maximal: AHashMap<MemoryId, Vec<StateId>>,
    /// The states to be expanded: the largest first, then the oldest.
    open: BinaryHeap<(u64, Reverse<StateId>)>,
    /// Processes that can take each other's parts as they are.
    identical: Vec<Vec<ProcessId>>,
    check: Check<'a>,
    /// Properties name places: a process may have run ahead of its stores.
    looks_at_memory: bool,
    /// The first violation.
    pub found: Option<Found>,
    pub budget: Budget<'a>,
    pub kept: u64,
    pub transitions: u64,
    pub depth: u64,
    pub reached_final: bool,
}

/// A product of sets over one memory.
pub struct State {
    pub memory: MemoryId,
    pub sets: Box<[SetId]>,
    /// The same with identical processes in the order of their sets.
    ordered: Box<[SetId]>,
    /// The last change; none at the start.
    pub parent: Option<Parent>,
    depth: u64,
    /// The state that covers it, if there is one.
    pub covered: Option<StateId>,
    /// What its changes lead to, or what covers that, by process and in the order of
    /// changes; complete if it was expanded and nothing covers it.
    pub next: Vec<StateId>,
}

/// Where a state came from.
#[derive(Clone)]
pub struct Parent {
    pub state: StateId,
    pub writer: ProcessId,
    pub change: Change,
}

/// A violating state, and for each process what properties see of it, if it matters.
pub type Found = (StateId, Vec<Option<Class>>);

impl<'a> LogSearch<'a> {
    pub fn new(
        stepper: &'a Stepper<'a>,
        model: Model,
        widening: usize,
        budget: Budget<'a>,
    ) -> LogSearch<'a> {
        let program = stepper.program;
        let code = program.same_code();
        let mut firsts = code.clone();
        firsts.sort();
        firsts.dedup();
        let kind_of = code.iter().map(|first| {
            let at = firsts.binary_search(first);
            at.expect("all of them are there")
        });
        let mut looks_at_memory = false;
        for property in &program.properties {
            looks_at_memory |=
                property.kind != PropertyKind::Final && names_places(&property.predicate);
        }
        LogSearch {
            stepper,
            kind_of: kind_of.collect(),
            kinds: firsts
                .iter()
                .map(|&first| ProcessLogs::new(stepper, program.process(first), model, widening))
                .collect(),
            memories: Interned::default(),
            views: Vec::new(),
            states: Vec::new(),
            maximal: AHashMap::new(),
            open: BinaryHeap::new(),
            identical: Vec::new(),
            check: Check::new(program),
            looks_at_memory,
            found: None,
            budget,
            kept: 0,
            transitions: 0,
            depth: 0,
            reached_final: false,
        }
    }

    /// From now on, states that differ in who of identical processes is who cover each other.
    /// An exchange of two processes that changes nothing else maps executions to executions
    /// and violations to violations.
    pub fn exchange_identical(&mut self) {
        let reset_dead = self.stepper.semantics.reset_dead;
        for exchange in self.stepper.program.exchanges(reset_dead) {
            let (one, other) = exchange.processes;
            if !exchange.renames_nothing() {
                continue;
            }
            let mut group = vec![one, other];
            self.identical.retain(|known| {
                let apart = !known.contains(&one) && !known.contains(&other);
                if !apart {
                    group.extend(known);
                }
                apart
            });
            group.sort();
            group.dedup();
            self.identical.push(group);
        }
    }

    /// Sets with identical processes in the order of their sets.
    fn ordered(&self, sets: &[SetId]) -> Box<[SetId]> {
        let mut ordered: Box<[SetId]> = sets.into();
        for group in &self.identical {
            let mut own: Vec<SetId> = group.iter().map(|process| sets[process.index()]).collect();
            own.sort();
            for (process, set) in group.iter().zip(own) {
                ordered[process.index()] = set;
            }
        }
        ordered
    }

    pub fn processes(&self) -> impl Iterator<Item = ProcessId> + use<> {
        (0..self.kind_of.len() as u32).map(ProcessId)
    }

    /// The sets of a process.
    pub fn kind(&self, process: ProcessId) -> &ProcessLogs<'a> {
        &self.kinds[self.kind_of[process.index()]]
    }

    pub fn kinds(&self) -> &[ProcessLogs<'a>] {
        &self.kinds
    }

    pub fn kind_number(&self, process: ProcessId) -> usize {
        self.kind_of[process.index()]
    }

    pub fn learn_kind(&mut self, kind: usize) -> (&mut ProcessLogs<'a>, &mut Budget<'a>) {
        (&mut self.kinds[kind], &mut self.budget)
    }

    /// Keeps a state that was not found here.
    pub fn keep(&mut self, memory: MemoryId, sets: Vec<SetId>) {
        self.states.push(State {
            memory,
            ordered: self.ordered(&sets),
            sets: sets.into(),
            parent: None,
            depth: 0,
            covered: None,
            next: Vec::new(),
        });
    }

    /// Distinct controls and locals of all processes.
    pub fn configurations(&self) -> usize {
        let kinds = self.kinds.iter();
        kinds.map(|kind| kind.rules.configs().len()).sum()
    }

    pub fn learn(&mut self, process: ProcessId) -> (&mut ProcessLogs<'a>, &mut Budget<'a>) {
        self.learn_kind(self.kind_of[process.index()])
    }

    pub fn state(&self, id: StateId) -> &State {
        &self.states[id.index()]
    }

    pub fn memory(&self, id: MemoryId) -> &[Value] {
        &self.memories[id.index()]
    }

    pub fn view(&self, memory: MemoryId, process: ProcessId) -> ViewId {
        self.views[memory.index()][self.kind_of[process.index()]]
    }

    /// Visits states until nothing is left to be expanded, or there is a violation.
    pub fn run(&mut self) -> Result<(), Ended> {
        self.start()?;
        while self.found.is_none()
            && let Some((_, Reverse(state))) = self.open.pop()
        {
            if self.state(state).covered.is_none() {
                self.budget.pause()?;
                self.expand(state)?;
            }
        }
        Ok(())
    }

    /// Adds the initial states, one for each memory that the program may start with.
    fn start(&mut self) -> Result<(), Ended> {
        let mut memory = self.first_memory();
        loop {
            let id = self.memory_id(memory.clone().into());
            let mut sets = Vec::new();
            for process in self.processes() {
                let view = self.view(id, process);
                let (kind, budget) = self.learn(process);
                sets.push(kind.start(view, budget)?);
            }
            self.add(id, sets, None)?;
            if self.found.is_some() || !self.next_memory(&mut memory) {
                return Ok(());
            }
        }
    }

    /// The first memory that the program may start with.
    pub fn first_memory(&self) -> Vec<Value> {
        let places = self.stepper.program.places.iter();
        let first = places.map(|place| *initial_values(place.initial, place.domain).start());
        first.collect()
    }

    /// Goes on to the next one, unless that was the last.
    pub fn next_memory(&self, memory: &mut [Value]) -> bool {
        let places = &self.stepper.program.places;
        for (value, place) in memory.iter_mut().zip(places) {
            let range = initial_values(place.initial, place.domain);
            if *value < *range.end() {
                *value += 1;
                return true;
            }
            *value = *range.start();
        }
        false
    }

    /// Takes every change that is possible in a state.
    fn expand(&mut self, id: StateId) -> Result<(), Ended> {
        let memory = self.state(id).memory;
        for writer in self.processes() {
            let set = self.state(id).sets[writer.index()];
            let view = self.view(memory, writer);
            let (kind, budget) = self.learn(writer);
            for (change, after) in kind.landings(set, view, budget)?.iter() {
                self.transitions += 1;
                let mut values = self.memories[memory.index()].clone();
                for (place, value) in change {
                    values[place.index()] = *value;
                }
                let written = self.memory_id(values);
                let mut sets = self.state(id).sets.to_vec();
                sets[writer.index()] = *after;
                for (process, set) in self.processes().zip(&mut sets) {
                    let (before, now) = (self.view(memory, process), self.view(written, process));
                    // Who sees no difference goes on as before.
                    if process != writer && before != now {
                        let (kind, budget) = self.learn(process);
                        *set = kind.observe(*set, before, now, budget)?;
                    }
                }
                let parent = Parent {
                    state: id,
                    writer,
                    change: change.clone(),
                };
                let next = self.add(written, sets, Some(parent))?;
                self.states[id.index()].next.push(next);
                // What is left to do here, a state that covers this one does as well.
                if self.state(id).covered.is_some() || self.found.is_some() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Keeps a state and judges it, unless another covers it; gives the state that is kept.
    fn add(
        &mut self,
        memory: MemoryId,
        sets: Vec<SetId>,
        parent: Option<Parent>,
    ) -> Result<StateId, Ended> {
        let known = self.maximal.get(&memory).cloned().unwrap_or_default();
        self.budget.spend(8 + 4 * known.len() as u64)?;
        let ordered = self.ordered(&sets);
        for &other in &known {
            if self.covers(&ordered, other, true) {
                return Ok(other);
            }
        }
        let id = StateId(self.states.len() as u32);
        let mut kept = Vec::new();
        for other in known {
            match self.covers(&ordered, other, false) {
                true => self.states[other.index()].covered = Some(id),
                false => kept.push(other),
            }
        }
        kept.push(id);
        self.maximal.insert(memory, kept);
        let depth = parent
            .as_ref()
            .map_or(0, |parent| self.state(parent.state).depth + 1);
        self.budget.bytes += (size_of::<State>() + 8 * sets.len() + 64) as u64;
        self.budget.check_states(self.kept + 1)?;
        self.kept += 1;
        self.depth = self.depth.max(depth);
        self.budget.report(self.kept, self.depth);
        let size = self.processes().zip(&sets);
        let size = size.map(|(process, &set)| u64::from(self.kind(process).summary(set).len));
        self.open.push((size.sum(), Reverse(id)));
        self.states.push(State {
            memory,
            ordered,
            sets: sets.into(),
            parent,
            depth,
            covered: None,
            next: Vec::new(),
        });
        self.judge(id)?;
        Ok(id)
    }

    /// Whether ordered sets are within those of another state, or the other way round.
    fn covers(&mut self, sets: &[SetId], other: StateId, within: bool) -> bool {
        self.processes().zip(sets).all(|(process, &own)| {
            let theirs = self.state(other).ordered[process.index()];
            let (kind, _) = self.learn(process);
            match within {
                true => kind.is_within(own, theirs),
                false => kind.is_within(theirs, own),
            }
        })
    }

    pub fn judge(&mut self, id: StateId) -> Result<(), Ended> {
        let mut classes = Vec::new();
        for process in self.processes() {
            let set = self.state(id).sets[process.index()];
            let view = self.view(self.state(id).memory, process);
            let ahead = self.looks_at_memory;
            let (kind, budget) = self.learn(process);
            classes.push(match ahead {
                true => kind.ahead(set, view, budget)?,
                false => kind.summary(set).classes,
            });
        }
        let mut both = self.processes().zip(&*self.state(id).sets);
        let done = both.all(|(process, &set)| self.kind(process).summary(set).done);
        self.reached_final |= done;
        let mut check = std::mem::take(&mut self.check);
        let one = OneState {
            search: self,
            state: id,
            classes: &classes,
        };
        let found = check.violation(&one, done)?;
        self.check = check;
        self.found = found.map(|classes| (id, classes));
        Ok(())
    }

    pub fn memory_id(&mut self, memory: Box<[Value]>) -> MemoryId {
        let (id, new) = self.memories.insert_full(memory);
        if new {
            let memory = &self.memories[id];
            let views = self.kinds.iter_mut().map(|kind| kind.view(memory));
            self.views.push(views.collect());
            self.budget.bytes += 96 + 4 * (memory.len() + self.kinds.len()) as u64;
        }
        MemoryId(id as u32)
    }
}

/// A state of a search as properties see it.
struct OneState<'s, 'a> {
    search: &'s LogSearch<'a>,
    state: StateId,
    classes: &'s [ClassSetId],
}

impl Observed for OneState<'_, '_> {
    fn width(&self) -> usize {
        self.classes.len()
    }

    fn memory(&self) -> &[Value] {
        self.search.memory(self.search.state(self.state).memory)
    }

    fn classes(&self, process: ProcessId) -> impl Iterator<Item = &Class> {
        let classes = self.classes[process.index()];
        self.search.kind(process).classes(classes).iter()
    }

    fn class_set(&self, process: ProcessId) -> u32 {
        self.classes[process.index()].0
    }

    fn has_failed(&self, process: ProcessId) -> bool {
        let set = self.search.state(self.state).sets[process.index()];
        self.search.kind(process).summary(set).failed
    }
}

fn names_places(predicate: &Expr<Atom>) -> bool {
    let mut found = false;
    predicate.atoms(&mut |atom| found |= matches!(atom, Atom::Place(_) | Atom::Cell { .. }));
    found
}
