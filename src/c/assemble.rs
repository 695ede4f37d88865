//! The program form of all processes: fence points, places, labels.

use super::lowering::Lowering;
use super::processes::{Built, bare, process};
use super::simplify::simplify;
use crate::program::{
    Domain, FencePoint, FenceSite, Initial, Instr, Label, Place, PlaceId, PointId, Program, Value,
    loop_depths, merge,
};
use std::collections::{BTreeMap, BTreeSet};

impl Lowering<'_> {
    /// The places of all objects, and of those that only the reading before this one has found.
    pub fn all_places(&self) -> Vec<Place> {
        let mut places = self.objects.places();
        let known = self
            .known
            .scalars
            .values()
            .map(|(place, _)| place.index() + 1);
        let missing = known.max().unwrap_or(0).saturating_sub(places.len());
        places.extend((0..missing).map(|_| Place {
            name: String::new(),
            domain: Domain::BOOL,
            initial: Initial::Value(0),
            pointer: false,
        }));
        places
    }

    pub fn assemble(&mut self, built: Vec<Built>, memory: &[Value]) -> Program {
        let mut places = self.all_places();
        for (place, value) in places.iter_mut().zip(memory) {
            place.initial = Initial::Value(*value);
        }
        let mut program = bare(places, Vec::new());
        program.addresses = self.objects.names();
        program.ordered = std::mem::take(&mut self.ordered);
        let mut functions: Vec<String> = Vec::new();
        let mut sites = Vec::new();
        for Built {
            name,
            function,
            code,
            entry,
        } in built
        {
            let template = functions.iter().position(|other| *other == function);
            let template = template.unwrap_or_else(|| {
                functions.push(function);
                functions.len() - 1
            });
            let own = code.sites.clone();
            let mut process = process(template, name, code, entry);
            let merged = merge(&mut process, own, true);
            program.unreachable.extend(merged.unreachable);
            sites.push(merged.sites);
            program.processes.push(process);
        }
        number_points(&mut program, sites);
        simplify(&mut program);
        let mut labels = 0;
        for process in &mut program.processes {
            for edge in &mut process.edges {
                number_stores(&mut edge.instr, &mut labels);
            }
        }
        program.finish();
        program
    }
}

/// The places that an instruction may access.
pub fn accessed(instr: &Instr) -> Vec<PlaceId> {
    match instr {
        Instr::Store { place, .. } | Instr::Load { place, .. } | Instr::Update { place, .. } => {
            place.places()
        }
        Instr::Atomic(body) => body.iter().flat_map(|(instr, _)| accessed(instr)).collect(),
        _ => Vec::new(),
    }
}

/// Makes one fence point of all copies of a gap, in source order.
fn number_points(program: &mut Program, sites: Vec<Vec<Vec<FenceSite>>>) {
    let mut points: BTreeMap<Vec<FenceSite>, FencePoint> = BTreeMap::new();
    for (process, sites) in program.processes.iter().zip(&sites) {
        let depths = loop_depths(process);
        for (own, depth) in sites.iter().zip(depths) {
            if own.is_empty() {
                continue;
            }
            let mut sorted = own.clone();
            sorted.sort_by_key(FenceSite::preference);
            let point = points.entry(sorted.clone()).or_insert(FencePoint {
                template: process.template,
                process: None,
                sites: sorted,
                depth,
            });
            point.depth = point.depth.max(depth);
        }
    }
    let mut order: Vec<(u32, Vec<FenceSite>)> = points
        .keys()
        .map(|sites| (sites[0].offset(), sites.clone()))
        .collect();
    order.sort();
    for (process, sites) in program.processes.iter_mut().zip(&sites) {
        for (location, own) in process.locations.iter_mut().zip(sites) {
            let mut sorted = own.clone();
            sorted.sort_by_key(FenceSite::preference);
            let at = order.iter().position(|(_, sites)| *sites == sorted);
            location.point = at.map(|at| PointId(at as u32));
        }
    }
    for (_, sites) in order {
        program.points.extend(points.remove(&sites));
    }
    let known: BTreeSet<FenceSite> = program
        .points
        .iter()
        .flat_map(|p| p.sites.clone())
        .collect();
    program.unreachable.retain(|site| !known.contains(site));
    program.unreachable.sort();
    program.unreachable.dedup();
}

fn number_stores(instr: &mut Instr, next: &mut u32) {
    match instr {
        Instr::Store { label, .. } => {
            *label = Label(*next);
            *next += 1;
        }
        Instr::Atomic(body) => {
            for (instr, _) in body {
                number_stores(instr, next);
            }
        }
        _ => {}
    }
}
