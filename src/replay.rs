//! Running a recorded trace again, on the exact model.
//!
//! A recorded step names its process, what it does and what the locals are afterwards.
//! All states that fit the trace so far are kept, so that a trace which leaves something
//! open is followed along every reading of it.

use crate::limits::{StopReason, Watch};
use crate::memory::step::{Stepper, initial_values};
use crate::program::Value;
use crate::property::Violation;
use crate::record::{Initial, Step, locals};
use crate::source::Source;
use crate::space::{Snapshot, Standstill, Trace, TraceStep};
use serde_json::{Map, Value as Json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How a replay went.
#[derive(Debug)]
pub enum Replay {
    /// The whole trace fits, and this is wrong at its end.
    Violated(Violation, Trace),
    /// The whole trace fits, but nothing is wrong at its end.
    Harmless,
    /// The initial state is none of this program.
    BadStart,
    /// The step with this index (from zero) is not possible; these were, for its process.
    Stuck { index: usize, possible: Vec<String> },
}

/// Follows a recorded trace.
pub fn replay(stepper: &Stepper, source: &Source, initial: &Initial, steps: &[Step]) -> Replay {
    let program = stepper.program;
    let stepper = &Stepper {
        choices: numbers(initial, steps),
        ..stepper.semantics.stepper(program)
    };
    let Some(start) = initial_state(stepper, initial) else {
        return Replay::BadStart;
    };
    let mut ways: BTreeMap<Snapshot, Vec<TraceStep>> =
        BTreeMap::from([(start.clone(), Vec::new())]);
    for (index, recorded) in steps.iter().enumerate() {
        let mut possible = BTreeSet::new();
        let mut next = BTreeMap::new();
        for (state, way) in &ways {
            for taken in possible_steps(stepper, state) {
                let described = Step::new(program, source, &taken);
                if fits(&described, recorded) {
                    let mut way = way.clone();
                    way.push(taken.clone());
                    next.entry(taken.after).or_insert(way);
                } else if described.process == recorded.process {
                    possible.insert(described.step);
                }
            }
        }
        if next.is_empty() {
            let possible = possible.into_iter().collect();
            return Replay::Stuck { index, possible };
        }
        ways = next;
    }
    for (state, steps) in ways {
        if let Some(violation) = wrong(stepper, &state) {
            let initial = start;
            return Replay::Violated(violation, Trace { initial, steps });
        }
    }
    Replay::Harmless
}

/// All numbers that locals or steps have in a record: what was chosen is among them, also where
/// no local keeps it.
fn numbers(initial: &Initial, steps: &[Step]) -> Vec<Value> {
    let initial = initial.locals.values().flat_map(BTreeMap::values);
    let steps = (steps.iter()).flat_map(|step| step.locals.values().chain(&step.value));
    let numbers: BTreeSet<Value> = initial.chain(steps).copied().collect();
    numbers.into_iter().collect()
}

/// The memory that may be taken to find out whether a state is stuck.
const MOST_BYTES: usize = 1 << 28;

/// What is wrong at the end of a trace, a standstill included.
fn wrong(stepper: &Stepper, state: &Snapshot) -> Option<Violation> {
    let check = |bytes: usize| match bytes > MOST_BYTES {
        true => Err(StopReason::MaxMemory),
        false => Ok(()),
    };
    let watch = Watch::new(&check);
    let found = |standstill| {
        let found = state.violation_or(standstill, stepper, &watch);
        found.ok().flatten()
    };
    found(Standstill::Deadlock).or_else(|| found(Standstill::Stuck))
}

fn possible_steps(stepper: &Stepper, state: &Snapshot) -> Vec<TraceStep> {
    let steps = state.steps(stepper, &Watch::never());
    steps.expect("nothing ends it early")
}

fn fits(step: &Step, recorded: &Step) -> bool {
    let own = (
        &step.process,
        step.flush,
        &step.file,
        step.line,
        step.column,
        &step.locals,
    );
    let wanted = (
        &recorded.process,
        recorded.flush,
        &recorded.file,
        recorded.line,
        recorded.column,
        &recorded.locals,
    );
    let same = |own: &Map<String, Json>, recorded: &Map<String, Json>| {
        recorded.is_empty() || own == recorded
    };
    own == wanted
        && (&step.place, step.value) == (&recorded.place, recorded.value)
        && same(&step.memory, &recorded.memory)
        && same(&step.buffers, &recorded.buffers)
}

/// The initial state that a record describes, if the program has it.
fn initial_state(stepper: &Stepper, initial: &Initial) -> Option<Snapshot> {
    let program = stepper.program;
    let configs = program.processes.iter().map(|process| {
        let configs = stepper.initial(process, &Watch::never());
        let mut configs = configs.expect("nothing ends it early").into_iter();
        let wanted = initial.locals.get(&process.name)?;
        let found = configs.find(|config| locals(process, config) == *wanted);
        found.map(Arc::new)
    });
    let memory = program.places.iter().map(|place| {
        let value = *initial.memory.get(&place.name)?;
        let values = initial_values(place.initial, place.domain);
        values.contains(&value).then_some(value)
    });
    Some(Snapshot {
        memory: memory.collect::<Option<_>>()?,
        configs: configs.collect::<Option<_>>()?,
    })
}
