//! The answer of `buffers`.

use super::answer::Stopped;
use super::stats::Timing;
use crate::memory::{Atomics, Model};
use crate::names::named_enum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The answer of `buffers` for one program under one memory model.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct BuffersAnswer {
    pub schema: String,
    pub tool: String,
    pub command: BuffersCommand,
    pub program: String,
    pub config: BuffersConfig,
    pub outcome: BuffersOutcome,
    /// The longest buffer of all; null if there is none or if it is not known.
    pub longest: Option<usize>,
    pub queues: Vec<QueueRecord>,
    /// The limit that ended it early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
    /// Why something is not known, and what to try.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub stats: BuffersStats,
    pub timing: Timing,
}

named_enum! {
    /// The command that gives such answers.
    pub enum BuffersCommand: "command" {
        Buffers = "buffers",
    }
}

named_enum! {
    /// What is known of buffers.
    pub enum BuffersOutcome: "outcome" {
        /// All of them have a longest length, and it is known.
        Bounded = "bounded",
        /// Some of them have none.
        Unbounded = "unbounded",
        /// It is not known whether some of them have one, or which.
        Inconclusive = "inconclusive",
    }
}

/// What `buffers` was asked.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct BuffersConfig {
    pub model: Model,
    pub atomics: Atomics,
    pub fuse: bool,
    /// The longest buffer to try.
    pub bound: usize,
}

/// How long one buffer gets.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct QueueRecord {
    pub process: String,
    /// The place whose stores it holds; left out where it holds all stores of the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    pub outcome: BuffersOutcome,
    /// Some execution has this many stores pending.
    pub at_least: usize,
    /// No execution has more than this many; null if there is no such number or none is known.
    pub at_most: Option<usize>,
    /// How an unbounded buffer is filled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<RoundRecord>,
}

/// A way round a loop that can be gone for ever, with a longer buffer each time.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RoundRecord {
    /// The store that fills the buffer.
    pub store: StatementRecord,
    /// The first statement of the loop in the text.
    pub begin: StatementRecord,
    /// The last one.
    pub end: StatementRecord,
    /// What the process does on its way round, from the store on.
    pub statements: Vec<StatementRecord>,
    /// How many steps other processes take meanwhile.
    pub others: usize,
}

/// A statement and where it stands.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct StatementRecord {
    /// On one line, cut if it is long.
    pub text: String,
    /// The file, unless it is the program's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    pub line: u32,
    pub column: u32,
}

/// How large the searches were.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct BuffersStats {
    /// Over all searches.
    pub states: u64,
    /// The bound of the last search; 0 if the text of the program says it all.
    pub bound: usize,
}
