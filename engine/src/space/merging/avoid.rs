//! Avoid formulas over merged states.
//!
//! What is merged depends on all that is reachable. As published, the fixed point is found
//! first, as a whole, and its graph is labelled ([`FixedPoint`]).
//!
//! Alternatively states are merged while they are labelled ([`Growing`]), and what ψ has
//! excluded is neither searched nor merged. ψ is then weaker, and still sufficient. Let F
//! satisfy it, and consider the fixed point of the program with the fences F. Each of its
//! states is covered by the one that was found in its place, whose label does not hold for F:
//! that is so for initial states; and a step that F does not block is matched by a step of the
//! covering state, which F does not prevent, since larger sets only take away reasons to
//! prevent a step. The covering state was not excluded when it was last expanded, and has not
//! changed since, so the end of the step was merged and labelled. No error is among these
//! states, since ψ holds for F. What is merged before the first errors are met depends on the
//! order of the search, which is that of one thread and always the same.

use super::Run;
use super::domain::MergedStates;
use crate::space::avoid::{self, Labels, Located, Nodes, explore_nodes};
use crate::space::context::Context;
use crate::space::growing::table::Table;
use crate::space::judge::Judgement;
use crate::space::layout::{Overflow, State};
use crate::space::search::{End, Exploration, Scope, Unfinished};
use crate::space::successors::Tag;
use ahash::AHashMap;

/// Labels states and merges them as far as they matter.
pub fn label_relevant<const N: usize>(
    context: Context,
    labels: &mut [Labels],
) -> Result<Exploration, Overflow> {
    let mut nodes = Growing::<N> {
        context,
        merged: MergedStates::new(context),
        states: AHashMap::new(),
    };
    explore_nodes(context, &mut nodes, labels, Scope::OnlyRelevant)
}

impl<const N: usize> Run<'_, N> {
    /// Computes labels over the fixed point; how that ended.
    pub(super) fn label(&mut self, labels: &mut [Labels], scope: Scope) -> End {
        let context = self.context;
        let mut nodes = FixedPoint {
            bytes: self.bytes(),
            table: self.table.as_ref().expect("there is a table"),
            merged: &mut self.workers.first().domain,
        };
        let labelled = avoid::label(&context, &mut nodes, &self.starts, labels, scope);
        labelled.expect("the search has met every component").end
    }
}

/// The merged states, each a node.
struct FixedPoint<'r, 'a, const N: usize> {
    table: &'r Table<N>,
    merged: &'r mut MergedStates<'a, N>,
    bytes: u64,
}

impl<const N: usize> Nodes<N> for FixedPoint<'_, '_, N> {
    fn begin(&mut self) {}

    fn node(&mut self, state: &State<N>) -> Result<Located<N>, Unfinished> {
        let node = self.merged.merged(state, self.table);
        Ok(Located {
            node: node.expect("the search has met every state"),
            grown: false,
        })
    }

    fn judge(&mut self, node: &State<N>) -> Judgement {
        self.merged.judge.judge(node)
    }

    fn successors(
        &mut self,
        node: &State<N>,
        out: &mut Vec<(State<N>, Tag)>,
    ) -> Result<(), Unfinished> {
        self.merged.cache.tagged(node, out)
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// The merged states so far, by their keys.
struct Growing<'a, const N: usize> {
    context: Context<'a>,
    merged: MergedStates<'a, N>,
    states: AHashMap<State<N>, State<N>>,
}

impl<const N: usize> Nodes<N> for Growing<'_, N> {
    fn begin(&mut self) {
        self.states.clear();
    }

    fn node(&mut self, state: &State<N>) -> Result<Located<N>, Unfinished> {
        let node = self.merged.merger.key(state)?;
        let old = self.states.get(&node).copied();
        let new = match old {
            None => *state,
            Some(old) => {
                let joined = self.merged.merger.join(&old, state)?;
                joined.expect("states with one key are merged")
            }
        };
        let grown = old != Some(new);
        if grown {
            self.states.insert(node, new);
        }
        Ok(Located { node, grown })
    }

    fn judge(&mut self, node: &State<N>) -> Judgement {
        self.merged.judge.judge(&self.states[node])
    }

    fn successors(
        &mut self,
        node: &State<N>,
        out: &mut Vec<(State<N>, Tag)>,
    ) -> Result<(), Unfinished> {
        self.merged.cache.tagged(&self.states[node], out)
    }

    fn bytes(&self) -> u64 {
        let states = self.states.capacity() * 2 * size_of::<State<N>>();
        (states + self.merged.cache.bytes() + self.context.interner.bytes()) as u64
    }
}
