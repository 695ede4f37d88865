//! What the shape of an automaton determines: loops, live locals, and which edges may be
//! fused with the edge after them.

use super::{Expr, Instr, Loc, LocalId, PlaceRef, Process, Update};
use crate::program::Domain;

/// Marks the edges that close a loop: every cycle contains at least one.
pub fn back_edges(process: &mut Process) {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; process.locations.len()];
    for start in 0..process.locations.len() {
        let mut path = vec![(start, 0)];
        while let Some((at, next)) = path.pop() {
            if next == 0 {
                if marks[at] != Mark::New {
                    continue;
                }
                marks[at] = Mark::Open;
            }
            let Some(&edge) = process.locations[at].out.get(next) else {
                marks[at] = Mark::Done;
                continue;
            };
            path.push((at, next + 1));
            let edge = &mut process.edges[edge.index()];
            edge.back = marks[edge.to.index()] == Mark::Open;
            if !edge.back {
                path.push((edge.to.index(), 0));
            }
        }
    }
}

/// Decides for each edge whether it may run together with the edge after it. A choice of
/// values never does: choices in a row would multiply within one step.
pub fn fusable(process: &mut Process) {
    let locals = &process.locals;
    let domain = |local: &LocalId| locals[local.index()].domain;
    let takes = |local: LocalId, value: &Expr<LocalId>| {
        let target = &locals[local.index()];
        let within = |d: Domain| target.domain.contains(d.low) && target.domain.contains(d.high);
        !target.visible && value.interval(&domain).is_some_and(within)
    };
    let visible = |at: Loc| process.locations[at.index()].visible;
    for edge in &mut process.edges {
        let silent = match &edge.instr {
            Instr::Pass => true,
            Instr::Skip => !visible(edge.from),
            Instr::Assign { local, value } => !visible(edge.from) && takes(*local, value),
            Instr::Guard { condition, .. } => {
                !visible(edge.from) && condition.interval(&domain).is_some()
            }
            _ => false,
        };
        edge.fusable = silent && !edge.back && !visible(edge.to);
    }
}

/// Computes at every location which locals may still be read: a backward analysis to the
/// least fixed point. Locals that a property names are live everywhere.
pub fn liveness(process: &mut Process) {
    let count = process.locals.len();
    let named: Vec<bool> = process.locals.iter().map(|local| local.visible).collect();
    for location in &mut process.locations {
        location.live = named.clone();
    }
    let uses: Vec<(Vec<bool>, Vec<bool>)> = process
        .edges
        .iter()
        .map(|edge| reads_and_writes(&edge.instr, count))
        .collect();
    let mut changed = true;
    while changed {
        changed = false;
        for (edge, (reads, writes)) in process.edges.iter().zip(&uses).rev() {
            for local in 0..count {
                let after = process.locations[edge.to.index()].live[local];
                let live = &mut process.locations[edge.from.index()].live[local];
                if !*live && (reads[local] || after && !writes[local]) {
                    *live = true;
                    changed = true;
                }
            }
        }
    }
}

/// The locals an instruction reads before it writes them, and those it surely writes.
fn reads_and_writes(instr: &Instr, count: usize) -> (Vec<bool>, Vec<bool>) {
    let mut flow = LocalFlow {
        reads: vec![false; count],
        writes: vec![false; count],
    };
    flow.instr(instr);
    (flow.reads, flow.writes)
}

struct LocalFlow {
    reads: Vec<bool>,
    writes: Vec<bool>,
}

impl LocalFlow {
    fn instr(&mut self, instr: &Instr) {
        match instr {
            Instr::Pass | Instr::Skip | Instr::Fence(_) => {}
            Instr::Guard { condition, .. } => self.read(condition),
            Instr::Assert(condition) => self.read(condition),
            Instr::Assign { local, value } => {
                self.read(value);
                self.write(*local);
            }
            Instr::Havoc { local, low, high } => {
                self.read(low);
                self.read(high);
                self.write(*local);
            }
            Instr::Store { place, value, .. } => {
                self.place(place);
                self.read(value);
            }
            Instr::Load { local, place } => {
                self.place(place);
                self.write(*local);
            }
            Instr::Update { local, place, op } => {
                self.place(place);
                match op {
                    Update::Cas { expected, new } => {
                        self.read(expected);
                        self.read(new);
                    }
                    Update::Swap(value) | Update::Add(value) => self.read(value),
                }
                self.write(*local);
            }
            Instr::Atomic(body) => body.iter().for_each(|(instr, _)| self.instr(instr)),
        }
    }

    fn place(&mut self, place: &PlaceRef) {
        if let Some((_, index)) = &place.cell {
            self.read(index);
        }
    }

    fn read(&mut self, expr: &Expr<LocalId>) {
        expr.atoms(&mut |local| {
            if !self.writes[local.index()] {
                self.reads[local.index()] = true;
            }
        });
    }

    fn write(&mut self, local: LocalId) {
        self.writes[local.index()] = true;
    }
}

/// The number of loops around each location: one for each loop head whose loop holds it.
pub fn loop_depths(process: &Process) -> Vec<u32> {
    let mut incoming = vec![Vec::new(); process.locations.len()];
    for edge in &process.edges {
        incoming[edge.to.index()].push(edge.from.index());
    }
    let mut depth = vec![0; process.locations.len()];
    for head in 0..process.locations.len() {
        let closing = process.edges.iter();
        let closing = closing.filter(|edge| edge.back && edge.to.index() == head);
        let mut work: Vec<usize> = closing.map(|edge| edge.from.index()).collect();
        if work.is_empty() {
            continue;
        }
        let mut inside = vec![false; process.locations.len()];
        inside[head] = true;
        while let Some(at) = work.pop() {
            if !std::mem::replace(&mut inside[at], true) {
                work.extend(&incoming[at]);
            }
        }
        for (depth, inside) in depth.iter_mut().zip(inside) {
            *depth += u32::from(inside);
        }
    }
    depth
}
