//! Processes that can take each other's parts.
//!
//! An [`Exchange`] of two processes maps every execution of the program to another one: the
//! two processes change their parts, and with them the places and values by which they are
//! known. Instances of a template are often told apart by such values alone: the queue locks
//! store the number of a process, use it as an index and compare it, and nothing more. Which
//! values those are is found out by [`typing`]; whether the exchange maps the program to
//! itself is then checked part by part, so that nothing rests on how it was found.

mod matching;
mod typing;

use super::{EdgeId, Instr, Label, LocalId, PlaceId, Process, ProcessId, Program, Value};
use crate::source::Span;

/// Two processes that take each other's parts, and what becomes of places and values.
#[derive(Debug, Clone)]
pub struct Exchange {
    pub processes: (ProcessId, ProcessId),
    /// By place: the place that has its part.
    places: Vec<PlaceId>,
    /// By place: what becomes of its values.
    contents: Vec<ValueMap>,
    /// By process and local: what becomes of its values.
    locals: Vec<Vec<ValueMap>>,
}

/// What becomes of values, except those that stay as they are. It is its own inverse.
type ValueMap = Vec<(Value, Value)>;

fn map(values: &ValueMap, value: Value) -> Value {
    let moved = values.iter().find(|(from, _)| *from == value);
    moved.map_or(value, |(_, to)| *to)
}

impl Exchange {
    /// Who has the part of a process afterwards.
    pub fn process(&self, process: ProcessId) -> ProcessId {
        let (one, other) = self.processes;
        match process {
            process if process == one => other,
            process if process == other => one,
            process => process,
        }
    }

    /// Which place has the part of a place afterwards.
    pub fn place(&self, place: PlaceId) -> PlaceId {
        self.places[place.index()]
    }

    /// What a value of a place becomes.
    pub fn content(&self, place: PlaceId, value: Value) -> Value {
        map(&self.contents[place.index()], value)
    }

    /// What a value of a local becomes.
    pub fn local(&self, process: ProcessId, local: LocalId, value: Value) -> Value {
        map(&self.locals[process.index()][local.index()], value)
    }

    /// Places and values stay as they are.
    pub fn renames_nothing(&self) -> bool {
        let mut maps = self.contents.iter().chain(self.locals.iter().flatten());
        let mut places = self.places.iter().enumerate();
        maps.all(|map| map.is_empty()) && places.all(|(at, place)| place.index() == at)
    }
}

impl Program {
    /// For each process, the first one with the same automaton.
    pub fn same_code(&self) -> Vec<ProcessId> {
        let bare: Vec<Process> = self.processes.iter().map(Process::bare).collect();
        self.process_ids()
            .map(|id| {
                let mut others = self.process_ids();
                let same = others.find(|other| bare[other.index()] == bare[id.index()]);
                same.expect("it is like itself")
            })
            .collect()
    }

    /// The exchanges of two processes that map the program to itself, for as many pairs as
    /// have one. `reset_dead` says whether locals that are not read any more are 0.
    pub fn exchanges(&self, reset_dead: bool) -> Vec<Exchange> {
        if self.has_computed_places() {
            return self.exchanges_of_copies();
        }
        let types = typing::Types::of(self);
        let pairs = self.process_ids().flat_map(|one| {
            let others = self.process_ids().filter(move |other| one < *other);
            others.map(move |other| (one, other))
        });
        pairs
            .filter_map(|pair| matching::exchange(self, &types, pair, reset_dead))
            .collect()
    }

    /// Exchanges of processes with the same automaton, which leave places and values as they
    /// are. No property may tell them apart.
    fn exchanges_of_copies(&self) -> Vec<Exchange> {
        if !self.properties.is_empty() {
            return Vec::new();
        }
        let copies = self.process_ids().zip(self.same_code());
        let copies = copies.filter(|(process, first)| process != first);
        let exchange = |(other, one)| Exchange {
            processes: (one, other),
            places: (0..self.places.len() as u32).map(PlaceId).collect(),
            contents: vec![ValueMap::new(); self.places.len()],
            locals: self
                .processes
                .iter()
                .map(|process| vec![ValueMap::new(); process.locals.len()])
                .collect(),
        };
        copies.map(exchange).collect()
    }
}

impl Process {
    /// The automaton without what has no influence on its steps.
    fn bare(&self) -> Process {
        let mut bare = self.clone();
        bare.name.clear();
        bare.template = 0;
        for local in &mut bare.locals {
            local.name.clear();
        }
        for location in &mut bare.locations {
            location.point = None;
        }
        for edge in &mut bare.edges {
            edge.span = Span::default();
            edge.origin = EdgeId(0);
            forget(&mut edge.instr);
        }
        bare
    }
}

fn forget(instr: &mut Instr) {
    match instr {
        Instr::Store { label, .. } => *label = Label(0),
        Instr::Atomic(body) => {
            for (instr, span) in body {
                forget(instr);
                *span = Span::default();
            }
        }
        _ => {}
    }
}
