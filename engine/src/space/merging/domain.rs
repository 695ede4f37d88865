//! What one thread knows of merged states.

use super::merger::Merger;
use crate::limits::{Pace, StopReason};
use crate::space::context::Context;
use crate::space::growing::Domain;
use crate::space::growing::table::Table;
use crate::space::judge::{Judge, Judgement};
use crate::space::layout::{Overflow, State};
use crate::space::pool::PARALLEL;
use crate::space::search::Unfinished;
use crate::space::shared::Pause;
use crate::space::slots::hash;
use crate::space::standstill::{Standstill, StandstillFinder};
use crate::space::successors::{SuccessorCache, Successors};

pub struct MergedStates<'a, const N: usize> {
    context: Context<'a>,
    pub cache: SuccessorCache<'a, N>,
    pub judge: Judge<'a, N>,
    pub merger: Merger<'a, N>,
    pub standstill: StandstillFinder<'a, N>,
    /// A state in which something is wrong.
    pub violating: Option<State<N>>,
    pub reached_final: bool,
    /// It has found a state after which nothing comes.
    pub met_end: bool,
    successors: Successors<N>,
    /// What was done since the limits were last looked at.
    pace: Pace,
}

impl<'a, const N: usize> MergedStates<'a, N> {
    pub fn new(context: Context<'a>) -> MergedStates<'a, N> {
        MergedStates {
            context,
            cache: SuccessorCache::new(context),
            judge: Judge::new(context),
            merger: Merger::new(context),
            standstill: StandstillFinder::new(context),
            violating: None,
            reached_final: false,
            met_end: false,
            successors: Successors::default(),
            pace: Pace::default(),
        }
    }

    /// Nothing comes after such a state.
    fn is_last(&self, judgement: Judgement) -> bool {
        let ends = self.context.search.goal.ends_at_violations();
        judgement == Judgement::Failure || ends && judgement == Judgement::Violation
    }

    /// Nothing comes after this state.
    pub fn ends_at(&mut self, state: &State<N>) -> bool {
        let judgement = self.judge.judge(state);
        self.is_last(judgement)
    }

    /// The slot of the state that another is merged into; `None` if the search has not found
    /// it.
    pub fn slot(&mut self, state: &State<N>, table: &Table<N>) -> Option<usize> {
        let key = self.merger.key(state).ok()?;
        table.find(state, table.home(hash(&key)), self)
    }

    /// The state that another is merged into; `None` if the search has not found it.
    pub fn merged(&mut self, state: &State<N>, table: &Table<N>) -> Option<State<N>> {
        table.get(self.slot(state, table)?)
    }

    /// The merged states that a step leads to, while a trace is looked for, those that were
    /// not found left out. Only a state that a limit kept from being expanded has successors
    /// that do not fit the layout.
    pub fn successors_again(
        &mut self,
        state: &State<N>,
        table: &Table<N>,
    ) -> Result<Vec<State<N>>, StopReason> {
        let count = match self.cache.successors(state, &mut self.successors) {
            Ok(_) => self.successors.as_slice().len(),
            Err(Unfinished::Stop(reason)) => return Err(reason),
            Err(Unfinished::Overflow) => 0,
        };
        if self.pace.is_due(1 + count) {
            self.context.check_tracing()?;
        }
        let merged = (0..count).filter_map(|at| {
            let next = self.successors.as_slice()[at];
            self.merged(&next, table)
        });
        Ok(merged.collect())
    }

    /// Something is wrong with a state, a standstill included if those are looked for.
    pub fn violates(&mut self, state: &State<N>) -> Result<bool, StopReason> {
        Ok(match self.judge.judge(state) {
            Judgement::Violation | Judgement::Failure => true,
            Judgement::Fine if self.context.search.standstill != Standstill::Ignored => {
                self.stands_still(state)?
            }
            Judgement::Fine | Judgement::Final => false,
        })
    }

    fn stands_still(&mut self, state: &State<N>) -> Result<bool, StopReason> {
        if self.pace.is_due(1) {
            self.context.check_tracing()?;
        }
        let successors = match self.cache.count(state) {
            Ok(count) => count,
            Err(Unfinished::Stop(reason)) => return Err(reason),
            // Successors that do not fit the layout are some.
            Err(Unfinished::Overflow) => 1,
        };
        self.standstill.is_standstill(state, successors)
    }
}

impl<const N: usize> Domain<N> for MergedStates<'_, N> {
    const WORTH_SHARING: usize = PARALLEL;
    const CHUNK: usize = 64;

    fn initial(&mut self, state: State<N>) -> Result<State<N>, Unfinished> {
        Ok(state)
    }

    #[inline]
    fn key(&mut self, state: &State<N>) -> Result<State<N>, Overflow> {
        self.merger.key(state)
    }

    #[inline]
    fn same_key(&mut self, one: &State<N>, other: &State<N>) -> bool {
        self.merger.same_key(one, other)
    }

    #[inline]
    fn join(&mut self, old: &State<N>, new: &State<N>) -> Result<Option<State<N>>, Overflow> {
        self.merger.join(old, new)
    }

    #[inline]
    fn pending_stores(&mut self, state: &State<N>) -> usize {
        self.merger.pending_stores(state)
    }

    fn add(&mut self, state: &State<N>) -> bool {
        let judgement = self.judge.judge(state);
        if judgement.is_violation() {
            self.violating.get_or_insert(*state);
        }
        self.reached_final |= judgement == Judgement::Final;
        let is_last = self.is_last(judgement);
        self.met_end |= is_last;
        is_last
    }

    /// What properties see of a state does not change when its sets grow.
    #[inline]
    fn grown(&mut self, _: &State<N>, _: &State<N>) {}

    #[inline]
    fn successors(
        &mut self,
        state: &State<N>,
        key: &State<N>,
        out: &mut Successors<N>,
    ) -> Result<u64, Unfinished> {
        self.cache.successors_with_keys(state, key, out)?;
        Ok(out.as_slice().len() as u64)
    }

    fn has_violation(&self) -> bool {
        self.violating.is_some()
    }

    fn pause(&mut self) -> Option<Pause> {
        None
    }

    fn bytes(&self) -> usize {
        self.cache.bytes() + self.merger.bytes()
    }
}
