//! One cell, answered.

use super::cell::{Cell, EngineKind, Mode};
use super::entry::{Entry, read_measured, read_record};
use super::manifest::Settings;
use crate::infer::{self, Engine, Ordering, Paths, PdPrevent, Where};
use crate::program::Program;
use crate::report::inference::{Asked, Inferred};
use crate::report::verdict::Verdict;
use crate::source::Source;
use crate::space::{End, Limits, Monitor, StopReason};
use crate::verify::{self, Options, verify, verify_refining};
use serde::Serialize;
use serde_json::{Map, Value as Json, json};
use std::time::Instant;

/// A program that cells are about.
#[derive(Debug)]
pub struct Subject {
    pub source: Source,
    /// The whole program, with all of its points.
    pub program: Program,
}

/// What one cell may use.
#[derive(Debug, Clone, Copy)]
pub struct Resources {
    pub threads: usize,
    /// In bytes.
    pub memory: Option<u64>,
}

/// An answered cell.
#[derive(Debug, Clone)]
pub struct Finished {
    /// Everything that is the same in every run.
    pub record: Json,
    /// The rest: seconds, memory, formula counts, and the figures that a limit cut short.
    pub measured: Json,
    /// The limit that ended it, if one did. There may be an answer all the same: a violation
    /// that was found before.
    pub stopped: Option<StopReason>,
}

impl Finished {
    /// What was written down, read again.
    pub fn entry(&self) -> Entry {
        let entry = read_record(&self.record).and_then(|mut entry| {
            entry.measured = read_measured(&self.measured)?.1;
            Ok(entry)
        });
        entry.expect("what is written can be read")
    }
}

/// Figures that depend on the threads used.
const VOLATILE: [&str; 4] = ["bytes_per_state", "formulas", "formula_nodes", "updates"];

/// Answers a cell.
pub fn run(
    subject: &Subject,
    cell: &Cell,
    settings: &Settings,
    resources: Resources,
    monitor: &Monitor,
) -> Finished {
    let begin = Instant::now();
    let options = Options {
        atomics: settings.atomics,
        fuse: settings.fuse,
        full: settings.full,
        threads: resources.threads,
        limits: Limits {
            max_states: settings.max_states,
            max_memory: resources.memory,
            // A deadline that no clock reaches is none.
            deadline: settings.timeout.and_then(|time| begin.checked_add(time)),
        },
        ..Options::new(cell.model, cell.abstraction())
    };
    let (report, stopped) = match cell.mode {
        Mode::Verify => verified(subject, cell, &options, begin, monitor),
        Mode::Infer => inferred(subject, cell, settings, options, begin, monitor),
    };
    split(cell, report, stopped)
}

fn verified(
    subject: &Subject,
    cell: &Cell,
    options: &Options,
    begin: Instant,
    monitor: &Monitor,
) -> (Map<String, Json>, Option<StopReason>) {
    let program = subject.program.fenced(&Default::default());
    let answer = match cell.refine() {
        true => verify_refining(&program, options, monitor),
        false => verify(&program, options, monitor),
    };
    let verdict = Verdict {
        source: &subject.source,
        program: &program,
        options,
        fences: &[],
        answer: &answer,
        seconds: begin.elapsed().as_secs_f64(),
    };
    let stopped = match answer.exploration.end {
        End::Limit(reason) => Some(reason),
        // The replay of a counterexample is given up for a limit only.
        _ if answer.outcome == verify::Outcome::Inconclusive(verify::Reason::Undecided) => {
            monitor.stop(&options.limits)
        }
        End::Exhausted | End::FirstError => None,
    };
    (object(&verdict.json()), stopped)
}

fn inferred(
    subject: &Subject,
    cell: &Cell,
    settings: &Settings,
    options: Options,
    begin: Instant,
    monitor: &Monitor,
) -> (Map<String, Json>, Option<StopReason>) {
    let costs = vec![Some(1); subject.program.points.len()];
    let options = infer::Options {
        engine: match cell.engine.unwrap_or(EngineKind::Lazy) {
            EngineKind::Lazy => Engine::Lazy,
            EngineKind::Points => Engine::Points,
            EngineKind::Ordering => Engine::Ordering(Ordering {
                paths: Paths::All,
                pd_prevent: PdPrevent::Mix,
            }),
        },
        refine: cell.refine(),
        all: settings.all,
        why: true,
        ..infer::Options::new(options, costs)
    };
    let found = infer::infer(&subject.program, &options, monitor);
    let inferred = Inferred {
        source: &subject.source,
        program: &subject.program,
        options: &options,
        asked: Asked {
            place: Where::Anywhere,
            cost: "uniform",
            per_process: false,
            target: None,
        },
        found: &found,
        seconds: begin.elapsed().as_secs_f64(),
    };
    let stopped = match found.outcome {
        infer::Outcome::Inconclusive(infer::Reason::Limit(reason)) => Some(reason),
        _ => found.cut,
    };
    (object(&inferred.json()), stopped)
}

fn object(report: &impl Serialize) -> Map<String, Json> {
    match serde_json::to_value(report) {
        Ok(Json::Object(object)) => object,
        _ => unreachable!("a report is an object with string keys and finite numbers"),
    }
}

/// Separates what is the same in every run from what is not.
fn split(cell: &Cell, mut report: Map<String, Json>, stopped: Option<StopReason>) -> Finished {
    // The manifest has them.
    report.shift_remove("source");
    report.shift_remove("program");
    // The record says it, also if there is an answer all the same.
    report.shift_remove("stopped");
    let mut measured = match report.shift_remove("timing") {
        Some(Json::Object(timing)) => timing,
        _ => Map::new(),
    };
    if let Some(Json::Object(stats)) = report.get_mut("stats") {
        for name in VOLATILE {
            let value = stats.shift_remove(name);
            measured.extend(value.map(|value| (name.to_string(), value)));
        }
    }
    if stopped.is_some() {
        for name in ["stats", "tried"] {
            let value = report.shift_remove(name);
            measured.extend(value.map(|value| (name.to_string(), value)));
        }
    }
    let mut record = Map::from_iter([("cell".to_string(), json!(cell))]);
    record.extend(stopped.map(|reason| ("stopped".to_string(), json!(reason.word()))));
    record.insert("report".to_string(), Json::Object(report));
    Finished {
        record: Json::Object(record),
        measured: json!({ "cell": cell, "measured": measured }),
        stopped,
    }
}
