//! All cells at a glance: a row a program, a column a way to ask.

use super::{Section, compact};
use crate::experiment::CellOutcome;
use crate::memory::AbstractionKind;
use crate::record::{Cell, Mode};
use crate::words::{count, duration};
use maud::{Markup, html};

/// Everything that makes a column, in the order of columns.
type Column = (u8, String, String, u8, usize);

fn column(cell: &Cell) -> Column {
    let mode = u8::from(cell.mode == Mode::Infer);
    let buffers = match cell.abstraction {
        AbstractionKind::Set => 0,
        AbstractionKind::Fd => 1,
        AbstractionKind::Pd => 2,
        AbstractionKind::Exact => 3,
        AbstractionKind::Logs => 4,
    };
    let engine = cell
        .engine
        .map_or(String::new(), |engine| engine.to_string());
    let k = cell.k.unwrap_or(usize::MAX);
    (mode, engine, cell.model.upper(), buffers, k)
}

/// What columns that stand together have in common.
fn group(cell: &Cell) -> String {
    let buffers = cell.abstraction.to_string().to_uppercase();
    let engine = cell
        .engine
        .map_or(String::new(), |engine| format!(" {engine}"));
    format!("{}{engine} · {} · {buffers}", cell.mode, cell.model.upper())
}

/// The table of all cells.
pub fn table(sections: &[Section]) -> Markup {
    let entries = || sections.iter().flat_map(|section| &section.entries);
    let cells = entries().map(|entry| &entry.cell);
    let mut columns: Vec<(Column, &Cell)> = cells.map(|cell| (column(cell), cell)).collect();
    columns.sort_by(|(a, _), (b, _)| a.cmp(b));
    columns.dedup_by(|(a, _), (b, _)| a == b);
    let states = entries().filter_map(|entry| entry.states());
    let most = states.max().unwrap_or(1);
    let groups = columns.chunk_by(|(_, a), (_, b)| group(a) == group(b));
    html! {
        div.scroll {
            table.heat {
                thead {
                    tr {
                        td {}
                        @for columns in groups {
                            th colspan=(columns.len()) { (group(columns[0].1)) }
                        }
                    }
                    tr {
                        th { "program" }
                        @for (_, cell) in &columns { th { (heading(cell)) } }
                    }
                }
                tbody {
                    @for section in sections {
                        tr {
                            th { a href={ "#" (section.anchor) } { (section.name) } }
                            @if section.listed.error.is_some() {
                                td.stopped colspan=(columns.len().max(1)) { "broken" }
                            } @else {
                                @for (wanted, _) in &columns { (cell(section, wanted, most)) }
                            }
                        }
                        "\n"
                    }
                }
            }
        }
        p.legend {
            span.correct { (sign(CellOutcome::Correct)) "correct" } " "
            span.placed { (sign(CellOutcome::Placed)) "fences placed" } " "
            span.violated { (sign(CellOutcome::Violated)) "violated, replayed" } " "
            span.spurious { (sign(CellOutcome::Spurious)) "only in the abstraction" } " "
            span.stopped { (sign(CellOutcome::Stopped)) "ended at a limit" }
            " Figures are states, or fences where they were inferred; the bar is the number of \
             states, on a logarithmic scale."
        }
    }
}

/// The heading of a column below that of its group.
fn heading(cell: &Cell) -> String {
    match cell.head() {
        head if head.parse::<usize>().is_ok() => format!("k={head}"),
        head if head.is_empty() => "–".to_string(),
        head => head,
    }
}

/// The colour of an outcome.
pub fn class(outcome: CellOutcome) -> &'static str {
    match outcome {
        CellOutcome::Correct => "correct",
        CellOutcome::Placed => "placed",
        CellOutcome::Violated | CellOutcome::Incorrect | CellOutcome::Unfixable => "violated",
        CellOutcome::Spurious | CellOutcome::Inconclusive => "spurious",
        CellOutcome::Stopped => "stopped",
    }
}

/// The same as a sign, for whoever sees no colours.
fn sign(outcome: CellOutcome) -> Markup {
    let sign = match class(outcome) {
        "correct" => "✓",
        "placed" => "+",
        "violated" => "✗",
        "spurious" => "?",
        _ => "…",
    };
    html! { span.sign aria-hidden="true" { (sign) } }
}

/// What a program has in a column: nothing if it was not asked that.
fn cell(section: &Section, wanted: &Column, most: u64) -> Markup {
    let mut entries = section.entries.iter();
    let Some(entry) = entries.find(|entry| column(&entry.cell) == *wanted) else {
        return html! { td {} };
    };
    let figure = match (entry.cell.mode, entry.states(), entry.fences()) {
        (Mode::Infer, _, Some(fences)) => fences.to_string(),
        (Mode::Verify, Some(states), _) => compact(states),
        (Mode::Infer, ..) => "–".to_string(),
        _ => entry
            .stopped
            .map_or("–".to_string(), |limit| limit.to_string()),
    };
    let details = [
        Some(entry.cell.to_string()),
        Some(entry.outcome()),
        entry.fences().map(|fences| count(fences, "fence")),
        entry
            .constants()
            .map(|constants| count(constants, "constant")),
        entry.states().map(|states| count(states, "state")),
        entry.measured.total_s.map(duration),
    ];
    let details: Vec<String> = details.into_iter().flatten().collect();
    let states = entry.states().unwrap_or(1).max(1) as f64;
    let width = 100.0 * states.ln() / (most.max(2) as f64).ln();
    html! {
        td class=(class(entry.cell_outcome())) style=(format!("--w:{width:.0}%"))
            title=(details.join(", ")) { (sign(entry.cell_outcome())) (figure) }
    }
}
