//! The log of a process: what a load finds in it, and what becomes of it when memory changes.

use super::member::{ConfigId, Log, Member, SnapshotId};
use super::relevant::{Relevant, forget};
use super::rules::Rules;
use super::word::{Atom, Word};
use crate::ids::ids;
use crate::memory::step::At;
use crate::program::{PlaceId, Value};
use crate::space::sets::Interned;
use ahash::AHashMap;
use std::rc::Rc;

ids!(
    /// The moments of a log.
    WordId
);

/// Which places are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct PlacesId(usize);

/// Normal forms of words that were worked out before. Most members of most sets have one of few
/// words, whatever else they are doing.
#[derive(Default)]
pub struct NormalForms {
    words: Interned<Word<SnapshotId>>,
    places: Interned<Box<[bool]>>,
    /// By the word, the places that are looked at, and the present.
    known: AHashMap<(WordId, PlacesId, SnapshotId), WordId>,
    /// Memory that was taken since somebody asked.
    pub new_bytes: u64,
}

impl NormalForms {
    fn word_id(&mut self, word: &Word<SnapshotId>) -> WordId {
        let known = self.words.get_index_of(word);
        WordId(known.unwrap_or_else(|| {
            let atoms = word.atoms().iter();
            let letters: usize = atoms.map(|atom| atom.letters().len()).sum();
            self.new_bytes += (64 + 40 * word.atoms().len() + 4 * letters) as u64;
            self.words.insert_full(word.clone()).0
        }) as u32)
    }

    fn places_id(&mut self, places: &[bool]) -> PlacesId {
        let known = self.places.get_index_of(places);
        PlacesId(known.unwrap_or_else(|| self.places.insert_full(places.into()).0))
    }
}

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
        let present = self.snapshot(places, &|place| {
            let written = writes.iter().find(|(other, _)| *other == place);
            written.map_or_else(|| memory(place), |(_, value)| *value)
        });
        member.log.moments = self.normal_moments(&member.log.moments, places, present);
        member
    }

    /// The normal form of moments when only some places are looked at, before the present.
    fn normal_moments(
        &mut self,
        moments: &Word<SnapshotId>,
        places: &[bool],
        present: SnapshotId,
    ) -> Word<SnapshotId> {
        let forms = &mut self.normal_forms;
        let key = (forms.word_id(moments), forms.places_id(places), present);
        if let Some(known) = forms.known.get(&key) {
            return forms.words[known.index()].clone();
        }
        let mut normal = self.rewritten(moments, |values| forget(values, places));
        normal.trim(&[present]);
        normal.widen(self.widening);
        let forms = &mut self.normal_forms;
        let id = forms.word_id(&normal);
        forms.known.insert(key, id);
        forms.new_bytes += 32;
        normal
    }
}
