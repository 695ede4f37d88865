//! What inference finds out.

use crate::limits::StopReason;
use crate::memory::Abstraction;
use crate::names::named_enum;
use crate::program::{FenceKind, PointId, PointSet, ProcessId};
use crate::property::Violation;
use crate::source::Span;
use crate::space::{Coverage, Thresholds, Trace};
use crate::verify::{Inconclusive, Verdict};
use std::collections::BTreeMap;
use std::time::Duration;

/// What was found out.
#[derive(Debug)]
pub struct Inference {
    pub conclusion: Conclusion,
    /// The abstraction that the answer rests on.
    pub abstraction: Abstraction,
    /// What was told apart of integers without bound.
    pub thresholds: Thresholds,
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
    /// A limit on time or memory that ended some search early, even if there is an answer.
    pub cut: Option<StopReason>,
    /// What is known of placements if there is no answer.
    pub bounds: Option<Bounds>,
    /// What sequential consistency reaches, if all of it was visited.
    pub coverage: Option<Coverage>,
    /// The demands of counterexamples.
    pub clauses: Vec<Clause>,
    /// What labelling took, if there was any.
    pub labelling: Option<Labelling>,
    /// The formula, if it was asked for.
    pub formula: Option<Formula>,
    /// Fences in the program's text that are not needed, if that was asked.
    pub removable: Option<Removable>,
}

/// What is known of placements when the cheapest one is not.
#[derive(Debug, Clone)]
pub struct Bounds {
    /// What a placement costs at least on the exact model.
    pub lower: u64,
    /// The cheapest placement that was verified.
    pub best: Placement,
}

/// Fences in the program's text that can be removed together; without them the program
/// with its placement was verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removable {
    pub fences: BTreeMap<Span, FenceKind>,
    /// Executions of the exact model show that no more can be removed. Otherwise some of
    /// the others are only not proved to be removable.
    pub is_most: bool,
}

/// What keeps all errors from being reached: one of each clause.
#[derive(Debug, Clone)]
pub struct Formula {
    pub clauses: Vec<Vec<Literal>>,
    /// How many minimal ways there are to satisfy it.
    pub solutions: usize,
}

/// A variable of a formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Literal {
    /// A fence at a point.
    Point(PointId),
    /// A fence on every way from a store to an operation, each given by a process and its
    /// statement.
    Order {
        process: ProcessId,
        store: Span,
        operation: Span,
    },
}

/// What it took to label a state space: the whole of it, or what matters to the formula.
#[derive(Debug, Clone, Copy)]
pub struct Labelling {
    /// Under PD, of the whole space in any case.
    pub states: u64,
    /// Under PD, of the whole space in any case.
    pub transitions: u64,
    /// Different formulas.
    pub formulas: usize,
    /// Nodes of all formulas.
    pub nodes: usize,
    /// How often a transition was taken into account.
    pub updates: u64,
    /// The time that it took, with finding the states.
    pub time: Duration,
}

/// What is known of the fences that a program needs.
#[derive(Debug)]
pub enum Conclusion {
    /// Correct without any further fence; the placement is empty.
    Correct(Placement),
    /// Correct with these fences.
    Placed(Box<Placed>),
    /// Wrong even under sequential consistency, which no fence can mend.
    IncorrectUnderSc(Violation, Trace),
    /// A real execution passes no point where a fence may stand but does not.
    Unfixable(Box<Unfixable>),
    /// No placement was found, and it is not known that there is none.
    Inconclusive(Obstacle),
}

/// An execution that no fence can prevent.
#[derive(Debug)]
pub struct Unfixable {
    /// The fences of the program that it belongs to.
    pub fences: PointSet,
    pub violation: Violation,
    pub trace: Trace,
}

/// A placement and what is known about it.
#[derive(Debug)]
pub struct Placed {
    /// The cheapest placement; verified.
    pub best: Placement,
    pub optimality: Optimality,
    /// What a placement costs at least on the exact model, as far as is known.
    pub lower_bound: u64,
    /// Every minimal placement, cheapest first, if asked for; each one verified.
    pub all: Vec<Placement>,
    /// There may be more: more than were asked for, or they were not all found.
    pub more: bool,
}

/// A set of fences with which the program was verified.
#[derive(Debug, Clone)]
pub struct Placement {
    pub fences: PointSet,
    pub cost: u64,
    /// The abstraction that verifies it with full fences.
    pub abstraction: Abstraction,
    /// What was told apart of integers without bound.
    pub thresholds: Thresholds,
    /// States of the program with full fences.
    pub states: u64,
    /// For each fence, in order: its kind.
    pub kinds: Vec<FenceKind>,
    /// What these kinds cost, if kinds were looked for.
    pub price: Option<u64>,
    /// For each fence, in order: what happens without it.
    pub why: Vec<Why>,
}

/// What happens if a fence of a placement is left out.
#[derive(Debug, Clone)]
pub struct Why {
    /// Correct if the fence is not needed at all.
    pub verdict: Verdict,
    /// The counterexample that comes back; if the verdict is not that the program is
    /// violated, it may exist in the abstraction only.
    pub counterexample: Option<(Violation, Trace)>,
}

named_enum! {
    /// How good a placement is.
    pub enum Optimality: "optimality" {
        /// No placement is cheaper on the memory model itself.
        Exact = "exact",
        /// None that is cheaper can be proved with the abstraction.
        UnderAbstraction = "under-abstraction",
        /// A cheaper one may exist.
        Unknown = "unknown",
    }
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

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// Time, memory or the number of states ran out.
    Limit(StopReason),
    /// The costs of all points together do not fit in 64 bits.
    CostsTooLarge,
    /// The formulas have too many nodes.
    FormulaTooLarge,
    /// A counterexample of the abstraction passes no point where a fence may stand.
    TooCoarse,
    /// The formula allows no placement, although fences everywhere are enough.
    Inexpressible,
    /// A placement that satisfies the formula does not verify.
    Unverified,
    /// More blocks of memory are allocated than there are.
    Heap,
    /// More and more thresholds for integers are needed.
    Diverging,
    /// The program has integers without bound, and this cannot be asked about them.
    Integers,
}

impl From<Inconclusive> for Obstacle {
    fn from(reason: Inconclusive) -> Obstacle {
        match reason {
            Inconclusive::Limit(reason) => Obstacle::Limit(reason),
            Inconclusive::Heap => Obstacle::Heap,
            Inconclusive::Diverging => Obstacle::Diverging,
            Inconclusive::Integers => Obstacle::Integers,
            Inconclusive::Bound(_) | Inconclusive::Spurious | Inconclusive::Undecided => {
                Obstacle::TooCoarse
            }
        }
    }
}
