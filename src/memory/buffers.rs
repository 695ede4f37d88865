//! The pending stores of one process, in canonical form.
//!
//! One data type serves all models. The buffers are a sequence of *parts* separated by
//! pending store-store and store-load fences; without such fences there is one part. A
//! part holds stores whose order is known (its head) and, in the abstract models, sets of
//! stores per place whose order is not.

use super::Order;
use crate::program::{Label, PlaceId, Value};

/// A pending store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Entry {
    pub place: PlaceId,
    pub value: Value,
    /// The store instruction, where it matters.
    pub label: Option<Label>,
}

/// All pending stores of one process. No parts: nothing is pending.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Buffers {
    pub(super) parts: Vec<Part>,
}

/// The stores between two pending fences. Only the last part may be empty, and only if a
/// fence stands before it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Part {
    /// The fences before it; none before the first part.
    pub(super) marker: Marker,
    /// Stores in order; under PSO grouped by place, since only the order per place counts.
    pub(super) head: Vec<Entry>,
    /// Stores behind the head whose order is not known, sorted by place.
    pub(super) rest: Vec<Rest>,
}

/// Stores to one place whose order and number are not known.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Rest {
    pub place: PlaceId,
    /// The latest of them, if the model remembers it.
    pub latest: Option<Entry>,
    /// Sorted, and not empty except in a skeleton.
    pub set: Vec<Entry>,
}

/// Pending fences that do not block the process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Marker {
    /// Stores behind it reach memory only after all stores before it.
    pub store_store: bool,
    /// Loads wait until all stores before it have reached memory.
    pub store_load: bool,
}

impl Buffers {
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// A store to `place` is pending.
    pub fn holds(&self, place: PlaceId) -> bool {
        self.parts.iter().any(|part| part.holds(place))
    }

    /// A load has to wait for a store-load fence.
    pub fn delay_loads(&self) -> bool {
        self.parts.iter().any(|part| part.marker.store_load)
    }

    /// A store that goes to memory at once has to wait for a store-store fence.
    pub fn delay_stores(&self) -> bool {
        self.parts.iter().any(|part| part.marker.store_store)
    }

    /// All pending stores with a known order, oldest part first.
    pub fn ordered(&self) -> impl Iterator<Item = &Entry> {
        self.parts.iter().flat_map(|part| &part.head)
    }

    /// The parts, oldest first: the fences before each, its stores in order, and those
    /// behind them.
    pub fn parts(&self) -> impl Iterator<Item = (Marker, &[Entry], &[Rest])> {
        let parts = self.parts.iter();
        parts.map(|part| (part.marker, &part.head[..], &part.rest[..]))
    }

    /// The buffers without the contents of their sets: what states have in common that a
    /// partially disjunctive model merges. That a set is not empty remains visible.
    pub fn skeleton(&self) -> Buffers {
        let mut skeleton = self.clone();
        for rest in skeleton.parts.iter_mut().flat_map(|part| &mut part.rest) {
            rest.set.clear();
        }
        skeleton
    }

    /// Unites the sets of two buffers with the same skeleton.
    pub fn join(&self, other: &Buffers) -> Buffers {
        let mut joined = self.clone();
        let theirs = other.parts.iter().flat_map(|part| &part.rest);
        let own = joined.parts.iter_mut().flat_map(|part| &mut part.rest);
        for (own, theirs) in own.zip(theirs) {
            theirs.set.iter().for_each(|entry| own.insert(*entry));
        }
        joined
    }

    /// The number of entries that are kept.
    pub fn size(&self) -> usize {
        let rest = self.parts.iter().flat_map(|part| &part.rest);
        self.ordered().count() + rest.map(|rest| rest.set.len() + 1).sum::<usize>()
    }

    /// The part that new stores go to.
    pub(super) fn newest(&mut self) -> &mut Part {
        if self.parts.is_empty() {
            self.parts.push(Part::default());
        }
        self.parts.last_mut().expect("there is a part")
    }

    /// The newest part that holds a store to `place`.
    pub(super) fn newest_with(&self, place: PlaceId) -> Option<&Part> {
        self.parts.iter().rev().find(|part| part.holds(place))
    }

    /// Puts a fence behind everything that is pending.
    pub(super) fn mark(&mut self, marker: Marker) {
        match self.parts.last_mut() {
            None => {}
            Some(last) if last.is_empty() => last.marker.add(marker),
            Some(_) => self.parts.push(Part {
                marker,
                ..Part::default()
            }),
        }
    }

    /// Whether a store to `place` in part `index` may reach memory before everything
    /// that is pending elsewhere, judged by the other parts alone.
    pub(super) fn may_leave(&self, order: Order, index: usize, place: PlaceId) -> bool {
        match order {
            Order::Tso => index == 0,
            Order::Pso => {
                let (older, rest) = self.parts.split_at(index);
                let mut crossed = older
                    .iter()
                    .skip(1)
                    .chain(rest.first().filter(|_| index > 0));
                !crossed.any(|part| part.marker.store_store)
                    && !older.iter().any(|part| part.holds(place))
            }
        }
    }

    /// Adds every way in which the oldest store of some queue can reach memory now.
    pub(super) fn flush_heads(&self, order: Order, out: &mut Vec<(Entry, Buffers)>) {
        for (index, part) in self.parts.iter().enumerate() {
            for at in part.oldest(order) {
                let entry = part.head[at];
                if self.may_leave(order, index, entry.place) {
                    let mut after = self.clone();
                    after.parts[index].head.remove(at);
                    after.tidy();
                    out.push((entry, after));
                }
            }
        }
    }

    /// Restores the canonical form after stores have left.
    pub(super) fn tidy(&mut self) {
        let mut index = 0;
        while index < self.parts.len() {
            let last = index + 1 == self.parts.len();
            if self.parts[index].is_empty() && (index == 0 || !last) {
                let gone = self.parts.remove(index);
                if let Some(next) = self.parts.get_mut(index) {
                    next.marker = match index {
                        0 => Marker::default(),
                        _ => next.marker.with(gone.marker),
                    };
                }
            } else {
                index += 1;
            }
        }
    }
}

impl Part {
    pub(super) fn is_empty(&self) -> bool {
        self.head.is_empty() && self.rest.is_empty()
    }

    pub(super) fn holds(&self, place: PlaceId) -> bool {
        self.head.iter().any(|entry| entry.place == place) || self.rest(place).is_some()
    }

    /// The unordered stores to a place.
    pub(super) fn rest(&self, place: PlaceId) -> Option<&Rest> {
        self.rest.iter().find(|rest| rest.place == place)
    }

    /// Adds a store to the unordered ones of its place, as the latest if that is recorded.
    pub(super) fn scatter(&mut self, entry: Entry, latest: Option<Entry>) {
        let at = self.rest.partition_point(|rest| rest.place < entry.place);
        if self
            .rest
            .get(at)
            .is_none_or(|rest| rest.place != entry.place)
        {
            self.rest.insert(
                at,
                Rest {
                    place: entry.place,
                    latest: None,
                    set: Vec::new(),
                },
            );
        }
        self.rest[at].latest = latest;
        self.rest[at].insert(entry);
    }

    /// The newest store to a place among the ordered ones.
    pub(super) fn newest_in_head(&self, place: PlaceId) -> Option<Entry> {
        let entries = self.head.iter().rev();
        entries.copied().find(|entry| entry.place == place)
    }

    /// Appends a store to the ordered stores.
    pub(super) fn push(&mut self, order: Order, entry: Entry) {
        let at = match order {
            Order::Tso => self.head.len(),
            Order::Pso => self
                .head
                .partition_point(|other| other.place <= entry.place),
        };
        self.head.insert(at, entry);
    }

    /// The positions in the head of the stores that are oldest in their queue.
    pub(super) fn oldest(&self, order: Order) -> impl Iterator<Item = usize> {
        let head = &self.head;
        (0..head.len()).filter(move |&at| match order {
            Order::Tso => at == 0,
            Order::Pso => at == 0 || head[at - 1].place != head[at].place,
        })
    }
}

impl Rest {
    fn insert(&mut self, entry: Entry) {
        if let Err(at) = self.set.binary_search(&entry) {
            self.set.insert(at, entry);
        }
    }
}

impl Marker {
    pub const STORE_STORE: Marker = Marker {
        store_store: true,
        store_load: false,
    };
    pub const STORE_LOAD: Marker = Marker {
        store_store: false,
        store_load: true,
    };

    fn with(self, other: Marker) -> Marker {
        Marker {
            store_store: self.store_store || other.store_store,
            store_load: self.store_load || other.store_load,
        }
    }

    fn add(&mut self, other: Marker) {
        *self = self.with(other);
    }
}
