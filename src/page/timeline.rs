//! Counterexamples to step through.

use super::escape;
use crate::experiment::{CellOutcome, Entry};
use crate::record::Outcome;
use crate::record::{Initial, Step};
use serde_json::{Map, Value as Json, json};

/// A counterexample and what to call it.
struct Told<'a> {
    /// Real ones come first, then those that a fence prevents, then the spurious.
    rank: u8,
    label: String,
    /// What is wrong at its end.
    end: String,
    initial: &'a Initial,
    steps: &'a [Step],
}

/// The widget with every counterexample of a program, each once; nothing without one.
pub fn widget(entries: &[&Entry]) -> String {
    let mut told: Vec<Told> = Vec::new();
    for entry in entries {
        for new in counterexamples(entry) {
            let same = |old: &Told| old.steps == new.steps && old.initial == new.initial;
            if !new.steps.is_empty() && !told.iter().any(same) {
                told.push(new);
            }
        }
    }
    told.sort_by_key(|told| told.rank);
    let Some(first) = told.first() else {
        return String::new();
    };
    let choices: String = told
        .iter()
        .enumerate()
        .map(|(index, told)| format!("<option value=\"{index}\">{}</option>", escape(&told.label)))
        .collect();
    let data = json!({
        "processes": first.initial.locals.keys().collect::<Vec<_>>(),
        "traces": told.iter().map(trace).collect::<Vec<_>>(),
    });
    // Within a script element nothing but its end has to be avoided.
    let data = data.to_string().replace("</", "<\\/");
    format!(
        "<div class=\"timeline\" tabindex=\"0\" aria-label=\"counterexample; arrow keys step\">\
         <select aria-label=\"counterexample\">{choices}</select>\
         <script type=\"application/json\">{data}</script></div>\n"
    )
}

/// The counterexamples of a cell: its own, and those that come back without a fence.
fn counterexamples(entry: &Entry) -> Vec<Told<'_>> {
    let answer = &entry.answer;
    let model = entry.cell.model.upper();
    let by = entry.cell.representation();
    let mut told = Vec::new();
    if let (Some(initial), Some(steps)) = (answer.initial(), answer.trace()) {
        let (real, label) = match entry.cell_outcome() {
            CellOutcome::Spurious | CellOutcome::Inconclusive | CellOutcome::Stopped => {
                (false, format!("{model}: only in the abstraction {by}"))
            }
            CellOutcome::Incorrect => (true, "even under SC".to_string()),
            _ => (true, format!("{model}: without further fences")),
        };
        let violation = answer.violation().map(|violation| &violation.text);
        let end = match (violation, real) {
            (Some(text), true) => format!("violated: {text}"),
            (Some(text), false) => format!("in the abstraction: {text}"),
            (None, _) => "here it goes wrong".to_string(),
        };
        told.push(Told {
            rank: if real { 0 } else { 2 },
            label,
            end,
            initial,
            steps,
        });
    }
    let fences = answer
        .placement()
        .into_iter()
        .flat_map(|placement| &placement.fences);
    for fence in fences {
        if let (Some(initial), Some(steps)) = (&fence.why_initial, &fence.why) {
            told.push(Told {
                rank: 1,
                label: format!(
                    "{model}, {by}: without the fence {} line {}",
                    fence.position, fence.line
                ),
                end: match fence.without {
                    Some(Outcome::Inconclusive) => "in the abstraction it goes wrong here",
                    _ => "here it goes wrong",
                }
                .to_string(),
                initial,
                steps,
            });
        }
    }
    told
}

/// A counterexample in few bytes: the script puts the states together again.
fn trace(told: &Told) -> Json {
    let order = told
        .steps
        .first()
        .map(|step| step.memory.keys().cloned().collect());
    let order: Vec<String> = order.unwrap_or_else(|| told.initial.memory.keys().cloned().collect());
    let steps = told.steps.iter().map(|step| {
        let memory: Vec<&Json> = order.iter().map(|place| &step.memory[place]).collect();
        json!({
            "process": step.process,
            "line": step.line,
            "text": step.step,
            "flush": step.flush,
            "locals": step.locals,
            "memory": memory,
            "buffers": buffers(&step.buffers),
            "at": step.at,
        })
    });
    let initial: Vec<Json> = order
        .iter()
        .map(|place| json!(told.initial.memory.get(place)))
        .collect();
    json!({
        "end": told.end,
        "places": order,
        "initial": { "memory": initial, "locals": told.initial.locals, "at": told.initial.at },
        "steps": steps.collect::<Vec<_>>(),
    })
}

/// The pending stores of each process in words, oldest first.
fn buffers(buffers: &Map<String, Json>) -> Map<String, Json> {
    let words = |entry: &Json| match (&entry["fence"], &entry["place"], &entry["set"]) {
        (Json::String(fence), ..) => format!("fence {fence}"),
        (_, Json::String(place), Json::Array(set)) => {
            let set: Vec<String> = set.iter().map(Json::to_string).collect();
            let latest = match &entry["latest"] {
                Json::Null => String::new(),
                latest => format!(", latest {latest}"),
            };
            format!("{place} ∈ {{{}}}{latest}", set.join(","))
        }
        (_, Json::String(place), _) => format!("{place} = {}", entry["value"]),
        _ => entry.to_string(),
    };
    let pending = buffers.iter().map(|(process, entries)| {
        let entries = entries.as_array().into_iter().flatten();
        (process.clone(), entries.map(words).collect::<Json>())
    });
    pending.collect()
}
