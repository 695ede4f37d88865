//! Inference: where must the fewest fences go?
//!
//! Three engines answer. The `lazy` one never builds the state space of the unfenced
//! program: it keeps demands ("one of these points must carry a fence"), verifies the
//! cheapest set of fences that meets them, and learns a new demand from each counterexample.
//! The `eager` ones label the space of the unfenced program with formulas, over fence points
//! or over the ordering constraints of the original method. An engine judges sets of fences;
//! `placements` chooses among them, and every set that comes out has been verified.

mod answer;
mod eager;
mod fall_back;
pub mod hitting;
mod kinds;
mod lazy;
mod placements;
mod prune;
mod run;

pub use answer::{
    Bounds, Clause, Conclusion, Formula, Inference, Labelling, Literal, Obstacle, Optimality,
    Placed, Placement, Removable, Unfixable, Why,
};
pub use kinds::{MOST_KIND_COST, Prices};
pub use lazy::clause;

use crate::limits::Monitor;
use crate::names::named_enum;
use crate::program::{FenceSite, Instr, Program, Side};
use crate::verify::VerifyOptions;
use eager::Eager;
use hitting::Costs;
use lazy::Lazy;
use placements::find_placements;
use run::InferenceRun;
use std::collections::HashSet;

/// How to infer.
#[derive(Debug, Clone)]
pub struct InferOptions {
    /// The semantics with the abstraction to begin with, and limits. The lazy engine raises
    /// k if that is the strategy.
    pub verify: VerifyOptions,
    /// How placements are found.
    pub engine: EngineKind,
    /// How ordering constraints are read, by the engine that has them.
    pub ordering: OrderingRules,
    /// Label the whole state space, what the formula has excluded already included, by the
    /// engines that label it.
    pub whole: bool,
    /// Which states these engines merge under PD.
    pub pd_merge: PdMerge,
    /// By fence point. All of them together must fit in 64 bits, times what the dearest
    /// kind of fence costs if kinds are looked for.
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

/// The most nodes that formulas have unless more are allowed: about a gigabyte.
pub const MOST_NODES: usize = 80_000_000;

impl InferOptions {
    /// The usual way to infer: lazily, and only the cheapest placement.
    pub fn new(verify: VerifyOptions, costs: Costs) -> InferOptions {
        InferOptions {
            verify,
            engine: EngineKind::Lazy,
            ordering: OrderingRules::default(),
            whole: false,
            pd_merge: PdMerge::All,
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

named_enum! {
    /// How placements are found.
    pub enum EngineKind: "engine" {
        /// Verify fenced programs and learn from counterexamples
        Lazy = "lazy",
        /// Label the state space with formulas over fence points
        Points = "points",
        /// Label it with formulas over ordering constraints, as published
        Ordering = "ordering",
    }
}

/// How ordering constraints are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderingRules {
    pub paths: Paths,
    pub pd_prevent: PdPrevent,
}

impl Default for OrderingRules {
    fn default() -> OrderingRules {
        OrderingRules {
            paths: Paths::All,
            pd_prevent: PdPrevent::Mix,
        }
    }
}

named_enum! {
    /// Which fences enforce an ordering.
    pub enum Paths: "rule for paths" {
        /// Those on any path
        All = "all",
        /// Those on paths that no loop has closed yet
        Acyclic = "acyclic",
    }
}

named_enum! {
    /// What prevents a transition out of a state with merged sets.
    pub enum PdPrevent: "rule for merged sets" {
        /// A store of the head, or all stores of some set
        Mix = "mix",
        /// All pending stores
        Literal = "literal",
        /// A store of the head, or the latest store of some set
        Latest = "latest",
    }
}

named_enum! {
    /// Which states are merged before they are labelled.
    pub enum PdMerge: "rule for merging" {
        /// All states of the unfenced program, as published
        All = "all",
        /// Those that matter to the formula, which allows more placements
        Relevant = "relevant",
    }
}

/// Infers the cheapest placement. `program` is the whole program, with all of its points.
pub fn infer(program: &Program, options: &InferOptions, monitor: &Monitor) -> Inference {
    let mut run = InferenceRun::new(program, options, monitor);
    let factor = options.kinds.map_or(1, |prices| prices.dearest().max(1));
    if hitting::total(&options.costs, factor).is_none() {
        return run.conclude(Conclusion::Inconclusive(Obstacle::CostsTooLarge));
    }
    if program.has_integers() && options.engine != EngineKind::Lazy {
        return run.conclude(Conclusion::Inconclusive(Obstacle::Integers));
    }
    let wrong = run.wrong_under_sc();
    if wrong.is_none() {
        run.look_ahead();
    }
    let mut conclusion = match wrong {
        Some(wrong) => wrong,
        None if options.engine == EngineKind::Lazy => find_placements(&mut Lazy { run: &mut run }),
        None => match Eager::new(&mut run) {
            Ok(mut engine) => find_placements(&mut engine),
            Err(obstacle) => Conclusion::Inconclusive(obstacle),
        },
    };
    if let Conclusion::Inconclusive(_) = conclusion {
        run.fall_back();
        conclusion = run.optimal_so_far().unwrap_or(conclusion);
    }
    run.conclude(conclusion)
}

named_enum! {
    /// Which gaps between statements may carry a fence.
    pub enum AllowedGaps: "place for fences" {
        /// Before and after every statement
        Anywhere = "anywhere",
        /// Behind stores
        AfterStore = "after-store",
        /// Before loads
        BeforeLoad = "before-load",
    }
}

/// For each point, whether a fence may stand there: behind a store, before a load, or
/// anywhere.
pub fn allowed(program: &Program, gaps: AllowedGaps) -> Vec<bool> {
    let edges = program.processes.iter().flat_map(|process| &process.edges);
    let beside: HashSet<u32> = edges
        .filter_map(|edge| match (gaps, &edge.instr) {
            (AllowedGaps::AfterStore, Instr::Store { .. }) => Some(edge.span.end),
            (AllowedGaps::BeforeLoad, Instr::Load { .. }) => Some(edge.span.start),
            _ => None,
        })
        .collect();
    let fits = |site: &FenceSite| match (gaps, site.side) {
        (AllowedGaps::Anywhere, _) | (_, Side::Release | Side::SeqCst) => true,
        (AllowedGaps::AfterStore, Side::After) => beside.contains(&site.statement.end),
        (AllowedGaps::BeforeLoad, Side::Before) => beside.contains(&site.statement.start),
        _ => false,
    };
    let points = program.points.iter();
    points.map(|point| point.sites.iter().any(fits)).collect()
}
