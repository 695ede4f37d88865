//! Standstills among products: combinations of members in which nothing goes on.

use super::moves::{ConfigId, ViewId};
use super::states::{Found, SetSearch, StateId};
use super::{Budget, Ended};
use crate::limits::Watch;
use crate::program::{ProcessId, Value};
use crate::property;
use crate::space::standstill::{Standstill, only_spins};
use ahash::AHashMap;

/// Whether members only spin, by the kind of process, the member, and what it sees of memory.
pub type KnownSpins = AHashMap<(usize, ConfigId, ViewId), bool>;

impl SetSearch<'_> {
    /// A combination of members that stand still and have not all stopped.
    pub fn standing_still(&mut self, state: StateId) -> Result<Option<Found>, Ended> {
        if self.standstill == Standstill::Ignored {
            return Ok(None);
        }
        let memory = self.head(state).memory;
        let values = self.memory(memory).to_vec();
        let mut all: Vec<Vec<ConfigId>> = Vec::new();
        for process in self.processes() {
            let set = self.sets(state)[process.index()];
            let view = self.view(memory, process);
            let members: Vec<ConfigId> = self.kind(process).members(set).collect();
            let mut still = Vec::new();
            for member in members {
                self.budget.spend(1)?;
                let stands_still = match self.standstill {
                    Standstill::Stuck => self.only_spins(process, member, view, &values)?,
                    _ => !self.moves(process, member, view)?,
                };
                if stands_still {
                    still.push(member);
                }
            }
            if still.is_empty() {
                return Ok(None);
            }
            all.push(still);
        }
        for (process, members) in self.processes().zip(&mut all) {
            let moves = &self.kind(process).moves;
            let waits = |id: &ConfigId| !moves.class(moves.class_of(*id)).done;
            if members.iter().any(waits) {
                members.retain(waits);
                return Ok(Some((state, all.into_iter().map(Some).collect())));
            }
        }
        Ok(None)
    }

    /// A member has a step.
    fn moves(&mut self, process: ProcessId, member: ConfigId, view: ViewId) -> Result<bool, Ended> {
        let mut moves = false;
        let (kind, budget) = self.learn(process);
        kind.moves.each(member, view, budget, |_, _| moves = true)?;
        Ok(moves)
    }

    /// Nothing is pending, and a member has stopped or only spins.
    fn only_spins(
        &mut self,
        process: ProcessId,
        member: ConfigId,
        view: ViewId,
        memory: &[Value],
    ) -> Result<bool, Ended> {
        let key = (self.kind_of(process), member, view);
        if let Some(&known) = self.spins.get(&key) {
            return Ok(known);
        }
        let moves = &self.kind(process).moves;
        let (automaton, config) = (moves.process, moves.config(member));
        let budget: &Budget = &self.budget;
        let check = |bytes: usize| budget.check(bytes as u64);
        let spins = config.buffers.is_empty()
            && (property::is_done(config, automaton.exit)
                || only_spins(
                    &self.stepper,
                    automaton,
                    config,
                    &|place| memory[place.index()],
                    &Watch::new(&check),
                )?);
        self.spins.insert(key, spins);
        self.budget.bytes += 32;
        Ok(spins)
    }
}
