//! Partial coherence: a finite abstraction of unbounded store buffers.
//!
//! After Kuperstein, Vechev and Yahav (PLDI 2011), section 4. A buffer is ⟨l, S, H⟩: the
//! latest store, an unordered set, and the at most k oldest stores in order. The latest
//! store lets a process read its own writes and makes a full drain leave the right value
//! in memory; the head keeps short buffers exact. Every concrete buffer is covered: its
//! oldest stores are H, the values behind them are S, its last one is l.
//!
//! Where we differ from the paper: l is an *entry*, label included. With values only, two
//! stores of the same value by different instructions could never drain ({⟨a,1⟩, ⟨b,1⟩}
//! with l = 1 allows neither to leave last), and real errors would be missed. Under TSO
//! the head is common to the process and S and l are kept per place.

use super::{Buffers, Entry, Loaded, Marker, Memory, Order, Rest, Stored};
use crate::program::PlaceId;

/// Buffers ⟨l, S, H⟩.
pub struct PartialCoherence {
    pub order: Order,
    /// The length of the ordered head.
    pub k: usize,
    pub rule: SetRule,
}

/// What is known of the unordered stores, and so how they leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SetRule {
    /// S alone, without l: a load may find any of them, and each may leave for good.
    Unordered,
    /// Fully disjunctive: S is exactly the set of pending stores. One that leaves may have
    /// copies behind it or not; the latest leaves for good only as the last of all.
    FullyDisjunctive,
    /// Partially disjunctive: S contains the pending stores and perhaps more. Either a
    /// store leaves and some remain, or the latest leaves and none do.
    PartiallyDisjunctive,
}

impl Memory for PartialCoherence {
    fn order(&self) -> Order {
        self.order
    }

    fn merges(&self) -> bool {
        self.rule == SetRule::PartiallyDisjunctive
    }

    fn store(&self, buffers: &mut Buffers, entry: Entry) -> Stored {
        self.append(buffers.newest(), entry);
        Stored::Pending
    }

    fn load(&self, buffers: &Buffers, place: PlaceId) -> Loaded {
        let Some(part) = buffers.newest_with(place) else {
            return Loaded::FromMemory;
        };
        let Some(rest) = part.rest(place) else {
            let newest = part.newest_in_head(place);
            return Loaded::Pending(newest.map(|entry| entry.value).into_iter().collect());
        };
        Loaded::Pending(match rest.latest {
            Some(latest) => vec![latest.value],
            None => {
                let mut values: Vec<_> = rest.set.iter().map(|entry| entry.value).collect();
                values.sort();
                values.dedup();
                values
            }
        })
    }

    fn flushes(&self, buffers: &Buffers, out: &mut Vec<(Entry, Buffers)>) {
        buffers.flush_heads(self.order, out);
        for (index, part) in buffers.parts.iter().enumerate() {
            for (at, rest) in part.rest.iter().enumerate() {
                let behind_head = match self.order {
                    Order::Tso => !part.head.is_empty(),
                    Order::Pso => part.newest_in_head(rest.place).is_some(),
                };
                if !behind_head && buffers.may_leave(self.order, index, rest.place) {
                    self.flush_rest(buffers, index, at, out);
                }
            }
        }
    }

    /// At most one fence is pending: a second one finds the parts before it merged, which
    /// forgets the order between them and what loads were waiting for.
    fn mark(&self, buffers: &mut Buffers, marker: Marker) {
        if buffers.parts.len() == 2 && !buffers.parts[1].is_empty() {
            let newer = buffers.parts.remove(1);
            let older = &mut buffers.parts[0];
            newer
                .head
                .into_iter()
                .for_each(|entry| self.append(older, entry));
            for rest in newer.rest {
                for entry in &rest.set {
                    older.scatter(*entry, rest.latest);
                }
            }
        }
        buffers.mark(marker);
    }
}

impl PartialCoherence {
    /// Appends to the head while everything pending is there and it has room, otherwise
    /// to the set of the place.
    fn append(&self, part: &mut super::buffers::Part, entry: Entry) {
        let (known, pending) = match self.order {
            Order::Tso => (part.rest.is_empty(), part.head.len()),
            Order::Pso => {
                let own = part.head.iter().filter(|other| other.place == entry.place);
                (part.rest(entry.place).is_none(), own.count())
            }
        };
        if known && pending < self.k {
            part.push(self.order, entry);
        } else {
            part.scatter(
                entry,
                Some(entry).filter(|_| self.rule != SetRule::Unordered),
            );
        }
    }

    /// The ways in which one of the unordered stores to a place can leave.
    fn flush_rest(
        &self,
        buffers: &Buffers,
        index: usize,
        at: usize,
        out: &mut Vec<(Entry, Buffers)>,
    ) {
        let Rest { latest, set, .. } = &buffers.parts[index].rest[at];
        let without = |gone: &dyn Fn(&Entry) -> bool| {
            let mut after = buffers.clone();
            after.parts[index].rest[at].set.retain(|entry| !gone(entry));
            if after.parts[index].rest[at].set.is_empty() {
                after.parts[index].rest.remove(at);
                after.tidy();
            }
            after
        };
        for entry in set {
            out.push((*entry, buffers.clone()));
            let last = match self.rule {
                SetRule::Unordered => true,
                SetRule::FullyDisjunctive => set.len() == 1 || Some(*entry) != *latest,
                SetRule::PartiallyDisjunctive => false,
            };
            if last {
                out.push((*entry, without(&|other| other == entry)));
            }
        }
        if let (SetRule::PartiallyDisjunctive, Some(latest)) = (self.rule, latest) {
            out.push((*latest, without(&|_| true)));
        }
    }
}
