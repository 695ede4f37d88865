//! All states of a program, one after the other, where each process may have buffers of its own
//! kind. Every configuration that is kept occurs in some state that was reached.

use super::Queue;
use crate::limits::{Limits, Monitor, StopReason, Watch};
use crate::memory::step::{Approach, At, Config, Effect, Step, Stepper, initial_values};
use crate::memory::{Memory, Semantics};
use crate::program::{Fault, PlaceId, ProcessId, Program, Value};
use ahash::{AHashMap, RandomState};
use indexmap::IndexSet;

/// A set whose elements are numbered in the order in which they came.
type Numbered<T> = IndexSet<T, RandomState>;

/// Steppers for all processes, each with its own buffers.
pub fn steppers<'p>(
    program: &'p Program,
    semantics: Semantics,
    memories: impl Iterator<Item = Box<dyn Memory>>,
) -> Vec<Stepper<'p>> {
    let with = |memory| Stepper {
        memory,
        ..semantics.exact().stepper(program)
    };
    memories.map(with).collect()
}

/// States as they are found.
pub struct Explorer<'p> {
    program: &'p Program,
    steppers: Vec<Stepper<'p>>,
    processes: Vec<Configs>,
    memories: Numbered<Box<[Value]>>,
    /// The number of the memory, and those of the configurations.
    states: Numbered<Box<[u32]>>,
    /// The first state whose steps were not taken yet.
    next: usize,
    /// What configurations and memories take.
    bytes: usize,
}

/// The configurations of one process, and what they do.
#[derive(Default)]
struct Configs {
    all: Numbered<Config>,
    moves: Vec<Option<Moves>>,
}

/// What a configuration can do.
struct Moves {
    fixed: Vec<Move>,
    reads: Vec<(PlaceId, Approach, AHashMap<Value, Vec<Move>>)>,
    atomics: Vec<Approach>,
}

/// A step to another configuration.
#[derive(Clone)]
struct Move {
    to: u32,
    writes: Box<[(PlaceId, Value)]>,
    /// The place that was stored to.
    stored: Option<PlaceId>,
}

/// A step from one state to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    pub process: ProcessId,
    pub to: usize,
    pub stored: Option<PlaceId>,
}

/// What was seen of a queue.
pub struct Reached {
    /// The longest it was.
    pub longest: usize,
    /// It may have been longer: some stores are not in order.
    pub more: bool,
}

impl<'p> Explorer<'p> {
    pub fn new(program: &'p Program, steppers: Vec<Stepper<'p>>) -> Explorer<'p> {
        Explorer {
            program,
            processes: steppers.iter().map(|_| Configs::default()).collect(),
            steppers,
            memories: Numbered::default(),
            states: Numbered::default(),
            next: 0,
            bytes: 0,
        }
    }

    pub fn states(&self) -> usize {
        self.states.len()
    }

    /// Adds the initial states.
    pub fn begin(&mut self, limits: &Limits, monitor: &Monitor) -> Result<(), StopReason> {
        let check = |bytes: usize| exceeded(bytes, limits, monitor);
        let watch = Watch::new(&check);
        let mut configs = Vec::new();
        for (process, stepper) in self.program.processes.iter().zip(&self.steppers) {
            configs.push(stepper.initial(process, &watch)?);
        }
        let places = &self.program.places;
        let values = |at: usize| initial_values(places[at].initial, places[at].domain);
        let mut memory: Box<[Value]> = (0..places.len()).map(|at| *values(at).start()).collect();
        loop {
            let mut chosen = vec![0; configs.len()];
            'configs: loop {
                let all = configs.iter().zip(&chosen).map(|(all, &at)| &all[at]);
                self.add(&memory, &all.collect::<Vec<_>>());
                watch.note(places.len() + configs.len(), self.held())?;
                for (at, all) in chosen.iter_mut().zip(&configs) {
                    *at = (*at + 1) % all.len();
                    if *at != 0 {
                        continue 'configs;
                    }
                }
                break;
            }
            let Some(at) = (0..places.len()).find(|&at| memory[at] < *values(at).end()) else {
                return Ok(());
            };
            memory[at] += 1;
            for before in 0..at {
                memory[before] = *values(before).start();
            }
        }
    }

    /// Adds a state.
    pub fn add(&mut self, memory: &[Value], configs: &[&Config]) {
        let mut state = vec![self.memory_id(memory)];
        for (process, config) in configs.iter().enumerate() {
            state.push(self.config_id(process, config));
        }
        self.states.insert(state.into());
    }

    /// A state that was found: its memory and configurations.
    pub fn state(&self, at: usize) -> (&[Value], Vec<&Config>) {
        let state = &self.states[at];
        let configs = state[1..].iter().zip(&self.processes);
        let configs = configs.map(|(&id, known)| &known.all[id as usize]);
        (&self.memories[state[0] as usize], configs.collect())
    }

    /// Takes the steps of states until there are as many states as asked for; whether there
    /// are no more.
    pub fn run(
        &mut self,
        budget: usize,
        limits: &Limits,
        monitor: &Monitor,
    ) -> Result<bool, StopReason> {
        let mut taken = Vec::new();
        while self.next < self.states.len() {
            if self.states.len() >= budget {
                return Ok(false);
            }
            taken.clear();
            let at = self.next;
            self.expand(at, None, &mut taken, limits, monitor)?;
            self.next += 1;
        }
        Ok(true)
    }

    /// The steps of a state, in a fixed order, or those of one process; states that they lead to
    /// are added.
    pub fn expand(
        &mut self,
        at: usize,
        only: Option<ProcessId>,
        out: &mut Vec<Taken>,
        limits: &Limits,
        monitor: &Monitor,
    ) -> Result<(), StopReason> {
        if at.is_multiple_of(1024) {
            monitor.report(self.states.len() as u64, 0);
            exceeded(self.held(), limits, monitor)?;
        }
        if limits
            .max_states
            .is_some_and(|most| self.states.len() as u64 >= most)
        {
            return Err(StopReason::MaxStates);
        }
        let state = self.states[at].clone();
        let memory = self.memories[state[0] as usize].clone();
        let all = 0..self.processes.len();
        let moving = all.filter(|&at| only.is_none_or(|only| only.index() == at));
        for process in moving {
            for step in self.moves(process, state[process + 1], &memory, limits, monitor)? {
                let mut after = state.clone();
                after[process + 1] = step.to;
                if !step.writes.is_empty() {
                    let mut memory = memory.clone();
                    for (place, value) in &step.writes {
                        memory[place.index()] = *value;
                    }
                    after[0] = self.memory_id(&memory);
                }
                let (to, _) = self.states.insert_full(after);
                out.push(Taken {
                    process: ProcessId(process as u32),
                    to,
                    stored: step.stored,
                });
            }
        }
        Ok(())
    }

    /// The steps themselves from a state to another by one process.
    pub fn steps_between(&self, from: usize, taken: Taken) -> Option<Step> {
        let (memory, configs) = self.state(from);
        let (_, after) = self.state(taken.to);
        let at = taken.process.index();
        let process = self.program.process(taken.process);
        let read = |place: PlaceId| memory[place.index()];
        let steps = self.steppers[at].steps(process, configs[at], &read, &Watch::never());
        steps.ok()?.into_iter().find(|step| {
            let stored = stored_to(step) == taken.stored;
            stored && step.next == *after[at]
        })
    }

    /// What was seen of a queue so far.
    pub fn reached(&self, queue: Queue) -> Reached {
        let mut reached = Reached {
            longest: 0,
            more: false,
        };
        let own = |place: PlaceId| queue.place.is_none_or(|own| own == place);
        for config in &self.processes[queue.process.index()].all {
            let ordered = config.buffers.ordered();
            let length = ordered.filter(|entry| own(entry.place)).count();
            reached.longest = reached.longest.max(length);
            let segments = config.buffers.segments().iter();
            let mut unordered = segments.flat_map(|segment| &segment.unordered);
            reached.more |= unordered.any(|stores| own(stores.place));
        }
        reached
    }

    /// Some process found no free block of memory.
    pub fn lacked_heap(&self) -> bool {
        let lacking = |config: &Config| {
            let lacking = Some(Fault::HeapExhausted);
            matches!(config.at, At::Failed(failure) if failure.fault == lacking)
        };
        let mut all = self.processes.iter().flat_map(|known| &known.all);
        all.any(lacking)
    }

    /// What a process can do in a configuration, given memory.
    fn moves(
        &mut self,
        process: usize,
        config: u32,
        memory: &[Value],
        limits: &Limits,
        monitor: &Monitor,
    ) -> Result<Vec<Move>, StopReason> {
        let check = |bytes: usize| exceeded(bytes, limits, monitor);
        let watch = Watch::new(&check);
        let automaton = &self.program.processes[process];
        let at = config as usize;
        let mut known = match self.processes[process].moves[at].take() {
            Some(known) => known,
            None => {
                let config = self.processes[process].all[at].clone();
                let outline = self.steppers[process].outline(automaton, &config, &watch)?;
                Moves {
                    fixed: self.all_moves(process, outline.fixed),
                    reads: outline
                        .reads
                        .into_iter()
                        .map(|(place, approach)| (place, approach, AHashMap::new()))
                        .collect(),
                    atomics: outline.atomics,
                }
            }
        };
        let read = |place: PlaceId| memory[place.index()];
        let mut moves = known.fixed.clone();
        for (place, approach, found) in &mut known.reads {
            let value = read(*place);
            if !found.contains_key(&value) {
                let config = &self.processes[process].all[at];
                let stepper = &self.steppers[process];
                let steps = stepper.finish(automaton, config, approach, &read, &watch)?;
                found.insert(value, self.all_moves(process, steps));
            }
            moves.extend_from_slice(&found[&value]);
        }
        for approach in &known.atomics {
            let config = &self.processes[process].all[at];
            let stepper = &self.steppers[process];
            let steps = stepper.finish(automaton, config, approach, &read, &watch)?;
            moves.extend(self.all_moves(process, steps));
        }
        self.processes[process].moves[at] = Some(known);
        Ok(moves)
    }

    fn all_moves(&mut self, process: usize, steps: Vec<Step>) -> Vec<Move> {
        let one = |step: Step| Move {
            to: self.config_id(process, &step.next),
            stored: stored_to(&step),
            writes: step.writes.into(),
        };
        steps.into_iter().map(one).collect()
    }

    fn config_id(&mut self, process: usize, config: &Config) -> u32 {
        let known = &mut self.processes[process];
        if let Some(at) = known.all.get_index_of(config) {
            return at as u32;
        }
        self.bytes += 4 * size_of::<Config>() + 16 * (config.locals.len() + config.buffers.size());
        known.moves.push(None);
        known.all.insert_full(config.clone()).0 as u32
    }

    fn memory_id(&mut self, memory: &[Value]) -> u32 {
        if let Some(at) = self.memories.get_index_of(memory) {
            return at as u32;
        }
        self.bytes += 32 + size_of_val(memory);
        self.memories.insert_full(memory.into()).0 as u32
    }

    /// The reason to end work that holds this many bytes beside all of this.
    pub fn check(
        &self,
        beside: usize,
        limits: &Limits,
        monitor: &Monitor,
    ) -> Result<(), StopReason> {
        exceeded(self.held() + beside, limits, monitor)
    }

    /// Roughly the memory that all of this takes.
    fn held(&self) -> usize {
        self.bytes + self.states.len() * (48 + 4 * (1 + self.processes.len()))
    }
}

/// The place that a step stores to.
fn stored_to(step: &Step) -> Option<PlaceId> {
    match step.effect {
        Effect::Store(place, _) => Some(place),
        _ => None,
    }
}

/// The reason to end work that holds this many bytes.
fn exceeded(bytes: usize, limits: &Limits, monitor: &Monitor) -> Result<(), StopReason> {
    match limits.max_memory {
        Some(most) if bytes as u64 > most => Err(StopReason::MaxMemory),
        _ => monitor.stop(limits).map_or(Ok(()), Err),
    }
}
