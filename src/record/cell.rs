//! Cells of a sweep: what is asked in one, and what is written down of the answer.

use super::answer::{Answer, Stopped};
use super::stats::{Stats, Tried};
use crate::infer::EngineKind;
use crate::memory::{Abstraction, AbstractionKind, Model};
use crate::names::named_enum;
use crate::verify::{FIRST_WIDENING, Strategy};
use serde::{Deserialize, Serialize};
use std::fmt;

/// One question about one program.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    pub program: String,
    pub model: Model,
    pub mode: Mode,
    pub abstraction: AbstractionKind,
    /// The length of the ordered head, or of exact buffers. Set has none, and FD without one
    /// is refined.
    pub k: Option<usize>,
    /// How fences are inferred.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineKind>,
    /// Integers without bound are kept in one zone for each state of the rest.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub join: bool,
    /// The program is verified with the fewest fences that refinement finds for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fenced: bool,
}

named_enum! {
    /// What is done with a program.
    pub enum Mode: "mode" {
        /// Prove it or break it
        Verify = "verify",
        /// Find the fewest fences
        Infer = "infer",
    }
}

/// An answered cell: everything that is the same in every run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellRecord {
    pub cell: Cell,
    /// The limit that ended it, if one did. There may be an answer all the same: a violation
    /// that was found before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
    pub report: Answer,
}

/// An answered cell: everything else.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredRecord {
    pub cell: Cell,
    pub measured: Measured,
}

/// What differs from run to run: seconds, memory, formula counts, and the figures that a
/// limit cut short.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Measured {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_s: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub states_per_s: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_state: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formulas: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formula_nodes: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updates: Option<u64>,
    /// What a limit cut short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stats: Option<Stats>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tried: Option<TriedHeads>,
}

/// Values of k that were too small before a limit was reached.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub enum TriedHeads {
    Verify(Vec<Tried>),
    Infer(Vec<usize>),
}

impl CellRecord {
    /// Separates what is the same in every run from what is not. What the manifest of a sweep
    /// says already is left out.
    pub fn split(
        cell: &Cell,
        mut answer: Answer,
        stopped: Option<Stopped>,
    ) -> (CellRecord, MeasuredRecord) {
        let (stats, timing, tried) = match &mut answer {
            Answer::Verify(answer) => {
                (answer.program, answer.source, answer.stopped) = Default::default();
                let tried = stopped.map(|_| std::mem::take(&mut answer.tried));
                let tried = tried.filter(|tried| !tried.is_empty());
                (
                    &mut answer.stats,
                    answer.timing.take(),
                    tried.map(TriedHeads::Verify),
                )
            }
            Answer::Infer(answer) => {
                (answer.program, answer.source, answer.stopped) = Default::default();
                let tried = stopped.and_then(|_| answer.tried.take());
                (
                    &mut answer.stats,
                    answer.timing.take(),
                    tried.map(TriedHeads::Infer),
                )
            }
        };
        let mut measured = Measured {
            tried,
            ..Measured::default()
        };
        if let Some(timing) = timing {
            measured.total_s = Some(timing.total_s);
            measured.states_per_s = timing.states_per_s;
            measured.peak_bytes = timing.peak_bytes;
        }
        // These depend on the threads that were used.
        if let Some(stats) = stats {
            measured.bytes_per_state = stats.bytes_per_state.take();
            measured.formulas = stats.formulas.take();
            measured.formula_nodes = stats.formula_nodes.take();
            measured.updates = stats.updates.take();
        }
        if stopped.is_some() {
            measured.stats = stats.take();
        }
        let record = CellRecord {
            cell: cell.clone(),
            stopped,
            report: answer,
        };
        let cell = cell.clone();
        (record, MeasuredRecord { cell, measured })
    }
}

impl Cell {
    /// The abstraction to begin with.
    pub fn abstraction(&self) -> Abstraction {
        let first = match self.abstraction {
            AbstractionKind::Logs => FIRST_WIDENING,
            _ => 1,
        };
        Abstraction::new(self.abstraction, self.k.unwrap_or(first))
    }

    /// How to go on from there.
    pub fn strategy(&self) -> Strategy {
        match self.abstraction {
            AbstractionKind::Logs => Strategy::Refine,
            _ if self.refine() => Strategy::Refine,
            _ => Strategy::Fixed,
        }
    }

    /// Whether k is raised while counterexamples turn out not to be real.
    pub fn refine(&self) -> bool {
        self.abstraction == AbstractionKind::Fd && self.k.is_none()
    }

    /// The head as a person writes it: a number, `auto`, or nothing for Set.
    pub fn head(&self) -> String {
        match self.k {
            Some(k) => k.to_string(),
            None if self.refine() => "auto".to_string(),
            None => String::new(),
        }
    }

    /// The representation of buffers, as in a table: `FD(k=1)`.
    pub fn representation(&self) -> String {
        let buffers = match self.refine() {
            true if self.join => "FD(auto, join)".to_string(),
            true => "FD(auto)".to_string(),
            false => self.abstraction().to_string(),
        };
        match self.fenced {
            true => format!("{buffers}, fenced"),
            false => buffers,
        }
    }
}

/// `mutex/peterson.fen under PSO by FD(k=1)`.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (model, representation) = (self.model.upper(), self.representation());
        write!(f, "{} under {model} by {representation}", self.program)?;
        match self.engine {
            Some(engine) if engine != EngineKind::Lazy => write!(f, ", engine {engine}"),
            _ => Ok(()),
        }
    }
}
