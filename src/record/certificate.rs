//! A certificate: a placement, what proves it, and what shows that none is cheaper.

use super::trace::{Initial, Step};
use crate::memory::{AbstractionKind, Atomics, Model};
use crate::space::{Invariant, Thresholds};
use serde::{Deserialize, Serialize};

/// The version of the contract.
pub const CERTIFICATE_SCHEMA: &str = "fencesmith-certificate/1";

/// A placement of full fences under one memory model, for anyone to check again.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    pub schema: String,
    pub tool: String,
    pub program: String,
    /// SHA-256 of the program's text.
    pub sha256: String,
    pub model: Model,
    pub atomics: Atomics,
    pub fuse: bool,
    /// The instances of a template have fence points of their own.
    pub per_process: bool,
    /// Where fences may stand, and what they cost there; each point once.
    pub points: Vec<PricedPoint>,
    /// Where they stand; each point once.
    pub placement: Vec<PointName>,
    pub cost: u64,
    pub proof: Proof,
    pub lower_bound: LowerBound,
}

/// A fence point: `LINE:COL:SIDE`, and the process if points are not shared by instances.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointName {
    pub at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
}

/// A point where a fence may stand.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PricedPoint {
    pub point: PointName,
    pub cost: u64,
}

/// What proves the fenced program correct: a search under an abstraction, to be done again, or
/// the states of view logs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    pub abstraction: AbstractionKind,
    /// The length of the head, the bound of exact buffers, or the widening of view logs.
    pub k: usize,
    /// States of the fenced program.
    pub states: u64,
    /// What is told apart of integers without bound.
    #[serde(default, skip_serializing_if = "Thresholds::is_empty")]
    pub thresholds: Thresholds,
    /// All integers of one state are kept together.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub join: bool,
    /// The states themselves, of view logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invariant: Option<Invariant>,
}

/// The version of the contract of certificates of correctness.
pub const CORRECTNESS_SCHEMA: &str = "fencesmith-correctness/1";

/// A program that is correct under one memory model, with full fences added at some points,
/// for anyone to check again.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CorrectnessCertificate {
    pub schema: String,
    pub tool: String,
    pub program: String,
    /// SHA-256 of the program's text.
    pub sha256: String,
    pub model: Model,
    pub atomics: Atomics,
    pub fuse: bool,
    /// Where fences stand, beside those in the text; each point once.
    pub fences: Vec<PointName>,
    pub proof: Proof,
}

/// What every kind of certificate begins with.
#[derive(Debug, Clone, Deserialize)]
pub struct CertificateHead {
    pub schema: String,
}

/// Executions of the exact model, each of which some fence must prevent.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LowerBound {
    /// What the cheapest fences cost that prevent them all.
    pub cost: u64,
    pub executions: Vec<Execution>,
}

/// An execution that ends in a violation of a property.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Execution {
    /// One of these points must carry a fence.
    pub points: Vec<PointName>,
    /// The fences of the program that it is an execution of.
    pub fences: Vec<PointName>,
    pub initial: Initial,
    pub steps: Vec<Step>,
}
