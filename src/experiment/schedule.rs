//! Many cells at once, within a budget of threads and memory.
//!
//! Cells start with those that look largest, so that no large one is left alone at the end.
//! Each worker may use its share of the memory. A cell that outgrows its share is put aside
//! and runs again when all others are done, alone, with all of the memory and all threads:
//! whether a cell ends at the limit depends on the budget and not on its neighbours.
//!
//! Other processes take cells from the same list ([`Helpers`]). What outgrows their memory, or all
//! of the memory here, is put aside as well. When all others are done it runs again, and wherever it
//! is searched state by state, all processes search together. If their memory does not suffice,
//! either, it runs here alone: others may have less, and workers that share nothing need more.

use super::run::{Finished, Question, Resources, Subject};
use super::settings::Settings;
use crate::infer::EngineKind;
use crate::limits::Monitor;
use crate::memory::AbstractionKind;
use crate::record::{Cell, Stopped};
use crate::space::{Exploration, Explorer, Search};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
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

    /// All processes, this one included, as they search together. No cells are answered by others
    /// from now on.
    fn together(&self) -> Arc<dyn Explorer>;
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
    /// Cells that were put aside.
    aside: VecDeque<(usize, Stage)>,
    running: usize,
}

/// Who answers a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// One process, beside other cells.
    Shared,
    /// This process, and all processes together wherever it is searched state by state.
    Together {
        /// It has outgrown all of the memory of this process.
        outgrown: bool,
    },
    /// This process alone.
    Alone,
}

/// A cell to run now.
struct Turn {
    index: usize,
    resources: Resources,
    stage: Stage,
}

/// Who answers which cells, and with how much memory.
#[derive(Clone, Copy)]
struct Plan {
    budget: Budget,
    /// Bytes that a cell may take in this process.
    most: Option<u64>,
    /// A cell may take more than that if several processes answer it.
    spreads: bool,
}

/// All processes together, and whether they were asked.
#[derive(Debug)]
struct Together {
    explorer: Arc<dyn Explorer>,
    asked: AtomicBool,
}

impl Explorer for Together {
    fn explore(&self, search: &Search) -> Exploration {
        self.asked.store(true, Ordering::Relaxed);
        self.explorer.explore(search)
    }
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
        aside: VecDeque::new(),
        running: 0,
    });
    let changed = Condvar::new();
    let helped = helpers.is_some_and(|helpers| helpers.slots() > 0);
    let plan = Plan::new(settings, budget, helped);
    let together = |stage: Stage| match (stage, helpers) {
        (Stage::Together { .. }, Some(helpers)) => Some(Arc::new(Together {
            explorer: helpers.together(),
            asked: AtomicBool::new(false),
        })),
        _ => None,
    };
    let work = |helper: Option<(&dyn Helpers, usize)>| {
        while let Some(turn) = next(&queue, &changed, &plan, helper.is_some(), monitor) {
            let watched = Arc::new(monitor.sharing());
            watch(Event::Started(turn.index, &watched));
            let question = Question {
                subject: subject(&cells[turn.index]),
                cell: &cells[turn.index],
                settings,
                resources: turn.resources,
            };
            let all = together(turn.stage);
            let finished = match helper {
                None => {
                    let explorer = all.clone().map(|all| all as Arc<dyn Explorer>);
                    Some(question.answer(explorer, &watched))
                }
                Some((helpers, slot)) => helpers.answer(slot, &question),
            };
            let stopped = finished.as_ref().and_then(Finished::stopped);
            let searched = all.is_some_and(|all| all.asked.load(Ordering::Relaxed));
            let again = match stopped {
                Some(Stopped::Memory) => plan.then(&turn, helper.is_some(), searched),
                _ => None,
            };
            watch(match &finished {
                None => Event::Abandoned(turn.index),
                Some(_) if again.is_some() => Event::Postponed(turn.index),
                Some(finished) => match stopped {
                    // Nothing is known that would be known in another run.
                    Some(Stopped::Interrupted | Stopped::Lost) => Event::Abandoned(turn.index),
                    _ => Event::Finished(turn.index, finished),
                },
            });
            let mut queue = lock(&queue);
            queue.running -= 1;
            queue.aside.extend(again.map(|stage| (turn.index, stage)));
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

impl Plan {
    fn new(settings: &Settings, budget: Budget, helped: bool) -> Plan {
        let (own, all) = (settings.max_memory, budget.memory);
        Plan {
            budget,
            most: match (own, all) {
                (Some(own), Some(all)) => Some(own.min(all)),
                (own, all) => own.or(all),
            },
            spreads: helped && all.is_some_and(|all| own.is_none_or(|own| own > all)),
        }
    }

    /// What comes after a turn whose memory did not suffice, if anything does. `helped`: another
    /// process has answered; `searched`: all have searched together.
    fn then(&self, turn: &Turn, helped: bool, searched: bool) -> Option<Stage> {
        let outgrown = !helped && turn.resources.memory == self.most;
        match turn.stage {
            Stage::Shared if self.spreads => Some(Stage::Together { outgrown }),
            Stage::Shared => (!outgrown).then_some(Stage::Alone),
            Stage::Together { outgrown } => (searched && !outgrown).then_some(Stage::Alone),
            Stage::Alone => None,
        }
    }

    /// What a cell may use while so many others are open.
    fn share(&self, others: usize, helps: bool) -> Resources {
        let Budget { threads, memory } = self.budget;
        Resources {
            // Fewer cells than threads: each of them gets several.
            threads: match helps {
                true => 1,
                false => (threads / (others + 1)).max(1),
            },
            memory: match others == 0 && !helps {
                true => self.most,
                false => self
                    .most
                    .map(|most| most.min(memory.unwrap_or(most) / threads as u64)),
            },
        }
    }
}

/// Waits for the next cell; `None` when there is nothing left to do, or only cells that others
/// do not help with.
fn next(
    queue: &Mutex<Queue>,
    changed: &Condvar,
    plan: &Plan,
    helps: bool,
    monitor: &Monitor,
) -> Option<Turn> {
    let mut queue = lock(queue);
    loop {
        if monitor.interrupted() {
            return None;
        }
        if let Some(index) = queue.waiting.pop_front() {
            let others = queue.running + queue.waiting.len();
            queue.running += 1;
            return Some(Turn {
                index,
                resources: plan.share(others, helps),
                stage: Stage::Shared,
            });
        }
        if helps {
            return None;
        }
        if queue.running == 0 {
            let (index, stage) = queue.aside.pop_front()?;
            queue.running += 1;
            return Some(Turn {
                index,
                resources: Resources {
                    threads: plan.budget.threads,
                    memory: plan.most,
                },
                stage,
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
