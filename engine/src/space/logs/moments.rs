//! The log of a process: what a load finds in it, and what becomes of it when memory changes.

use super::member::{ConfigId, Log, Member, SnapshotId};
use super::relevant::{Relevant, forget};
use super::rules::Rules;
use super::word::{Atom, Word};
use crate::memory::step::At;
use crate::program::{PlaceId, Value};
use std::rc::Rc;

impl Rules<'_> {
    /// What a load of a place can find, each value with the log of the first moment that has
    /// it: from a later one less can be seen.
    pub fn readings(
        &self,
        member: &Member,
        place: PlaceId,
        memory: &dyn Fn(PlaceId) -> Value,
    ) -> Vec<(Value, Log)> {
        if let Some(queue) = member.queue(place) {
            return vec![(queue.newest(), member.log.clone())];
        }
        let mut all: Vec<(Value, Log)> = Vec::new();
        let mut add = |value: Value, log: &dyn Fn() -> Log| {
            if all.iter().all(|(known, _)| *known != value) {
                all.push((value, log()));
            }
        };
        let log = &member.log;
        let column = self.loaded.binary_search(&place);
        let column = column.expect("snapshots hold what is loaded");
        let value = |snapshot: &SnapshotId| self.snapshots[snapshot.index()][column];
        let past = log.moments.atoms().iter().enumerate();
        for (at, atom) in past.filter(|_| log.behind_store || self.free) {
            for snapshot in atom.letters() {
                add(value(snapshot), &|| Log {
                    moments: log.moments.behind(at),
                    ..log.clone()
                });
            }
        }
        add(memory(place), &Log::default);
        all
    }

    /// A store of the process reaches memory. At all moments before, the process finds what it
    /// stored. Loads that look at a moment that is like the present can look at the present.
    pub fn landed(
        &mut self,
        mut member: Member,
        config: ConfigId,
        place: PlaceId,
        value: Value,
        memory: &dyn Fn(PlaceId) -> Value,
    ) -> Member {
        member.config = config;
        member.drained = false;
        if !self.lags {
            return member;
        }
        let column = self.loaded.binary_search(&place);
        let relevant = self.relevant_at(config);
        let mut moments = self.rewritten(&member.log.moments, |values| {
            if let Ok(column) = column {
                values[column] = value;
            }
            forget(values, &relevant.now);
        });
        let present = self.snapshot(&relevant.now, &|other| match other == place {
            true => value,
            false => memory(other),
        });
        moments.trim(&[present]);
        member.log = Log {
            behind_store: !moments.is_empty() && !self.free,
            moments,
        };
        member
    }

    fn rewritten(
        &mut self,
        word: &Word<SnapshotId>,
        change: impl Fn(&mut [Value]),
    ) -> Word<SnapshotId> {
        let mut atoms = Word::default();
        for atom in word.atoms() {
            let letters = atom.letters().iter().map(|&old| {
                let mut values = self.snapshots[old.index()].clone();
                change(&mut values);
                SnapshotId(self.snapshots.insert_full(values).0 as u32)
            });
            atoms.push(Atom::star(letters.collect()));
        }
        atoms
    }

    /// Memory changes: the moment before is one that the process can still look at.
    pub fn observe(
        &mut self,
        member: &Member,
        before: &dyn Fn(PlaceId) -> Value,
        now: &dyn Fn(PlaceId) -> Value,
    ) -> Member {
        let mut member = member.clone();
        if self.lags {
            let relevant = self.relevant_at(member.config);
            let seen = self.snapshot(relevant.places(&member), before);
            member.log.moments.push(Atom::star(vec![seen]));
        }
        self.normal(member, &[], now)
    }

    fn relevant_at(&self, config: ConfigId) -> Rc<Relevant> {
        match self.config(config).at {
            At::Loc(at) => self.relevant[at.index()].clone(),
            At::Failed(_) => self.relevant[self.process.exit.index()].clone(),
        }
    }

    /// What is seen of memory where only some places are looked at.
    fn snapshot(&mut self, relevant: &[bool], memory: &dyn Fn(PlaceId) -> Value) -> SnapshotId {
        let values = self.loaded.iter().map(|&place| memory(place));
        let mut values: Box<[Value]> = values.collect();
        forget(&mut values, relevant);
        SnapshotId(self.snapshots.insert_full(values).0 as u32)
    }

    /// The same member in its normal form, when memory is as given with some places
    /// overwritten: without what is not looked at any more, and without moments that are no
    /// different from the next.
    pub fn normal(
        &mut self,
        mut member: Member,
        writes: &[(PlaceId, Value)],
        memory: &dyn Fn(PlaceId) -> Value,
    ) -> Member {
        if member.log.is_empty() {
            return member;
        }
        let relevant = self.relevant_at(member.config);
        member.log.behind_store &= relevant.now.contains(&true);
        let places = relevant.places(&member);
        if !places.contains(&true) {
            member.log = Log::default();
            return member;
        }
        let mut moments = self.rewritten(&member.log.moments, |values| forget(values, places));
        let present = self.snapshot(places, &|place| {
            let written = writes.iter().find(|(other, _)| *other == place);
            written.map_or_else(|| memory(place), |(_, value)| *value)
        });
        moments.trim(&[present]);
        moments.widen(self.widening);
        member.log.moments = moments;
        member
    }
}
