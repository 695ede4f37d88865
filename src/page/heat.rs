//! All cells at a glance: a row a program, a column a way to ask.

use super::{compact, escape};
use crate::experiment::{CellOutcome, Entry};
use crate::memory::AbstractionKind;
use crate::record::{Cell, ListedProgram, Mode};
use crate::words::{count, duration};
use std::fmt::Write;

/// Everything that makes a column, in the order of columns.
type Column = (u8, String, String, u8, usize);

fn column(cell: &Cell) -> Column {
    let mode = u8::from(cell.mode == Mode::Infer);
    let buffers = match cell.abstraction {
        AbstractionKind::Set => 0,
        AbstractionKind::Fd => 1,
        AbstractionKind::Pd => 2,
        AbstractionKind::Exact => 3,
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

/// The table.
pub fn table(programs: &[(&ListedProgram, String, Vec<&Entry>)]) -> String {
    let cells = programs
        .iter()
        .flat_map(|(_, _, own)| own.iter().map(|e| &e.cell));
    let mut columns: Vec<(Column, &Cell)> = cells.map(|cell| (column(cell), cell)).collect();
    columns.sort_by(|(a, _), (b, _)| a.cmp(b));
    columns.dedup_by(|(a, _), (b, _)| a == b);
    let all = programs.iter().flat_map(|(_, _, own)| own);
    let most = all.filter_map(|entry| entry.states()).max().unwrap_or(1);
    let mut out = String::from("<div class=\"scroll\"><table class=\"heat\"><thead><tr><td></td>");
    let mut rest = &columns[..];
    while let Some((_, first)) = rest.first() {
        let name = group(first);
        let width = rest
            .iter()
            .take_while(|(_, cell)| group(cell) == name)
            .count();
        let _ = write!(out, "<th colspan=\"{width}\">{}</th>", escape(&name));
        rest = &rest[width..];
    }
    out.push_str("</tr><tr><th>program</th>");
    for (_, cell) in &columns {
        let head = match cell.head() {
            head if head.parse::<usize>().is_ok() => format!("k={head}"),
            head if head.is_empty() => "–".to_string(),
            head => head,
        };
        let _ = write!(out, "<th>{head}</th>");
    }
    out.push_str("</tr></thead><tbody>\n");
    for (index, (listed, name, own)) in programs.iter().enumerate() {
        let name = escape(name);
        let _ = write!(out, "<tr><th><a href=\"#p{index}\">{name}</a></th>");
        if listed.error.is_some() {
            let width = columns.len().max(1);
            let _ = write!(out, "<td class=\"stopped\" colspan=\"{width}\">broken</td>");
        } else {
            for (wanted, _) in &columns {
                let entry = own.iter().find(|entry| column(&entry.cell) == *wanted);
                out.push_str(&entry.map_or("<td></td>".to_string(), |entry| cell(entry, most)));
            }
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>");
    out.push_str(
        "<p class=\"legend\"><span class=\"correct\">correct</span> \
         <span class=\"placed\">fences placed</span> <span class=\"violated\">violated, \
         replayed</span> <span class=\"spurious\">only in the abstraction</span> \
         <span class=\"stopped\">ended at a limit</span> Figures are states, or fences where \
         they were inferred; the bar is the number of states, on a logarithmic scale.</p>",
    );
    out
}

/// The colour of an outcome.
pub fn class(word: CellOutcome) -> &'static str {
    match word {
        CellOutcome::Correct => "correct",
        CellOutcome::Placed => "placed",
        CellOutcome::Violated | CellOutcome::Incorrect | CellOutcome::Unfixable => "violated",
        CellOutcome::Spurious | CellOutcome::Inconclusive => "spurious",
        CellOutcome::Stopped => "stopped",
    }
}

fn cell(entry: &Entry, most: u64) -> String {
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
        entry.states().map(|states| count(states, "state")),
        entry.measured.total_s.map(duration),
    ];
    let details: Vec<String> = details.into_iter().flatten().collect();
    let states = entry.states().unwrap_or(1).max(1) as f64;
    let width = 100.0 * states.ln() / (most.max(2) as f64).ln();
    format!(
        "<td class=\"{}\" style=\"--w:{width:.0}%\" title=\"{}\">{figure}</td>",
        class(entry.cell_outcome()),
        escape(&details.join(", "))
    )
}
