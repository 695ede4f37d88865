//! Numbers without a range that grow in a loop: a program with one has more states than anybody
//! can wait for.
//!
//! What is found is a loop in which a number is added to itself and on which no test looks at it;
//! it may still end for a reason that is not seen here, so this is good for a warning only.

use super::{BinaryOp, Domain, Edge, Expr, Instr, LocalId, PlaceRef, Process, Program, Update};
use crate::source::Span;

/// Where a growing number is.
#[derive(Debug, Clone, Copy)]
enum Held {
    /// In a local.
    Local(LocalId),
    /// In memory; a local has read it.
    Read(LocalId),
}

impl Program {
    /// Variables without a range that grow in a loop: their names, and the statement that does it.
    pub fn growing(&self) -> Vec<(String, Span)> {
        let mut found: Vec<(String, Span)> = Vec::new();
        for process in &self.processes {
            for edge in &process.edges {
                let grown = self.grown(process, edge);
                if let Some((name, held)) = grown
                    && !found.iter().any(|(_, span)| *span == edge.span)
                    && process.repeats_without_test(edge, held)
                {
                    found.push((name, edge.span));
                }
            }
        }
        found
    }

    /// What an edge makes larger, and what holds its value.
    fn grown(&self, process: &Process, edge: &Edge) -> Option<(String, Held)> {
        let free = |domain: Domain| domain == Domain::INT;
        match &edge.instr {
            Instr::Assign { local, value } => {
                let target = &process.locals[local.index()];
                let grows = free(target.domain) && grows_from(value, *local);
                grows.then(|| (target.name.clone(), Held::Local(*local)))
            }
            Instr::Update {
                place: PlaceRef::Scalar(place),
                op: Update::Apply(BinaryOp::Add, by),
                local,
                ..
            } => {
                let place = &self.places[place.index()];
                let grows = free(place.domain) && by.constant() != Some(0);
                grows.then(|| (place.name.clone(), Held::Read(*local)))
            }
            Instr::Store {
                place: PlaceRef::Scalar(place),
                value,
                ..
            } if free(self.places[place.index()].domain) => {
                let mut loads = process.edges.iter().filter_map(|edge| match &edge.instr {
                    Instr::Load {
                        local,
                        place: PlaceRef::Scalar(from),
                    } if from == place => Some(*local),
                    _ => None,
                });
                let read = loads.find(|local| grows_from(value, *local))?;
                Some((self.places[place.index()].name.clone(), Held::Read(read)))
            }
            _ => None,
        }
    }
}

/// Whether an expression adds something to a local, or multiplies it.
fn grows_from(value: &Expr<LocalId>, local: LocalId) -> bool {
    let Expr::Binary(op, left, right) = value else {
        return false;
    };
    let is_it = |expr: &Expr<LocalId>| *expr == Expr::Atom(local);
    let by = |expr: &Expr<LocalId>, neutral| expr.constant() != Some(neutral);
    match op {
        BinaryOp::Add => is_it(left) && by(right, 0) || is_it(right) && by(left, 0),
        BinaryOp::Sub => is_it(left) && by(right, 0),
        BinaryOp::Mul => is_it(left) && by(right, 1) || is_it(right) && by(left, 1),
        BinaryOp::Shl => is_it(left) && by(right, 0),
        _ => false,
    }
}

impl Process {
    /// Whether an edge lies on a loop along which no condition looks at the number and nothing
    /// sets it to something else.
    fn repeats_without_test(&self, edge: &Edge, held: Held) -> bool {
        let (Held::Local(holder) | Held::Read(holder)) = held;
        let involved = |local: &LocalId| *local == holder;
        let passable = |other: &Edge| match &other.instr {
            Instr::Guard { condition, .. } | Instr::Assert { condition, .. } => {
                let mut looks = false;
                condition.atoms(&mut |local| looks |= involved(local));
                !looks
            }
            Instr::Assign { local, value } => {
                let mut from_itself = false;
                value.atoms(&mut |atom| from_itself |= atom == local);
                !involved(local) || from_itself
            }
            Instr::Havoc { local, .. } => !involved(local),
            Instr::Load { local, .. } | Instr::Update { local, .. } => {
                matches!(held, Held::Read(_)) || !involved(local)
            }
            _ => true,
        };
        let mut seen = vec![false; self.locations.len()];
        let mut work = vec![edge.to];
        while let Some(at) = work.pop() {
            if at == edge.from {
                return true;
            }
            if std::mem::replace(&mut seen[at.index()], true) {
                continue;
            }
            let onward = self.edges_from(at).filter(|(_, edge)| passable(edge));
            work.extend(onward.map(|(_, edge)| edge.to));
        }
        false
    }
}
