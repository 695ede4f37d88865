//! Inference by avoid formulas.
//!
//! The states of the unfenced program are labelled with formulas that say which fences keep
//! them from being reached ([`avoid`](crate::space::avoid)); the conjunction of the labels of
//! all errors is ψ: the fence sets that satisfy it make the program correct. What prevents a
//! transition is for [`points`] or [`ordering`] to say. The cheapest and the minimal sets are
//! found as in the lazy engine, with ψ in place of the verifier; what comes out of it is
//! verified all the same. Nothing is learned about the exact model, so a placement is at best
//! optimal under the abstraction.

mod ordering;
mod points;

use super::placements::{Engine, Round};
use super::run::InferenceRun;
use super::{Conclusion, EngineKind, Formula, Labelling, Literal, Obstacle, PdMerge, Unfixable};
use crate::formula::{FormulaId, Formulas, TooLarge};
use crate::memory::{Abstraction, Semantics};
use crate::program::{PointId, PointSet, Program, Property};
use crate::space::avoid::{Labels, Unlabelled};
use crate::space::{End, Goal, Scope, Search, Standstill, Tagger, label_states};
use crate::verify::{Inconclusive, Verdict};
use std::time::Instant;

/// The engine: the label of the errors, and what it has demanded so far.
pub struct Eager<'w, 'a> {
    run: &'w mut InferenceRun<'a>,
    formulas: Formulas,
    psi: FormulaId,
    /// Where fences may stand; the variables of the formulas, in this order.
    points: Vec<PointId>,
    demands: Vec<PointSet>,
}

/// A formula that says which fences are enough.
pub struct AvoidFormula {
    pub formulas: Formulas,
    pub psi: FormulaId,
    /// What the variables are.
    pub variables: Vec<Literal>,
}

/// The most clauses and solutions that a formula may have to be reported.
const MOST_REPORTED: usize = 100_000;

impl<'w, 'a> Eager<'w, 'a> {
    /// Builds and labels the state space; or says why not.
    pub fn new(run: &'w mut InferenceRun<'a>) -> Result<Eager<'w, 'a>, Obstacle> {
        let AvoidFormula { formulas, psi, .. } = match run.options.engine {
            EngineKind::Ordering => ordering::label(run)?,
            _ => points::label(run)?,
        };
        Ok(Eager {
            points: run.allowed().into_iter().collect(),
            run,
            formulas,
            psi,
            demands: Vec::new(),
        })
    }

    fn satisfies(&self, fences: &PointSet) -> bool {
        let fenced = |index: usize| fences.contains(&self.points[index]);
        self.formulas.holds(self.psi, fenced)
    }

    /// What ψ demands that these fences do not give: the points outside of a largest set
    /// of fences that contains them and is still not enough.
    fn demand(&self, fences: &PointSet) -> PointSet {
        let mut largest = fences.clone();
        let mut demand = PointSet::new();
        for &point in self.points.iter().filter(|point| !fences.contains(point)) {
            largest.insert(point);
            if self.satisfies(&largest) {
                largest.remove(&point);
                demand.insert(point);
            }
        }
        demand
    }
}

impl<'a> Engine<'a> for Eager<'_, 'a> {
    fn run(&mut self) -> &mut InferenceRun<'a> {
        self.run
    }

    fn demands(&self) -> Vec<PointSet> {
        self.demands.clone()
    }

    fn round(&mut self, fences: &PointSet) -> Round {
        if !self.satisfies(fences) {
            self.demands.push(self.demand(fences));
            return Round::Failed;
        }
        let model = self.run.options.verify.semantics.model;
        let answer = self.run.verify(fences, model);
        match answer.verdict {
            Verdict::Correct => Round::Verified(answer.statistics.states),
            Verdict::Inconclusive(Inconclusive::Limit(reason)) => {
                Round::Inconclusive(Obstacle::Limit(reason))
            }
            _ => Round::Inconclusive(Obstacle::Unverified),
        }
    }

    /// ψ cannot be satisfied. Fences everywhere show whether that is the program's fault,
    /// the abstraction's or the formula's.
    fn when_unsatisfiable(&mut self) -> Conclusion {
        let everywhere = self.run.allowed();
        let model = self.run.options.verify.semantics.model;
        let answer = self.run.verify(&everywhere, model);
        match answer.verdict {
            Verdict::Violated => {
                let (violation, trace) = answer.into_trace().expect("a violation has a trace");
                Conclusion::Unfixable(Box::new(Unfixable {
                    fences: everywhere,
                    violation,
                    trace,
                }))
            }
            Verdict::Correct => Conclusion::Inconclusive(Obstacle::Inexpressible),
            Verdict::Inconclusive(reason) => Conclusion::Inconclusive(reason.into()),
        }
    }

    /// Formulas are about the abstraction only.
    fn lower_bound(&self) -> u64 {
        0
    }

    /// Fence points under FD are exact, except that a position before a label may be taken
    /// for one that is not at the label.
    fn is_exact(&self) -> bool {
        let fd = matches!(self.run.abstraction, Abstraction::Fd { .. });
        let points = self.run.options.engine == EngineKind::Points;
        let mut properties = self.run.whole.properties.iter();
        fd && points && properties.all(Property::violated_only_by_presence)
    }
}

/// Computes labels for the states of a program; fails if the first of them are cut short.
fn label_program(
    run: &mut InferenceRun,
    program: &Program,
    labelled: bool,
    tagger: Tagger,
    labels: &mut [Labels],
) -> Result<(), Obstacle> {
    let options = &run.options.verify;
    run.monitor.say("building the state space");
    let semantics = Semantics {
        abstraction: run.abstraction,
        ..options.semantics
    };
    let mut stepper = semantics.stepper(program);
    stepper.labelled = labelled;
    let scope = match run.options.pd_merge {
        _ if run.options.whole => Scope::Whole,
        PdMerge::All => Scope::Relevant,
        PdMerge::Relevant => Scope::OnlyRelevant,
    };
    let begin = Instant::now();
    let search = Search {
        stepper: &stepper,
        goal: Goal::Labels(tagger, scope),
        standstill: Standstill::Ignored,
        limits: &options.limits,
        monitor: run.monitor,
        threads: options.threads,
    };
    let exploration = label_states(&search, labels);
    let statistics = exploration.statistics;
    run.count(statistics.states, statistics.transitions);
    if let End::Limit(reason) = exploration.end {
        return Err(Obstacle::Limit(reason));
    }
    run.labelling = Some(Labelling {
        states: statistics.states,
        transitions: statistics.transitions,
        formulas: labels[0].formulas.count(),
        nodes: labels[0].formulas.nodes(),
        updates: labels[0].updates,
        time: begin.elapsed(),
    });
    Ok(())
}

impl AvoidFormula {
    /// The formula of labels that were computed.
    fn of(labels: Labels, variables: Vec<Literal>) -> Result<AvoidFormula, Unlabelled> {
        Ok(AvoidFormula {
            psi: labels.psi()?,
            formulas: labels.formulas,
            variables,
        })
    }

    /// The formula as its clauses, unless there are too many to read.
    fn clauses(&self) -> Option<Formula> {
        let solutions = self.formulas.solutions(self.psi, MOST_REPORTED)?.len();
        let clauses = self.formulas.clauses(self.psi, MOST_REPORTED)?;
        let literals = |clause: Vec<usize>| -> Vec<Literal> {
            let literals = clause.into_iter().map(|index| self.variables[index]);
            let mut literals: Vec<Literal> = literals.collect();
            literals.sort();
            literals
        };
        Some(Formula {
            clauses: clauses.into_iter().map(literals).collect(),
            solutions,
        })
    }
}

impl From<TooLarge> for Obstacle {
    fn from(_: TooLarge) -> Obstacle {
        Obstacle::FormulaTooLarge
    }
}

impl From<Unlabelled> for Obstacle {
    fn from(why: Unlabelled) -> Obstacle {
        match why {
            Unlabelled::Stop(reason) => Obstacle::Limit(reason),
            Unlabelled::TooLarge => Obstacle::FormulaTooLarge,
        }
    }
}
