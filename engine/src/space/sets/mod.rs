//! The search by sets: only writes are steps.
//!
//! Processes influence one another through memory alone. Fix the history of all writes that
//! changed memory, with who made them: what a process may be doing after it does not depend
//! on what the others are doing. Its loads saw memory between two writes, its own writes are
//! in the history, and everything else that it did (loads, stores into its own buffer, local
//! steps, fences, writes of what memory holds already) nobody else could see. So the states
//! that are reached with this history are a product: the memory it leaves, and for each
//! process a set of configurations. The search visits products ([`states`]):
//!
//! - *closure*: a set contains what its members reach by steps that change nothing in memory;
//! - *step*: some members of one set can change memory in the same way; what they become,
//!   closed under the new memory, is the new set of that process, and every other set is
//!   closed under the new memory, its old members included: a process may have waited;
//! - a state whose sets are contained in those of another with the same memory is *covered*:
//!   what it leads to, the other leads to as well. Only maximal states are expanded, the
//!   largest first ([`antichain`]);
//! - members that another member stands for are left out of closed sets ([`hidden`]), unless
//!   all states are wanted;
//! - places that nobody will read have their initial values ([`dead`]), unless all states are
//!   wanted;
//! - states that differ in who is who are one ([`symmetry`]).
//!
//! A violation is a combination of members that violates a property ([`check`]). The trace to
//! it follows the writes and takes each process through its sets on a shortest way
//! ([`path`]).

mod antichain;
mod check;
mod dead;
mod hidden;
mod moves;
mod path;
mod process;
mod sight;
mod standstill;
mod states;
mod symmetry;

use super::search::{Coverage, End, Exploration, Search, Statistics};
use crate::limits::{Limits, Monitor, StopReason};
use crate::memory::step::At;
use crate::program::{Loc, ProcessId, Program};
pub(super) use check::{Check, Observed};
pub(super) use moves::{Change, Class, Interned, accessed_places};
use states::SetSearch;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What a search may still take.
pub(super) struct Budget<'a> {
    limits: Limits,
    pub(super) monitor: &'a Monitor,
    work: u64,
    /// Roughly the memory that is taken.
    pub(super) bytes: u64,
    /// The work at which it pauses before the next expansion; one that takes as much again is
    /// given up.
    most_work: u64,
    /// The configurations of one process at which it is given up.
    most_configurations: usize,
    /// The work at which the limits are looked at again.
    next_look: u64,
    /// It runs beside another search.
    beside: Option<Beside>,
}

/// What a search knows that runs beside another one.
struct Beside {
    /// The other one has ended, and this one is to stop.
    hold: Arc<AtomicBool>,
    /// When that was first seen.
    since: Option<Instant>,
}

impl Beside {
    fn is_held(&self) -> bool {
        self.hold.load(Ordering::Relaxed)
    }
}

/// Why a search ends before all states are found.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ended {
    Limit(StopReason),
    /// It has done what it may do now.
    Paused,
    /// It takes too much work; another search may do better.
    GivenUp,
}

impl From<StopReason> for Ended {
    fn from(reason: StopReason) -> Ended {
        Ended::Limit(reason)
    }
}

impl<'a> Budget<'a> {
    /// A budget of which nothing is spent.
    pub(super) fn new(limits: &Limits, monitor: &'a Monitor, most_work: u64) -> Budget<'a> {
        Budget {
            limits: limits.clone(),
            monitor,
            work: 0,
            bytes: 0,
            most_work,
            most_configurations: usize::MAX,
            next_look: Budget::PACE,
            beside: None,
        }
    }

    /// Work between two looks at the limits: some hundred microseconds.
    const PACE: u64 = 1 << 14;

    /// How long an expansion may go on when the search is to stop.
    const PATIENCE: Duration = Duration::from_millis(2);

    /// Takes note of some work: a step of a configuration, a comparison of two states.
    #[inline]
    pub(super) fn spend(&mut self, work: u64) -> Result<(), Ended> {
        self.work += work;
        match self.work < self.next_look {
            true => Ok(()),
            false => self.look(),
        }
    }

    fn look(&mut self) -> Result<(), Ended> {
        self.next_look = self.work + Self::PACE;
        self.check(0)?;
        self.go_on()?;
        match self.work / 2 >= self.most_work {
            true => Err(Ended::GivenUp),
            false => Ok(()),
        }
    }

    /// Fails if somebody has been waiting for the end of this search for too long. Work that
    /// takes microseconds asks this before it begins.
    pub(super) fn go_on(&mut self) -> Result<(), Ended> {
        let Some(beside) = self.beside.as_mut().filter(|beside| beside.is_held()) else {
            return Ok(());
        };
        let since = beside.since.get_or_insert_with(Instant::now);
        match since.elapsed() > Self::PATIENCE {
            true => Err(Ended::GivenUp),
            false => Ok(()),
        }
    }

    /// Fails if it is time to pause.
    pub(super) fn pause(&self) -> Result<(), Ended> {
        let held = self.beside.as_ref().is_some_and(Beside::is_held);
        match self.work >= self.most_work || held {
            true => Err(Ended::Paused),
            false => Ok(()),
        }
    }

    /// Says how far the search is, unless it runs beside another that does.
    pub(super) fn report(&self, states: u64, depth: u64) {
        if self.beside.is_none() {
            self.monitor.report(states, depth);
        }
    }

    /// The trace to a violation is looked for even if there is hardly any time left, or somebody
    /// waits.
    pub(super) fn allow_trace(&mut self) {
        self.beside = None;
        self.limits = self.limits.with_grace();
        (self.most_work, self.most_configurations) = (u64::MAX, usize::MAX);
    }

    /// Fails if a process has more configurations than sets of them are good for.
    fn check_configurations(&self, configurations: usize) -> Result<(), Ended> {
        match configurations > self.most_configurations {
            true => Err(Ended::GivenUp),
            false => Ok(()),
        }
    }

    /// Fails if there are more states than may be.
    pub(super) fn check_states(&self, states: u64) -> Result<(), StopReason> {
        match self.limits.max_states.is_some_and(|most| states > most) {
            true => Err(StopReason::MaxStates),
            false => Ok(()),
        }
    }

    /// Fails if a limit is reached by work that holds some more memory for a while.
    pub(super) fn check(&self, held: u64) -> Result<(), StopReason> {
        let most = self.limits.max_memory.unwrap_or(u64::MAX);
        if self.bytes + held > most {
            return Err(StopReason::MaxMemory);
        }
        self.monitor.stop(&self.limits).map_or(Ok(()), Err)
    }
}

/// How far to search by sets.
#[derive(Debug, Clone, Copy)]
pub struct SetBudget {
    /// Steps of single configurations and comparisons of states, in all, after which it pauses.
    pub most_work: u64,
    /// Configurations of one process after which it is given up.
    pub most_configurations: usize,
    /// Bytes that it may take.
    pub max_memory: Option<u64>,
}

impl SetBudget {
    /// As far as it takes.
    pub const UNLIMITED: SetBudget = SetBudget {
        most_work: u64::MAX,
        most_configurations: usize::MAX,
        max_memory: None,
    };
}

/// What became of a search that was given some work to do.
pub enum Progress {
    Ended(Box<Exploration>),
    /// There is more to do.
    Paused,
    /// It takes too much; another search may do better. It cannot go on.
    GivenUp,
}

/// A search by sets that can pause and go on.
pub struct SetExplorer<'a> {
    sets: SetSearch<'a>,
}

impl<'a> SetExplorer<'a> {
    /// A search for what another one searches for. If `symmetry` says so, states that differ in
    /// who of interchangeable processes is who are one.
    pub fn new(
        program: &'a Program,
        monitor: &'a Monitor,
        search: &Search,
        symmetry: bool,
    ) -> SetExplorer<'a> {
        let budget = Budget::new(search.limits, monitor, 0);
        let stepper = search.stepper.semantics.stepper(program);
        SetExplorer {
            sets: SetSearch::new(stepper, search, budget, symmetry),
        }
    }

    /// Searches on until nothing new is found, there is a violation (unless all states are
    /// wanted), a limit is reached or the budget is spent.
    pub fn proceed(&mut self, budget: SetBudget) -> Progress {
        self.sets.budget.most_work = budget.most_work;
        self.sets.budget.most_configurations = budget.most_configurations;
        self.sets.budget.limits.max_memory = budget.max_memory;
        let end = match self.sets.run() {
            Ok(()) if self.sets.is_over() => End::FirstViolation,
            Ok(()) => End::Exhausted,
            Err(Ended::Limit(reason)) => End::Limit(reason),
            Err(Ended::Paused) => return Progress::Paused,
            Err(Ended::GivenUp) => return Progress::GivenUp,
        };
        Progress::Ended(Box::new(report(&mut self.sets, end)))
    }

    /// The same beside another search, until it is to `hold`: then it pauses soon. `None` if it
    /// cannot go on later.
    pub fn proceed_beside(
        &mut self,
        budget: SetBudget,
        hold: &Arc<AtomicBool>,
    ) -> Option<Progress> {
        self.sets.budget.beside = Some(Beside {
            hold: hold.clone(),
            since: None,
        });
        let progress = self.proceed(budget);
        self.sets.budget.beside = None;
        match &progress {
            Progress::Ended(found) if matches!(found.end, End::Limit(_)) => None,
            Progress::GivenUp => None,
            Progress::Ended(_) | Progress::Paused => Some(progress),
        }
    }

    /// Bytes that it takes, roughly.
    pub fn bytes(&self) -> u64 {
        self.sets.budget.bytes
    }
}

fn report(sets: &mut SetSearch, mut end: End) -> Exploration {
    let violation = sets.found.take().map(|found| {
        let seen = sets.seen(&found);
        end.with_trace(sets.trace(&found), seen)
    });
    let kinds = sets.kinds.iter();
    Exploration {
        end,
        statistics: Statistics {
            states: sets.kept(),
            transitions: sets.transitions,
            depth: Some(sets.depth),
            configurations: kinds.map(|kind| kind.moves.configs().len()).sum(),
            table_bytes: sets.budget.bytes,
            bytes: sets.budget.bytes,
        },
        coverage: Coverage {
            reached_final: sets.reached_final,
            unreached: unreached(sets),
        },
        no_room: sets.kinds.iter().any(|kind| kind.moves.no_room),
        violation,
        snapshots: match sets.wants_snapshots {
            true => sets.snapshots(),
            false => Vec::new(),
        },
    }
}

/// For each property, the labels it names that no process has reached. Who can be exchanged
/// with a process that has been somewhere can be there as well.
fn unreached(sets: &SetSearch) -> Vec<Vec<String>> {
    let reached = |(process, at): &(ProcessId, Loc)| {
        let alike = sets.symmetry.exchangeable(*process);
        let mut configs = alike.flat_map(|other| sets.kind(other).moves.configs());
        configs.any(|config| config.at == At::Loc(*at))
    };
    let properties = sets.stepper.program.properties.iter();
    let properties = properties.map(|property| {
        let labels = property.labels.iter();
        let labels = labels.filter(|(_, positions)| !positions.iter().any(reached));
        labels.map(|(label, _)| label.clone()).collect()
    });
    properties.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever waits for a search that runs beside another does not wait for a long expansion.
    #[test]
    fn a_search_that_is_held_goes_on_for_a_moment_only() {
        let monitor = Monitor::default();
        let mut budget = Budget::new(&Limits::default(), &monitor, u64::MAX);
        let hold = Arc::new(AtomicBool::new(false));
        budget.beside = Some(Beside {
            hold: hold.clone(),
            since: None,
        });
        assert!(budget.go_on().is_ok() && budget.pause().is_ok());
        hold.store(true, Ordering::Relaxed);
        assert!(matches!(budget.pause(), Err(Ended::Paused)));
        let _ = budget.go_on();
        std::thread::sleep(2 * Budget::PATIENCE);
        assert!(matches!(budget.go_on(), Err(Ended::GivenUp)));
        assert!(matches!(budget.spend(Budget::PACE), Err(Ended::GivenUp)));
    }
}
