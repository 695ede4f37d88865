//! The JSON contract of `verify` and `infer`: stable names, built from the core types by hand.

use super::trace::{Initial, Step};
use crate::verify;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub const SCHEMA: &str = "fencesmith/1";

/// The JSON Schema of what `verify` and `infer` print.
pub fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let generator = settings.into_generator();
    generator.into_root_schema_for::<Vec<Answer>>().to_value()
}

/// What a command prints for one program and model.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Answer {
    Verify(Report),
    Infer(Inference),
}

/// What was found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Correct,
    Violated,
    Placed,
    IncorrectUnderSc,
    Unfixable,
    Inconclusive,
}

impl From<verify::Outcome> for Outcome {
    fn from(outcome: verify::Outcome) -> Outcome {
        match outcome {
            verify::Outcome::Correct => Outcome::Correct,
            verify::Outcome::Violated => Outcome::Violated,
            verify::Outcome::Inconclusive(_) => Outcome::Inconclusive,
        }
    }
}

/// How good a placement is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Optimality {
    /// No placement is cheaper on the memory model itself.
    Exact,
    /// None that is cheaper can be proved with the abstraction.
    UnderAbstraction,
    Unknown,
}

/// One answer: one program under one memory model.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Report {
    pub schema: &'static str,
    pub tool: &'static str,
    pub command: &'static str,
    pub program: String,
    /// The program's text, unless it is kept elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    pub config: Config,
    pub outcome: Outcome,
    /// The limit that ended it without an answer, in a word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<&'static str>,
    /// Why it is inconclusive, and what to try.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What is violated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub violation: Option<Violation>,
    /// Where the trace starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<Initial>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Vec<Step>>,
    /// Whether the trace exists on the exact model; null if that was not decided.
    pub spurious: Option<bool>,
    /// Values of k that were too small.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<Tried>,
    pub warnings: Vec<String>,
    pub stats: Stats,
    pub timing: Timing,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Config {
    pub model: String,
    pub abstraction: &'static str,
    /// The k that the answer rests on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<usize>,
    pub atomics: String,
    pub fuse: bool,
    pub full: bool,
    pub deadlock: bool,
    pub fences: Vec<String>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Violation {
    /// In words.
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Tried {
    pub k: usize,
    pub states: u64,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Stats {
    pub states: u64,
    pub transitions: u64,
    pub depth: u64,
    pub configurations: usize,
    /// Of the visited set.
    pub bytes_per_state: u64,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Timing {
    pub total_s: f64,
    pub states_per_s: f64,
    pub peak_bytes: u64,
}

/// The answer of `infer` for one program under one memory model.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Inference {
    pub schema: &'static str,
    pub tool: &'static str,
    pub command: &'static str,
    pub program: String,
    /// The program's text, unless it is kept elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    pub config: InferConfig,
    pub outcome: Outcome,
    /// The limit that ended it without an answer, in a word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<&'static str>,
    /// Why there is no placement, and what to try.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The cheapest placement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// Every minimal placement, cheapest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placements: Option<Vec<Placement>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<Initial>,
    /// The execution that no fence can prevent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Vec<Step>>,
    /// Values of k that were too small.
    pub tried: Vec<usize>,
    /// What a placement costs at least on the exact model, as far as is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower_bound: Option<u64>,
    /// Fences in the program's text that can be removed together, with --prune.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removable: Option<Vec<OwnFence>>,
    /// With --formula, unless it is too large.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formula: Option<Formula>,
    pub stats: InferStats,
    pub timing: InferTiming,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct InferConfig {
    pub model: String,
    pub abstraction: &'static str,
    /// The k that the answer rests on.
    pub k: usize,
    pub engine: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paths: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pd_prevent: Option<&'static str>,
    pub place: &'static str,
    pub cost: String,
    pub per_process: bool,
    pub atomics: String,
    pub fuse: bool,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Placement {
    pub cost: u64,
    /// What the kinds of its fences cost, with --kinds fine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kinds_cost: Option<u64>,
    pub verified: bool,
    pub optimality: Optimality,
    pub fences: Vec<Fence>,
}

/// A fence next to the statement that begins at this line and column.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Fence {
    pub process: String,
    pub line: u32,
    pub column: u32,
    pub position: &'static str,
    pub text: String,
    pub kind: &'static str,
    /// What to use on the target that was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction: Option<&'static str>,
    /// What the program is without it: correct if it is not needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without: Option<Outcome>,
    /// The execution that comes back without it, in the abstraction only unless the program
    /// is then violated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<Vec<Step>>,
    /// Where that execution starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_initial: Option<Initial>,
}

/// A fence in the program's text.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OwnFence {
    pub line: u32,
    pub column: u32,
    pub text: String,
    pub kind: &'static str,
}

/// What keeps all errors from being reached: one of each clause.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Formula {
    /// In words.
    pub clauses: Vec<Vec<String>>,
    pub minimal_solutions: usize,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct InferStats {
    /// Over all rounds.
    pub states: u64,
    pub transitions: u64,
    /// Of the largest round.
    pub peak_states: u64,
    pub rounds: u64,
    pub clauses: usize,
    /// Different formulas that labelled states.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formulas: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formula_nodes: Option<usize>,
    /// How often a transition was taken into account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updates: Option<u64>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct InferTiming {
    pub total_s: f64,
}
