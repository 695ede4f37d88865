//! One worker's part in a search: rounds and levels.

use super::directory::Directory;
use super::journal::{Journal, Written};
use super::parcel::{Fault, Incoming, Outgoing, Parcel, UnusedCodes};
use super::{Halt, Lost, Peers, decode, decode_all, encode};
use crate::limits::{Pace, StopReason};
use crate::memory::step::Config;
use crate::program::ProcessId;
use crate::space::breadth::table::Table;
use crate::space::context::Context;
use crate::space::initial::for_each_initial;
use crate::space::intern::Widths;
use crate::space::judge::Judge;
use crate::space::layout::State;
use crate::space::level::Level;
use crate::space::search::{Coverage, End, Exploration, Statistics, Unfinished};
use crate::space::standstill::StandstillFinder;
use crate::space::successors::{SuccessorCache, Successors};
use ahash::AHashSet;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Rounds that a worker may be ahead of those that are over.
const AHEAD: u64 = 2;

/// A worker's tables and what it has found.
pub struct Member<'a, 'p, const N: usize> {
    pub context: Context<'a>,
    pub peers: &'p mut dyn Peers,
    /// The index of this worker.
    pub own: usize,
    pub widths: Widths,
    pub journal: Option<&'p mut dyn Journal>,
    pub written: Written,
    pub directory: Directory<'a, N>,
    unused: UnusedCodes,
    /// By worker.
    pub outgoing: Vec<Outgoing>,
    incoming: Vec<Incoming>,
    /// States that have just arrived.
    pub arrived: Vec<State<N>>,
    /// Configurations that count with this worker.
    pub counted: AHashSet<(ProcessId, Config)>,
    pub table: Option<Table<N>>,
    /// The number of own states.
    pub states: u64,
    pub levels: Vec<Level<N>>,
    pub next: Level<N>,
    /// States in which a statement has failed: they are in no level.
    pub failed: Vec<State<N>>,
    /// Violating states among the new ones.
    pub violations: Vec<State<N>>,
    /// Expanded states in which nothing goes on.
    pub standstills: Vec<State<N>>,
    /// The first level with violations, and those of its states that this worker owns.
    pub errors: Option<(usize, Vec<State<N>>)>,
    pub cache: SuccessorCache<'a, N>,
    pub judge: Judge<'a, N>,
    pub standstill: StandstillFinder<'a, N>,
    pub successors: Successors<N>,
    /// States whose slots are being fetched.
    pub pending: Vec<State<N>>,
    /// By hash; successors that came up lately.
    pub recent: Vec<State<N>>,
    pub pace: Pace,
    pub transitions: u64,
    pub no_room: bool,
    pub reached_final: bool,
    /// What keeps this worker from going on.
    pub obstacle: Option<Unfinished>,
    /// A trace is looked for: states that arrive are those on the way.
    pub tracing: bool,
    /// Rounds that this worker has ended and not yet taken the reports of.
    open: u64,
}

/// How far a worker is at the end of a round.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Report {
    /// It has nothing left to expand in this level.
    idle: bool,
    stop: Option<StopReason>,
    overflow: bool,
    states: u64,
    /// States of the next level.
    frontier: u64,
    violations: bool,
    standstills: bool,
    /// It is time to write down what was found.
    save: bool,
}

impl Report {
    /// How far all are, by the reports of a round.
    fn of_all(reports: &[Report]) -> Report {
        Report {
            idle: reports.iter().all(|report| report.idle),
            stop: reports.iter().find_map(|report| report.stop),
            overflow: reports.iter().any(|report| report.overflow),
            states: reports.iter().map(|report| report.states).sum(),
            frontier: reports.iter().map(|report| report.frontier).sum(),
            violations: reports.iter().any(|report| report.violations),
            standstills: reports.iter().any(|report| report.standstills),
            save: reports.iter().any(|report| report.save),
        }
    }
}

/// What a worker adds to the statistics.
#[derive(Serialize, Deserialize)]
struct Account {
    states: u64,
    transitions: u64,
    configurations: usize,
    table_bytes: u64,
    bytes: u64,
    reached_final: bool,
    no_room: bool,
    unreached: Vec<Vec<String>>,
}

impl<'a, 'p, const N: usize> Member<'a, 'p, N> {
    pub fn new(
        context: Context<'a>,
        widths: Widths,
        peers: &'p mut dyn Peers,
        journal: Option<&'p mut dyn Journal>,
    ) -> Member<'a, 'p, N> {
        let (own, workers) = (peers.own(), peers.count());
        let directory = Directory::new(context, workers);
        let components = directory.components.len();
        Member {
            context,
            peers,
            own,
            widths,
            journal,
            written: Written::default(),
            directory,
            unused: UnusedCodes::new(&context),
            outgoing: (0..workers).map(|_| Outgoing::new(components)).collect(),
            incoming: (0..workers).map(|_| Incoming::new(components)).collect(),
            arrived: Vec::new(),
            counted: AHashSet::new(),
            table: None,
            states: 0,
            levels: Vec::new(),
            next: Level::new(),
            failed: Vec::new(),
            violations: Vec::new(),
            standstills: Vec::new(),
            errors: None,
            cache: SuccessorCache::new(context),
            judge: Judge::new(context),
            standstill: StandstillFinder::new(context),
            successors: Successors::default(),
            pending: Vec::new(),
            recent: Vec::new(),
            pace: Pace::default(),
            transitions: 0,
            no_room: false,
            reached_final: false,
            obstacle: None,
            tracing: false,
            open: 0,
        }
    }

    /// Searches until nobody finds anything new, or until there is a reason to stop.
    pub fn go(mut self) -> Result<Exploration, Halt> {
        let end = self.search()?;
        self.report(end)
    }

    fn search(&mut self) -> Result<End, Halt> {
        if self.read_back()? {
            self.expand_level()?;
        } else {
            self.obstacle = self.start().err();
        }
        loop {
            let all = self.finish_level()?;
            if let Some(reason) = all.stop {
                return Ok(End::Limit(reason));
            }
            if self.errors.is_some() && !self.context.search.goal.goes_on() {
                return Ok(End::FirstViolation);
            }
            if all.frontier == 0 {
                return Ok(End::Exhausted);
            }
            if all.save {
                self.write_down()?;
            }
            self.expand_level()?;
        }
    }

    /// Inserts those initial states that this worker owns.
    fn start(&mut self) -> Result<(), Unfinished> {
        let context = self.context;
        for_each_initial(&context, &mut |initial| {
            let state = context.pack(initial)?;
            if self.directory.owner(&state) == self.own {
                self.enqueue_own(state)?;
            }
            Ok(())
        })?;
        self.insert_pending()
    }

    /// Makes what was found a level, and finds out how far all are.
    fn finish_level(&mut self) -> Result<Report, Halt> {
        let depth = self.levels.len();
        let report = self.own_report(true);
        let all = self.meet(&report)?;
        let all = self.standing(Report::of_all(&all));
        if all.overflow {
            return Err(Halt::Overflow);
        }
        self.levels
            .push(std::mem::replace(&mut self.next, Level::new()));
        let violations = std::mem::take(&mut self.violations);
        let standstills = std::mem::take(&mut self.standstills);
        if self.errors.is_none() {
            if all.standstills {
                self.errors = Some((depth - 1, standstills));
            } else if all.violations {
                self.errors = Some((depth, violations));
            }
        }
        let monitor = self.context.search.monitor;
        monitor.report(all.states, self.levels.len() as u64);
        Ok(all)
    }

    /// Expands the last level, in rounds, until all have done so or somebody cannot go on.
    fn expand_level(&mut self) -> Result<(), Halt> {
        let frontier = self.levels.pop().expect("there is a level");
        let mut chunks = frontier.chunks().into_iter().peekable();
        let done = loop {
            if self.obstacle.is_none()
                && let Err(why) = self.expand_portion(&mut chunks)?
            {
                self.obstacle = Some(why);
            }
            let idle = self.obstacle.is_some() || chunks.peek().is_none();
            self.send_parcels();
            let report = self.own_report(idle);
            self.end_round(&report);
            if let Some(done) = self.look_around(idle)? {
                break done;
            }
        };
        self.levels.push(frontier);
        if let Some(reason) = done.stop {
            self.obstacle.get_or_insert(reason.into());
        }
        Ok(())
    }

    /// Takes the reports of rounds: of all of them if there is nothing left to do. If they say
    /// that the level is finished, or cannot be, how far all are.
    fn look_around(&mut self, idle: bool) -> Result<Option<Report>, Halt> {
        while self.open > AHEAD || idle && self.open > 0 {
            let reports: Vec<Report> = self.await_round()?;
            let all = self.standing(Report::of_all(&reports));
            let depth = self.levels.len() as u64 + 1;
            self.context.search.monitor.report(all.states, depth);
            if all.stop.is_some() || all.overflow {
                // Somebody may be as far ahead as anyone may be: so is everybody, then.
                let report = self.own_report(true);
                while self.open < AHEAD {
                    self.end_round(&report);
                }
                while self.open > 0 {
                    self.await_round::<Report>()?;
                }
                return Ok(Some(all));
            }
            // Who has nothing to do has ended no later round, so nobody has.
            if all.idle {
                return Ok(Some(all));
            }
        }
        Ok(None)
    }

    /// How far all are, with the limit on all states.
    fn standing(&self, all: Report) -> Report {
        let most = self.context.search.limits.max_states;
        let too_many = most.is_some_and(|most| all.states > most);
        Report {
            stop: all.stop.or(too_many.then_some(StopReason::MaxStates)),
            ..all
        }
    }

    fn own_report(&self, idle: bool) -> Report {
        Report {
            idle,
            stop: match self.obstacle {
                Some(Unfinished::Stop(reason)) => Some(reason),
                Some(Unfinished::Overflow) | None => None,
            },
            overflow: self.obstacle == Some(Unfinished::Overflow),
            states: self.states,
            frontier: self.next.len() as u64,
            violations: !self.violations.is_empty(),
            standstills: !self.standstills.is_empty(),
            save: self
                .journal
                .as_ref()
                .is_some_and(|journal| journal.is_due()),
        }
    }

    fn end_round(&mut self, report: &impl Serialize) {
        self.peers.end_round(encode(report));
        self.open += 1;
    }

    /// Waits until the oldest open round is over, and meanwhile takes what arrives.
    fn await_round<T: DeserializeOwned>(&mut self) -> Result<Vec<T>, Lost> {
        loop {
            self.take_arrived()?;
            if let Some(reports) = self.peers.take_reports() {
                self.open -= 1;
                return decode_all(self.peers, &reports);
            }
            self.peers.exchange(true)?;
        }
    }

    /// Ends a round and waits for all others.
    pub fn meet<T: Serialize + DeserializeOwned>(&mut self, own: &T) -> Result<Vec<T>, Lost> {
        self.send_parcels();
        self.end_round(own);
        self.await_round()
    }

    /// Sends what waits to be sent.
    fn send_parcels(&mut self) {
        for to in 0..self.outgoing.len() {
            if let Some(parcel) = self.outgoing[to].seal() {
                self.peers.send(to, parcel);
            }
        }
    }

    /// Takes the parcels that have arrived: inserts states that are looked for, or keeps them
    /// in `arrived` while a trace is.
    pub fn take_arrived(&mut self) -> Result<(), Lost> {
        while let Some((from, bytes)) = self.peers.next_batch() {
            match decode(self.peers, from, &bytes)? {
                Parcel::Configs(configs) => self.counted.extend(configs),
                Parcel::States(states) => {
                    let (directory, unused) = (&self.directory, &self.unused);
                    let way = &mut self.incoming[from];
                    match way.open(directory, unused, &states, &mut self.arrived) {
                        Ok(()) => {}
                        Err(Fault::Malformed) => return Err(self.peers.reject(from)),
                        Err(Fault::Overflow) => self.obstacle = Some(Unfinished::Overflow),
                    }
                    if !self.tracing
                        && let Err(why) = self.insert_arrived()
                    {
                        self.obstacle.get_or_insert(why);
                    }
                }
            }
        }
        Ok(())
    }

    fn report(mut self, mut end: End) -> Result<Exploration, Halt> {
        let account = Account {
            states: self.states,
            transitions: self.transitions,
            configurations: self.take_census()?,
            table_bytes: self.table_bytes(),
            bytes: self.bytes(),
            reached_final: self.reached_final,
            no_room: self.no_room,
            unreached: self.context.interner.unreached(),
        };
        let accounts = self.meet(&account)?;
        let depth = self.levels.len() as u64;
        let sum = |part: &dyn Fn(&Account) -> u64| accounts.iter().map(part).sum::<u64>();
        let statistics = Statistics {
            states: sum(&|account| account.states),
            transitions: sum(&|account| account.transitions),
            depth: Some(depth),
            configurations: accounts.iter().map(|account| account.configurations).sum(),
            table_bytes: sum(&|account| account.table_bytes),
            bytes: sum(&|account| account.bytes),
        };
        let mut unreached = account.unreached;
        for (property, labels) in unreached.iter_mut().enumerate() {
            let by_none = |label: &String| {
                let lists = |other: &Account| {
                    let theirs = other.unreached.get(property);
                    theirs.is_some_and(|labels| labels.contains(label))
                };
                accounts.iter().all(lists)
            };
            labels.retain(by_none);
        }
        let coverage = Coverage {
            reached_final: accounts.iter().any(|account| account.reached_final),
            unreached,
        };
        self.table = None;
        let violation = self.trace_errors(&mut end)?;
        Ok(Exploration {
            end,
            statistics,
            coverage,
            no_room: accounts.iter().any(|account| account.no_room),
            violation,
            snapshots: Vec::new(),
        })
    }
}
