//! Interned components of states: configurations of processes and values of places.
//!
//! Distinct configurations number in the thousands where states number in the millions, so
//! a state is a handful of small ids. Ids depend on the order of discovery and never show
//! in results.

use super::layout::{Layout, bits_for};
use crate::ids::ids;
use crate::memory::step::{At, Config};
use crate::program::{Loc, Place, PlaceId, ProcessId, Program, Value};
use ahash::{AHashSet, RandomState};
use indexmap::IndexSet;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

type Set<T> = IndexSet<T, RandomState>;

ids!(
    /// A configuration of one process.
    ConfigId
);

/// What a configuration has in common with those it may be merged with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkeletonId(pub u32);

/// Configurations of one process that properties cannot tell apart, buffers aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClassId(pub u32);

/// A place with more values than this gets its codes as values turn up.
const SMALL_DOMAIN: u64 = 4096;

/// Bits for configurations that a first layout leaves at least.
const FIRST_CONFIG_BITS: u32 = 10;

/// All configurations and values met so far, shared by the threads of an exploration.
pub struct Interner<'a> {
    program: &'a Program,
    tables: RwLock<Tables>,
}

/// Bits for each component of a state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Widths {
    /// By process.
    configs: Vec<u32>,
    /// By place.
    places: Vec<u32>,
}

impl Widths {
    /// A layout with fields of at least these widths.
    pub fn layout(&self, marked: bool) -> Option<Layout> {
        Layout::plan(&self.configs, &self.places, marked)
    }

    /// The same with room for so many values in the field of one process.
    pub fn with_config_values(mut self, process: ProcessId, values: usize) -> Widths {
        let width = &mut self.configs[process.index()];
        *width = bits_for(values).max(*width);
        self
    }

    /// What is wide enough for both.
    pub fn max(&self, other: &Widths) -> Widths {
        let wider = |own: &[u32], other: &[u32]| {
            let both = own.iter().zip(other);
            both.map(|(own, other)| *own.max(other)).collect()
        };
        Widths {
            configs: wider(&self.configs, &other.configs),
            places: wider(&self.places, &other.places),
        }
    }
}

struct Tables {
    /// Per process.
    configs: Vec<Set<Arc<Config>>>,
    /// Per process: configurations without the contents of their sets.
    skeletons: Vec<Set<Config>>,
    /// Per process: what properties see of configurations.
    classes: Vec<Set<(Option<At>, Vec<Value>)>>,
    /// Per place.
    values: Vec<Set<Value>>,
    bytes: usize,
}

impl<'a> Interner<'a> {
    pub fn new(program: &'a Program) -> Interner<'a> {
        let values = |place: &Place| match place.domain.size() <= SMALL_DOMAIN {
            true => (place.domain.low..=place.domain.high).collect(),
            false => Set::default(),
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
            tables: RwLock::new(tables),
        }
    }

    /// A layout with room for everything met so far and a good deal more; `None` if states
    /// would be too wide. Whether states are marked is up to the search.
    pub fn layout(&self, marked: bool) -> Option<Layout> {
        self.widths().layout(marked)
    }

    /// How wide the components of states should be, by what was met so far.
    pub fn widths(&self) -> Widths {
        let tables = self.read();
        let configs = tables.configs.iter().map(|configs| {
            let now = bits_for(configs.len());
            FIRST_CONFIG_BITS.max(now + 2)
        });
        let places = tables.values.iter().zip(&self.program.places);
        let places = places.map(
            |(values, place)| match place.domain.size() <= SMALL_DOMAIN {
                true => bits_for(values.len()),
                false => bits_for(values.len()).max(6) + 2,
            },
        );
        Widths {
            configs: configs.collect(),
            places: places.collect(),
        }
    }

    /// Whether the codes of a place are given out as values turn up.
    pub fn is_coded(&self, place: PlaceId) -> bool {
        self.program.places[place.index()].domain.size() > SMALL_DOMAIN
    }

    /// How many values of a place have codes.
    pub fn values_of(&self, place: PlaceId) -> usize {
        self.read().values[place.index()].len()
    }

    /// How many configurations of a process there are.
    pub fn configs_of(&self, process: ProcessId) -> usize {
        self.read().configs[process.index()].len()
    }

    pub fn config_id(&self, process: ProcessId, config: &Config) -> ConfigId {
        {
            let tables = self.read();
            if let Some(id) = tables.configs[process.index()].get_index_of(config) {
                return ConfigId(id as u32);
            }
        }
        let mut tables = self.write();
        tables.bytes += size_of::<Config>() + config.bytes();
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
        let positions = self.program.process_ids().zip(&tables.configs);
        let positions = positions.flat_map(|(process, configs)| {
            let here = move |config: &Arc<Config>| (process, config.at);
            configs.iter().map(here)
        });
        let positions: AHashSet<(ProcessId, At)> = positions.collect();
        let reached =
            |&(process, at): &(ProcessId, Loc)| positions.contains(&(process, At::Loc(at)));
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

    /// The class of a configuration: what properties see of it.
    pub fn class_id(&self, process: ProcessId, config: &Config) -> ClassId {
        let automaton = self.program.process(process);
        let at = match config.at {
            At::Loc(at) if !automaton.location(at).visible => None,
            at => Some(at),
        };
        let locals = automaton.locals.iter().zip(&config.locals);
        let locals = locals.filter(|(local, _)| local.visible);
        let locals = locals.map(|(_, value)| *value).collect();
        let mut tables = self.write();
        ClassId(tables.classes[process.index()].insert_full((at, locals)).0 as u32)
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
