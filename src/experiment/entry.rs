//! Cells as they were written down, read again.

use crate::memory::AbstractionKind;
use crate::record::{
    Answer, BrokenOutcome, BrokenProgram, Cell, CellRecord, Measured, Mode, Outcome, SCHEMA, Stats,
    Stopped, TRACE_SCHEMA,
};
use serde_json::{Value as Json, json};

/// A cell and everything that is known about it.
#[derive(Debug, Clone)]
pub struct Entry {
    pub cell: Cell,
    /// The limit that ended it, with or without an answer.
    pub stopped: Option<Stopped>,
    pub answer: Answer,
    pub measured: Measured,
}

/// What came of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellOutcome {
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

impl CellOutcome {
    pub fn as_str(self) -> &'static str {
        match self {
            CellOutcome::Correct => "correct",
            CellOutcome::Violated => "violated",
            CellOutcome::Spurious => "spurious",
            CellOutcome::Placed => "placed",
            CellOutcome::Incorrect => "incorrect",
            CellOutcome::Unfixable => "unfixable",
            CellOutcome::Stopped => "stopped",
            CellOutcome::Inconclusive => "inconclusive",
        }
    }
}

impl Entry {
    pub fn cell_outcome(&self) -> CellOutcome {
        match self.answer.outcome() {
            Outcome::Correct => CellOutcome::Correct,
            Outcome::Violated => CellOutcome::Violated,
            Outcome::Placed => CellOutcome::Placed,
            Outcome::IncorrectUnderSc => CellOutcome::Incorrect,
            Outcome::Unfixable => CellOutcome::Unfixable,
            Outcome::Inconclusive if self.answer.spurious() == Some(true) => CellOutcome::Spurious,
            Outcome::Inconclusive if self.stopped.is_some() => CellOutcome::Stopped,
            Outcome::Inconclusive => CellOutcome::Inconclusive,
        }
    }

    /// The outcome in a table; a limit is named.
    pub fn outcome(&self) -> String {
        match (self.cell_outcome(), &self.stopped) {
            (CellOutcome::Stopped, Some(limit)) => format!("{limit} limit"),
            (word, _) => word.as_str().to_string(),
        }
    }

    /// Whether a limit has kept it from what was asked for: an answer, or the number of states.
    pub fn is_unfinished(&self) -> bool {
        let counts = matches!(&self.answer, Answer::Verify(answer) if answer.config.full);
        self.cell_outcome() == CellOutcome::Stopped || (counts && self.stopped.is_some())
    }

    /// States of the search, or of the largest one to infer; not if a limit cut them short.
    pub fn states(&self) -> Option<u64> {
        let stats = self.stats()?;
        Some(stats.peak_states.unwrap_or(stats.states))
    }

    /// Transitions, over all searches; not if a limit cut them short.
    pub fn transitions(&self) -> Option<u64> {
        Some(self.stats()?.transitions)
    }

    fn stats(&self) -> Option<&Stats> {
        let stats = self.answer.stats().as_ref();
        stats.filter(|_| self.stopped.is_none())
    }

    /// How many constants integers without bound were compared with, if there are any.
    pub fn constants(&self) -> Option<u64> {
        let thresholds = match &self.answer {
            Answer::Verify(answer) => &answer.thresholds,
            Answer::Infer(answer) => &answer.thresholds,
        };
        Some(thresholds.as_ref()?.len() as u64)
    }

    /// Fences of the cheapest placement.
    pub fn fences(&self) -> Option<u64> {
        let placement = self.answer.placement()?;
        Some(placement.fences.len() as u64)
    }
}

impl From<CellRecord> for Entry {
    /// The entry of a cell, without what was measured.
    fn from(record: CellRecord) -> Entry {
        Entry {
            cell: record.cell,
            stopped: record.stopped,
            answer: record.report,
            measured: Measured::default(),
        }
    }
}

/// Reads what `verify` and `infer` wrote with `--format json`, or a saved trace.
pub fn read_answers(text: &str) -> Result<(Vec<Entry>, Vec<BrokenProgram>), String> {
    let read: Json = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let all: Vec<Json> = match read["schema"] == TRACE_SCHEMA {
        true => vec![saved(&read)],
        false => serde_json::from_value(read).map_err(|error| error.to_string())?,
    };
    let is_broken = |json: &Json| json["outcome"] == BrokenOutcome::Error.name();
    let (broken, answers): (Vec<Json>, Vec<Json>) = all.into_iter().partition(is_broken);
    let answers = answers.into_iter().map(|json| {
        let answer = serde_json::from_value(json);
        entry(answer.map_err(|error| error.to_string())?)
    });
    let broken = broken.into_iter().map(serde_json::from_value);
    let broken = broken.collect::<Result<_, _>>();
    Ok((
        answers.collect::<Result<_, String>>()?,
        broken.map_err(|error| error.to_string())?,
    ))
}

/// A saved trace as the answer that it came from, as far as it tells.
fn saved(trace: &Json) -> Json {
    let config = &trace["config"];
    json!({
        "schema": SCHEMA,
        "tool": trace["tool"],
        "command": Mode::Verify,
        "program": trace["program"],
        "config": {
            "model": config["model"],
            "abstraction": AbstractionKind::Exact,
            "atomics": config["atomics"],
            "fuse": config["fuse"],
            "full": false,
            "deadlock": false,
            "fences": config["fences"],
        },
        "outcome": Outcome::Violated,
        "violation": { "text": trace["violation"] },
        "initial": trace["initial"],
        "trace": trace["steps"],
        "spurious": false,
    })
}

/// What was asked for: FD that is refined, whatever has answered in the end, or an abstraction.
fn asked(refined: bool, answered: AbstractionKind) -> AbstractionKind {
    match refined {
        true => AbstractionKind::Fd,
        false => answered,
    }
}

fn entry(answer: Answer) -> Result<Entry, String> {
    if answer.schema() != SCHEMA {
        return Err(format!(
            "the schema is '{}', not '{SCHEMA}'",
            answer.schema()
        ));
    }
    let program = answer.program().clone();
    let cell = match &answer {
        Answer::Verify(answer) => Cell {
            program,
            model: answer.config.model,
            mode: Mode::Verify,
            abstraction: asked(answer.config.refined, answer.config.abstraction),
            k: (answer.config.k.or(answer.config.bound)).filter(|_| !answer.config.refined),
            engine: None,
            join: answer.config.join,
            fenced: false,
        },
        Answer::Infer(answer) => Cell {
            program,
            model: answer.config.model,
            mode: Mode::Infer,
            abstraction: asked(answer.config.refined, answer.config.abstraction),
            k: answer.config.k.filter(|_| !answer.config.refined),
            engine: Some(answer.config.engine),
            join: false,
            fenced: false,
        },
    };
    let stopped = *answer.stopped();
    let (_, measured) = CellRecord::split(&cell, answer.clone(), stopped);
    Ok(Entry {
        cell,
        stopped,
        measured: measured.measured,
        answer,
    })
}
