//! What is printed instead of an answer about a program that is not well formed.

use super::cell::Mode;
use crate::diagnostic::Diagnostic;
use crate::names::named_enum;
use crate::source::Source;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

named_enum! {
    /// There is no answer.
    pub enum BrokenOutcome: "outcome" {
        Error = "error",
    }
}

/// A program that could not be read, or is not well formed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct BrokenProgram {
    pub schema: String,
    pub tool: String,
    pub command: Mode,
    pub program: String,
    pub outcome: BrokenOutcome,
    pub errors: Vec<Message>,
}

/// Something that is wrong.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl Message {
    /// A message about a source.
    pub fn new(source: &Source, diagnostic: &Diagnostic) -> Message {
        let at = diagnostic.span.map(|span| source.position(span.start));
        Message {
            message: diagnostic.message.clone(),
            line: at.map(|at| at.line),
            column: at.map(|at| at.column),
            help: diagnostic.help.clone(),
        }
    }
}
