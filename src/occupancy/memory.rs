//! Exact buffers whose queues have bounds of their own.

use crate::memory::{Buffers, Entry, Exact, Loaded, Marker, Memory, Order, Stored};
use crate::program::PlaceId;
use std::sync::atomic::{AtomicBool, Ordering};

/// The bounds of one process's queues, and whether a store had to wait in each. Under TSO there
/// is one queue; it stands for all places.
pub struct Bounds {
    queues: Vec<(usize, AtomicBool)>,
    common: bool,
}

impl Bounds {
    /// Bounds by place, or one for all. A place without a bound is never stored to.
    pub fn new(places: usize, own: impl Iterator<Item = (Option<PlaceId>, usize)>) -> Bounds {
        let mut queues: Vec<_> = (0..places.max(1))
            .map(|_| (0, AtomicBool::new(false)))
            .collect();
        let mut common = false;
        for (place, bound) in own {
            common |= place.is_none();
            queues[place.map_or(0, PlaceId::index)].0 = bound;
        }
        Bounds { queues, common }
    }

    /// Some store to the queue found no room.
    pub fn waited(&self, place: Option<PlaceId>) -> bool {
        let at = place.map_or(0, PlaceId::index);
        self.queues[at].1.load(Ordering::Relaxed)
    }

    /// Whether there is room for a store; if not, it waits.
    pub fn has_room(&self, order: Order, buffers: &Buffers, place: PlaceId) -> bool {
        let at = if self.common { 0 } else { place.index() };
        let (bound, waited) = &self.queues[at];
        let room = length(order, buffers, place) < *bound;
        if !room {
            waited.store(true, Ordering::Relaxed);
        }
        room
    }
}

/// The length of the queue that a store to `place` goes to.
fn length(order: Order, buffers: &Buffers, place: PlaceId) -> usize {
    match order {
        Order::Tso => buffers.ordered().count(),
        Order::Pso => buffers.ordered().filter(|e| e.place == place).count(),
    }
}

/// First in, first out; as long as the rules about bounds let them be.
pub fn unbounded(order: Order) -> Exact {
    let bound = usize::MAX;
    Exact { order, bound }
}

/// Exact buffers with a bound for each queue.
pub struct Bounded {
    pub order: Order,
    pub bounds: std::sync::Arc<Bounds>,
}

impl Memory for Bounded {
    fn order(&self) -> Order {
        self.order
    }

    fn store(&self, buffers: &mut Buffers, entry: Entry) -> Stored {
        match self.bounds.has_room(self.order, buffers, entry.place) {
            true => unbounded(self.order).store(buffers, entry),
            false => Stored::NoRoom,
        }
    }

    fn load(&self, buffers: &Buffers, place: PlaceId) -> Loaded {
        unbounded(self.order).load(buffers, place)
    }

    fn flushes(&self, buffers: &Buffers, out: &mut Vec<(Entry, Buffers)>) {
        unbounded(self.order).flushes(buffers, out);
    }

    fn mark(&self, buffers: &mut Buffers, marker: Marker) {
        unbounded(self.order).mark(buffers, marker);
    }
}
