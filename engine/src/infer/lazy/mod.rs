//! Counterexample-guided inference.
//!
//! The state space of the unfenced program is never built. The cheapest set of fences that
//! meets all demands is verified; a counterexample becomes a demand, its *clause*: one of
//! the points that it passes with pending stores must carry a fence ([`clause()`]).
//!
//! A counterexample that is not known to be real raises k, if k is refined. The clauses of
//! real ones are necessary on the exact model, whatever the abstraction: the cheapest fences
//! that meet these alone are the lower bound, and a verified placement that costs no more is
//! optimal. The clauses of others are necessary for a proof under FD(k). Under PD, where a
//! trace may use what came into a merged set along another path, all that an unreal one
//! shows is that its fences are not enough.

mod clause;

pub use clause::clause;

use super::placements::{Engine, Round};
use super::run::InferenceRun;
use super::{Clause, Conclusion, Obstacle, Unfixable};
use crate::limits::StopReason;
use crate::memory::Abstraction;
use crate::program::{PointId, PointSet};
use crate::verify::{Inconclusive, Verdict};

/// The states that every attempt to learn more from a failure may take.
const LEAST_BUDGET: u64 = 5_000;

/// The engine; its clauses are kept by the run, which reports them.
pub struct Lazy<'w, 'a> {
    pub run: &'w mut InferenceRun<'a>,
}

impl<'a> Engine<'a> for Lazy<'_, 'a> {
    fn run(&mut self) -> &mut InferenceRun<'a> {
        self.run
    }

    fn demands(&self) -> Vec<PointSet> {
        let clauses = self.run.clauses.iter();
        clauses.map(|clause| clause.points.clone()).collect()
    }

    /// Verifies one fence set. After a failure, fences are put wherever its clause allows
    /// and the program is verified again: the next counterexample shares no point with the
    /// ones before, and each of them must be paid for. This is given up when it takes much
    /// more work than the failure did.
    fn round(&mut self, fences: &PointSet) -> Round {
        let before = self.run.states;
        let first = self.attempt(fences, None);
        let budget = 2 * (self.run.states - before) + LEAST_BUDGET;
        if !matches!(first, Round::Failed) || !self.is_exact() {
            return first;
        }
        let mut more = fences.clone();
        while let Some(clause) = self.run.clauses.last()
            && !clause.points.is_subset(&more)
        {
            let costs = &self.run.options.costs;
            let usable = |point: &&PointId| costs[point.index()].is_some();
            let found = more.len();
            more.extend(clause.points.iter().filter(usable));
            if more.len() == found {
                break;
            }
            match self.attempt(&more, Some(budget)) {
                Round::Failed => {}
                Round::Verified(states) => {
                    self.run.keep(&more, states);
                    break;
                }
                Round::Inconclusive(_) => break,
            }
        }
        Round::Failed
    }

    /// Some clause cannot be hit: the last one.
    fn when_unsatisfiable(&mut self) -> Conclusion {
        match self.run.clauses.last() {
            Some(clause) if clause.real => Conclusion::Unfixable(Box::new(Unfixable {
                fences: clause.fences.clone(),
                violation: clause.violation,
                trace: clause.trace.clone(),
            })),
            _ => Conclusion::Inconclusive(Obstacle::TooCoarse),
        }
    }

    /// What the executions of the exact model alone demand.
    fn lower_bound(&self) -> u64 {
        self.run.lower_bound()
    }

    /// A counterexample through merged sets may use what came along another path.
    fn is_exact(&self) -> bool {
        // Counterexamples of view logs are executions of the exact model.
        let abstraction = self.run.abstraction;
        matches!(
            abstraction,
            Abstraction::Fd { .. } | Abstraction::Logs { .. }
        )
    }
}

impl Lazy<'_, '_> {
    /// Verifies one fence set, with at most so many states if that is said; a counterexample
    /// becomes a clause. Without a limit, one that is not real raises k.
    fn attempt(&mut self, fences: &PointSet, most: Option<u64>) -> Round {
        let model = self.run.options.verify.semantics.model;
        loop {
            let answer = match most {
                None => self.run.verify_refining(fences),
                Some(most) => self.run.verify_within(fences, model, most),
            };
            let real = match answer.verdict {
                Verdict::Correct => return Round::Verified(answer.statistics.states),
                Verdict::Violated => true,
                Verdict::Inconclusive(Inconclusive::Limit(reason)) => {
                    return Round::Inconclusive(Obstacle::Limit(reason));
                }
                Verdict::Inconclusive(_) => false,
            };
            if !real && self.run.can_refine() {
                if most.is_some() {
                    return Round::Inconclusive(Obstacle::TooCoarse);
                }
                self.run.refine();
                continue;
            }
            let Some((violation, trace)) = answer.into_trace() else {
                return Round::Inconclusive(Obstacle::Limit(StopReason::Interrupted));
            };
            let whole = self.run.whole;
            let points = match real || self.is_exact() {
                true => clause(whole, &whole.fenced(fences), fences, &trace),
                // All that is certain is that these fences are not enough.
                false => &self.run.allowed() - fences,
            };
            self.run.clauses.push(Clause {
                points,
                real,
                fences: fences.clone(),
                violation,
                trace,
            });
            return Round::Failed;
        }
    }
}
