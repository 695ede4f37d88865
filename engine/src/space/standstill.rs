//! States in which nothing goes on any more: deadlocks, and states that are *stuck*.
//!
//! A process with empty buffers *only spins* if, as long as memory stays as it is, nothing that
//! it can do ever stores, changes memory by an update or an atomic block, stops, fails, or
//! arrives at a label that a property names. An update that leaves memory as it is (a failed
//! `cas`) is no more than a load. A state is stuck if all buffers are empty, some process has
//! not stopped, and every process that has not stopped only spins: whatever is scheduled, memory
//! and with it the state of affairs stays as it is for ever. A process that cannot move only
//! spins, so every deadlock is stuck.
//!
//! This is a predicate on control, locals and memory of states without pending stores. An
//! abstraction of buffers that covers these states proves its absence, and fences, which have
//! nothing to wait for where no store is pending, do not change it.

use super::context::Context;
use super::intern::ConfigId;
use super::layout::State;
use super::sets::accessed_places;
use super::trace::{Snapshot, TraceStep};
use crate::limits::{StopReason, Watch};
use crate::memory::step::{At, Config, Effect, Step, Stepper};
use crate::program::{PlaceId, Process, ProcessId, Value};
use crate::property::{self, Violation};
use ahash::{AHashMap, AHashSet};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Which states are violations because nothing goes on in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Standstill {
    #[default]
    Ignored,
    /// Those without a step in which some process has not stopped.
    Deadlock,
    /// Those in which every process that has not stopped only spins: deadlocks, and more.
    Stuck,
}

impl Standstill {
    /// What such a state is called.
    pub fn violation(self) -> Violation {
        match self {
            Standstill::Ignored | Standstill::Deadlock => Violation::Deadlock,
            Standstill::Stuck => Violation::Stuck,
        }
    }
}

/// Whether a process without pending stores, which has not stopped, only spins.
pub fn only_spins(
    stepper: &Stepper,
    process: &Process,
    config: &Config,
    memory: &dyn Fn(PlaceId) -> Value,
    watch: &Watch,
) -> Result<bool, StopReason> {
    let each = size_of::<Config>() + config.locals.len() * size_of::<Value>();
    let mut seen = AHashSet::from([config.clone()]);
    let mut open = vec![config.clone()];
    while let Some(config) = open.pop() {
        let outline = stepper.outline(process, &config, watch)?;
        // A store that waits for room is a store.
        if outline.no_room {
            return Ok(false);
        }
        for step in stepper.outlined_steps(process, &config, outline, memory, watch)? {
            if gets_on(process, &step, memory) {
                return Ok(false);
            }
            watch.note(1, 2 * seen.len() * each)?;
            if seen.insert(step.next.clone()) {
                open.push(step.next);
            }
        }
    }
    Ok(true)
}

/// A step after which something is not as it was, for others or for properties.
fn gets_on(process: &Process, step: &Step, memory: &dyn Fn(PlaceId) -> Value) -> bool {
    let arrives = match step.next.at {
        At::Failed(_) => true,
        At::Loc(at) => at == process.exit || process.location(at).visible,
    };
    let mut writes = step.writes.iter();
    arrives
        || matches!(step.effect, Effect::Store(..))
        || writes.any(|(place, value)| memory(*place) != *value)
}

impl Snapshot {
    /// The state is stuck.
    pub fn is_stuck(&self, stepper: &Stepper, watch: &Watch) -> Result<bool, StopReason> {
        let pending = |config: &Config| !config.buffers.is_empty();
        if self.configs.iter().any(|config| pending(config)) || self.all_done(stepper.program) {
            return Ok(false);
        }
        let memory = |place: PlaceId| self.memory[place.index()];
        for (process, config) in stepper.program.processes.iter().zip(&self.configs) {
            let stopped = property::is_done(config, process.exit);
            if !stopped && !only_spins(stepper, process, config, &memory, watch)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What is wrong with the state, a standstill included if it counts.
    pub fn violation_or(
        &self,
        standstill: Standstill,
        stepper: &Stepper,
        watch: &Watch,
    ) -> Result<Option<Violation>, StopReason> {
        let found = self.violation(stepper.program);
        if found.is_some() || self.all_done(stepper.program) {
            return Ok(found);
        }
        let stands_still = match standstill {
            Standstill::Ignored => false,
            Standstill::Deadlock => self.steps(stepper, watch)?.is_empty(),
            Standstill::Stuck => self.is_stuck(stepper, watch)?,
        };
        Ok(stands_still.then_some(standstill.violation()))
    }

    /// For each process of a stuck state that has not stopped, what it does for ever: the steps
    /// into a loop and then once around it, and where among them the loop begins. There is no
    /// loop where the process comes to a halt.
    pub fn spins(&self, stepper: &Stepper) -> Vec<Spin> {
        let processes = stepper.program.process_ids();
        let waiting = processes.filter(|&process| {
            let config = &self.configs[process.index()];
            !property::is_done(config, stepper.program.process(process).exit)
        });
        waiting.map(|process| self.spin(stepper, process)).collect()
    }

    fn spin(&self, stepper: &Stepper, process: ProcessId) -> Spin {
        let config = |state: &Snapshot| state.configs[process.index()].clone();
        let mut now = self.clone();
        let mut met = AHashMap::from([(config(&now), 0)]);
        let mut steps: Vec<TraceStep> = Vec::new();
        let begin = loop {
            let possible = now.steps(stepper, &Watch::never());
            let possible = possible.expect("nothing ends it early").into_iter();
            let mut own = possible.filter(|step| step.process == process);
            let Some(step) = own.next() else {
                break None;
            };
            now = step.after.clone();
            steps.push(step);
            match met.insert(config(&now), steps.len()) {
                None => {}
                known => break known,
            }
        };
        Spin {
            process,
            steps,
            begin,
            end: config(&now),
        }
    }
}

/// What a process of a stuck state does for ever.
#[derive(Debug, Clone)]
pub struct Spin {
    pub process: ProcessId,
    pub steps: Vec<TraceStep>,
    /// The step that the loop begins with; none if the process cannot move any more.
    pub begin: Option<usize>,
    /// What it is doing in the end.
    pub end: Arc<Config>,
}

/// Finds standstills among packed states.
pub struct StandstillFinder<'a, const N: usize> {
    context: Context<'a>,
    /// Per process: the fields of the places it accesses.
    accessed: Vec<State<N>>,
    /// Per process, by configuration.
    activities: Vec<Vec<Option<Activity>>>,
    /// Whether a process only spins, by its configuration and what it sees of memory.
    known: AHashMap<(ProcessId, ConfigId, State<N>), bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Activity {
    /// A store is pending.
    Pending,
    /// It has stopped, and nothing is pending.
    Stopped,
    /// Nothing is pending.
    Drained,
}

impl<'a, const N: usize> StandstillFinder<'a, N> {
    pub fn new(context: Context<'a>) -> StandstillFinder<'a, N> {
        let processes = &context.program().processes;
        let accessed = processes.iter().map(|process| {
            let mut mask = [0; N];
            for place in accessed_places(process) {
                context.layout.places[place.index()].fill(&mut mask);
            }
            mask
        });
        StandstillFinder {
            context,
            accessed: accessed.collect(),
            activities: vec![Vec::new(); processes.len()],
            known: AHashMap::new(),
        }
    }

    /// A state with this many successors is a standstill, and those are looked for.
    pub fn is_standstill(
        &mut self,
        state: &State<N>,
        successors: usize,
    ) -> Result<bool, StopReason> {
        let context = self.context;
        let all_done = || context.unpack(state).all_done(context.program());
        match context.search.standstill {
            Standstill::Ignored => Ok(false),
            Standstill::Deadlock => Ok(successors == 0 && !all_done()),
            Standstill::Stuck => self.is_stuck(state),
        }
    }

    fn is_stuck(&mut self, state: &State<N>) -> Result<bool, StopReason> {
        let mut some = false;
        for process in self.context.program().process_ids() {
            match self.activity(process, self.config(process, state)) {
                Activity::Pending => return Ok(false),
                Activity::Stopped => {}
                Activity::Drained => some = true,
            }
        }
        for process in self.context.program().process_ids() {
            let id = self.config(process, state);
            let drained = self.activity(process, id) == Activity::Drained;
            if drained && !self.spins(process, id, state)? {
                return Ok(false);
            }
        }
        Ok(some)
    }

    fn config(&self, process: ProcessId, state: &State<N>) -> ConfigId {
        ConfigId(self.context.layout.configs[process.index()].get(state))
    }

    fn activity(&mut self, process: ProcessId, id: ConfigId) -> Activity {
        let known = &mut self.activities[process.index()];
        if known.len() <= id.index() {
            known.resize(id.index() + 1, None);
        }
        *known[id.index()].get_or_insert_with(|| {
            let config = self.context.interner.config(process, id);
            let exit = self.context.program().process(process).exit;
            match config.buffers.is_empty() {
                false => Activity::Pending,
                true if property::is_done(&config, exit) => Activity::Stopped,
                true => Activity::Drained,
            }
        })
    }

    fn spins(
        &mut self,
        process: ProcessId,
        id: ConfigId,
        state: &State<N>,
    ) -> Result<bool, StopReason> {
        let mut seen = *state;
        for (word, mask) in seen.iter_mut().zip(self.accessed[process.index()]) {
            *word &= mask;
        }
        if let Some(&spins) = self.known.get(&(process, id, seen)) {
            return Ok(spins);
        }
        let context = self.context;
        let memory = context.memory(state);
        let check = |bytes: usize| {
            context.check_memory(bytes as u64)?;
            context.check()
        };
        let spins = only_spins(
            context.search.stepper,
            context.program().process(process),
            &context.interner.config(process, id),
            &|place| memory[place.index()],
            &Watch::new(&check),
        )?;
        self.known.insert((process, id, seen), spins);
        Ok(spins)
    }
}
