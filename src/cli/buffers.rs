//! `fencesmith buffers`.

use super::args::{self, OutputFormat};
use super::interrupt::Interruptible;
use super::streams::{print, stdout_paint};
use super::verify::{json_text, limits};
use super::{Exit, Failure, input, progress};
use crate::lang::resolve::resolve;
use crate::memory::{Abstraction, Semantics};
use crate::occupancy::{OccupancyOptions, occupancy, occupancy_of_integers};
use crate::record::BuffersOutcome;
use crate::report::occupancy::OccupancyReport;
use std::time::Instant;

/// Says how long the buffers of a program get, under each model asked for.
pub fn run(args: &args::Buffers) -> Result<Exit, Failure> {
    let input = input::program(&args.file, &args.common)?;
    let symbols = match &input.ast {
        Some(ast) if input.program.has_integers() => {
            let broken = |diagnostics| Failure::Program(input.source.clone(), diagnostics);
            Some((ast, resolve(ast).map_err(broken)?))
        }
        _ => None,
    };
    let searches = Interruptible::new();
    let program = input.program.fenced(&Default::default());
    let mut exit = Exit::Fine;
    let mut records = Vec::new();
    for model in args::distinct(&args.model) {
        let bound = args.bound as usize;
        let options = OccupancyOptions {
            semantics: Semantics {
                atomics: args.common.atomics(),
                fuse: !args.common.no_fuse,
                ..Semantics::new(model, Abstraction::Exact { bound })
            },
            most: bound,
            limits: limits(&args.common),
        };
        let begin = Instant::now();
        let what = format!("{} under {}", input.source.name(), model.upper());
        let found = progress::watched(&args.common, &searches, &what, |monitor| match &symbols {
            None => occupancy(&program, &options, monitor),
            Some((ast, symbols)) => {
                occupancy_of_integers((ast, symbols), &program, &options, monitor)
            }
        });
        let report = OccupancyReport {
            source: &input.source,
            program: &program,
            options: &options,
            answer: &found,
            seconds: begin.elapsed().as_secs_f64(),
        };
        exit = exit.min(match report.outcome() {
            BuffersOutcome::Bounded => Exit::Fine,
            BuffersOutcome::Unbounded => Exit::Violated,
            BuffersOutcome::Inconclusive => Exit::Inconclusive,
        });
        match args.common.format {
            OutputFormat::Text => print(&report.text(stdout_paint(), args.common.quiet))?,
            OutputFormat::Json => records.push(report.record()),
        }
    }
    if args.common.format == OutputFormat::Json {
        print(&json_text(&records))?;
    }
    Ok(exit)
}
