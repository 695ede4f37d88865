//! The best placement of every program.

use super::entry::Entry;
use crate::infer::Optimality;
use crate::record::{Mode, Placement};
use serde_json::{Value as Json, json};

/// For each program and model that fences were inferred for, in order: the cheapest placement
/// of all cells, the first one where several are as cheap, and the best that any cell knows
/// about its optimality.
pub fn placements(entries: &[Entry]) -> Json {
    let infers = entries
        .iter()
        .filter(|entry| entry.cell.mode == Mode::Infer);
    let mut groups: Vec<Vec<&Entry>> = Vec::new();
    for entry in infers {
        let same = |group: &&mut Vec<&Entry>| {
            let cell = &group[0].cell;
            (&cell.program, cell.model) == (&entry.cell.program, entry.cell.model)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(entry),
            None => groups.push(vec![entry]),
        }
    }
    groups.iter().map(|group| best(group)).collect()
}

fn best(group: &[&Entry]) -> Json {
    let placed = group.iter().filter_map(|entry| {
        let placement = entry.answer.placement()?;
        Some((placement, entry))
    });
    let cheapest = placed.clone().min_by_key(|(placement, _)| placement.cost);
    let Some((placement, entry)) = cheapest else {
        let entry = group[0];
        return json!({
            "program": entry.cell.program,
            "model": entry.cell.model.to_string(),
            "outcome": entry.outcome(),
            "placement": null,
        });
    };
    let same = placed.filter(|(other, _)| other.cost == placement.cost);
    let known = |wanted: Optimality| same.clone().any(|(other, _)| other.optimality == wanted);
    let optimality = [Optimality::Exact, Optimality::UnderAbstraction]
        .into_iter()
        .find(|wanted| known(*wanted));
    json!({
        "program": entry.cell.program,
        "model": entry.cell.model.to_string(),
        "outcome": entry.outcome(),
        "by": entry.cell.representation(),
        "placement": {
            "cost": placement.cost,
            "optimality": optimality.unwrap_or(Optimality::Unknown),
            "fences": fences(placement),
        },
    })
}

fn fences(placement: &Placement) -> Vec<Json> {
    let fences = placement.fences.iter();
    fences
        .map(|fence| {
            let mut json = json!({
                "process": fence.process,
                "line": fence.line,
                "column": fence.column,
                "position": fence.position,
                "text": fence.text,
                "kind": fence.kind,
            });
            if let Some(file) = &fence.file {
                json["file"] = json!(file);
            }
            json
        })
        .collect()
}
