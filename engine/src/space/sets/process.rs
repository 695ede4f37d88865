//! What one process may be doing: sets of its configurations, and how they change.
//!
//! Sets are interned, and everything that is found out about them is kept by what matters of the
//! view of memory ([`sight`](super::sight)): their closure, and the changes that their members can
//! make. What matters to a closure is known only when it has been found; so each set knows what
//! mattered to its closures so far, and a view that agrees with an earlier one there needs no
//! other.

use super::moves::{ChangeId, Class, ClassId, ConfigId, Interned, Moves, PlaceMask, ViewId};
use super::sight::{MaskId, SightId, Sights};
use super::{Budget, Ended};
use crate::ids::ids;
use crate::memory::step::{At, Config, Stepper};
use crate::program::Process;
pub use crate::space::members::Mask;
use crate::space::members::{Gathered, Members};
use ahash::{AHashMap, RandomState};
use std::sync::Arc;

ids!(
    /// A set of configurations.
    SetId,
    /// A set of classes.
    ClassSetId,
    /// The steps of a set under a view.
    StepsId,
);

/// Everything that is known of one process.
pub struct ProcessSets<'a> {
    pub moves: Moves<'a>,
    /// Closed sets have all members, even if another one stands for them.
    keeps_all: bool,
    sets: Interned<Members>,
    /// By set.
    summaries: Vec<Summary>,
    class_sets: Interned<Box<[ClassId]>>,
    sights: Sights,
    /// By set: the places that mattered to its closures so far.
    mattered: Vec<Vec<MaskId>>,
    closures: AHashMap<(SetId, SightId), SetId>,
    steps: AHashMap<(SetId, SightId), StepsId>,
    /// Changes, and the sets that they lead to, not closed.
    step_lists: Vec<Box<[(ChangeId, SetId)]>>,
    scratch: Gathered,
}

/// What is known of a set at a glance.
#[derive(Debug, Clone, Copy)]
pub struct Summary {
    pub mask: Mask,
    pub len: u32,
    /// Some member has failed.
    pub failed: bool,
    /// Some member has stopped with empty buffers.
    pub done: bool,
    pub classes: ClassSetId,
    /// The places whose values make a difference to what members do; all of them as long as
    /// that is not known. Changes of other places leave the set closed, if it was: what is left
    /// out of it reads nothing, and writes what the member writes that stands for it.
    pub concerns: PlaceMask,
    /// The same, as far as the process accesses them.
    matters: MaskId,
    /// The places that some member needs.
    pub needs: PlaceMask,
    /// What positions and numbers of pending stores its members have, as a hash: the same
    /// whatever places and values are called.
    pub look: u64,
}

/// The same in every run.
const LOOKS: RandomState = RandomState::with_seeds(1, 2, 3, 4);

impl<'a> ProcessSets<'a> {
    pub fn new(
        stepper: Arc<Stepper<'a>>,
        process: &'a Process,
        keeps_all: bool,
    ) -> ProcessSets<'a> {
        ProcessSets {
            keeps_all,
            moves: Moves::new(stepper, process),
            sets: Interned::default(),
            summaries: Vec::new(),
            class_sets: Interned::default(),
            sights: Sights::default(),
            mattered: Vec::new(),
            closures: AHashMap::new(),
            steps: AHashMap::new(),
            step_lists: Vec::new(),
            scratch: Gathered::default(),
        }
    }

    /// The set of all configurations it may start in, not closed.
    pub fn start(&mut self, budget: &mut Budget) -> Result<SetId, Ended> {
        let mut gathered = Gathered::default();
        for id in self.moves.start(budget)? {
            gathered.add(id.0);
        }
        Ok(self.set_id(&gathered, budget))
    }

    /// The set of some configurations.
    pub fn set_of(&mut self, configs: Vec<Config>, budget: &mut Budget) -> SetId {
        let mut gathered = std::mem::take(&mut self.scratch);
        for config in configs {
            gathered.add(self.moves.intern(config).0);
        }
        let id = self.set_id(&gathered, budget);
        gathered.clear();
        self.scratch = gathered;
        id
    }

    pub fn members(&self, set: SetId) -> impl Iterator<Item = ConfigId> + '_ {
        self.sets[set.index()].iter().map(ConfigId)
    }

    pub fn summary(&self, set: SetId) -> &Summary {
        &self.summaries[set.index()]
    }

    /// Whether every member of one set is one of another.
    pub fn is_subset(&self, small: SetId, large: SetId) -> bool {
        self.sets[small.index()].is_subset(&self.sets[large.index()])
    }

    /// No two configurations share a bit of a mask: a set is contained in another if its mask
    /// is.
    #[inline]
    pub fn masks_decide(&self) -> bool {
        self.moves.configs().len() <= Mask::BITS as usize
    }

    /// The classes of a set of classes.
    pub fn classes(&self, id: ClassSetId) -> impl Iterator<Item = &Class> {
        let ids = self.class_sets[id.index()].iter();
        ids.map(|&class| self.moves.class(class))
    }

    /// A set together with everything that its members reach without changing memory.
    pub fn close(&mut self, set: SetId, view: ViewId, budget: &mut Budget) -> Result<SetId, Ended> {
        for at in 0..self.mattered[set.index()].len() {
            let mask = self.mattered[set.index()][at];
            let sight = self.sights.of(mask, view, &self.moves, budget);
            if let Some(&closed) = self.closures.get(&(set, sight)) {
                return Ok(closed);
            }
        }
        let closed = self.closed(set, view, budget)?;
        let mask = self.summary(closed).matters;
        let mattered = &mut self.mattered[set.index()];
        if !mattered.contains(&mask) {
            mattered.push(mask);
        }
        let sight = self.sights.of(mask, view, &self.moves, budget);
        self.closures.insert((set, sight), closed);
        budget.bytes += 2 * size_of::<(SetId, SightId, SetId)>() as u64;
        Ok(closed)
    }

    fn closed(&mut self, set: SetId, view: ViewId, budget: &mut Budget) -> Result<SetId, Ended> {
        let mut gathered = std::mem::take(&mut self.scratch);
        let members = self.sets[set.index()].iter();
        members.for_each(|id| gathered.add(id));
        let mut next = 0;
        while let Some(&member) = gathered.members.get(next) {
            let member = ConfigId(member);
            budget.spend(1)?;
            // There are at least as many states as configurations of one process.
            budget.check_states(gathered.members.len() as u64)?;
            budget.check_configurations(self.moves.configs().len())?;
            self.moves.each(member, view, budget, |change, id| {
                if change.is_none() {
                    gathered.add(id.0);
                }
            })?;
            next += 1;
        }
        if !self.keeps_all {
            let moves = &mut self.moves;
            gathered.try_retain(|id| moves.is_left_out(ConfigId(id), budget).map(|out| !out))?;
        }
        let id = self.set_id(&gathered, budget);
        self.find_concerns(id);
        gathered.clear();
        self.scratch = gathered;
        Ok(id)
    }

    /// Takes note of the places whose values make a difference to a set, all members of which
    /// have been asked for their steps.
    fn find_concerns(&mut self, set: SetId) {
        if self.summary(set).concerns == PlaceMask::MAX {
            let members = self.sets[set.index()].iter();
            let concerns = members.map(|member| self.moves.concerns(ConfigId(member)));
            let concerns = concerns.fold(0, |all, some| all | some.unwrap_or(PlaceMask::MAX));
            let matters = self.sights.mask(self.moves.own(concerns));
            let summary = &mut self.summaries[set.index()];
            (summary.concerns, summary.matters) = (concerns, matters);
        }
    }

    /// The changes that members of a closed set can make in one step, each with the set of what
    /// they become, which is not closed.
    pub fn steps(
        &mut self,
        set: SetId,
        view: ViewId,
        budget: &mut Budget,
    ) -> Result<StepsId, Ended> {
        let matters = self.summary(set).matters;
        let sight = self.sights.of(matters, view, &self.moves, budget);
        if let Some(&steps) = self.steps.get(&(set, sight)) {
            return Ok(steps);
        }
        let mut by_change: Vec<(ChangeId, Gathered)> = Vec::new();
        for member in self.sets[set.index()].iter().map(ConfigId) {
            budget.spend(1)?;
            self.moves.each(member, view, budget, |change, id| {
                let Some(change) = change else {
                    return;
                };
                let known = by_change.iter().position(|(known, _)| *known == change);
                let at = known.unwrap_or_else(|| {
                    by_change.push((change, Gathered::default()));
                    by_change.len() - 1
                });
                by_change[at].1.add(id.0);
            })?;
        }
        let steps = by_change.into_iter();
        let steps = steps.map(|(change, after)| (change, self.set_id(&after, budget)));
        let steps: Vec<(ChangeId, SetId)> = steps.collect();
        self.find_concerns(set);
        let matters = self.summary(set).matters;
        let sight = self.sights.of(matters, view, &self.moves, budget);
        budget.bytes += (64 + 16 * steps.len()) as u64;
        let id = StepsId(self.step_lists.len() as u32);
        self.step_lists.push(steps.into());
        self.steps.insert((set, sight), id);
        Ok(id)
    }

    pub fn step_list(&self, id: StepsId) -> &[(ChangeId, SetId)] {
        &self.step_lists[id.index()]
    }

    fn set_id(&mut self, gathered: &Gathered, budget: &mut Budget) -> SetId {
        let (id, new) = self.sets.insert_full(gathered.set());
        if new {
            let members = &self.sets[id];
            budget.bytes += (members.bytes() + 2 * size_of::<Summary>() + 32) as u64;
            let mut classes: Vec<ClassId> = (gathered.members.iter())
                .map(|&member| self.moves.class_of(ConfigId(member)))
                .collect();
            classes.sort_unstable();
            classes.dedup();
            let all = || classes.iter().map(|&class| self.moves.class(class));
            let look = |&member: &u32| {
                let config = self.moves.config(ConfigId(member));
                let at = match config.at {
                    At::Loc(at) => Some(at),
                    At::Failed(_) => None,
                };
                LOOKS.hash_one((at, config.buffers.size()))
            };
            let looks = gathered.members.iter().map(look);
            let look = looks.fold(0, u64::wrapping_add);
            self.mattered.push(Vec::new());
            self.summaries.push(Summary {
                mask: members.mask(),
                len: gathered.members.len() as u32,
                failed: all().any(|class| matches!(class.at, Some(At::Failed(_)))),
                done: all().any(|class| class.done),
                concerns: PlaceMask::MAX,
                matters: self.sights.mask(self.moves.own(PlaceMask::MAX)),
                needs: (gathered.members.iter())
                    .map(|&member| self.moves.facts[member as usize].needs)
                    .fold(0, |all, some| all | some),
                classes: ClassSetId(self.class_sets.insert_full(classes.into()).0 as u32),
                look,
            });
        }
        SetId(id as u32)
    }
}
