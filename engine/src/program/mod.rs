//! The program form that everything behind the front end works on: one automaton per
//! process, shared places, store labels, fence points and properties.
//!
//! A process stands at a [`Location`] and moves along an [`Edge`]. A *fence point* is a
//! location: a fence there makes the process wait, before it takes any edge out of it,
//! until its store buffers are empty. Nothing else changes, so the fenced program's state
//! graph is the unfenced one with edges removed.

mod automaton;
mod cases;
mod expr;
mod fence;
mod fencing;
mod flow;
mod growth;
mod ids;
mod interval;
pub mod machine;
mod property;
mod shape;
mod symmetry;
pub mod value;

pub use automaton::{Edge, Instr, Local, Location, PlaceRef, Process, Update};
pub use cases::{Case, Condition, Sum, cases};
pub use expr::Expr;
pub use fence::{FenceKind, FencePoint, FenceSite, Side};
pub use fencing::PointSet;
pub use flow::{back_edges, loop_depths};
pub use ids::{EdgeId, Label, Loc, LocalId, PlaceId, PointId, ProcessId, PropertyId};
pub use interval::Interval;
pub use machine::{Int, MachineOp};
pub use property::{Atom, Property, PropertyKind};
pub use shape::{Merged, merge};
pub use symmetry::Exchange;
pub use value::{BinaryOp, Domain, Fault, Initial, UnaryOp, Value};

use crate::source::Span;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A lowered program.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Program {
    pub places: Vec<Place>,
    pub processes: Vec<Process>,
    pub points: Vec<FencePoint>,
    /// Where a fence can be typed, but control never comes: behind `stop`, for example.
    pub unreachable: Vec<FenceSite>,
    pub properties: Vec<Property>,
    /// The names of addresses, for programs with pointers.
    pub addresses: BTreeMap<Value, String>,
    /// Statements whose fences are part of what they mean, and were not typed as fences.
    pub ordered: BTreeSet<Span>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Place {
    /// As a person writes it: `turn`, `ent[1]`.
    pub name: String,
    pub domain: Domain,
    pub initial: Initial,
    /// It holds addresses.
    pub pointer: bool,
}

impl Program {
    /// Computes what the shape of the automata determines: loops, dead locals, fusing.
    pub fn finish(&mut self) {
        for process in &mut self.processes {
            flow::back_edges(process);
            flow::fusable(process);
            flow::liveness(process);
        }
    }

    pub fn process(&self, id: ProcessId) -> &Process {
        &self.processes[id.index()]
    }

    pub fn process_ids(&self) -> impl Iterator<Item = ProcessId> + use<> {
        (0..self.processes.len() as u32).map(ProcessId)
    }

    pub fn property(&self, id: PropertyId) -> &Property {
        &self.properties[id.index()]
    }

    pub fn property_ids(&self) -> impl Iterator<Item = PropertyId> + use<> {
        (0..self.properties.len() as u32).map(PropertyId)
    }

    /// Whether an address is computed anywhere.
    pub fn has_computed_places(&self) -> bool {
        self.instructions().any(Instr::has_computed_place)
    }

    /// Whether a process fails where there is no free block of memory.
    pub fn may_exhaust_heap(&self) -> bool {
        self.instructions().any(is_exhaustion)
    }

    /// The program whose processes stop where there is no free block of memory.
    pub fn stopping_without_heap(&self) -> Program {
        let mut program = self.clone();
        let edges = program.processes.iter_mut().flat_map(|p| &mut p.edges);
        for edge in edges.filter(|edge| is_exhaustion(&edge.instr)) {
            if let Instr::Assert { condition, .. } = &edge.instr {
                edge.instr = Instr::Guard {
                    condition: condition.clone(),
                    wanted: true,
                };
            }
        }
        program.finish();
        program
    }

    /// Whether memory is changed by what waits for no store.
    pub fn keeps_books(&self) -> bool {
        let books = |instr: &Instr| matches!(instr, Instr::Update { waits: false, .. });
        self.instructions().any(books)
    }

    fn instructions(&self) -> impl Iterator<Item = &Instr> {
        let edges = self.processes.iter().flat_map(|process| &process.edges);
        edges.map(|edge| &edge.instr)
    }

    /// A value of a place as a person reads it: the name of an address, or a number.
    pub fn show(&self, place: PlaceId, value: Value) -> String {
        match self.places[place.index()].pointer {
            true if value == 0 => "NULL".to_string(),
            true => match self.addresses.get(&value) {
                Some(name) => name.clone(),
                None => value.to_string(),
            },
            false => value.to_string(),
        }
    }

    /// Whether anything is read and written in one step.
    pub fn has_updates(&self) -> bool {
        let mut all = self.instructions();
        all.any(|instr| matches!(instr, Instr::Update { .. }))
    }

    /// Whether it has integers without bound.
    pub fn has_integers(&self) -> bool {
        let locals = self.processes.iter().flat_map(|process| &process.locals);
        let places = self.places.iter().map(|place| place.domain);
        let mut domains = places.chain(locals.map(|local| local.domain));
        domains.any(Domain::is_unbounded)
    }

    /// Whether a property observes an integer without bound here.
    pub fn is_integer(&self, atom: &Atom) -> bool {
        match atom {
            Atom::Place(place) | Atom::Cell { first: place, .. } => {
                self.places[place.index()].domain.is_unbounded()
            }
            Atom::Local(process, local) => {
                let locals = &self.process(*process).locals;
                locals[local.index()].domain.is_unbounded()
            }
            Atom::At(_) | Atom::TwoAt(_) => false,
        }
    }

    /// Whether it says anywhere what must hold: in a property or in an assertion.
    pub fn states_something(&self) -> bool {
        let asserts = |instr: &Instr| match instr {
            Instr::Atomic(body) => {
                let asserts = |(instr, _): &(Instr, _)| matches!(instr, Instr::Assert { .. });
                body.iter().any(asserts)
            }
            _ => matches!(instr, Instr::Assert { .. }),
        };
        !self.properties.is_empty() || self.instructions().any(asserts)
    }

    pub fn place_named(&self, name: &str) -> Option<PlaceId> {
        let index = self.places.iter().position(|place| place.name == name)?;
        Some(PlaceId(index as u32))
    }
}

/// It fails where there is no free block of memory.
fn is_exhaustion(instr: &Instr) -> bool {
    let exhausted = Some(Fault::HeapExhausted);
    matches!(instr, Instr::Assert { fault, .. } if *fault == exhausted)
}
