//! An answer by one search: explore the state space under one abstraction and judge what was
//! found. An abstract violation counts only if it is replayed on the exact model.

use super::turns::{self, Paused, Turn};
use super::{Answer, Counterexample, Evidence, Inconclusive, SearchKind, Verdict, VerifyOptions};
use crate::concretise::{Concrete, concretise};
use crate::limits::Monitor;
use crate::memory::Abstraction;
use crate::program::Program;
use crate::property::Violation;
use crate::space::{End, Exploration, Goal, Search, Trace};

/// Explores a program under the abstraction of the options; `None` if no search comes to an
/// end in this turn.
pub fn answer<'a>(
    program: &'a Program,
    options: &VerifyOptions,
    monitor: &'a Monitor,
    turn: Turn,
    paused: &mut Paused<'a>,
) -> Option<Answer> {
    let stepper = options.semantics.stepper(program);
    let search = Search {
        stepper: &stepper,
        goal: match options.full {
            true => Goal::AllStates,
            false => Goal::FirstViolation,
        },
        standstill: options.standstill,
        limits: &options.limits,
        monitor,
        threads: options.threads,
    };
    let explored = turns::explored(program, monitor, &search, options, turn, paused);
    let (exploration, search) = explored?;
    Some(of_exploration(options, exploration, search, |trace| {
        let exact = options.semantics.exact().stepper(program);
        let limits = options.limits.with_grace();
        concretise(&exact, trace, options.standstill, &limits, monitor)
    }))
}

/// What a search says; `replay` looks for the trace of a violation on the exact model.
pub fn of_exploration(
    options: &VerifyOptions,
    exploration: Exploration,
    search: SearchKind,
    replay: impl FnOnce(&Trace) -> Concrete,
) -> Answer {
    let abstraction = options.semantics.abstraction;
    let Exploration {
        end,
        statistics,
        coverage,
        no_room,
        violation,
        ..
    } = exploration;
    let (verdict, evidence) = match (end, violation) {
        (_, Some((violation, trace))) => judge(options, violation, trace, replay),
        (End::Limit(reason), None) => (
            Verdict::Inconclusive(Inconclusive::Limit(reason)),
            Evidence::Nothing,
        ),
        (End::FirstViolation, None) => unreachable!("the first violation was found"),
        (End::Exhausted, None) => match abstraction {
            Abstraction::Exact { bound } if no_room => (
                Verdict::Inconclusive(Inconclusive::Bound(bound)),
                Evidence::Nothing,
            ),
            _ => (Verdict::Correct, Evidence::AllStates),
        },
    };
    Answer {
        verdict,
        model: options.semantics.model,
        abstraction,
        evidence,
        search,
        coverage: (end == End::Exhausted).then_some(coverage),
        statistics,
        stopped: match end {
            End::Limit(reason) => Some(reason),
            End::Exhausted | End::FirstViolation => None,
        },
        tried: Vec::new(),
        thresholds: Default::default(),
    }
}

/// Whether a violation is one of the exact model; `replay` looks for its trace there.
fn judge(
    options: &VerifyOptions,
    violation: Violation,
    trace: Option<Trace>,
    replay: impl FnOnce(&Trace) -> Concrete,
) -> (Verdict, Evidence) {
    let undecided = Verdict::Inconclusive(Inconclusive::Undecided);
    let (verdict, violation, trace, spurious) = match trace {
        None => (undecided, violation, None, None),
        Some(trace) if options.semantics.is_exact() => {
            (Verdict::Violated, violation, Some(trace), Some(false))
        }
        Some(trace) => match replay(&trace) {
            Concrete::Real(violation, trace) => {
                (Verdict::Violated, violation, Some(trace), Some(false))
            }
            Concrete::Spurious => {
                let spurious = Verdict::Inconclusive(Inconclusive::Spurious);
                (spurious, violation, Some(trace), Some(true))
            }
            Concrete::Unknown => (undecided, violation, Some(trace), None),
        },
    };
    let evidence = Evidence::Counterexample(Counterexample {
        violation,
        trace,
        spurious,
    });
    (verdict, evidence)
}
