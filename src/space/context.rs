//! One attempt at a search, with one layout: what all of its parts refer to.

use super::intern::{ConfigId, Interner};
use super::layout::{Layout, OCCUPIED, Overflow, State};
use super::search::Search;
use super::trace::Snapshot;
use crate::limits::StopReason;
use crate::program::{PlaceId, Program, Value};

/// What is searched for, and how states are packed.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub search: &'a Search<'a>,
    pub interner: &'a Interner<'a>,
    pub layout: &'a Layout,
}

impl<'a> Context<'a> {
    pub fn program(&self) -> &'a Program {
        self.search.stepper.program
    }

    pub fn pack<const N: usize>(&self, unpacked: &Snapshot) -> Result<State<N>, Overflow> {
        let mut state = [0; N];
        state[0] = OCCUPIED;
        let places = self.layout.places.iter().zip(&unpacked.memory);
        for (place, (field, value)) in places.enumerate() {
            let code = self.interner.code(PlaceId(place as u32), *value);
            field.set(&mut state, code)?;
        }
        let configs = self.layout.configs.iter().zip(&unpacked.configs);
        for (process, (field, config)) in self.program().process_ids().zip(configs) {
            let id = self.interner.config_id(process, config);
            field.set(&mut state, id.0)?;
        }
        Ok(state)
    }

    pub fn unpack<const N: usize>(&self, state: &State<N>) -> Snapshot {
        let configs = self.program().process_ids().zip(&self.layout.configs);
        let configs = configs.map(|(process, field)| {
            let id = ConfigId(field.get(state));
            self.interner.config(process, id)
        });
        Snapshot {
            memory: self.memory(state),
            configs: configs.collect(),
        }
    }

    /// The values in memory of a state.
    pub fn memory<const N: usize>(&self, state: &State<N>) -> Vec<Value> {
        let places = self.layout.places.iter().enumerate();
        places
            .map(|(place, field)| self.interner.value(PlaceId(place as u32), field.get(state)))
            .collect()
    }

    /// The reason to stop now that does not depend on the size of the space.
    pub fn stop(&self) -> Option<StopReason> {
        self.search.monitor.stop(self.search.limits)
    }

    /// Whether this is more memory than the search may take.
    pub fn exceeds_memory(&self, bytes: u64) -> bool {
        let most = self.search.limits.max_memory;
        most.is_some_and(|most| bytes > most)
    }
}
