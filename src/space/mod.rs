//! The state space: which states a program can reach.
//!
//! [`explore`](explore()) searches breadth-first and in parallel. The set of states it
//! finds, and everything it reports, is the same for any number of threads: a level is
//! finished before the next begins, and a shortest trace is chosen afterwards, by rules
//! that know nothing of the order of discovery.

mod distinct;
mod explore;
mod graph;
mod intern;
mod judge;
mod layout;
mod limits;
mod merged;
mod rows;
mod table;
pub mod trace;
mod worker;

pub use explore::{End, Exploration, Search, explore};
pub use graph::{Edge, Graph};
pub use limits::{Limits, Monitor, StopReason};
pub use rows::Tagger;
pub use trace::{Snapshot, Trace, TraceStep};
