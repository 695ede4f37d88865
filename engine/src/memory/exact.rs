//! Exact store buffers of bounded length: TSO and PSO.

use super::{Buffers, Entry, Loaded, Marker, Memory, Order, Stored};
use crate::program::PlaceId;

/// FIFO buffers that hold at most `bound` stores each. A store into a full buffer waits,
/// so this is an under-approximation unless no store ever has to.
pub struct Exact {
    pub order: Order,
    pub bound: usize,
}

impl Memory for Exact {
    fn order(&self) -> Order {
        self.order
    }

    fn store(&self, buffers: &mut Buffers, entry: Entry) -> Stored {
        let pending = match self.order {
            Order::Tso => buffers.ordered().count(),
            Order::Pso => buffers.ordered().filter(|e| e.place == entry.place).count(),
        };
        if pending >= self.bound {
            return Stored::NoRoom;
        }
        buffers.newest_segment().push(self.order, entry);
        Stored::Pending
    }

    fn load(&self, buffers: &Buffers, place: PlaceId) -> Loaded {
        let newest = buffers.newest_segment_with(place);
        match newest.and_then(|segment| segment.newest_in_head(place)) {
            Some(entry) => Loaded::Pending(vec![entry.value]),
            None => Loaded::FromMemory,
        }
    }

    fn flushes(&self, buffers: &Buffers, out: &mut Vec<(Entry, Buffers)>) {
        buffers.flush_heads(self.order, out);
    }

    fn mark(&self, buffers: &mut Buffers, marker: Marker) {
        buffers.mark(marker);
    }
}
