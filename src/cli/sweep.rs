//! `fencesmith sweep`.

use super::args::{self, EngineName, SweepFormat};
use super::experiment::{self, Questions};
use super::verify::json_text;
use super::{Exit, Failure, print};
use crate::experiment::{Buffers, Columns, EngineKind, Entry, Grid, Listed, Mode, Settings};
use crate::experiment::{csv, json, markdown, placements, text};
use crate::report::text::Paint;
use crate::verify::Model;

/// Answers every cell of a grid.
pub fn run(args: &args::Sweep) -> Result<Exit, Failure> {
    let grid = grid(args)?;
    let questions = Questions {
        command: "sweep",
        options: grid.options(),
        settings: Settings {
            full: args.full,
            all: args.all,
            ..experiment::settings(&args.tables)
        },
    };
    let cells = |names: &mut dyn Iterator<Item = &str>| grid.cells(names);
    let answered = experiment::answer(&args.tables, questions, cells, files)?;
    let (entries, programs) = (&answered.entries, &answered.programs);
    let common = &args.tables.common;
    let paint = Paint {
        color: common.stdout_color(),
    };
    print(&match common.format {
        SweepFormat::Text => text(entries, programs, Columns::All, paint),
        SweepFormat::Markdown => markdown(entries, programs, Columns::All),
        SweepFormat::Csv => csv(entries, Columns::All),
        SweepFormat::Json => json_text(&json(entries, Columns::All)),
    })?;
    Ok(answered.exit)
}

/// The grid asked for, or what does not go together.
fn grid(args: &args::Sweep) -> Result<Grid, Failure> {
    let mode = Mode::from(args.mode);
    let abstractions: Vec<Buffers> = match (&args.abs[..], mode) {
        ([], Mode::Verify) => vec![Buffers::Set, Buffers::Fd, Buffers::Pd],
        ([], Mode::Infer) => vec![Buffers::Fd, Buffers::Pd],
        (named, _) => args::distinct(named).into_iter().map(Into::into).collect(),
    };
    let refuse = |text: &str| Err(Failure::message(text));
    match mode {
        Mode::Infer if abstractions.contains(&Buffers::Set) => {
            return refuse("fences can be inferred under --abs fd or pd only");
        }
        Mode::Infer if args.full => return refuse("--full goes with --mode verify"),
        Mode::Verify if args.engine.is_some() => return refuse("--engine goes with --mode infer"),
        Mode::Verify if args.all.is_some() => return refuse("--all goes with --mode infer"),
        _ => {}
    }
    let grid = Grid {
        mode,
        models: args::distinct(&args.model)
            .into_iter()
            .map(Model::from)
            .collect(),
        abstractions,
        heads: args.k.0.clone(),
        engine: EngineKind::from(args.engine.unwrap_or(EngineName::Lazy)),
    };
    match grid.cells([""]).is_empty() {
        true => refuse("there is nothing to do: --k auto goes with --abs fd and the lazy engine"),
        false => Ok(grid),
    }
}

/// The tables beside the cells. They hold nothing that differs from run to run.
fn files(entries: &[Entry], programs: &[Listed]) -> Vec<(&'static str, String)> {
    let plain = Paint { color: false };
    let mut files = vec![
        (
            "summary.txt",
            text(entries, programs, Columns::Stable, plain),
        ),
        ("summary.md", markdown(entries, programs, Columns::Stable)),
        ("summary.csv", csv(entries, Columns::Stable)),
        ("summary.json", json_text(&json(entries, Columns::Stable))),
    ];
    if entries.iter().any(|entry| entry.cell.mode == Mode::Infer) {
        files.push(("placements.json", json_text(&placements(entries))));
    }
    files
}
