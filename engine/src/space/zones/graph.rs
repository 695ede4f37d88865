//! States of the frame and the steps between them, integers aside.
//!
//! They do not depend on thresholds, so searches that follow each other share them. A state is a
//! row of numbers: that of its memory, and those of the configurations. What a process can do
//! depends on its configuration and on memory, and is found once for each pair. Where a
//! step leads is looked up once for each state.
//!
//! Numbers depend on the order of discovery; nothing is sorted or chosen by them.

use super::judge::Judge;
use super::rules::Rules;
use super::zone::Move;
use crate::limits::{StopReason, Watch};
use crate::memory::step::{Config, Effect};
use crate::program::{EdgeId, PlaceId, ProcessId, Program, Value};
use crate::property::Violation;
use ahash::{AHashMap, RandomState};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use indexmap::IndexSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Things that have numbers, in the order in which they were met.
pub type Interned<T> = IndexSet<T, RandomState>;

/// No number.
pub const NONE: u32 = u32::MAX;

/// A state of the frame.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Frozen {
    pub memory: Vec<Value>,
    pub configs: Vec<Arc<Config>>,
}

/// A step of one process, given memory.
pub struct Transition {
    pub effect: Effect,
    pub path: Arc<[EdgeId]>,
    /// The configuration of the process afterwards.
    next: u32,
    /// The memory afterwards.
    memory: u32,
    /// What happens to integers.
    pub data: u32,
}

/// All states of the frame that were met.
pub struct Graph<'a> {
    pub rules: Rules<'a>,
    pub judge: Judge<'a>,
    /// Per process.
    pub configs: Vec<Interned<Arc<Config>>>,
    memories: Interned<Vec<Value>>,
    pub table: Table,
    frames: Vec<FrameState>,
    /// What may be wrong, and the constraints that make it so; the first list is empty.
    wrong: Vec<Vec<(Violation, u32)>>,
    pub bytes: u64,
}

/// What does not depend on integers of a state of the frame.
#[derive(Clone, Copy)]
struct FrameState {
    /// The number of its list of what may be wrong.
    wrong: u32,
    /// Every process has stopped and every buffer is empty.
    done: bool,
}

/// What the threads of a search read: the states by number, and where their steps lead.
#[derive(Default)]
pub struct Table {
    pub moves: Interned<Arc<Move>>,
    /// By number of a move: it changes nothing and is always possible.
    pub idle: Vec<bool>,
    /// The rows of all states.
    rows: Vec<u32>,
    /// The numbers in a row.
    width: usize,
    numbers: HashTable<u32>,
    hasher: RandomState,
    /// By process, configuration and memory.
    lists: AHashMap<(u32, u32, u32), u32>,
    transitions: Vec<Box<[Transition]>>,
    /// By state: where its steps are among the targets.
    first: Vec<u32>,
    /// The state that a step leads to, as far as it was looked up.
    targets: Vec<AtomicU32>,
}

impl Table {
    pub fn row(&self, frame: u32) -> &[u32] {
        &self.rows[frame as usize * self.width..][..self.width]
    }

    fn hash(&self, row: &[u32]) -> u64 {
        self.hasher.hash_one(row)
    }

    fn find(&self, row: &[u32]) -> Option<u32> {
        let same = |&known: &u32| self.row(known) == row;
        self.numbers.find(self.hash(row), same).copied()
    }

    /// The steps of a state, one process after the other; they must have been found before.
    pub fn steps(&self, frame: u32) -> impl Iterator<Item = (ProcessId, &Transition)> {
        let row = self.row(frame);
        let processes = 0..self.width as u32 - 1;
        processes.flat_map(move |process| {
            let key = (process, row[1 + process as usize], row[0]);
            let list = &self.transitions[self.lists[&key] as usize];
            list.iter().map(move |step| (ProcessId(process), step))
        })
    }

    /// The row of the state that a step leads to.
    fn behind(&self, frame: u32, process: ProcessId, step: &Transition, row: &mut Vec<u32>) {
        row.clear();
        row.extend_from_slice(self.row(frame));
        row[0] = step.memory;
        row[1 + process.index()] = step.next;
    }

    /// The state that the step with this index leads to, if it is known. `row` is room to work.
    pub fn target(
        &self,
        frame: u32,
        (index, process, step): (usize, ProcessId, &Transition),
        row: &mut Vec<u32>,
    ) -> Option<u32> {
        let target = &self.targets[self.first[frame as usize] as usize + index];
        let known = target.load(Ordering::Relaxed);
        if known != NONE {
            return Some(known);
        }
        self.behind(frame, process, step, row);
        let found = self.find(row)?;
        target.store(found, Ordering::Relaxed);
        Some(found)
    }

    /// The number of a move.
    fn number(&mut self, data: Move) -> u32 {
        let idle = data.constraints.is_empty() && data.targets.is_empty();
        let (number, new) = self.moves.insert_full(Arc::new(data));
        if new {
            self.idle.push(idle);
        }
        number as u32
    }
}

impl<'a> Graph<'a> {
    pub fn new(program: &'a Program, rules: Rules<'a>) -> Graph<'a> {
        Graph {
            rules,
            judge: Judge::new(program),
            configs: vec![Interned::default(); program.processes.len()],
            memories: Interned::default(),
            table: Table {
                width: program.processes.len() + 1,
                ..Table::default()
            },
            frames: Vec::new(),
            wrong: vec![Vec::new()],
            bytes: 0,
        }
    }

    /// The states of the frame to start from.
    pub fn initial(&mut self) -> Result<Vec<u32>, StopReason> {
        let program = &self.rules.frame.program;
        let watch = Watch::never();
        let mut all = vec![Frozen {
            memory: Vec::new(),
            configs: Vec::new(),
        }];
        for place in &program.places {
            let values = crate::memory::step::initial_values(place.initial, place.domain);
            all = with_each(all, values, |state, value| state.memory.push(value));
        }
        for process in &program.processes {
            let configs = self.rules.stepper.initial(process, &watch)?;
            let configs = configs.into_iter().map(Arc::new);
            let configs: Vec<Arc<Config>> = configs.collect();
            all = with_each(all, configs, |state, config| state.configs.push(config));
        }
        Ok(all.into_iter().map(|state| self.frame(state)).collect())
    }

    fn frame(&mut self, state: Frozen) -> u32 {
        let mut row = vec![self.memories.insert_full(state.memory).0 as u32];
        for (configs, config) in self.configs.iter_mut().zip(state.configs) {
            row.push(configs.insert_full(config).0 as u32);
        }
        self.number(&row)
    }

    /// The number of a state.
    fn number(&mut self, row: &[u32]) -> u32 {
        let table = &mut self.table;
        let new = table.first.len() as u32;
        let (rows, width, hasher) = (&table.rows, table.width, &table.hasher);
        let known = |number: u32| &rows[number as usize * width..][..width];
        let hash = hasher.hash_one(row);
        let entry = table.numbers.entry(
            hash,
            |&number| known(number) == row,
            |&number| hasher.hash_one(known(number)),
        );
        match entry {
            Entry::Occupied(known) => return *known.get(),
            Entry::Vacant(vacant) => vacant.insert(new),
        };
        table.rows.extend_from_slice(row);
        table.first.push(NONE);
        let configs = self.configs.iter().zip(&row[1..]);
        let configs = configs.map(|(all, id)| &*all[*id as usize]);
        let configs: Vec<&Config> = configs.collect();
        let memory = &self.memories[row[0] as usize];
        let done = self.judge.all_done(&configs, memory);
        let wrong = self.judge.wrong(&mut self.rules, &configs, memory);
        let wrong: Vec<(Violation, u32)> = wrong
            .into_iter()
            .map(|(violation, constraints)| {
                let data = Move {
                    constraints,
                    ..Move::default()
                };
                (violation, self.table.number(data))
            })
            .collect();
        let wrong = match wrong.is_empty() {
            true => 0,
            false => {
                self.wrong.push(wrong);
                self.wrong.len() as u32 - 1
            }
        };
        self.frames.push(FrameState { wrong, done });
        self.bytes += (row.len() * 4 + size_of::<FrameState>() + 16) as u64;
        new
    }

    fn configs(&self, row: &[u32]) -> impl Iterator<Item = &Arc<Config>> {
        let configs = self.configs.iter().zip(&row[1..]);
        configs.map(|(all, id)| &all[*id as usize])
    }

    /// A state of the frame.
    pub fn frozen(&self, frame: u32) -> Frozen {
        let row = self.table.row(frame);
        Frozen {
            memory: self.memories[row[0] as usize].clone(),
            configs: self.configs(row).cloned().collect(),
        }
    }

    /// What may be wrong with a state, and the constraints that make it so.
    pub fn wrong(&self, frame: u32) -> &[(Violation, u32)] {
        &self.wrong[self.frames[frame as usize].wrong as usize]
    }

    /// Every process has stopped and every buffer is empty.
    pub fn is_done(&self, frame: u32) -> bool {
        self.frames[frame as usize].done
    }

    /// Finds the steps of a state, if that was not done before.
    pub fn prepare(
        &mut self,
        frame: u32,
        check: &dyn Fn(usize) -> Result<(), StopReason>,
    ) -> Result<(), StopReason> {
        if self.table.first[frame as usize] != NONE {
            return Ok(());
        }
        let row = self.table.row(frame);
        let keys: Vec<(u32, u32, u32)> = (row[1..].iter().zip(0..))
            .map(|(config, process)| (process, *config, row[0]))
            .collect();
        let mut count = 0;
        for key in keys {
            let list = match self.table.lists.get(&key) {
                Some(known) => *known,
                None => self.find_steps(key, check)?,
            };
            count += self.table.transitions[list as usize].len();
        }
        let first = self.table.targets.len();
        self.table.first[frame as usize] = first as u32;
        let targets = (0..count).map(|_| AtomicU32::new(NONE));
        self.table.targets.extend(targets);
        self.bytes += (count * size_of::<AtomicU32>()) as u64;
        Ok(())
    }

    /// What a process can do.
    fn find_steps(
        &mut self,
        key: (u32, u32, u32),
        check: &dyn Fn(usize) -> Result<(), StopReason>,
    ) -> Result<u32, StopReason> {
        let (process, config, memory) = key;
        let config = self.configs[process as usize][config as usize].clone();
        let values = self.memories[memory as usize].clone();
        let watch = Watch::new(check);
        let value = |place: PlaceId| values[place.index()];
        let process = ProcessId(process);
        let ruled = self.rules.steps(process, &config, &value, &watch)?;
        let mut list = Vec::new();
        for ruled in ruled {
            let step = ruled.step;
            let memory = match step.writes.is_empty() {
                true => memory,
                false => {
                    let mut after = values.clone();
                    for (place, value) in &step.writes {
                        after[place.index()] = *value;
                    }
                    self.memories.insert_full(after).0 as u32
                }
            };
            let configs = &mut self.configs[process.index()];
            list.push(Transition {
                effect: step.effect,
                path: step.path.into(),
                next: configs.insert_full(Arc::new(step.next)).0 as u32,
                memory,
                data: self.table.number(ruled.data),
            });
        }
        self.bytes += (list.len() * size_of::<Transition>() + 64) as u64;
        let number = self.table.transitions.len() as u32;
        self.table.transitions.push(list.into());
        self.table.lists.insert(key, number);
        Ok(number)
    }

    /// The state that a step leads to.
    pub fn target(&mut self, frame: u32, index: usize) -> u32 {
        let target = self.table.first[frame as usize] as usize + index;
        let known = self.table.targets[target].load(Ordering::Relaxed);
        if known != NONE {
            return known;
        }
        let mut row = Vec::new();
        let (process, step) = self.step(frame, index);
        self.table.behind(frame, process, step, &mut row);
        let number = self.number(&row);
        self.table.targets[target].store(number, Ordering::Relaxed);
        number
    }

    /// A step of a state.
    pub fn step(&self, frame: u32, index: usize) -> (ProcessId, &Transition) {
        let step = self.table.steps(frame).nth(index);
        step.expect("there are as many steps")
    }
}

/// Each of the states with each of the values.
fn with_each<T: Clone>(
    states: Vec<Frozen>,
    values: impl IntoIterator<Item = T>,
    add: impl Fn(&mut Frozen, T),
) -> Vec<Frozen> {
    let values: Vec<T> = values.into_iter().collect();
    let mut all = Vec::new();
    for state in states {
        for value in &values {
            let mut state = state.clone();
            add(&mut state, value.clone());
            all.push(state);
        }
    }
    all
}
