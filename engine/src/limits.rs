//! Limits of a run, and what can be watched while it lasts.

use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// When to give up. The default is never.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    pub max_states: Option<u64>,
    /// In bytes.
    pub max_memory: Option<u64>,
    pub deadline: Option<Instant>,
}

/// How much longer than the deadline may be worked on a violation that was found in time.
pub const GRACE: Duration = Duration::from_millis(500);

impl Limits {
    /// The limits of what a violation that was found in time still needs: one that is known
    /// is not called unknown for want of a moment.
    pub fn with_grace(&self) -> Limits {
        let least = Instant::now() + GRACE;
        Limits {
            deadline: self.deadline.map(|deadline| deadline.max(least)),
            ..self.clone()
        }
    }
}

/// Which limit ended a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopReason {
    MaxStates,
    MaxMemory,
    Timeout,
    Interrupted,
    /// States do not fit the widest representation.
    TooWide,
    /// A process that took part in the search is gone.
    Lost,
    /// States on disk could not be written or read.
    Disk,
}

/// What a run shares with those who watch it or end it.
#[derive(Debug, Default)]
pub struct Monitor {
    /// Whether the run is to end, and why: one of the values below.
    ending: Arc<AtomicU8>,
    states: AtomicU64,
    depth: AtomicU64,
    stage: Mutex<String>,
}

/// The run goes on.
const GOING_ON: u8 = 0;
/// The run was interrupted.
const INTERRUPTED: u8 = 1;
/// The run has lost a process.
const LOST: u8 = 2;

impl Monitor {
    /// Another monitor, interrupted together with this one.
    pub fn sharing(&self) -> Monitor {
        Monitor {
            ending: self.ending.clone(),
            ..Monitor::default()
        }
    }

    /// Asks the run to end soon.
    pub fn interrupt(&self) {
        self.end(INTERRUPTED);
    }

    /// Ends the run because a process that took part in it is gone.
    pub fn lose(&self) {
        self.end(LOST);
    }

    /// The first reason to end the run stays.
    fn end(&self, why: u8) {
        let (set, fetch) = (Ordering::Relaxed, Ordering::Relaxed);
        let _ = self.ending.compare_exchange(GOING_ON, why, set, fetch);
    }

    pub fn interrupted(&self) -> bool {
        self.ending.load(Ordering::Relaxed) != GOING_ON
    }

    /// States found and the number of completed breadth-first levels, 0 if there are none.
    pub fn progress(&self) -> (u64, u64) {
        let load = |value: &AtomicU64| value.load(Ordering::Relaxed);
        (load(&self.states), load(&self.depth))
    }

    /// Says what is being done now.
    pub fn say(&self, stage: &str) {
        if let Ok(mut current) = self.stage.lock() {
            stage.clone_into(&mut current);
        }
    }

    /// What is being done now; empty if that was not said.
    pub fn stage(&self) -> String {
        self.stage
            .lock()
            .map(|stage| stage.clone())
            .unwrap_or_default()
    }

    pub fn report(&self, states: u64, depth: u64) {
        self.states.store(states, Ordering::Relaxed);
        self.depth.store(depth, Ordering::Relaxed);
    }

    /// The reason to stop now that does not depend on the size of the space.
    pub fn stop(&self, limits: &Limits) -> Option<StopReason> {
        self.stop_at(limits.deadline)
    }

    /// The same with a deadline of its own.
    pub fn stop_at(&self, deadline: Option<Instant>) -> Option<StopReason> {
        match self.ending.load(Ordering::Relaxed) {
            GOING_ON => (Instant::now() >= deadline?).then_some(StopReason::Timeout),
            LOST => Some(StopReason::Lost),
            _ => Some(StopReason::Interrupted),
        }
    }
}

/// How much was done since the limits were last looked at.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pace {
    done: usize,
}

impl Pace {
    /// What may be done between two looks at the limits: some milliseconds if a unit of work
    /// is a successor, an edge or a component of a state.
    const WORK: usize = 1 << 14;

    /// Takes note of some work; whether it is time to look at the limits.
    #[inline]
    pub fn is_due(&mut self, work: usize) -> bool {
        self.done += work;
        if self.done < Self::WORK {
            return false;
        }
        self.done = 0;
        true
    }
}

/// Ends work that grows too large or takes too long.
pub struct Watch<'a> {
    check: &'a dyn Fn(usize) -> Result<(), StopReason>,
    pace: Cell<Pace>,
}

impl<'a> Watch<'a> {
    /// `check` gives the reason to end work that holds this many bytes now.
    pub fn new(check: &'a dyn Fn(usize) -> Result<(), StopReason>) -> Watch<'a> {
        Watch::resumed(Pace::default(), check)
    }

    /// The same after some work that was done under another watch.
    pub fn resumed(pace: Pace, check: &'a dyn Fn(usize) -> Result<(), StopReason>) -> Watch<'a> {
        Watch {
            check,
            pace: Cell::new(pace),
        }
    }

    /// What was done since the limits were last looked at.
    pub fn pace(&self) -> Pace {
        self.pace.get()
    }

    /// Nothing is ended.
    pub fn never() -> Watch<'static> {
        Watch::new(&|_| Ok(()))
    }

    /// Takes note of some work and of the bytes that are held now; the limits are looked at
    /// from time to time.
    pub fn note(&self, work: usize, bytes: usize) -> Result<(), StopReason> {
        let mut pace = self.pace.get();
        let due = pace.is_due(work);
        self.pace.set(pace);
        match due {
            true => (self.check)(bytes),
            false => Ok(()),
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StopReason::MaxStates => "the limit on states was reached",
            StopReason::MaxMemory => "the limit on memory was reached",
            StopReason::Timeout => "the time limit was reached",
            StopReason::Interrupted => "interrupted",
            StopReason::TooWide => "the states of this program are too large",
            StopReason::Lost => "a process of the run was lost",
            StopReason::Disk => "states could not be kept on disk",
        })
    }
}
