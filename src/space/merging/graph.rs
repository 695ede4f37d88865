//! The graph of the fixed point.

use super::Run;
use super::worker::Worker;
use crate::limits::{Pace, StopReason};
use crate::space::graph::{self, Graph, NodeId, Numbered};
use crate::space::layout::State;
use crate::space::level::CHUNK;
use ahash::AHashMap;

impl<'a, const N: usize> Run<'a, N> {
    pub(super) fn graph(&mut self, transitions: u64) -> Result<Graph, StopReason> {
        let states = self.shards.len();
        let numbers = states * 4 * size_of::<State<N>>() as u64;
        let bytes = self.bytes() + numbers + Graph::bytes(states, transitions);
        self.context.check_memory(bytes)?;
        let mut nodes: AHashMap<State<N>, NodeId> = AHashMap::new();
        let mut all = Vec::new();
        let (context, worker) = (self.context, self.workers.first());
        let mut pace = Pace::default();
        self.shards.try_for_each(|key, state| {
            if !worker.ends_at(state) {
                all.push(*state);
                nodes.insert(*key, NodeId(all.len() as u32));
            }
            context.go_on(&mut pace, 1)
        })?;
        let node = |key: &State<N>| nodes.get(key).copied().unwrap_or(Graph::ERROR);
        let mut initial: Vec<NodeId> = self.starts.iter().map(node).collect();
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
            |worker: &mut Worker<'a, N>, state| {
                let key = worker.key(state);
                node(&key.expect("the search has met every component"))
            },
        )
    }
}
