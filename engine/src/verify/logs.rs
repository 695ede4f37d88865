//! An answer by view logs, the engine that is complete.

use super::{Answer, Counterexample, Evidence, Inconclusive, SearchKind, Verdict, VerifyOptions};
use crate::concretise::{Concrete, follow};
use crate::limits::Monitor;
use crate::memory::{Abstraction, Model, Semantics};
use crate::program::Program;
use crate::space::{
    End, Execution, Goal, Invariant, LogExploration, LogOptions, Search, Standstill, explore_logs,
};

/// Searches with this widening; `None` if that takes more work than it may.
pub fn answer(
    program: &Program,
    options: &VerifyOptions,
    monitor: &Monitor,
    widening: usize,
    most_work: u64,
) -> Option<Answer> {
    let logs = LogOptions {
        widening,
        most_work,
        symmetry: options.symmetry,
        invariant: false,
    };
    let found = explored(program, options, monitor, logs)?;
    let (verdict, evidence) = match (found.end, found.violation) {
        (_, Some(execution)) => judge(program, options, monitor, execution),
        (End::Exhausted, None) => (Verdict::Correct, Evidence::AllStates),
        (End::Limit(reason), None) => (
            Verdict::Inconclusive(Inconclusive::Limit(reason)),
            Evidence::Nothing,
        ),
        (End::FirstViolation, None) => unreachable!("the first violation was found"),
    };
    Some(Answer {
        verdict,
        model: options.semantics.model,
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
        thresholds: Default::default(),
    })
}

/// What the search finds again that has proved a program with this widening, so that it can be
/// checked; none if a limit is reached.
pub fn invariant(
    program: &Program,
    options: &VerifyOptions,
    monitor: &Monitor,
    widening: usize,
) -> Option<Invariant> {
    let logs = LogOptions {
        widening,
        most_work: u64::MAX,
        symmetry: false,
        invariant: true,
    };
    explored(program, options, monitor, logs)?.invariant
}

fn explored(
    program: &Program,
    options: &VerifyOptions,
    monitor: &Monitor,
    logs: LogOptions,
) -> Option<LogExploration> {
    let sequential = Semantics {
        model: Model::Sc,
        ..options.semantics
    };
    let search = Search {
        stepper: &sequential.stepper(program),
        goal: Goal::FirstViolation,
        standstill: Standstill::Ignored,
        limits: &options.limits,
        monitor,
        threads: 1,
    };
    explore_logs(&search, options.semantics.model, logs)
}

/// Whether a violation is one of the exact model.
fn judge(
    program: &Program,
    options: &VerifyOptions,
    monitor: &Monitor,
    execution: Execution,
) -> (Verdict, Evidence) {
    let widened = (
        Verdict::Inconclusive(Inconclusive::Spurious),
        Evidence::Nothing,
    );
    let undecided = (
        Verdict::Inconclusive(Inconclusive::Undecided),
        Evidence::Nothing,
    );
    let steps = match execution {
        Execution::Found(steps) => steps,
        Execution::None => return widened,
        Execution::GivenUp => return undecided,
    };
    let exact = options.semantics.exact().stepper(program);
    let limits = options.limits.with_grace();
    match follow(&exact, &steps, Standstill::Ignored, &limits, monitor) {
        Concrete::Real(violation, trace) => {
            let counterexample = Counterexample {
                violation,
                trace: Some(trace),
                spurious: Some(false),
            };
            (Verdict::Violated, Evidence::Counterexample(counterexample))
        }
        Concrete::Spurious => widened,
        Concrete::Unknown => undecided,
    }
}
