//! Sequential consistency: a store is in memory at once.

use super::{Buffers, Entry, Loaded, Marker, Memory, Order, Stored};
use crate::program::PlaceId;

/// No buffers at all.
pub struct Sc;

impl Memory for Sc {
    fn order(&self) -> Order {
        Order::Tso
    }

    fn store(&self, _: &mut Buffers, _: Entry) -> Stored {
        Stored::InMemory
    }

    fn load(&self, _: &Buffers, _: PlaceId) -> Loaded {
        Loaded::FromMemory
    }

    fn flushes(&self, _: &Buffers, _: &mut Vec<(Entry, Buffers)>) {}

    fn mark(&self, _: &mut Buffers, _: Marker) {}
}
