//! What an answer took.

use crate::verify::SearchKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A search with a k that was too small.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub struct Tried {
    pub k: usize,
    pub states: u64,
}

/// How large the searches were.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Stats {
    /// How states were searched, to verify. `sets` counts sets of states and writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchKind>,
    /// Over all searches.
    pub states: u64,
    pub transitions: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configurations: Option<usize>,
    /// Of the visited set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_state: Option<u64>,
    /// Of the largest search, to infer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_states: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clauses: Option<usize>,
    /// Different formulas that labelled states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formulas: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formula_nodes: Option<usize>,
    /// How often a transition was taken into account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updates: Option<u64>,
}

/// What differs from run to run.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Timing {
    pub total_s: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub states_per_s: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_bytes: Option<u64>,
}
