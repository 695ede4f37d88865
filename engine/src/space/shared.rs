//! What the threads of a search share while they expand states: room in the table, the
//! limits, and the reason why they have to meet.

use super::context::Context;
use super::layout::State;
use super::search::Unfinished;
use crate::limits::StopReason;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Room for new states that a thread reserves at a time, at most: less where little is left, so
/// that none keeps much of it from the others.
pub const CREDIT: u64 = 512;

/// Why the threads have to meet before all states are expanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    /// The table is full.
    Grow,
    /// What was looked for is found.
    Found,
    /// The search is over.
    End(Unfinished),
}

pub struct Shared<'a> {
    pub context: &'a Context<'a>,
    /// States in tables, and those that threads have reserved room for.
    pub claimed: &'a AtomicU64,
    /// The number of states at which threads have to meet to make room.
    pub capacity: u64,
    /// The level that is expanded; 0 if the search does not go by levels.
    pub depth: u64,
    /// Memory taken by tables of states, in bytes.
    pub tables: &'a AtomicU64,
    /// Memory taken by everything else but the states outside of tables.
    pub overhead: u64,
    /// States outside of tables.
    pub outside: &'a AtomicU64,
    pub stop: Stop,
}

/// Whether the threads have to meet, and why.
#[derive(Default)]
pub struct Stop {
    paused: AtomicBool,
    pause: Mutex<Option<Pause>>,
}

impl Shared<'_> {
    pub fn pause(&self, why: Pause) {
        let mut pause = self.stop.pause.lock().expect("no thread panics here");
        pause.get_or_insert(why);
        self.stop.paused.store(true, Ordering::Relaxed);
    }

    /// The threads have to meet.
    pub fn is_paused(&self) -> bool {
        self.stop.paused.load(Ordering::Relaxed)
    }

    /// Why they have to meet, when they do.
    pub fn into_pause(self) -> Option<Pause> {
        self.stop.pause.into_inner().expect("no thread panics here")
    }

    /// Looks at the limits; whether to go on.
    pub fn proceed<const N: usize>(&self) -> bool {
        let states = self.claimed.load(Ordering::Relaxed);
        self.context.search.monitor.report(states, self.depth);
        let bytes = self.others::<N>() + self.tables.load(Ordering::Relaxed);
        let checked = self.context.check();
        let checked = checked.and_then(|()| self.context.check_memory(bytes));
        if let Err(reason) = checked {
            self.pause(Pause::End(reason.into()));
        }
        !self.is_paused()
    }

    /// Memory taken by everything but tables of states, in bytes.
    pub fn others<const N: usize>(&self) -> u64 {
        let outside = self.outside.load(Ordering::Relaxed);
        self.overhead + outside * size_of::<State<N>>() as u64
    }

    /// Raises a thread's credit to the number of new states it may insert; whether there is
    /// room for them.
    pub fn reserve(&self, credit: &mut u64, needed: u64) -> bool {
        let Some(missing) = needed.checked_sub(*credit + 1) else {
            return true;
        };
        let most = self.capacity.min(self.most_states());
        let left = most.saturating_sub(self.claimed.load(Ordering::Relaxed));
        for claim in [missing + (left / 8).clamp(1, CREDIT), missing + 1] {
            let before = self.claimed.fetch_add(claim, Ordering::Relaxed);
            if before + claim <= most {
                *credit += claim;
                return true;
            }
            self.claimed.fetch_sub(claim, Ordering::Relaxed);
        }
        false
    }

    /// Takes back what is left of a thread's credit.
    pub fn give_back(&self, credit: &mut u64) {
        self.claimed.fetch_sub(*credit, Ordering::Relaxed);
        *credit = 0;
    }

    /// Pauses because there is no room.
    pub fn no_room(&self) {
        self.pause(match self.capacity >= self.most_states() {
            true => Pause::End(StopReason::MaxStates.into()),
            false => Pause::Grow,
        });
    }

    fn most_states(&self) -> u64 {
        let most = self.context.search.limits.max_states;
        most.unwrap_or(u64::MAX)
    }
}
