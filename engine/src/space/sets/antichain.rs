//! The largest states: which of those that were met are not covered by another.
//!
//! The maximal states of one memory stand in a tree: a level for each process, a branch for
//! each of its sets. Whoever looks for states that cover a given one follows the branches
//! whose sets contain the given sets; whoever looks for covered ones, those whose sets are
//! contained in them. A part of the tree with few states is a list of these. Sets are compared
//! by masks first, which lie side by side; for most processes these decide. A branch also knows
//! what the masks below it have together, and what all of them have: where a state does not fit
//! into the one or round the other, nobody looks any further.

use super::process::{Mask, SetId};
use super::states::{MemoryId, SetSearch, StateId};
use crate::program::ProcessId;

/// States in a list at most, except on the last level. With debug assertions there are few, so that
/// tests with few states have trees.
const LIST: usize = if cfg!(debug_assertions) { 2 } else { 24 };

/// Of so many maximal states one is compared with a state, as a rule.
const COMPARED: u64 = 16;

/// Maximal states by memory.
#[derive(Default)]
pub struct Antichain {
    trees: Vec<Tree>,
}

/// The maximal states of one memory.
#[derive(Default)]
struct Tree {
    root: Node,
    len: usize,
}

/// The states that have the same sets of the processes above a level.
enum Node {
    Branches(Branches),
    List(List),
}

/// For each set of the process of a level, the states that have it.
#[derive(Default)]
struct Branches {
    /// The masks of the sets.
    masks: Vec<Mask>,
    sets: Vec<SetId>,
    below: Vec<Below>,
}

/// The states of a branch.
struct Below {
    /// For each level below, the bits of any mask there is, and maybe more.
    any: Box<[Mask]>,
    /// For each level below, bits that all masks have, and maybe not all of them.
    all: Box<[Mask]>,
    states: Node,
}

#[derive(Default)]
struct List {
    states: Vec<StateId>,
    /// For each state, the masks of its sets from the level on.
    masks: Vec<Mask>,
}

/// A state that others are compared with.
struct Look<'a> {
    search: &'a SetSearch<'a>,
    sets: &'a [SetId],
    masks: &'a [Mask],
}

impl SetSearch<'_> {
    /// Whether some state that was met covers a product.
    pub fn is_covered(&self, memory: MemoryId, sets: &[SetId]) -> bool {
        let Some(tree) = self.antichain.trees.get(memory.index()) else {
            return false;
        };
        let look = Look {
            search: self,
            sets,
            masks: &self.masks(sets),
        };
        tree.root.covers(&look, 0)
    }

    /// Keeps a state among the largest, none of which covers it; marks those that it covers.
    pub fn keep(&mut self, state: StateId) {
        let mut antichain = std::mem::take(&mut self.antichain);
        let look = Look {
            search: self,
            sets: self.sets(state),
            masks: &self.masks(self.sets(state)),
        };
        let tree = antichain.tree(self.head(state).memory);
        let mut gone = Vec::new();
        tree.root.remove_covered(&look, 0, &mut gone);
        tree.root.insert(&look, state, 0);
        tree.len += 1;
        tree.len -= gone.len();
        for state in gone {
            self.head_mut(state).covered = true;
        }
        self.antichain = antichain;
    }

    /// The masks of some sets, by process.
    fn masks(&self, sets: &[SetId]) -> Vec<Mask> {
        (sets.iter().zip(self.processes()))
            .map(|(&set, process)| self.kind(process).summary(set).mask)
            .collect()
    }
}

impl Antichain {
    fn tree(&mut self, memory: MemoryId) -> &mut Tree {
        if self.trees.len() <= memory.index() {
            self.trees.resize_with(memory.index() + 1, Tree::default);
        }
        &mut self.trees[memory.index()]
    }

    /// About how much work it is to find out whether a state of a memory is covered. How much it
    /// is in fact depends on who asks, and budgets must not.
    pub fn work(&self, memory: MemoryId) -> u64 {
        let tree = self.trees.get(memory.index());
        tree.map_or(0, |tree| tree.len as u64 / COMPARED)
    }
}

impl Default for Node {
    fn default() -> Node {
        Node::List(List::default())
    }
}

impl Node {
    /// Whether some state covers the one that is looked at.
    fn covers(&self, look: &Look, level: usize) -> bool {
        match self {
            Node::Branches(branches) => {
                let (set, mask) = (look.sets[level], look.masks[level]);
                (0..branches.masks.len()).any(|at| {
                    mask & !branches.masks[at] == 0
                        && within(&look.masks[level + 1..], &branches.below[at].any)
                        && look.is_subset(level, set, branches.sets[at])
                        && branches.below[at].states.covers(look, level + 1)
                })
            }
            Node::List(list) => {
                let masks = &look.masks[level..];
                let mut all = list.states.iter().zip(list.masks.chunks_exact(masks.len()));
                all.any(|(&state, large)| {
                    within(masks, large) && look.all_from(level, state, |own, other| (own, other))
                })
            }
        }
    }

    /// Removes all states that the one that is looked at covers.
    fn remove_covered(&mut self, look: &Look, level: usize, gone: &mut Vec<StateId>) {
        match self {
            Node::Branches(branches) => {
                let (set, mask) = (look.sets[level], look.masks[level]);
                for at in (0..branches.masks.len()).rev() {
                    if branches.masks[at] & !mask == 0
                        && within(&branches.below[at].all, &look.masks[level + 1..])
                        && look.is_subset(level, branches.sets[at], set)
                    {
                        let below = &mut branches.below[at].states;
                        below.remove_covered(look, level + 1, gone);
                        if below.is_empty() {
                            branches.remove(at);
                        }
                    }
                }
            }
            Node::List(list) => {
                let masks = &look.masks[level..];
                for at in (0..list.states.len()).rev() {
                    let small = &list.masks[at * masks.len()..][..masks.len()];
                    let state = list.states[at];
                    if within(small, masks)
                        && look.all_from(level, state, |own, other| (other, own))
                    {
                        gone.push(state);
                        list.remove(at, masks.len());
                    }
                }
            }
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Node::Branches(branches) => branches.masks.is_empty(),
            Node::List(list) => list.states.is_empty(),
        }
    }

    /// Adds the state that is looked at.
    fn insert(&mut self, look: &Look, state: StateId, level: usize) {
        match self {
            Node::Branches(branches) => {
                let set = look.sets[level];
                let known = branches.sets.iter().position(|other| *other == set);
                let at = known.unwrap_or_else(|| branches.add(set, &look.masks[level..]));
                branches.below[at].insert(look, state, level + 1);
            }
            Node::List(list) => {
                list.states.push(state);
                list.masks.extend(&look.masks[level..]);
                if list.states.len() > LIST && level + 1 < look.sets.len() {
                    let states = std::mem::take(&mut list.states);
                    *self = Node::Branches(Branches::default());
                    for state in states {
                        let own = Look {
                            sets: look.search.sets(state),
                            masks: &look.search.masks(look.search.sets(state)),
                            ..*look
                        };
                        self.insert(&own, state, level);
                    }
                }
            }
        }
    }
}

impl Branches {
    /// Adds a set with no states yet, by the masks of the first state that has it; where it
    /// stands.
    fn add(&mut self, set: SetId, masks: &[Mask]) -> usize {
        self.masks.push(masks[0]);
        self.sets.push(set);
        self.below.push(Below {
            any: masks[1..].into(),
            all: masks[1..].into(),
            states: Node::default(),
        });
        self.sets.len() - 1
    }

    fn remove(&mut self, at: usize) {
        self.masks.swap_remove(at);
        self.sets.swap_remove(at);
        self.below.swap_remove(at);
    }
}

impl Below {
    /// Adds the state that is looked at.
    fn insert(&mut self, look: &Look, state: StateId, level: usize) {
        let own = look.masks[level..].iter();
        for (mask, (any, all)) in own.zip(self.any.iter_mut().zip(&mut self.all)) {
            *any |= mask;
            *all &= mask;
        }
        self.states.insert(look, state, level);
    }
}

impl List {
    fn remove(&mut self, at: usize, width: usize) {
        self.states.swap_remove(at);
        let last = self.masks.len() - width;
        self.masks.copy_within(last.., at * width);
        self.masks.truncate(last);
    }
}

impl Look<'_> {
    /// Whether a set is contained in another whose mask contains its mask.
    #[inline]
    fn is_subset(&self, level: usize, small: SetId, large: SetId) -> bool {
        small == large || {
            let kind = self.search.kind(ProcessId(level as u32));
            kind.masks_decide() || kind.is_subset(small, large)
        }
    }

    /// Whether, from a level on, one set of each pair is contained in the other: a set of the
    /// state that is looked at and one of another state, in the order that is given; their
    /// masks are.
    fn all_from(
        &self,
        level: usize,
        other: StateId,
        order: impl Fn(SetId, SetId) -> (SetId, SetId),
    ) -> bool {
        let theirs = self.search.sets(other);
        (level..theirs.len()).all(|level| {
            let (small, large) = order(self.sets[level], theirs[level]);
            self.is_subset(level, small, large)
        })
    }
}

/// Whether all bits of some masks are among those of others.
fn within(small: &[Mask], large: &[Mask]) -> bool {
    let mut both = small.iter().zip(large);
    both.all(|(small, large)| small & !large == 0)
}
