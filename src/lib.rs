//! fencesmith proves small concurrent programs correct under store-buffer memory models
//! (SC, TSO, PSO), shows an execution that breaks them, and finds the fewest fences that
//! mend them.
//!
//! The modules stand in reading order, which is the way of the data:
//!
//! ```text
//!  text ──lang──▶ syntax tree ──lower──▶ Program: one automaton per process, fence points
//!                                           │
//!            memory: SC · exact TSO/PSO buffers · Set · FD(k) · PD(k)    (what a step does)
//!                                           │
//!                         space: parallel explicit-state search          (which states exist)
//!                            ┌──────────────┴──────────────┐
//!                      no violation                    violation
//!                            │                             │
//!                       a proof                a trace, replayed on the
//!                            ▲                 exact model (concretise)
//!                            │                             │
//!                       fences that hit            one of the points it passed
//!                       all clauses  ◀──infer──    with pending stores: a clause
//! ```
//!
//! ```
//! use fencesmith::{Model, Monitor, Source, Verdict, VerifyOptions, compile, verify};
//!
//! let text = "
//!     shared bool x, y;
//!     process p { bool r; store x = true; load r = y; }
//!     process q { bool r; store y = true; load r = x; }
//!     final p.r || q.r;   // one of them sees the other
//! ";
//! let source = Source::new("sb.fen", text);
//! let program = compile(&source).expect("the program is well formed");
//! let unfenced = program.fenced(&Default::default());
//! let verdict = |model| {
//!     verify(&unfenced, &VerifyOptions::refining(model), &Monitor::default()).verdict
//! };
//! assert_eq!(verdict(Model::Sc), Verdict::Correct);
//! assert_eq!(verdict(Model::Tso), Verdict::Violated);
//! ```

// The program form, the memory models, the searches, verification and inference.
pub use fencesmith_engine::{
    concretise, describe, formula, infer, limits, memory, names, program, property, source, space,
    verify, words,
};

// One type for every message about a text, and one renderer.
pub mod diagnostic;

// The input language: text to syntax tree, checks, and back to text.
pub mod lang;

// Litmus tests, Memorax machines and Trencher automata as syntax trees.
pub mod import;

// Syntax tree to program form.
pub mod lower;

// Fence points as a person names them: by line and column.
pub mod fences;

// C programs to program form.
pub mod c;

// All final states of a litmus test.
pub mod litmus;

// Programs in the languages of other tools.
pub mod export;

// How long do store buffers get?
pub mod occupancy;

// Everything that is written down and read again.
pub mod record;

// A recorded trace again, on the exact model.
pub mod replay;

// Executions taken step by step, by hand.
pub mod explain;

// Certificates of placements: making one, and checking one.
pub mod certificate;

// Answers in words, tables and records.
pub mod report;

// Many questions about many programs.
pub mod experiment;

// One self-contained page of results.
pub mod page;

// Several processes that search together.
pub mod cluster;

mod cli;

#[doc(hidden)]
pub use cli::main;

pub use infer::{Conclusion, InferOptions, Inference, infer};
pub use limits::{Limits, Monitor, StopReason};
pub use lower::compile;
pub use memory::{Abstraction, Atomics, Model, Semantics};
pub use occupancy::{Occupancy, OccupancyOptions, occupancy};
pub use program::Program;
pub use source::Source;
pub use verify::{Answer, SearchKind, Verdict, VerifyOptions, verify};
