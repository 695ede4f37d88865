//! Cells of a sweep on other processes.
//!
//! Process 0 has the list of cells, and as many slots for them as the other processes have workers. A
//! cell travels with its program, so that the others need no files; its answer travels back as it
//! would be written down. Only process 0 writes.
//!
//! Cells that are too large for one process come last, when no others are handed out any more: the
//! workers have then returned to `run`, where they search together.

use super::health::SharedHealth;
use super::team::Team;
use crate::experiment::{Finished, Helpers, Question, Resources, Settings, Subject};
use crate::limits::Monitor;
use crate::record::Cell;
use crate::space::Explorer;
use crate::space::spread::{Lost, Peers};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How often it is looked whether the run still stands.
const LOOK: Duration = Duration::from_millis(20);

/// How long others may take to end what they were interrupted in.
const PATIENCE: Duration = Duration::from_secs(2);

/// Something for the first worker to pass on.
pub enum Order {
    /// A task for a process, and where its answer goes.
    Task(usize, Vec<u8>, Sender<Vec<u8>>),
    /// All others are to end soon.
    Interrupt,
}

/// What the first worker and those of other processes write to one another.
#[derive(Serialize, Deserialize)]
enum Letter {
    Task(u64, #[serde(with = "serde_bytes")] Vec<u8>),
    Answer(u64, #[serde(with = "serde_bytes")] Vec<u8>),
    /// The run was interrupted, and is to end soon.
    Interrupt,
    /// There are no more tasks.
    End,
}

/// A cell to answer.
#[derive(Serialize, Deserialize)]
struct Task {
    subject: Subject,
    /// As it is written down.
    cell: String,
    settings: Settings,
    resources: Resources,
}

/// The other processes of a run, which answer cells until they search together, or until this
/// value is dropped.
pub struct CellHelpers {
    /// Until all search together.
    orders: Mutex<Option<Sender<Order>>>,
    processes: usize,
    /// Workers of each.
    threads: usize,
    /// All processes, when they search together.
    explorer: Arc<dyn Explorer>,
    health: SharedHealth,
}

impl CellHelpers {
    pub fn new(
        orders: Sender<Order>,
        (processes, threads): (usize, usize),
        explorer: Arc<dyn Explorer>,
        health: SharedHealth,
    ) -> CellHelpers {
        CellHelpers {
            orders: Mutex::new(Some(orders)),
            processes,
            threads,
            explorer,
            health,
        }
    }

    fn give(&self, order: Order) {
        let orders = self.orders.lock().expect("no thread panics here");
        if let Some(orders) = &*orders {
            // If nobody takes orders any more, the run has failed, which is known elsewhere.
            let _ = orders.send(order);
        }
    }

    /// The answer of another process, unless the run ends before.
    fn wait(&self, answer: &Receiver<Vec<u8>>) -> Option<Vec<u8>> {
        let mut interrupted: Option<Instant> = None;
        loop {
            match answer.recv_timeout(LOOK) {
                Ok(bytes) => return Some(bytes),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) if self.health.has_failed() => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
            match interrupted {
                None if self.health.monitor.interrupted() => {
                    self.give(Order::Interrupt);
                    interrupted = Some(Instant::now());
                }
                Some(since) if since.elapsed() > PATIENCE => return None,
                _ => {}
            }
        }
    }
}

impl Helpers for CellHelpers {
    fn slots(&self) -> usize {
        (self.processes - 1) * self.threads
    }

    fn answer(&self, slot: usize, question: &Question) -> Option<Finished> {
        let process = 1 + slot % (self.processes - 1);
        let task = Task {
            subject: question.subject.clone(),
            cell: serde_json::to_string(question.cell).expect("cells can be written down"),
            settings: question.settings.clone(),
            resources: question.resources,
        };
        let task = postcard::to_stdvec(&task).expect("tasks have known lengths");
        let (reply, answer) = mpsc::channel();
        self.give(Order::Task(process, task, reply));
        let answer = self.wait(&answer)?;
        let finished: Option<Finished> = serde_json::from_slice(&answer).ok();
        let asked = |finished: &Finished| finished.record.cell == *question.cell;
        let Some(finished) = finished.filter(asked) else {
            let peer = self.health.name_of(process);
            self.health.fail(format!("{peer} sent a malformed message"));
            return None;
        };
        Some(finished)
    }

    fn together(&self) -> Arc<dyn Explorer> {
        // Whoever hands cells out ends when nobody gives orders.
        *self.orders.lock().expect("no thread panics here") = None;
        self.explorer.clone()
    }
}

/// The part of the first worker: passes tasks and answers on, until nobody gives orders.
pub fn hand_out(
    team: &mut Team,
    threads: usize,
    orders: &Receiver<Order>,
    health: &SharedHealth,
) -> Result<(), Lost> {
    let mut open: HashMap<u64, (usize, Sender<Vec<u8>>)> = HashMap::new();
    let mut number = 0;
    let others: Vec<usize> = (threads..team.count()).step_by(threads).collect();
    loop {
        match orders.try_recv() {
            Ok(Order::Task(process, task, reply)) => {
                number += 1;
                let to = process * threads;
                open.insert(number, (to, reply));
                team.post(to, encode(&Letter::Task(number, task)));
                continue;
            }
            Ok(Order::Interrupt) => {
                for to in &others {
                    team.post(*to, encode(&Letter::Interrupt));
                }
            }
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => break,
        }
        while let Some((from, letter)) = team.next_letter() {
            match postcard::from_bytes(&letter) {
                Ok(Letter::Answer(number, answer)) => match open.remove(&number) {
                    Some((to, reply)) if to == from => drop(reply.send(answer)),
                    _ => return Err(team.reject(from)),
                },
                // Somebody has interrupted that process.
                Ok(Letter::Interrupt) => health.monitor.interrupt(),
                Ok(Letter::Task(..) | Letter::End) | Err(_) => return Err(team.reject(from)),
            }
        }
        team.linger()?;
    }
    for to in &others {
        team.post(*to, encode(&Letter::End));
    }
    Ok(())
}

/// The part of another process: answers tasks, each with at most so many bytes, until there are
/// no more.
pub fn answer_cells(team: &mut Team, most: u64, health: &SharedHealth) -> Result<(), Lost> {
    let (tell, answers) = mpsc::channel::<(u64, Vec<u8>)>();
    let mut told = false;
    loop {
        while let Some((from, letter)) = team.next_letter() {
            let letter = match from {
                0 => postcard::from_bytes(&letter).ok(),
                _ => None,
            };
            match letter {
                Some(Letter::Task(number, task)) => {
                    let Ok(task) = postcard::from_bytes::<Task>(&task) else {
                        return Err(team.reject(from));
                    };
                    let Ok(cell) = serde_json::from_str::<Cell>(&task.cell) else {
                        return Err(team.reject(from));
                    };
                    let (tell, health) = (tell.clone(), health.clone());
                    std::thread::spawn(move || {
                        if let Some(answer) = answer(&task, &cell, most, &health) {
                            let _ = tell.send((number, answer));
                        }
                    });
                }
                Some(Letter::Interrupt) => health.monitor.interrupt(),
                Some(Letter::End) => return Ok(()),
                Some(Letter::Answer(..)) | None => return Err(team.reject(from)),
            }
        }
        if !told && health.monitor.interrupted() {
            told = true;
            team.post(0, encode(&Letter::Interrupt));
        }
        while let Ok((number, answer)) = answers.try_recv() {
            team.post(0, encode(&Letter::Answer(number, answer)));
        }
        team.linger()?;
    }
}

/// The answer to a task; `None` if it failed, which ends the run.
fn answer(task: &Task, cell: &Cell, most: u64, health: &SharedHealth) -> Option<Vec<u8>> {
    let memory = task.resources.memory.unwrap_or(u64::MAX);
    let question = Question {
        subject: &task.subject,
        cell,
        settings: &task.settings,
        resources: Resources {
            memory: Some(memory.min(most)),
            ..task.resources
        },
    };
    let monitor: Arc<Monitor> = Arc::new(health.monitor.sharing());
    let answered = AssertUnwindSafe(|| question.answer(None, &monitor));
    let Ok(finished) = catch_unwind(answered) else {
        health.fail("a worker has failed: this is a defect of fencesmith".to_string());
        return None;
    };
    Some(serde_json::to_vec(&finished).expect("cells can be written down"))
}

fn encode(letter: &Letter) -> Vec<u8> {
    postcard::to_stdvec(letter).expect("letters have known lengths")
}
