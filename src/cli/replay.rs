//! `fencesmith replay`.

use super::args::{self, OutputFormat};
use super::streams::print;
use super::verify::json_text;
use super::{Exit, Failure, input};
use crate::describe;
use crate::fences;
use crate::memory::{Abstraction, Semantics};
use crate::program::{PointSet, Program};
use crate::record::{SCHEMA, TRACE_SCHEMA, TraceFile};
use crate::replay::{Replay, replay};
use crate::source::Source;
use crate::words::count;
use std::path::Path;

/// A recorded trace, and the fences of the program it is one of.
pub fn recorded(
    path: &Path,
    source: &Source,
    whole: &Program,
) -> Result<(TraceFile, PointSet), Failure> {
    let record = input::read(path)?;
    let wrong = |text: String| Failure::message(format!("'{}': {text}", path.display()));
    let file: TraceFile = serde_json::from_str(record.text())
        .map_err(|error| wrong(format!("this is not a trace: {error}")))?;
    if file.schema != TRACE_SCHEMA {
        return Err(wrong(format!(
            "the schema is '{}', not '{}'",
            file.schema, TRACE_SCHEMA
        )));
    }
    let fences = file.config.fences.iter().map(|text| {
        let place = text.parse().map_err(&wrong)?;
        fences::find(whole, source, &place).map_err(&wrong)
    });
    let fences = fences.collect::<Result<PointSet, Failure>>()?;
    Ok((file, fences))
}

/// How the steps of a recorded trace are taken: on the exact model.
pub fn semantics(file: &TraceFile) -> Semantics {
    Semantics {
        atomics: file.config.atomics,
        fuse: file.config.fuse,
        ..Semantics::new(file.config.model, Abstraction::Set).exact()
    }
}

/// Replays a recorded trace.
pub fn run(args: &args::Replay) -> Result<Exit, Failure> {
    let input = input::program(&args.file, &args.common)?;
    let (source, whole) = (input.source, input.program);
    let (file, fences) = recorded(&args.trace, &source, &whole)?;
    let program = whole.fenced(&fences);
    let semantics = semantics(&file);
    let stepper = semantics.stepper(&program);
    let result = replay(&stepper, &source, &file.initial, &file.steps);
    let (outcome, text, step, exit) = match &result {
        Replay::Violated(violation, trace) => {
            let (text, _) = describe::violation(&program, &source, *violation, trace.last());
            let steps = count(file.steps.len() as u64, "step");
            (
                "violated",
                format!("the trace fits ({steps}), and at its end: {text}"),
                None,
                Exit::Violated,
            )
        }
        Replay::Harmless => {
            let steps = count(file.steps.len() as u64, "step");
            (
                "harmless",
                format!("the trace fits ({steps}), but nothing is wrong at its end"),
                None,
                Exit::Fine,
            )
        }
        Replay::BadStart => {
            let text = "the program cannot start with these values".to_string();
            ("stuck", text, Some(0), Exit::Inconclusive)
        }
        Replay::Stuck { index, possible } => {
            let recorded = &file.steps[*index];
            let possible = match &possible[..] {
                [] => format!("{} cannot move there", recorded.process),
                possible => format!("{} can only: {}", recorded.process, possible.join("; ")),
            };
            let text = format!(
                "step {} does not fit: {}: {}; {possible}",
                index + 1,
                recorded.process,
                recorded.step
            );
            ("stuck", text, Some(index + 1), Exit::Inconclusive)
        }
    };
    let other = file.program != source.name() && exit == Exit::Inconclusive;
    let text = match other {
        true => format!("{text}; the trace is one of '{}'", file.program),
        false => text,
    };
    match args.common.format {
        OutputFormat::Json => print(&json_text(&serde_json::json!({
            "schema": SCHEMA,
            "tool": env!("CARGO_PKG_VERSION"),
            "command": "replay",
            "program": source.name(),
            "outcome": outcome,
            "reason": text,
            "step": step,
        })))?,
        OutputFormat::Text => print(&format!(
            "{} under {}: {text}\n",
            source.name(),
            file.config.model.upper()
        ))?,
    }
    Ok(exit)
}
