//! Signals: Ctrl-C, SIGTERM and SIGHUP.
//!
//! The first signal interrupts the search, which ends with what is known. The program then has
//! a moment to print it; if that does not suffice, for example because a pipe has no reader, it
//! ends without. A second signal ends it at once. Before the first search begins, signals do
//! what they do by default.

use super::bars::bars;
use crate::limits::Monitor;
use indicatif::MultiProgress;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long the program may still print after it was told to end.
const GRACE: Duration = Duration::from_millis(800);

/// The exit code of a program that a signal ended.
const EXIT_CODE: i32 = 130;

/// Searches that signals interrupt.
pub struct Interruptible {
    pub monitor: Monitor,
    /// What the terminal shows meanwhile.
    pub bars: MultiProgress,
    searching: AtomicBool,
    signalled: AtomicBool,
}

impl Interruptible {
    /// From now on signals interrupt the searches that this value runs.
    pub fn new() -> Arc<Interruptible> {
        let new = Arc::new(Interruptible {
            monitor: Monitor::default(),
            bars: bars(),
            searching: AtomicBool::new(false),
            signalled: AtomicBool::new(false),
        });
        let handled = new.clone();
        // If no handler can be set, signals end the program at once.
        let _ = ctrlc::set_handler(move || handled.signal());
        new
    }

    /// Runs a search.
    pub fn run<T>(&self, search: impl FnOnce(&Monitor) -> T) -> T {
        self.searching.store(true, Ordering::Relaxed);
        let result = search(&self.monitor);
        self.searching.store(false, Ordering::Relaxed);
        result
    }

    fn signal(self: &Arc<Self>) {
        if self.signalled.swap(true, Ordering::Relaxed) {
            self.exit();
        }
        self.monitor.interrupt();
        let own = self.clone();
        std::thread::spawn(move || {
            while own.searching.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(20));
            }
            std::thread::sleep(GRACE);
            own.exit();
        });
    }

    fn exit(&self) -> ! {
        let _ = self.bars.clear();
        std::process::exit(EXIT_CODE)
    }
}
