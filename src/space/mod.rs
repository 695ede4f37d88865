//! The state space: which states a program can reach.
//!
//! [`explore`](explore()) searches for a [`Goal`]. There are two engines: `breadth` keeps
//! every distinct state and goes through them level by level; `merging` unites states that
//! a partially disjunctive abstraction does not tell apart. They share how states are packed
//! (`intern`, `layout`), how successors are found (`successors`), how states are judged
//! (`judge`), and how a trace is told ([`trace`]). The set of states that is found, and
//! everything that is reported, is the same for any number of threads: a shortest trace is
//! chosen afterwards, by rules that know nothing of the order of discovery.

mod breadth;
mod context;
mod graph;
mod initial;
mod intern;
mod judge;
mod layout;
mod level;
mod merging;
mod path;
mod pool;
mod search;
mod shared;
mod slots;
mod successors;
pub mod trace;

pub use graph::{Edge, Graph, NodeId, Tag};
pub use search::{Coverage, End, Exploration, Goal, Search, Statistics, explore};
pub use successors::Tagger;
pub use trace::{Snapshot, Trace, TraceStep};
