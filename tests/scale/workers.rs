//! Workers in one process, with messages in memory that arrive as late as they may: the same
//! states, transitions, depth, coverage and traces as by one search with shared memory.

use fencesmith::limits::{Limits, Monitor, StopReason};
use fencesmith::memory::{Abstraction, Model, Semantics};
use fencesmith::program::Program;
use fencesmith::source::Source;
use fencesmith::space::spread::{self, Lost, Peers};
use fencesmith::space::{End, Exploration, Goal, Search, Standstill, explore};
use fencesmith_testing::cases::{case, families, template_case};
use fencesmith_testing::programs;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// Who has sent something, and what.
type Batch = (usize, Vec<u8>);

/// What all workers have sent, by round.
#[derive(Default)]
struct Post {
    batches: BTreeMap<(u64, usize), Vec<Batch>>,
    reports: BTreeMap<u64, Vec<Option<Vec<u8>>>>,
}

struct Worker {
    own: usize,
    count: usize,
    round: u64,
    oldest: u64,
    post: Arc<(Mutex<Post>, Condvar)>,
}

impl Worker {
    fn post(&self) -> std::sync::MutexGuard<'_, Post> {
        self.post.0.lock().expect("no worker panics")
    }
}

impl Peers for Worker {
    fn own(&self) -> usize {
        self.own
    }

    fn count(&self) -> usize {
        self.count
    }

    fn send(&mut self, to: usize, batch: Vec<u8>) {
        let key = (self.round, to);
        self.post()
            .batches
            .entry(key)
            .or_default()
            .push((self.own, batch));
    }

    fn end_round(&mut self, report: Vec<u8>) {
        let count = self.count;
        let mut post = self.post();
        let reports = post.reports.entry(self.round).or_insert(vec![None; count]);
        reports[self.own] = Some(report);
        drop(post);
        self.round += 1;
        self.post.1.notify_all();
    }

    /// Nothing arrives before its round is over, and the last comes first; only those of one
    /// sender stay in order.
    fn next_batch(&mut self) -> Option<(usize, Vec<u8>)> {
        let (own, oldest) = (self.own, self.oldest);
        let mut post = self.post();
        if !is_over(&post, oldest) {
            return None;
        }
        let batches = post.batches.get_mut(&(oldest, own))?;
        let from = batches.last()?.0;
        let first = batches.iter().position(|(sender, _)| *sender == from)?;
        Some(batches.remove(first))
    }

    fn take_reports(&mut self) -> Option<Vec<Vec<u8>>> {
        let (own, oldest) = (self.own, self.oldest);
        let post = self.post();
        let waiting = post
            .batches
            .get(&(oldest, own))
            .is_some_and(|all| !all.is_empty());
        if waiting || !is_over(&post, oldest) {
            return None;
        }
        let reports = post.reports[&oldest].iter().flatten().cloned().collect();
        drop(post);
        self.oldest += 1;
        Some(reports)
    }

    fn exchange(&mut self, idle: bool) -> Result<(), Lost> {
        let post = self.post();
        if idle && !is_over(&post, self.oldest) {
            let waited = self.post.1.wait_timeout(post, Duration::from_secs(30));
            let waited = waited.expect("no worker panics").1;
            assert!(!waited.timed_out(), "another worker has stopped");
        }
        Ok(())
    }

    fn reject(&mut self, from: usize) -> Lost {
        panic!("worker {from} sent what means nothing");
    }
}

fn is_over(post: &Post, round: u64) -> bool {
    let reports = post.reports.get(&round);
    reports.is_some_and(|reports| reports.iter().all(Option::is_some))
}

/// What the first of so many workers finds.
fn spread(search: &Search, count: usize) -> Exploration {
    let post = Arc::new((Mutex::new(Post::default()), Condvar::new()));
    let found: Vec<Exploration> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..count)
            .map(|own| {
                let mut worker = Worker {
                    own,
                    count,
                    round: 0,
                    oldest: 0,
                    post: post.clone(),
                };
                let monitor = search.monitor.sharing();
                scope.spawn(move || {
                    let own = Search {
                        monitor: &monitor,
                        ..*search
                    };
                    spread::explore(&own, &mut worker, None).expect("nobody is lost")
                })
            })
            .collect();
        let found = workers.into_iter();
        found
            .map(|worker| worker.join().expect("it ends"))
            .collect()
    });
    for other in &found[1..] {
        assert_eq!(other.end, found[0].end);
        assert_eq!(other.statistics, found[0].statistics);
    }
    found.into_iter().next().expect("there is a first worker")
}

pub fn summary(found: &Exploration) -> String {
    let statistics = &found.statistics;
    format!(
        "{:?} {} {} {:?} {} {:?} {} {:#?}",
        found.end,
        statistics.states,
        statistics.transitions,
        statistics.depth,
        statistics.configurations,
        found.coverage,
        found.no_room,
        found.violation
    )
}

const ABSTRACTIONS: [Abstraction; 4] = [
    Abstraction::Fd { k: 1 },
    Abstraction::Fd { k: 0 },
    Abstraction::Exact { bound: 2 },
    Abstraction::Set,
];

/// Compares a search with that in memory on one program, with what follows from the seed; how
/// many states there are.
pub fn compare(
    name: &str,
    program: &Program,
    seed: u64,
    other: impl Fn(&Search) -> Exploration,
) -> u64 {
    let model = [Model::Sc, Model::Tso, Model::Pso][seed as usize % 3];
    let semantics = Semantics::new(model, ABSTRACTIONS[seed as usize / 3 % 4]);
    let stepper = semantics.stepper(program);
    let (limits, monitor) = (Limits::default(), Monitor::default());
    let standstills = [Standstill::Ignored, Standstill::Deadlock, Standstill::Stuck];
    let search = Search {
        stepper: &stepper,
        goal: match seed % 2 {
            0 => Goal::FirstViolation,
            _ => Goal::AllStates,
        },
        standstill: standstills[seed as usize / 2 % 3],
        limits: &limits,
        monitor: &monitor,
        threads: 1,
    };
    let expected = explore(&search);
    let found = other(&search);
    assert_eq!(
        summary(&found),
        summary(&expected),
        "{name}: seed {seed}, {semantics:?}"
    );
    expected.statistics.states
}

#[test]
fn random_programs() {
    let states = compare_random(160, |search, seed| {
        spread(search, [1, 2, 3, 4, 7][seed as usize % 5])
    });
    assert!(states > 20_000, "the programs have states: {states}");
}

/// Compares on so many random programs; how many states there are.
pub fn compare_random(count: u64, other: impl Fn(&Search, u64) -> Exploration) -> u64 {
    let families = families();
    let mut states = 0;
    for seed in 0..count {
        let options = &families[seed as usize % families.len()];
        let case = match seed % 8 {
            7 => template_case(seed),
            _ => case(seed, options),
        };
        states += compare(&case.text, &case.program, seed, |search| {
            other(search, seed)
        });
    }
    states
}

/// One process has more configurations than a first layout has numbers for, and one place more
/// values than it has codes for: all workers start over with wider fields.
#[test]
fn numbers_outgrow_their_fields() {
    let (program, model) = wide();
    agree("wide.fen", &program, model, 50_000, |search| {
        spread(search, 3)
    });
}

pub fn wide() -> (Program, Semantics) {
    let text = "
        shared int x;
        shared bool y;
        process counter { int[0..=400] i; while (i < 400) { store x = 7 * i; i = i + 1; } }
        process a { bool r; load r = y; store y = !r; }
        process b { bool r; load r = y; }
        process c { bool r; load r = y; }
        process d { bool r; load r = y; }
        invariant x < 2793;";
    let program = programs::program(&Source::new("wide.fen", text));
    let model = Semantics::new(Model::Tso, Abstraction::Exact { bound: 1 });
    (program, model)
}

/// Levels that take several rounds.
#[test]
fn a_larger_program() {
    let (program, model) = larger();
    agree("burns-3", &program, model, 200_000, |search| {
        spread(search, 2)
    });
}

pub fn larger() -> (Program, Semantics) {
    let program = programs::program(&programs::source("mutex/burns-3"));
    let model = Semantics::new(Model::Pso, Abstraction::Exact { bound: 2 });
    (program, model)
}

/// Another search finds the same as that in memory, among all states; there are at least so many.
pub fn agree(
    name: &str,
    program: &Program,
    semantics: Semantics,
    least: u64,
    other: impl Fn(&Search) -> Exploration,
) {
    let program = program.fenced(&Default::default());
    let stepper = semantics.stepper(&program);
    let limits = Limits::default();
    let search = Search {
        stepper: &stepper,
        goal: Goal::AllStates,
        standstill: Standstill::Ignored,
        limits: &limits,
        monitor: &Monitor::default(),
        threads: 1,
    };
    let expected = explore(&search);
    assert!(
        expected.statistics.states > least,
        "{name}: {:?}",
        expected.statistics
    );
    let found = other(&search);
    assert_eq!(summary(&found), summary(&expected), "{name}");
}

/// A limit ends all workers alike, and never with a verdict.
#[test]
fn limits_end_all_workers() {
    let program = programs::program(&programs::source("mutex/filter-3"));
    let program = program.fenced(&Default::default());
    let stepper = Semantics::new(Model::Pso, Abstraction::Fd { k: 1 }).stepper(&program);
    let reason = |limits: Limits, monitor: &Monitor| {
        let found = spread(
            &Search {
                stepper: &stepper,
                goal: Goal::AllStates,
                standstill: Standstill::Ignored,
                limits: &limits,
                monitor,
                threads: 1,
            },
            3,
        );
        match found.end {
            End::Limit(reason) => reason,
            end => panic!("it ended with {end:?}"),
        }
    };
    let free = Monitor::default();
    let states = Limits {
        max_states: Some(1000),
        ..Limits::default()
    };
    assert_eq!(reason(states, &free), StopReason::MaxStates);
    let memory = Limits {
        max_memory: Some(1 << 20),
        ..Limits::default()
    };
    assert_eq!(reason(memory, &free), StopReason::MaxMemory);
    let time = Limits {
        deadline: Some(std::time::Instant::now()),
        ..Limits::default()
    };
    assert_eq!(reason(time, &free), StopReason::Timeout);
    let interrupted = Monitor::default();
    interrupted.interrupt();
    assert_eq!(
        reason(Limits::default(), &interrupted),
        StopReason::Interrupted
    );
}
