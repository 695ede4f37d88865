//! An inference under way: verifying sets of fences, and what that took.

use super::hitting::{self, cheapest};
use super::{
    Bounds, Clause, Conclusion, Formula, InferOptions, Inference, Labelling, Placement, Removable,
    Why,
};
use crate::limits::{Monitor, StopReason};
use crate::memory::{Abstraction, Model, Semantics};
use crate::program::{FenceKind, PointId, PointSet, Program};
use crate::space::{Coverage, Thresholds};
use crate::verify::{Answer, Inconclusive, MOST_K, Strategy, Verdict, VerifyOptions, verify};

/// An inference under way.
pub struct InferenceRun<'a> {
    /// The program with all of its points.
    pub whole: &'a Program,
    pub options: &'a InferOptions,
    pub monitor: &'a Monitor,
    pub abstraction: Abstraction,
    /// What the last proof rests on.
    pub proved_by: Abstraction,
    /// Values of k that were too coarse.
    pub tried: Vec<usize>,
    /// The demands of counterexamples.
    pub clauses: Vec<Clause>,
    pub labelling: Option<Labelling>,
    pub formula: Option<Formula>,
    pub removable: Option<Removable>,
    pub rounds: u64,
    pub states: u64,
    pub transitions: u64,
    pub peak: u64,
    pub cut: Option<StopReason>,
    pub coverage: Option<Coverage>,
    /// What it took to visit all states of sequential consistency, if that was done.
    pub sc_states: Option<u64>,
    /// The cheapest placement that was verified on the way.
    pub so_far: Option<Placement>,
    /// What is told apart of integers without bound, by now.
    pub thresholds: Thresholds,
}

impl<'a> InferenceRun<'a> {
    /// A run that has done nothing yet.
    pub fn new(
        whole: &'a Program,
        options: &'a InferOptions,
        monitor: &'a Monitor,
    ) -> InferenceRun<'a> {
        InferenceRun {
            whole,
            options,
            monitor,
            abstraction: options.verify.semantics.abstraction,
            proved_by: options.verify.semantics.abstraction,
            tried: Vec::new(),
            clauses: Vec::new(),
            labelling: None,
            formula: None,
            removable: None,
            rounds: 0,
            states: 0,
            transitions: 0,
            peak: 0,
            cut: None,
            coverage: None,
            sc_states: None,
            so_far: None,
            thresholds: options.verify.thresholds.clone(),
        }
    }

    /// What was found out, with the account of what that took.
    pub fn conclude(mut self, conclusion: Conclusion) -> Inference {
        Inference {
            bounds: match conclusion {
                Conclusion::Inconclusive(_) => self.so_far.take().map(|best| Bounds {
                    lower: self.lower_bound(),
                    best,
                }),
                _ => None,
            },
            abstraction: match &conclusion {
                Conclusion::Correct(best) if best.abstraction.is_logs() => best.abstraction,
                Conclusion::Placed(placed) if placed.best.abstraction.is_logs() => {
                    placed.best.abstraction
                }
                _ => self.abstraction,
            },
            conclusion,
            thresholds: self.thresholds,
            tried: self.tried,
            rounds: self.rounds,
            states: self.states,
            transitions: self.transitions,
            peak: self.peak,
            cut: self.cut,
            coverage: self.coverage,
            clauses: self.clauses,
            labelling: self.labelling,
            formula: self.formula,
            removable: self.removable,
        }
    }

    /// The outcome if the program is not correct under sequential consistency.
    pub fn wrong_under_sc(&mut self) -> Option<Conclusion> {
        let sc = self.verify(&PointSet::new(), Model::Sc);
        match sc.verdict {
            Verdict::Correct => {
                self.coverage = sc.coverage;
                self.sc_states = Some(sc.statistics.states);
                None
            }
            Verdict::Violated => {
                let (violation, trace) = sc.into_trace().expect("a violation has a trace");
                Some(Conclusion::IncorrectUnderSc(violation, trace))
            }
            Verdict::Inconclusive(reason) => Some(Conclusion::Inconclusive(reason.into())),
        }
    }

    /// Verifies the program with these fences.
    pub fn verify(&mut self, fences: &PointSet, model: Model) -> Answer {
        self.verify_within(fences, model, u64::MAX)
    }

    /// The same with at most so many states.
    pub fn verify_within(&mut self, fences: &PointSet, model: Model, most: u64) -> Answer {
        let program = self.whole.fenced(fences);
        self.verify_program(&program, model, Strategy::Fixed, most)
    }

    /// The same; k is raised if that is wanted and there is reason to.
    pub fn verify_refining(&mut self, fences: &PointSet) -> Answer {
        self.refined(&self.whole.fenced(fences))
    }

    /// Verifies a program, and keeps to the k that was needed.
    fn refined(&mut self, program: &Program) -> Answer {
        let VerifyOptions {
            strategy,
            semantics,
            ..
        } = self.options.verify;
        let answer = self.verify_program(program, semantics.model, strategy, u64::MAX);
        // Where view logs had to answer, a larger k is no help in what comes next.
        if let Abstraction::Fd { .. } = answer.abstraction {
            for attempt in &answer.tried {
                self.tried.push(attempt.k);
                self.abstraction = Abstraction::Fd { k: attempt.k + 1 };
            }
        }
        if answer.verdict == Verdict::Correct {
            self.proved_by = answer.abstraction;
            if let Abstraction::Fd { .. } = answer.abstraction {
                self.abstraction = answer.abstraction;
            }
        }
        answer
    }

    /// What is known of a program under the model. If k is refined, it is raised while it is
    /// not known whether the counterexample is real, for this program alone; only a proof
    /// with a larger k is something that the answer rests on from then on.
    pub fn decide(&mut self, program: &Program) -> Answer {
        let (abstraction, tried) = (self.abstraction, self.tried.len());
        let mut answer = self.refined(program);
        while is_undecided(answer.verdict) && self.refine() {
            let finer = self.refined(program);
            if let Verdict::Inconclusive(Inconclusive::Limit(_)) = finer.verdict {
                break;
            }
            answer = finer;
        }
        if answer.verdict != Verdict::Correct {
            self.abstraction = abstraction;
            self.tried.truncate(tried);
        }
        answer
    }

    /// Whether there is a larger k that may be tried.
    pub fn can_refine(&self) -> bool {
        let refine = self.options.verify.strategy != Strategy::Fixed;
        refine && matches!(self.abstraction, Abstraction::Fd { k } if k < MOST_K)
    }

    /// Raises k, if it can be.
    pub fn refine(&mut self) -> bool {
        match self.abstraction {
            Abstraction::Fd { k } if self.can_refine() => {
                self.tried.push(k);
                self.abstraction = Abstraction::Fd { k: k + 1 };
                true
            }
            _ => false,
        }
    }

    /// How a program is verified, with at most so many states.
    pub fn verify_options(&self, model: Model, strategy: Strategy, most: u64) -> VerifyOptions {
        let mut options = VerifyOptions {
            semantics: Semantics {
                model,
                abstraction: self.abstraction,
                ..self.options.verify.semantics
            },
            strategy,
            full: false,
            // That is asked first, and fences do not change it.
            correct_under_sc: model != Model::Sc,
            thresholds: self.thresholds.clone(),
            ..self.options.verify.clone()
        };
        let limit = &mut options.limits.max_states;
        *limit = Some(limit.unwrap_or(u64::MAX).min(most));
        options
    }

    fn verify_program(
        &mut self,
        program: &Program,
        model: Model,
        strategy: Strategy,
        most: u64,
    ) -> Answer {
        let options = self.verify_options(model, strategy, most);
        let answer = verify(program, &options, self.monitor);
        self.count(answer.statistics.states, answer.statistics.transitions);
        self.thresholds.clone_from(&answer.thresholds);
        // Some searches are given few states on purpose.
        let cut = answer
            .stopped
            .filter(|&reason| reason != StopReason::MaxStates);
        self.cut = self.cut.or(cut);
        answer
    }

    /// What the executions of the exact model alone demand.
    pub fn lower_bound(&self) -> u64 {
        let costs = &self.options.costs;
        let real = self.clauses.iter().filter(|clause| clause.real);
        let demands: Vec<PointSet> = real.map(|clause| clause.points.clone()).collect();
        cheapest(&demands, costs).map_or(0, |fences| hitting::cost(&fences, costs))
    }

    /// Keeps a placement that was verified with this many states, if none is cheaper.
    pub fn keep(&mut self, fences: &PointSet, states: u64) {
        let cost = hitting::cost(fences, &self.options.costs);
        if self.so_far.as_ref().is_none_or(|best| cost < best.cost) {
            self.so_far = Some(Placement {
                abstraction: self.abstraction,
                ..self.placement(fences.clone(), states)
            });
        }
    }

    /// Adds a search to the account.
    pub fn count(&mut self, states: u64, transitions: u64) {
        self.rounds += 1;
        self.states += states;
        self.transitions += transitions;
        self.peak = self.peak.max(states);
    }

    /// Where fences may stand.
    pub fn allowed(&self) -> PointSet {
        let all = (0..self.whole.points.len() as u32).map(PointId);
        all.filter(|point| self.options.costs[point.index()].is_some())
            .collect()
    }

    /// A placement of full fences that was just verified with this many states.
    pub fn placement(&self, fences: PointSet, states: u64) -> Placement {
        Placement {
            cost: hitting::cost(&fences, &self.options.costs),
            kinds: vec![FenceKind::Full; fences.len()],
            fences,
            abstraction: self.proved_by,
            thresholds: self.thresholds.clone(),
            states,
            price: None,
            why: Vec::new(),
        }
    }

    /// For each fence, what happens when it is left out.
    pub fn why(&mut self, fences: &PointSet) -> Vec<Why> {
        self.monitor.say("why each fence is needed");
        let without = |point| {
            let mut fewer = fences.clone();
            fewer.remove(point);
            let answer = self.decide(&self.whole.fenced(&fewer));
            Why {
                verdict: answer.verdict,
                counterexample: answer.into_trace(),
            }
        };
        fences.iter().map(without).collect()
    }
}

/// A counterexample was found that is not known to be real.
fn is_undecided(verdict: Verdict) -> bool {
    use Inconclusive::{Spurious, Undecided};
    matches!(verdict, Verdict::Inconclusive(Spurious | Undecided))
}
