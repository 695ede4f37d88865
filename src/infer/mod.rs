//! Inference: where must the fewest fences go?
//!
//! Three engines answer. The lazy one never builds the state space of the unfenced program:
//! it keeps demands ("one of these points must carry a fence"), verifies the cheapest set of
//! fences that meets them, and learns a new demand from each counterexample. The eager ones
//! build the whole space and label it with formulas, over fence points or over the ordering
//! constraints of the original method. Whatever comes out has been verified.

mod certify;
mod clause;
mod eager;
pub mod hitting;
mod kinds;
mod lazy;
mod ordering;
mod points;
mod prune;
mod work;

pub use certify::{Checked, certificate, check};
pub use kinds::Prices;

use crate::program::{FenceKind, FenceSite, Instr, PointId, PointSet, ProcessId, Program, Side};
use crate::property::Violation;
use crate::source::Span;
use crate::space::{Monitor, StopReason, Trace};
use crate::verify::{self, Abstraction};
use eager::Eager;
use hitting::Costs;
use lazy::Lazy;
use std::collections::BTreeMap;
use std::time::Duration;
use work::{Work, drive};

/// How to infer.
#[derive(Debug, Clone)]
pub struct Options {
    /// The model, the abstraction to begin with, and limits.
    pub verify: verify::Options,
    pub engine: Engine,
    /// Raise k when a counterexample does not exist on the exact model; for the lazy
    /// engine.
    pub refine: bool,
    /// By fence point.
    pub costs: Costs,
    /// Find every minimal placement, up to this many.
    pub all: Option<usize>,
    /// Find the counterexample that comes back without each fence.
    pub why: bool,
    /// The most nodes that formulas may have.
    pub most_nodes: usize,
    /// Report the formula.
    pub formula: bool,
    /// Look for the cheapest kinds of fences at the chosen points.
    pub kinds: Option<Prices>,
    /// Look for fences in the program's text that are not needed.
    pub prune: bool,
}

/// The most nodes that formulas have unless somebody wants more: about a gigabyte.
pub const MOST_NODES: usize = 80_000_000;

impl Options {
    /// The usual way to infer: lazily, and only the cheapest placement.
    pub fn new(verify: verify::Options, costs: Costs) -> Options {
        Options {
            verify,
            engine: Engine::Lazy,
            refine: false,
            costs,
            all: None,
            why: false,
            most_nodes: MOST_NODES,
            formula: false,
            kinds: None,
            prune: false,
        }
    }
}

/// How placements are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// Counterexamples, one after the other.
    Lazy,
    /// Formulas over fence points.
    Points,
    /// Formulas over ordering constraints.
    Ordering(Ordering),
}

/// How ordering constraints are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ordering {
    pub paths: Paths,
    pub pd_prevent: PdPrevent,
}

/// Which fences enforce an ordering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paths {
    /// Those on any path.
    All,
    /// Those on a path that no loop has closed yet.
    Acyclic,
}

/// What prevents a transition out of a state with merged sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PdPrevent {
    /// An ordering with a store of the head, or with all stores of some set.
    Mix,
    /// The orderings with all pending stores at once.
    Literal,
    /// An ordering with a store of the head or with the latest store of some set.
    Latest,
}

/// Infers the cheapest placement. `program` is the whole program, with all of its points.
pub fn infer(program: &Program, options: &Options, monitor: &Monitor) -> Inference {
    let mut work = Work::new(program, options, monitor);
    let outcome = match work.wrong_under_sc() {
        Some(wrong) => wrong,
        None if options.engine == Engine::Lazy => drive(&mut Lazy { work: &mut work }),
        None => match Eager::new(&mut work) {
            Ok(mut engine) => drive(&mut engine),
            Err(reason) => Outcome::Inconclusive(reason),
        },
    };
    work.conclude(outcome)
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
    /// A limit on time or memory that ended some search early, even if there is an answer.
    pub cut: Option<StopReason>,
    /// The demands of counterexamples.
    pub clauses: Vec<Clause>,
    /// What labelling took, if there was any.
    pub labelling: Option<Labelling>,
    /// The formula, if it was asked for.
    pub formula: Option<Formula>,
    /// Fences in the program's text that can be removed together, if that was asked.
    pub removable: Option<BTreeMap<Span, FenceKind>>,
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

/// What it took to label a state space.
#[derive(Debug, Clone, Copy)]
pub struct Labelling {
    /// States of the whole space.
    pub states: u64,
    /// Transitions of the whole space.
    pub transitions: u64,
    /// Different formulas.
    pub formulas: usize,
    /// Nodes of all formulas.
    pub nodes: usize,
    /// How often a transition was taken into account.
    pub updates: u64,
    /// The time that labelling took, without building the space.
    pub time: Duration,
}

#[derive(Debug)]
pub enum Outcome {
    /// Correct without any further fence; the placement is empty.
    Correct(Placement),
    /// Correct with these fences.
    Placed(Box<Placed>),
    /// Wrong even under sequential consistency, which no fence can mend.
    IncorrectUnderSc(Violation, Trace),
    /// A real execution passes no point where a fence may stand but does not.
    Unfixable(Box<Unfixable>),
    Inconclusive(Reason),
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
    pub outcome: verify::Outcome,
    /// The counterexample that comes back; if the outcome is not that the program is
    /// violated, it may exist in the abstraction only.
    pub trace: Option<Trace>,
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
    /// The formula allows no placement, although fences everywhere are enough.
    Inexpressible,
    /// A placement that satisfies the formula does not verify.
    Unverified,
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
    let fits = |site: &FenceSite| match place {
        Where::Anywhere => true,
        Where::AfterStore => {
            let mut stores = edges().filter(|edge| matches!(edge.instr, Instr::Store { .. }));
            site.side == Side::After && stores.any(|edge| edge.span.end == site.statement.end)
        }
        Where::BeforeLoad => {
            let mut loads = edges().filter(|edge| matches!(edge.instr, Instr::Load { .. }));
            site.side == Side::Before && loads.any(|edge| edge.span.start == site.statement.start)
        }
    };
    let points = program.points.iter();
    points.map(|point| point.sites.iter().any(fits)).collect()
}
