//! What is asked in one cell of a grid.

use crate::verify::{Abstraction, Model};
use serde::{Deserialize, Serialize};
use std::fmt;

/// One question about one program.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    pub program: String,
    #[serde(with = "ModelName")]
    pub model: Model,
    pub mode: Mode,
    pub abstraction: Buffers,
    /// The length of the ordered head, or of exact buffers. Set has none, and FD without one
    /// is refined.
    pub k: Option<usize>,
    /// How fences are inferred.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineKind>,
}

/// What is done with a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    Verify,
    Infer,
}

/// The representations of store buffers that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Buffers {
    Set,
    Fd,
    Pd,
    /// As they are, up to a length.
    Exact,
}

/// How placements are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineKind {
    Lazy,
    Points,
    Ordering,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Model", rename_all = "lowercase")]
enum ModelName {
    Sc,
    Tso,
    Pso,
}

impl Cell {
    /// The abstraction to begin with.
    pub fn abstraction(&self) -> Abstraction {
        match (self.abstraction, self.k) {
            (Buffers::Set, _) => Abstraction::Set,
            (Buffers::Fd, k) => Abstraction::Fd { k: k.unwrap_or(1) },
            (Buffers::Pd, k) => Abstraction::Pd { k: k.unwrap_or(1) },
            (Buffers::Exact, k) => Abstraction::Exact {
                bound: k.unwrap_or(1),
            },
        }
    }

    /// Whether k is raised while counterexamples turn out not to be real.
    pub fn refine(&self) -> bool {
        self.abstraction == Buffers::Fd && self.k.is_none()
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
        match self.refine() {
            true => "FD(auto)".to_string(),
            false => self.abstraction().to_string(),
        }
    }
}

/// `mutex/peterson.fen under PSO by FD(k=1)`.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = crate::report::describe::upper(self.model);
        let representation = self.representation();
        write!(f, "{} under {model} by {representation}", self.program)?;
        match self.engine {
            Some(engine) if engine != EngineKind::Lazy => write!(f, ", engine {engine}"),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mode::Verify => "verify",
            Mode::Infer => "infer",
        })
    }
}

impl fmt::Display for Buffers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Buffers::Set => "set",
            Buffers::Fd => "fd",
            Buffers::Pd => "pd",
            Buffers::Exact => "exact",
        })
    }
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EngineKind::Lazy => "lazy",
            EngineKind::Points => "points",
            EngineKind::Ordering => "ordering",
        })
    }
}
