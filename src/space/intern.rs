//! Interned components of states: configurations of processes and values of places.
//!
//! Distinct configurations number in the thousands where states number in the millions, so
//! a state is a handful of small ids. Ids depend on the order of discovery and never show
//! in results.

use super::layout::{Layout, OCCUPIED, Overflow, State, bits_for};
use crate::ids::ids;
use crate::memory::Entry;
use crate::memory::step::{At, Config};
use crate::program::{Atom, Expr, Loc, Place, PlaceId, ProcessId, Program, PropertyId, Value};
use crate::property;
use ahash::RandomState;
use indexmap::IndexSet;
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

type Set<T> = IndexSet<T, RandomState>;

ids!(
    /// A configuration of one process.
    ConfigId
);

/// What a configuration has in common with those it may be merged with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkeletonId(pub u32);

/// A place with more values than this gets its codes as values turn up.
const SMALL_DOMAIN: i64 = 4096;

/// Bits for configurations that a first layout leaves at least.
const FIRST_CONFIG_BITS: u32 = 10;

/// All configurations and values met so far, shared by the threads of an exploration.
pub struct Interner<'a> {
    program: &'a Program,
    /// The properties that need more than the traits of configurations.
    general: Vec<PropertyId>,
    tables: RwLock<Tables>,
}

struct Tables {
    /// Per process.
    configs: Vec<Set<Arc<Config>>>,
    /// Per process: configurations without the contents of their sets.
    skeletons: Vec<Set<Config>>,
    /// Per process: what the general properties see of configurations.
    classes: Vec<Set<(Option<At>, Vec<Value>)>>,
    /// Per place.
    values: Vec<Set<Value>>,
    bytes: usize,
}

/// What properties want to know of a configuration, found once.
#[derive(Debug, Clone, Copy)]
pub struct Traits {
    /// A statement of it has failed.
    pub failed: bool,
    /// It has stopped and its buffers are empty.
    pub done: bool,
    /// For each `mutex` property (up to 64): whether it is at the label.
    pub crowds: u64,
    /// Configurations of one class look the same to all other properties.
    pub class: u32,
}

impl<'a> Interner<'a> {
    /// An interner for a program; `general` lists the properties that look at classes.
    pub fn new(program: &'a Program, general: Vec<PropertyId>) -> Interner<'a> {
        let values = |place: &Place| {
            let (low, high) = (i64::from(place.domain.low), i64::from(place.domain.high));
            match high - low < SMALL_DOMAIN {
                true => (place.domain.low..=place.domain.high).collect(),
                false => Set::default(),
            }
        };
        let tables = Tables {
            configs: program.processes.iter().map(|_| Set::default()).collect(),
            skeletons: program.processes.iter().map(|_| Set::default()).collect(),
            classes: program.processes.iter().map(|_| Set::default()).collect(),
            values: program.places.iter().map(values).collect(),
            bytes: 0,
        };
        Interner {
            program,
            general,
            tables: RwLock::new(tables),
        }
    }

    /// A layout with room for everything met so far and a good deal more; `None` if states
    /// would be too wide.
    pub fn layout(&self) -> Option<Layout> {
        let tables = self.read();
        let configs = tables.configs.iter().map(|configs| {
            let now = bits_for(configs.len());
            FIRST_CONFIG_BITS.max(now + 2)
        });
        let places = tables.values.iter().zip(&self.program.places);
        let places = places.map(|(values, place)| {
            let span = i64::from(place.domain.high) - i64::from(place.domain.low);
            match span < SMALL_DOMAIN {
                true => bits_for(values.len()),
                false => bits_for(values.len()).max(6) + 2,
            }
        });
        Layout::plan(&configs.collect::<Vec<_>>(), &places.collect::<Vec<_>>())
    }

    pub fn config_id(&self, process: ProcessId, config: &Config) -> ConfigId {
        {
            let tables = self.read();
            if let Some(id) = tables.configs[process.index()].get_index_of(config) {
                return ConfigId(id as u32);
            }
        }
        let mut tables = self.write();
        tables.bytes += 2 * size_of::<Config>()
            + config.locals.len() * size_of::<Value>()
            + config.buffers.size() * size_of::<Entry>();
        let (id, _) = tables.configs[process.index()].insert_full(Arc::new(config.clone()));
        ConfigId(id as u32)
    }

    pub fn config(&self, process: ProcessId, id: ConfigId) -> Arc<Config> {
        let tables = self.read();
        tables.configs[process.index()][id.index()].clone()
    }

    pub fn skeleton_id(&self, process: ProcessId, id: ConfigId) -> SkeletonId {
        let config = self.config(process, id);
        let skeleton = Config {
            buffers: config.buffers.skeleton(),
            ..(*config).clone()
        };
        let mut tables = self.write();
        SkeletonId(tables.skeletons[process.index()].insert_full(skeleton).0 as u32)
    }

    /// Merges two configurations with the same skeleton.
    pub fn join(&self, process: ProcessId, id: ConfigId, other: ConfigId) -> ConfigId {
        let (config, other) = (self.config(process, id), self.config(process, other));
        let joined = Config {
            buffers: config.buffers.join(&other.buffers),
            ..(*config).clone()
        };
        self.config_id(process, &joined)
    }

    /// How many configurations there are, over all processes.
    pub fn config_count(&self) -> usize {
        let tables = self.read();
        tables.configs.iter().map(Set::len).sum()
    }

    /// For each property, the labels it names that no process has reached.
    pub fn unreached(&self) -> Vec<Vec<String>> {
        let tables = self.read();
        let reached = |(process, at): &(ProcessId, Loc)| {
            let mut configs = tables.configs[process.index()].iter();
            configs.any(|config| config.at == At::Loc(*at))
        };
        let properties = self.program.properties.iter().map(|property| {
            let labels = property.labels.iter();
            let labels = labels.filter(|(_, positions)| !positions.iter().any(reached));
            labels.map(|(label, _)| label.clone()).collect()
        });
        properties.collect()
    }

    pub fn code(&self, place: PlaceId, value: Value) -> u32 {
        {
            let tables = self.read();
            if let Some(code) = tables.values[place.index()].get_index_of(&value) {
                return code as u32;
            }
        }
        let mut tables = self.write();
        tables.values[place.index()].insert_full(value).0 as u32
    }

    pub fn value(&self, place: PlaceId, code: u32) -> Value {
        let tables = self.read();
        tables.values[place.index()][code as usize]
    }

    /// The values in memory of a state.
    pub fn memory<const N: usize>(&self, layout: &Layout, state: &State<N>) -> Vec<Value> {
        let places = layout.places.iter().enumerate();
        places
            .map(|(place, field)| self.value(PlaceId(place as u32), field.get(state)))
            .collect()
    }

    /// The configurations of a state.
    pub fn configs<const N: usize>(&self, layout: &Layout, state: &State<N>) -> Vec<Arc<Config>> {
        let configs = self.program.process_ids().zip(&layout.configs);
        configs
            .map(|(process, field)| self.config(process, ConfigId(field.get(state))))
            .collect()
    }

    /// Packs a state.
    pub fn pack<const N: usize>(
        &self,
        layout: &Layout,
        memory: &[Value],
        configs: &[Arc<Config>],
    ) -> Result<State<N>, Overflow> {
        let mut state = [0; N];
        state[0] = OCCUPIED;
        for (place, (field, value)) in layout.places.iter().zip(memory).enumerate() {
            field.set(&mut state, self.code(PlaceId(place as u32), *value))?;
        }
        let configs = self.program.process_ids().zip(configs);
        for (field, (process, config)) in layout.configs.iter().zip(configs) {
            field.set(&mut state, self.config_id(process, config).0)?;
        }
        Ok(state)
    }

    /// What properties want to know of a configuration.
    pub fn traits(&self, process: ProcessId, id: ConfigId) -> Traits {
        let config = self.config(process, id);
        let automaton = self.program.process(process);
        let mut crowds = 0;
        for (index, positions) in crowds_of(self.program).enumerate() {
            let here =
                |&(owner, at): &(ProcessId, Loc)| owner == process && config.at == At::Loc(at);
            if positions.iter().any(here) {
                crowds |= 1 << index;
            }
        }
        let class = match self.general.is_empty() {
            true => 0,
            false => {
                let seen = match config.at {
                    At::Loc(at) if !automaton.location(at).visible => None,
                    at => Some(at),
                };
                let locals = automaton.locals.iter().zip(&config.locals);
                let locals = locals.filter(|(local, _)| local.visible);
                let locals = locals.map(|(_, value)| *value).collect();
                let mut tables = self.write();
                tables.classes[process.index()]
                    .insert_full((seen, locals))
                    .0 as u32
            }
        };
        Traits {
            failed: matches!(config.at, At::Failed(_)),
            done: property::is_done(&config, automaton.exit),
            crowds,
            class,
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Tables> {
        self.tables
            .read()
            .expect("no thread panics while interning")
    }

    fn write(&self) -> RwLockWriteGuard<'_, Tables> {
        self.tables
            .write()
            .expect("no thread panics while interning")
    }

    /// Roughly the memory that configurations take.
    pub fn bytes(&self) -> usize {
        let tables = self.read();
        tables.bytes
    }
}

/// The positions of the first 64 `mutex` properties.
pub fn crowds_of(program: &Program) -> impl Iterator<Item = &[(ProcessId, Loc)]> {
    let properties = program.properties.iter();
    let crowds = properties.filter_map(|property| match &property.predicate {
        Expr::Atom(Atom::Crowd(positions)) => Some(&positions[..]),
        _ => None,
    });
    crowds.take(64)
}
