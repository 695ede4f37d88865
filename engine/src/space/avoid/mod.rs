//! Avoid formulas: which sets of fences keep every error from being reached.
//!
//! The states are labelled with formulas over fences (Kuperstein, Vechev, Yahav, "Partial-
//! coherence abstractions for relaxed memory models", PLDI 2011): the greatest fixed point of
//!
//! ```text
//! L(initial) = false
//! L(σ)       = ⋀ over transitions t = (μ → σ) of  L(μ) ∨ prevent(t)
//! ```
//!
//! L(σ) holds for the sets of fences with which σ is not reached, and ψ, the conjunction of the
//! labels of all errors, for those that make the program correct. All formulas are without
//! negations. Labels are computed forwards while the space is searched: they begin with true,
//! become stronger, and a state whose label changes is expanded again. Nothing is kept of the
//! graph but its states, each with the number of its label. Errors are not expanded: fences
//! that keep a run from its first error need not know what would have come after.
//!
//! Unlike in the original method, what ψ has excluded already is not searched. A state with
//! ψ ⇒ L(σ), for the ψ of the errors met so far, is reached only with fences that are known to
//! be too few, and so is all that comes after it; and a label that changes only where ψ does
//! not hold does not count as changed. What is left is about the union of the state spaces of
//! the correct programs, where the whole space is mostly made of incorrect ones.
//!
//! ψ stays the same. Labels are never stronger than those of the fixed point, so neither is ψ.
//! Conversely let F satisfy the ψ that was found, and with it every earlier one, and assume a
//! run with the fences F that leads to an error. No label on this run holds for F in the end:
//! that of the initial state is false; and where a state's label does not hold for F, it was
//! not excluded when it was last expanded, since ψ held for F and the label did not, and its
//! label then agreed with the last one on F. So the transition to the next state, which F does
//! not prevent, made that one's label fail for F. The last label is that of an error and a
//! part of ψ: a contradiction. This is about any graph with labelled transitions, so it holds
//! for the graph of merged states as well, once that is known. (Where states are merged in the
//! course of this, see `merging::avoid`.)

mod labels;
mod search;
mod table;

pub use labels::{Labels, Unlabelled};
pub(super) use search::{Labelled, Located, Nodes};

use super::context::Context;
use super::initial::for_each_initial;
use super::intern::Interner;
use super::judge::{Judge, Judgement};
use super::layout::{Overflow, State};
use super::search::{Coverage, End, Exploration, Scope, Statistics, Unfinished};
use super::successors::{SuccessorCache, Tag};

/// Labels the states of a model that keeps them apart.
pub(super) fn explore<const N: usize>(
    context: Context,
    labels: &mut [Labels],
    scope: Scope,
) -> Result<Exploration, Overflow> {
    let mut nodes = Distinct::<N> {
        interner: context.interner,
        cache: SuccessorCache::new(context),
        judge: Judge::new(context),
    };
    explore_nodes(context, &mut nodes, labels, scope)
}

/// Labels nodes that are found in the course of it.
pub(super) fn explore_nodes<const N: usize>(
    context: Context,
    nodes: &mut impl Nodes<N>,
    labels: &mut [Labels],
    scope: Scope,
) -> Result<Exploration, Overflow> {
    let mut initial = Vec::new();
    let collected = for_each_initial(&context, &mut |state| {
        initial.push(context.pack(state)?);
        Ok(())
    });
    let labelled = match End::of(collected.map(|()| End::Exhausted))? {
        End::Exhausted => label(&context, nodes, &initial, labels, scope)?,
        end => Labelled {
            end,
            statistics: Statistics::default(),
            reached_final: false,
        },
    };
    Ok(Exploration {
        end: labelled.end,
        statistics: labelled.statistics,
        coverage: Coverage {
            reached_final: labelled.reached_final,
            unreached: context.interner.unreached(),
        },
        no_room: false,
        violation: None,
        snapshots: Vec::new(),
    })
}

/// Computes labels for nodes, one set of them after another. The first decides how that ends
/// and what it took; without it the others are of no use.
pub(super) fn label<const N: usize>(
    context: &Context,
    nodes: &mut impl Nodes<N>,
    initial: &[State<N>],
    labels: &mut [Labels],
    scope: Scope,
) -> Result<Labelled, Overflow> {
    let first = labels.split_first_mut();
    let (first, others) = first.expect("there are labels to compute");
    let labelled = search::label(context, nodes, initial, first, scope)?;
    if first.psi().is_ok() {
        for labels in others {
            search::label(context, nodes, initial, labels, scope)?;
        }
    }
    Ok(labelled)
}

/// Every state is a node.
struct Distinct<'a, const N: usize> {
    interner: &'a Interner<'a>,
    cache: SuccessorCache<'a, N>,
    judge: Judge<'a, N>,
}

impl<const N: usize> Nodes<N> for Distinct<'_, N> {
    fn begin(&mut self) {}

    #[inline]
    fn node(&mut self, state: &State<N>) -> Result<Located<N>, Unfinished> {
        Ok(Located {
            node: *state,
            grown: false,
        })
    }

    fn judge(&mut self, node: &State<N>) -> Judgement {
        self.judge.judge(node)
    }

    fn successors(
        &mut self,
        node: &State<N>,
        out: &mut Vec<(State<N>, Tag)>,
    ) -> Result<(), Unfinished> {
        self.cache.tagged(node, out)
    }

    fn bytes(&self) -> u64 {
        (self.cache.bytes() + self.interner.bytes()) as u64
    }
}
