//! Running a recorded trace again, on the exact model.
//!
//! A recorded step names its process, what it does and what the locals are afterwards.
//! All states that fit the trace so far are kept, so that a trace which leaves something
//! open is followed along every reading of it.

use crate::memory::step::Stepper;
use crate::property::Violation;
use crate::report::trace::{self, Initial, Step, TraceFile};
use crate::source::Source;
use crate::space::{Snapshot, TraceStep};
use std::collections::BTreeSet;
use std::sync::Arc;

/// How a replay went.
#[derive(Debug)]
pub enum Replay {
    /// The whole trace fits, and this is wrong at its end.
    Violated(Violation, Snapshot),
    /// The whole trace fits, but nothing is wrong at its end.
    Harmless,
    /// The initial state is none of this program.
    BadStart,
    /// The step with this index (from zero) is not possible; these were, for its process.
    Stuck { index: usize, possible: Vec<String> },
}

/// Follows a recorded trace.
pub fn replay(stepper: &Stepper, source: &Source, file: &TraceFile) -> Replay {
    let program = stepper.program;
    let mut states = initial_states(stepper, &file.initial);
    if states.is_empty() {
        return Replay::BadStart;
    }
    for (index, recorded) in file.steps.iter().enumerate() {
        let taken: Vec<TraceStep> = states
            .iter()
            .flat_map(|state| state.steps(stepper))
            .collect();
        let described = taken
            .iter()
            .map(|step| (step, trace::step(program, source, step)));
        let described: Vec<(&TraceStep, Step)> = described.collect();
        let fitting = described.iter().filter(|(_, step)| fits(step, recorded));
        states = fitting.map(|(step, _)| step.after.clone()).collect();
        if states.is_empty() {
            let own = described
                .iter()
                .filter(|(_, step)| step.process == recorded.process);
            let possible: BTreeSet<String> = own.map(|(_, step)| step.step.clone()).collect();
            let possible = possible.into_iter().collect();
            return Replay::Stuck { index, possible };
        }
    }
    for state in states {
        let stuck = || {
            state
                .steps(stepper)
                .is_empty()
                .then_some(Violation::Deadlock)
        };
        let done = || state.all_done(program);
        let violation = state.violation(program);
        if let Some(violation) = violation.or_else(|| stuck().filter(|_| !done())) {
            return Replay::Violated(violation, state);
        }
    }
    Replay::Harmless
}

fn fits(step: &Step, recorded: &Step) -> bool {
    let own = (
        &step.process,
        step.flush,
        step.line,
        step.column,
        &step.locals,
    );
    let wanted = (
        &recorded.process,
        recorded.flush,
        recorded.line,
        recorded.column,
        &recorded.locals,
    );
    own == wanted && step.place == recorded.place && step.value == recorded.value
}

/// The initial states of the program that a record describes: at most one.
fn initial_states(stepper: &Stepper, initial: &Initial) -> BTreeSet<Snapshot> {
    let program = stepper.program;
    let configs = program.processes.iter().map(|process| {
        let mut configs = stepper.initial(process).into_iter();
        let wanted = initial.locals.get(&process.name)?;
        let found = configs.find(|config| trace::locals(process, config) == *wanted);
        found.map(Arc::new)
    });
    let memory = program.places.iter().map(|place| {
        let value = *initial.memory.get(&place.name)?;
        let values = crate::memory::step::initial_values(place.initial, place.domain);
        values.contains(&value).then_some(value)
    });
    let state = || {
        Some(Snapshot {
            memory: memory.collect::<Option<_>>()?,
            configs: configs.collect::<Option<_>>()?,
        })
    };
    state().into_iter().collect()
}
