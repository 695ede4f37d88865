//! Avoid formulas over the graph of the fixed point.
//!
//! What is merged depends on all that is reachable, so the fixed point is known before the
//! first label is computed. Its nodes are keys: a transition leads to the merged state that
//! its end is a part of.

use super::Run;
use super::shards::Shards;
use super::worker::Worker;
use crate::space::avoid::{self, Labels, Nodes};
use crate::space::layout::State;
use crate::space::search::{End, Scope, Unfinished};
use crate::space::successors::Tag;

impl<const N: usize> Run<'_, N> {
    /// Computes labels; how that ended.
    pub(super) fn label(&mut self, labels: &mut [Labels], scope: Scope) -> End {
        let context = self.context;
        let mut nodes = Merged {
            bytes: self.bytes(),
            shards: &self.shards,
            worker: self.workers.first(),
        };
        let labelled = avoid::label(&context, &mut nodes, &self.starts, labels, scope);
        labelled.expect("the search has met every component").0
    }
}

/// The merged states, by their keys.
struct Merged<'r, 'a, const N: usize> {
    shards: &'r Shards<N>,
    worker: &'r mut Worker<'a, N>,
    bytes: u64,
}

impl<const N: usize> Merged<'_, '_, N> {
    fn state(&self, key: &State<N>) -> State<N> {
        self.shards.get(key).expect("the search has met every key")
    }
}

impl<const N: usize> Nodes<N> for Merged<'_, '_, N> {
    fn is_error(&mut self, node: &State<N>) -> bool {
        let state = self.state(node);
        self.worker.ends_at(&state)
    }

    fn successors(
        &mut self,
        node: &State<N>,
        out: &mut Vec<(State<N>, Tag)>,
    ) -> Result<(), Unfinished> {
        let state = self.state(node);
        self.worker.cache.tagged(&state, out)?;
        for (next, _) in out {
            *next = self.worker.key(next)?;
        }
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}
