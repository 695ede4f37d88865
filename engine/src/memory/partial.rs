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
//!
//! Pending store-store and store-load fences cut the buffers into segments, each of which
//! is an ⟨l, S, H⟩ of its own. To stay finite, at most max(1, k) cuts are kept, the newest
//! ones. Why that is sound, and why a larger k is not coarser: let the *finer* side be
//! exact buffers (every cut, H unbounded) or those of a larger k, and let both sides take
//! the same steps. Then
//!
//! 1. the coarser side's cuts are the finer side's newest ones, each with some of the
//!    fences that the finer one has there; a segment of the coarser side is therefore a run
//!    of neighbouring segments of the finer side, and empty exactly if they all are;
//! 2. in such a run, H is a prefix of what the finer side knows to be in order from the
//!    run's beginning (per place under PSO), S holds exactly the stores behind it, and l is
//!    the newest of them.
//!
//! A store goes to the newest segment on either side. A fence adds a cut at the end of
//! both. If the coarser side then forgets its oldest cut, (1) still holds; if the finer
//! side does, it had at least as many cuts as the coarser side may have, so the coarser one
//! forgets the same cut or never had it. Merging two segments appends the newer one to the
//! older one, store by store, which is (2). A store that may leave on the finer side may
//! leave on the coarser one: fewer cuts lie before it, with fewer fences, and within its
//! segment it is either the oldest of H or in an S without a head before it; it stays in S
//! exactly if the finer side holds another copy behind H. When a segment runs empty it does
//! so on both sides, and the two cuts around it become one. Loads and atomics wait only for
//! cuts and for stores to their place; they find l or the newest of H, the same value on
//! both sides.
//!
//! The other rules keep the same cuts, heads and empty sets; only the contents of S differ:
//! PD may hold more, and without l a load may find any store of S.

use super::buffers::Segment;
use super::{Buffers, Entry, Loaded, Marker, Memory, Order, Stored, UnorderedStores};
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
        self.append(buffers.newest_segment(), entry);
        Stored::Pending
    }

    fn load(&self, buffers: &Buffers, place: PlaceId) -> Loaded {
        let Some(segment) = buffers.newest_segment_with(place) else {
            return Loaded::FromMemory;
        };
        let Some(stores) = segment.unordered_at(place) else {
            let newest = segment.newest_in_head(place);
            return Loaded::Pending(newest.map(|entry| entry.value).into_iter().collect());
        };
        Loaded::Pending(match stores.latest {
            Some(latest) => vec![latest.value],
            None => {
                let mut values: Vec<_> = stores.set.iter().map(|entry| entry.value).collect();
                values.sort();
                values.dedup();
                values
            }
        })
    }

    fn flushes(&self, buffers: &Buffers, out: &mut Vec<(Entry, Buffers)>) {
        buffers.flush_heads(self.order, out);
        for (index, segment) in buffers.segments.iter().enumerate() {
            for (at, stores) in segment.unordered.iter().enumerate() {
                let behind_head = match self.order {
                    Order::Tso => !segment.head.is_empty(),
                    Order::Pso => segment.newest_in_head(stores.place).is_some(),
                };
                if !behind_head && buffers.may_leave(self.order, index, stores.place) {
                    self.flush_unordered(buffers, index, at, out);
                }
            }
        }
    }

    /// At most `most_markers` fences are pending. One more
    /// finds the two oldest segments merged, which forgets the fence between them: the order
    /// of their stores and what loads were waiting for.
    fn mark(&self, buffers: &mut Buffers, marker: Marker) {
        let newest_is_empty = buffers.segments.last().is_some_and(Segment::is_empty);
        if buffers.segments.len() > self.most_markers() && !newest_is_empty {
            let newer = buffers.segments.remove(1);
            let older = &mut buffers.segments[0];
            newer
                .head
                .into_iter()
                .for_each(|entry| self.append(older, entry));
            for stores in newer.unordered {
                for entry in &stores.set {
                    older.add_unordered(*entry, stores.latest);
                }
            }
        }
        buffers.mark(marker);
    }
}

impl PartialCoherence {
    /// How many fences may be pending at once. It grows with k, so that refinement comes to
    /// tell apart all segments of buffers whose length is bounded.
    fn most_markers(&self) -> usize {
        self.k.max(1)
    }

    /// Appends to the head while everything pending is there and it has room, otherwise
    /// to the set of the place.
    fn append(&self, segment: &mut Segment, entry: Entry) {
        let (known, pending) = match self.order {
            Order::Tso => (segment.unordered.is_empty(), segment.head.len()),
            Order::Pso => {
                let own = segment
                    .head
                    .iter()
                    .filter(|other| other.place == entry.place);
                (segment.unordered_at(entry.place).is_none(), own.count())
            }
        };
        if known && pending < self.k {
            segment.push(self.order, entry);
        } else {
            segment.add_unordered(
                entry,
                Some(entry).filter(|_| self.rule != SetRule::Unordered),
            );
        }
    }

    /// The ways in which one of the unordered stores to a place can leave.
    fn flush_unordered(
        &self,
        buffers: &Buffers,
        index: usize,
        at: usize,
        out: &mut Vec<(Entry, Buffers)>,
    ) {
        let UnorderedStores { latest, set, .. } = &buffers.segments[index].unordered[at];
        let without = |gone: &dyn Fn(&Entry) -> bool| {
            let mut after = buffers.clone();
            after.segments[index].unordered[at]
                .set
                .retain(|entry| !gone(entry));
            if after.segments[index].unordered[at].set.is_empty() {
                after.segments[index].unordered.remove(at);
                after.canonicalise();
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
