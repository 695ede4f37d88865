//! States, and what the pending stores and fences of a process allow.

use super::interpreter::Model;
use std::collections::BTreeSet;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct State {
    pub memory: Vec<i64>,
    pub processes: Vec<ProcessState>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProcessState {
    /// The element of the code that control has reached.
    pub at: usize,
    pub locals: Vec<i64>,
    /// Stores that are not in memory yet and the fences between them, in program order.
    pub pending: Vec<Pending>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pending {
    Store { place: usize, value: i64 },
    StoreStore,
    StoreLoad,
}

impl ProcessState {
    pub fn drained(&self) -> bool {
        !self.pending.iter().any(|item| is_store(*item))
    }

    /// Some store before a store-load fence is still pending.
    pub fn loads_wait(&self) -> bool {
        self.pending.contains(&Pending::StoreLoad)
    }

    /// Some store before a store-store fence is still pending.
    pub fn atomic_stores_wait(&self) -> bool {
        self.pending.contains(&Pending::StoreStore)
    }

    pub fn pending_at(&self, place: usize) -> impl DoubleEndedIterator<Item = i64> + '_ {
        self.pending.iter().filter_map(move |item| match item {
            Pending::Store { place: p, value } if *p == place => Some(*value),
            _ => None,
        })
    }

    /// Drops the fences that hold nothing back any more and gives states that behave
    /// alike one form, so that there are finitely many:
    /// a fence with no store before it; a store-store fence that follows another without
    /// a store between; all store-load fences but the last. Under PSO the order of stores
    /// to different places does not matter between two fences.
    pub fn tidy(&mut self, model: Model) {
        let mut tidied: Vec<Pending> = Vec::new();
        for (at, item) in self.pending.iter().enumerate() {
            let later = &self.pending[at + 1..];
            let keep = match item {
                Pending::Store { .. } => true,
                Pending::StoreStore => {
                    let last = tidied.iter().rfind(|item| **item != Pending::StoreLoad);
                    last.is_some_and(|last| is_store(*last))
                }
                Pending::StoreLoad => !tidied.is_empty() && !later.contains(item),
            };
            if keep {
                tidied.push(*item);
            }
        }
        if model == Model::Pso {
            for segment in tidied.split_mut(|item| !is_store(*item)) {
                segment.sort_by_key(|item| match item {
                    Pending::Store { place, .. } => *place,
                    _ => unreachable!("a fence within a segment"),
                });
            }
        }
        self.pending = tidied;
    }

    /// The pending stores, by their index, that may reach memory now.
    pub fn flushable(&self, model: Model) -> Vec<usize> {
        let mut flushable = Vec::new();
        let mut places = BTreeSet::new();
        for (at, item) in self.pending.iter().enumerate() {
            match item {
                Pending::StoreLoad => {}
                // There are stores before it, and all of them go first.
                Pending::StoreStore => break,
                Pending::Store { place, .. } => {
                    if places.insert(*place) {
                        flushable.push(at);
                    }
                    if model == Model::Tso {
                        break;
                    }
                }
            }
        }
        flushable
    }
}

pub fn is_store(item: Pending) -> bool {
    matches!(item, Pending::Store { .. })
}
