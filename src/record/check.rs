//! The answer of `check`.

use super::certificate::{PointName, Proof};
use crate::memory::{AbstractionKind, Atomics, Model};
use crate::names::named_enum;
use crate::space::Thresholds;
use serde::{Deserialize, Serialize};

/// What `check` says about a certificate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckAnswer {
    pub schema: String,
    pub tool: String,
    pub command: String,
    pub program: String,
    pub outcome: CheckOutcome,
    /// The outcome in words.
    pub reason: String,
    /// What the certificate of a placement shows, if it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// What the certificate of correctness shows, if it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correct: Option<CorrectnessClaim>,
}

/// What a certificate of correctness shows, and everything that this rests on beside the
/// program's text: with full fences at these points the program is correct.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CorrectnessClaim {
    pub model: Model,
    pub atomics: Atomics,
    pub fuse: bool,
    /// Fences in the program's text.
    pub own_fences: usize,
    /// Fences that are added to those.
    pub fences: Vec<PointName>,
    pub proof: ProofBasis,
}

/// What a proof rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProofBasis {
    pub abstraction: AbstractionKind,
    /// The length of the head, the bound of exact buffers, or the widening of view logs.
    pub k: usize,
    pub states: u64,
    /// What is told apart of integers without bound.
    #[serde(default, skip_serializing_if = "Thresholds::is_empty")]
    pub thresholds: Thresholds,
}

named_enum! {
    /// What became of a certificate.
    pub enum CheckOutcome: "outcome" {
        Valid = "valid",
        Rejected = "rejected",
        /// A limit was reached before its proof was done again.
        Inconclusive = "inconclusive",
    }
}

/// What a certificate shows, and everything that this rests on beside the program's text:
/// with full fences at the placement the program is correct, and no full fences at the
/// allowed points cost less than the lower bound and make it correct.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub model: Model,
    pub atomics: Atomics,
    pub fuse: bool,
    /// The instances of a template have fence points of their own.
    pub per_process: bool,
    /// Fences in the program's text, which stay where they are.
    pub own_fences: usize,
    pub placement: Vec<PointName>,
    pub cost: u64,
    pub lower_bound: u64,
    /// Executions of the memory model that show the lower bound.
    pub executions: usize,
    /// Points where a fence may stand.
    pub allowed_points: usize,
    /// Points that the program has.
    pub all_points: usize,
    pub prices: PriceList,
    /// Allowed points at which a fence costs nothing.
    pub free_points: usize,
    pub proof: ProofBasis,
}

impl Proof {
    /// The proof without its states.
    pub fn basis(&self) -> ProofBasis {
        ProofBasis {
            abstraction: self.abstraction,
            k: self.k,
            states: self.states,
            thresholds: self.thresholds.clone(),
        }
    }
}

named_enum! {
    /// What a fence costs.
    pub enum PriceList: "price list" {
        /// 1 at every allowed point
        Uniform = "uniform",
        /// What the certificate says
        Own = "own",
    }
}
