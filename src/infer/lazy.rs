//! Counterexample-guided inference.

use super::clause::clause;
use super::hitting::{self, cheapest};
use super::{Clause, Inference, Optimality, Options, Outcome, Placed, Placement, Reason};
use crate::program::{PointSet, Program};
use crate::space::{Monitor, Trace};
use crate::verify::{self, Abstraction, Answer, MOST_K, Model, verify};

/// Infers the cheapest placement. `program` is the whole program, with all of its points.
pub fn lazy(program: &Program, options: &Options, monitor: &Monitor) -> Inference {
    let mut engine = Engine {
        whole: program,
        options,
        monitor,
        abstraction: options.verify.abstraction,
        tried: Vec::new(),
        clauses: Vec::new(),
        rounds: 0,
        states: 0,
        transitions: 0,
        peak: 0,
        proof: 0,
    };
    let outcome = engine.run();
    Inference {
        outcome,
        abstraction: engine.abstraction,
        tried: engine.tried,
        rounds: engine.rounds,
        states: engine.states,
        transitions: engine.transitions,
        peak: engine.peak,
        proof: engine.proof,
        clauses: engine.clauses,
    }
}

struct Engine<'a> {
    whole: &'a Program,
    options: &'a Options,
    monitor: &'a Monitor,
    abstraction: Abstraction,
    tried: Vec<usize>,
    clauses: Vec<Clause>,
    rounds: u64,
    states: u64,
    transitions: u64,
    peak: u64,
    proof: u64,
}

/// What the verification of one fence set says.
enum Round {
    /// Verified, with this many states.
    Verified(u64),
    /// A clause was added.
    Failed,
    Inconclusive(Reason),
}

impl Engine<'_> {
    fn run(&mut self) -> Outcome {
        let sc = self.verify(&PointSet::new(), Model::Sc);
        match sc.outcome {
            verify::Outcome::Correct => {}
            verify::Outcome::Violated => {
                let (violation, trace) = sc.exploration.violation.expect("it is violated");
                let trace = trace.expect("a violation that counts has a trace");
                return Outcome::IncorrectUnderSc(violation, trace);
            }
            verify::Outcome::Inconclusive(reason) => return limit(reason),
        }
        let (best, states) = match self.search() {
            Ok(found) => found,
            Err(outcome) => return outcome,
        };
        if best.is_empty() {
            return Outcome::Correct;
        }
        let optimality = self.optimality(&best);
        let mut best = self.placement(best, states);
        let (all, more) = match self.options.all {
            None => (Vec::new(), false),
            Some(most) => self.all_minimal(most),
        };
        if self.options.why {
            best.why = self.why(&best.fences);
        }
        Outcome::Placed(Box::new(Placed {
            best,
            optimality,
            all,
            more,
        }))
    }

    /// The first set that verifies, cheapest first: it is optimal, because every clause is
    /// a necessary condition.
    fn search(&mut self) -> Result<(PointSet, u64), Outcome> {
        loop {
            let Some(fences) = cheapest(&self.points(|_| true), &self.options.costs) else {
                return Err(self.no_way_out());
            };
            match self.round(&fences) {
                Round::Verified(states) => {
                    self.proof = states;
                    return Ok((fences, states));
                }
                Round::Failed => {}
                Round::Inconclusive(reason) => return Err(Outcome::Inconclusive(reason)),
            }
        }
    }

    /// Every minimal placement: a minimal hitting set that verifies is one, since each of
    /// its proper subsets misses a necessary clause; one that fails gives a new clause. Also
    /// says whether there may be more, as there may if a limit is reached.
    fn all_minimal(&mut self, most: usize) -> (Vec<Placement>, bool) {
        let mut verified: Vec<Placement> = Vec::new();
        let more = 'again: loop {
            let costs = &self.options.costs;
            let sets = hitting::minimal(&self.points(|_| true), costs, most + 1);
            let sets = sets.unwrap_or_default();
            for fences in &sets {
                if verified.iter().any(|known| known.fences == *fences) {
                    continue;
                }
                match self.round(fences) {
                    Round::Verified(states) => {
                        let placement = self.placement(fences.clone(), states);
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

    /// Verifies one fence set; a counterexample raises k or becomes a clause.
    fn round(&mut self, fences: &PointSet) -> Round {
        loop {
            let answer = self.verify(fences, self.options.verify.model);
            let real = match answer.outcome {
                verify::Outcome::Correct => return Round::Verified(answer.exploration.states),
                verify::Outcome::Violated => true,
                verify::Outcome::Inconclusive(verify::Reason::Limit(reason)) => {
                    return Round::Inconclusive(Reason::Limit(reason));
                }
                verify::Outcome::Inconclusive(_) => false,
            };
            if let (false, true, Abstraction::Fd { k }) =
                (real, self.options.refine, self.abstraction)
                && k < MOST_K
            {
                self.tried.push(k);
                self.abstraction = Abstraction::Fd { k: k + 1 };
                continue;
            }
            let Some((violation, Some(trace))) = answer.exploration.violation else {
                let interrupted = crate::space::StopReason::Interrupted;
                return Round::Inconclusive(Reason::Limit(interrupted));
            };
            let merged = matches!(self.abstraction, Abstraction::Pd { .. });
            let points = match merged && !real {
                // A merged set may hold what came along another path: all that is certain
                // is that these fences are not enough.
                true => self.outside(fences),
                false => clause(self.whole, &self.whole.fenced(fences), fences, &trace),
            };
            self.clauses.push(Clause {
                points,
                real,
                fences: fences.clone(),
                violation,
                trace,
            });
            return Round::Failed;
        }
    }

    fn verify(&mut self, fences: &PointSet, model: Model) -> Answer {
        let options = verify::Options {
            model,
            abstraction: self.abstraction,
            full: false,
            ..self.options.verify.clone()
        };
        let answer = verify(&self.whole.fenced(fences), &options, self.monitor);
        self.rounds += 1;
        self.states += answer.exploration.states;
        self.transitions += answer.exploration.transitions;
        self.peak = self.peak.max(answer.exploration.states);
        answer
    }

    fn points(&self, wanted: impl Fn(&Clause) -> bool) -> Vec<PointSet> {
        let wanted = self.clauses.iter().filter(|clause| wanted(clause));
        wanted.map(|clause| clause.points.clone()).collect()
    }

    /// The allowed points that carry no fence yet.
    fn outside(&self, fences: &PointSet) -> PointSet {
        let all = (0..self.whole.points.len() as u32).map(crate::program::PointId);
        let allowed = all.filter(|point| self.options.costs[point.index()].is_some());
        allowed.filter(|point| !fences.contains(point)).collect()
    }

    /// Some clause cannot be hit: the last one.
    fn no_way_out(&self) -> Outcome {
        match self.clauses.last() {
            Some(clause) if clause.real => {
                Outcome::Unfixable(clause.violation, clause.trace.clone())
            }
            _ => Outcome::Inconclusive(Reason::TooCoarse),
        }
    }

    /// If the executions of the exact model alone demand as much, no placement is cheaper.
    fn optimality(&self, best: &PointSet) -> Optimality {
        let costs = &self.options.costs;
        let bound = cheapest(&self.points(|clause| clause.real), costs);
        let bound = bound.map(|fences| hitting::cost(&fences, costs));
        match self.abstraction {
            _ if bound == Some(hitting::cost(best, costs)) => Optimality::Exact,
            Abstraction::Fd { .. } => Optimality::UnderAbstraction,
            _ => Optimality::Unknown,
        }
    }

    fn placement(&self, fences: PointSet, states: u64) -> Placement {
        Placement {
            cost: hitting::cost(&fences, &self.options.costs),
            fences,
            abstraction: self.abstraction,
            states,
            why: Vec::new(),
        }
    }

    /// For each fence, the counterexample that comes back when it is left out.
    fn why(&mut self, fences: &PointSet) -> Vec<Option<Trace>> {
        let without = |point| {
            let mut fewer = fences.clone();
            fewer.remove(point);
            let answer = self.verify(&fewer, self.options.verify.model);
            answer.exploration.violation.and_then(|(_, trace)| trace)
        };
        fences.iter().map(without).collect()
    }
}

fn limit(reason: verify::Reason) -> Outcome {
    Outcome::Inconclusive(match reason {
        verify::Reason::Limit(reason) => Reason::Limit(reason),
        _ => Reason::TooCoarse,
    })
}
