//! Many cells at once, within a budget of threads and memory.
//!
//! Cells start with those that look largest, so that no large one is left alone at the end.
//! Each worker may use its share of the memory. A cell that outgrows its share is put aside
//! and runs again when all others are done, alone, with all of the memory and all threads:
//! whether a cell ends at the limit depends on the budget and not on its neighbours.
//!
//! Other processes take cells from the same list ([`Helpers`]). What outgrows their memory is put
//! aside as well, and runs again here.

use super::run::{Finished, Resources, Subject, run};
use super::settings::Settings;
use crate::infer::EngineKind;
use crate::limits::Monitor;
use crate::memory::AbstractionKind;
use crate::record::{Cell, Stopped};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// What all cells share.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// At least 1.
    pub threads: usize,
    /// In bytes.
    pub memory: Option<u64>,
}

/// Other processes that answer cells.
pub trait Helpers: Sync {
    /// How many cells they answer at a time.
    fn slots(&self) -> usize;

    /// Answers a cell in one of these slots; `None` if the run has to end before.
    fn answer(&self, slot: usize, question: &Question) -> Option<Finished>;
}

/// What is asked in a cell.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    pub subject: &'a Subject,
    pub cell: &'a Cell,
    pub settings: &'a Settings,
    pub resources: Resources,
}

impl Question<'_> {
    /// Answers it here.
    pub fn answer(&self, monitor: &Monitor) -> Finished {
        run(
            self.subject,
            self.cell,
            self.settings,
            self.resources,
            monitor,
        )
    }
}

/// What happens to a cell, by its place in the list.
#[derive(Debug)]
pub enum Event<'a> {
    Started(usize, &'a Arc<Monitor>),
    /// It outgrew its share of the memory and runs again later.
    Postponed(usize),
    Finished(usize, &'a Finished),
    /// It was interrupted.
    Abandoned(usize),
}

/// What the workers share.
struct Queue {
    /// Cells that have not started, largest first.
    waiting: VecDeque<usize>,
    /// Cells that need all of the memory.
    alone: VecDeque<usize>,
    running: usize,
}

/// A cell to run now.
struct Turn {
    index: usize,
    resources: Resources,
    /// It may be put aside if that is not enough memory.
    shared: bool,
}

/// Answers all cells and tells `watch` what happens, from several threads. `subject` gives the
/// program of a cell. Ends early if `monitor` is interrupted.
pub fn run_all<'a>(
    cells: &[Cell],
    subject: impl Fn(&Cell) -> &'a Subject + Sync,
    settings: &Settings,
    budget: Budget,
    helpers: Option<&dyn Helpers>,
    monitor: &Monitor,
    watch: &(impl Fn(Event) + Sync),
) {
    let mut order: Vec<usize> = (0..cells.len()).collect();
    let weights: Vec<f64> = cells
        .iter()
        .map(|cell| weight(subject(cell), cell))
        .collect();
    order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
    let queue = Mutex::new(Queue {
        waiting: order.into(),
        alone: VecDeque::new(),
        running: 0,
    });
    let changed = Condvar::new();
    let most = match (settings.max_memory, budget.memory) {
        (Some(own), Some(all)) => Some(own.min(all)),
        (own, all) => own.or(all),
    };
    let work = |helper: Option<(&dyn Helpers, usize)>| {
        while let Some(turn) = next(&queue, &changed, budget, most, helper.is_some(), monitor) {
            let watched = Arc::new(monitor.sharing());
            watch(Event::Started(turn.index, &watched));
            let question = Question {
                subject: subject(&cells[turn.index]),
                cell: &cells[turn.index],
                settings,
                resources: turn.resources,
            };
            let finished = match helper {
                None => Some(question.answer(&watched)),
                Some((helpers, slot)) => helpers.answer(slot, &question),
            };
            let stopped = finished.as_ref().and_then(Finished::stopped);
            let again = turn.shared && stopped == Some(Stopped::Memory);
            watch(match &finished {
                None => Event::Abandoned(turn.index),
                Some(_) if again => Event::Postponed(turn.index),
                Some(finished) => match stopped {
                    // Nothing is known that would be known in another run.
                    Some(Stopped::Interrupted | Stopped::Lost) => Event::Abandoned(turn.index),
                    _ => Event::Finished(turn.index, finished),
                },
            });
            let mut queue = lock(&queue);
            queue.running -= 1;
            if again {
                queue.alone.push_back(turn.index);
            }
            changed.notify_all();
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..budget.threads.min(cells.len()) {
            scope.spawn(|| work(None));
        }
        if let Some(helpers) = helpers {
            for slot in 0..helpers.slots().min(cells.len()) {
                scope.spawn(move || work(Some((helpers, slot))));
            }
        }
        work(None);
    });
}

/// Waits for the next cell; `None` when there is nothing left to do, or only cells that others
/// do not help with.
fn next(
    queue: &Mutex<Queue>,
    changed: &Condvar,
    budget: Budget,
    most: Option<u64>,
    helps: bool,
    monitor: &Monitor,
) -> Option<Turn> {
    let mut queue = lock(queue);
    loop {
        if monitor.interrupted() {
            return None;
        }
        if let Some(index) = queue.waiting.pop_front() {
            // Fewer cells than threads: each of them gets several.
            let others = queue.running + queue.waiting.len();
            let memory = most.map(|most| {
                let share = budget.memory.unwrap_or(most) / budget.threads as u64;
                if others == 0 && !helps {
                    most
                } else {
                    most.min(share)
                }
            });
            queue.running += 1;
            return Some(Turn {
                index,
                resources: Resources {
                    threads: match helps {
                        true => 1,
                        false => (budget.threads / (others + 1)).max(1),
                    },
                    memory,
                },
                shared: helps || memory < most,
            });
        }
        if helps {
            return None;
        }
        if queue.running == 0 {
            let index = queue.alone.pop_front()?;
            queue.running += 1;
            return Some(Turn {
                index,
                resources: Resources {
                    threads: budget.threads,
                    memory: most,
                },
                shared: false,
            });
        }
        queue = changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
    }
}

fn lock(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How large a cell looks: the logarithm of a rough number of states.
fn weight(subject: &Subject, cell: &Cell) -> f64 {
    let processes = subject.program.processes.iter();
    let positions: f64 = processes.map(|p| (p.locations.len() as f64).ln()).sum();
    let k = cell.k.unwrap_or(if cell.refine() { 2 } else { 0 });
    let buffered = subject.program.processes.len() as f64 * (k + 1) as f64;
    let precision = match cell.abstraction {
        AbstractionKind::Set | AbstractionKind::Logs => 0.4,
        AbstractionKind::Fd | AbstractionKind::Exact => 0.6,
        AbstractionKind::Pd => 0.5,
    };
    let whole = match cell.engine {
        Some(EngineKind::Points | EngineKind::Ordering) => 2.0,
        Some(EngineKind::Lazy) | None => 0.0,
    };
    positions + precision * buffered + whole
}
