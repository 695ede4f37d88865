//! The comparison of FD with PD as text, Markdown and JSON.

use super::compare::{AtK, Comparison, Side, Winner, over_all};
use super::entry::{CellOutcome, Entry};
use crate::record::Answer;
use crate::report::text::{Paint, table};
use crate::words::{bytes, count, duration, grouped};
use serde_json::{Value as Json, json};
use std::fmt::Write;

const NAMES: [&str; 2] = ["FD", "PD"];
const DASH: &str = "–";

/// The columns behind `k` and the abstraction; all but the first are numbers.
const COLUMNS: [&str; 7] = [
    "verdict",
    "fences",
    "formulas",
    "states",
    "transitions",
    "memory",
    "time",
];

/// The columns that are about inferred fences.
const INFERRED: std::ops::Range<usize> = 1..3;

/// What is shown of a row: all of it, or all but what is about inferred fences, if nobody asked
/// for any.
fn shown(row: [String; 7], comparisons: &[Comparison]) -> Vec<String> {
    let mut sides = comparisons.iter().flat_map(|c| &c.rows);
    let inferred = sides.any(|(_, sides)| sides.iter().any(|side| side.inferred.is_some()));
    let mut row = Vec::from(row);
    if !inferred {
        row.drain(INFERRED);
    }
    row
}

fn cells(side: &Side) -> [String; 7] {
    let number = |number: Option<u64>| number.map_or(DASH.to_string(), grouped);
    let fences = match (side.inferred.and_then(Entry::fences), side.inferred) {
        (Some(fences), _) if side.precise => format!("{fences} ✓"),
        (Some(fences), _) => format!("{fences}  "),
        (None, Some(entry)) if entry.cell_outcome() == CellOutcome::Stopped => {
            "limit  ".to_string()
        }
        (None, _) => format!("{DASH}  "),
    };
    [
        side.verified.map_or(DASH.to_string(), Entry::outcome),
        fences,
        number(
            side.inferred
                .and_then(|entry| entry.measured.formulas.map(|count| count as u64)),
        ),
        number(side.states()),
        number(side.transitions()),
        side.verified
            .and_then(|entry| entry.measured.peak_bytes)
            .map_or(DASH.to_string(), bytes),
        side.seconds().map_or(DASH.to_string(), duration),
    ]
}

/// What is known of the optimum.
fn optimum(comparison: &Comparison) -> String {
    match comparison.optimum {
        None => "no optimum is known".to_string(),
        Some((0, _)) => "correct as it stands".to_string(),
        Some((fences, true)) => format!("{} needed", count(fences, "fence")),
        Some((fences, false)) => format!("at most {} needed", count(fences, "fence")),
    }
}

/// From which k on FD and PD are precise, and with how many states.
fn conclusion(comparison: &Comparison) -> String {
    let (precise, sizes) = (comparison.precise(), comparison.sizes());
    let sides = [0, 1].map(|side| match (precise[side], sizes[side]) {
        (None, _) => format!("{} never", NAMES[side]),
        (Some(k), None) => format!("{} from k = {k}", NAMES[side]),
        (Some(k), Some(states)) => {
            format!("{} from k = {k} ({})", NAMES[side], count(states, "state"))
        }
    });
    format!("precise: {}", sides.join(", "))
}

/// How integers without bound are kept.
const ZONES: [&str; 2] = ["many", "one"];

/// The columns behind the kind of zones; all but the first are numbers.
const ZONE_COLUMNS: [&str; 5] = ["verdict", "k", "constants", "states", "time"];

fn zone_cells(entry: &Entry) -> [String; 5] {
    let number = |number: Option<u64>| number.map_or(DASH.to_string(), grouped);
    let k = match &entry.answer {
        Answer::Verify(answer) => answer.config.k,
        Answer::Infer(_) => None,
    };
    [
        entry.outcome(),
        number(k.map(|k| k as u64)),
        number(entry.constants()),
        number(entry.states()),
        entry.measured.total_s.map_or(DASH.to_string(), duration),
    ]
}

/// Whether one zone is enough.
fn joined(comparison: &Comparison) -> &'static str {
    match comparison.join_suffices() {
        Some(true) => "--join suffices",
        Some(false) => "--join does not suffice",
        None => "nothing is certain either way",
    }
}

/// For how many programs one zone is enough; nothing if none has integers without bound.
fn joins(comparisons: &[Comparison]) -> Option<String> {
    let known = comparisons.iter().filter_map(Comparison::join_suffices);
    let known: Vec<bool> = known.collect();
    let enough = known.iter().filter(|suffices| **suffices).count();
    let any = comparisons
        .iter()
        .any(|comparison| comparison.zones.is_some());
    any.then(|| format!("one zone (--join): enough for {enough} of {}", known.len()))
}

/// For people, one table a program and one over all.
pub fn text(comparisons: &[Comparison], name: impl Fn(&str) -> String, paint: Paint) -> String {
    let mut out = String::new();
    for comparison in comparisons {
        let (program, model) = (name(comparison.program), comparison.model.upper());
        let _ = writeln!(out, "{program} under {model}: {}\n", optimum(comparison));
        if let Some(zones) = comparison.zones {
            let mut rows = vec![vec!["zones".to_string()]];
            rows[0].extend(ZONE_COLUMNS.map(String::from));
            for (kind, entry) in ZONES.iter().zip(zones) {
                let mut row = vec![kind.to_string()];
                row.extend(zone_cells(entry));
                rows.push(row);
            }
            let right = [false, false, true, true, true, true];
            let _ = writeln!(out, "{}", table(&rows, &right, paint));
            let _ = writeln!(out, "  {}\n", joined(comparison));
            continue;
        }
        let mut rows = vec![["k", "abs"].map(String::from).to_vec()];
        rows[0].extend(shown(COLUMNS.map(String::from), comparisons));
        for (k, sides) in &comparison.rows {
            for (index, side) in sides.iter().enumerate() {
                let k = if index == 0 {
                    k.to_string()
                } else {
                    String::new()
                };
                let mut row = vec![k, NAMES[index].to_string()];
                row.extend(shown(cells(side), comparisons));
                rows.push(row);
            }
        }
        let right = [true, false, false, true, true, true, true, true, true];
        let right = &right[..rows[0].len()];
        let _ = writeln!(out, "{}", table(&rows, right, paint));
        let _ = writeln!(out, "  {}\n", conclusion(comparison));
    }
    let _ = writeln!(out, "over all\n");
    let mut rows = vec![["k", "FD precise", "PD precise", "states FD : PD"].map(String::from)];
    for at in over_all(comparisons) {
        let [fd, pd] = at
            .precise
            .map(|precise| format!("{precise} of {}", at.compared));
        rows.push([at.k.to_string(), fd, pd, ratio(&at)]);
    }
    if rows.len() > 1 {
        let _ = writeln!(out, "{}", table(&rows, &[true; 4], paint));
        for line in wins(comparisons) {
            let _ = writeln!(out, "  {line}");
        }
    }
    if let Some(line) = joins(comparisons) {
        let _ = writeln!(out, "  {line}");
    }
    out
}

fn ratio(at: &AtK) -> String {
    at.ratio
        .map_or(DASH.to_string(), |ratio| format!("{ratio:.2}"))
}

/// How often each side wins.
fn tally<'a>(comparisons: &[Comparison<'a>], of: fn(&Comparison<'a>) -> Winner) -> [usize; 3] {
    [Winner::Fd, Winner::Pd, Winner::Equal]
        .map(|wanted| comparisons.iter().filter(|c| of(c) == wanted).count())
}

fn wins(comparisons: &[Comparison]) -> [String; 2] {
    let line = |what: &str, [fd, pd, equal]: [usize; 3]| {
        format!("{what}: FD wins {fd}, PD wins {pd}, equal {equal}")
    };
    [
        line(
            "precision (smaller k)",
            tally(comparisons, Comparison::precision),
        ),
        line(
            "size (fewer states at that k)",
            tally(comparisons, Comparison::size),
        ),
    ]
}

/// One row a program and k, then who wins.
pub fn markdown(comparisons: &[Comparison], name: impl Fn(&str) -> String) -> String {
    let mut out = String::from(
        "## Over all\n\n| k | FD precise | PD precise | states, FD : PD |\n|---:|---:|---:|---:|\n",
    );
    for at in over_all(comparisons) {
        let [fd, pd] = at
            .precise
            .map(|precise| format!("{precise} of {}", at.compared));
        let _ = writeln!(out, "| {} | {fd} | {pd} | {} |", at.k, ratio(&at));
    }
    out.push('\n');
    for line in wins(comparisons) {
        let _ = writeln!(out, "- {line}");
    }
    out.push_str(
        "\n## Who wins\n\n| program | model | fences needed | FD precise from k | PD precise from k \
         | precision | states FD | states PD | size |\n|---|---|---:|---:|---:|---|---:|---:|---|\n",
    );
    let bounded = || {
        let bounded = comparisons.iter();
        bounded.filter(|comparison| comparison.zones.is_none())
    };
    for comparison in bounded() {
        let needed = match comparison.optimum {
            None => DASH.to_string(),
            Some((fences, true)) => fences.to_string(),
            Some((fences, false)) => format!("≤ {fences}"),
        };
        let [fd, pd] = comparison
            .precise()
            .map(|k| k.map_or("never".into(), |k| k.to_string()));
        let [fd_size, pd_size] = comparison.sizes().map(|s| s.map_or(DASH.into(), grouped));
        let _ = writeln!(
            out,
            "| {} | {} | {needed} | {fd} | {pd} | {} | {fd_size} | {pd_size} | {} |",
            name(comparison.program),
            comparison.model.upper(),
            comparison.precision().as_str(),
            comparison.size().as_str(),
        );
    }
    let columns = shown(COLUMNS.map(String::from), comparisons);
    let _ = write!(
        out,
        "\n## Every k\n\n| program | model | k | abs | {} |\n|---|---|---:|---|---|{}\n",
        columns.join(" | "),
        "---:|".repeat(columns.len() - 1)
    );
    for comparison in bounded() {
        for (k, sides) in &comparison.rows {
            for (index, side) in sides.iter().enumerate() {
                let cells = cells(side).map(|cell| cell.trim().to_string());
                let cells = shown(cells, comparisons);
                let _ = writeln!(
                    out,
                    "| {} | {} | {k} | {} | {} |",
                    name(comparison.program),
                    comparison.model.upper(),
                    NAMES[index],
                    cells.join(" | ")
                );
            }
        }
    }
    if let Some(line) = joins(comparisons) {
        out.push_str(&zones_markdown(comparisons, name));
        let _ = writeln!(out, "\n- {line}");
    }
    out
}

/// One row a program with integers without bound and kind of zones.
fn zones_markdown(comparisons: &[Comparison], name: impl Fn(&str) -> String) -> String {
    let mut out = format!(
        "\n## Integers without bound\n\n| program | model | zones | {} | |\n|---|---|---|---|{}---|\n",
        ZONE_COLUMNS.join(" | "),
        "---:|".repeat(ZONE_COLUMNS.len() - 1)
    );
    for comparison in comparisons {
        for (kind, entry) in ZONES.iter().zip(comparison.zones.iter().flatten()) {
            let conclusion = if *kind == "one" {
                joined(comparison)
            } else {
                ""
            };
            let _ = writeln!(
                out,
                "| {} | {} | {kind} | {} | {conclusion} |",
                name(comparison.program),
                comparison.model.upper(),
                zone_cells(entry).join(" | ")
            );
        }
    }
    out
}

/// Everything as data; what differs from run to run is in `timing` objects.
pub fn json(comparisons: &[Comparison]) -> Json {
    let side = |side: &Side| {
        let verified = side.verified;
        json!({
            "outcome": verified.map(Entry::outcome),
            "spurious": verified.and_then(|entry| entry.answer.spurious()),
            "states": side.states(),
            "transitions": side.transitions(),
            "inferred": side.inferred.map(Entry::outcome),
            "fences": side.inferred.and_then(Entry::fences),
            "precise": side.precise,
            "timing": {
                "verify_s": verified.and_then(|entry| entry.measured.total_s),
                "infer_s": side.inferred.and_then(|entry| entry.measured.total_s),
                "peak_bytes": verified.and_then(|entry| entry.measured.peak_bytes),
                "formulas": side.inferred.and_then(|entry| entry.measured.formulas.map(|count| count as u64)),
            },
        })
    };
    let programs = comparisons.iter().map(|comparison| {
        let rows = comparison.rows.iter();
        let rows = rows.map(|(k, [fd, pd])| json!({ "k": k, "fd": side(fd), "pd": side(pd) }));
        let [fd, pd] = comparison.precise();
        let zones = comparison.zones.map(|zones| {
            let [many, one] = zones.map(|entry| {
                json!({
                    "outcome": entry.outcome(),
                    "states": entry.states(),
                    "constants": entry.constants(),
                    "timing": { "verify_s": entry.measured.total_s },
                })
            });
            json!({ "many": many, "one": one, "join_suffices": comparison.join_suffices() })
        });
        let mut program = json!({
            "program": comparison.program,
            "model": comparison.model.to_string(),
            "optimum": comparison.optimum.map(|(fences, _)| fences),
            "optimum_certain": comparison.optimum.map(|(_, certain)| certain),
            "precise_from": { "fd": fd, "pd": pd },
            "precision": comparison.precision().as_str(),
            "size": comparison.size().as_str(),
            "rows": rows.collect::<Vec<_>>(),
        });
        if let Some(zones) = zones {
            program["zones"] = zones;
        }
        program
    });
    let overall = over_all(comparisons).into_iter().map(|at| {
        json!({
            "k": at.k,
            "programs": at.compared,
            "precise": { "fd": at.precise[0], "pd": at.precise[1] },
            "states_ratio": at.ratio,
        })
    });
    json!({
        "schema": "fencesmith-compare/1",
        "tool": env!("CARGO_PKG_VERSION"),
        "programs": programs.collect::<Vec<_>>(),
        "overall": overall.collect::<Vec<_>>(),
    })
}
