//! Counterexample-guided inference.
//!
//! The state space of the unfenced program is never built. The cheapest set of fences that
//! meets all demands is verified; a counterexample becomes a demand.

use super::clause::clause;
use super::hitting::{self, cheapest};
use super::work::{Engine, Round, Work};
use super::{Clause, Outcome, Reason, Unfixable};
use crate::program::{PointId, PointSet};
use crate::space::StopReason;
use crate::verify::{self, Abstraction, MOST_K};

/// States that a verification may take without being called work.
const LITTLE: u64 = 5_000;

pub struct Lazy<'w, 'a> {
    pub work: &'w mut Work<'a>,
}

impl<'a> Engine<'a> for Lazy<'_, 'a> {
    fn work(&mut self) -> &mut Work<'a> {
        self.work
    }

    fn demands(&self) -> Vec<PointSet> {
        points(&self.work.clauses, |_| true)
    }

    /// Verifies one fence set. After a failure, fences are put wherever its clause allows
    /// and the program is verified again: the next counterexample shares no point with the
    /// ones before, and each of them must be paid for. This is given up when it takes much
    /// more work than the failure did.
    fn round(&mut self, fences: &PointSet) -> Round {
        let before = self.work.states;
        let first = self.attempt(fences, true, u64::MAX);
        let patience = 2 * (self.work.states - before) + LITTLE;
        if !matches!(first, Round::Failed) || !self.is_exact() {
            return first;
        }
        let mut more = fences.clone();
        while let Some(clause) = self.work.clauses.last()
            && !clause.points.is_subset(&more)
        {
            let costs = &self.work.options.costs;
            let usable = |point: &&PointId| costs[point.index()].is_some();
            let found = more.len();
            more.extend(clause.points.iter().filter(usable));
            if more.len() == found || !matches!(self.attempt(&more, false, patience), Round::Failed)
            {
                break;
            }
        }
        Round::Failed
    }

    /// Some clause cannot be hit: the last one.
    fn no_way_out(&mut self) -> Outcome {
        match self.work.clauses.last() {
            Some(clause) if clause.real => Outcome::Unfixable(Box::new(Unfixable {
                fences: clause.fences.clone(),
                violation: clause.violation,
                trace: clause.trace.clone(),
            })),
            _ => Outcome::Inconclusive(Reason::TooCoarse),
        }
    }

    /// What the executions of the exact model alone demand.
    fn lower_bound(&self) -> u64 {
        let costs = &self.work.options.costs;
        let bound = cheapest(&points(&self.work.clauses, |clause| clause.real), costs);
        bound.map_or(0, |fences| hitting::cost(&fences, costs))
    }

    /// A counterexample through merged sets may use what came along another path.
    fn is_exact(&self) -> bool {
        matches!(self.work.abstraction, Abstraction::Fd { .. })
    }
}

impl Lazy<'_, '_> {
    /// Verifies one fence set with at most so many states; a counterexample becomes a
    /// clause, or it raises k if that is wanted and it is not real.
    fn attempt(&mut self, fences: &PointSet, raise: bool, most: u64) -> Round {
        let options = self.work.options;
        loop {
            let answer = self.work.verify_within(fences, options.verify.model, most);
            let real = match answer.outcome {
                verify::Outcome::Correct => return Round::Verified(answer.exploration.states),
                verify::Outcome::Violated => true,
                verify::Outcome::Inconclusive(verify::Reason::Limit(reason)) => {
                    return Round::Inconclusive(Reason::Limit(reason));
                }
                verify::Outcome::Inconclusive(_) => false,
            };
            if let (false, true, Abstraction::Fd { k }) =
                (real, options.refine, self.work.abstraction)
                && k < MOST_K
            {
                if !raise {
                    return Round::Inconclusive(Reason::TooCoarse);
                }
                self.work.tried.push(k);
                self.work.abstraction = Abstraction::Fd { k: k + 1 };
                continue;
            }
            let Some((violation, Some(trace))) = answer.exploration.violation else {
                return Round::Inconclusive(Reason::Limit(StopReason::Interrupted));
            };
            let whole = self.work.whole;
            let points = match real || self.is_exact() {
                true => clause(whole, &whole.fenced(fences), fences, &trace),
                // All that is certain is that these fences are not enough.
                false => &self.work.allowed() - fences,
            };
            self.work.clauses.push(Clause {
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

fn points(clauses: &[Clause], wanted: impl Fn(&Clause) -> bool) -> Vec<PointSet> {
    let wanted = clauses.iter().filter(|clause| wanted(clause));
    wanted.map(|clause| clause.points.clone()).collect()
}
