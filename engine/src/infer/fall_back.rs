//! An answer at any time: if the cheapest placement is not found, the best one that was verified
//! is told, with what a placement costs at least.
//!
//! Most rounds that fail verify a larger set of fences on the way, which is kept. Where none
//! was, the program is verified with fences at all points that counterexamples have named, and
//! with fences everywhere: such programs have about as many states as under sequential
//! consistency, whose number is known. Where these are few, this waits until a limit is reached;
//! where they are many, it comes first, since it takes little beside the rounds that follow. In the
//! end fences that are not needed are left out, as far as that takes few states.

use super::run::InferenceRun;
use super::{Conclusion, Optimality, Placed};
use crate::limits::{Limits, Monitor};
use crate::program::{PointId, PointSet};
use crate::verify::{Strategy, Verdict, VerifyOptions, verify};
use std::cmp::Reverse;
use std::time::{Duration, Instant};

/// The states of sequential consistency up to which a fall-back can wait: a moment's work.
const FEW: u64 = 200_000;

/// States that a program with many fences may have for each one of sequential consistency.
const FACTOR: u64 = 4;

/// States that it may have in any case.
const LEAST: u64 = 20_000;

/// States that may be spent in all to leave out fences that are not needed.
const MOST: u64 = 1_000_000;

/// What this may take when time is over: more than so few states usually need.
const MOMENT: Duration = Duration::from_secs(2);

impl InferenceRun<'_> {
    /// Verifies fences everywhere before the rounds begin, if that would take too long when they
    /// have ended.
    pub fn look_ahead(&mut self) {
        let Some(states) = self.sc_states.filter(|&states| states > FEW) else {
            return;
        };
        self.monitor.say("fences everywhere");
        let model = self.options.verify.semantics.model;
        let everywhere = self.allowed();
        let most = states.saturating_mul(FACTOR);
        let answer = self.verify_within(&everywhere, model, most);
        if answer.verdict == Verdict::Correct {
            self.keep(&everywhere, answer.statistics.states);
        }
    }

    /// The placement that was verified on the way, if executions of the exact model show that none
    /// is cheaper.
    pub fn optimal_so_far(&mut self) -> Option<Conclusion> {
        let lower_bound = self.lower_bound();
        let best = self.so_far.take_if(|best| best.cost == lower_bound)?;
        Some(match best.fences.is_empty() {
            true => Conclusion::Correct(best),
            false => Conclusion::Placed(Box::new(Placed {
                best,
                optimality: Optimality::Exact,
                lower_bound,
                all: Vec::new(),
                more: true,
            })),
        })
    }

    /// Looks for a placement when the rounds have ended without one. A limit may have ended them:
    /// there is a moment more, and the number of states is small.
    pub fn fall_back(&mut self) {
        let Some(states) = self.sc_states.filter(|&states| states <= FEW) else {
            return;
        };
        let everywhere = self.allowed();
        let named: PointSet = (self.clauses.iter())
            .flat_map(|clause| clause.points.iter().copied())
            .filter(|point| everywhere.contains(point))
            .collect();
        let soon = Instant::now() + MOMENT;
        let given = &self.options.verify.limits;
        let most = LEAST + states.saturating_mul(FACTOR);
        let allowance = Limits {
            deadline: given.deadline.map(|deadline| deadline.max(soon)),
            max_states: Some(given.max_states.unwrap_or(u64::MAX).min(most)),
            max_memory: given.max_memory,
        };
        for fences in [named, everywhere] {
            if self.so_far.is_none() {
                self.try_now(&fences, &allowance);
            }
        }
        self.thin_out(&allowance);
    }

    /// Leaves out fences of the best placement one after the other, the dearest first, while it
    /// verifies and not too much is spent.
    fn thin_out(&mut self, allowance: &Limits) {
        let Some(best) = &self.so_far else {
            return;
        };
        let mut fences: Vec<PointId> = best.fences.iter().copied().collect();
        fences.sort_by_key(|point| Reverse(self.options.costs[point.index()]));
        let before = self.states;
        for point in fences {
            let best = self.so_far.as_ref().map(|best| best.fences.clone());
            let mut fewer = best.unwrap_or_default();
            fewer.remove(&point);
            if self.states - before < MOST {
                self.try_now(&fewer, allowance);
            }
        }
    }

    /// Verifies fences within these limits, whatever has ended the rounds, and keeps them if they
    /// are enough.
    fn try_now(&mut self, fences: &PointSet, allowance: &Limits) {
        let model = self.options.verify.semantics.model;
        let options = VerifyOptions {
            limits: allowance.clone(),
            ..self.verify_options(model, Strategy::Fixed, u64::MAX)
        };
        // Whoever has interrupted the rounds has not interrupted this.
        let answer = verify(&self.whole.fenced(fences), &options, &Monitor::default());
        self.count(answer.statistics.states, answer.statistics.transitions);
        self.thresholds.clone_from(&answer.thresholds);
        if answer.verdict == Verdict::Correct {
            self.keep(fences, answer.statistics.states);
        }
    }
}
