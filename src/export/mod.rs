//! Programs in the languages of other tools.

pub mod boolean;
pub mod c;
pub mod plain;
pub mod promela;
pub mod rmm;
pub mod sequential;

use crate::program::{Edge, Loc, Process};
use std::collections::HashSet;

/// The edges that end a step from a location, where nothing but passing edges is fused.
fn last_edges(process: &Process, start: Loc) -> Vec<&Edge> {
    let mut last = Vec::new();
    let mut seen = HashSet::new();
    let mut work = vec![start];
    while let Some(at) = work.pop() {
        if !seen.insert(at) {
            continue;
        }
        for (_, edge) in process.edges_from(at).rev() {
            match process.ends_step(edge, false) {
                true => last.push(edge),
                false => work.push(edge.to),
            }
        }
    }
    last
}
