//! The line on the terminal that shows how far a search is.

use super::args::Common;
use super::interrupt::Interruptible;
use crate::limits::Monitor;
use crate::words::grouped;
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Runs a search while a line on the terminal says how far it is.
pub fn watched<T, F: ValueEnum + Send + Sync>(
    common: &Common<F>,
    searches: &Interruptible,
    what: &str,
    search: impl FnOnce(&Monitor) -> T,
) -> T {
    let monitor = &searches.monitor;
    watched_by(common, searches, monitor, what, || search(monitor))
}

/// The same for a search with a monitor of its own.
pub fn watched_by<T, F: ValueEnum + Send + Sync>(
    common: &Common<F>,
    searches: &Interruptible,
    monitor: &Monitor,
    what: &str,
    search: impl FnOnce() -> T,
) -> T {
    if common.quiet || !shows_progress() {
        return searches.run(|_| search());
    }
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| show(searches, monitor, what, &done));
        let result = searches.run(|_| search());
        done.store(true, Ordering::Relaxed);
        watcher.thread().unpark();
        result
    })
}

fn show(searches: &Interruptible, monitor: &Monitor, what: &str, done: &AtomicBool) {
    let start = Instant::now();
    let bar = searches.bars.add(ProgressBar::new_spinner());
    bar.set_style(style("{spinner} {msg}"));
    while !done.load(Ordering::Relaxed) {
        std::thread::park_timeout(Duration::from_millis(100));
        let elapsed = start.elapsed().as_secs_f64();
        if elapsed > 0.4 {
            let (states, depth) = monitor.progress();
            let depth = (depth > 0).then(|| format!("depth {depth}, "));
            let rate = (states as f64 / elapsed) as u64;
            let stage = Some(monitor.stage()).filter(|stage| !stage.is_empty());
            let stage = stage.map(|stage| format!("{stage}; "));
            bar.set_message(format!(
                "{what}: {}{} states, {}{} states/s",
                stage.unwrap_or_default(),
                grouped(states),
                depth.unwrap_or_default(),
                grouped(rate)
            ));
            bar.tick();
        }
    }
    bar.finish_and_clear();
    searches.bars.remove(&bar);
}

/// Standard error is a terminal that can take a line back.
pub fn shows_progress() -> bool {
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    std::io::stderr().is_terminal() && !dumb
}

/// The style of a bar.
pub fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template);
    style.unwrap_or_else(|_| ProgressStyle::default_bar())
}
