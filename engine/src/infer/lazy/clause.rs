//! What a counterexample demands: one of these points must carry a fence.
//!
//! Programs are verified as they would be typed, with only the chosen fences. A trace of
//! such a program is followed here in the whole program, where every gap between
//! statements is a location, to see which fence points its processes passed while stores
//! were pending. A fence at any of these would have made the trace impossible, and no
//! fence elsewhere would: the processes would still take the same steps.

use crate::memory::step::At;
use crate::program::{Instr, Loc, PointId, PointSet, Process, ProcessId, Program};
use crate::space::Trace;
use std::collections::{HashMap, VecDeque};

/// The points that a trace of `fenced` passes with pending stores. `whole` is the program
/// that `fenced` was made from by adding `fences`.
pub fn clause(whole: &Program, fenced: &Program, fences: &PointSet, trace: &Trace) -> PointSet {
    let entries = whole.processes.iter().map(|process| process.entry);
    let mut places: Vec<Loc> = entries.collect();
    let mut points = PointSet::new();
    let mut before = &trace.initial;
    for taken in &trace.steps {
        let id = taken.process.index();
        let process = &whole.processes[id];
        let pending = !before.configs[id].buffers.is_empty();
        for &edge in &taken.step.path {
            let origin = process.edge(fenced.processes[id].edge(edge).origin);
            let passed = passed(process, places[id], origin.from, fences, pending);
            if pending {
                points.extend(passed);
                points.extend(process.location(origin.from).point);
            }
            places[id] = origin.to;
        }
        before = &taken.after;
    }
    // To stand at a position that a property names, a process has passed what is before it.
    for (id, config) in before.configs.iter().enumerate() {
        let process = &whole.processes[id];
        if let At::Loc(at) = config.at
            && !config.buffers.is_empty()
            && let Some(named) = named(whole, fenced, ProcessId(id as u32), at)
        {
            points.extend(passed(process, places[id], named, fences, true));
        }
    }
    points
}

/// The points on a way of passing edges, without the one at its end. With stores pending
/// it avoids the points that carry a fence.
fn passed(process: &Process, from: Loc, to: Loc, fences: &PointSet, pending: bool) -> Vec<PointId> {
    let mut came: HashMap<Loc, Loc> = HashMap::new();
    let mut work = VecDeque::from([from]);
    while let Some(at) = work.pop_front() {
        if at == to {
            break;
        }
        let fenced = |point: PointId| pending && fences.contains(&point);
        if process.location(at).point.is_some_and(fenced) {
            continue;
        }
        for (_, edge) in process.edges_from(at) {
            let fresh = !came.contains_key(&edge.to) && edge.to != from;
            if matches!(edge.instr, Instr::Pass) && fresh {
                came.insert(edge.to, at);
                work.push_back(edge.to);
            }
        }
    }
    let mut points = Vec::new();
    let mut at = to;
    while at != from {
        let Some(&previous) = came.get(&at) else {
            // There is no such way: the process did not move, or stands where it stood.
            return Vec::new();
        };
        at = previous;
        points.extend(process.location(at).point);
    }
    points
}

/// The position in the whole program of a named position of the fenced one.
fn named(whole: &Program, fenced: &Program, process: ProcessId, at: Loc) -> Option<Loc> {
    let properties = whole.properties.iter().zip(&fenced.properties);
    let labels = properties.flat_map(|(whole, fenced)| whole.labels.iter().zip(&fenced.labels));
    let positions = labels.flat_map(|((_, whole), (_, fenced))| whole.iter().zip(fenced));
    let mut found = positions.filter(|(_, fenced)| **fenced == (process, at));
    found.next().map(|((_, at), _)| *at)
}
