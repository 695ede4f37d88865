//! One program: its source with the fences that were found, and what went wrong without.

use super::heat::class;
use super::{Section, charts, timeline};
use crate::experiment::{CellOutcome, Entry};
use crate::fences::{self, FencePlace};
use crate::infer::Optimality;
use crate::lang::insert_fences;
use crate::lower::compile;
use crate::memory::Model;
use crate::program::{FenceKind, FenceSite, Program, Side};
use crate::record::{Fence, Mode, Placement};
use crate::report::text::with_additions;
use crate::source::{Position, Source};
use crate::words::count;
use maud::{Markup, html};
use std::collections::BTreeSet;

/// A version of the source to look at.
struct Version {
    label: String,
    /// What executions name it by: nothing for the text as it stands.
    key: String,
    lines: Markup,
    /// The fences in words.
    fences: Vec<String>,
}

/// Everything about one program.
pub fn section(index: usize, section: &Section) -> Markup {
    let entries = &section.entries;
    let plots = charts::plots_of(entries);
    html! {
        details.program #(section.anchor) open[index == 0] {
            summary {
                h3 { (section.name) } " " (badges(entries))
                @if section.listed.error.is_some() { span.badge.stopped { "broken" } }
            }
            @if let Some(error) = &section.listed.error {
                pre.error { (error) }
            } @else {
                @if !plots.is_empty() {
                    div.plots.small { (charts::figures(&plots)) }
                }
                div.both {
                    @if let Some(text) = &section.listed.source {
                        (source(index, &versions(&section.name, text, entries)))
                    }
                    (timeline::widget(entries, &section.anchor))
                }
            }
        }
    }
}

/// What is known under each model, in a few words: the verdict, and the fewest fences.
fn badges(entries: &[&Entry]) -> Markup {
    let mut models: Vec<Model> = Vec::new();
    for entry in entries {
        if !models.contains(&entry.cell.model) {
            models.push(entry.cell.model);
        }
    }
    let mut badges: Vec<(&str, String)> = Vec::new();
    for model in models {
        let own = || entries.iter().filter(|entry| entry.cell.model == model);
        let of = |mode| own().filter(move |entry| entry.cell.mode == mode);
        let certain = |entry: &&&Entry| {
            matches!(
                entry.cell_outcome(),
                CellOutcome::Correct | CellOutcome::Violated
            )
        };
        let verdict = of(Mode::Verify).find(certain).or(of(Mode::Verify).next());
        let fewest = of(Mode::Infer).filter(|entry| entry.fences().is_some());
        let fewest = fewest.min_by_key(|entry| entry.fences());
        let inferred = fewest.or(of(Mode::Infer).next());
        for entry in [verdict, inferred].into_iter().flatten() {
            let text = match entry.fences() {
                Some(fences) if fences > 0 => count(fences, "fence"),
                _ => entry.outcome(),
            };
            let badge = (
                class(entry.cell_outcome()),
                format!("{} {text}", model.upper()),
            );
            if !badges.contains(&badge) {
                badges.push(badge);
            }
        }
    }
    html! {
        @for (class, text) in &badges { span.badge.(class) { (text) } " " }
    }
}

/// The source as it stands and with every placement that was found, each once.
fn versions(name: &str, text: &str, entries: &[&Entry]) -> Vec<Version> {
    let source = Source::new(name, text);
    let program = compile(&source).ok();
    let mut found: Vec<(String, &Placement)> = Vec::new();
    for entry in entries {
        let all = entry.answer.placements();
        let all = entry.answer.placement().into_iter().chain(all);
        for placement in all.filter(|placement| !placement.fences.is_empty()) {
            let new = (entry.cell.model.upper(), placement);
            let same =
                |old: &(String, &Placement)| old.0 == new.0 && places(old.1) == places(placement);
            match found.iter_mut().find(|old| same(old)) {
                Some(old) if placement.optimality == Optimality::Exact => *old = new,
                Some(_) => {}
                None => found.push(new),
            }
        }
    }
    found.sort_by(|(a, left), (b, right)| (a, left.cost).cmp(&(b, right.cost)));
    let versions = found.iter();
    let mut versions: Vec<Version> = versions
        .map(|(model, placement)| version(&source, program.as_ref(), placement, model))
        .collect();
    versions.push(Version {
        label: "as it stands".to_string(),
        key: String::new(),
        lines: lines(text, text),
        fences: Vec::new(),
    });
    versions
}

/// What the text with a placement is named by.
pub fn key(model: &str, placement: &Placement) -> String {
    let fences = placement.fences.iter();
    let fences =
        fences.map(|fence| format!("{}:{}:{}", fence.line(), fence.column, fence.position));
    let fences: Vec<String> = fences.collect();
    format!("{model} {}", fences.join(" "))
}

/// Where the fences of a placement stand.
fn places(placement: &Placement) -> BTreeSet<(Option<&String>, u32, u32, Side, FenceKind)> {
    let fences = placement.fences.iter();
    fences
        .map(|f| (f.file.as_ref(), f.line, f.column, f.position, f.kind))
        .collect()
}

fn version(
    source: &Source,
    program: Option<&Program>,
    placement: &Placement,
    model: &str,
) -> Version {
    let sites: Option<Vec<(FenceSite, FenceKind)>> = program.and_then(|program| {
        let fences = placement.fences.iter();
        fences.map(|fence| site(source, program, fence)).collect()
    });
    let text = match sites {
        Some(mut sites) => {
            sites.sort();
            sites.dedup();
            insert_fences(source, &sites)
        }
        // The words below the source say where they stand.
        None => source.text().to_string(),
    };
    let optimal = match placement.optimality {
        Optimality::Exact => " (optimal)",
        Optimality::UnderAbstraction | Optimality::Unknown => "",
    };
    let short = placement.fences.iter();
    let short = short.map(|fence| format!("{} {}", fence.position, fence.line()));
    let short: Vec<String> = short.collect();
    let words = placement.fences.iter().map(|fence| {
        let kind = match fence.kind {
            FenceKind::Full => String::new(),
            kind => format!(" ({kind})"),
        };
        format!(
            "{}: {} line {} ‘{}’{kind}",
            fence.process,
            fence.position,
            fence.line(),
            fence.text
        )
    });
    Version {
        label: format!("{model}: {}{optimal}", short.join(", ")),
        key: key(model, placement),
        lines: lines(source.text(), &text),
        fences: words.collect(),
    }
}

/// Where a fence is typed.
fn site(source: &Source, program: &Program, fence: &Fence) -> Option<(FenceSite, FenceKind)> {
    let place = FencePlace {
        file: fence.file.clone(),
        at: Position {
            line: fence.line,
            column: fence.column,
        },
        side: Some(fence.position),
    };
    let point = fences::find(program, source, &place).ok()?;
    Some((program.points[point.index()].sites[0], fence.kind))
}

/// Lines with their numbers; what was added is marked.
fn lines(original: &str, text: &str) -> Markup {
    html! {
        @for (number, line, changed) in with_additions(original, text) {
            @let number = number.map_or(String::new(), |number| number.to_string());
            div.line.fence[changed] data-line=(number) { i { (number) } code { (line) } }
            "\n"
        }
    }
}

/// The versions, one of them to be seen at a time.
fn source(index: usize, versions: &[Version]) -> Markup {
    html! {
        div.source {
            div.versions role="radiogroup" {
                @for (number, version) in versions.iter().enumerate() {
                    label {
                        input type="radio" name={ "v" (index) } value=(number)
                            checked[number == 0];
                        (version.label)
                    }
                }
            }
            @for (number, version) in versions.iter().enumerate() {
                div.version data-version=(number) data-key=(version.key) hidden[number != 0] {
                    div.code { (version.lines) }
                    @if !version.fences.is_empty() {
                        ul {
                            @for fence in &version.fences { li { (fence) } }
                        }
                    }
                }
            }
        }
    }
}
