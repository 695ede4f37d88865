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

mod names;

pub mod words;

pub mod source;

pub mod diagnostic;

pub mod limits;

pub mod program;

pub mod lang;

pub mod import;

pub mod lower;

pub mod fences;

pub mod memory;

pub mod property;

pub mod space;

pub mod describe;

pub mod concretise;

pub mod verify;

pub mod litmus;

pub mod formula;

pub mod infer;

pub mod export;

pub mod record;

pub mod replay;

pub mod certificate;

pub mod report;

pub mod experiment;

pub mod page;

pub mod cli;

pub use infer::{Conclusion, InferOptions, Inference, infer};
pub use limits::{Limits, Monitor, StopReason};
pub use lower::compile;
pub use memory::{Abstraction, Atomics, Model, Semantics};
pub use program::Program;
pub use source::Source;
pub use verify::{Answer, Verdict, VerifyOptions, verify};
