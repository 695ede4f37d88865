//! The search of a partially disjunctive model: states that differ only in the contents of
//! buffer sets are one state, whose sets are the unions.
//!
//! Merged states are states that grow ([`growing`]); a [`merger`] says which ones
//! are merged, and [`domain`] is what a thread knows of them. What a search reports is taken from
//! the fixed point afterwards: the number of transitions and of configurations ([`count`]), avoid
//! formulas ([`avoid`]), the shortest trace ([`path`]).

mod avoid;
mod count;
mod domain;
mod merger;
mod path;

use super::avoid::Labels;
use super::context::Context;
use super::growing::{self, table::Table};
use super::layout::Overflow;
use super::search::{Coverage, End, Exploration, Goal, Statistics, Unfinished};
use crate::limits::{Pace, StopReason};
use domain::MergedStates;
use std::sync::atomic::Ordering;

/// Searches to the fixed point.
pub fn explore<const N: usize>(
    context: Context,
    labels: &mut [Labels],
) -> Result<Exploration, Overflow> {
    let mut run = Run::<N>::new(context, || MergedStates::new(context));
    let end = End::of(search(&mut run))?;
    run.report(end, labels)
}

pub use avoid::label_relevant;

/// A search under way.
type Run<'a, const N: usize> = growing::Run<'a, N, MergedStates<'a, N>>;

/// One of its threads.
type Worker<'a, const N: usize> = growing::worker::Worker<N, MergedStates<'a, N>>;

fn search<const N: usize>(run: &mut Run<N>) -> Result<End, Unfinished> {
    run.start()?;
    if !run.context.search.goal.goes_on() && starts_wrong(run)? {
        return Ok(End::FirstViolation);
    }
    run.search()
}

/// Something is wrong with an initial state. Nothing is ever merged into one: its
/// buffers are empty.
fn starts_wrong<const N: usize>(run: &mut Run<N>) -> Result<bool, StopReason> {
    let domain = &mut run.workers.first().domain;
    for state in &run.starts {
        if domain.violates(state)? {
            return Ok(true);
        }
    }
    Ok(false)
}

impl<const N: usize> Run<'_, N> {
    fn report(mut self, mut end: End, labels: &mut [Labels]) -> Result<Exploration, Overflow> {
        let context = self.context;
        let standstill = context.search.standstill.violation();
        let (mut seen, mut reached_final) = (None, false);
        let mut transitions = 0;
        for worker in self.workers.iter() {
            seen = seen.or(worker.domain.violating);
            reached_final |= worker.domain.reached_final;
            transitions += worker.transitions;
        }
        self.forget_queue();
        // A state that was judged to be wrong stays a violation, whatever it is called.
        let judge = &self.workers.first().domain.judge;
        let mut seen = seen.map(|state| judge.violation(&state).unwrap_or(standstill));
        let mut configurations = context.interner.config_count();
        match end {
            End::Exhausted => match self.count() {
                Ok(count) => {
                    transitions = count.transitions;
                    configurations = count.configurations;
                    seen = seen.or(count.standstill.then_some(standstill));
                }
                Err(Unfinished::Stop(reason)) => end = End::Limit(reason),
                Err(Unfinished::Overflow) => return Err(Overflow),
            },
            End::FirstViolation => seen = seen.or(Some(standstill)),
            End::Limit(_) => {}
        }
        let goal = context.search.goal;
        if let (Goal::Labels(_, scope), End::Exhausted) = (goal, end) {
            end = self.label(labels, scope);
        }
        let violation = seen.filter(|_| goal.tagger().is_none()).map(|seen| {
            let found = self.shortest(end);
            end.with_trace(found, seen)
        });
        let (mut snapshots, mut pace) = (Vec::new(), Pace::default());
        let table = self.table.as_ref();
        if let Some(table) = table.filter(|_| goal.wants_snapshots()) {
            let mut all = table.states(0..table.slots());
            let collected =
                all.try_for_each(|(_, state)| context.collect(&state, &mut snapshots, &mut pace));
            end.unless(collected);
        }
        Ok(Exploration {
            end,
            statistics: Statistics {
                states: self.claimed.load(Ordering::Relaxed),
                transitions,
                depth: None,
                configurations,
                table_bytes: table.map_or(0, Table::bytes) as u64,
                bytes: self.bytes(),
            },
            coverage: Coverage {
                reached_final,
                unreached: context.interner.unreached(),
            },
            no_room: false,
            violation,
            snapshots,
        })
    }
}
