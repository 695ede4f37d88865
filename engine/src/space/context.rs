//! One attempt at a search, with one layout: what all of its parts refer to.

use super::intern::{ConfigId, Interner};
use super::layout::{Layout, OCCUPIED, Overflow, State};
use super::search::{Goal, Search};
use super::trace::Snapshot;
use crate::limits::{GRACE, Pace, StopReason};
use crate::program::{PlaceId, Program, Value};
use crate::property::Violation;

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

    /// What is wrong with a state, standstills aside.
    pub fn violation(&self, state: &Snapshot) -> Option<Violation> {
        state.violation(self.program()).or_else(|| {
            let lacking = matches!(self.search.goal, Goal::Robustness(all) if all.lack(state));
            lacking.then_some(Violation::NotSequential)
        })
    }

    /// Adds a state to all that were found, unpacked, unless a statement has failed in it.
    pub fn collect<const N: usize>(
        &self,
        state: &State<N>,
        all: &mut Vec<Snapshot>,
        pace: &mut Pace,
    ) -> Result<(), StopReason> {
        let unpacked = self.unpack(state);
        all.extend((!unpacked.failed()).then_some(unpacked));
        let each = size_of::<Snapshot>() + self.components() * size_of::<usize>();
        self.check_memory((all.len() * each) as u64)?;
        self.go_on(pace, self.components())
    }

    /// How many components a state has.
    pub fn components(&self) -> usize {
        self.layout.configs.len() + self.layout.places.len()
    }

    /// Fails if there is a reason to stop that does not depend on the size of the space.
    pub fn check(&self) -> Result<(), StopReason> {
        let stop = self.search.monitor.stop(self.search.limits);
        stop.map_or(Ok(()), Err)
    }

    /// The same while the trace to a violation is looked for: one that was found in time is
    /// not left without its trace for want of a moment.
    pub fn check_tracing(&self) -> Result<(), StopReason> {
        let deadline = self.search.limits.deadline;
        let deadline = deadline.and_then(|deadline| deadline.checked_add(GRACE));
        self.search.monitor.stop_at(deadline).map_or(Ok(()), Err)
    }

    /// Fails if this is more memory than the search may take.
    pub fn check_memory(&self, bytes: u64) -> Result<(), StopReason> {
        match self.search.limits.max_memory {
            Some(most) if bytes > most => Err(StopReason::MaxMemory),
            _ => Ok(()),
        }
    }

    /// Takes note of some work, and checks from time to time.
    #[inline]
    pub fn go_on(&self, pace: &mut Pace, work: usize) -> Result<(), StopReason> {
        match pace.is_due(work) {
            true => self.check(),
            false => Ok(()),
        }
    }
}
