//! Places whose values nobody will read.
//!
//! A process *needs* a place if it may read it from memory before a store of its own to this
//! place reaches memory: some way through its code leads to a read of the place without a
//! store to it, and no store to it is pending. A place that no process needs is *dead*. States
//! that differ in the values of dead places only are bisimilar: a process needs what it reads
//! next, so their steps are the same and write the same; and if a process needs a place behind
//! a step and did not need it before, this step has written the place, because what is pending
//! leaves the buffers by being written. So the search gives dead places their initial values.
//!
//! Three kinds of places are never dead: those that a property names, those that may start
//! with several values, and all places of programs with updates that do not wait for pending
//! stores. Where states that are stuck are looked for, no place is: whether an atomic block leaves
//! memory as it is depends on places that nobody reads. What is left out of sets ([`super::hidden`]) reads nothing, so it cannot tell the
//! states apart either, and what it leads to is in the sets.
//!
//! Memory that is given other values makes other steps visible, so the sets are closed again;
//! the states that they gain are states under the new memory.

use super::Ended;
use super::moves::PlaceMask;
use super::states::{MemoryId, SetSearch};
use super::symmetry::Product;
use crate::memory::step::{At, Config};
use crate::program::{Atom, Edge, Expr, Initial, Instr, PlaceId, Process, Program, Value};
use ahash::AHashMap;

/// Which places may be dead, and what was found out about memories.
#[derive(Default)]
pub struct DeadPlaces {
    /// The places that may be dead, with their initial values.
    mortal: Vec<(PlaceId, Value)>,
    /// By memory: those that do not have their initial values.
    changed: Vec<PlaceMask>,
    /// By memory and places: the memory with the initial values of these.
    reset: AHashMap<(MemoryId, PlaceMask), MemoryId>,
}

impl DeadPlaces {
    pub fn new(program: &Program) -> DeadPlaces {
        DeadPlaces {
            mortal: mortal(program),
            ..DeadPlaces::default()
        }
    }

    /// Takes note of the next memory.
    pub fn met(&mut self, memory: &[Value]) {
        let changed = self.mortal.iter();
        let changed = changed.filter(|(place, initial)| memory[place.index()] != *initial);
        self.changed.push(bits(changed.map(|(place, _)| *place)));
    }
}

impl SetSearch<'_> {
    /// A product with the initial values of all places that are dead in it.
    pub fn without_dead(&mut self, product: Product) -> Result<Product, Ended> {
        let Product { mut sets, memory } = product;
        let changed = self.dead.changed[memory.index()];
        if changed == 0 {
            return Ok(Product { sets, memory });
        }
        let all = sets.iter().zip(self.processes());
        let needs = all.map(|(&set, process)| self.kind(process).summary(set).needs);
        let dead = changed & !needs.fold(0, |all, needs| all | needs);
        if dead == 0 {
            return Ok(Product { sets, memory });
        }
        let memory = self.reset(memory, dead);
        self.close(&mut sets, memory, dead, None)?;
        Ok(Product { sets, memory })
    }

    /// A memory with the initial values of some places.
    fn reset(&mut self, memory: MemoryId, places: PlaceMask) -> MemoryId {
        if let Some(&known) = self.dead.reset.get(&(memory, places)) {
            return known;
        }
        let mut values = self.memory(memory).to_vec();
        for &(place, initial) in &self.dead.mortal {
            if places & bit(place) != 0 {
                values[place.index()] = initial;
            }
        }
        let reset = self.memory_id(values.into());
        self.dead.reset.insert((memory, places), reset);
        self.budget.bytes += 48;
        reset
    }
}

/// The bit of a place; none for those that have none of their own.
fn bit(place: PlaceId) -> PlaceMask {
    PlaceMask::from(1u8).checked_shl(place.0).unwrap_or(0)
}

fn bits(places: impl IntoIterator<Item = PlaceId>) -> PlaceMask {
    places.into_iter().fold(0, |all, place| all | bit(place))
}

/// The places that may be dead somewhere, with their initial values.
fn mortal(program: &Program) -> Vec<(PlaceId, Value)> {
    let properties = program.properties.iter();
    let named = properties.fold(0, |all, property| all | named_in(&property.predicate));
    let places = (0..).map(PlaceId).zip(&program.places);
    let fixed = places.filter_map(|(id, place)| match place.initial {
        Initial::Value(value) => Some((id, value)),
        Initial::Any => None,
    });
    let mortal = fixed.filter(|(id, _)| bit(*id) & !named != 0);
    match program.keeps_books() {
        true => Vec::new(),
        false => mortal.collect(),
    }
}

/// The places that a predicate names, in indices as well.
fn named_in(predicate: &Expr<Atom>) -> PlaceMask {
    let mut named = 0;
    predicate.atoms(&mut |atom| match atom {
        Atom::Place(place) => named |= bit(*place),
        Atom::Cell { first, len, index } => {
            named |= bits((0..*len).map(|cell| PlaceId(first.0 + cell))) | named_in(index);
        }
        Atom::Local(..) | Atom::At(_) | Atom::TwoAt(_) => {}
    });
    named
}

/// By location: the places that a process with empty buffers needs. A backward analysis to the
/// least fixed point.
pub fn needs(process: &Process) -> Vec<PlaceMask> {
    let flows: Vec<(PlaceMask, PlaceMask)> = process.edges.iter().map(flow).collect();
    let mut needs = vec![0; process.locations.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (edge, (reads, writes)) in process.edges.iter().zip(&flows).rev() {
            let before = needs[edge.from.index()];
            let all = before | reads | needs[edge.to.index()] & !writes;
            needs[edge.from.index()] = all;
            changed |= all != before;
        }
    }
    needs
}

/// The places that an edge may read, and those that it surely stores to.
fn flow(edge: &Edge) -> (PlaceMask, PlaceMask) {
    match &edge.instr {
        Instr::Store { place, .. } => match place.places()[..] {
            [place] => (0, bit(place)),
            _ => (0, 0),
        },
        instr => (read(instr), 0),
    }
}

fn read(instr: &Instr) -> PlaceMask {
    match instr {
        Instr::Load { place, .. } | Instr::Update { place, .. } => bits(place.places()),
        Instr::Atomic(body) => body.iter().fold(0, |all, (instr, _)| all | read(instr)),
        Instr::Store { .. }
        | Instr::Pass
        | Instr::Skip
        | Instr::Assign { .. }
        | Instr::Havoc { .. }
        | Instr::Guard { .. }
        | Instr::Assert { .. }
        | Instr::Fence(_) => 0,
    }
}

/// The places that a configuration needs, by what its process needs with empty buffers.
pub fn needs_of(needs: &[PlaceMask], config: &Config) -> PlaceMask {
    let At::Loc(at) = config.at else {
        return 0;
    };
    let pending = config.buffers.segments().iter().flat_map(|segment| {
        let ordered = segment.head.iter().map(|entry| entry.place);
        ordered.chain(segment.unordered.iter().map(|stores| stores.place))
    });
    needs[at.index()] & !bits(pending)
}
