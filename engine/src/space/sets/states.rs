//! Products of sets over one memory, and the search through them.

use super::antichain::Antichain;
use super::check::{Check, OneState};
use super::dead::DeadPlaces;
use super::moves::{ChangeId, ConfigId, Interned, PlaceMask, ViewId};
use super::process::{Mask, ProcessSets, SetId};
use super::standstill::KnownSpins;
use super::symmetry::{Product, Symmetry};
use super::{Budget, Ended};
use crate::ids::ids;
use crate::memory::step::{At, Config, Stepper, initial_values};
use crate::program::{ProcessId, Value};
use crate::space::search::Search;
use crate::space::standstill::Standstill;
use crate::space::trace::Snapshot;
use ahash::AHashMap;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::sync::Arc;

ids!(
    /// The values of all places.
    MemoryId,
    /// A product of sets over one memory.
    StateId,
);

/// A search under way.
pub struct SetSearch<'a> {
    pub stepper: Arc<Stepper<'a>>,
    /// It goes on when it has found a violation.
    goes_on: bool,
    pub wants_snapshots: bool,
    pub standstill: Standstill,
    pub spins: KnownSpins,
    /// The initial states have been added.
    started: bool,
    /// One for all processes with the same code.
    pub kinds: Vec<ProcessSets<'a>>,
    /// By process.
    kind_of: Vec<usize>,
    pub symmetry: Symmetry,
    memories: Interned<Box<[Value]>>,
    /// By memory and kind: what processes of the kind see.
    views: Vec<ViewId>,
    /// By memory, kind and change: the memory after it.
    written: AHashMap<(MemoryId, usize, ChangeId), MemoryId>,
    pub dead: DeadPlaces,
    /// Every state that was not covered when it was met.
    heads: Vec<Head>,
    /// The sets of all states, one after the other.
    sets: Vec<SetId>,
    pub antichain: Antichain,
    /// The states to be expanded: those that stand for most states first, then the oldest.
    open: BinaryHeap<(u64, Reverse<StateId>)>,
    /// None while it is asked.
    check: Option<Check<'a>>,
    /// The first violation.
    pub found: Option<Found>,
    pub budget: Budget<'a>,
    pub transitions: u64,
    pub depth: u64,
    pub reached_final: bool,
}

/// What is known of a state, except its sets.
#[derive(Debug, Clone, Copy)]
pub struct Head {
    pub memory: MemoryId,
    /// The last write; none at the start.
    pub parent: Option<Parent>,
    depth: u32,
    /// Another state covers it.
    pub covered: bool,
}

/// Where a state came from.
#[derive(Debug, Clone, Copy)]
pub struct Parent {
    pub state: StateId,
    /// As the state before counts the processes.
    pub writer: ProcessId,
    pub change: ChangeId,
}

/// A violating state, and for each process the members of its set that violate; none if all
/// do.
pub type Found = (StateId, Vec<Option<Vec<ConfigId>>>);

impl<'a> SetSearch<'a> {
    pub fn new(
        stepper: Stepper<'a>,
        search: &Search,
        budget: Budget<'a>,
        symmetry: bool,
    ) -> SetSearch<'a> {
        let (program, stepper) = (stepper.program, Arc::new(stepper));
        let code = program.same_code();
        let mut firsts = code.clone();
        firsts.sort();
        firsts.dedup();
        let kind_of = code.iter().map(|first| {
            let at = firsts.binary_search(first);
            at.expect("all of them are there")
        });
        SetSearch {
            goes_on: search.goal.goes_on(),
            wants_snapshots: search.goal.wants_snapshots(),
            standstill: search.standstill,
            spins: KnownSpins::default(),
            started: false,
            kind_of: kind_of.collect(),
            kinds: firsts
                .iter()
                .map(|&first| {
                    let process = program.process(first);
                    ProcessSets::new(stepper.clone(), process, search.goal.goes_on())
                })
                .collect(),
            symmetry: match symmetry {
                true => Symmetry::new(&stepper),
                false => Symmetry::default(),
            },
            memories: Interned::default(),
            views: Vec::new(),
            written: AHashMap::new(),
            dead: match search.goal.goes_on() || search.standstill == Standstill::Stuck {
                true => DeadPlaces::default(),
                false => DeadPlaces::new(program),
            },
            heads: Vec::new(),
            sets: Vec::new(),
            antichain: Antichain::default(),
            open: BinaryHeap::new(),
            check: Some(Check::new(program)),
            found: None,
            budget,
            transitions: 0,
            depth: 0,
            reached_final: false,
            stepper,
        }
    }

    /// The number of processes.
    pub fn width(&self) -> usize {
        self.kind_of.len()
    }

    pub fn processes(&self) -> impl Iterator<Item = ProcessId> + use<> {
        (0..self.kind_of.len() as u32).map(ProcessId)
    }

    /// The sets of a process.
    pub fn kind(&self, process: ProcessId) -> &ProcessSets<'a> {
        &self.kinds[self.kind_of[process.index()]]
    }

    /// Which sets those are.
    pub fn kind_of(&self, process: ProcessId) -> usize {
        self.kind_of[process.index()]
    }

    /// Two processes share their sets.
    pub fn is_same_kind(&self, one: ProcessId, other: ProcessId) -> bool {
        self.kind_of[one.index()] == self.kind_of[other.index()]
    }

    /// The same, to learn more about them, and what there is for it.
    pub fn learn(&mut self, process: ProcessId) -> (&mut ProcessSets<'a>, &mut Budget<'a>) {
        let kind = self.kind_of[process.index()];
        (&mut self.kinds[kind], &mut self.budget)
    }

    pub fn head(&self, state: StateId) -> &Head {
        &self.heads[state.index()]
    }

    pub fn head_mut(&mut self, state: StateId) -> &mut Head {
        &mut self.heads[state.index()]
    }

    /// States that were not covered when they were met.
    pub fn kept(&self) -> u64 {
        self.heads.len() as u64
    }

    /// The sets of a state, by process.
    pub fn sets(&self, state: StateId) -> &[SetId] {
        let begin = state.index() * self.width();
        &self.sets[begin..begin + self.width()]
    }

    pub fn memory(&self, id: MemoryId) -> &[Value] {
        &self.memories[id.index()]
    }

    /// What a process sees of memory.
    pub fn view(&self, memory: MemoryId, process: ProcessId) -> ViewId {
        self.views[memory.index() * self.kinds.len() + self.kind_of(process)]
    }

    /// Visits states until nothing is left to be expanded, or a violation is enough. Only
    /// between two expansions it may pause, and go on when it is called again.
    pub fn run(&mut self) -> Result<(), Ended> {
        if !self.started {
            self.started = true;
            self.start()?;
        }
        while !self.open.is_empty() && !self.is_over() {
            self.budget.pause()?;
            let Some((_, Reverse(state))) = self.open.pop() else {
                break;
            };
            if self.head(state).covered {
                continue;
            }
            self.expand(state)?;
        }
        Ok(())
    }

    /// A violation was found, and that is enough.
    pub fn is_over(&self) -> bool {
        self.found.is_some() && !self.goes_on
    }

    /// Adds the initial states, one for each memory that the program may start with.
    fn start(&mut self) -> Result<(), Ended> {
        let places = &self.stepper.program.places;
        let ranges: Vec<_> = places
            .iter()
            .map(|place| initial_values(place.initial, place.domain))
            .collect();
        let mut starts = Vec::new();
        for process in self.processes() {
            let (kind, budget) = self.learn(process);
            starts.push(kind.start(budget)?);
        }
        let mut memory: Vec<Value> = ranges.iter().map(|range| *range.start()).collect();
        loop {
            let id = self.memory_id(memory.clone().into());
            let mut sets = starts.clone();
            for (process, set) in self.processes().zip(&mut sets) {
                let view = self.view(id, process);
                let (kind, budget) = self.learn(process);
                *set = kind.close(*set, view, budget)?;
            }
            self.add(Product { sets, memory: id }, None)?;
            let next = (0..memory.len()).find(|&at| memory[at] < *ranges[at].end());
            let Some(next) = next.filter(|_| !self.is_over()) else {
                return Ok(());
            };
            memory[next] += 1;
            for at in 0..next {
                memory[at] = *ranges[at].start();
            }
        }
    }

    /// Takes every write that is possible in a state.
    fn expand(&mut self, state: StateId) -> Result<(), Ended> {
        let memory = self.head(state).memory;
        for writer in self.processes() {
            let set = self.sets(state)[writer.index()];
            let view = self.view(memory, writer);
            let (kind, budget) = self.learn(writer);
            let steps = kind.steps(set, view, budget)?;
            for at in 0..self.kind(writer).step_list(steps).len() {
                let (change, after) = self.kind(writer).step_list(steps)[at];
                self.transitions += 1;
                let parent = Parent {
                    state,
                    writer,
                    change,
                };
                let product = self.after(parent, after)?;
                self.add(product, Some(parent))?;
                // What is left to do here, a state that covers this one does as well.
                if self.head(state).covered || self.is_over() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The memory and the sets after a write that leads its writer to what is in a set.
    pub fn after(&mut self, write: Parent, set: SetId) -> Result<Product, Ended> {
        let before = self.head(write.state).memory;
        let memory = self.written(before, write.writer, write.change);
        let changed = self.kind(write.writer).moves.changed(write.change);
        let mut sets = self.sets(write.state).to_vec();
        sets[write.writer.index()] = set;
        self.close(&mut sets, memory, changed, Some(write.writer))?;
        self.without_dead(Product { sets, memory })
    }

    /// Closes sets under a memory that differs in some places from the one under which they
    /// are closed; that of the writer is not closed at all.
    pub fn close(
        &mut self,
        sets: &mut [SetId],
        memory: MemoryId,
        changed: PlaceMask,
        writer: Option<ProcessId>,
    ) -> Result<(), Ended> {
        for (process, set) in self.processes().zip(sets) {
            // Whom it does not concern goes on as before.
            let concerned = self.kind(process).summary(*set).concerns & changed != 0;
            if concerned || Some(process) == writer {
                let view = self.view(memory, process);
                let (kind, budget) = self.learn(process);
                *set = kind.close(*set, view, budget)?;
            }
        }
        Ok(())
    }

    /// Keeps a state and judges it, unless another covers it.
    fn add(&mut self, product: Product, parent: Option<Parent>) -> Result<(), Ended> {
        let Product { sets, memory } = match self.symmetry.is_trivial() {
            true => product,
            false => self.representative(product)?.0,
        };
        self.budget.spend(8 + self.antichain.work(memory))?;
        if self.is_covered(memory, &sets) {
            return Ok(());
        }
        let state = StateId(self.heads.len() as u32);
        let depth = parent.map_or(0, |parent| self.head(parent.state).depth + 1);
        self.sets.extend(&sets);
        self.heads.push(Head {
            memory,
            parent,
            depth,
            covered: false,
        });
        self.keep(state);
        self.budget.bytes += (2 * size_of::<Head>() + 6 * sets.len()) as u64;
        self.budget.bytes += (size_of::<Mask>() * sets.len() + 24) as u64;
        self.budget.check_states(self.kept())?;
        self.budget.report(self.kept(), self.depth);
        self.depth = self.depth.max(u64::from(depth));
        let size = (sets.iter().zip(self.processes()))
            .map(|(&set, process)| logarithm(self.kind(process).summary(set).len))
            .sum();
        self.open.push((size, Reverse(state)));
        self.judge(state)
    }

    fn judge(&mut self, state: StateId) -> Result<(), Ended> {
        let mut both = self.sets(state).iter().zip(self.processes());
        let done = both.all(|(&set, process)| self.kind(process).summary(set).done);
        self.reached_final |= done;
        if self.found.is_some() {
            return Ok(());
        }
        let mut check = self.check.take().expect("nobody asks it now");
        let classes = check.violation(&OneState { sets: self, state }, done);
        self.check = Some(check);
        self.found = match classes? {
            None => self.standing_still(state)?,
            Some(classes) => {
                let both = self.sets(state).iter().zip(self.processes());
                let members = both.zip(classes).map(|((&set, process), class)| {
                    let (class, kind) = (class?, self.kind(process));
                    let of = |id: &ConfigId| *kind.moves.class(kind.moves.class_of(*id)) == class;
                    Some(kind.members(set).filter(of).collect())
                });
                Some((state, members.collect()))
            }
        };
        Ok(())
    }

    pub fn memory_id(&mut self, memory: Box<[Value]>) -> MemoryId {
        let (id, new) = self.memories.insert_full(memory);
        if new {
            let memory = &self.memories[id];
            let views = self.kinds.iter_mut().map(|kind| kind.moves.view(memory));
            self.views.extend(views);
            self.dead.met(memory);
            self.budget.bytes += 96 + 4 * (memory.len() + self.kinds.len()) as u64;
        }
        MemoryId(id as u32)
    }

    /// The memory after a change.
    fn written(&mut self, memory: MemoryId, writer: ProcessId, change: ChangeId) -> MemoryId {
        let key = (memory, self.kind_of[writer.index()], change);
        if let Some(&written) = self.written.get(&key) {
            return written;
        }
        let mut values = self.memories[memory.index()].clone();
        for (place, value) in self.kind(writer).moves.change(change) {
            values[place.index()] = *value;
        }
        let written = self.memory_id(values);
        self.written.insert(key, written);
        self.budget.bytes += 32;
        written
    }

    /// All states that the products stand for, unpacked; without those in which a statement
    /// has failed.
    pub fn snapshots(&self) -> Vec<Snapshot> {
        let mut all = BTreeSet::new();
        let states = (0..self.heads.len() as u32).map(StateId);
        for state in states.filter(|&state| !self.head(state).covered) {
            let mut configs: Vec<Vec<Arc<Config>>> = vec![Vec::new()];
            for (&set, process) in self.sets(state).iter().zip(self.processes()) {
                let kind = self.kind(process);
                let members = kind.members(set).map(|id| kind.moves.config(id));
                let members = members.filter(|config| !matches!(config.at, At::Failed(_)));
                let members: Vec<Arc<Config>> =
                    members.map(|config| Arc::new(config.clone())).collect();
                let longer = configs.iter().flat_map(|before| {
                    let more =
                        |config: &Arc<Config>| [&before[..], std::slice::from_ref(config)].concat();
                    members.iter().map(more)
                });
                configs = longer.collect();
            }
            let memory = self.memory(self.head(state).memory);
            all.extend(configs.into_iter().map(|configs| Snapshot {
                memory: memory.to_vec(),
                configs,
            }));
        }
        self.with_parts_changed(all).into_iter().collect()
    }

    /// States, and what exchanges make of them.
    fn with_parts_changed(&self, mut all: BTreeSet<Snapshot>) -> BTreeSet<Snapshot> {
        let mut new: Vec<Snapshot> = all.iter().cloned().collect();
        while let Some(state) = new.pop() {
            for exchange in self.symmetry.exchanges() {
                let mut other = Snapshot {
                    memory: exchange.memory(&state.memory),
                    ..state.clone()
                };
                for (process, config) in self.processes().zip(&state.configs) {
                    let config = exchange.config(&self.stepper, process, config);
                    other.configs[exchange.process(process).index()] = Arc::new(config);
                }
                if all.insert(other.clone()) {
                    new.push(other);
                }
            }
        }
        all
    }
}

/// The binary logarithm of a number, 0 for 0, as a multiple of 2⁻³²: the exponent is
/// exact, and between two powers it is a line.
fn logarithm(number: u32) -> u64 {
    let number = number.max(1);
    let exponent = u64::from(number.ilog2());
    (exponent << 32) + ((u64::from(number) << 32 >> exponent) - (1 << 32))
}
