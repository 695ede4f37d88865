//! The largest states: which of those that were met are not covered by another.
//!
//! The maximal states of one memory stand in a tree: a level for each process, a branch for
//! each of its sets. Whoever looks for states that cover a given one follows the branches
//! whose sets contain the given sets; whoever looks for covered ones, those whose sets are
//! contained in them. A part of the tree with few states is a list of these. Sets are compared
//! by masks first, which lie side by side; for most processes these decide.

use super::Ended;
use super::process::{Mask, SetId};
use super::states::{MemoryId, SetSearch, StateId};
use crate::program::ProcessId;

/// States in a list at most, except on the last level.
const LIST: usize = 24;

/// Maximal states by memory.
#[derive(Default)]
pub struct Antichain {
    trees: Vec<Node>,
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
    below: Vec<Node>,
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
    /// Comparisons of masks.
    work: u64,
}

impl SetSearch<'_> {
    /// Keeps a state among the largest, unless one of these covers it; marks those that it
    /// covers.
    pub fn keep(&mut self, state: StateId) -> Result<bool, Ended> {
        let mut antichain = std::mem::take(&mut self.antichain);
        let mut look = Look {
            search: self,
            sets: self.sets(state),
            masks: &self.masks(state),
            work: 0,
        };
        let tree = antichain.tree(self.head(state).memory);
        let covered = tree.covers(&mut look, 0);
        let mut gone = Vec::new();
        if !covered {
            tree.remove_covered(&mut look, 0, &mut gone);
            tree.insert(&look, state, 0);
        }
        let work = look.work / 4;
        for state in gone {
            self.head_mut(state).covered = true;
        }
        self.antichain = antichain;
        self.budget.spend(work)?;
        Ok(!covered)
    }

    /// The masks of the sets of a state.
    fn masks(&self, state: StateId) -> Vec<Mask> {
        (self.sets(state).iter().zip(self.processes()))
            .map(|(&set, process)| self.kind(process).summary(set).mask)
            .collect()
    }
}

impl Antichain {
    fn tree(&mut self, memory: MemoryId) -> &mut Node {
        if self.trees.len() <= memory.index() {
            self.trees.resize_with(memory.index() + 1, Node::default);
        }
        &mut self.trees[memory.index()]
    }
}

impl Default for Node {
    fn default() -> Node {
        Node::List(List::default())
    }
}

impl Node {
    /// Whether some state covers the one that is looked at. What has covered one goes to the
    /// front: it is likely to cover the next.
    fn covers(&mut self, look: &mut Look, level: usize) -> bool {
        match self {
            Node::Branches(branches) => {
                let (set, mask) = (look.sets[level], look.masks[level]);
                for at in 0..branches.masks.len() {
                    look.work += 1;
                    if mask & !branches.masks[at] == 0
                        && look.is_subset(level, set, branches.sets[at])
                        && branches.below[at].covers(look, level + 1)
                    {
                        branches.swap(at / 2, at);
                        return true;
                    }
                }
                false
            }
            Node::List(list) => {
                let masks = &look.masks[level..];
                let mut all = list.states.iter().zip(list.masks.chunks_exact(masks.len()));
                let found = all.position(|(&state, large)| {
                    within(masks, large) && look.all_from(level, state, |own, other| (own, other))
                });
                look.work += (found.map_or(list.states.len(), |at| at + 1) * masks.len()) as u64;
                if let Some(at) = found {
                    list.swap(at / 2, at, masks.len());
                }
                found.is_some()
            }
        }
    }

    /// Removes all states that the one that is looked at covers.
    fn remove_covered(&mut self, look: &mut Look, level: usize, gone: &mut Vec<StateId>) {
        match self {
            Node::Branches(branches) => {
                look.work += branches.masks.len() as u64;
                let (set, mask) = (look.sets[level], look.masks[level]);
                for at in (0..branches.masks.len()).rev() {
                    if branches.masks[at] & !mask == 0
                        && look.is_subset(level, branches.sets[at], set)
                    {
                        branches.below[at].remove_covered(look, level + 1, gone);
                        if branches.below[at].is_empty() {
                            branches.remove(at);
                        }
                    }
                }
            }
            Node::List(list) => {
                look.work += list.masks.len() as u64;
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
                let at = known.unwrap_or_else(|| branches.add(set, look.masks[level]));
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
                            masks: &look.search.masks(state),
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
    /// Adds a set with no states yet; where it stands.
    fn add(&mut self, set: SetId, mask: Mask) -> usize {
        self.masks.push(mask);
        self.sets.push(set);
        self.below.push(Node::default());
        self.sets.len() - 1
    }

    fn swap(&mut self, one: usize, other: usize) {
        self.masks.swap(one, other);
        self.sets.swap(one, other);
        self.below.swap(one, other);
    }

    fn remove(&mut self, at: usize) {
        self.masks.swap_remove(at);
        self.sets.swap_remove(at);
        self.below.swap_remove(at);
    }
}

impl List {
    fn swap(&mut self, one: usize, other: usize, width: usize) {
        self.states.swap(one, other);
        for at in 0..width {
            self.masks.swap(one * width + at, other * width + at);
        }
    }

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
