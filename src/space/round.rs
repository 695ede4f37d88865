//! How threads share the expansion of many states, and when they have to meet.

use super::context::Context;
use super::layout::State;
use super::pool::{PARALLEL, Workers};
use super::search::Unfinished;
use crate::limits::StopReason;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Room for new states that a thread reserves at a time.
const CREDIT: u64 = 512;

/// Why the threads have to meet before all states are expanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    /// The table is full.
    Grow,
    /// The search is over.
    End(Unfinished),
}

/// What there is to share.
pub struct Frame<'a, T> {
    pub context: &'a Context<'a>,
    pub table: &'a T,
    /// States in the table, and those that threads have reserved room for.
    pub claimed: &'a AtomicU64,
    /// The number of states at which the table counts as full.
    pub capacity: u64,
    pub depth: u64,
    /// Memory taken by everything but the states that are kept outside of the table, in
    /// bytes.
    pub overhead: u64,
    /// How many these are.
    pub kept: &'a AtomicU64,
}

/// What the threads share while they expand states.
pub struct Round<'a, T, const N: usize> {
    frame: Frame<'a, T>,
    cursor: AtomicUsize,
    paused: AtomicBool,
    pause: Mutex<Option<Pause>>,
}

/// States that are left, in chunks, and why.
pub type Left<'c, const N: usize> = (Vec<&'c [State<N>]>, Option<Pause>);

/// Lets the workers expand chunks until they are done or have to meet. The task of a worker
/// gives back what it did not finish of its last chunk.
pub fn expand<'c, W: Send, T: Sync, const N: usize>(
    workers: &mut Workers<W>,
    frame: Frame<T>,
    chunks: &[&'c [State<N>]],
    task: impl Fn(&mut W, &Round<T, N>) -> Option<&'c [State<N>]> + Sync,
) -> Left<'c, N> {
    let round = Round {
        frame,
        cursor: AtomicUsize::new(0),
        paused: AtomicBool::new(false),
        pause: Mutex::new(None),
    };
    let left = Mutex::new(Vec::new());
    let states: usize = chunks.iter().map(|chunk| chunk.len()).sum();
    workers.run(states >= PARALLEL, |worker| {
        let rest = task(worker, &round);
        left.lock().expect("no thread panics here").extend(rest);
    });
    let untouched = round.cursor.load(Ordering::Relaxed).min(chunks.len());
    let mut left = left.into_inner().expect("no thread panics here");
    left.extend_from_slice(&chunks[untouched..]);
    let pause = round.pause.into_inner().expect("no thread panics here");
    (left, pause)
}

impl<'a, T, const N: usize> Round<'a, T, N> {
    pub fn table(&self) -> &'a T {
        self.frame.table
    }

    /// Gives a thread chunks until there are none or until the threads have to meet; what it
    /// did not finish of its last one. `expand` says how many states of a chunk it got done.
    pub fn for_each_chunk<'c>(
        &self,
        chunks: &[&'c [State<N>]],
        mut expand: impl FnMut(&'c [State<N>]) -> usize,
    ) -> Option<&'c [State<N>]> {
        while let Some(chunk) = chunks.get(self.cursor.fetch_add(1, Ordering::Relaxed)) {
            let done = match self.proceed() {
                true => expand(chunk),
                false => 0,
            };
            if done < chunk.len() {
                return Some(&chunk[done..]);
            }
        }
        None
    }

    pub fn pause(&self, why: Pause) {
        let mut pause = self.pause.lock().expect("no thread panics while pausing");
        pause.get_or_insert(why);
        self.paused.store(true, Ordering::Relaxed);
    }

    /// Whether to go on.
    pub fn proceed(&self) -> bool {
        let frame = &self.frame;
        let states = frame.claimed.load(Ordering::Relaxed);
        frame.context.search.monitor.report(states, frame.depth);
        let kept = frame.kept.load(Ordering::Relaxed);
        let bytes = frame.overhead + kept * size_of::<State<N>>() as u64;
        let checked = frame.context.check();
        let checked = checked.and_then(|()| frame.context.check_memory(bytes));
        if let Err(reason) = checked {
            self.pause(Pause::End(reason.into()));
        }
        !self.paused.load(Ordering::Relaxed)
    }

    /// Raises a thread's credit to the number of new states it may insert; whether there is
    /// room for them.
    pub fn reserve(&self, credit: &mut u64, needed: u64) -> bool {
        let Some(missing) = needed.checked_sub(*credit + 1) else {
            return true;
        };
        let (claimed, most) = (self.frame.claimed, self.most());
        for claim in [missing + CREDIT, missing + 1] {
            let before = claimed.fetch_add(claim, Ordering::Relaxed);
            if before + claim <= self.frame.capacity.min(most) {
                *credit += claim;
                return true;
            }
            claimed.fetch_sub(claim, Ordering::Relaxed);
        }
        false
    }

    /// Takes back what is left of a thread's credit.
    pub fn give_back(&self, credit: &mut u64) {
        self.frame.claimed.fetch_sub(*credit, Ordering::Relaxed);
        *credit = 0;
    }

    /// Pauses because there is no room.
    pub fn no_room(&self) {
        self.pause(match self.frame.capacity >= self.most() {
            true => Pause::End(StopReason::MaxStates.into()),
            false => Pause::Grow,
        });
    }

    fn most(&self) -> u64 {
        let most = self.frame.context.search.limits.max_states;
        most.unwrap_or(u64::MAX)
    }
}
