//! Two searches take turns: the plain one, which is fast and finds shortest traces, and the
//! one by sets, which goes further where processes mostly read.
//!
//! Each gets a budget that it cannot always live with, the plain one first; then both get
//! more. The plain one starts over, which takes little; the other goes on. Budgets are numbers of states and of steps, so which of them answers
//! depends neither on the machine nor on the number of threads. The first budgets were
//! measured: below some ten thousand states the plain search takes no time to speak of,
//! and its traces are shorter; above, whichever search is the better one is often better by
//! orders of magnitude, so that the time that the other takes until then does not count.

use super::{SearchKind, VerifyOptions};
use crate::limits::{Limits, Monitor, StopReason};
use crate::memory::Semantics;
use crate::program::Program;
use crate::space::{
    End, Exploration, Goal, Progress, Search, SetBudget, SetExplorer, explore, explore_by_rows,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What each of the searches may do before it is the other's turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// States that the plain search may find.
    states: u64,
}

/// What the search by sets may do for each state that the plain search may find, in steps of
/// configurations and comparisons of sets: about ten times as much, in time.
const WORK: u64 = 80;

/// Configurations of one process that the search by sets may meet after its first turn: with
/// more, sets are so large that there is nothing to gain.
const CONFIGURATIONS: usize = 4096;

/// States by which threads together may overrun a limit, or stop before it.
const SLACK: u64 = 1 << 16;

impl Turn {
    /// The plain search takes hardly any time for these.
    pub const FIRST: Turn = Turn { states: 100_000 };

    /// The next turn, with more of everything.
    pub fn next(self) -> Turn {
        Turn {
            states: self.states.saturating_mul(3),
        }
    }

    /// Steps and comparisons that the search by view logs may make: a fraction of a second
    /// at first.
    pub fn log_work(self) -> u64 {
        self.states.saturating_mul(10)
    }
}

/// Searches by sets that wait for their next turn.
#[derive(Default)]
pub struct Paused<'a> {
    /// What each searches under, and the search.
    searches: Vec<(Semantics, SetExplorer<'a>)>,
    /// What will be asked next, unless this question is answered. The search by sets begins
    /// with it on a second thread, up to its next turn and no further: all that it finds is
    /// what it would find in that turn.
    pub next: Option<Semantics>,
    /// One that has come to its end before it was asked.
    ended: Option<(Semantics, Box<Exploration>)>,
}

/// The part of memory that a search may keep while it waits.
const KEPT: u64 = 8;

impl<'a> Paused<'a> {
    /// The memory that there is beside what waits, in bytes.
    fn memory_beside(&self, limits: &Limits) -> Option<u64> {
        let searches = self.searches.iter();
        let taken = searches.map(|(_, search)| search.bytes()).sum();
        limits.max_memory.map(|most| most.saturating_sub(taken))
    }

    /// The search under a semantics that waits, or a new one.
    fn take(
        &mut self,
        semantics: Semantics,
        new: impl Fn(Semantics) -> SetExplorer<'a>,
    ) -> SetExplorer<'a> {
        let known = self.searches.iter().position(|known| known.0 == semantics);
        let known = known.map(|at| self.searches.swap_remove(at).1);
        known.unwrap_or_else(|| new(semantics))
    }

    /// Lets a search wait for its next turn, unless it takes much memory; then it will start
    /// over.
    fn keep(&mut self, semantics: Semantics, sets: SetExplorer<'a>, limits: &Limits) {
        if sets.bytes() < share(limits).unwrap_or(u64::MAX) {
            self.searches.push((semantics, sets));
        }
    }

    /// Goes on with the search by sets for this turn; `None` if it does not come to an end.
    fn proceed(
        &mut self,
        search: &Search,
        new: impl Fn(Semantics) -> SetExplorer<'a>,
        budget: SetBudget,
    ) -> Option<Box<Exploration>> {
        let (semantics, limits) = (search.stepper.semantics, search.limits);
        if let Some((_, found)) = self.ended.take_if(|ended| ended.0 == semantics) {
            return Some(found);
        }
        let mut sets = self.take(semantics, &new);
        let next = self.next.take().filter(|_| search.threads > 1);
        let next = next.map(|next| (next, self.take(next, &new)));
        let reserved = next.as_ref().and_then(|_| share(limits)).unwrap_or(0);
        let room = self.memory_beside(limits);
        let budget = SetBudget {
            max_memory: room.map(|room| room.saturating_sub(reserved)),
            ..budget
        };
        let beside = SetBudget {
            max_memory: share(limits),
            ..budget
        };
        let hold = Arc::new(AtomicBool::new(false));
        let (progress, next) = std::thread::scope(|scope| {
            let next = next.map(|(next, mut sets)| {
                let hold = &hold;
                scope.spawn(move || (next, sets.proceed_beside(beside, hold), sets))
            });
            let progress = sets.proceed(budget);
            hold.store(true, Ordering::Relaxed);
            let next = next.map(|thread| thread.join().expect("no thread panics here"));
            (progress, next)
        });
        match next {
            Some((next, Some(Progress::Ended(found)), _)) => self.ended = Some((next, found)),
            Some((next, Some(_), sets)) => self.keep(next, sets, limits),
            Some((_, None, _)) | None => {}
        }
        match progress {
            Progress::Ended(found) => return Some(found),
            Progress::GivenUp => {}
            Progress::Paused => self.keep(semantics, sets, limits),
        }
        None
    }
}

/// The bytes that a search may keep while it waits.
fn share(limits: &Limits) -> Option<u64> {
    limits.max_memory.map(|most| most / KEPT)
}

/// Searches by the kind that was asked for, and says which search it was; `None` if no search
/// comes to an end in this turn. Where there is no choice, there are no turns.
pub fn explored<'a>(
    program: &'a Program,
    monitor: &'a Monitor,
    search: &Search,
    options: &VerifyOptions,
    turn: Turn,
    paused: &mut Paused<'a>,
) -> Option<(Exploration, SearchKind)> {
    let plain = || Some((all_together(search, options), SearchKind::Plain));
    let choice = matches!(search.goal, Goal::FirstViolation) && !search.stepper.memory.merges();
    let sets = |semantics: Semantics| {
        let stepper = &semantics.stepper(program);
        let search = Search { stepper, ..*search };
        SetExplorer::new(program, monitor, &search, options.symmetry)
    };
    match options.search {
        SearchKind::Auto if choice => in_turn(search, options, sets, turn, paused),
        SearchKind::Auto | SearchKind::Rows => Some(counted(search, options)),
        SearchKind::Sets if choice => {
            let unlimited = SetBudget {
                max_memory: search.limits.max_memory,
                ..SetBudget::UNLIMITED
            };
            match sets(search.stepper.semantics).proceed(unlimited) {
                Progress::Ended(found) => Some((*found, SearchKind::Sets)),
                Progress::Paused | Progress::GivenUp => plain(),
            }
        }
        _ => plain(),
    }
}

/// All states, by rows where that is worth while, or by whoever searches in place of this process
/// alone. Only some of these know levels, so that nothing is said of them.
fn counted(search: &Search, options: &VerifyOptions) -> (Exploration, SearchKind) {
    let (mut found, by_rows) = match options.explorer {
        None => explore_by_rows(search, false),
        Some(_) => (all_together(search, options), false),
    };
    found.statistics.depth = None;
    match by_rows {
        true => (found, SearchKind::Rows),
        false => (found, SearchKind::Plain),
    }
}

fn in_turn<'a>(
    search: &Search,
    options: &VerifyOptions,
    sets: impl Fn(Semantics) -> SetExplorer<'a>,
    turn: Turn,
    paused: &mut Paused<'a>,
) -> Option<(Exploration, SearchKind)> {
    let most = search.limits.max_states.unwrap_or(u64::MAX);
    let allowed = turn.states.saturating_add(SLACK);
    let limits = Limits {
        max_states: Some(allowed.min(most)),
        max_memory: paused.memory_beside(search.limits),
        ..search.limits.clone()
    };
    let within = Search {
        limits: &limits,
        ..*search
    };
    // A first turn is over before others have heard of it.
    let plain = match turn == Turn::FIRST {
        true => explore(&within),
        false => all_together(&within, options),
    };
    let wants_more = allowed < most
        && match plain.end {
            End::Limit(reason) => reason == StopReason::MaxStates,
            // What ends within the slack counts as not ended, so that threads make no
            // difference.
            _ => plain.statistics.states > turn.states,
        };
    let is_out = !wants_more && out_of_room(&plain);
    if !wants_more && !is_out {
        return Some((plain, SearchKind::Plain));
    }
    // Who has few states to spend has not much time, either; more memory is not to be had.
    let states = match is_out {
        true => most,
        false => turn.states,
    };
    paused.next = paused.next.filter(|_| !is_out);
    let budget = SetBudget {
        most_work: states.saturating_mul(WORK),
        most_configurations: match turn.states <= Turn::FIRST.states {
            true => usize::MAX,
            false => CONFIGURATIONS,
        },
        max_memory: None,
    };
    let sets = paused.proceed(search, sets, budget);
    match sets {
        Some(sets) if !out_of_room(&sets) => Some((*sets, SearchKind::Sets)),
        None if !is_out => None,
        _ if is_out => Some((plain, SearchKind::Plain)),
        _ => {
            *paused = Paused::default();
            Some((all_together(search, options), SearchKind::Plain))
        }
    }
}

/// The plain search, by whoever does it in place of this process alone.
pub fn all_together(search: &Search, options: &VerifyOptions) -> Exploration {
    let apart = !search.stepper.memory.merges();
    match &options.explorer {
        Some(explorer) if apart => explorer.explore(search),
        _ => explore(search),
    }
}

/// More time would not help.
fn out_of_room(found: &Exploration) -> bool {
    use StopReason::{MaxMemory, MaxStates, TooWide};
    matches!(found.end, End::Limit(MaxStates | MaxMemory | TooWide))
}
