//! A program with fences: at chosen points, or without some of its own.

use super::{
    Atom, EdgeId, Expr, FenceKind, FencePoint, Instr, Loc, PointId, ProcessId, Program, shape,
};
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Which fence points of a program carry a fence.
pub type PointSet = BTreeSet<PointId>;

impl Program {
    /// The program with full fences at `fences` and no other fence points: positions that
    /// only served to tell points apart are gone, which makes the state space smaller.
    pub fn fenced(&self, fences: &PointSet) -> Program {
        let mut program = self.with_points(fences);
        for process in &mut program.processes {
            for location in &mut process.locations {
                location.fenced = location.point.is_some();
            }
        }
        program
    }

    /// The program with fences of these kinds and no other fence points. A fence that is
    /// not full is a step of its own, taken where the point is.
    pub fn fenced_by(&self, fences: &BTreeMap<PointId, FenceKind>) -> Program {
        let mut program = self.with_points(&fences.keys().copied().collect());
        for process in &mut program.processes {
            for at in 0..process.locations.len() {
                let point = process.locations[at].point;
                match point.and_then(|point| fences.get(&point)) {
                    None => {}
                    Some(FenceKind::Full) => process.locations[at].fenced = true,
                    Some(kind) => process.insert(Loc(at as u32), Instr::Fence(*kind)),
                }
            }
        }
        program.finish();
        program
    }

    /// The fences in its text.
    pub fn own_fences(&self) -> BTreeMap<Span, FenceKind> {
        let edges = self.processes.iter().flat_map(|process| &process.edges);
        let edges = edges.filter(|edge| !self.ordered.contains(&edge.span));
        let fences = edges.filter_map(|edge| match edge.instr {
            Instr::Fence(kind) => Some((edge.span, kind)),
            _ => None,
        });
        fences.collect()
    }

    /// The program without some of the fences in its text.
    pub fn without_fences(&self, removed: &BTreeSet<Span>) -> Program {
        let mut program = self.clone();
        let edges = program.processes.iter_mut().flat_map(|p| &mut p.edges);
        for edge in edges {
            if matches!(edge.instr, Instr::Fence(_)) && removed.contains(&edge.span) {
                edge.instr = Instr::Pass;
            }
        }
        program.finish();
        program
    }

    /// The program with these fence points, none of which carries a fence, and no others.
    pub fn with_points(&self, points: &PointSet) -> Program {
        let mut program = self.clone();
        let moved: Vec<Vec<Loc>> = program
            .processes
            .iter_mut()
            .map(|process| {
                for (index, edge) in process.edges.iter_mut().enumerate() {
                    edge.origin = EdgeId(index as u32);
                }
                shape::contract(process, |point| points.contains(&point))
            })
            .collect();
        program.relocate(&moved);
        program.finish();
        program
    }

    /// The program with fence points of their own for every process, where normally the
    /// instances of a template share them.
    pub fn per_process(&self) -> Program {
        let mut program = self.clone();
        program.points.clear();
        for process in &mut program.processes {
            for location in &mut process.locations {
                if let Some(shared) = location.point {
                    location.point = Some(PointId(program.points.len() as u32));
                    program.points.push(FencePoint {
                        process: Some(process.name.clone()),
                        ..self.points[shared.index()].clone()
                    });
                }
            }
        }
        program
    }

    /// Follows all locations to their new numbers, given for each process, in all
    /// properties.
    fn relocate(&mut self, moved: &[Vec<Loc>]) {
        let follow = |positions: &mut Vec<(ProcessId, Loc)>| {
            for (process, at) in positions {
                *at = moved[process.index()][at.index()];
            }
        };
        for property in &mut self.properties {
            property.labels.iter_mut().for_each(|(_, at)| follow(at));
            for_each_position_list(&mut property.predicate, &follow);
        }
    }
}

/// Visits every list of positions in a predicate, those in array indices included.
fn for_each_position_list(predicate: &mut Expr<Atom>, visit: &impl Fn(&mut Vec<(ProcessId, Loc)>)) {
    predicate.for_each_atom(&mut |atom| match atom {
        Atom::At(positions) | Atom::TwoAt(positions) => visit(positions),
        Atom::Cell { index, .. } => for_each_position_list(index, visit),
        Atom::Place(_) | Atom::Local(..) => {}
    });
}
