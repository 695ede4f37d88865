//! The program form that everything behind the front end works on: one automaton per
//! process, shared places, store labels, fence points and properties.
//!
//! A process stands at a [`Location`] and moves along an [`Edge`]. A *fence point* is a
//! location: a fence there makes the process wait, before it takes any edge out of it,
//! until its store buffers are empty. Nothing else changes, so the fenced program's state
//! graph is the unfenced one with edges removed.

mod expr;
mod fence;
mod flow;
mod shape;
pub mod value;

pub use expr::Expr;
pub use fence::{FenceKind, FenceSite, Side};
pub(crate) use flow::{back_edges, loop_depths};
pub(crate) use shape::merge;
pub use value::{BinaryOp, Domain, Fault, Initial, UnaryOp, Value};

use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids!(
    /// A shared place: a scalar or one cell of an array.
    PlaceId,
    ProcessId,
    /// A local variable of one process.
    LocalId,
    /// A control position of one process.
    Loc,
    /// An edge of one process's automaton.
    EdgeId,
    /// A fence point of the program.
    PointId,
    /// A store instruction of one process.
    Label
);

/// A lowered program.
#[derive(Debug, Clone)]
pub struct Program {
    pub places: Vec<Place>,
    pub processes: Vec<Process>,
    pub points: Vec<FencePoint>,
    pub properties: Vec<Property>,
}

#[derive(Debug, Clone)]
pub struct Place {
    /// As a person writes it: `turn`, `ent[1]`.
    pub name: String,
    pub domain: Domain,
    pub initial: Initial,
}

/// One process: its locals and its automaton.
#[derive(Debug, Clone)]
pub struct Process {
    /// As a person writes it: `p`, `p[0]`.
    pub name: String,
    /// The template it is an instance of, counted in source order.
    pub template: usize,
    pub locals: Vec<Local>,
    pub locations: Vec<Location>,
    pub edges: Vec<Edge>,
    pub entry: Loc,
    /// Where the process stands when it has stopped; no edge leaves it.
    pub exit: Loc,
}

#[derive(Debug, Clone)]
pub struct Local {
    pub name: String,
    pub domain: Domain,
    pub initial: Initial,
    /// A property names it: it is live everywhere, and no step hides a change of it.
    pub visible: bool,
}

/// A control position.
#[derive(Debug, Clone, Default)]
pub struct Location {
    /// The edges out of it, in source order.
    pub out: Vec<EdgeId>,
    /// The fence point it is, if it is one.
    pub point: Option<PointId>,
    /// A full fence stands here: the process leaves only with empty buffers.
    pub fenced: bool,
    /// A property names a label of it.
    pub visible: bool,
    /// Locals whose value may still be read; the others are reset on arrival.
    pub live: Vec<bool>,
}

#[derive(Debug, Clone)]
pub struct Edge {
    pub from: Loc,
    pub to: Loc,
    pub instr: Instr,
    /// The statement it belongs to.
    pub span: Span,
    /// In a fenced program, the edge of the whole program that it comes from.
    pub origin: EdgeId,
    /// It closes a loop.
    pub back: bool,
    /// It may run together with the edge after it as one step: it touches neither memory
    /// nor anything that a property sees, cannot fail and closes no loop.
    pub fusable: bool,
}

/// What an edge does.
#[derive(Debug, Clone)]
pub enum Instr {
    /// Nothing: the textual order of statements, a jump, the choice of a branch.
    Pass,
    Skip,
    Assign {
        local: LocalId,
        value: Expr<LocalId>,
    },
    /// Any value from the first expression to the second.
    Havoc {
        local: LocalId,
        low: Expr<LocalId>,
        high: Expr<LocalId>,
    },
    /// The edge can be taken only if the condition is true (or false, if not `wanted`).
    Guard {
        condition: Expr<LocalId>,
        wanted: bool,
    },
    Assert(Expr<LocalId>),
    Store {
        place: PlaceRef,
        value: Expr<LocalId>,
        label: Label,
    },
    Load {
        local: LocalId,
        place: PlaceRef,
    },
    /// A read-modify-write, directly on memory.
    Update {
        local: LocalId,
        place: PlaceRef,
        op: Update,
    },
    Fence(FenceKind),
    /// Straight-line instructions, directly on memory as one step.
    Atomic(Vec<(Instr, Span)>),
}

/// What a read-modify-write does to its place, and what it leaves in its local.
#[derive(Debug, Clone)]
pub enum Update {
    /// Compare and swap; leaves whether it succeeded.
    Cas {
        expected: Expr<LocalId>,
        new: Expr<LocalId>,
    },
    /// Leaves the old value.
    Swap(Expr<LocalId>),
    /// Leaves the old value.
    Add(Expr<LocalId>),
}

/// A scalar, or a cell of an array whose index is computed from locals.
#[derive(Debug, Clone)]
pub struct PlaceRef {
    /// The scalar, or cell 0.
    pub first: PlaceId,
    /// For an array: the number of cells and the index.
    pub cell: Option<(u32, Expr<LocalId>)>,
}

/// A control position at which `fence;` can be typed, in every instance of its template.
#[derive(Debug, Clone)]
pub struct FencePoint {
    pub template: usize,
    /// The one process it belongs to, if points are not shared by instances.
    pub process: Option<String>,
    /// Every place in the text that means this position, the one to show first.
    pub sites: Vec<FenceSite>,
    /// The number of loops around it.
    pub depth: u32,
}

/// What must never happen.
#[derive(Debug, Clone)]
pub struct Property {
    pub kind: PropertyKind,
    /// The predicate as written (for `mutex`: that two processes are at the label).
    pub predicate: Expr<Atom>,
    pub span: Span,
    /// The labels it names: (label, the places it stands at, the span of the name).
    pub labels: Vec<(String, Vec<(ProcessId, Loc)>)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PropertyKind {
    Mutex,
    Forbid,
    Invariant,
    Final,
}

/// What a property can observe.
#[derive(Debug, Clone)]
pub enum Atom {
    /// The value of a place in memory.
    Place(PlaceId),
    /// The value of an array cell in memory.
    Cell {
        first: PlaceId,
        len: u32,
        index: Box<Expr<Atom>>,
    },
    Local(ProcessId, LocalId),
    /// Some process is at one of these positions.
    At(Vec<(ProcessId, Loc)>),
    /// Two different processes are at positions of this list.
    Crowd(Vec<(ProcessId, Loc)>),
}

/// Which fence points of a program carry a fence.
pub type PointSet = BTreeSet<PointId>;

impl Program {
    /// The program with full fences at `fences` and no other fence points: positions that
    /// only served to tell points apart are gone, which makes the state space smaller.
    pub fn fenced(&self, fences: &PointSet) -> Program {
        let mut program = self.with_points(fences);
        for process in &mut program.processes {
            for location in &mut process.locations {
                location.fenced = location.point.is_some();
            }
        }
        program
    }

    /// The program with fences of these kinds and no other fence points. A fence that is
    /// not full is a step of its own, taken where the point is.
    pub fn fenced_by(&self, fences: &BTreeMap<PointId, FenceKind>) -> Program {
        let mut program = self.with_points(&fences.keys().copied().collect());
        for process in &mut program.processes {
            for at in 0..process.locations.len() {
                let point = process.locations[at].point;
                match point.and_then(|point| fences.get(&point)) {
                    None => {}
                    Some(FenceKind::Full) => process.locations[at].fenced = true,
                    Some(kind) => process.insert(Loc(at as u32), Instr::Fence(*kind)),
                }
            }
        }
        program.finish();
        program
    }

    /// The fences in its text.
    pub fn own_fences(&self) -> BTreeMap<Span, FenceKind> {
        let edges = self.processes.iter().flat_map(|process| &process.edges);
        let fences = edges.filter_map(|edge| match edge.instr {
            Instr::Fence(kind) => Some((edge.span, kind)),
            _ => None,
        });
        fences.collect()
    }

    /// The program without some of the fences in its text.
    pub fn without_fences(&self, removed: &BTreeSet<Span>) -> Program {
        let mut program = self.clone();
        let edges = program.processes.iter_mut().flat_map(|p| &mut p.edges);
        for edge in edges {
            if matches!(edge.instr, Instr::Fence(_)) && removed.contains(&edge.span) {
                edge.instr = Instr::Pass;
            }
        }
        program.finish();
        program
    }

    /// The program with these fence points, none of which carries a fence, and no others.
    pub fn with_points(&self, points: &PointSet) -> Program {
        let mut program = self.clone();
        for id in 0..program.processes.len() {
            for (index, edge) in program.processes[id].edges.iter_mut().enumerate() {
                edge.origin = EdgeId(index as u32);
            }
            let moved =
                shape::contract(&mut program.processes[id], |point| points.contains(&point));
            program.relocate(ProcessId(id as u32), &moved);
        }
        program.finish();
        program
    }

    /// The program with fence points of their own for every process, where normally the
    /// instances of a template share them.
    pub fn per_process(&self) -> Program {
        let mut program = self.clone();
        program.points.clear();
        for process in &mut program.processes {
            for location in &mut process.locations {
                if let Some(shared) = location.point {
                    location.point = Some(PointId(program.points.len() as u32));
                    program.points.push(FencePoint {
                        process: Some(process.name.clone()),
                        ..self.points[shared.index()].clone()
                    });
                }
            }
        }
        program
    }

    /// Follows the locations of one process to their new numbers in all properties.
    fn relocate(&mut self, process: ProcessId, moved: &[Loc]) {
        let follow = |positions: &mut Vec<(ProcessId, Loc)>| {
            for (owner, at) in positions {
                if *owner == process {
                    *at = moved[at.index()];
                }
            }
        };
        for property in &mut self.properties {
            property.labels.iter_mut().for_each(|(_, at)| follow(at));
            property.predicate.for_each_atom(&mut |atom| match atom {
                Atom::At(positions) | Atom::Crowd(positions) => follow(positions),
                _ => {}
            });
        }
    }

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

    pub fn place_named(&self, name: &str) -> Option<PlaceId> {
        let index = self.places.iter().position(|place| place.name == name)?;
        Some(PlaceId(index as u32))
    }
}

impl Property {
    /// Whether it is at most violated when a process arrives at a label, never when it is
    /// not there yet.
    pub fn heeds_presence_only(&self) -> bool {
        let bad = matches!(self.kind, PropertyKind::Mutex | PropertyKind::Forbid);
        grows(&self.predicate, bad)
    }
}

/// Whether a predicate that is false can become true (or a true one false, if not `wanted`)
/// only by processes being somewhere, not by their being elsewhere.
fn grows(predicate: &Expr<Atom>, wanted: bool) -> bool {
    match predicate {
        Expr::Atom(Atom::At(_) | Atom::Crowd(_)) => wanted,
        Expr::Unary(UnaryOp::Not, operand) => grows(operand, !wanted),
        Expr::Binary(BinaryOp::And | BinaryOp::Or, left, right) => {
            grows(left, wanted) && grows(right, wanted)
        }
        other => {
            let mut blind = true;
            other.atoms(&mut |atom| {
                blind &= match atom {
                    Atom::At(_) | Atom::Crowd(_) => false,
                    // An index that depends on positions does so in both ways.
                    Atom::Cell { index, .. } => grows(index, true) && grows(index, false),
                    Atom::Place(_) | Atom::Local(..) => true,
                };
            });
            blind
        }
    }
}

impl Process {
    /// Puts an instruction before everything that can be done at a location.
    fn insert(&mut self, at: Loc, instr: Instr) {
        let behind = Loc(self.locations.len() as u32);
        let out = std::mem::take(&mut self.locations[at.index()].out);
        let Some(next) = out.first().map(|&id| self.edge(id).clone()) else {
            // Nothing follows, so nothing can be said about its order.
            return;
        };
        for id in &out {
            self.edges[id.index()].from = behind;
        }
        self.locations.push(Location {
            out,
            ..Location::default()
        });
        let id = EdgeId(self.edges.len() as u32);
        self.locations[at.index()].out.push(id);
        self.edges.push(Edge {
            from: at,
            to: behind,
            instr,
            ..next
        });
    }

    pub fn location(&self, at: Loc) -> &Location {
        &self.locations[at.index()]
    }

    pub fn edge(&self, id: EdgeId) -> &Edge {
        &self.edges[id.index()]
    }

    /// The edges out of a location, in source order.
    pub fn edges_from(&self, at: Loc) -> impl Iterator<Item = (EdgeId, &Edge)> {
        let out = self.locations[at.index()].out.iter();
        out.map(|&id| (id, &self.edges[id.index()]))
    }
}

impl Instr {
    /// It reads or writes shared memory or waits for store buffers.
    pub fn touches_memory(&self) -> bool {
        match self {
            Instr::Pass
            | Instr::Skip
            | Instr::Assign { .. }
            | Instr::Havoc { .. }
            | Instr::Guard { .. }
            | Instr::Assert(_) => false,
            Instr::Store { .. }
            | Instr::Load { .. }
            | Instr::Update { .. }
            | Instr::Fence(_)
            | Instr::Atomic(_) => true,
        }
    }
}

impl fmt::Display for PropertyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PropertyKind::Mutex => "mutex",
            PropertyKind::Forbid => "forbid",
            PropertyKind::Invariant => "invariant",
            PropertyKind::Final => "final",
        })
    }
}
