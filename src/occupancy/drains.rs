//! What the automaton of a process says about its queues: the most stores that a way through it
//! passes without draining the queue. Values are not looked at, so that the queue may never be
//! that long; it is never longer.

use super::Queue;
use crate::memory::{Atomics, Model, Order, Semantics};
use crate::program::{Edge, FenceKind, Instr, PlaceRef, Process, Program};
use std::collections::BTreeSet;

/// The queues of a program: each process under TSO, and under PSO each place that a process may
/// store to.
pub fn queues(program: &Program, order: Order) -> Vec<Queue> {
    let mut queues = Vec::new();
    for process in program.process_ids() {
        let places: BTreeSet<_> = stores(program.process(process))
            .flat_map(PlaceRef::places)
            .collect();
        match order {
            Order::Tso => queues.push(Queue {
                process,
                place: None,
            }),
            Order::Pso => queues.extend(places.into_iter().map(|place| Queue {
                process,
                place: Some(place),
            })),
        }
    }
    queues
}

fn stores(process: &Process) -> impl Iterator<Item = &PlaceRef> {
    process.edges.iter().filter_map(|edge| match &edge.instr {
        Instr::Store { place, .. } => Some(place),
        _ => None,
    })
}

/// What an edge does to a queue.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    Nothing,
    Store,
    /// It is empty behind the edge.
    Drain,
}

/// The most stores on a way without a drain; none if ways go round and store.
///
/// Longest paths by relaxation. A way that passes one store edge twice without a drain between
/// closes a circle that stores, so a count above the number of store edges means that there is
/// no longest way.
pub fn most_stores(program: &Program, queue: Queue, semantics: Semantics) -> Option<usize> {
    let process = program.process(queue.process);
    let effects = process.edges.iter();
    let effects: Vec<Effect> = effects.map(|edge| effect(edge, queue, semantics)).collect();
    let most = effects.iter().filter(|&&e| e == Effect::Store).count();
    let mut counts: Vec<Option<usize>> = vec![None; process.locations.len()];
    counts[process.entry.index()] = Some(0);
    let mut work = vec![process.entry];
    while let Some(at) = work.pop() {
        let count = counts[at.index()].unwrap_or(0);
        let count = if process.location(at).fenced {
            0
        } else {
            count
        };
        for (id, edge) in process.edges_from(at) {
            let behind = match effects[id.index()] {
                Effect::Nothing => count,
                Effect::Store => count + 1,
                Effect::Drain => 0,
            };
            if behind > most {
                return None;
            }
            let known = &mut counts[edge.to.index()];
            if known.is_none_or(|known| known < behind) {
                *known = Some(behind);
                work.push(edge.to);
            }
        }
    }
    counts.into_iter().flatten().max()
}

fn effect(edge: &Edge, queue: Queue, semantics: Semantics) -> Effect {
    match (&edge.instr, queue.place) {
        (Instr::Store { place, .. }, Some(own)) if !place.places().contains(&own) => {
            Effect::Nothing
        }
        (Instr::Store { .. }, _) => Effect::Store,
        (Instr::Fence(FenceKind::Full) | Instr::Atomic(_), _) => Effect::Drain,
        (Instr::Update { waits: false, .. }, _) => Effect::Nothing,
        (Instr::Update { place, .. }, own) => {
            let all = semantics.model == Model::Tso || semantics.atomics == Atomics::DrainAll;
            let only = || matches!(place.places()[..], [at] if Some(at) == own);
            match all || only() {
                true => Effect::Drain,
                false => Effect::Nothing,
            }
        }
        _ => Effect::Nothing,
    }
}
