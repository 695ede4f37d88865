//! What all cells of a sweep have in common.

use crate::memory::Atomics;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use std::time::Duration;

/// What all cells have in common.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Settings {
    /// For each cell.
    pub timeout: Option<Duration>,
    /// For each cell, in bytes.
    pub max_memory: Option<u64>,
    /// For each cell.
    pub max_states: Option<u64>,
    pub atomics: Atomics,
    pub fuse: bool,
    /// Count all states, even behind violations.
    pub full: bool,
    /// States that are stuck are violations, too.
    pub stuck: bool,
    /// Find every minimal placement, up to this many.
    pub all: Option<usize>,
}

impl Settings {
    /// What makes two sweeps the same, as data.
    pub fn options(&self) -> Map<String, Json> {
        let mut options = Map::new();
        let seconds = self.timeout.map(|timeout| timeout.as_secs_f64());
        options.insert("timeout".into(), json!(seconds));
        options.insert("max-memory".into(), json!(self.max_memory));
        options.insert("max-states".into(), json!(self.max_states));
        options.insert("atomics".into(), json!(self.atomics.to_string()));
        options.insert("fuse".into(), json!(self.fuse));
        options.insert("full".into(), json!(self.full));
        options.insert("all".into(), json!(self.all));
        if self.stuck {
            options.insert("stuck".into(), json!(true));
        }
        options
    }
}
