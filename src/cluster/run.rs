//! A run of several processes: one leads, the others join.

use super::cells::{CellHelpers, Order, answer_cells, hand_out};
use super::checkpoint::{Checkpoints, WorkerFiles};
use super::handshake::{Party, Refusal};
use super::health::{SharedHealth, rest};
use super::question::{Command, Question};
use super::team::Team;
use crate::limits::StopReason;
use crate::space::spread::{self, Journal, Lost, Peers};
use crate::space::{End, Exploration, Explorer, Goal, Search, explore};
use std::fmt;
use std::net::TcpListener;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use timely::WorkerConfig;
use timely::communication::Hooks;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::allocator::{AllocatorBuilder, ProcessBuilder};

/// How often it is looked whether the run still stands.
const LOOK: Duration = Duration::from_millis(20);

/// How long the last messages may take.
const FAREWELL: Duration = Duration::from_secs(2);

/// How long others may take to hear why the run has failed.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// What a process brings to a run.
pub struct Place<'a> {
    /// The port that it listens on.
    pub listener: &'a TcpListener,
    /// How long the others are waited for.
    pub wait: Duration,
    /// Bytes that all of its workers may take together.
    pub max_memory: Option<u64>,
    pub checkpoints: Option<&'a Checkpoints>,
}

/// All processes of a run, as process 0 leads them.
pub struct Cluster {
    jobs: Mutex<Sender<Job>>,
    health: SharedHealth,
    /// Bytes for the workers of this process.
    max_memory: Arc<AtomicU64>,
    ended: Mutex<Receiver<u8>>,
    processes: usize,
    /// Workers of each process.
    threads: usize,
}

/// Something for all workers to do, and where the first puts what was found.
struct Job {
    command: Vec<u8>,
    reply: Reply,
}

/// What the first worker has to do with others of its process meanwhile.
#[derive(Default)]
enum Reply {
    #[default]
    Nothing,
    Found(Sender<Exploration>),
    Cells(Receiver<Order>),
}

/// What the workers of one process have in common.
struct Workplace {
    jobs: Mutex<Option<Receiver<Job>>>,
    health: SharedHealth,
    max_memory: Arc<AtomicU64>,
    threads: u64,
    checkpoints: Option<Checkpoints>,
}

/// Starts the workers of process 0 when all other processes have come.
pub fn lead(party: &Party, place: &Place) -> Result<Cluster, Refusal> {
    let (jobs, to_do) = mpsc::channel();
    let max_memory = bytes(place.max_memory);
    let ended = start(party, place, Some(to_do), max_memory.clone())?;
    Ok(Cluster {
        jobs: Mutex::new(jobs),
        health: party.health.clone(),
        max_memory,
        ended: Mutex::new(ended),
        processes: party.roster.addresses.len(),
        threads: party.terms.threads as usize,
    })
}

/// Takes part in the searches of process 0 until the run ends: its exit code, or what has failed.
pub fn join(party: &Party, place: &Place) -> Result<Result<u8, String>, Refusal> {
    let ended = start(party, place, None, bytes(place.max_memory))?;
    loop {
        if let Ok(code) = ended.recv_timeout(LOOK) {
            return Ok(Ok(code));
        }
        if let Some(text) = party.health.failure() {
            std::thread::sleep(LAST_WORDS);
            return Ok(Err(text));
        }
    }
}

fn bytes(most: Option<u64>) -> Arc<AtomicU64> {
    Arc::new(AtomicU64::new(most.unwrap_or(u64::MAX)))
}

/// Starts the workers of this process; the exit code comes when all have ended.
fn start(
    party: &Party,
    place: &Place,
    jobs: Option<Receiver<Job>>,
    max_memory: Arc<AtomicU64>,
) -> Result<Receiver<u8>, Refusal> {
    let health = party.health.clone();
    std::thread::spawn(move || health.beat());
    let channels = party.assemble(place.listener, place.wait)?;
    let threads = party.terms.threads as usize;
    let workplace = Arc::new(Workplace {
        jobs: Mutex::new(jobs),
        health: party.health.clone(),
        max_memory,
        threads: threads as u64,
        checkpoints: place.checkpoints.cloned(),
    });
    let failed = |why: String| Refusal::Unreachable(format!("cannot start workers: {why}"));
    let hooks = Hooks::default();
    let local = ProcessBuilder::new_typed_vector(threads, hooks.refill.clone(), None);
    let network = initialize_networking_from_sockets(local, channels, party.own, threads, hooks);
    let (builders, connections) = network.map_err(|error| failed(error.to_string()))?;
    let builders = builders.into_iter().map(AllocatorBuilder::Tcp).collect();
    let config = WorkerConfig::default();
    let work = move |worker: &mut timely::worker::Worker| {
        // What a worker has left behind is not looked at again.
        let work = AssertUnwindSafe(|| workplace.work(worker));
        catch_unwind(work).unwrap_or_else(|_| {
            let text = "a worker has failed: this is a defect of fencesmith";
            workplace.health.fail(text.to_string());
            rest()
        })
    };
    let guards = timely::execute::execute_from(builders, Box::new(connections), config, work);
    let guards = guards.map_err(failed)?;
    let (tell, ended) = mpsc::channel();
    std::thread::spawn(move || {
        let codes = guards.join().into_iter().flatten();
        let _ = tell.send(codes.max().unwrap_or_default());
    });
    Ok(ended)
}

impl Workplace {
    /// The work of one worker: searches until the run ends with an exit code.
    fn work(&self, worker: &mut timely::worker::Worker) -> u8 {
        let mut team = Team::new(worker, self.health.clone(), self.threads as usize);
        let jobs = match team.own() {
            0 => self.jobs.lock().expect("no thread panics here").take(),
            _ => None,
        };
        loop {
            let job = jobs
                .as_ref()
                .map(|jobs| jobs.recv().unwrap_or_else(|_| rest()));
            let (command, reply) =
                job.map_or_else(Default::default, |job| (job.command, job.reply));
            let Ok(said) = team.round(command) else {
                rest();
            };
            match postcard::from_bytes(&said[0]) {
                Ok(Command::Search(question)) => {
                    let found = self.search(&question, &mut team);
                    if let Reply::Found(reply) = reply {
                        let _ = reply.send(found);
                    }
                }
                Ok(Command::Cells) => {
                    if self.take_cells(&mut team, reply).is_err() {
                        rest();
                    }
                }
                Ok(Command::End(code)) => {
                    self.health.end();
                    return code;
                }
                Err(_) => {
                    team.reject(0);
                    rest();
                }
            }
        }
    }

    /// Hands cells out, or answers them, until there are none.
    fn take_cells(&self, team: &mut Team, reply: Reply) -> Result<(), Lost> {
        let threads = self.threads as usize;
        if let Reply::Cells(orders) = reply {
            hand_out(team, threads, &orders, &self.health)?;
        } else if team.own() >= threads && team.own().is_multiple_of(threads) {
            let most = self.max_memory.load(Ordering::Relaxed) / self.threads;
            answer_cells(team, most, &self.health)?;
        }
        team.round(Vec::new()).map(drop)
    }

    fn search(&self, question: &Question, team: &mut Team) -> Exploration {
        let most = (self.threads, self.max_memory.load(Ordering::Relaxed));
        let found = self.journal(question, team).and_then(|mut journal| {
            let journal = journal.as_mut().map(|files| files as &mut dyn Journal);
            question.ask(most, &self.health.monitor, |search| {
                spread::explore(search, team, journal)
            })
        });
        found.unwrap_or_else(|_| rest())
    }

    /// The checkpoints of one worker, if there are to be any.
    fn journal(&self, question: &Question, team: &Team) -> Result<Option<WorkerFiles>, Lost> {
        let Some(checkpoints) = &self.checkpoints else {
            return Ok(None);
        };
        let worker = (team.own(), team.count());
        let files = checkpoints.of_worker(question.digest(), worker, &self.health);
        files.map(Some)
    }
}

impl Cluster {
    /// Ends the run on all processes, with an exit code.
    pub fn end(&self, code: u8) {
        self.give(Command::End(code), Reply::Nothing);
        if !self.health.has_failed() {
            let ended = self.ended.lock().expect("no thread panics here");
            let _ = ended.recv_timeout(FAREWELL);
        }
    }

    /// What has failed, if anything has.
    pub fn failure(&self) -> Option<String> {
        let failure = self.health.failure();
        if failure.is_some() {
            std::thread::sleep(LAST_WORDS);
        }
        failure
    }

    /// The other processes, as helpers with the cells of a sweep. A cell that all answer together
    /// may take so many bytes.
    pub fn help_with_cells(self: Arc<Self>, memory: Option<u64>) -> CellHelpers {
        let (orders, to_hand_out) = mpsc::channel();
        self.give(Command::Cells, Reply::Cells(to_hand_out));
        let workers = (self.processes, self.threads);
        let health = self.health.clone();
        let explorer = Arc::new(Together {
            each: memory.map(|memory| memory / self.processes as u64),
            cluster: self,
        });
        CellHelpers::new(orders, workers, explorer, health)
    }

    fn give(&self, command: Command, reply: Reply) {
        let command = postcard::to_stdvec(&command).expect("commands have known lengths");
        let jobs = self.jobs.lock().expect("no thread panics here");
        // A worker that is gone has failed, which is known elsewhere.
        let _ = jobs.send(Job { command, reply });
    }

    /// Searches with all workers; each process takes at most so many bytes.
    fn search(&self, search: &Search, each: Option<u64>) -> Exploration {
        let asks = matches!(search.goal, Goal::FirstViolation | Goal::AllStates);
        if !asks || search.stepper.memory.merges() {
            return explore(search);
        }
        let most = search.limits.max_memory.unwrap_or(u64::MAX);
        self.max_memory.store(most, Ordering::Relaxed);
        let (reply, answer) = mpsc::channel();
        let question = Box::new(Question::new(search, each));
        self.give(Command::Search(question), Reply::Found(reply));
        loop {
            match answer.recv_timeout(LOOK) {
                Ok(found) => {
                    // Somebody may have interrupted another process.
                    if found.end == End::Limit(StopReason::Interrupted) {
                        search.monitor.interrupt();
                    }
                    return found;
                }
                Err(RecvTimeoutError::Timeout) if !self.health.has_failed() => {
                    let (states, depth) = self.health.monitor.progress();
                    search.monitor.report(states, depth);
                }
                Err(_) => {
                    search.monitor.lose();
                    return Exploration::none(StopReason::Lost, search.stepper.program);
                }
            }
        }
    }
}

impl Explorer for Cluster {
    fn explore(&self, search: &Search) -> Exploration {
        self.search(search, None)
    }
}

/// All processes, each with at most so many bytes.
#[derive(Debug)]
struct Together {
    cluster: Arc<Cluster>,
    each: Option<u64>,
}

impl Explorer for Together {
    fn explore(&self, search: &Search) -> Exploration {
        self.cluster.search(search, self.each)
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cluster")
    }
}
