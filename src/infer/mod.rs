//! Inference: where must the fewest fences go?
//!
//! [`lazy`](lazy()) never builds the state space of the unfenced program. It keeps clauses
//! ("one of these points must carry a fence"), takes the cheapest set of fences that hits
//! them all, and verifies the program with it. A counterexample gives the next clause. All
//! clauses are necessary conditions, so the first set that verifies is optimal.

mod certify;
mod clause;
pub mod hitting;
mod lazy;

pub use certify::{Checked, certificate, check};
pub use lazy::lazy;

use crate::lang::printer::{Side, Spot};
use crate::program::{Instr, PointSet, Program};
use crate::property::Violation;
use crate::space::{StopReason, Trace};
use crate::verify::{self, Abstraction};
use hitting::Costs;

/// How to infer.
#[derive(Debug, Clone)]
pub struct Options {
    /// The model, the abstraction to begin with, and limits.
    pub verify: verify::Options,
    /// Raise k when a counterexample does not exist on the exact model.
    pub refine: bool,
    /// By fence point.
    pub costs: Costs,
    /// Find every minimal placement, up to this many.
    pub all: Option<usize>,
    /// Find the counterexample that comes back without each fence.
    pub why: bool,
}

/// What was found out.
#[derive(Debug)]
pub struct Inference {
    pub outcome: Outcome,
    /// The abstraction that the answer rests on.
    pub abstraction: Abstraction,
    /// Values of k that were too coarse.
    pub tried: Vec<usize>,
    /// Verified fence sets, the failed ones included.
    pub rounds: u64,
    /// States over all rounds.
    pub states: u64,
    /// Transitions over all rounds.
    pub transitions: u64,
    /// States of the largest round.
    pub peak: u64,
    /// States of the run that proved the answer; 0 without one.
    pub proof: u64,
    /// The demands found so far.
    pub clauses: Vec<Clause>,
}

#[derive(Debug)]
pub enum Outcome {
    /// Correct without any further fence.
    Correct,
    /// Correct with these fences.
    Placed(Box<Placed>),
    /// Wrong even under sequential consistency, which no fence can mend.
    IncorrectUnderSc(Violation, Trace),
    /// A real execution passes no point where a fence may stand.
    Unfixable(Violation, Trace),
    Inconclusive(Reason),
}

/// A placement and what is known about it.
#[derive(Debug)]
pub struct Placed {
    /// The cheapest placement; verified.
    pub best: Placement,
    pub optimality: Optimality,
    /// Every minimal placement, cheapest first, if asked for; each one verified.
    pub all: Vec<Placement>,
    /// There are more than were asked for, or a limit kept them from being found.
    pub more: bool,
}

#[derive(Debug, Clone)]
pub struct Placement {
    pub fences: PointSet,
    pub cost: u64,
    /// The abstraction that verifies it.
    pub abstraction: Abstraction,
    /// States of the verified program.
    pub states: u64,
    /// For each fence, in order: the counterexample that comes back without it.
    pub why: Vec<Option<Trace>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Optimality {
    /// No cheaper placement exists on the exact model.
    Exact,
    /// No cheaper placement verifies under the abstraction.
    UnderAbstraction,
    Unknown,
}

/// One of these points must carry a fence.
#[derive(Debug, Clone)]
pub struct Clause {
    pub points: PointSet,
    /// An execution of the exact model demands it.
    pub real: bool,
    /// The fences of the program that the execution belongs to.
    pub fences: PointSet,
    pub violation: Violation,
    pub trace: Trace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    Limit(StopReason),
    /// A counterexample of the abstraction passes no point where a fence may stand.
    TooCoarse,
}

/// Which gaps between statements may carry a fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where {
    Anywhere,
    AfterStore,
    BeforeLoad,
}

/// For each point, whether a fence may stand there: behind a store, before a load, or
/// anywhere.
pub fn allowed(program: &Program, place: Where) -> Vec<bool> {
    let edges = || program.processes.iter().flat_map(|process| &process.edges);
    let fits = |spot: &Spot| match place {
        Where::Anywhere => true,
        Where::AfterStore => {
            let mut stores = edges().filter(|edge| matches!(edge.instr, Instr::Store { .. }));
            spot.side == Side::After && stores.any(|edge| edge.span.end == spot.statement.end)
        }
        Where::BeforeLoad => {
            let mut loads = edges().filter(|edge| matches!(edge.instr, Instr::Load { .. }));
            spot.side == Side::Before && loads.any(|edge| edge.span.start == spot.statement.start)
        }
    };
    let points = program.points.iter();
    points.map(|point| point.spots.iter().any(fits)).collect()
}
