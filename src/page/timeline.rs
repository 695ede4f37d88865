//! Counterexamples to step through.

use super::program::key;
use crate::experiment::{CellOutcome, Entry};
use crate::record::{Initial, Outcome, Step};
use crate::report::picture::svg;
use indexmap::IndexSet;
use maud::{Markup, PreEscaped, html};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;

/// A counterexample and what to call it.
struct Counterexample<'a> {
    /// Real ones come first, then those that a fence prevents, then the spurious.
    rank: u8,
    label: String,
    /// What is wrong at its end.
    end: String,
    /// The text that it is an execution of.
    version: String,
    initial: &'a Initial,
    steps: &'a [Step],
}

/// The widget with every counterexample of a program, each once; nothing without one.
pub fn widget(entries: &[&Entry], anchor: &str) -> Markup {
    let mut all: Vec<Counterexample> = Vec::new();
    for entry in entries {
        for new in counterexamples(entry) {
            let same = |old: &Counterexample| old.steps == new.steps && old.initial == new.initial;
            if !new.steps.is_empty() && !all.iter().any(same) {
                all.push(new);
            }
        }
    }
    all.sort_by_key(|counterexample| counterexample.rank);
    if all.is_empty() {
        return Markup::default();
    }
    let processes = all.iter().flat_map(|counterexample| {
        let stepping = counterexample.steps.iter().map(|step| &step.process);
        counterexample.initial.locals.keys().chain(stepping)
    });
    let data = json!({
        "processes": processes.collect::<BTreeSet<_>>(),
        "traces": all.iter().map(trace).collect::<Vec<_>>(),
    });
    html! {
        div.timeline tabindex="0" aria-label="counterexample; arrow keys step" {
            select aria-label="counterexample" {
                @for (index, counterexample) in all.iter().enumerate() {
                    option value=(index) { (counterexample.label) }
                }
            }
            script type="application/json" { (embedded(&data)) }
            @for (index, counterexample) in all.iter().enumerate() {
                details.picture data-trace=(index) hidden[index != 0] {
                    summary { "picture" }
                    div.scroll {
                        @let name = format!("{anchor}-{index}");
                        (PreEscaped(svg(counterexample.initial, counterexample.steps, Some(&name))))
                    }
                }
            }
        }
    }
}

/// Data within a script element, where `</script` and `<!--` would be taken for markup. JSON
/// has `<` only within strings, and can say it without the character.
fn embedded(data: &Json) -> PreEscaped<String> {
    PreEscaped(data.to_string().replace('<', "\\u003c"))
}

/// The counterexamples of a cell: its own, and those that come back without a fence.
fn counterexamples(entry: &Entry) -> Vec<Counterexample<'_>> {
    let answer = &entry.answer;
    let model = entry.cell.model.upper();
    let by = entry.cell.representation();
    let mut all = Vec::new();
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
        all.push(Counterexample {
            rank: if real { 0 } else { 2 },
            label,
            end,
            version: String::new(),
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
            all.push(Counterexample {
                rank: 1,
                label: format!(
                    "{model}, {by}: without the fence {} line {}",
                    fence.position,
                    fence.line()
                ),
                end: match fence.without {
                    Some(Outcome::Inconclusive) => "in the abstraction it goes wrong here",
                    _ => "here it goes wrong",
                }
                .to_string(),
                version: answer
                    .placement()
                    .map_or(String::new(), |placement| key(&model, placement)),
                initial,
                steps,
            });
        }
    }
    all
}

/// A counterexample in few bytes: the script puts the states together again. A place that a
/// step says nothing about has an unknown value there, which is null.
fn trace(counterexample: &Counterexample) -> Json {
    let Counterexample {
        end,
        version,
        initial,
        steps,
        ..
    } = counterexample;
    // The steps have the places in the order of the program.
    let places = steps.iter().flat_map(|step| step.memory.keys());
    let places: IndexSet<&String> = places.chain(initial.memory.keys()).collect();
    let places: Vec<&String> = places.into_iter().collect();
    let told = steps.iter().map(|step| {
        let memory = places.iter().map(|&place| step.memory.get(place));
        json!({
            "process": step.process,
            "line": step.line.filter(|_| step.file.is_none()),
            "text": step.step,
            "flush": step.flush,
            "locals": step.locals,
            "memory": memory.collect::<Vec<_>>(),
            "buffers": buffers(&step.buffers),
            "at": step.at,
        })
    });
    let memory = places.iter().map(|&place| initial.memory.get(place));
    json!({
        "end": end,
        "version": version,
        "places": places,
        "initial": {
            "memory": memory.collect::<Vec<_>>(),
            "locals": initial.locals,
            "at": initial.at,
        },
        "steps": told.collect::<Vec<_>>(),
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
