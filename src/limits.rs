//! Limits of a run, and what can be watched while it lasts.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// When to give up. The default is never.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    pub max_states: Option<u64>,
    /// In bytes.
    pub max_memory: Option<u64>,
    pub deadline: Option<Instant>,
}

/// Which limit ended a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    MaxStates,
    MaxMemory,
    Timeout,
    Interrupted,
    /// States do not fit the widest representation.
    TooWide,
}

/// What a run shares with those who watch it or end it.
#[derive(Debug, Default)]
pub struct Monitor {
    interrupted: Arc<AtomicBool>,
    states: AtomicU64,
    depth: AtomicU64,
    stage: Mutex<String>,
}

impl Monitor {
    /// Another monitor, interrupted together with this one.
    pub fn sharing(&self) -> Monitor {
        Monitor {
            interrupted: self.interrupted.clone(),
            ..Monitor::default()
        }
    }

    /// Asks the run to end soon.
    pub fn interrupt(&self) {
        self.interrupted.store(true, Ordering::Relaxed);
    }

    pub fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// States found and the number of completed breadth-first levels.
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
        if self.interrupted() {
            return Some(StopReason::Interrupted);
        }
        let deadline = limits.deadline?;
        (Instant::now() >= deadline).then_some(StopReason::Timeout)
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
        })
    }
}
