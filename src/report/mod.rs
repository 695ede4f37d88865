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
use crate::space::{Coverage, Standstill, Thresholds};
use crate::verify::{MOST_K, Strategy, VerifyOptions};
use crate::words::count;

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

/// Variables without a range that grow in a loop.
pub fn growing(program: &Program) -> Vec<Diagnostic> {
    let warning = |(name, span): (String, _)| {
        let text =
            format!("'{name}' has no range and grows in a loop: there may be no end of states");
        let help = format!(
            "give it a range, `int[0..=7] {name}`, or make it an `integer`, which has no bound and is not searched value by value"
        );
        Diagnostic::warning(Some(span), text).help(help)
    };
    program.growing().into_iter().map(warning).collect()
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

/// Why some questions about programs with integers are not answered.
pub const NOT_FOR_INTEGERS: &str = "the program has integers without bound: they are told apart under --abs fd, for properties, by the engine lazy";

/// How many constants the integers of a program were compared with, if it has any.
pub fn with_constants(program: &Program, found: &Thresholds) -> String {
    match program.has_integers() {
        true => format!(" with {}", count(found.len() as u64, "constant")),
        false => String::new(),
    }
}

/// Which constants these were.
pub fn constants(found: &Thresholds) -> String {
    format!("constants for differences and for single integers: --thresholds={found}")
}

/// What was told apart of integers without bound, if the program has any.
fn thresholds(program: &Program, found: &Thresholds) -> Option<Thresholds> {
    program.has_integers().then(|| found.clone())
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
