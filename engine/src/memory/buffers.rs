//! The pending stores of one process, in canonical form.
//!
//! One data type serves all models. The buffers are a sequence of *segments* separated by
//! pending store-store and store-load fences; without such fences there is one segment. A
//! segment holds stores whose order is known (its head) and, in the abstract models, sets of
//! stores per place whose order is not.

use super::Order;
use crate::program::{Label, PlaceId, Value};
use serde::{Deserialize, Serialize};

/// A pending store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Entry {
    pub place: PlaceId,
    pub value: Value,
    /// The store instruction, where it matters.
    pub label: Option<Label>,
}

/// All pending stores of one process. No segments: nothing is pending.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Buffers {
    pub(super) segments: Vec<Segment>,
}

/// The stores between two pending fences. Only the last segment may be empty, and only if a
/// fence stands before it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Segment {
    /// The fences before it; none before the first segment.
    pub marker: Marker,
    /// Stores in order; under PSO grouped by place, since only the order per place counts.
    pub head: Vec<Entry>,
    /// Stores behind the head whose order is not known, sorted by place.
    pub unordered: Vec<UnorderedStores>,
}

/// Stores to one place whose order and number are not known.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct UnorderedStores {
    pub place: PlaceId,
    /// The latest of them, if the model remembers it.
    pub latest: Option<Entry>,
    /// Sorted, and not empty except in a skeleton.
    pub set: Vec<Entry>,
}

/// Where an entry stands among the stores to its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Spot {
    /// In order, with so many older ones before it.
    Ordered(usize),
    /// In the set of this segment.
    Set(usize),
    /// The latest of this segment.
    Latest(usize),
}

/// Pending fences that do not block the process.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct Marker {
    /// Stores behind it reach memory only after all stores before it.
    pub store_store: bool,
    /// Loads wait until all stores before it have reached memory.
    pub store_load: bool,
}

impl Buffers {
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// A store to `place` is pending.
    pub fn holds(&self, place: PlaceId) -> bool {
        self.segments.iter().any(|segment| segment.holds(place))
    }

    /// A load has to wait for a store-load fence.
    pub fn delay_loads(&self) -> bool {
        self.segments
            .iter()
            .any(|segment| segment.marker.store_load)
    }

    /// A store that goes to memory at once has to wait for a store-store fence.
    pub fn delay_stores(&self) -> bool {
        self.segments
            .iter()
            .any(|segment| segment.marker.store_store)
    }

    /// All pending stores with a known order, oldest segment first.
    pub fn ordered(&self) -> impl Iterator<Item = &Entry> {
        self.segments.iter().flat_map(|segment| &segment.head)
    }

    /// The segments, oldest first.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The buffers without the contents of their sets: what states have in common that a
    /// partially disjunctive model merges. That a set is not empty remains visible.
    pub fn skeleton(&self) -> Buffers {
        let mut skeleton = self.clone();
        for segment in &mut skeleton.segments {
            for stores in &mut segment.unordered {
                stores.set.clear();
            }
        }
        skeleton
    }

    /// Unites the sets of two buffers with the same skeleton.
    pub fn join(&self, other: &Buffers) -> Buffers {
        let mut joined = self.clone();
        let theirs = other.segments.iter().flat_map(|segment| &segment.unordered);
        let own = joined.segments.iter_mut();
        let own = own.flat_map(|segment| &mut segment.unordered);
        for (own, theirs) in own.zip(theirs) {
            theirs.set.iter().for_each(|entry| own.insert(*entry));
        }
        joined
    }

    /// The same stores to other places, with other values.
    pub fn renamed(
        &self,
        order: Order,
        rename: &dyn Fn(PlaceId, Value) -> (PlaceId, Value),
    ) -> Buffers {
        let entry = |entry: &Entry| {
            let (place, value) = rename(entry.place, entry.value);
            Entry {
                place,
                value,
                ..*entry
            }
        };
        let mut renamed = self.clone();
        for segment in &mut renamed.segments {
            segment
                .head
                .iter_mut()
                .for_each(|store| *store = entry(store));
            if order == Order::Pso {
                segment.head.sort_by_key(|store| store.place);
            }
            for stores in &mut segment.unordered {
                stores.latest = stores.latest.as_ref().map(entry);
                stores
                    .set
                    .iter_mut()
                    .for_each(|store| *store = entry(store));
                stores.set.sort();
                stores.place = stores.set[0].place;
            }
            segment.unordered.sort_by_key(|stores| stores.place);
        }
        renamed
    }

    /// The same with other values, given for each entry by where it stands.
    pub fn with_values(&self, value: &mut dyn FnMut(Spot, &Entry) -> Value) -> Buffers {
        let mut changed = self.clone();
        let mut seen: Vec<PlaceId> = Vec::new();
        for (index, segment) in changed.segments.iter_mut().enumerate() {
            for entry in &mut segment.head {
                let older = seen.iter().filter(|place| **place == entry.place).count();
                seen.push(entry.place);
                entry.value = value(Spot::Ordered(older), entry);
            }
            for stores in &mut segment.unordered {
                for entry in &mut stores.set {
                    entry.value = value(Spot::Set(index), entry);
                }
                stores.set.sort();
                stores.set.dedup();
                if let Some(latest) = &mut stores.latest {
                    latest.value = value(Spot::Latest(index), latest);
                }
            }
        }
        changed
    }

    /// The number of entries that are kept.
    pub fn size(&self) -> usize {
        let unordered = self.segments.iter().flat_map(|segment| &segment.unordered);
        let unordered = unordered.map(|stores| stores.set.len() + 1);
        self.ordered().count() + unordered.sum::<usize>()
    }

    /// Roughly the memory that they take, in bytes.
    pub fn bytes(&self) -> usize {
        const ALLOCATED: usize = 16;
        let stores = |stores: &UnorderedStores| {
            size_of::<UnorderedStores>() + ALLOCATED + stores.set.len() * size_of::<Entry>()
        };
        let segment = |segment: &Segment| {
            let unordered = segment.unordered.iter().map(stores).sum::<usize>();
            size_of::<Segment>() + 3 * ALLOCATED + size_of_val(&segment.head[..]) + unordered
        };
        self.segments.iter().map(segment).sum()
    }

    /// The segment that new stores go to.
    pub(super) fn newest_segment(&mut self) -> &mut Segment {
        if self.segments.is_empty() {
            self.segments.push(Segment::default());
        }
        self.segments.last_mut().expect("there is a segment")
    }

    /// The newest segment that holds a store to `place`.
    pub(super) fn newest_segment_with(&self, place: PlaceId) -> Option<&Segment> {
        self.segments
            .iter()
            .rev()
            .find(|segment| segment.holds(place))
    }

    /// Puts a fence behind everything that is pending.
    pub(super) fn mark(&mut self, marker: Marker) {
        match self.segments.last_mut() {
            None => {}
            Some(last) if last.is_empty() => last.marker.add(marker),
            Some(_) => self.segments.push(Segment {
                marker,
                ..Segment::default()
            }),
        }
    }

    /// Whether a store to `place` in segment `index` may reach memory before everything
    /// that is pending elsewhere, judged by the other segments alone.
    pub(super) fn may_leave(&self, order: Order, index: usize, place: PlaceId) -> bool {
        match order {
            Order::Tso => index == 0,
            Order::Pso => {
                let (older, newer) = self.segments.split_at(index);
                let own = newer.first().filter(|_| index > 0);
                let mut crossed = older.iter().skip(1).chain(own);
                !crossed.any(|segment| segment.marker.store_store)
                    && !older.iter().any(|segment| segment.holds(place))
            }
        }
    }

    /// Adds every way in which the oldest store of some queue can reach memory now.
    pub(super) fn flush_heads(&self, order: Order, out: &mut Vec<(Entry, Buffers)>) {
        for (index, segment) in self.segments.iter().enumerate() {
            for at in segment.oldest(order) {
                let entry = segment.head[at];
                if self.may_leave(order, index, entry.place) {
                    let mut after = self.clone();
                    after.segments[index].head.remove(at);
                    after.canonicalise();
                    out.push((entry, after));
                }
            }
        }
    }

    /// Restores the canonical form after stores have left.
    pub(super) fn canonicalise(&mut self) {
        let mut index = 0;
        while index < self.segments.len() {
            let last = index + 1 == self.segments.len();
            if self.segments[index].is_empty() && (index == 0 || !last) {
                let gone = self.segments.remove(index);
                if let Some(next) = self.segments.get_mut(index) {
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

impl Segment {
    pub(super) fn is_empty(&self) -> bool {
        self.head.is_empty() && self.unordered.is_empty()
    }

    pub(super) fn holds(&self, place: PlaceId) -> bool {
        self.head.iter().any(|entry| entry.place == place) || self.unordered_at(place).is_some()
    }

    /// The unordered stores to a place.
    pub(super) fn unordered_at(&self, place: PlaceId) -> Option<&UnorderedStores> {
        self.unordered.iter().find(|stores| stores.place == place)
    }

    /// Adds a store to the unordered ones of its place, as the latest if that is recorded.
    pub(super) fn add_unordered(&mut self, entry: Entry, latest: Option<Entry>) {
        let all = &mut self.unordered;
        let at = all.partition_point(|stores| stores.place < entry.place);
        if all.get(at).is_none_or(|stores| stores.place != entry.place) {
            let none = UnorderedStores {
                place: entry.place,
                latest: None,
                set: Vec::new(),
            };
            all.insert(at, none);
        }
        all[at].latest = latest;
        all[at].insert(entry);
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

impl UnorderedStores {
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
