//! What all engines share: verifying fence sets, counting, and choosing among them.

use super::hitting::{self, cheapest};
use super::{
    Clause, Formula, Inference, Labelling, Optimality, Options, Outcome, Placed, Placement, Reason,
    Why, kinds, prune,
};
use crate::program::{FenceKind, PointId, PointSet, Program};
use crate::report::text::count;
use crate::source::Span;
use crate::space::{End, Monitor, StopReason};
use crate::verify::{self, Abstraction, Answer, Model, verify};
use std::collections::BTreeMap;

/// An inference under way.
pub struct Work<'a> {
    /// The program with all of its points.
    pub whole: &'a Program,
    pub options: &'a Options,
    pub monitor: &'a Monitor,
    pub abstraction: Abstraction,
    /// Values of k that were too coarse.
    pub tried: Vec<usize>,
    /// The demands of counterexamples.
    pub clauses: Vec<Clause>,
    pub labelling: Option<Labelling>,
    pub formula: Option<Formula>,
    pub removable: Option<BTreeMap<Span, FenceKind>>,
    pub rounds: u64,
    pub states: u64,
    pub transitions: u64,
    pub peak: u64,
    pub cut: Option<StopReason>,
}

/// What is known of one fence set.
pub enum Round {
    /// Verified, with this many states.
    Verified(u64),
    /// It is not enough, and the demands say so now.
    Failed,
    Inconclusive(Reason),
}

/// A way to judge fence sets. Where every demand is a necessary condition, the cheapest set
/// that meets all demands and verifies is the best one.
pub trait Engine<'a> {
    fn work(&mut self) -> &mut Work<'a>;

    /// Sets of points of which one must carry a fence.
    fn demands(&self) -> Vec<PointSet>;

    /// Verifies a set that meets all demands, or adds a demand that it does not meet.
    fn round(&mut self, fences: &PointSet) -> Round;

    /// What to say if no set meets all demands.
    fn no_way_out(&mut self) -> Outcome;

    /// What a placement costs at least on the exact model.
    fn lower_bound(&self) -> u64;

    /// Whether the demands are necessary for a proof under the abstraction.
    fn is_exact(&self) -> bool;
}

impl<'a> Work<'a> {
    pub fn new(whole: &'a Program, options: &'a Options, monitor: &'a Monitor) -> Work<'a> {
        Work {
            whole,
            options,
            monitor,
            abstraction: options.verify.abstraction,
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
        }
    }

    pub fn conclude(self, outcome: Outcome) -> Inference {
        Inference {
            outcome,
            abstraction: self.abstraction,
            tried: self.tried,
            rounds: self.rounds,
            states: self.states,
            transitions: self.transitions,
            peak: self.peak,
            cut: self.cut,
            clauses: self.clauses,
            labelling: self.labelling,
            formula: self.formula,
            removable: self.removable,
        }
    }

    /// The outcome if the program is not correct under sequential consistency.
    pub fn wrong_under_sc(&mut self) -> Option<Outcome> {
        let sc = self.verify(&PointSet::new(), Model::Sc);
        match sc.outcome {
            verify::Outcome::Correct => None,
            verify::Outcome::Violated => {
                let (violation, trace) = sc.exploration.violation.expect("it is violated");
                let trace = trace.expect("a violation that counts has a trace");
                Some(Outcome::IncorrectUnderSc(violation, trace))
            }
            verify::Outcome::Inconclusive(reason) => Some(Outcome::Inconclusive(reason.into())),
        }
    }

    /// Verifies the program with these fences.
    pub fn verify(&mut self, fences: &PointSet, model: Model) -> Answer {
        self.verify_within(fences, model, u64::MAX)
    }

    /// The same with at most so many states.
    pub fn verify_within(&mut self, fences: &PointSet, model: Model, most: u64) -> Answer {
        self.verify_program(&self.whole.fenced(fences), model, most)
    }

    /// Whether a program is proved correct under the model.
    pub fn proves(&mut self, program: &Program) -> bool {
        let model = self.options.verify.model;
        self.verify_program(program, model, u64::MAX).outcome == verify::Outcome::Correct
    }

    fn verify_program(&mut self, program: &Program, model: Model, most: u64) -> Answer {
        let mut options = verify::Options {
            model,
            abstraction: self.abstraction,
            full: false,
            ..self.options.verify.clone()
        };
        let limit = &mut options.limits.max_states;
        *limit = Some(limit.unwrap_or(u64::MAX).min(most));
        let answer = verify(program, &options, self.monitor);
        let exploration = &answer.exploration;
        self.count(exploration.states, exploration.transitions);
        match exploration.end {
            // Some searches are given few states on purpose.
            End::Limit(StopReason::MaxStates) => {}
            End::Limit(reason) => self.cut = self.cut.or(Some(reason)),
            End::Exhausted | End::FirstError => {}
        }
        answer
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

    fn placement(&self, fences: PointSet, states: u64) -> Placement {
        Placement {
            cost: hitting::cost(&fences, &self.options.costs),
            kinds: vec![FenceKind::Full; fences.len()],
            fences,
            abstraction: self.abstraction,
            states,
            price: None,
            why: Vec::new(),
        }
    }

    /// For each fence, what happens when it is left out.
    fn why(&mut self, fences: &PointSet) -> Vec<Why> {
        self.monitor.say("why each fence is needed");
        let without = |point| {
            let mut fewer = fences.clone();
            fewer.remove(point);
            let answer = self.verify(&fewer, self.options.verify.model);
            Why {
                outcome: answer.outcome,
                trace: answer.exploration.violation.and_then(|(_, trace)| trace),
            }
        };
        fences.iter().map(without).collect()
    }
}

/// Finds the placements that were asked for.
pub fn drive<'a>(engine: &mut impl Engine<'a>) -> Outcome {
    let options = engine.work().options;
    let (best, states) = match search(engine) {
        Ok(found) => found,
        Err(outcome) => return outcome,
    };
    let mut placement = engine.work().placement(best, states);
    if let Some(prices) = options.kinds {
        kinds::weaken(engine.work(), &mut placement, prices);
    }
    if options.prune {
        let removable = prune::removable(engine.work(), &placement);
        engine.work().removable = Some(removable);
    }
    if placement.fences.is_empty() {
        return Outcome::Correct(placement);
    }
    let lower_bound = engine.lower_bound();
    let optimality = match engine.is_exact() {
        _ if lower_bound == placement.cost => Optimality::Exact,
        true => Optimality::UnderAbstraction,
        false => Optimality::Unknown,
    };
    let (all, more) = match options.all {
        None => (Vec::new(), false),
        Some(most) => all_minimal(engine, most),
    };
    if options.why {
        placement.why = engine.work().why(&placement.fences);
    }
    Outcome::Placed(Box::new(Placed {
        best: placement,
        optimality,
        lower_bound,
        all,
        more,
    }))
}

/// The first set that verifies, cheapest first.
fn search<'a>(engine: &mut impl Engine<'a>) -> Result<(PointSet, u64), Outcome> {
    loop {
        let costs = &engine.work().options.costs;
        let Some(fences) = cheapest(&engine.demands(), costs) else {
            return Err(engine.no_way_out());
        };
        announce(engine, &fences, Some(hitting::cost(&fences, costs)));
        match engine.round(&fences) {
            Round::Verified(states) => return Ok((fences, states)),
            Round::Failed => {}
            Round::Inconclusive(reason) => return Err(Outcome::Inconclusive(reason)),
        }
    }
}

/// Every minimal placement: a minimal hitting set that verifies is one, since each of
/// its proper subsets misses a necessary demand; one that fails gives a new demand. Also
/// says whether there may be more, as there may if a limit is reached.
fn all_minimal<'a>(engine: &mut impl Engine<'a>, most: usize) -> (Vec<Placement>, bool) {
    let mut verified: Vec<Placement> = Vec::new();
    let more = 'again: loop {
        let costs = &engine.work().options.costs;
        let sets = hitting::minimal(&engine.demands(), costs, most.saturating_add(1));
        let sets = sets.unwrap_or_default();
        for fences in &sets {
            if verified.iter().any(|known| known.fences == *fences) {
                continue;
            }
            announce(engine, fences, None);
            match engine.round(fences) {
                Round::Verified(states) => {
                    let placement = engine.work().placement(fences.clone(), states);
                    verified.push(placement);
                }
                Round::Failed => continue 'again,
                Round::Inconclusive(_) => break 'again true,
            }
        }
        break sets.len() > most;
    };
    verified.sort_by(|a, b| (a.cost, &a.fences).cmp(&(b.cost, &b.fences)));
    verified.truncate(most);
    (verified, more)
}

/// Tells whoever watches which fences are tried, and what a placement costs at least.
fn announce<'a>(engine: &mut impl Engine<'a>, fences: &PointSet, bound: Option<u64>) {
    let work = engine.work();
    let bound = bound.map(|bound| format!(", cost at least {bound}"));
    work.monitor.say(&format!(
        "round {}, {}{}",
        work.rounds + 1,
        count(fences.len() as u64, "fence"),
        bound.unwrap_or_default()
    ));
}

impl From<verify::Reason> for Reason {
    fn from(reason: verify::Reason) -> Reason {
        match reason {
            verify::Reason::Limit(reason) => Reason::Limit(reason),
            _ => Reason::TooCoarse,
        }
    }
}
