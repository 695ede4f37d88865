//! What the shape of an automaton determines: loops, live locals, and which edges may be
//! fused with the edge after them.

use super::shape::Classes;
use super::{Domain, Edge, EdgeId, Expr, Instr, Loc, LocalId, PlaceRef, Process, Update};
use std::collections::BTreeSet;

/// The order in which a depth-first search reaches the locations.
struct DepthFirst {
    /// When each location was reached.
    number: Vec<u32>,
    /// The largest number that was reached from each location before the search left it.
    last: Vec<u32>,
}

impl DepthFirst {
    fn new(process: &Process) -> DepthFirst {
        const NEW: u32 = u32::MAX;
        let count = process.locations.len();
        let (mut number, mut last) = (vec![NEW; count], vec![0; count]);
        let mut reached = 0;
        for start in 0..count {
            let mut path = vec![(start, 0)];
            while let Some((at, next)) = path.pop() {
                if next == 0 {
                    if number[at] != NEW {
                        continue;
                    }
                    number[at] = reached;
                    reached += 1;
                }
                match process.locations[at].out.get(next) {
                    None => last[at] = reached - 1,
                    Some(&edge) => {
                        path.push((at, next + 1));
                        path.push((process.edge(edge).to.index(), 0));
                    }
                }
            }
        }
        DepthFirst { number, last }
    }

    /// Whether the search reached `below` from `above`, or they are the same.
    fn is_above(&self, above: Loc, below: Loc) -> bool {
        let (above, below) = (above.index(), below.index());
        self.number[above] <= self.number[below] && self.number[below] <= self.last[above]
    }
}

/// Marks the edges that close a loop: every cycle contains at least one.
pub fn back_edges(process: &mut Process) {
    let order = DepthFirst::new(process);
    for edge in &mut process.edges {
        edge.back = order.is_above(edge.to, edge.from);
    }
}

/// Decides for each edge whether it may run together with the edge after it. A choice of
/// values never does: choices in a row would multiply within one step. Nor does a step to where
/// the process may have to wait: it can go there and stay.
pub fn fusable(process: &mut Process) {
    let locals = &process.locals;
    let domain = |local: &LocalId| locals[local.index()].domain;
    let takes = |local: LocalId, value: &Expr<LocalId>| {
        let target = &locals[local.index()];
        let within = |d: Domain| target.domain.contains(d.low) && target.domain.contains(d.high);
        !target.visible && value.interval(&domain).is_some_and(within)
    };
    let visible = |at: Loc| process.locations[at.index()].visible;
    let waits = waiting(process);
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
        let waits = edge.instr != Instr::Pass && waits[edge.to.index()];
        edge.fusable = silent && !edge.back && !waits && !visible(edge.to);
    }
}

/// The locations from which some way begins, behind passing edges, that the process cannot take
/// even with empty buffers: behind a condition that is assumed.
fn waiting(process: &Process) -> Vec<bool> {
    let blocks = |edge: &Edge| match &edge.instr {
        Instr::Guard { condition, wanted } => {
            // Of a test, one of the two ways is open.
            let mut others = process.edges_from(edge.from);
            !others.any(|(_, other)| {
                matches!(&other.instr, Instr::Guard { condition: same, wanted: way }
                    if same == condition && way != wanted)
            })
        }
        Instr::Atomic(body) => {
            let guards = |(instr, _): &(Instr, _)| matches!(instr, Instr::Guard { .. });
            body.iter().any(guards)
        }
        _ => false,
    };
    let mut waits = vec![false; process.locations.len()];
    for edge in process.edges.iter().filter(|edge| blocks(edge)) {
        waits[edge.from.index()] = true;
    }
    let incoming = incoming(process);
    let all = (0..waits.len()).filter(|&at| waits[at]);
    let mut work: Vec<usize> = all.collect();
    while let Some(at) = work.pop() {
        let into = incoming[at].iter().map(|&id| process.edge(id));
        for edge in into.filter(|edge| edge.instr == Instr::Pass) {
            if !std::mem::replace(&mut waits[edge.from.index()], true) {
                work.push(edge.from.index());
            }
        }
    }
    waits
}

/// Computes at every location which locals may still be read: a backward analysis to the
/// least fixed point. Locals that a property names are live everywhere.
pub fn liveness(process: &mut Process) {
    let named: Vec<bool> = process.locals.iter().map(|local| local.visible).collect();
    for location in &mut process.locations {
        location.live = named.clone();
    }
    let flows: Vec<LocalFlow> = process.edges.iter().map(LocalFlow::of).collect();
    let incoming = incoming(process);
    let mut work = Vec::new();
    let locations = &mut process.locations;
    let mut read = |at: Loc, local: LocalId, work: &mut Vec<(Loc, LocalId)>| {
        let live = &mut locations[at.index()].live[local.index()];
        if !std::mem::replace(live, true) {
            work.push((at, local));
        }
    };
    for (edge, flow) in process.edges.iter().zip(&flows) {
        for &local in &flow.reads {
            read(edge.from, local, &mut work);
        }
    }
    while let Some((at, local)) = work.pop() {
        for &edge in &incoming[at.index()] {
            if !flows[edge.index()].writes.contains(&local) {
                read(process.edges[edge.index()].from, local, &mut work);
            }
        }
    }
}

/// The edges into each location.
fn incoming(process: &Process) -> Vec<Vec<EdgeId>> {
    let mut incoming = vec![Vec::new(); process.locations.len()];
    for (id, edge) in process.edges.iter().enumerate() {
        incoming[edge.to.index()].push(EdgeId(id as u32));
    }
    incoming
}

/// The locals an edge reads before it writes them, and those it surely writes.
#[derive(Default)]
struct LocalFlow {
    reads: BTreeSet<LocalId>,
    writes: BTreeSet<LocalId>,
}

impl LocalFlow {
    fn of(edge: &Edge) -> LocalFlow {
        let mut flow = LocalFlow::default();
        flow.instr(&edge.instr);
        flow
    }

    fn instr(&mut self, instr: &Instr) {
        match instr {
            Instr::Pass | Instr::Skip | Instr::Fence(_) => {}
            Instr::Guard { condition, .. } => self.read(condition),
            Instr::Assert { condition, .. } => self.read(condition),
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
            Instr::Update {
                local, place, op, ..
            } => {
                self.place(place);
                match op {
                    Update::Cas { expected, new } | Update::CasOld { expected, new } => {
                        self.read(expected);
                        self.read(new);
                    }
                    Update::Swap(value) | Update::Apply(_, value) => self.read(value),
                }
                self.write(*local);
            }
            Instr::Atomic(body) => body.iter().for_each(|(instr, _)| self.instr(instr)),
        }
    }

    fn place(&mut self, place: &PlaceRef) {
        if let Some(expr) = place.computed() {
            self.read(expr);
        }
    }

    fn read(&mut self, expr: &Expr<LocalId>) {
        expr.atoms(&mut |local| {
            if !self.writes.contains(local) {
                self.reads.insert(*local);
            }
        });
    }

    fn write(&mut self, local: LocalId) {
        self.writes.insert(local);
    }
}

/// The number of loops around each location: one for each loop head whose loop holds it.
///
/// A loop consists of its head and of what can get back to it without leaving the part of the
/// graph that a depth-first search reached from it. Heads are taken innermost first, and a
/// loop that is done is one node, its head, so that each location is looked at once (after
/// Havlak, TOPLAS 1997).
pub fn loop_depths(process: &Process) -> Vec<u32> {
    let count = process.locations.len();
    let order = DepthFirst::new(process);
    let incoming = incoming(process);
    let mut by_number: Vec<Loc> = (0..count as u32).map(Loc).collect();
    by_number.sort_by_key(|at| order.number[at.index()]);
    // The head of the innermost loop around each location, other than itself.
    let mut around: Vec<Option<Loc>> = vec![None; count];
    let mut heads = vec![false; count];
    let mut outermost = Classes::new(count);
    for &head in by_number.iter().rev() {
        let mut work = vec![head];
        while let Some(at) = work.pop() {
            for edge in incoming[at.index()].iter().map(|&id| process.edge(id)) {
                heads[head.index()] |= at == head && order.is_above(head, edge.from);
                let from = outermost.find(edge.from);
                if from != head && order.is_above(head, edge.from) {
                    around[from.index()] = Some(head);
                    outermost.join(from, head);
                    work.push(from);
                }
            }
        }
    }
    let mut depth = vec![0; count];
    for at in by_number {
        let outside = around[at.index()].map_or(0, |head| depth[head.index()]);
        depth[at.index()] = outside + u32::from(heads[at.index()]);
    }
    depth
}
