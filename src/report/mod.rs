//! What people read: answers in words, tables, and the records that say the same to programs.

pub mod infer;
pub mod occupancy;
pub mod patch;
pub mod picture;
pub mod sarif;
pub mod target;
pub mod text;
pub mod trace;
pub mod verify;

use crate::diagnostic::Diagnostic;
use crate::memory::{Abstraction, Atomics, Model, Semantics};
use crate::program::{Program, PropertyKind};
use crate::space::{Coverage, Standstill};
use crate::verify::{MOST_K, Strategy, VerifyOptions};

/// That a program states nothing that could be checked, if it matters.
fn nothing_stated(program: &Program, asked: &VerifyOptions) -> Option<Diagnostic> {
    let checked = match asked.standstill {
        _ if asked.robust || program.states_something() => return None,
        Standstill::Ignored => "runtime errors",
        Standstill::Deadlock => "runtime errors and deadlocks",
        Standstill::Stuck => "runtime errors and states that are stuck",
    };
    let text = format!("the program states no property: nothing but {checked} was checked");
    let help = "say what must hold: mutex, forbid, invariant, final, or assert; --forbid names states of Trencher automata";
    Some(Diagnostic::warning(None, text).help(help))
}

/// Labels of properties that no process has reached under a model.
fn unreached(program: &Program, coverage: &Coverage, model: Model) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    let model = model.upper();
    for (property, unreached) in program.properties.iter().zip(&coverage.unreached) {
        for label in unreached {
            let text = format!("no process reaches '{label}' under {model}");
            let help = "the property may hold only because nothing happens there";
            warnings.push(Diagnostic::warning(Some(property.span), text).help(help));
        }
        if property.kind == PropertyKind::Final && !coverage.reached_final {
            let text = format!("no final state is reachable under {model}");
            let help = "a `final` property speaks of states in which every process has stopped";
            warnings.push(Diagnostic::warning(Some(property.span), text).help(help));
        }
    }
    warnings
}

/// What answers under PSO depend on where something is read and written in one step.
pub fn about_atomics(program: &Program, semantics: &Semantics) -> Option<&'static str> {
    match (semantics.model, semantics.atomics) {
        _ if !program.has_updates() => None,
        (Model::Pso, Atomics::DrainPlace) => Some(
            "cas, swap and add wait for the process's own stores to their place; --atomics drain-all makes them wait for all",
        ),
        (Model::Pso, Atomics::DrainAll) => {
            Some("cas, swap and add wait for all stores of their process (--atomics drain-all)")
        }
        (Model::Sc | Model::Tso, _) => None,
    }
}

/// What to try if a counterexample exists only in an abstraction; nothing if refinement has
/// come to its end.
///
/// A larger k can make a difference to any such counterexample: an execution on which no
/// store is in a set and no pending fence is forgotten is one of the exact model, so one that
/// is not real has gone beyond k somewhere.
fn finer(abstraction: Abstraction, asked: &VerifyOptions) -> Option<String> {
    let by_properties = !asked.robust && asked.standstill == Standstill::Ignored;
    let refines = asked.strategy != Strategy::Fixed && by_properties;
    match abstraction {
        Abstraction::Fd { k } if refines && k >= MOST_K => {
            Some("try --abs logs, which decides what no k does".to_string())
        }
        Abstraction::Fd { k } => Some(format!("try --k {}", k + 1)),
        Abstraction::Pd { .. } | Abstraction::Set => Some("try --abs fd --k auto".to_string()),
        Abstraction::Exact { .. } | Abstraction::Logs { .. } => None,
    }
}
