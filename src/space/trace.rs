//! Traces: how a state is reached, step by step.

use super::intern::Interner;
use super::layout::{Layout, State};
use crate::memory::step::{At, Config, Effect, Step, Stepper};
use crate::program::{PlaceId, ProcessId, Program, Value};
use crate::property::{self, View, Violation};
use ahash::AHashSet;
use std::sync::Arc;

/// An execution: where it starts, and every step with what it leads to.
#[derive(Debug, Clone)]
pub struct Trace {
    pub initial: Snapshot,
    pub steps: Vec<TraceStep>,
}

#[derive(Debug, Clone)]
pub struct TraceStep {
    pub process: ProcessId,
    pub step: Step,
    pub after: Snapshot,
}

/// A whole state, unpacked.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Snapshot {
    /// By place.
    pub memory: Vec<Value>,
    /// By process.
    pub configs: Vec<Arc<Config>>,
}

/// The search for a trace was interrupted.
#[derive(Debug, Clone, Copy)]
pub struct Cancelled;

impl Trace {
    /// The state it ends in.
    pub fn last(&self) -> &Snapshot {
        self.steps.last().map_or(&self.initial, |step| &step.after)
    }
}

impl Snapshot {
    /// A statement of some process has failed.
    pub fn failed(&self) -> bool {
        self.configs
            .iter()
            .any(|config| matches!(config.at, At::Failed(_)))
    }

    pub(super) fn unpack<const N: usize>(
        interner: &Interner,
        layout: &Layout,
        state: &State<N>,
    ) -> Snapshot {
        Snapshot {
            memory: interner.memory(layout, state),
            configs: interner.configs(layout, state),
        }
    }

    /// What is wrong with the state, deadlock aside.
    pub fn violation(&self, program: &Program) -> Option<Violation> {
        self.with_view(program, property::violation)
    }

    /// Every process has stopped and every buffer is empty.
    pub fn all_done(&self, program: &Program) -> bool {
        self.with_view(program, |view| view.all_done())
    }

    pub(super) fn with_view<T>(&self, program: &Program, look: impl Fn(&View) -> T) -> T {
        look(&View {
            program,
            configs: &self
                .configs
                .iter()
                .map(|config| &**config)
                .collect::<Vec<_>>(),
            memory: &|place| self.memory[place.index()],
        })
    }

    /// All steps that are possible now, process by process.
    pub fn steps(&self, stepper: &Stepper) -> Vec<TraceStep> {
        let mut all = Vec::new();
        for (id, config) in stepper.program.process_ids().zip(&self.configs) {
            let memory = |place: PlaceId| self.memory[place.index()];
            let steps = stepper.steps(stepper.program.process(id), config, &memory);
            all.extend(steps.into_iter().map(|step| TraceStep {
                process: id,
                after: self.after(id, &step),
                step,
            }));
        }
        all
    }

    fn after(&self, process: ProcessId, step: &Step) -> Snapshot {
        let mut after = self.clone();
        after.configs[process.index()] = Arc::new(step.next.clone());
        for (place, value) in &step.writes {
            after.memory[place.index()] = *value;
        }
        after
    }
}

/// Walks from the least initial state through the given sets of states, one per level.
/// Among the steps that lead on it prefers the process of the last step, its program
/// before its flushes; then the order of processes and of the program text. `settle` says
/// which state a step really leads to, and what it looks like.
pub(super) fn walk<const N: usize>(
    stepper: &Stepper,
    starts: impl Iterator<Item = Snapshot>,
    levels: &[AHashSet<State<N>>],
    settle: &dyn Fn(Snapshot) -> Option<(State<N>, Snapshot)>,
) -> Trace {
    let initial = starts.min().expect("a trace has a start");
    let mut steps: Vec<TraceStep> = Vec::new();
    for level in levels {
        let now = steps.last().map_or(&initial, |step| &step.after);
        let running = steps.last().map(|step| step.process);
        let lead_on = |step: TraceStep| {
            let (state, after) = settle(step.after)?;
            level
                .contains(&state)
                .then_some(TraceStep { after, ..step })
        };
        let candidates = now.steps(stepper).into_iter().filter_map(lead_on);
        let best = candidates.min_by_key(|step| {
            let flush = matches!(step.step.effect, Effect::Flush(_));
            (Some(step.process) != running, flush)
        });
        steps.push(best.expect("some step leads on"));
    }
    Trace { initial, steps }
}
