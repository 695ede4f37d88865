//! The step relation: what one process can do, given its configuration and memory.
//!
//! A process's steps depend only on its own control, locals and store buffers, and on the
//! values in shared memory. A memory model is therefore a description of what happens to
//! the buffers of a *single* process: the [`Memory`] trait. [`step`] combines it with the
//! program's automata.

pub mod buffers;
mod exact;
mod execute;
mod partial;
mod sc;
mod semantics;
pub mod step;

pub use buffers::{Buffers, Entry, Marker, Segment, Spot, UnorderedStores};
pub use exact::Exact;
pub use partial::{PartialCoherence, SetRule};
pub use sc::Sc;
pub use semantics::{Abstraction, AbstractionKind, Atomics, Model, Semantics};

use crate::program::{PlaceId, Value};

/// In which order the pending stores of one process reach memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// One queue per process.
    Tso,
    /// One queue per process and place.
    Pso,
}

/// What became of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// It waits in the buffers.
    Pending,
    /// It has reached memory.
    InMemory,
    /// There is no room; the process has to wait for a flush.
    NoRoom,
}

/// What a load finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loaded {
    /// Nothing pending: the value is the one in memory.
    FromMemory,
    /// One of these values, from the own buffers.
    Pending(Vec<Value>),
}

/// The buffers of one process under some memory model. All buffers are kept in canonical
/// form: equal meaning, equal data.
pub trait Memory: Send + Sync {
    fn order(&self) -> Order;

    /// States that differ only in the contents of buffer sets are merged by union.
    fn merges(&self) -> bool {
        false
    }

    /// Appends a store.
    fn store(&self, buffers: &mut Buffers, entry: Entry) -> Stored;

    /// What a load of `place` finds.
    fn load(&self, buffers: &Buffers, place: PlaceId) -> Loaded;

    /// Adds every way in which one store can reach memory now.
    fn flushes(&self, buffers: &Buffers, out: &mut Vec<(Entry, Buffers)>);

    /// Puts a store-store or store-load fence behind everything that is pending.
    fn mark(&self, buffers: &mut Buffers, marker: Marker);
}
