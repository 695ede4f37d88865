//! An answer by one search: explore the state space under one abstraction and judge what was
//! found. An abstract violation counts only if it is replayed on the exact model.

use super::turns::{self, Paused, Turn};
use super::{Answer, Counterexample, Evidence, Inconclusive, Verdict, VerifyOptions};
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
    let abstraction = options.semantics.abstraction;
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
    let Exploration {
        end,
        statistics,
        coverage,
        no_room,
        violation,
        ..
    } = exploration;
    let (verdict, evidence) = match (end, violation) {
        (_, Some((violation, trace))) => judge(program, options, monitor, violation, trace),
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
    Some(Answer {
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
    })
}

/// Whether a violation is one of the exact model.
fn judge(
    program: &Program,
    options: &VerifyOptions,
    monitor: &Monitor,
    violation: Violation,
    trace: Option<Trace>,
) -> (Verdict, Evidence) {
    let undecided = Verdict::Inconclusive(Inconclusive::Undecided);
    let (verdict, violation, trace, spurious) = match trace {
        None => (undecided, violation, None, None),
        Some(trace) if options.semantics.is_exact() => {
            (Verdict::Violated, violation, Some(trace), Some(false))
        }
        Some(trace) => {
            let exact = options.semantics.exact().stepper(program);
            let limits = options.limits.with_grace();
            match concretise(&exact, &trace, options.standstill, &limits, monitor) {
                Concrete::Real(violation, trace) => {
                    (Verdict::Violated, violation, Some(trace), Some(false))
                }
                Concrete::Spurious => {
                    let spurious = Verdict::Inconclusive(Inconclusive::Spurious);
                    (spurious, violation, Some(trace), Some(true))
                }
                Concrete::Unknown => (undecided, violation, Some(trace), None),
            }
        }
    };
    let evidence = Evidence::Counterexample(Counterexample {
        violation,
        trace,
        spurious,
    });
    (verdict, evidence)
}
