//! Inference by avoid formulas.
//!
//! The whole state space is built and every state labelled with a formula that says which
//! fences keep it from being reached: the greatest fixed point of
//!
//! ```text
//! L(initial) = false
//! L(σ)       = ⋀ over transitions t = (μ → σ) of  L(μ) ∨ prevent(t)
//! ```
//!
//! The label of the one node that stands for all errors is ψ: the fence sets that satisfy
//! it make the program correct. What prevents a transition is for [`points`] or
//! [`ordering`] to say. The cheapest and the minimal sets are found as in the lazy engine,
//! with ψ in place of the verifier; what comes out of it is verified all the same. Nothing
//! is learned about the exact model, so a placement is at best optimal under the
//! abstraction.

mod ordering;
mod points;

use super::placements::{Engine, Round};
use super::run::InferenceRun;
use super::{Conclusion, EngineKind, Formula, Labelling, Literal, Obstacle, Unfixable};
use crate::formula::{FALSE, FormulaId, Formulas, TRUE, TooLarge};
use crate::limits::{Limits, Monitor, Pace};
use crate::memory::{Abstraction, Semantics};
use crate::program::{PointId, PointSet, Program, Property};
use crate::space::{End, Exploration, Goal, Graph, Search, Tagger, explore};
use crate::verify::{Inconclusive, Verdict};
use std::collections::VecDeque;
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

/// A state space to label, and what prevents its transitions.
pub struct LabellingProblem {
    pub graph: Graph,
    /// Over the allowed points: for placements.
    pub over_points: Prevention,
    /// Over ordering constraints: for people to read, if they want to.
    pub over_constraints: Option<Prevention>,
}

/// What prevents transitions, as formulas over some variables.
pub struct Prevention {
    pub formulas: Formulas,
    /// By the tag of the transition.
    pub by_tag: Vec<FormulaId>,
    /// What the variables are.
    pub variables: Vec<Literal>,
}

/// The most clauses and solutions that a formula may have to be reported.
const MOST_REPORTED: usize = 100_000;

impl<'w, 'a> Eager<'w, 'a> {
    /// Builds and labels the state space; or says why not.
    pub fn new(run: &'w mut InferenceRun<'a>) -> Result<Eager<'w, 'a>, Obstacle> {
        let (formulas, psi) = Eager::label(run)?;
        Ok(Eager {
            points: run.allowed().into_iter().collect(),
            run,
            formulas,
            psi,
            demands: Vec::new(),
        })
    }

    fn label(run: &mut InferenceRun) -> Result<(Formulas, FormulaId), Obstacle> {
        let before = (run.states, run.transitions);
        let LabellingProblem {
            graph,
            over_points: mut prevention,
            over_constraints,
        } = match run.options.engine {
            EngineKind::Ordering => ordering::prepare(run)?,
            _ => points::prepare(run)?,
        };
        let limits = &run.options.verify.limits;
        let begin = Instant::now();
        let (psi, updates) = label(&graph, &mut prevention, limits, run.monitor)?;
        run.labelling = Some(Labelling {
            states: run.states - before.0,
            transitions: run.transitions - before.1,
            formulas: prevention.formulas.count(),
            nodes: prevention.formulas.nodes(),
            updates,
            time: begin.elapsed(),
        });
        if run.options.formula {
            run.formula = match over_constraints {
                None => clauses(&prevention, psi),
                Some(mut prevention) => {
                    let psi = label(&graph, &mut prevention, limits, run.monitor).ok();
                    psi.and_then(|(psi, _)| clauses(&prevention, psi))
                }
            };
        }
        Ok((prevention.formulas, psi))
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

/// Explores a program completely, for its graph.
pub fn explore_all(
    run: &mut InferenceRun,
    program: &Program,
    labelled: bool,
    tagger: Tagger,
) -> Result<Graph, Obstacle> {
    let options = &run.options.verify;
    run.monitor.say("building the state space");
    let semantics = Semantics {
        abstraction: run.abstraction,
        ..options.semantics
    };
    let mut stepper = semantics.stepper(program);
    stepper.labelled = labelled;
    let Exploration {
        end,
        statistics,
        graph,
        ..
    } = explore(&Search {
        stepper: &stepper,
        goal: Goal::Graph(tagger),
        deadlock: false,
        limits: &options.limits,
        monitor: run.monitor,
        threads: options.threads,
    });
    run.count(statistics.states, statistics.transitions);
    match (end, graph) {
        (End::Limit(reason), _) => Err(Obstacle::Limit(reason)),
        (_, graph) => Ok(graph.expect("an exhaustive search has a graph")),
    }
}

/// A formula as its clauses, unless there are too many to read.
fn clauses(prevention: &Prevention, formula: FormulaId) -> Option<Formula> {
    let solutions = prevention.formulas.solutions(formula, MOST_REPORTED)?.len();
    let clauses = prevention.formulas.clauses(formula, MOST_REPORTED)?;
    let literals = |clause: Vec<usize>| -> Vec<Literal> {
        let mut literals: Vec<Literal> = clause
            .into_iter()
            .map(|index| prevention.variables[index])
            .collect();
        literals.sort();
        literals
    };
    Some(Formula {
        clauses: clauses.into_iter().map(literals).collect(),
        solutions,
    })
}

/// Labels a graph to the greatest fixed point: ψ, and how often a transition was taken into
/// account. Labels only become stronger, so a node has to be looked at again only when its
/// own label has changed.
fn label(
    graph: &Graph,
    prevention: &mut Prevention,
    limits: &Limits,
    monitor: &Monitor,
) -> Result<(FormulaId, u64), Obstacle> {
    let Prevention {
        formulas, by_tag, ..
    } = prevention;
    let mut labels = vec![TRUE; graph.nodes()];
    let mut waiting = vec![false; graph.nodes()];
    let mut queue = VecDeque::new();
    for &node in graph.initial() {
        labels[node.index()] = FALSE;
        queue.push_back(node);
    }
    let mut updates = 0;
    let mut pace = Pace::default();
    while let Some(node) = queue.pop_front() {
        waiting[node.index()] = false;
        let own = labels[node.index()];
        for edge in graph.edges(node) {
            let to = edge.to.index();
            let through = formulas.or(own, by_tag[edge.tag.index()])?;
            let label = formulas.and(labels[to], through)?;
            updates += 1;
            if label != labels[to] {
                labels[to] = label;
                if !std::mem::replace(&mut waiting[to], true) {
                    queue.push_back(edge.to);
                }
            }
        }
        if pace.is_due(1 + graph.edges(node).len()) {
            monitor.say(&format!("labelling, {} formulas", formulas.count()));
            if let Some(reason) = monitor.stop(limits) {
                return Err(Obstacle::Limit(reason));
            }
        }
    }
    Ok((labels[Graph::ERROR.index()], updates))
}

impl From<TooLarge> for Obstacle {
    fn from(_: TooLarge) -> Obstacle {
        Obstacle::FormulaTooLarge
    }
}
