//! Traces: how a state is reached, step by step.

use crate::limits::{StopReason, Watch};
use crate::memory::step::{At, Config, Step, Stepper};
use crate::program::{PlaceId, ProcessId, Program, Value};
use crate::property::{self, View, Violation};
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

    /// What is wrong with the state, standstills aside.
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
    pub fn steps(&self, stepper: &Stepper, watch: &Watch) -> Result<Vec<TraceStep>, StopReason> {
        let components = self.memory.len() + self.configs.len();
        let bytes = size_of::<TraceStep>() + components * size_of::<usize>();
        let mut all = Vec::new();
        for (process, config) in stepper.program.process_ids().zip(&self.configs) {
            let memory = |place: PlaceId| self.memory[place.index()];
            let automaton = stepper.program.process(process);
            for step in stepper.steps(automaton, config, &memory, watch)? {
                let after = self.after(process, &step);
                all.push(TraceStep {
                    process,
                    step,
                    after,
                });
                watch.note(components, all.len() * bytes)?;
            }
        }
        Ok(all)
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
