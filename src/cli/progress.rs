//! What shows while work lasts: a line on the terminal, and a clean end on Ctrl-C.

use super::args::Common;
use crate::limits::Monitor;
use crate::words::grouped;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A monitor that Ctrl-C interrupts; a second Ctrl-C ends the program at once.
pub fn interruptible() -> Arc<Monitor> {
    let monitor = Arc::new(Monitor::default());
    let watched = monitor.clone();
    // Without a handler Ctrl-C still ends the program, only less gracefully.
    let _ = ctrlc::set_handler(move || {
        if watched.interrupted() {
            std::process::exit(130);
        }
        watched.interrupt();
    });
    monitor
}

/// Does some work while a line on the terminal says how far it is.
pub fn watched<T>(common: &Common, monitor: &Monitor, what: &str, work: impl FnOnce() -> T) -> T {
    if common.quiet || !std::io::stderr().is_terminal() {
        return work();
    }
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| show(monitor, what, &done));
        let result = work();
        done.store(true, Ordering::Relaxed);
        watcher.thread().unpark();
        result
    })
}

fn show(monitor: &Monitor, what: &str, done: &AtomicBool) {
    let start = Instant::now();
    let bar = ProgressBar::new_spinner();
    let style = ProgressStyle::with_template("{spinner} {msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    while !done.load(Ordering::Relaxed) {
        std::thread::park_timeout(Duration::from_millis(100));
        let elapsed = start.elapsed().as_secs_f64();
        if elapsed > 0.4 {
            let (states, depth) = monitor.progress();
            let rate = (states as f64 / elapsed) as u64;
            let stage = Some(monitor.stage()).filter(|stage| !stage.is_empty());
            let stage = stage.map(|stage| format!("{stage}; "));
            bar.set_message(format!(
                "{what}: {}{} states, depth {depth}, {} states/s",
                stage.unwrap_or_default(),
                grouped(states),
                grouped(rate)
            ));
            bar.tick();
        }
    }
    bar.finish_and_clear();
}
