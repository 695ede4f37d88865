//! Avoid formulas over the graph of the fixed point.
//!
//! What is merged depends on all that is reachable, so the fixed point is known before the
//! first label is computed. Its nodes are the merged states: a transition leads to the one
//! that its end is a part of.

use super::Run;
use super::table::Table;
use super::worker::Worker;
use crate::space::avoid::{self, Labels, Nodes};
use crate::space::layout::State;
use crate::space::search::{End, Scope, Unfinished};
use crate::space::successors::Tag;

impl<const N: usize> Run<'_, N> {
    /// Computes labels; how that ended.
    pub(super) fn label(&mut self, labels: &mut [Labels], scope: Scope) -> End {
        let context = self.context;
        let mut nodes = MergedStates {
            bytes: self.bytes(),
            table: self.table.as_ref().expect("there is a table"),
            worker: self.workers.first(),
        };
        let starts = self.starts.iter().map(|start| nodes.merged(start));
        let starts: Vec<State<N>> = starts.collect();
        let labelled = avoid::label(&context, &mut nodes, &starts, labels, scope);
        labelled.expect("the search has met every component").0
    }
}

/// The merged states.
struct MergedStates<'r, 'a, const N: usize> {
    table: &'r Table<N>,
    worker: &'r mut Worker<'a, N>,
    bytes: u64,
}

impl<const N: usize> MergedStates<'_, '_, N> {
    /// The merged state that a state is a part of.
    fn merged(&mut self, state: &State<N>) -> State<N> {
        let slot = self.worker.slot(state, self.table);
        let merged = slot.and_then(|slot| self.table.get(slot));
        merged.expect("every state is merged into one of the table")
    }
}

impl<const N: usize> Nodes<N> for MergedStates<'_, '_, N> {
    fn is_error(&mut self, node: &State<N>) -> bool {
        self.worker.ends_at(node)
    }

    fn successors(
        &mut self,
        node: &State<N>,
        out: &mut Vec<(State<N>, Tag)>,
    ) -> Result<(), Unfinished> {
        self.worker.cache.tagged(node, out)?;
        for (next, _) in out {
            *next = self.merged(next);
        }
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}
