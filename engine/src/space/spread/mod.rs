//! The search that keeps every distinct state, by workers that share no memory.
//!
//! Every state has an owner, the worker that its content names (`directory`); only the owner
//! keeps it. A worker expands the states that it owns, level by level, and sends each successor
//! to its owner. A level has *rounds*: in a round a worker expands a portion of its states, sends
//! what it found, and says how far it is. Who has more to do goes on before the others have
//! finished the round, but only so far ahead, which bounds what is on its way. When all have
//! nothing left, everything that was sent has arrived, and the level is finished
//! (`member`). Whatever is decided (the search goes on, a limit was reached, a violation is
//! shown) is decided by everybody from the same reports of the same round, and comes out the
//! same.
//!
//! Configurations have numbers, which each worker gives out for itself. A state travels with the
//! numbers of its sender, and with a configuration's content whenever it is the first that this
//! receiver gets with its number from this sender (`parcel`). Whole states are compared.
//!
//! The shortest trace is found by walking back through the levels (`trace`): each worker answers
//! for the states that it owns, and what leads to the violation is told to all. The trace is then
//! chosen by the rules of the search with shared memory, which know nothing of numbers.
//!
//! At the end of a level each worker can write down what it has found (`journal`), and a search
//! can go on from there.
//!
//! How messages get from worker to worker is not known here: see [`Peers`].

mod census;
mod directory;
mod expand;
mod journal;
mod member;
mod parcel;
mod trace;

use super::context::Context;
use super::intern::{Interner, Widths};
use super::layout::{InWords, Overflow};
use super::search::{Exploration, Search};
use crate::limits::StopReason;
pub use journal::Journal;

use member::Member;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The other workers of a search, as one of them sees them.
///
/// Rounds are numbered in the same way by all. A batch that was sent in a round arrives after the
/// receiver has ended that round itself.
pub trait Peers {
    /// The index of this worker.
    fn own(&self) -> usize;

    /// How many workers there are.
    fn count(&self) -> usize;

    /// Sends a batch to another worker, in this round.
    fn send(&mut self, to: usize, batch: Vec<u8>);

    /// Ends this round with a report to all workers, and begins the next.
    fn end_round(&mut self, report: Vec<u8>);

    /// The next batch that has arrived, and who sent it.
    fn next_batch(&mut self) -> Option<(usize, Vec<u8>)>;

    /// The reports of the oldest round that they were not taken of, by worker: if it is over and
    /// all of its batches were taken.
    fn take_reports(&mut self) -> Option<Vec<Vec<u8>>>;

    /// Lets messages move; if `idle`, waits for a moment until there is one.
    fn exchange(&mut self, idle: bool) -> Result<(), Lost>;

    /// Ends the whole run, since a worker has sent what means nothing.
    fn reject(&mut self, from: usize) -> Lost;
}

/// A worker is gone, and with it the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lost;

/// Why a worker does not come to the end of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Halt {
    Lost,
    /// Some worker needs wider fields.
    Overflow,
}

impl From<Lost> for Halt {
    fn from(_: Lost) -> Halt {
        Halt::Lost
    }
}

impl From<Overflow> for Halt {
    fn from(_: Overflow) -> Halt {
        Halt::Overflow
    }
}

/// Takes part in a search. What was found is the same for all workers; only the first has
/// the trace. With a journal, the search goes on from what was written down, and writes on.
pub fn explore(
    search: &Search,
    peers: &mut dyn Peers,
    mut journal: Option<&mut dyn Journal>,
) -> Result<Exploration, Lost> {
    let program = search.stepper.program;
    let interner = Interner::new(program);
    let mut own = interner.widths();
    if let Some(journal) = &mut journal
        && let Some(written) = journal::written_widths(*journal)?
    {
        own = own.max(&written);
    }
    loop {
        let widths = meet(peers, &own)?;
        let widest = widths
            .iter()
            .skip(1)
            .fold(widths[0].clone(), |widest, next| widest.max(next));
        let Some(layout) = widest.layout(false) else {
            return Ok(Exploration::none(StopReason::TooWide, program));
        };
        // As with shared memory: what outgrows its field makes the search start over with
        // wider ones, here that of all workers; the interned components stay.
        let context = Context {
            search,
            interner: &interner,
            layout: &layout,
        };
        let attempt = Attempt {
            context,
            widths: widest,
            peers,
            journal: match &mut journal {
                Some(journal) => Some(&mut **journal),
                None => None,
            },
        };
        match layout.in_its_words(attempt) {
            Ok(exploration) => return Ok(exploration),
            Err(Halt::Overflow) => own = interner.widths(),
            Err(Halt::Lost) => return Err(Lost),
        }
        if let Some(journal) = &mut journal {
            journal.keep(0)?;
        }
    }
}

/// A search with one layout.
struct Attempt<'a, 'p> {
    context: Context<'a>,
    widths: Widths,
    peers: &'p mut dyn Peers,
    journal: Option<&'p mut dyn Journal>,
}

impl InWords for Attempt<'_, '_> {
    type Done = Result<Exploration, Halt>;

    fn run<const N: usize>(self) -> Result<Exploration, Halt> {
        let Attempt {
            context,
            widths,
            peers,
            journal,
        } = self;
        Member::<N>::new(context, widths, peers, journal).go()
    }
}

/// A round without batches: what every worker says.
fn meet<T: Serialize + DeserializeOwned>(peers: &mut dyn Peers, own: &T) -> Result<Vec<T>, Lost> {
    peers.end_round(encode(own));
    loop {
        if let Some((from, _)) = peers.next_batch() {
            return Err(peers.reject(from));
        }
        if let Some(reports) = peers.take_reports() {
            return decode_all(peers, &reports);
        }
        peers.exchange(true)?;
    }
}

/// A message as bytes.
fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    postcard::to_stdvec(value).expect("messages have known lengths")
}

fn decode<T: DeserializeOwned>(
    peers: &mut dyn Peers,
    from: usize,
    bytes: &[u8],
) -> Result<T, Lost> {
    postcard::from_bytes(bytes).map_err(|_| peers.reject(from))
}

fn decode_all<T: DeserializeOwned>(peers: &mut dyn Peers, all: &[Vec<u8>]) -> Result<Vec<T>, Lost> {
    let all = all.iter().enumerate();
    all.map(|(from, bytes)| decode(peers, from, bytes))
        .collect()
}
