//! The sets of one process: everything that it may be doing after some history of changes.
//!
//! A set holds its maximal members only, and stands for all that are within these.

use super::member::{ConfigId, Member};
use super::rules::Rules;
use crate::ids::ids;
use crate::limits::Watch;
use crate::memory::Model;
use crate::memory::step::{At, Stepper};
use crate::program::{PlaceId, Process, Value};
use crate::space::sets::{Budget, Change, Class, Ended, Interned, accessed_places};
use ahash::AHashMap;
use std::rc::Rc;

ids!(
    MemberId,
    /// A set of members, none of which is within another.
    SetId,
    /// A set of what properties see of members.
    ClassSetId,
    /// The values of the places that the process accesses.
    ViewId,
);

/// The change of memory that a member makes, empty if there is none, and what it becomes.
type Next = (Change, MemberId);

/// A change of memory, and what the process may be doing after it made it.
pub type Landing = (Change, SetId);

/// The sets of one process.
pub struct ProcessLogs<'a> {
    pub rules: Rules<'a>,
    /// The places that it accesses, in order.
    places: Vec<PlaceId>,
    members: Interned<Member>,
    sets: Interned<Box<[MemberId]>>,
    summaries: Vec<Summary>,
    views: Interned<Box<[Value]>>,
    class_sets: Interned<Vec<Class>>,
    moves: AHashMap<(MemberId, ViewId), Rc<[Next]>>,
    closures: AHashMap<(SetId, ViewId, ViewId), SetId>,
    landings: AHashMap<(SetId, ViewId), Rc<[Landing]>>,
    within: AHashMap<(SetId, SetId), bool>,
    pub(super) runs_ahead: AHashMap<(SetId, ViewId), ClassSetId>,
}

/// What is known of a set at a glance.
#[derive(Debug, Clone, Copy)]
pub struct Summary {
    pub failed: bool,
    /// Some member has stopped, and nothing of it is on its way to memory.
    pub done: bool,
    pub classes: ClassSetId,
    pub len: u32,
}

/// Members of which none is within another, by their configuration.
#[derive(Default)]
pub(super) struct Maximal {
    by_config: AHashMap<ConfigId, Vec<MemberId>>,
    /// In the order in which they were added, those that turned out not to be maximal
    /// included.
    added: Vec<MemberId>,
}

impl<'a> ProcessLogs<'a> {
    pub fn new(
        stepper: &'a Stepper<'a>,
        process: &'a Process,
        model: Model,
        widening: usize,
    ) -> ProcessLogs<'a> {
        ProcessLogs {
            rules: Rules::new(stepper, process, model, widening),
            places: accessed_places(process),
            members: Interned::default(),
            sets: Interned::default(),
            summaries: Vec::new(),
            views: Interned::default(),
            class_sets: Interned::default(),
            moves: AHashMap::new(),
            closures: AHashMap::new(),
            landings: AHashMap::new(),
            within: AHashMap::new(),
            runs_ahead: AHashMap::new(),
        }
    }

    /// What the process sees of memory.
    pub fn view(&mut self, memory: &[Value]) -> ViewId {
        let values = self.places.iter().map(|place| memory[place.index()]);
        ViewId(self.views.insert_full(values.collect()).0 as u32)
    }

    /// What it sees after a change of its own.
    fn view_after(&mut self, view: ViewId, change: &Change) -> ViewId {
        let mut values = self.views[view.index()].clone();
        for (place, value) in change {
            values[position(&self.places, *place)] = *value;
        }
        ViewId(self.views.insert_full(values).0 as u32)
    }

    pub fn member_ids(&self, set: SetId) -> &[MemberId] {
        &self.sets[set.index()]
    }

    pub fn members(&self, set: SetId) -> impl ExactSizeIterator<Item = &Member> {
        self.sets[set.index()]
            .iter()
            .map(|id| &self.members[id.index()])
    }

    pub fn summary(&self, set: SetId) -> &Summary {
        &self.summaries[set.index()]
    }

    pub fn classes(&self, id: ClassSetId) -> &[Class] {
        &self.class_sets[id.index()]
    }

    pub(super) fn class_set_id(&mut self, classes: Vec<Class>) -> ClassSetId {
        ClassSetId(self.class_sets.insert_full(classes).0 as u32)
    }

    /// The moves of the process, and memory as it sees it.
    pub(super) fn rules_and_memory(
        &mut self,
        view: ViewId,
    ) -> (&mut Rules<'a>, impl Fn(PlaceId) -> Value + '_) {
        let (places, values) = (&self.places, &self.views[view.index()]);
        let memory = |place: PlaceId| values[position(places, place)];
        (&mut self.rules, memory)
    }

    /// The set that it starts with under a memory.
    pub fn start(&mut self, view: ViewId, budget: &mut Budget) -> Result<SetId, Ended> {
        let all = self.initial(budget)?;
        self.closed(all, view, budget)
    }

    /// The same, not closed.
    pub(super) fn initial(&mut self, budget: &mut Budget) -> Result<Maximal, Ended> {
        let check = |bytes| budget.check(bytes as u64);
        let start = self.rules.start(&Watch::new(&check))?;
        let mut all = Maximal::default();
        for member in start {
            let id = self.member_id(member);
            self.add(&mut all, id, budget)?;
        }
        Ok(all)
    }

    /// What the process may be doing after memory changed, from one view of it to another.
    pub fn observe(
        &mut self,
        set: SetId,
        before: ViewId,
        now: ViewId,
        budget: &mut Budget,
    ) -> Result<SetId, Ended> {
        if let Some(&known) = self.closures.get(&(set, before, now)) {
            return Ok(known);
        }
        let all = self.observed(set, before, now, budget)?;
        let closed = self.closed(all, now, budget)?;
        self.closures.insert((set, before, now), closed);
        budget.bytes += 32;
        Ok(closed)
    }

    /// The members of a set after memory changed, not closed.
    pub(super) fn observed(
        &mut self,
        set: SetId,
        before: ViewId,
        now: ViewId,
        budget: &mut Budget,
    ) -> Result<Maximal, Ended> {
        let members = self.sets[set.index()].clone();
        let mut all = Maximal::default();
        for id in members {
            let places = &self.places;
            let (old, new) = (&self.views[before.index()], &self.views[now.index()]);
            let member = self.rules.observe(
                &self.members[id.index()],
                &|place| old[position(places, place)],
                &|place| new[position(places, place)],
            );
            let id = self.member_id(member);
            self.add(&mut all, id, budget)?;
        }
        Ok(all)
    }

    /// The changes that members of a closed set can make, each with the closed set of what
    /// the process may be doing then.
    pub fn landings(
        &mut self,
        set: SetId,
        view: ViewId,
        budget: &mut Budget,
    ) -> Result<Rc<[Landing]>, Ended> {
        if let Some(known) = self.landings.get(&(set, view)) {
            return Ok(known.clone());
        }
        let mut landings = Vec::new();
        for (change, all) in self.changes(set, view, budget)? {
            let after = self.view_after(view, &change);
            let set = self.closed(all, after, budget)?;
            landings.push((change, set));
        }
        budget.bytes += (64 + 48 * landings.len()) as u64;
        let landings: Rc<[Landing]> = landings.into();
        self.landings.insert((set, view), landings.clone());
        Ok(landings)
    }

    /// The changes that members of a set can make, in order, each with what these become, not
    /// closed.
    pub(super) fn changes(
        &mut self,
        set: SetId,
        view: ViewId,
        budget: &mut Budget,
    ) -> Result<Vec<(Change, Maximal)>, Ended> {
        let members = self.sets[set.index()].clone();
        let mut by_change: Vec<(Change, Maximal)> = Vec::new();
        for id in members {
            for (change, next) in self.moves(id, view, budget)?.iter() {
                if change.is_empty() {
                    continue;
                }
                let known = by_change.iter().position(|(known, _)| known == change);
                let at = known.unwrap_or_else(|| {
                    by_change.push((change.clone(), Maximal::default()));
                    by_change.len() - 1
                });
                self.add(&mut by_change[at].1, *next, budget)?;
            }
        }
        by_change.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(by_change)
    }

    /// A member is within some member of a set.
    pub(super) fn holds(&self, set: SetId, member: MemberId) -> bool {
        let own = &self.members[member.index()];
        let mut all = self.members(set);
        all.any(|other| own.is_within(other))
    }

    /// Every member of one set is within some member of another.
    pub fn is_within(&mut self, small: SetId, large: SetId) -> bool {
        if small == large {
            return true;
        }
        if let Some(&known) = self.within.get(&(small, large)) {
            return known;
        }
        let mut own = self.member_ids(small).iter();
        let within = own.all(|&member| self.holds(large, member));
        self.within.insert((small, large), within);
        within
    }

    /// Some members and all that they reach without changing memory.
    fn closed(
        &mut self,
        mut all: Maximal,
        view: ViewId,
        budget: &mut Budget,
    ) -> Result<SetId, Ended> {
        let mut next = 0;
        while let Some(&id) = all.added.get(next) {
            next += 1;
            if !all.holds(id, &self.members[id.index()]) {
                continue;
            }
            budget.check_states(all.added.len() as u64)?;
            for (change, after) in self.moves(id, view, budget)?.iter() {
                if change.is_empty() {
                    self.add(&mut all, *after, budget)?;
                }
            }
        }
        Ok(self.set_id(all, budget))
    }

    /// Adds a member unless it is within another, and drops those that are within it.
    pub(super) fn add(
        &self,
        all: &mut Maximal,
        id: MemberId,
        budget: &mut Budget,
    ) -> Result<(), Ended> {
        let member = &self.members[id.index()];
        let same = all.by_config.entry(member.config).or_default();
        budget.spend(1 + same.len() as u64)?;
        let other = |id: &MemberId| &self.members[id.index()];
        if same
            .iter()
            .any(|known| *known == id || member.is_within(other(known)))
        {
            return Ok(());
        }
        same.retain(|known| !other(known).is_within(member));
        same.push(id);
        all.added.push(id);
        Ok(())
    }

    /// What a member can do: the change of memory, empty if there is none, and what it
    /// becomes.
    pub(super) fn moves(
        &mut self,
        id: MemberId,
        view: ViewId,
        budget: &mut Budget,
    ) -> Result<Rc<[Next]>, Ended> {
        if let Some(known) = self.moves.get(&(id, view)) {
            return Ok(known.clone());
        }
        let check = |bytes| budget.check(bytes as u64);
        let (places, values) = (&self.places, &self.views[view.index()]);
        let memory = |place: PlaceId| values[position(places, place)];
        let member = self.members[id.index()].clone();
        let moved = self.rules.moves(&member, &memory, &Watch::new(&check))?;
        let mut moves = Vec::new();
        for moved in moved {
            let mut change = moved.writes;
            change.retain(|(place, value)| memory(*place) != *value);
            moves.push((change, moved.member));
        }
        let moves: Rc<[Next]> = moves
            .into_iter()
            .map(|(change, member)| (change, self.member_id(member)))
            .collect();
        budget.spend(4 + moves.len() as u64)?;
        budget.bytes += 64 + moves.iter().map(|_| 160).sum::<u64>();
        self.moves.insert((id, view), moves.clone());
        Ok(moves)
    }

    pub(super) fn member_id(&mut self, member: Member) -> MemberId {
        MemberId(self.members.insert_full(member).0 as u32)
    }

    pub(super) fn set_id(&mut self, all: Maximal, budget: &mut Budget) -> SetId {
        let mut members: Vec<MemberId> = all.by_config.into_values().flatten().collect();
        members.sort_unstable();
        budget.bytes += std::mem::take(&mut self.rules.normal_forms.new_bytes);
        let (id, new) = self.sets.insert_full(members.into());
        if new {
            let members = self.sets[id].iter().map(|id| &self.members[id.index()]);
            let mut classes: Vec<Class> = members
                .map(|member| {
                    let config = self.rules.config(member.config);
                    Class {
                        done: self.rules.is_done(member),
                        ..Class::of(self.rules.process, config)
                    }
                })
                .collect();
            classes.sort();
            classes.dedup();
            budget.bytes += 96 + 8 * self.sets[id].len() as u64;
            let failed = |class: &Class| matches!(class.at, Some(At::Failed(_)));
            let summary = Summary {
                failed: classes.iter().any(failed),
                done: classes.iter().any(|class| class.done),
                len: self.sets[id].len() as u32,
                classes: self.class_set_id(classes),
            };
            self.summaries.push(summary);
        }
        SetId(id as u32)
    }
}

impl Maximal {
    pub(super) fn iter(&self) -> impl Iterator<Item = MemberId> {
        self.by_config.values().flatten().copied()
    }

    fn holds(&self, id: MemberId, member: &Member) -> bool {
        let same = self.by_config.get(&member.config);
        same.is_some_and(|same| same.contains(&id))
    }
}

fn position(places: &[PlaceId], place: PlaceId) -> usize {
    let at = places.binary_search(&place);
    at.expect("a process accesses what its steps read and write")
}
