//! An answer by view logs, the engine that is complete.

use super::{Answer, Counterexample, Evidence, Inconclusive, SearchKind, Verdict, VerifyOptions};
use crate::concretise::{Concrete, follow};
use crate::limits::Monitor;
use crate::memory::{Abstraction, Model, Semantics};
use crate::program::Program;
use crate::space::{End, Goal, LogOptions, OwnSteps, Search, explore_logs};

/// Searches with this widening; `None` if that takes more work than it may.
pub fn answer(
    program: &Program,
    options: &VerifyOptions,
    monitor: &Monitor,
    widening: usize,
    most_work: u64,
) -> Option<Answer> {
    let sequential = Semantics {
        model: Model::Sc,
        ..options.semantics
    };
    let stepper = sequential.stepper(program);
    let search = Search {
        stepper: &stepper,
        goal: Goal::FirstViolation,
        deadlock: false,
        limits: &options.limits,
        monitor,
        threads: 1,
    };
    let found = explore_logs(
        &search,
        options.semantics.model,
        LogOptions {
            widening,
            most_work,
        },
    )?;
    let (verdict, evidence) = match (found.end, found.violation) {
        (_, Some(steps)) => judge(program, options, monitor, steps),
        (End::Exhausted, None) => (Verdict::Correct, Evidence::AllStates),
        (End::Limit(reason), None) => (
            Verdict::Inconclusive(Inconclusive::Limit(reason)),
            Evidence::Nothing,
        ),
        (End::FirstViolation, None) => unreachable!("the first violation was found"),
    };
    Some(Answer {
        verdict,
        abstraction: Abstraction::Logs { widening },
        evidence,
        search: SearchKind::Sets,
        coverage: (found.end == End::Exhausted).then_some(found.coverage),
        statistics: found.statistics,
        stopped: match found.end {
            End::Limit(reason) => Some(reason),
            End::Exhausted | End::FirstViolation => None,
        },
        tried: Vec::new(),
    })
}

/// Whether a violation is one of the exact model.
fn judge(
    program: &Program,
    options: &VerifyOptions,
    monitor: &Monitor,
    steps: Option<OwnSteps>,
) -> (Verdict, Evidence) {
    let widened = (
        Verdict::Inconclusive(Inconclusive::Spurious),
        Evidence::Nothing,
    );
    let Some(steps) = steps else {
        return widened;
    };
    let exact = options.semantics.exact().stepper(program);
    let limits = options.limits.with_grace();
    match follow(&exact, &steps, false, &limits, monitor) {
        Concrete::Real(violation, trace) => {
            let counterexample = Counterexample {
                violation,
                trace: Some(trace),
                spurious: Some(false),
            };
            (
                Verdict::Violated,
                Evidence::Counterexample(counterexample),
            )
        }
        Concrete::Spurious => widened,
        Concrete::Unknown => (
            Verdict::Inconclusive(Inconclusive::Undecided),
            Evidence::Nothing,
        ),
    }
}
