//! `fencesmith sweep`.

use super::args::{self, SweepFormat};
use super::programs::Programs;
use super::run_cells::{self, SweepRequest};
use super::streams::{print, stdout_paint};
use super::verify::json_text;
use super::{Exit, Failure, conclude};
use crate::experiment::{Columns, Entry, Grid, Settings};
use crate::experiment::{csv, json, markdown, placements, text};
use crate::infer::EngineKind;
use crate::memory::AbstractionKind;
use crate::record::{ListedProgram, Mode};
use crate::report::text::Paint;

/// Answers every cell of a grid.
pub fn run(args: &args::Sweep) -> Result<Exit, Failure> {
    let grid = grid(args)?;
    let request = SweepRequest {
        command: "sweep",
        options: grid.options(),
        settings: Settings {
            full: args.full,
            stuck: args.stuck,
            all: args.all,
            ..run_cells::settings(&args.cells)
        },
    };
    let cells = |programs: &Programs| grid.cells(programs.names());
    let answered = match run_cells::answer(&args.cells, request, cells, files)? {
        Ok(answered) => answered,
        Err(exit) => return Ok(exit),
    };
    let (entries, programs) = (&answered.entries, &answered.programs);
    let common = &args.cells.common;
    let paint = stdout_paint();
    print(&match common.format {
        SweepFormat::Text => text(entries, programs, Columns::All, paint),
        SweepFormat::Markdown => markdown(entries, programs, Columns::All),
        SweepFormat::Csv => csv(entries, Columns::All),
        SweepFormat::Json => json_text(&json(entries, Columns::All)),
    })?;
    Ok(conclude(answered.exit, &answered.failures))
}

/// The grid asked for, or what does not go together.
fn grid(args: &args::Sweep) -> Result<Grid, Failure> {
    let mode = args.mode;
    let abstractions: Vec<AbstractionKind> = match (&args.abs[..], mode) {
        ([], Mode::Verify) => vec![
            AbstractionKind::Set,
            AbstractionKind::Fd,
            AbstractionKind::Pd,
        ],
        ([], Mode::Infer) => vec![AbstractionKind::Fd, AbstractionKind::Pd],
        (named, _) => args::distinct(named),
    };
    let refuse = |text: &str| Err(Failure::message(text));
    match mode {
        Mode::Infer if abstractions.contains(&AbstractionKind::Set) => {
            return refuse("fences can be inferred under --abs fd, pd or logs only");
        }
        Mode::Infer
            if abstractions.contains(&AbstractionKind::Logs)
                && args.engine.is_some_and(|engine| engine != EngineKind::Lazy) =>
        {
            return refuse("--abs logs goes with --engine lazy");
        }
        Mode::Verify if args.full && abstractions.contains(&AbstractionKind::Logs) => {
            return refuse("--abs logs does not go with --full: it counts no single states");
        }
        _ if args.stuck && abstractions.contains(&AbstractionKind::Logs) => {
            return refuse("--stuck does not go with --abs logs, which visits no single states");
        }
        Mode::Infer
            if args.stuck && args.engine.is_some_and(|engine| engine != EngineKind::Lazy) =>
        {
            return refuse("--stuck goes with --engine lazy");
        }
        Mode::Infer if args.full => return refuse("--full goes with --mode verify"),
        Mode::Verify if args.engine.is_some() => return refuse("--engine goes with --mode infer"),
        Mode::Verify if args.all.is_some() => return refuse("--all goes with --mode infer"),
        _ => {}
    }
    let grid = Grid {
        mode,
        models: args::distinct(&args.model),
        abstractions,
        heads: args.k.0.clone(),
        engine: args.engine.unwrap_or(EngineKind::Lazy),
    };
    match grid.cells([""]).is_empty() {
        true => refuse("there is nothing to do: --k auto goes with --abs fd and the lazy engine"),
        false => Ok(grid),
    }
}

/// The tables beside the cells. They hold nothing that differs from run to run.
fn files(entries: &[Entry], programs: &[ListedProgram]) -> Vec<(&'static str, String)> {
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
