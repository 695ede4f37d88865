//! The cells of a sweep as one table: text, Markdown, CSV, JSON.

use super::entry::{CellOutcome, Entry};
use crate::memory::Model;
use crate::record::{ListedProgram, Mode};
use crate::report::text::{Paint, table};
use crate::words::{bytes, count, duration, grouped};
use serde_json::{Value as Json, json};

/// Whether to show what differs from run to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Columns {
    Stable,
    /// With seconds and memory.
    All,
}

/// A column: its name, whether it is a number, and what stands in it.
type Column = (&'static str, bool, fn(&Entry) -> String);

const DASH: &str = "–";
const OUTCOME: &str = "outcome";

/// The model of all cells, if it is the same; it is said once then.
fn only_model(entries: &[Entry]) -> Option<Model> {
    let first = entries.first()?.cell.model;
    let same = entries.iter().all(|entry| entry.cell.model == first);
    same.then_some(first)
}

fn number(number: Option<u64>) -> String {
    number.map_or(DASH.to_string(), grouped)
}

fn columns(entries: &[Entry], columns: Columns) -> Vec<Column> {
    let infers = entries.iter().any(|entry| entry.cell.mode == Mode::Infer);
    let verifies = entries.iter().any(|entry| entry.cell.mode == Mode::Verify);
    let mut all: Vec<Column> = Vec::new();
    if only_model(entries).is_none() {
        all.push(("model", false, |e| e.cell.model.upper()));
    }
    all.push(("buffers", false, |e| e.cell.representation()));
    all.push((OUTCOME, false, Entry::outcome));
    if infers {
        all.push(("fences", true, |e| number(e.fences())));
    }
    if entries.iter().any(|entry| entry.constants().is_some()) {
        all.push(("constants", true, |e| number(e.constants())));
    }
    all.push(("states", true, |e| number(e.states())));
    if verifies {
        all.push(("transitions", true, |e| number(e.transitions())));
    }
    if columns == Columns::All {
        if verifies {
            all.push(("memory", true, |e| {
                let peak = e.measured.peak_bytes;
                peak.map_or(DASH.to_string(), bytes)
            }));
        }
        all.push(("time", true, |e| {
            let seconds = e.measured.total_s;
            seconds.map_or(DASH.to_string(), duration)
        }));
    }
    all
}

/// A table for people, one line a cell, with a line of totals below.
pub fn text(entries: &[Entry], programs: &[ListedProgram], which: Columns, paint: Paint) -> String {
    let columns = columns(entries, which);
    let names = short_names(programs);
    let mut head = vec!["program".to_string()];
    head.extend(columns.iter().map(|(name, ..)| name.to_string()));
    let mut rows = vec![head];
    let mut last = None;
    for entry in entries {
        let name = &entry.cell.program;
        let shown = match last.replace(name) {
            Some(before) if before == name => String::new(),
            _ => short(&names, name),
        };
        let mut row = vec![shown];
        row.extend(columns.iter().map(|(_, _, cell)| cell(entry)));
        rows.push(row);
    }
    for listed in programs.iter().filter(|listed| listed.error.is_some()) {
        let mut row = vec![short(&names, &listed.program)];
        row.extend(columns.iter().map(|(name, ..)| match *name {
            OUTCOME => "broken".to_string(),
            _ => String::new(),
        }));
        rows.push(row);
    }
    let mut right = vec![false];
    right.extend(columns.iter().map(|(_, right, _)| *right));
    let table = table(&rows, &right, paint);
    format!("{table}\n{}\n", totals(entries, programs))
}

/// How many cells ended how.
fn totals(entries: &[Entry], programs: &[ListedProgram]) -> String {
    let words = [
        CellOutcome::Correct,
        CellOutcome::Placed,
        CellOutcome::Violated,
        CellOutcome::Incorrect,
        CellOutcome::Unfixable,
        CellOutcome::Spurious,
        CellOutcome::Inconclusive,
        CellOutcome::Stopped,
    ];
    let counted = words.into_iter().filter_map(|word| {
        let number = entries
            .iter()
            .filter(|entry| entry.cell_outcome() == word)
            .count();
        (number > 0).then(|| format!("{} {}", grouped(number as u64), word.as_str()))
    });
    let mut parts: Vec<String> = counted.collect();
    let broken = programs
        .iter()
        .filter(|listed| listed.error.is_some())
        .count();
    if broken > 0 {
        parts.push(count(broken as u64, "broken program"));
    }
    let model = only_model(entries).map(|model| format!(" under {}", model.upper()));
    let model = model.unwrap_or_default();
    let cells = format!("{}{model}", count(entries.len() as u64, "cell"));
    match parts.is_empty() {
        true => cells,
        false => format!("{cells}: {}", parts.join(", ")),
    }
}

/// The same as Markdown.
pub fn markdown(entries: &[Entry], programs: &[ListedProgram], which: Columns) -> String {
    let columns = columns(entries, which);
    let mut out = "| program |".to_string();
    let mut rule = "|---|".to_string();
    for (name, right, _) in &columns {
        out.push_str(&format!(" {name} |"));
        rule.push_str(if *right { "---:|" } else { "---|" });
    }
    out.push_str(&format!("\n{rule}\n"));
    for entry in entries {
        out.push_str(&format!("| {} |", escaped(&entry.cell.program)));
        for (_, _, cell) in &columns {
            out.push_str(&format!(" {} |", cell(entry)));
        }
        out.push('\n');
    }
    for listed in programs {
        if let Some(error) = &listed.error {
            let first = error.lines().next().unwrap_or_default();
            out.push_str(&format!("| {} |", escaped(&listed.program)));
            for (name, ..) in &columns {
                match *name {
                    OUTCOME => out.push_str(&format!(" {} |", escaped(first))),
                    _ => out.push_str(" |"),
                }
            }
            out.push('\n');
        }
    }
    out.push_str(&format!("\n{}\n", totals(entries, programs)));
    out
}

/// Text in a cell of a Markdown table.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
}

/// One object a cell.
pub fn json(entries: &[Entry], which: Columns) -> Json {
    let rows = entries.iter().map(|entry| {
        let mut row = json!(entry.cell);
        row["outcome"] = json!(entry.answer.outcome());
        row["stopped"] = json!(entry.stopped);
        row["spurious"] = json!(entry.answer.spurious());
        row["fences"] = json!(entry.fences());
        let placement = entry.answer.placement();
        row["optimality"] = json!(placement.map(|placement| placement.optimality));
        row["states"] = json!(entry.states());
        row["transitions"] = json!(entry.transitions());
        if which == Columns::All {
            row["timing"] = json!({
                "total_s": entry.measured.total_s,
                "peak_bytes": entry.measured.peak_bytes,
            });
        }
        row
    });
    Json::Array(rows.collect())
}

/// One line a cell, with a heading.
pub fn csv(entries: &[Entry], which: Columns) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let rows = json(entries, which);
    let mut head = vec![
        "program",
        "model",
        "mode",
        "abstraction",
        "k",
        "engine",
        "outcome",
        "stopped",
        "spurious",
        "fences",
        "optimality",
        "states",
        "transitions",
    ];
    let stable = head.len();
    if which == Columns::All {
        head.extend(["total_s", "peak_bytes"]);
    }
    let written = "a table in memory can be written";
    writer.write_record(&head).expect(written);
    for row in rows.as_array().into_iter().flatten() {
        let cells = head.iter().enumerate().map(|(index, &name)| {
            let value = if index < stable {
                &row[name]
            } else {
                &row["timing"][name]
            };
            match value {
                Json::Null => String::new(),
                Json::String(text) => text.clone(),
                other => other.to_string(),
            }
        });
        writer.write_record(cells).expect(written);
    }
    let bytes = writer.into_inner().expect(written);
    String::from_utf8(bytes).expect("text in, text out")
}

/// The folder that all programs are in, to be left out.
pub fn short_names(programs: &[ListedProgram]) -> String {
    let folder = |name: &str| name.rfind('/').map_or(0, |at| at + 1);
    let mut common: Option<&str> = None;
    for listed in programs {
        let own = &listed.program[..folder(&listed.program)];
        common = Some(match common {
            None => own,
            Some(before) => {
                let same = before.chars().zip(own.chars()).take_while(|(a, b)| a == b);
                let same: usize = same.map(|(a, _)| a.len_utf8()).sum();
                &before[..folder(&before[..same])]
            }
        });
    }
    common.unwrap_or_default().to_string()
}

/// A program's name without the common folder and its ending.
pub fn short(common: &str, name: &str) -> String {
    let own = name.strip_prefix(common).unwrap_or(name);
    own.strip_suffix(".fen").unwrap_or(own).to_string()
}
