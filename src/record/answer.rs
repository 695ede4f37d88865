//! The answers of `verify` and `infer`.

use super::broken::BrokenProgram;
use super::cell::Mode;
use super::occupancy::BuffersAnswer;
use super::stats::{Stats, Timing, Tried};
use super::trace::{Initial, Spin, Step};
use crate::infer::{AllowedGaps, Conclusion, EngineKind, Optimality, Paths, PdMerge, PdPrevent};
use crate::limits::StopReason;
use crate::memory::{AbstractionKind, Atomics, Model};
use crate::names::named_enum;
use crate::program::{FenceKind, Side};
use crate::source::{Location, Position};
use crate::space::Thresholds;
use crate::verify::Verdict;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value as Json;

/// The version of the contract.
pub const SCHEMA: &str = "fencesmith/1";

/// The JSON Schema of what `verify`, `infer` and `buffers` print.
pub fn schema() -> Json {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let generator = settings.into_generator();
    generator.into_root_schema_for::<Vec<Printed>>().to_value()
}

/// What a command prints for one program.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum Printed {
    Answer(Answer),
    Buffers(BuffersAnswer),
    Broken(BrokenProgram),
}

/// What a command prints for one program and model.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Answer {
    Verify(Box<VerifyAnswer>),
    Infer(Box<InferAnswer>),
}

named_enum! {
    /// What was found out.
    pub enum Outcome: "outcome" {
        Correct = "correct",
        Violated = "violated",
        Placed = "placed",
        IncorrectUnderSc = "incorrect-under-sc",
        Unfixable = "unfixable",
        Inconclusive = "inconclusive",
    }
}

impl From<Verdict> for Outcome {
    fn from(verdict: Verdict) -> Outcome {
        match verdict {
            Verdict::Correct => Outcome::Correct,
            Verdict::Violated => Outcome::Violated,
            Verdict::Inconclusive(_) => Outcome::Inconclusive,
        }
    }
}

impl From<&Conclusion> for Outcome {
    fn from(conclusion: &Conclusion) -> Outcome {
        match conclusion {
            Conclusion::Correct(_) => Outcome::Correct,
            Conclusion::Placed(_) => Outcome::Placed,
            Conclusion::IncorrectUnderSc(..) => Outcome::IncorrectUnderSc,
            Conclusion::Unfixable(_) => Outcome::Unfixable,
            Conclusion::Inconclusive(_) => Outcome::Inconclusive,
        }
    }
}

named_enum! {
    /// The limit that ended a run.
    pub enum Stopped: "limit" {
        States = "states",
        Memory = "memory",
        Time = "time",
        Interrupted = "interrupted",
        /// The states of the program are too large.
        Width = "width",
        /// A process that took part was lost.
        Lost = "lost",
        /// States could not be kept on disk.
        Disk = "disk",
        /// The formulas have grown too large.
        Formula = "formula",
    }
}

impl From<StopReason> for Stopped {
    fn from(reason: StopReason) -> Stopped {
        match reason {
            StopReason::MaxStates => Stopped::States,
            StopReason::MaxMemory => Stopped::Memory,
            StopReason::Timeout => Stopped::Time,
            StopReason::Interrupted => Stopped::Interrupted,
            StopReason::TooWide => Stopped::Width,
            StopReason::Lost => Stopped::Lost,
            StopReason::Disk => Stopped::Disk,
        }
    }
}

/// The answer of `verify` for one program under one memory model.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct VerifyAnswer {
    pub schema: String,
    pub tool: String,
    pub command: Mode,
    /// Left out where it is kept elsewhere.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(required)]
    pub program: String,
    /// The program's text, unless it is kept elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    pub config: VerifyConfig,
    pub outcome: Outcome,
    /// The limit that ended it, without an answer or before all states were found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
    /// Why it is inconclusive, and what to try.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What is violated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub violation: Option<Violation>,
    /// Where the trace starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial: Option<Initial>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Vec<Step>>,
    /// Whether the trace exists only in the abstraction and not on the exact model; null
    /// without a trace, or if that was not decided.
    #[serde(default)]
    pub spurious: Option<bool>,
    /// Whether SC has a violation, too: then it is no matter of memory order, and no fence helps.
    /// Left out where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under_sc: Option<bool>,
    /// What each process does for ever at the end of the trace, if that is stuck.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spins: Vec<Spin>,
    /// Values of k that were too small.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<Tried>,
    /// What was told apart of integers without bound; left out if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thresholds: Option<Thresholds>,
    #[serde(default)]
    pub warnings: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub stats: Option<Stats>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub timing: Option<Timing>,
}

/// What `verify` was asked.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct VerifyConfig {
    pub model: Model,
    pub abstraction: AbstractionKind,
    /// The k that the answer rests on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k: Option<usize>,
    /// Whether the abstraction was found by the tool, and not asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refined: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<usize>,
    pub atomics: Atomics,
    pub fuse: bool,
    pub full: bool,
    pub deadlock: bool,
    /// Whether states that are stuck were violations, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stuck: bool,
    /// Whether robustness was asked for instead of properties: that every state without
    /// pending stores is one of sequential consistency.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub robust: bool,
    /// Whether all integers without bound of one state were kept together.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub join: bool,
    pub fences: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Violation {
    /// In words.
    pub text: String,
    /// The file, unless it is the program's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

/// The answer of `infer` for one program under one memory model.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct InferAnswer {
    pub schema: String,
    pub tool: String,
    pub command: Mode,
    /// Left out where it is kept elsewhere.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(required)]
    pub program: String,
    /// The program's text, unless it is kept elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    pub config: InferConfig,
    pub outcome: Outcome,
    /// The limit that ended it without an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
    /// Why there is no placement, and what to try.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The cheapest placement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// If there is none, the cheapest one that was verified on the way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub so_far: Option<Placement>,
    /// Every minimal placement, cheapest first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placements: Option<Vec<Placement>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial: Option<Initial>,
    /// The execution that no fence can prevent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Vec<Step>>,
    /// Values of k that were too small.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub tried: Option<Vec<usize>>,
    /// What was told apart of integers without bound; left out if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thresholds: Option<Thresholds>,
    /// What a placement costs at least on the exact model, as far as is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lower_bound: Option<u64>,
    #[serde(default)]
    pub warnings: Vec<String>,
    /// What must hold for the fences to be right on the target that was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assumption: Option<String>,
    /// Fences in the program's text that can be removed together, with --prune.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removable: Option<Vec<OwnFence>>,
    /// Whether executions of the memory model show that no more can be removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removable_complete: Option<bool>,
    /// With --formula, unless it is too large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formula: Option<Formula>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub stats: Option<Stats>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub timing: Option<Timing>,
}

/// What `infer` was asked.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct InferConfig {
    pub model: Model,
    pub abstraction: AbstractionKind,
    /// The k that the answer rests on.
    pub k: Option<usize>,
    /// Whether the abstraction was found by the tool, and not asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refined: bool,
    pub engine: EngineKind,
    /// Whether the whole state space was labelled, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths: Option<Paths>,
    /// Which states were merged, by an engine that labels them, under PD.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pd_merge: Option<PdMerge>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pd_prevent: Option<PdPrevent>,
    pub place: AllowedGaps,
    pub cost: String,
    pub per_process: bool,
    /// Whether fences are to make the program robust, whatever its properties.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub robust: bool,
    /// Whether fences are to keep the program from getting stuck, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stuck: bool,
    pub atomics: Atomics,
    pub fuse: bool,
}

/// A set of fences that makes the program correct.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Placement {
    pub cost: u64,
    /// What the kinds of its fences cost, with --kinds fine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kinds_cost: Option<u64>,
    pub verified: bool,
    pub optimality: Optimality,
    pub fences: Vec<Fence>,
}

/// A fence next to the statement that begins at this line and column.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Fence {
    pub process: String,
    /// The file, unless it is the program's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    pub line: u32,
    pub column: u32,
    pub position: Side,
    pub text: String,
    pub kind: FenceKind,
    /// What to use on the target that was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instruction: Option<String>,
    /// What the program is without it: correct if it is not needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without: Option<Outcome>,
    /// The execution that comes back without it, in the abstraction only unless the program
    /// is then violated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Vec<Step>>,
    /// Where that execution starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_initial: Option<Initial>,
}

/// A fence in the program's text.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct OwnFence {
    /// The file, unless it is the program's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    pub line: u32,
    pub column: u32,
    pub text: String,
    pub kind: FenceKind,
}

impl Violation {
    /// Its line in words, if it has one.
    pub fn line(&self) -> Option<String> {
        Some(line_of(self.file.as_deref(), self.line?))
    }
}

impl Fence {
    /// Its line in words.
    pub fn line(&self) -> String {
        line_of(self.file.as_deref(), self.line)
    }
}

fn line_of(file: Option<&str>, line: u32) -> String {
    let at = Position { line, column: 1 };
    Location { file, at }.line()
}

/// What keeps all errors from being reached: one of each clause.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Formula {
    /// In words.
    pub clauses: Vec<Vec<String>>,
    pub minimal_solutions: usize,
}

/// A field that both kinds of answers have.
macro_rules! common_fields {
    ($($(#[$doc:meta])* $field:ident: $type:ty),* $(,)?) => {$(
        $(#[$doc])*
        pub fn $field(&self) -> &$type {
            match self {
                Answer::Verify(answer) => &answer.$field,
                Answer::Infer(answer) => &answer.$field,
            }
        }
    )*};
}

impl Answer {
    common_fields! {
        schema: String,
        program: String,
        /// The program's text.
        source: Option<String>,
        outcome: Outcome,
        /// The limit that ended it early.
        stopped: Option<Stopped>,
        initial: Option<Initial>,
        trace: Option<Vec<Step>>,
        stats: Option<Stats>,
        timing: Option<Timing>,
    }

    /// What is violated.
    pub fn violation(&self) -> Option<&Violation> {
        match self {
            Answer::Verify(answer) => answer.violation.as_ref(),
            Answer::Infer(_) => None,
        }
    }

    /// Whether the trace exists only in the abstraction.
    pub fn spurious(&self) -> Option<bool> {
        match self {
            Answer::Verify(answer) => answer.spurious,
            Answer::Infer(_) => None,
        }
    }

    /// The cheapest placement.
    pub fn placement(&self) -> Option<&Placement> {
        match self {
            Answer::Verify(_) => None,
            Answer::Infer(answer) => answer.placement.as_ref(),
        }
    }

    /// Every minimal placement, if they were asked for.
    pub fn placements(&self) -> &[Placement] {
        match self {
            Answer::Verify(_) => &[],
            Answer::Infer(answer) => answer.placements.as_deref().unwrap_or_default(),
        }
    }
}

impl<'de> Deserialize<'de> for Answer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Answer, D::Error> {
        let json = Json::deserialize(deserializer)?;
        let command = json.get("command").cloned().unwrap_or_default();
        let answer = match Mode::deserialize(command).map_err(D::Error::custom)? {
            Mode::Verify => Deserialize::deserialize(json).map(Answer::Verify),
            Mode::Infer => Deserialize::deserialize(json).map(Answer::Infer),
        };
        answer.map_err(D::Error::custom)
    }
}
