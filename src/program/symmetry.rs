//! Processes that are alike: the same automaton, whatever its parts are called and wherever
//! they were written.

use super::{Atom, EdgeId, Expr, Instr, Label, Process, ProcessId, Program};
use crate::source::Span;

impl Program {
    /// For each process, the first one with the same automaton.
    pub fn same_code(&self) -> Vec<ProcessId> {
        let bare: Vec<Process> = self.processes.iter().map(Process::bare).collect();
        self.process_ids()
            .map(|id| {
                let mut others = self.process_ids();
                let same = others.find(|other| bare[other.index()] == bare[id.index()]);
                same.expect("it is like itself")
            })
            .collect()
    }

    /// Groups of processes, two or more each, that can take each other's parts: they have
    /// the same automaton, and no property tells them apart.
    pub fn interchangeable(&self) -> Vec<Vec<ProcessId>> {
        let mut groups: Vec<Vec<ProcessId>> = Vec::new();
        let code = self.same_code();
        for id in self.process_ids() {
            let alike = |group: &&mut Vec<ProcessId>| {
                let first = group[0];
                code[first.index()] == code[id.index()] && !self.tells_apart(first, id)
            };
            match groups.iter_mut().find(alike) {
                Some(group) => group.push(id),
                None => groups.push(vec![id]),
            }
        }
        groups.retain(|group| group.len() > 1);
        groups
    }

    /// Some property may change its value if two processes change places.
    fn tells_apart(&self, one: ProcessId, other: ProcessId) -> bool {
        let swap = |id: ProcessId| match id {
            id if id == one => other,
            id if id == other => one,
            id => id,
        };
        let mut properties = self.properties.iter();
        properties.any(|property| {
            renamed(&property.predicate, &swap) != renamed(&property.predicate, &|id| id)
        })
    }
}

impl Process {
    /// The automaton without what has no influence on its steps.
    fn bare(&self) -> Process {
        let mut bare = self.clone();
        bare.name.clear();
        bare.template = 0;
        for local in &mut bare.locals {
            local.name.clear();
        }
        for location in &mut bare.locations {
            location.point = None;
        }
        for edge in &mut bare.edges {
            edge.span = Span::default();
            edge.origin = EdgeId(0);
            forget(&mut edge.instr);
        }
        bare
    }
}

fn forget(instr: &mut Instr) {
    match instr {
        Instr::Store { label, .. } => *label = Label(0),
        Instr::Atomic(body) => {
            for (instr, span) in body {
                forget(instr);
                *span = Span::default();
            }
        }
        _ => {}
    }
}

/// A predicate about other processes; the order in which positions are named is forgotten.
fn renamed(predicate: &Expr<Atom>, name: &dyn Fn(ProcessId) -> ProcessId) -> Expr<Atom> {
    predicate.map(&|atom| {
        let positions = |positions: &Vec<(ProcessId, _)>| {
            let mut all: Vec<_> = (positions.iter().map(|&(id, at)| (name(id), at))).collect();
            all.sort();
            all
        };
        match atom {
            Atom::Place(place) => Atom::Place(*place),
            Atom::Cell { first, len, index } => Atom::Cell {
                first: *first,
                len: *len,
                index: Box::new(renamed(index, name)),
            },
            Atom::Local(process, local) => Atom::Local(name(*process), *local),
            Atom::At(all) => Atom::At(positions(all)),
            Atom::TwoAt(all) => Atom::TwoAt(positions(all)),
        }
    })
}
