//! Who owns a state: a hash of its content, which is the same on every machine.

use crate::memory::step::Config;
use crate::program::{Place, PlaceId, ProcessId, Value};
use crate::space::context::Context;
use crate::space::intern::ConfigId;
use crate::space::layout::{Field, OCCUPIED, State};
use crate::space::slots::hash;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A component of states whose numbers each worker gives out for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Component {
    Config(ProcessId),
    /// A place with so many values that they get codes as they turn up.
    Value(PlaceId),
}

/// What a number of such a component stands for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Content {
    Config(Config),
    Value(Value),
}

/// The numbered components of states, and what their numbers stand for.
pub struct Directory<'a, const N: usize> {
    context: Context<'a>,
    workers: u64,
    pub components: Vec<(Component, Field)>,
    /// The bits of all other components, which mean the same to all workers.
    pub common: State<N>,
    /// By component and number.
    hashes: Vec<Vec<u64>>,
}

impl<'a, const N: usize> Directory<'a, N> {
    pub fn new(context: Context<'a>, workers: usize) -> Directory<'a, N> {
        let (layout, program) = (context.layout, context.program());
        let configs = program.process_ids().map(Component::Config);
        let mut components: Vec<_> = configs.zip(layout.configs.iter().copied()).collect();
        let mut common = [0; N];
        for (place, field) in layout.places.iter().enumerate() {
            let place = PlaceId(place as u32);
            match context.interner.is_coded(place) {
                true => components.push((Component::Value(place), *field)),
                false => field.fill(&mut common),
            }
        }
        Directory {
            context,
            workers: workers as u64,
            hashes: vec![Vec::new(); components.len()],
            components,
            common,
        }
    }

    /// The worker that owns a state.
    #[inline]
    pub fn owner(&mut self, state: &State<N>) -> usize {
        let common = std::array::from_fn(|at| state[at] & self.common[at]);
        let mut sum = hash::<N>(&common);
        for (at, (_, field)) in self.components.iter().enumerate() {
            let number = field.get(state);
            sum = sum.wrapping_add(match self.hashes[at].get(number as usize) {
                Some(hash) => *hash,
                None => learn(
                    &self.context,
                    &mut self.hashes[at],
                    self.components[at].0,
                    number,
                ),
            });
        }
        owner_of(sum, self.workers)
    }

    /// What a number stands for.
    pub fn content(&self, component: Component, number: u32) -> Content {
        content(&self.context, component, number)
    }

    /// The own number of some content; `None` if it is none of this component.
    pub fn number(&self, component: Component, content: &Content) -> Option<u32> {
        let (interner, program) = (self.context.interner, self.context.program());
        match (component, content) {
            (Component::Config(process), Content::Config(config)) => {
                let fits = config.is_one_of(program, process);
                fits.then(|| interner.config_id(process, config).0)
            }
            (Component::Value(place), Content::Value(value)) => {
                let domain = program.places[place.index()].domain;
                let fits = (domain.low..=domain.high).contains(value);
                fits.then(|| interner.code(place, *value))
            }
            _ => None,
        }
    }

    /// How many numbers of a component there are.
    pub fn numbers(&self, component: Component) -> u32 {
        let interner = self.context.interner;
        match component {
            Component::Config(process) => interner.configs_of(process) as u32,
            Component::Value(place) => interner.values_of(place) as u32,
        }
    }

    /// A state is made of what this worker knows.
    pub fn knows(&self, state: &State<N>) -> bool {
        let numbers = self.components.iter();
        let places = self
            .context
            .program()
            .places
            .iter()
            .zip(&self.context.layout.places);
        let size = |place: &Place| place.domain.size();
        state[0] & OCCUPIED != 0
            && numbers
                .into_iter()
                .all(|(it, field)| field.get(state) < self.numbers(*it))
            && places
                .into_iter()
                .all(|(it, field)| u64::from(field.get(state)) < size(it))
    }

    /// The worker that some configuration counts with.
    pub fn counted_by(&self, process: ProcessId, config: &Config) -> usize {
        let content = Content::Config(config.clone());
        owner_of(
            content_hash(Component::Config(process), &content),
            self.workers,
        )
    }
}

/// Sums are as good as random, and every worker gets the same part of them.
fn owner_of(sum: u64, workers: u64) -> usize {
    ((u128::from(sum) * u128::from(workers)) >> 64) as usize
}

#[cold]
fn learn(context: &Context, known: &mut Vec<u64>, component: Component, number: u32) -> u64 {
    for next in known.len() as u32..=number {
        known.push(content_hash(component, &content(context, component, next)));
    }
    known[number as usize]
}

fn content(context: &Context, component: Component, number: u32) -> Content {
    let interner = context.interner;
    match component {
        Component::Config(process) => {
            Content::Config((*interner.config(process, ConfigId(number))).clone())
        }
        Component::Value(place) => Content::Value(interner.value(place, number)),
    }
}

/// The same on all machines and in all processes.
fn content_hash(component: Component, content: &Content) -> u64 {
    let component = match component {
        Component::Config(process) => (0, process.0),
        Component::Value(place) => (1, place.0),
    };
    let digest = Sha256::digest(super::encode(&(component, content)));
    u64::from_le_bytes(*digest.first_chunk().expect("a digest has 32 bytes"))
}
