//! The program form that everything behind the front end works on: one automaton per
//! process, shared places, store labels, fence points and properties.
//!
//! A process stands at a [`Location`] and moves along an [`Edge`]. A *fence point* is a
//! location: a fence there makes the process wait, before it takes any edge out of it,
//! until its store buffers are empty. Nothing else changes, so the fenced program's state
//! graph is the unfenced one with edges removed.

mod automaton;
mod expr;
mod fence;
mod fencing;
mod flow;
mod ids;
mod interval;
pub mod machine;
mod property;
mod shape;
mod symmetry;
pub mod value;

pub use automaton::{Edge, Instr, Local, Location, PlaceRef, Process, Update};
pub use expr::Expr;
pub use fence::{FenceKind, FencePoint, FenceSite, Side};
pub use fencing::PointSet;
pub(crate) use flow::{back_edges, loop_depths};
pub use ids::{EdgeId, Label, Loc, LocalId, PlaceId, PointId, ProcessId, PropertyId};
pub use interval::Interval;
pub use machine::{Int, MachineOp};
pub use property::{Atom, Property, PropertyKind};
pub(crate) use shape::{Merged, merge};
pub use symmetry::Exchange;
pub use value::{BinaryOp, Domain, Fault, Initial, UnaryOp, Value};

use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// A lowered program.
#[derive(Debug, Clone)]
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

#[derive(Debug, Clone)]
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
    pub(crate) fn finish(&mut self) {
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
        self.has_instr(Instr::has_computed_place)
    }

    /// Whether anything is read and written in one step.
    pub fn has_updates(&self) -> bool {
        self.has_instr(|instr| matches!(instr, Instr::Update { .. }))
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
        !self.properties.is_empty() || self.has_instr(asserts)
    }

    fn has_instr(&self, wanted: impl Fn(&Instr) -> bool) -> bool {
        let mut edges = self.processes.iter().flat_map(|process| &process.edges);
        edges.any(|edge| wanted(&edge.instr))
    }

    pub fn place_named(&self, name: &str) -> Option<PlaceId> {
        let index = self.places.iter().position(|place| place.name == name)?;
        Some(PlaceId(index as u32))
    }
}
