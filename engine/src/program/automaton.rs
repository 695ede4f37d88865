//! The automaton of one process: control positions, and edges that carry instructions.

use super::{
    BinaryOp, Domain, EdgeId, Expr, Fault, FenceKind, Initial, Label, Loc, LocalId, PlaceId,
    PointId, Value,
};
use crate::source::Span;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One process: its locals and its automaton.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Local {
    pub name: String,
    pub domain: Domain,
    pub initial: Initial,
    /// A property names it: it is live everywhere, and no step hides a change of it.
    pub visible: bool,
}

impl Local {
    /// It has no name in the text.
    pub fn is_temporary(&self) -> bool {
        self.name.starts_with('%')
    }
}

/// A control position.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Fails unless the condition is true, by a fault where there is one.
    Assert {
        condition: Expr<LocalId>,
        fault: Option<Fault>,
    },
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
        /// It waits for pending stores, as the memory model has it. What does not is no
        /// instruction of a machine, but the bookkeeping of a language.
        waits: bool,
    },
    Fence(FenceKind),
    /// Straight-line instructions, directly on memory as one step.
    Atomic(Vec<(Instr, Span)>),
}

/// What a read-modify-write does to its place, and what it leaves in its local.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Update {
    /// Compare and swap; leaves whether it succeeded.
    Cas {
        expected: Expr<LocalId>,
        new: Expr<LocalId>,
    },
    /// Compare and swap; leaves the old value.
    CasOld {
        expected: Expr<LocalId>,
        new: Expr<LocalId>,
    },
    /// Leaves the old value.
    Swap(Expr<LocalId>),
    /// The old value and the operand, combined; leaves the old value.
    Apply(BinaryOp, Expr<LocalId>),
}

/// Which place an instruction accesses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlaceRef {
    Scalar(PlaceId),
    /// A cell of an array whose index is computed from locals.
    Cell {
        /// Cell 0.
        first: PlaceId,
        len: u32,
        index: Expr<LocalId>,
    },
    /// A place whose address is computed from locals.
    Computed {
        address: Expr<LocalId>,
        /// The places it may be, by address, in order.
        targets: Arc<[(Value, PlaceId)]>,
    },
}

impl PlaceRef {
    /// All places that it can mean: one for an index that is a constant, or none if there is no
    /// such cell.
    pub fn places(&self) -> Vec<PlaceId> {
        match self {
            PlaceRef::Scalar(place) => vec![*place],
            PlaceRef::Cell { first, len, index } => {
                let constant = index.constant();
                let is_meant = |at: &u32| constant.is_none_or(|it| it == Value::from(*at));
                let cells = (0..*len).filter(is_meant);
                cells.map(|at| PlaceId(first.0 + at)).collect()
            }
            PlaceRef::Computed { targets, .. } => targets.iter().map(|(_, place)| *place).collect(),
        }
    }

    /// What it is computed from: an index or an address.
    pub fn computed(&self) -> Option<&Expr<LocalId>> {
        match self {
            PlaceRef::Scalar(_) => None,
            PlaceRef::Cell { index: expr, .. } | PlaceRef::Computed { address: expr, .. } => {
                Some(expr)
            }
        }
    }
}

impl Process {
    /// Puts an instruction before everything that can be done at a location.
    pub(super) fn insert(&mut self, at: Loc, instr: Instr) {
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

    /// Whether a step ends behind this edge. With `fuse`, it goes on behind every edge that
    /// may be fused with the next; without, only behind passing edges, unless they arrive
    /// where a property looks. It never goes on into a dead end, so that the last edge of a
    /// process is a step.
    pub fn ends_step(&self, edge: &Edge, fuse: bool) -> bool {
        let target = self.location(edge.to);
        let goes_on = match fuse {
            true => edge.fusable,
            false => matches!(edge.instr, Instr::Pass) && !target.visible,
        };
        !goes_on || target.out.is_empty()
    }

    pub fn location(&self, at: Loc) -> &Location {
        &self.locations[at.index()]
    }

    pub fn edge(&self, id: EdgeId) -> &Edge {
        &self.edges[id.index()]
    }

    /// The edges out of a location, in source order.
    pub fn edges_from(&self, at: Loc) -> impl DoubleEndedIterator<Item = (EdgeId, &Edge)> {
        let out = self.locations[at.index()].out.iter();
        out.map(|&id| (id, &self.edges[id.index()]))
    }
}

impl Instr {
    /// It accesses a place whose address is computed.
    pub fn has_computed_place(&self) -> bool {
        match self {
            Instr::Store { place, .. }
            | Instr::Load { place, .. }
            | Instr::Update { place, .. } => matches!(place, PlaceRef::Computed { .. }),
            Instr::Atomic(body) => body.iter().any(|(instr, _)| instr.has_computed_place()),
            _ => false,
        }
    }

    /// It reads or writes shared memory or waits for store buffers.
    pub fn touches_memory(&self) -> bool {
        match self {
            Instr::Pass
            | Instr::Skip
            | Instr::Assign { .. }
            | Instr::Havoc { .. }
            | Instr::Guard { .. }
            | Instr::Assert { .. } => false,
            Instr::Store { .. }
            | Instr::Load { .. }
            | Instr::Update { .. }
            | Instr::Fence(_)
            | Instr::Atomic(_) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_index_means_one_cell() {
        let cell = |index| PlaceRef::Cell {
            first: PlaceId(4),
            len: 3,
            index,
        };
        let places = |index| -> Vec<u32> { cell(index).places().iter().map(|it| it.0).collect() };
        assert_eq!(places(Expr::Const(2)), [6]);
        assert!(places(Expr::Const(3)).is_empty());
        assert!(places(Expr::Const(-1)).is_empty());
        assert_eq!(places(Expr::Atom(LocalId(0))), [4, 5, 6]);
    }
}
