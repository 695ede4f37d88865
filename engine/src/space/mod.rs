//! The state space: which states a program can reach.
//!
//! [`explore`](explore()) searches for a [`Goal`]. There are two engines: `breadth` keeps
//! every distinct state and goes through them level by level; `merging` unites states that
//! a partially disjunctive abstraction does not tell apart. Over both, [`avoid`] labels states
//! with formulas ([`label_states`]). They share how states are packed (`intern`, `layout`), how
//! successors are found (`successors`), how states are judged (`judge`), and how a trace is told
//! ([`trace`]). The set of states that is found, and everything that is reported, is the same
//! for any number of threads: a shortest trace is chosen afterwards, by rules that know nothing
//! of the order of discovery.
//!
//! [`spread`] is the first of them by several workers that share no memory, each with its part of
//! the states: on one machine or on many. [`spill`] is the same with states on disk, for spaces
//! that memory does not hold.
//!
//! Two more engines visit the same states many at a time: `rows`, all that differ in one process
//! alone ([`explore_by_rows`], which counts them as [`explore`](explore()) does); and `sets`, products
//! of sets of configurations, between which only memory changes ([`SetExplorer`]).

pub mod avoid;
mod breadth;
mod context;
mod growing;
mod initial;
mod intern;
mod judge;
mod layout;
mod level;
mod logs;
mod mail;
mod members;
mod merging;
mod path;
mod pool;
mod rows;
mod search;
mod sequential;
mod sets;
mod shared;
mod slots;
pub mod spill;
pub mod spread;
mod standstill;
mod successors;
pub mod trace;
mod zones;

pub use logs::{
    Execution, Flaw, Invariant, InvariantAtom, InvariantChannel, InvariantMember, InvariantProcess,
    InvariantQueue, InvariantState, LogExploration, LogOptions, OwnStep, OwnSteps,
    explore as explore_logs, recheck,
};
pub use rows::explore as explore_by_rows;
pub use search::{
    Coverage, End, Exploration, Explorer, Goal, Scope, Search, Statistics, explore, label_states,
};
pub use sequential::SequentialStates;
pub use sets::{Progress, SetBudget, SetExplorer};
pub use standstill::{Spin, Standstill};
pub use successors::{Tag, Tagger};
pub use trace::{Locals, LocalsAlong, Snapshot, Trace, TraceStep};
pub use zones::{
    Assigned, Examined, Fact, IntegerEnd, IntegerExploration, IntegerOptions, IntegerSearches,
    Integers, Matrix, Move, Node, Replayed, Rounding, Suspect, Term, Thresholds, Zone,
};
pub use zones::{Datum, Filled, Frame, RoundStep, at_most_zero};
