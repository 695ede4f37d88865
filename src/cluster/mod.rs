//! Several processes that search together, on one machine or on many.
//!
//! The processes are listed in a [`Roster`], each connected to every other. A connection is taken
//! only from who proves that it knows the secret of the run (`handshake`); every frame that
//! travels over it later carries a keyed digest (`channel`). Over these connections runs *timely
//! dataflow* (Murray et al., SOSP 2013): its workers are those of the search, its epochs are the
//! rounds of `space::spread`, and its progress tracking says when all that was sent in a round has
//! arrived (`team`).
//!
//! Process 0 answers questions; the others take part in its searches (`run`). Whenever it
//! needs a plain search of states that are kept apart, it sends the program and what to look for,
//! and all workers search (`question`). Everything else (search by sets, view logs, replaying traces, choosing
//! fences) stays with process 0.
//!
//! In a sweep, whole cells go to other processes, and process 0 writes down the answers (`cells`);
//! those that are too large for one process come last, and are searched by all.
//!
//! A process that is lost ends the run: the first that notices tells all others, and process 0
//! answers with what is known, never with a verdict (`health`).
//!
//! With [`Checkpoints`], every worker writes down what it has found at the end of some levels, and a
//! run can go on from there.
//!
//! This is the only module beside `cli` that does input and output: it has the network, and the
//! files of checkpoints.

mod cells;
mod channel;
mod checkpoint;
mod handshake;
mod health;
mod question;
mod roster;
mod run;
mod team;

pub use cells::CellHelpers;
pub use checkpoint::Checkpoints;
pub use handshake::{Party, Refusal, Terms};
pub use health::{Health, SharedHealth};
pub use roster::{Roster, Secret};
pub use run::{Cluster, Place, join, lead};
