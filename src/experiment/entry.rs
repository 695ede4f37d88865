//! Cells as they were written down, read again.

use super::cell::{Buffers, Cell, EngineKind, Mode};
use crate::report::json::{Optimality, Outcome, SCHEMA};
use crate::report::trace::{Initial, Step};
use serde::Deserialize;
use serde_json::Value as Json;

/// A cell and everything that is known about it.
#[derive(Debug, Clone)]
pub struct Entry {
    pub cell: Cell,
    /// The limit that ended it, with or without an answer: `time`, `memory`, ….
    pub stopped: Option<String>,
    pub answer: Answer,
    pub measured: Measured,
}

/// What `verify` and `infer` say in JSON, as far as tables and pages need it.
#[derive(Debug, Clone, Deserialize)]
pub struct Answer {
    pub schema: String,
    pub command: Mode,
    #[serde(default)]
    pub program: String,
    /// The text of the program.
    pub source: Option<String>,
    pub config: AnswerConfig,
    pub outcome: Outcome,
    /// The limit that ended it without an answer; the record of a cell says it itself.
    pub stopped: Option<String>,
    pub violation: Option<AnswerViolation>,
    pub initial: Option<Initial>,
    pub trace: Option<Vec<Step>>,
    pub spurious: Option<bool>,
    pub placement: Option<AnswerPlacement>,
    pub placements: Option<Vec<AnswerPlacement>>,
    pub stats: Option<AnswerStats>,
    pub timing: Option<Measured>,
}

/// What was asked.
#[derive(Debug, Clone, Deserialize)]
pub struct AnswerConfig {
    pub model: String,
    pub abstraction: Buffers,
    pub k: Option<usize>,
    pub bound: Option<usize>,
    pub engine: Option<EngineKind>,
}

/// What is violated.
#[derive(Debug, Clone, Deserialize)]
pub struct AnswerViolation {
    pub text: String,
}

/// A placement.
#[derive(Debug, Clone, Deserialize)]
pub struct AnswerPlacement {
    pub cost: u64,
    pub optimality: Optimality,
    pub fences: Vec<AnswerFence>,
}

/// A fence next to the statement that begins at this line and column.
#[derive(Debug, Clone, Deserialize)]
pub struct AnswerFence {
    pub process: String,
    pub line: u32,
    pub column: u32,
    pub position: String,
    pub text: String,
    pub kind: String,
    pub without: Option<Outcome>,
    pub why: Option<Vec<Step>>,
    pub why_initial: Option<Initial>,
}

/// How large the search was.
#[derive(Debug, Clone, Deserialize)]
pub struct AnswerStats {
    pub states: u64,
    pub transitions: u64,
    pub peak_states: Option<u64>,
    pub formulas: Option<u64>,
}

/// What differs from run to run.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Measured {
    pub total_s: Option<f64>,
    pub peak_bytes: Option<u64>,
    pub formulas: Option<u64>,
    /// What a limit cut short.
    pub stats: Option<AnswerStats>,
}

/// What came of a cell, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    Correct,
    Violated,
    /// A violation that exists only in the abstraction.
    Spurious,
    Placed,
    /// Wrong under sequential consistency.
    Incorrect,
    Unfixable,
    /// A limit ended it.
    Stopped,
    Inconclusive,
}

impl Word {
    pub fn as_str(self) -> &'static str {
        match self {
            Word::Correct => "correct",
            Word::Violated => "violated",
            Word::Spurious => "spurious",
            Word::Placed => "placed",
            Word::Incorrect => "incorrect",
            Word::Unfixable => "unfixable",
            Word::Stopped => "stopped",
            Word::Inconclusive => "inconclusive",
        }
    }
}

impl Entry {
    pub fn word(&self) -> Word {
        match self.answer.outcome {
            Outcome::Correct => Word::Correct,
            Outcome::Violated => Word::Violated,
            Outcome::Placed => Word::Placed,
            Outcome::IncorrectUnderSc => Word::Incorrect,
            Outcome::Unfixable => Word::Unfixable,
            Outcome::Inconclusive if self.answer.spurious == Some(true) => Word::Spurious,
            Outcome::Inconclusive if self.stopped.is_some() => Word::Stopped,
            Outcome::Inconclusive => Word::Inconclusive,
        }
    }

    /// The outcome in a table; a limit is named.
    pub fn outcome(&self) -> String {
        match (self.word(), &self.stopped) {
            (Word::Stopped, Some(limit)) => format!("{limit} limit"),
            (word, _) => word.as_str().to_string(),
        }
    }

    /// States of the search, or of the largest one to infer; not if a limit cut them short.
    pub fn states(&self) -> Option<u64> {
        let stats = self.answer.stats.as_ref()?;
        Some(stats.peak_states.unwrap_or(stats.states))
    }

    /// Transitions, over all searches.
    pub fn transitions(&self) -> Option<u64> {
        Some(self.answer.stats.as_ref()?.transitions)
    }

    /// Fences of the cheapest placement.
    pub fn fences(&self) -> Option<u64> {
        let placement = self.answer.placement.as_ref()?;
        Some(placement.fences.len() as u64)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    cell: Cell,
    stopped: Option<String>,
    report: Answer,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MeasuredLine {
    cell: Cell,
    measured: Measured,
}

/// Reads the record of a cell, without what was measured.
pub fn read_record(record: &Json) -> Result<Entry, String> {
    let record = Record::deserialize(record).map_err(|error| error.to_string())?;
    Ok(Entry {
        cell: record.cell,
        stopped: record.stopped,
        answer: record.report,
        measured: Measured::default(),
    })
}

/// Reads what was measured.
pub fn read_measured(line: &Json) -> Result<(Cell, Measured), String> {
    let line = MeasuredLine::deserialize(line).map_err(|error| error.to_string())?;
    Ok((line.cell, line.measured))
}

/// Reads what `verify` and `infer` wrote with `--format json`.
pub fn read_answers(text: &str) -> Result<Vec<Entry>, String> {
    let answers: Vec<Answer> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let entry = |answer: Answer| {
        if answer.schema != SCHEMA {
            return Err(format!("the schema is '{}', not '{SCHEMA}'", answer.schema));
        }
        Ok(Entry {
            cell: Cell {
                program: answer.program.clone(),
                model: answer.config.model.parse()?,
                mode: answer.command,
                abstraction: answer.config.abstraction,
                k: answer.config.k.or(answer.config.bound),
                engine: answer.config.engine,
            },
            stopped: answer.stopped.clone(),
            measured: answer.timing.clone().unwrap_or_default(),
            answer,
        })
    };
    answers.into_iter().map(entry).collect()
}
