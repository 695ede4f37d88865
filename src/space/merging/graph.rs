//! The graph of the fixed point: nodes are numbered in the order of slots.

use super::Run;
use super::worker::Worker;
use crate::limits::{Pace, StopReason};
use crate::space::graph::{self, Graph, NodeId, Numbered};
use crate::space::layout::State;
use crate::space::level::CHUNK;
use std::sync::atomic::Ordering;

impl<'a, const N: usize> Run<'a, N> {
    pub(super) fn graph(&mut self, transitions: u64) -> Result<Graph, StopReason> {
        let table = self.table.as_ref().expect("there is a table");
        let states = self.claimed.load(Ordering::Relaxed);
        let bytes = self.bytes()
            + states * size_of::<State<N>>() as u64
            + (table.slots() * size_of::<NodeId>()) as u64
            + Graph::bytes(states, transitions);
        self.context.check_memory(bytes)?;
        let (context, worker) = (self.context, self.workers.first());
        // States in which something is wrong are one node.
        let mut by_slot = vec![Graph::ERROR; table.slots()];
        let mut all = Vec::with_capacity(states as usize);
        let mut pace = Pace::default();
        for (slot, state) in table.states(0..table.slots()) {
            if !worker.ends_at(&state) {
                all.push(state);
                by_slot[slot] = NodeId(all.len() as u32);
            }
            context.go_on(&mut pace, 1)?;
        }
        let node = |worker: &mut Worker<'a, N>, state: &State<N>| {
            let slot = worker.slot(state, table);
            by_slot[slot.expect("every state is merged into one of the table")]
        };
        let starts = self.starts.iter();
        let mut initial: Vec<NodeId> = starts.map(|state| node(worker, state)).collect();
        initial.sort_unstable();
        initial.dedup();
        let numbered = Numbered {
            chunks: all.chunks(CHUNK).collect(),
            initial,
            transitions,
        };
        graph::build(
            &self.context,
            &mut self.workers,
            numbered,
            |worker, state, out| worker.cache.tagged(state, out),
            node,
        )
    }
}
