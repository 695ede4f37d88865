//! Programs in the languages of other tools.

pub mod promela;
pub mod rmm;

use crate::program::{Edge, Instr, Loc, Process};
use std::collections::HashSet;

/// The edges that end a step from a location: behind passing edges, which take none unless
/// they arrive where a property looks or where the process ends.
fn last_edges(process: &Process, start: Loc) -> Vec<&Edge> {
    let mut last = Vec::new();
    let mut seen = HashSet::new();
    let mut work = vec![start];
    while let Some(at) = work.pop() {
        if !seen.insert(at) {
            continue;
        }
        let edges: Vec<&Edge> = process.edges_from(at).map(|(_, edge)| edge).collect();
        for edge in edges.into_iter().rev() {
            let target = process.location(edge.to);
            let pass = matches!(edge.instr, Instr::Pass);
            match pass && !target.visible && !target.out.is_empty() {
                true => work.push(edge.to),
                false => last.push(edge),
            }
        }
    }
    last
}
