//! Properties: predicates on states.

use super::{BinaryOp, Expr, Loc, LocalId, PlaceId, ProcessId, UnaryOp};
use crate::source::Span;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What must never happen.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Property {
    pub kind: PropertyKind,
    /// The predicate as written (for `mutex`: that two processes are at the label).
    pub predicate: Expr<Atom>,
    pub span: Span,
    /// The labels it names: (label, the places it stands at, the span of the name).
    pub labels: Vec<(String, Vec<(ProcessId, Loc)>)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PropertyKind {
    Mutex,
    Forbid,
    Invariant,
    Final,
}

/// What a property can observe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    TwoAt(Vec<(ProcessId, Loc)>),
}

impl Property {
    /// Whether it is violated only by processes being at labels, never by a process not
    /// being at one yet.
    pub fn violated_only_by_presence(&self) -> bool {
        let bad = matches!(self.kind, PropertyKind::Mutex | PropertyKind::Forbid);
        grows(&self.predicate, bad)
    }
}

/// Whether a predicate that is false can become true (or a true one false, if not `wanted`)
/// only by processes being somewhere, not by their being elsewhere.
fn grows(predicate: &Expr<Atom>, wanted: bool) -> bool {
    match predicate {
        Expr::Atom(Atom::At(_) | Atom::TwoAt(_)) => wanted,
        Expr::Unary(UnaryOp::Not, operand) => grows(operand, !wanted),
        Expr::Binary(BinaryOp::And | BinaryOp::Or, left, right) => {
            grows(left, wanted) && grows(right, wanted)
        }
        other => {
            let mut blind = true;
            other.atoms(&mut |atom| {
                blind &= match atom {
                    Atom::At(_) | Atom::TwoAt(_) => false,
                    // An index that depends on positions does so in both ways.
                    Atom::Cell { index, .. } => grows(index, true) && grows(index, false),
                    Atom::Place(_) | Atom::Local(..) => true,
                };
            });
            blind
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
