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
//! with ψ in place of the verifier; what comes out of it is verified all the same.
//!
//! [`points`]: super::points
//! [`ordering`]: super::ordering

use super::work::{Engine, Round, Work};
use super::{Formula, Labelling, Literal, Outcome, Reason, Unfixable, ordering, points};
use crate::formula::{FALSE, FormulaId, Formulas, TRUE, TooLarge};
use crate::memory::step::Stepper;
use crate::program::{PointId, PointSet, Program, Property};
use crate::space::{End, Exploration, Graph, Limits, Monitor, Search, StopReason, Tagger, explore};
use crate::verify::{self, Abstraction, memory};
use std::collections::VecDeque;
use std::time::Instant;

pub struct Eager<'w, 'a> {
    work: &'w mut Work<'a>,
    formulas: Formulas,
    psi: FormulaId,
    /// Where fences may stand; the variables of the formulas, in this order.
    points: Vec<PointId>,
    demands: Vec<PointSet>,
}

/// What an engine labels, and how.
pub struct Labelled {
    pub graph: Graph,
    /// Over the allowed points.
    pub prevention: Prevention,
    /// Over other variables, to be shown, if that is wanted.
    pub shown: Option<Prevention>,
}

/// What prevents transitions.
pub struct Prevention {
    pub formulas: Formulas,
    /// By the tag of the transition.
    pub by_tag: Vec<FormulaId>,
    /// What the variables are.
    pub variables: Vec<Literal>,
}

/// Clauses and solutions of a formula that are shown at most.
const MOST_SHOWN: usize = 100_000;

impl<'w, 'a> Eager<'w, 'a> {
    /// Builds and labels the state space; or says why not.
    pub fn new(work: &'w mut Work<'a>) -> Result<Eager<'w, 'a>, Reason> {
        let (formulas, psi) = Eager::label(work)?;
        Ok(Eager {
            points: work.allowed().into_iter().collect(),
            work,
            formulas,
            psi,
            demands: Vec::new(),
        })
    }

    fn label(work: &mut Work) -> Result<(Formulas, FormulaId), Reason> {
        let before = (work.states, work.transitions);
        let Labelled {
            graph,
            mut prevention,
            shown,
        } = match work.options.engine {
            super::Engine::Ordering(rules) => ordering::prepare(work, rules)?,
            _ => points::prepare(work)?,
        };
        let limits = &work.options.verify.limits;
        let begin = Instant::now();
        let (psi, updates) = label(&graph, &mut prevention, limits, work.monitor)?;
        work.labelling = Some(Labelling {
            states: work.states - before.0,
            transitions: work.transitions - before.1,
            formulas: prevention.formulas.count(),
            nodes: prevention.formulas.nodes(),
            updates,
            time: begin.elapsed(),
        });
        if work.options.formula {
            work.formula = match shown {
                None => readable(&prevention, psi),
                Some(mut shown) => {
                    let psi = label(&graph, &mut shown, limits, work.monitor).ok();
                    psi.and_then(|(psi, _)| readable(&shown, psi))
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
    fn work(&mut self) -> &mut Work<'a> {
        self.work
    }

    fn demands(&self) -> Vec<PointSet> {
        self.demands.clone()
    }

    fn round(&mut self, fences: &PointSet) -> Round {
        if !self.satisfies(fences) {
            self.demands.push(self.demand(fences));
            return Round::Failed;
        }
        let model = self.work.options.verify.model;
        let answer = self.work.verify(fences, model);
        match answer.outcome {
            verify::Outcome::Correct => Round::Verified(answer.exploration.states),
            verify::Outcome::Inconclusive(verify::Reason::Limit(reason)) => {
                Round::Inconclusive(Reason::Limit(reason))
            }
            _ => Round::Inconclusive(Reason::Unverified),
        }
    }

    /// ψ cannot be satisfied. Fences everywhere show whether that is the program's fault,
    /// the abstraction's or the formula's.
    fn no_way_out(&mut self) -> Outcome {
        let everywhere = self.work.allowed();
        let model = self.work.options.verify.model;
        let answer = self.work.verify(&everywhere, model);
        match (answer.outcome, answer.exploration.violation) {
            (verify::Outcome::Violated, Some((violation, Some(trace)))) => {
                Outcome::Unfixable(Box::new(Unfixable {
                    fences: everywhere,
                    violation,
                    trace,
                }))
            }
            (verify::Outcome::Correct, _) => Outcome::Inconclusive(Reason::Inexpressible),
            (verify::Outcome::Inconclusive(reason), _) => Outcome::Inconclusive(reason.into()),
            (verify::Outcome::Violated, _) => unreachable!("a violation that counts has a trace"),
        }
    }

    /// Formulas are about the abstraction only.
    fn lower_bound(&self) -> u64 {
        0
    }

    /// Fence points under FD are exact, except that a position before a label may be taken
    /// for one that is not at the label.
    fn is_exact(&self) -> bool {
        let fd = matches!(self.work.abstraction, Abstraction::Fd { .. });
        let points = self.work.options.engine == super::Engine::Points;
        let mut properties = self.work.whole.properties.iter();
        fd && points && properties.all(Property::heeds_presence_only)
    }
}

/// Explores a program completely, for its graph.
pub fn explore_all(
    work: &mut Work,
    program: &Program,
    labelled: bool,
    tagger: Tagger,
) -> Result<Graph, Reason> {
    let options = &work.options.verify;
    work.monitor.say("building the state space");
    let memory = memory(options.model, work.abstraction);
    let stepper = Stepper {
        program,
        memory: &*memory,
        atomics: options.atomics,
        fuse: options.fuse,
        reset_dead: options.reset_dead,
        labelled,
    };
    let Exploration {
        end,
        states,
        transitions,
        graph,
        ..
    } = explore(&Search {
        stepper: &stepper,
        limits: &options.limits,
        monitor: work.monitor,
        threads: options.threads,
        full: true,
        deadlock: false,
        collect: false,
        graph: Some(tagger),
    });
    work.count(states, transitions);
    match (end, graph) {
        (End::Limit(reason), _) => Err(Reason::Limit(reason)),
        (_, graph) => Ok(graph.expect("an exhaustive search has a graph")),
    }
}

/// A formula as its clauses, unless there are too many to read.
fn readable(prevention: &Prevention, formula: FormulaId) -> Option<Formula> {
    let solutions = prevention.formulas.solutions(formula, MOST_SHOWN)?.len();
    let clauses = prevention.formulas.clauses(formula, MOST_SHOWN)?;
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
) -> Result<(FormulaId, u64), Reason> {
    let Prevention {
        formulas, by_tag, ..
    } = prevention;
    let mut labels = vec![TRUE; graph.nodes()];
    let mut waiting = vec![false; graph.nodes()];
    let mut queue = VecDeque::new();
    for &node in graph.initial() {
        labels[node as usize] = FALSE;
        queue.push_back(node);
    }
    let mut updates = 0;
    let mut looks = 0u64;
    while let Some(node) = queue.pop_front() {
        waiting[node as usize] = false;
        let own = labels[node as usize];
        for edge in graph.edges(node) {
            let to = edge.to as usize;
            let through = formulas.or(own, by_tag[edge.tag as usize])?;
            let label = formulas.and(labels[to], through)?;
            updates += 1;
            if label != labels[to] {
                labels[to] = label;
                if !std::mem::replace(&mut waiting[to], true) {
                    queue.push_back(edge.to);
                }
            }
        }
        looks += 1;
        if looks.is_multiple_of(1 << 14) {
            monitor.say(&format!("labelling, {} formulas", formulas.count()));
            if let Some(reason) = monitor.stop(limits) {
                return Err(Reason::Limit(reason));
            }
        }
    }
    Ok((labels[Graph::ERROR as usize], updates))
}

impl From<TooLarge> for Reason {
    fn from(_: TooLarge) -> Reason {
        Reason::Limit(StopReason::MaxFormula)
    }
}
