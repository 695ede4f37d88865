//! Is an abstract counterexample real?
//!
//! The processes' own steps, and the values they read, are fixed by the abstract trace;
//! flushes are free, because a set that empties in one abstract step may stand for several
//! stores. A depth-first search looks for an execution of the exact model, with buffers
//! as long as the trace can fill them, that takes these steps in this order and ends in a
//! violation.

use crate::limits::{Limits, Monitor, StopReason, Watch};
use crate::memory::Entry;
use crate::memory::step::{At, Config, Effect, Stepper};
use crate::property::Violation;
use crate::space::{OwnStep, OwnSteps, SequentialStates, Snapshot, Standstill, Trace, TraceStep};
use ahash::AHashSet;

/// What became of an abstract counterexample.
#[derive(Debug)]
pub enum Concrete {
    /// It is real: an exact execution with the same steps, and what is wrong at its end.
    Real(Violation, Trace),
    /// No exact execution takes these steps.
    Spurious,
    /// The search was given up.
    Unknown,
}

/// What is wrong with a state.
type Wrong<'a> = dyn Fn(&Snapshot, &Watch) -> Result<Option<Violation>, StopReason> + 'a;

/// States to look at before giving up.
const MOST_STATES: usize = 300_000;

/// Looks for an exact execution that follows an abstract trace. `exact` must have the same
/// program and the same fusing as the stepper that the trace came from.
pub fn concretise(
    exact: &Stepper,
    trace: &Trace,
    standstill: Standstill,
    limits: &Limits,
    monitor: &Monitor,
) -> Concrete {
    follow(exact, &own_steps(trace), standstill, limits, monitor)
}

/// Looks for an exact execution that follows an abstract trace to a state without pending
/// stores that is not among these.
pub fn concretise_out_of(
    states: &SequentialStates,
    exact: &Stepper,
    trace: &Trace,
    limits: &Limits,
    monitor: &Monitor,
) -> Concrete {
    let wrong = |state: &Snapshot, _: &Watch| {
        let lacking = states.lack(state).then_some(Violation::NotSequential);
        Ok(state.violation(exact.program).or(lacking))
    };
    follow_to(exact, &own_steps(trace), &wrong, limits, monitor)
}

/// The steps of processes in a trace.
fn own_steps(trace: &Trace) -> OwnSteps {
    let own = trace.steps.iter().filter(|step| !is_flush(step));
    let own = own.map(|step| OwnStep {
        process: step.process,
        path: step.step.path[..].into(),
        next: step.step.next.clone(),
    });
    OwnSteps {
        initial: trace.initial.clone(),
        steps: own.collect(),
    }
}

fn is_flush(step: &TraceStep) -> bool {
    matches!(step.step.effect, Effect::Flush(_))
}

/// Looks for an exact execution in which processes take these steps.
pub fn follow(
    exact: &Stepper,
    wanted: &OwnSteps,
    standstill: Standstill,
    limits: &Limits,
    monitor: &Monitor,
) -> Concrete {
    let wrong = |state: &Snapshot, watch: &Watch| state.violation_or(standstill, exact, watch);
    follow_to(exact, wanted, &wrong, limits, monitor)
}

/// Looks for an exact execution in which processes take these steps and whose last state is
/// wrong.
fn follow_to(
    exact: &Stepper,
    wanted: &OwnSteps,
    wrong: &Wrong,
    limits: &Limits,
    monitor: &Monitor,
) -> Concrete {
    let own = &wanted.steps;
    let mut seen = AHashSet::new();
    // Each level of the path holds the moves that have not been tried yet.
    let mut path: Vec<TraceStep> = Vec::new();
    let mut open = vec![vec![None]];
    // How many of the path's steps are the processes' own.
    let mut taken = 0;
    let mut bytes = 0;
    let check = |bytes: u64| match limits.max_memory {
        Some(most) if bytes > most => Err(StopReason::MaxMemory),
        _ => monitor.stop(limits).map_or(Ok(()), Err),
    };
    let own_step = |step: Option<&TraceStep>| usize::from(step.is_some_and(|step| !is_flush(step)));
    while let Some(moves) = open.last_mut() {
        let Some(next) = moves.pop() else {
            open.pop();
            taken -= own_step(path.pop().as_ref());
            continue;
        };
        taken += own_step(next.as_ref());
        path.extend(next);
        let state = path.last().map_or(&wanted.initial, |step| &step.after);
        if !seen.insert((taken, state.clone())) {
            taken -= own_step(path.pop().as_ref());
            continue;
        }
        // Buffers can be long, so that a state may take much time and memory.
        if seen.len() > MOST_STATES || check(bytes).is_err() {
            return Concrete::Unknown;
        }
        let watch = |more: usize| check(bytes + more as u64);
        let watch = Watch::new(&watch);
        if taken == own.len() {
            let violation = match wrong(state, &watch) {
                Err(_) => return Concrete::Unknown,
                Ok(violation) => violation,
            };
            if let Some(violation) = violation {
                let initial = wanted.initial.clone();
                let steps = path;
                return Concrete::Real(violation, Trace { initial, steps });
            }
        }
        let follows = |step: &TraceStep| {
            is_flush(step)
                || own.get(taken).is_some_and(|wanted| {
                    step.process == wanted.process
                        && step.step.path[..] == wanted.path[..]
                        && arrives(&step.step.next, &wanted.next)
                })
        };
        // The program's own step is tried first: it is popped last in, first out.
        let Ok(mut moves) = state.steps(exact, &watch) else {
            return Concrete::Unknown;
        };
        moves.retain(follows);
        moves.sort_by_key(|step| !is_flush(step));
        bytes += moves.iter().map(size).sum::<u64>();
        open.push(moves.into_iter().map(Some).collect());
    }
    Concrete::Spurious
}

/// Whether a process arrives where it should. Where statements failed is not compared: the
/// steps may come from another process with the same code, whose text is elsewhere.
fn arrives(config: &Config, wanted: &Config) -> bool {
    match (config.at, wanted.at) {
        (At::Failed(_), At::Failed(_)) => true,
        (at, wanted_at) => at == wanted_at && config.locals == wanted.locals,
    }
}

/// Roughly the memory that a step and the state behind it take, what that state shares with
/// the one before aside. Both hold the configuration that the step leads to.
fn size(step: &TraceStep) -> u64 {
    let config = &step.step.next;
    let config = config.buffers.size() * size_of::<Entry>() + size_of_val(&config.locals[..]);
    let memory = size_of_val(&step.after.memory[..]);
    (2 * config + memory + size_of::<TraceStep>()) as u64
}
