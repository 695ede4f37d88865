//! `fencesmith litmus`.

use super::args::{self, OutputFormat};
use super::find::{Found, find};
use super::verify::{json_text, limits};
use super::{Exit, Failure, conclude, input, print, progress};
use crate::import::{Format, litmus};
use crate::litmus::{Finals, LitmusOptions, Runnable};
use crate::memory::Model;
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A test under one model.
#[derive(Debug, Serialize)]
struct Line {
    file: String,
    name: String,
    model: String,
    verdict: String,
    /// The number of final states.
    states: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    finals: Option<Vec<String>>,
    /// Why there may be more states.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// Runs all tests, several at a time; the results come in the order of the files.
pub fn run(args: &args::Litmus) -> Result<Exit, Failure> {
    if args.common.from.is_some_and(|from| from != Format::Litmus) {
        let text = "only litmus tests have a table of final states";
        return Err(Failure::Message {
            text: text.to_string(),
            help: Some("`verify` reads all formats".to_string()),
        });
    }
    let Found { files, failures } = find(&args.files, &["litmus"]);
    let mut failures: Vec<Failure> = failures.into_iter().map(|(_, failure)| failure).collect();
    let models: Vec<Model> = args::distinct(&args.model);
    let monitor = progress::interruptible();
    let pool = ThreadPoolBuilder::new().num_threads(args.common.thread_count());
    let pool = pool.build();
    let pool = pool.map_err(|error| Failure::message(format!("cannot start threads: {error}")))?;
    let one = |file: &PathBuf| {
        let test = prepare(file)?;
        let run = |model: &Model| {
            let options = LitmusOptions {
                model: *model,
                atomics: args.common.atomics,
                bound: args.bound as usize,
                limits: limits(&args.common),
            };
            test.run(&options, &monitor)
        };
        let results = models.iter().map(|model| {
            let finals = run(model);
            let hit = finals.incomplete.is_some();
            (line(file, &test, *model, &finals, args.states), hit)
        });
        Ok(results.collect::<Vec<(Line, bool)>>())
    };
    let what = format!("{} litmus tests", files.len());
    let results: Vec<Result<Vec<(Line, bool)>, Failure>> =
        progress::watched(&args.common, &monitor, &what, || {
            pool.install(|| files.par_iter().map(one).collect())
        });
    let mut exit = Exit::Fine;
    let mut lines = Vec::new();
    for result in results {
        match result {
            Err(failure) => failures.push(failure),
            Ok(results) => {
                for (line, incomplete) in results {
                    exit = exit.min(if incomplete {
                        Exit::Inconclusive
                    } else {
                        Exit::Fine
                    });
                    lines.push(line);
                }
            }
        }
    }
    match args.common.format {
        OutputFormat::Json => print(&json_text(&lines))?,
        OutputFormat::Text => print(&lines.iter().map(text).collect::<String>())?,
    }
    Ok(conclude(exit, &failures, args.common.stderr_color()))
}

fn prepare(file: &Path) -> Result<Runnable, Failure> {
    let source = input::read(file)?;
    match litmus::read(&source).and_then(Runnable::new) {
        Ok(test) => Ok(test),
        Err(diagnostics) => Err(Failure::Program(source, diagnostics)),
    }
}

fn line(file: &Path, test: &Runnable, model: Model, finals: &Finals, states: bool) -> Line {
    let described = || {
        let all = finals.states.iter();
        all.map(|values| test.describe(values)).collect()
    };
    Line {
        file: file.display().to_string(),
        name: test.name().to_string(),
        model: model.to_string(),
        verdict: finals.verdict.to_string(),
        states: finals.states.len(),
        finals: states.then(described),
        note: finals.incomplete.map(|incomplete| incomplete.to_string()),
    }
}

/// `NAME tso Allowed 4`, and the states below it if they are wanted.
fn text(line: &Line) -> String {
    let Line {
        name,
        model,
        verdict,
        states,
        ..
    } = line;
    let note = line.note.as_ref().map(|note| format!(" ({note})"));
    let mut out = format!(
        "{name} {model} {verdict} {states}{}\n",
        note.unwrap_or_default()
    );
    for state in line.finals.iter().flatten() {
        out.push_str(state);
        out.push('\n');
    }
    out
}
