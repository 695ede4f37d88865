//! The search by rows: states that differ in one process alone are one row.
//!
//! A *row* is all that is known of one process while memory and the configurations of all others
//! are the same: a set of configurations. The plain search has a state for each of them, and most
//! of what it does is the same for all: a step of another process leads from every state of the
//! row to the state of another row that has the same configuration. So it leads from row to row,
//! whose set grows by the whole set at once. Rows are states that grow
//! ([`growing`]): each is expanded with the set that it has, and again if that has
//! become larger.
//!
//! The rows found in the end are the states of the plain search, no more and no fewer, since rows
//! part them: every state is in the row of its memory and the others, and a step of its own or
//! of another process leads into the row of what that step leaves. What the process does without
//! changing memory stays within its row, so sets are closed under it at once, as in the search by
//! sets. Nothing comes after a state in which a statement has failed: of a set, the members that
//! have failed take no part in any step, and a row in which another process has failed has none.
//! The number of states is the sum of the sizes of all sets; transitions are counted in the same
//! way, set by set, when all is found.
//!
//! Sets are numbered ([`sets`]), and a row is packed like a state, with the number of a set where
//! a configuration would be. There are few sets, since the same ones belong to many rows: what
//! they become together, and what their members do under one view of memory, is worked out once
//! ([`domain`], [`memo`]).
//!
//! A violation is found as a row that has a violating state. There are no levels, so that the
//! shortest trace to a violation is left to the plain search.

mod common;
mod count;
mod domain;
mod memo;
mod sets;

use super::breadth::{self, Sample};
use super::context::Context;
use super::growing::{self, table::Table};
use super::layout::{InWords, Overflow};
use super::search::{
    Coverage, End, Exploration, Goal, Search, Statistics, Unfinished, explore as explore_plainly,
    with_layout,
};
use super::shared::CREDIT;
use super::standstill::Standstill;
use crate::limits::{Limits, StopReason};
use crate::program::ProcessId;
use crate::property::Violation;
use common::{Common, Task};
use domain::Rows;
use sets::Sets;
use std::sync::atomic::Ordering;

/// States for which the plain search takes hardly any time.
const FEW: u64 = 1 << 16;

/// States to a row, of those that are found first, from which on rows are worth while.
const DENSE: f64 = 2.0;

/// Finds what the plain search finds: by rows if they are wanted, or if there are many states and
/// rows are worth while; whether it was so.
pub fn explore(search: &Search, wanted: bool) -> (Exploration, bool) {
    if !fits(search) {
        return (explore_plainly(search), false);
    }
    let most = search.limits.max_states.unwrap_or(u64::MAX);
    // So many that the search ends if there are few, whatever room threads keep for themselves.
    let enough = FEW + CREDIT * search.threads.max(1) as u64;
    let limits = Limits {
        max_states: Some(most.min(enough)),
        ..search.limits.clone()
    };
    let first = Search {
        limits: &limits,
        ..*search
    };
    let sample = with_layout(
        &first,
        |interner| interner.layout(false),
        |context| context.layout.in_its_words(FirstStates { context }),
    );
    let Some(sample) = sample else {
        return (explore_plainly(search), false);
    };
    let found = sample.found;
    // What ends with more states counts as not ended, so that threads make no difference.
    let ended = match found.end {
        End::Limit(reason) => reason != StopReason::MaxStates || most <= enough,
        End::Exhausted | End::FirstViolation => found.statistics.states <= FEW,
    };
    if ended && !wanted {
        return (found, false);
    }
    let densest = sample.density.iter().enumerate();
    let densest = densest.max_by(|one, other| one.1.total_cmp(other.1));
    match densest {
        Some((along, density)) if wanted || *density >= DENSE => {
            let along = ProcessId(along as u32);
            let shown = sample.shows_violation;
            (by_rows(search, along, found, shown), true)
        }
        _ => (explore_plainly(search), false),
    }
}

/// Whether a search can be done by rows.
fn fits(search: &Search) -> bool {
    let goal = match search.goal {
        Goal::FirstViolation | Goal::AllStates | Goal::Snapshots => true,
        Goal::Robustness(_) | Goal::Labels(..) => false,
    };
    goal && search.standstill == Standstill::Ignored && !search.stepper.memory.merges()
}

/// A search for the first states.
struct FirstStates<'a> {
    context: Context<'a>,
}

impl InWords for FirstStates<'_> {
    type Done = Result<Sample, Overflow>;

    fn run<const N: usize>(self) -> Self::Done {
        breadth::sample::<N>(self.context)
    }
}

/// Searches along one process. Some states are known, and a violation among them may be the one
/// that is `shown` in the end.
fn by_rows(search: &Search, along: ProcessId, known: Exploration, shown: bool) -> Exploration {
    let task = Task {
        along,
        sets: Sets::default(),
        limits: search.limits,
        monitor: search.monitor,
    };
    // Rows are counted by their states, and told of by the number of these.
    let limits = Limits {
        max_states: None,
        ..search.limits.clone()
    };
    let monitor = search.monitor.sharing();
    let rows = Search {
        limits: &limits,
        monitor: &monitor,
        ..*search
    };
    let found = with_layout(
        &rows,
        |interner| {
            let widths = interner.widths();
            let widths = widths.with_config_values(along, 4 * task.sets.len());
            widths.layout(true)
        },
        |context| {
            let task = &task;
            context.layout.in_its_words(ByRows { context, task })
        },
    );
    let Some((mut found, seen)) = found else {
        return Exploration::none(StopReason::TooWide, search.stepper.program);
    };
    if matches!(found.end, End::Limit(_)) && found.statistics.states < known.statistics.states {
        let end = found.end;
        return Exploration { end, ..known };
    }
    let Some(seen) = seen.or(known.violation.as_ref().map(|(seen, _)| *seen)) else {
        return found;
    };
    if !search.goal.goes_on() {
        return explore_plainly(search);
    }
    if known.violation.is_some() && (shown || matches!(found.end, End::Limit(_))) {
        found.violation = known.violation;
        return found;
    }
    let traced = explore_plainly(&Search {
        goal: Goal::FirstViolation,
        ..*search
    });
    if let End::Limit(reason) = traced.end {
        found.end.unless(Err(reason));
    }
    found.violation = traced.violation.or(Some((seen, None)));
    found
}

/// A search with one layout.
struct ByRows<'a> {
    context: Context<'a>,
    task: &'a Task<'a>,
}

impl InWords for ByRows<'_> {
    type Done = Result<(Exploration, Option<Violation>), Overflow>;

    fn run<const N: usize>(self) -> Self::Done {
        let ByRows { context, task } = self;
        let common = &Common::new(task);
        let mut run = Run::<N>::new(context, || Rows::new(context, common));
        let end = End::of(run.start().and_then(|()| run.search()))?;
        report(run, common, end)
    }
}

/// A search under way.
type Run<'a, const N: usize> = growing::Run<'a, N, Rows<'a, N>>;

/// What was found, without a trace to a violation; what is wrong with some state, if something
/// is.
fn report<const N: usize>(
    mut run: Run<N>,
    common: &Common<N>,
    mut end: End,
) -> Result<(Exploration, Option<Violation>), Overflow> {
    let context = run.context;
    run.forget_queue();
    let mut states = common.states.load(Ordering::Relaxed);
    let mut transitions = run.workers.iter().map(|worker| worker.transitions).sum();
    if end == End::Exhausted {
        match run.count() {
            Ok(count) => (states, transitions) = (count.states, count.transitions),
            Err(Unfinished::Stop(reason)) => end = End::Limit(reason),
            Err(Unfinished::Overflow) => return Err(Overflow),
        }
    }
    let mut snapshots = Vec::new();
    if context.search.goal.wants_snapshots() {
        end.unless(run.collect(&mut snapshots));
    }
    let (mut seen, mut reached_final, mut no_room) = (None, false, false);
    for worker in run.workers.iter() {
        seen = seen.or(worker.domain.violation());
        reached_final |= worker.domain.reached_final;
        no_room |= worker.domain.no_room;
    }
    let found = Exploration {
        end,
        statistics: Statistics {
            states,
            transitions,
            depth: None,
            configurations: context.interner.config_count(),
            table_bytes: run.table.as_ref().map_or(0, Table::bytes) as u64,
            bytes: run.bytes(),
        },
        coverage: Coverage {
            reached_final,
            unreached: context.interner.unreached(),
        },
        no_room,
        violation: None,
        snapshots,
    };
    Ok((found, seen))
}
