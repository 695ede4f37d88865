//! `fencesmith litmus`.

use super::args::{self, OutputFormat};
use super::find::{Found, find};
use super::interrupt::Interruptible;
use super::streams::{print, print_message};
use super::verify::{json_text, limits_within, memory_limit};
use super::{Exit, Failure, conclude, input, progress};
use crate::import::{Format, litmus};
use crate::litmus::{Finals, LitmusOptions, Runnable};
use crate::memory::Model;
use crate::source::Source;
use crate::words::count;
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
    // Reading standard input may wait; signals have their default effect meanwhile.
    let read = |file: &PathBuf| input::read(file).map(|source| (file.clone(), source));
    let mut sources = Vec::new();
    for result in files.iter().map(read) {
        match result {
            Ok(source) => sources.push(source),
            Err(failure) => failures.push(failure),
        }
    }
    let answers = answer(args, &sources)?;
    let mut exit = Exit::Fine;
    let (mut lines, mut skipped) = (Vec::new(), 0);
    for answer in answers {
        match answer {
            Answer::Lines(new) => {
                if new.iter().any(|line| line.note.is_some()) {
                    exit = Exit::Inconclusive;
                }
                lines.extend(new);
            }
            Answer::Failed(failure) => failures.push(failure),
            Answer::Skipped => skipped += 1,
        }
    }
    match args.common.format {
        OutputFormat::Json => print(&json_text(&lines))?,
        OutputFormat::Text => print(&lines.iter().map(text).collect::<String>())?,
    }
    if skipped > 0 {
        exit = Exit::Inconclusive;
        let tests = count(skipped, "test");
        print_message(&format!(
            "interrupted: {tests} of {} not run\n",
            sources.len()
        ));
    }
    Ok(conclude(exit, &failures))
}

/// What came of a test.
enum Answer {
    /// A line for each model.
    Lines(Vec<Line>),
    Failed(Failure),
    /// A signal came before it was begun.
    Skipped,
}

/// Runs the tests, several at a time.
fn answer(args: &args::Litmus, sources: &[(PathBuf, Source)]) -> Result<Vec<Answer>, Failure> {
    let models: Vec<Model> = args::distinct(&args.model);
    let memory = memory_limit(&args.common);
    let searches = Interruptible::new();
    let pool = ThreadPoolBuilder::new().num_threads(args.common.thread_count());
    let pool = pool.build();
    let pool = pool.map_err(|error| Failure::message(format!("cannot start threads: {error}")))?;
    let one = |(file, source): &(PathBuf, Source)| {
        if searches.monitor.interrupted() {
            return Answer::Skipped;
        }
        let test = match litmus::read(source).and_then(Runnable::new) {
            Ok(test) => test,
            Err(diagnostics) => {
                return Answer::Failed(Failure::Program(source.clone(), diagnostics));
            }
        };
        let lines = models.iter().map(|model| {
            let options = LitmusOptions {
                model: *model,
                atomics: args.common.atomics(),
                bound: args.bound as usize,
                limits: limits_within(&args.common, memory),
            };
            let finals = test.run(&options, &searches.monitor);
            line(file, &test, *model, &finals, args.states)
        });
        Answer::Lines(lines.collect())
    };
    let what = format!("{} litmus tests", sources.len());
    Ok(progress::watched(&args.common, &searches, &what, |_| {
        pool.install(|| sources.par_iter().map(one).collect())
    }))
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
