//! Programs with integers without bound.
//!
//! A state is one of the program without its integers (the [`frame`]), together with a zone: what
//! is known of the differences of all integers, in places, locals and buffers. Zones have finitely
//! many bounds, the *thresholds*, so a search over them ends ([`search`]). It covers what the
//! program can do:
//!
//! 1. a step of the program is one of the frame, which is the program with every integer taken as
//!    0 and with an edge for each case of its comparisons ([`frame`]);
//! 2. what the step does to integers is a move: constraints, and then new values, all at once
//!    ([`rules`]). A move is exact on matrices of differences, where integers are one value each.
//!    The stores of a set share one integer, which stands for all of their values: what a matrix
//!    says of it holds for each. A store that joins them leaves the weaker of both bounds, one
//!    that leaves is bounded like all of them, and the last one to leave is the latest, which is
//!    an integer of its own;
//! 3. rounding only forgets ([`zone`]).
//!
//! So a search that finds nothing wrong is a proof. A way to something wrong is first gone
//! without rounding. If that is not possible, the facts that rule it out give new thresholds
//! ([`refute`]), and the next search does not find it again. If it is possible, either there is an
//! execution on exact buffers ([`replay`]), whose numbers are then chosen and which is run on the
//! program itself, or k is too small.

mod endless;
mod expand;
mod frame;
mod graph;
mod judge;
mod known;
mod matrix;
mod refute;
mod replay;
mod rules;
mod search;
mod start;
mod states;
mod way;
mod zone;

pub use endless::{Filled, RoundStep};
pub use frame::{Datum, Frame};
pub use matrix::{Fact, Matrix, Node};
pub use replay::Replayed;
pub use rules::at_most_zero;
pub use zone::{Assigned, Move, Rounding, Term, Thresholds, Zone};

use crate::limits::{Limits, Monitor, StopReason};
use crate::memory::Semantics;
use crate::memory::step::{Config, Effect, Step};
use crate::program::{EdgeId, Program};
use crate::property::Violation;
use crate::space::{Coverage, Snapshot, Statistics, Trace, TraceStep};
use graph::{Frozen, Graph};
use refute::Gone;
use rules::Rules;
use search::{Explorer, Found, Options, Way};
use std::sync::Arc;

/// A program with integers, ready to be searched.
pub struct Integers<'a> {
    program: &'a Program,
    frame: Frame,
}

/// What a search found.
pub struct IntegerExploration {
    pub end: IntegerEnd,
    pub statistics: Statistics,
    pub coverage: Coverage,
}

/// How a search ended.
pub enum IntegerEnd {
    /// Everything was visited, and nothing is wrong.
    Exhausted,
    Violation(Box<Suspect>),
    Limit(StopReason),
}

/// A way to something wrong; it may be none of the program.
pub struct Suspect {
    pub violation: Violation,
    way: Way,
}

/// Searches with the same buffers and different thresholds. What does not depend on thresholds is
/// found once.
pub struct IntegerSearches<'f> {
    graph: Graph<'f>,
}

/// What a search is asked.
pub struct IntegerOptions<'o> {
    pub thresholds: &'o Thresholds,
    /// Keep all integers of one state of the frame in one zone.
    pub join: bool,
    /// At least 1.
    pub threads: usize,
    pub limits: &'o Limits,
}

/// What follows if a way is gone without rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Examined {
    /// It can be gone.
    Possible,
    /// It cannot, and new thresholds keep it from being found again.
    Refuted,
    /// It cannot, but nothing new was learnt.
    NothingNew,
}

impl<'a> Integers<'a> {
    pub fn new(program: &'a Program) -> Integers<'a> {
        let frame = Frame::new(program);
        Integers { program, frame }
    }

    /// Gets ready for searches under some semantics.
    pub fn searches(&self, semantics: Semantics) -> IntegerSearches<'_> {
        let rules = Rules::new(&self.frame, semantics);
        IntegerSearches {
            graph: Graph::new(self.program, rules),
        }
    }

    /// Goes a way without rounding. What rules it out is added to the thresholds.
    pub fn examine(
        &self,
        searches: &mut IntegerSearches,
        suspect: &Suspect,
        thresholds: &mut Thresholds,
    ) -> Examined {
        let start = start::start(&mut searches.graph.rules, self.program, Rounding::Exact);
        match refute::go(&suspect.way, start, self.frame.octagon) {
            Gone::ToItsEnd => Examined::Possible,
            Gone::RuledOutBy(facts) => match refute::learn(thresholds, &facts) {
                true => Examined::Refuted,
                false => Examined::NothingNew,
            },
        }
    }

    /// Looks for an execution of the exact model that takes the steps of a way.
    pub fn replay(
        &self,
        semantics: Semantics,
        suspect: &Suspect,
        limits: &Limits,
        monitor: &Monitor,
    ) -> Replayed {
        let (program, frame) = (self.program, &self.frame);
        replay::replay(program, frame, semantics, &suspect.way, limits, monitor)
    }

    /// A way as a trace of the program in which every integer is 0.
    pub fn trace(&self, suspect: &Suspect) -> Trace {
        let mut steps: Vec<TraceStep> = Vec::new();
        for step in &suspect.way.steps {
            let next = step.after.configs[step.process.index()].clone();
            let path = self.frame.origin(step.process, &step.path, &next);
            let flush = matches!(step.effect, Effect::Flush(_));
            if path.is_empty() && !flush {
                continue;
            }
            steps.push(TraceStep {
                process: step.process,
                step: taken(step.effect, path, &next),
                after: snapshot(&step.after),
            });
        }
        Trace {
            initial: snapshot(&suspect.way.initial),
            steps,
        }
    }
}

impl IntegerSearches<'_> {
    /// Searches with some thresholds.
    pub fn explore(&mut self, options: &IntegerOptions, monitor: &Monitor) -> IntegerExploration {
        let mut explorer = Explorer::new(
            &mut self.graph,
            Options {
                thresholds: options.thresholds,
                join: options.join,
                threads: options.threads,
                limits: options.limits,
                monitor,
            },
        );
        let found = explorer.explore();
        let (statistics, coverage) = (explorer.statistics(), explorer.coverage());
        IntegerExploration {
            end: match found {
                Found::Exhausted => IntegerEnd::Exhausted,
                Found::Limit(reason) => IntegerEnd::Limit(reason),
                Found::Violation(violation, way) => {
                    IntegerEnd::Violation(Box::new(Suspect { violation, way }))
                }
            },
            statistics,
            coverage,
        }
    }
}

fn taken(effect: Effect, path: Vec<EdgeId>, next: &Arc<Config>) -> Step {
    Step {
        effect,
        path,
        passed: Vec::new(),
        next: (**next).clone(),
        writes: Vec::new(),
    }
}

fn snapshot(state: &Frozen) -> Snapshot {
    Snapshot {
        memory: state.memory.clone(),
        configs: state.configs.clone(),
    }
}
