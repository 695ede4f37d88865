//! The shape of an automaton: which control positions are one.
//!
//! Lowering gives every gap between statements a location of its own and joins them by
//! [`Instr::Pass`] edges. Where passing one location means passing the other, the two are
//! the same control position and [`merge`] makes them one. [`contract`] goes further and
//! removes the positions that only served to tell unused fence points apart.

use super::{Edge, EdgeId, Instr, Loc, Location, PointId, Process};
use crate::program::FenceSite;

/// What became of the locations of a process and their sites.
pub struct Merged {
    /// Where each location went.
    pub moved: Vec<Loc>,
    /// The sites of each new location.
    pub sites: Vec<Vec<FenceSite>>,
    /// The sites of locations that control never comes to.
    pub unreachable: Vec<FenceSite>,
}

/// Makes locations one if whoever passes the first passes the second and the other way
/// round; the sites of both then name one fence point. A position that a property names
/// stays apart: a fence before it must keep the process from arriving there.
///
/// Where code was copied, the copies of one site are one fence point whatever stands around
/// them: `copies` keeps locations with sites apart.
pub fn merge(process: &mut Process, sites: Vec<Vec<FenceSite>>, copies: bool) -> Merged {
    let mut classes = Classes::new(process.locations.len());
    for (from, to) in passes(process) {
        if sites[from.index()].is_empty() && !process.location(from).visible {
            classes.join(from, to);
        }
    }
    let class = classes.names();
    let arrivals = arrivals(process, &class);
    for (from, to) in passes(process) {
        let (from, to) = (class[from.index()], class[to.index()]);
        let visible = process.location(from).visible || process.location(to).visible;
        if arrivals[to.index()] == 1 && !visible && !copies {
            classes.join(from, to);
        }
    }
    let moved = rebuild(process, classes);
    let mut merged = vec![Vec::new(); process.locations.len()];
    let mut unreachable = Vec::new();
    for (sites, new) in sites.into_iter().zip(&moved) {
        merged
            .get_mut(new.index())
            .unwrap_or(&mut unreachable)
            .extend(sites);
    }
    Merged {
        moved,
        sites: merged,
        unreachable,
    }
}

/// Removes every fence point that is not kept, together with the positions that existed
/// for its sake. Returns where each location went.
pub fn contract(process: &mut Process, keep: impl Fn(PointId) -> bool) -> Vec<Loc> {
    for location in &mut process.locations {
        location.point = location.point.filter(|&point| keep(point));
    }
    let mut classes = Classes::new(process.locations.len());
    for (from, to) in passes(process) {
        let location = process.location(from);
        if location.point.is_none() && !location.visible {
            classes.join(from, to);
        }
    }
    let class = classes.names();
    let arrivals = arrivals(process, &class);
    for (from, to) in passes(process) {
        let (from, to) = (class[from.index()], class[to.index()]);
        let kept = process.location(to).point.is_some() || to == class[process.exit.index()];
        if process.location(from).visible && !kept && arrivals[to.index()] == 1 {
            classes.join(from, to);
        }
    }
    rebuild(process, classes)
}

/// The pairs of locations where the only way out of the first is to pass on to the second.
fn passes(process: &Process) -> Vec<(Loc, Loc)> {
    let only = |location: &Location| match location.out[..] {
        [edge] => Some(process.edge(edge)),
        _ => None,
    };
    let edges = process.locations.iter().filter_map(only);
    let pass = edges.filter(|edge| matches!(edge.instr, Instr::Pass));
    pass.map(|edge| (edge.from, edge.to)).collect()
}

/// For each class, the number of edges that enter it from outside; being the entry counts.
fn arrivals(process: &Process, class: &[Loc]) -> Vec<usize> {
    let mut count = vec![0; process.locations.len()];
    count[class[process.entry.index()].index()] += 1;
    for edge in &process.edges {
        let (from, to) = (class[edge.from.index()], class[edge.to.index()]);
        if from != to {
            count[to.index()] += 1;
        }
    }
    count
}

/// Builds the automaton of the classes, without unreachable locations, and returns where
/// each old location went (a location that is gone went beyond the last one).
fn rebuild(process: &mut Process, mut classes: Classes) -> Vec<Loc> {
    let name = classes.names();
    let find = |at: Loc| name[at.index()];
    let old = std::mem::take(&mut process.locations);
    let mut class = vec![Location::default(); old.len()];
    for (index, location) in old.into_iter().enumerate() {
        let into = &mut class[find(Loc(index as u32)).index()];
        into.visible |= location.visible;
        into.point = into.point.or(location.point);
    }
    let edges: Vec<Edge> = std::mem::take(&mut process.edges)
        .into_iter()
        .map(|mut edge| {
            let pass = matches!(edge.instr, Instr::Pass);
            let (from, to) = (edge.from, edge.to);
            (edge.from, edge.to) = (find(from), find(to));
            (edge, pass && from != to)
        })
        .filter(|(edge, joined)| !(*joined && edge.from == edge.to))
        .map(|(edge, _)| edge)
        .collect();

    let mut out = vec![Vec::new(); class.len()];
    for edge in &edges {
        out[edge.from.index()].push(edge.to);
    }
    let mut reached = vec![false; class.len()];
    let named = (0..class.len()).filter(|&at| class[at].visible);
    let mut work: Vec<usize> = named.collect();
    work.extend([process.entry, process.exit].map(|at| find(at).index()));
    while let Some(at) = work.pop() {
        if !std::mem::replace(&mut reached[at], true) {
            work.extend(out[at].iter().map(|to| to.index()));
        }
    }

    let mut number = vec![Loc(u32::MAX); class.len()];
    for (at, location) in class.into_iter().enumerate() {
        if reached[at] {
            number[at] = Loc(process.locations.len() as u32);
            process.locations.push(location);
        }
    }
    for mut edge in edges {
        if reached[edge.from.index()] {
            edge.from = number[edge.from.index()];
            edge.to = number[edge.to.index()];
            let id = EdgeId(process.edges.len() as u32);
            process.locations[edge.from.index()].out.push(id);
            process.edges.push(edge);
        }
    }
    let follow = |at: Loc| number[find(at).index()];
    process.entry = follow(process.entry);
    process.exit = follow(process.exit);
    (0..number.len() as u32).map(|at| follow(Loc(at))).collect()
}

/// Classes of locations that have become one, each named by the location that the others
/// were joined to.
pub(super) struct Classes {
    next: Vec<Loc>,
}

impl Classes {
    pub(super) fn new(len: usize) -> Classes {
        Classes {
            next: (0..len as u32).map(Loc).collect(),
        }
    }

    /// The name of every location's class.
    fn names(&mut self) -> Vec<Loc> {
        let all = 0..self.next.len() as u32;
        all.map(|at| self.find(Loc(at))).collect()
    }

    /// The name of a location's class. The way to it is halved, so that ways stay short.
    pub(super) fn find(&mut self, mut at: Loc) -> Loc {
        while self.next[at.index()] != at {
            let next = self.next[at.index()];
            self.next[at.index()] = self.next[next.index()];
            at = next;
        }
        at
    }

    pub(super) fn join(&mut self, from: Loc, to: Loc) {
        let (from, to) = (self.find(from), self.find(to));
        self.next[from.index()] = to;
    }
}
