//! What a search is, and what it finds.

use super::avoid::{self, Labels};
use super::context::Context;
use super::intern::Interner;
use super::layout::{InWords, Layout, Overflow};
use super::sequential::SequentialStates;
use super::standstill::Standstill;
use super::successors::Tagger;
use super::trace::{Snapshot, Trace};
use super::{breadth, merging};
use crate::limits::{Limits, Monitor, StopReason};
use crate::memory::step::Stepper;
use crate::program::Program;
use crate::property::Violation;
use std::fmt::Debug;

/// What to search, and how.
pub struct Search<'a> {
    pub stepper: &'a Stepper<'a>,
    pub goal: Goal<'a>,
    /// Which states are violations because nothing goes on in them.
    pub standstill: Standstill,
    pub limits: &'a Limits,
    pub monitor: &'a Monitor,
    pub threads: usize,
}

/// Whoever searches in place of this process alone: several processes together.
pub trait Explorer: Debug + Send + Sync {
    /// Finds what [`explore`] finds, with the same traces and counts. Only states that are kept
    /// apart are searched, for a first violation or for their number.
    fn explore(&self, search: &Search) -> Exploration;
}

/// What a search is for.
#[derive(Clone, Copy)]
pub enum Goal<'a> {
    /// A shortest way to a violation; the search ends with the first level that has one.
    FirstViolation,
    /// The same, where a state without pending stores that sequential consistency does not
    /// reach is a violation.
    Robustness(&'a SequentialStates),
    /// The number of states, those behind violations included.
    AllStates,
    /// All states themselves, unpacked.
    Snapshots,
    /// Labels for all states up to violations, with the tags of this tagger; see
    /// [`label_states`].
    Labels(Tagger<'a>, Scope),
}

/// Which states are labelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All of them.
    Whole,
    /// Those that matter to the formula, as far as it is known. States that are merged have
    /// all been merged before.
    Relevant,
    /// The same, and no others are found and merged.
    OnlyRelevant,
}

/// What a search found.
#[derive(Debug)]
pub struct Exploration {
    pub end: End,
    pub statistics: Statistics,
    pub coverage: Coverage,
    /// Some store had to wait for room in its buffer.
    pub no_room: bool,
    /// A violation, and a shortest way to it (none if the search for it was interrupted).
    pub violation: Option<(Violation, Option<Trace>)>,
    /// All states, if they were asked for; without those in which a statement failed.
    pub snapshots: Vec<Snapshot>,
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// All reachable states were found.
    Exhausted,
    /// It stopped at the first level with a violation.
    FirstViolation,
    Limit(StopReason),
}

/// Why a search, or a part of it, did not come to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unfinished {
    /// A component no longer fits its field.
    Overflow,
    Stop(StopReason),
}

impl From<Overflow> for Unfinished {
    fn from(_: Overflow) -> Unfinished {
        Unfinished::Overflow
    }
}

impl From<StopReason> for Unfinished {
    fn from(reason: StopReason) -> Unfinished {
        Unfinished::Stop(reason)
    }
}

impl End {
    /// How a search ended; one that ran into an overflow has to start over.
    pub(super) fn of(search: Result<End, Unfinished>) -> Result<End, Overflow> {
        match search {
            Ok(end) => Ok(end),
            Err(Unfinished::Stop(reason)) => Ok(End::Limit(reason)),
            Err(Unfinished::Overflow) => Err(Overflow),
        }
    }

    /// A violation with the trace to it. If a limit kept the trace from being found, that
    /// is how the search ends, and a violation that was seen stands alone.
    pub(super) fn with_trace(
        &mut self,
        found: Result<(Violation, Trace), StopReason>,
        seen: Violation,
    ) -> (Violation, Option<Trace>) {
        match found {
            Ok((violation, trace)) => (violation, Some(trace)),
            Err(reason) => {
                self.cut_short(reason);
                (seen, None)
            }
        }
    }

    /// Takes note of a limit that was reached in what comes after the search.
    pub(super) fn unless(&mut self, done: Result<(), StopReason>) {
        if let Err(reason) = done {
            self.cut_short(reason);
        }
    }

    /// Takes note of a limit, unless another one came first.
    fn cut_short(&mut self, reason: StopReason) {
        if !matches!(self, End::Limit(_)) {
            *self = End::Limit(reason);
        }
    }
}

/// What a search took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    pub states: u64,
    /// The transitions out of the states that were expanded. A state of a partially
    /// disjunctive model counts as it is in the end; if a limit cut the search short, as it
    /// was when it was first expanded. The whole space never has fewer.
    pub transitions: u64,
    /// Completed levels, if the search went by levels.
    pub depth: Option<u64>,
    /// Distinct configurations, over all processes. Those that states of a partially
    /// disjunctive model had only before they grew count if a limit cut the search short.
    pub configurations: usize,
    /// The size of the visited set.
    pub table_bytes: u64,
    /// The size of everything.
    pub bytes: u64,
}

/// Which parts of the properties were put to the test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Some state has every process stopped and every buffer empty.
    pub reached_final: bool,
    /// For each property, the named labels that no process reached.
    pub unreached: Vec<Vec<String>>,
}

impl<'a> Goal<'a> {
    /// The search goes on when it has found a violation.
    pub(super) fn goes_on(&self) -> bool {
        !matches!(self, Goal::FirstViolation | Goal::Robustness(_))
    }

    /// The tagger of transitions.
    pub(super) fn tagger(&self) -> Option<Tagger<'a>> {
        match self {
            Goal::Labels(tagger, _) => Some(*tagger),
            _ => None,
        }
    }

    /// What comes after a violation does not count.
    pub(super) fn ends_at_violations(&self) -> bool {
        self.tagger().is_some()
    }

    /// All states are wanted, unpacked.
    pub(super) fn wants_snapshots(&self) -> bool {
        matches!(self, Goal::Snapshots)
    }
}

/// Searches the state space of a program.
pub fn explore(search: &Search) -> Exploration {
    explore_labelled(search, &mut [])
}

/// Computes labels for the states of a program, one set of them after another; the first
/// decides how the search ends and what it is said to have taken.
pub fn label_states(search: &Search, labels: &mut [Labels]) -> Exploration {
    explore_labelled(search, labels)
}

fn explore_labelled(search: &Search, labels: &mut [Labels]) -> Exploration {
    let merges = search.stepper.memory.merges();
    let found = with_layout(
        search,
        |interner| interner.layout(merges),
        |context| {
            let labels = &mut *labels;
            context.layout.in_its_words(Attempt { context, labels })
        },
    );
    found.unwrap_or_else(|| Exploration::none(StopReason::TooWide, search.stepper.program))
}

/// Searches with the layout that is planned for what was met so far. A component that outgrows
/// its field makes the search start over with wider fields; the interned components stay. `None`
/// if states are too wide.
pub(super) fn with_layout<T>(
    search: &Search,
    plan: impl Fn(&Interner) -> Option<Layout>,
    mut attempt: impl FnMut(Context) -> Result<T, Overflow>,
) -> Option<T> {
    let interner = Interner::new(search.stepper.program);
    loop {
        let layout = plan(&interner)?;
        let context = Context {
            search,
            interner: &interner,
            layout: &layout,
        };
        if let Ok(found) = attempt(context) {
            return Some(found);
        }
    }
}

/// A search with one layout.
struct Attempt<'a, 'l> {
    context: Context<'a>,
    labels: &'a mut [Labels<'l>],
}

impl InWords for Attempt<'_, '_> {
    type Done = Result<Exploration, Overflow>;

    fn run<const N: usize>(self) -> Result<Exploration, Overflow> {
        let Attempt { context, labels } = self;
        let merges = context.search.stepper.memory.merges();
        match context.search.goal {
            Goal::Labels(_, Scope::OnlyRelevant) if merges => {
                merging::label_relevant::<N>(context, labels)
            }
            _ if merges => merging::explore::<N>(context, labels),
            Goal::Labels(_, scope) => avoid::explore::<N>(context, labels, scope),
            _ => breadth::explore::<N>(context),
        }
    }
}

impl Exploration {
    /// A search that could not even begin.
    pub fn none(reason: StopReason, program: &Program) -> Exploration {
        Exploration {
            end: End::Limit(reason),
            statistics: Statistics::default(),
            coverage: Coverage {
                reached_final: false,
                unreached: vec![Vec::new(); program.properties.len()],
            },
            no_room: false,
            violation: None,
            snapshots: Vec::new(),
        }
    }
}
