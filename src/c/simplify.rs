//! Places that need not be in memory.
//!
//! What is never written is a constant. What only one process accesses is a local of it: its
//! own loads see its own stores whether they are pending or not, and nobody else can tell.
//! What nobody accesses is gone.

use super::assemble::accessed;
use crate::program::{Expr, Initial, Instr, Local, LocalId, PlaceId, PlaceRef, ProcessId, Program};
use std::collections::BTreeMap;

pub fn simplify(program: &mut Program) {
    constants(program);
    own_places(program);
    drop_unused(program);
}

/// All instructions of a program, those inside atomic blocks included.
fn for_each(instr: &Instr, visit: &mut dyn FnMut(&Instr)) {
    visit(instr);
    if let Instr::Atomic(body) = instr {
        body.iter().for_each(|(instr, _)| visit(instr));
    }
}

/// Loads of what is never written.
fn constants(program: &mut Program) {
    let mut written = vec![false; program.places.len()];
    for edge in program.processes.iter().flat_map(|process| &process.edges) {
        for_each(&edge.instr, &mut |instr| {
            if let Instr::Store { place, .. } | Instr::Update { place, .. } = instr {
                for place in place.places() {
                    written[place.index()] = true;
                }
            }
        });
    }
    let initial: Vec<Initial> = program.places.iter().map(|place| place.initial).collect();
    for edge in program
        .processes
        .iter_mut()
        .flat_map(|process| &mut process.edges)
    {
        if let Instr::Load {
            local,
            place: PlaceRef::Scalar(place),
        } = edge.instr
            && let Initial::Value(value) = initial[place.index()]
            && !written[place.index()]
        {
            let value = Expr::Const(value);
            edge.instr = Instr::Assign { local, value };
        }
    }
}

/// Places that one process accesses, by name and with plain loads and stores only.
fn own_places(program: &mut Program) {
    let mut owner: Vec<Option<ProcessId>> = vec![None; program.places.len()];
    let mut shared = vec![false; program.places.len()];
    for id in program.process_ids() {
        for edge in &program.process(id).edges {
            let plain = matches!(
                edge.instr,
                Instr::Load {
                    place: PlaceRef::Scalar(_),
                    ..
                } | Instr::Store {
                    place: PlaceRef::Scalar(_),
                    ..
                }
            );
            for place in accessed(&edge.instr) {
                let first = *owner[place.index()].get_or_insert(id);
                shared[place.index()] |= !plain || first != id;
            }
        }
    }
    for id in program.process_ids() {
        let own = |place: &usize| owner[*place] == Some(id) && !shared[*place];
        let own: Vec<usize> = (0..program.places.len()).filter(own).collect();
        let process = &mut program.processes[id.index()];
        let mut locals: BTreeMap<PlaceId, LocalId> = BTreeMap::new();
        for at in own {
            let place = &program.places[at];
            locals.insert(PlaceId(at as u32), LocalId(process.locals.len() as u32));
            process.locals.push(Local {
                name: place.name.clone(),
                domain: place.domain,
                initial: place.initial,
                visible: false,
            });
        }
        for edge in &mut process.edges {
            let assigned = match &edge.instr {
                Instr::Load {
                    local,
                    place: PlaceRef::Scalar(place),
                } => locals.get(place).map(|own| (*local, Expr::Atom(*own))),
                Instr::Store {
                    place: PlaceRef::Scalar(place),
                    value,
                    ..
                } => locals.get(place).map(|own| (*own, value.clone())),
                _ => None,
            };
            if let Some((local, value)) = assigned {
                edge.instr = Instr::Assign { local, value };
            }
        }
    }
}

/// Removes the places that no process accesses.
fn drop_unused(program: &mut Program) {
    let mut used = vec![false; program.places.len()];
    for edge in program.processes.iter().flat_map(|process| &process.edges) {
        for place in accessed(&edge.instr) {
            used[place.index()] = true;
        }
    }
    let mut number = Vec::with_capacity(used.len());
    let mut next = 0;
    for used in &used {
        number.push(PlaceId(next));
        next += u32::from(*used);
    }
    let mut keep = used.iter();
    program.places.retain(|_| *keep.next().unwrap_or(&true));
    for process in &mut program.processes {
        for edge in &mut process.edges {
            renumber(&mut edge.instr, &number);
        }
    }
}

fn renumber(instr: &mut Instr, number: &[PlaceId]) {
    match instr {
        Instr::Store { place, .. } | Instr::Load { place, .. } | Instr::Update { place, .. } => {
            match place {
                PlaceRef::Scalar(place) => *place = number[place.index()],
                PlaceRef::Cell { .. } => unreachable!("C has places and computed ones"),
                PlaceRef::Computed { targets, .. } => {
                    let moved = targets
                        .iter()
                        .map(|(at, place)| (*at, number[place.index()]));
                    *targets = moved.collect();
                }
            }
        }
        Instr::Atomic(body) => {
            for (instr, _) in body {
                renumber(instr, number);
            }
        }
        _ => {}
    }
}
