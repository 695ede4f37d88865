//! The states that sequential consistency reaches: what robustness is measured by.

use super::search::{End, Goal, Search, explore};
use super::standstill::Standstill;
use super::trace::Snapshot;
use crate::limits::StopReason;
use crate::memory::step::At;
use crate::program::Value;
use ahash::AHashSet;

/// All states of a program under sequential consistency, those aside in which a statement has
/// failed.
#[derive(Debug, Default)]
pub struct SequentialStates {
    /// Memory, and the position and locals of each process.
    states: AHashSet<Box<[Value]>>,
}

impl SequentialStates {
    /// Searches for them. The search must be one under sequential consistency.
    pub fn collect(search: &Search) -> Result<SequentialStates, StopReason> {
        let found = explore(&Search {
            goal: Goal::Snapshots,
            standstill: Standstill::Ignored,
            ..*search
        });
        if let End::Limit(reason) = found.end {
            return Err(reason);
        }
        let mut all = SequentialStates::default();
        let mut bytes = 0;
        for state in found.snapshots {
            let key = key(&state).expect("nothing is pending, and nothing has failed");
            bytes += (size_of_val(&key[..]) + 2 * size_of::<Box<[Value]>>()) as u64;
            all.states.insert(key);
            if search.limits.max_memory.is_some_and(|most| bytes > most) {
                return Err(StopReason::MaxMemory);
            }
        }
        Ok(all)
    }

    pub fn len(&self) -> usize {
        self.states.len()
    }

    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Nothing is pending in this state, and it is not one of them.
    pub fn lack(&self, state: &Snapshot) -> bool {
        key(state).is_some_and(|key| !self.states.contains(&key))
    }
}

/// What is compared; none if a store is pending or a statement has failed.
fn key(state: &Snapshot) -> Option<Box<[Value]>> {
    let mut key = state.memory.clone();
    for config in &state.configs {
        let At::Loc(at) = config.at else {
            return None;
        };
        if !config.buffers.is_empty() {
            return None;
        }
        key.push(at.0 as Value);
        key.extend_from_slice(&config.locals);
    }
    Some(key.into())
}
