//! The graph of a search that found all states: nodes are numbered in the order of levels.

use super::Run;
use crate::limits::{Pace, StopReason};
use crate::space::graph::{self, Graph, NodeId, Numbered};
use crate::space::layout::State;
use crate::space::level::Level;
use std::sync::atomic::Ordering;

impl<const N: usize> Run<'_, N> {
    pub(super) fn graph(&mut self) -> Result<Graph, StopReason> {
        let table = self.table.as_ref().expect("there is a table");
        let transitions = self.workers.iter().map(|worker| worker.transitions).sum();
        let states = self.claimed.load(Ordering::Relaxed);
        let bytes = self.overhead()
            + states * size_of::<State<N>>() as u64
            + (table.slots() * size_of::<NodeId>()) as u64
            + Graph::bytes(states, transitions);
        self.context.check_memory(bytes)?;
        // States in which something is wrong are in the table, but in no level.
        let mut by_slot = vec![Graph::ERROR.0; table.slots()];
        let slot = |state: &State<N>| table.find(state).expect("every state is in the table");
        let mut pace = Pace::default();
        let all = self.levels.iter().flat_map(Level::states);
        for (state, number) in all.zip(1..) {
            by_slot[slot(state)] = number;
            self.context.go_on(&mut pace, 1)?;
        }
        let first = self.levels[0].len() as u32;
        let wrong_start = self.errors.as_ref().is_some_and(|(level, _)| *level == 0);
        let numbered = Numbered {
            chunks: self.levels.iter().flat_map(Level::chunks).collect(),
            initial: (u32::from(!wrong_start)..=first).map(NodeId).collect(),
            transitions,
        };
        graph::build(
            &self.context,
            &mut self.workers,
            numbered,
            |worker, state, out| worker.cache.tagged(state, out),
            |_, state| NodeId(by_slot[slot(state)]),
        )
    }
}
