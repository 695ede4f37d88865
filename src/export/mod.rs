//! Programs in the languages of other tools.

pub mod boolean;
pub mod c;
mod desugar;
mod plain;
pub mod promela;
pub mod rmm;
pub mod sequential;

use crate::import::names::Names;
use crate::lang::ast::{Ast, Item};
use crate::lang::resolve::Symbols;
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

/// All names of a program.
fn taken(ast: &Ast, symbols: &Symbols) -> Names {
    let mut names = Names::native();
    let consts = ast.items.iter().filter_map(|item| match item {
        Item::Const { name, .. } => Some(&name.text),
        _ => None,
    });
    consts.for_each(|name| drop(names.fresh(name)));
    for variable in &symbols.shared {
        names.fresh(&variable.name);
    }
    for template in &symbols.templates {
        names.fresh(&template.name);
        template.parameter.iter().for_each(|p| drop(names.fresh(p)));
        for (label, _) in &template.labels {
            names.fresh(label);
        }
        for local in template.instances.iter().flat_map(|i| &i.locals) {
            names.fresh(&local.name);
        }
    }
    names
}
