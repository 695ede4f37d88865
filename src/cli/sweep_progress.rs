//! What shows while cells run: bars on a terminal, a line for each finished cell elsewhere.

use super::progress::{shows_progress, style};
use super::streams::print_message;
use crate::experiment::{Entry, short};
use crate::limits::Monitor;
use crate::record::Cell;
use crate::words::{count, duration, grouped};
use indicatif::{HumanDuration, MultiProgress, ProgressBar, ProgressState};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Shows how far a sweep is.
pub struct SweepProgress {
    /// The folder of all programs; it is left out of their names.
    folder: String,
    total: usize,
    done: AtomicUsize,
    shown: Shown,
}

enum Shown {
    Nothing,
    Lines,
    Bars(Bars),
}

struct Bars {
    all: MultiProgress,
    overall: ProgressBar,
    running: Mutex<HashMap<usize, Running>>,
    over: AtomicBool,
}

struct Running {
    what: String,
    bar: ProgressBar,
    monitor: Arc<Monitor>,
    begin: Instant,
}

impl SweepProgress {
    /// For this many cells, some of which are done, about programs in a folder.
    pub fn new(
        quiet: bool,
        bars: &MultiProgress,
        folder: String,
        total: usize,
        done: usize,
    ) -> SweepProgress {
        let shown = if quiet {
            Shown::Nothing
        } else if shows_progress() {
            Shown::Bars(Bars::new(bars.clone(), total, done))
        } else {
            Shown::Lines
        };
        SweepProgress {
            folder,
            total,
            done: AtomicUsize::new(done),
            shown,
        }
    }

    /// Does some work while the bars are kept up to date.
    pub fn watch<T>(&self, work: impl FnOnce() -> T) -> T {
        let Shown::Bars(bars) = &self.shown else {
            return work();
        };
        std::thread::scope(|scope| {
            let watcher = scope.spawn(|| bars.refresh());
            let result = work();
            bars.over.store(true, Ordering::Relaxed);
            watcher.thread().unpark();
            result
        })
    }

    pub fn started(&self, index: usize, cell: &Cell, monitor: &Arc<Monitor>) {
        if let Shown::Bars(bars) = &self.shown {
            bars.add(index, self.label(cell), monitor);
        }
    }

    /// A cell in few words: `verify mutex/peterson PSO FD(k=1)`.
    fn label(&self, cell: &Cell) -> String {
        let program = short(&self.folder, &cell.program);
        let (model, buffers) = (cell.model.upper(), cell.representation());
        format!("{} {program} {model} {buffers}", cell.mode)
    }

    /// A cell ended without an answer, for now or for good.
    pub fn ended(&self, index: usize) {
        if let Shown::Bars(bars) = &self.shown {
            bars.remove(index);
        }
    }

    pub fn finished(&self, index: usize, entry: &Entry) {
        self.ended(index);
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        match &self.shown {
            Shown::Nothing => {}
            Shown::Bars(bars) => bars.overall.inc(1),
            Shown::Lines => {
                let width = self.total.to_string().len();
                let facts = [
                    Some(entry.outcome()),
                    entry.fences().map(|fences| count(fences, "fence")),
                    entry.states().map(|states| count(states, "state")),
                    entry.measured.total_s.map(duration),
                ];
                let facts: Vec<String> = facts.into_iter().flatten().collect();
                let what = self.label(&entry.cell);
                let facts = facts.join(", ");
                print_message(&format!(
                    "[{done:>width$}/{}] {what}: {facts}\n",
                    self.total
                ));
            }
        }
    }
}

impl Bars {
    fn new(all: MultiProgress, total: usize, done: usize) -> Bars {
        let overall = all.add(ProgressBar::new(total as u64).with_position(done as u64));
        let template = "{bar:30} {pos}/{len} cells, {elapsed} so far{to_go}";
        let to_go = move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            // Nothing is known of the time to go before something was done.
            if state.pos() > done as u64 {
                let _ = write!(out, ", {} to go", HumanDuration(state.eta()));
            }
        };
        let style = style(template).with_key("to_go", to_go);
        overall.set_style(style.progress_chars("━╸─"));
        overall.reset_eta();
        Bars {
            all,
            overall,
            running: Mutex::new(HashMap::new()),
            over: AtomicBool::new(false),
        }
    }

    fn running(&self) -> MutexGuard<'_, HashMap<usize, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, index: usize, what: String, monitor: &Arc<Monitor>) {
        let bar = self.all.add(ProgressBar::new_spinner());
        bar.set_style(style("{spinner} {wide_msg}"));
        let running = Running {
            what,
            bar,
            monitor: monitor.clone(),
            begin: Instant::now(),
        };
        self.running().insert(index, running);
    }

    fn remove(&self, index: usize) {
        if let Some(running) = self.running().remove(&index) {
            running.bar.finish_and_clear();
            self.all.remove(&running.bar);
        }
    }

    fn refresh(&self) {
        while !self.over.load(Ordering::Relaxed) {
            for running in self.running().values() {
                let (states, _) = running.monitor.progress();
                let seconds = running.begin.elapsed().as_secs_f64().max(0.001);
                let rate = grouped((states as f64 / seconds) as u64);
                let states = grouped(states);
                let what = &running.what;
                running
                    .bar
                    .set_message(format!("{what}: {states} states, {rate}/s"));
                running.bar.tick();
            }
            self.overall.tick();
            std::thread::park_timeout(Duration::from_millis(100));
        }
        self.overall.finish_and_clear();
    }
}
