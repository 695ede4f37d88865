//! What one thread knows of rows.

mod learn;
mod steps;

use super::common::Common;
use super::memo::Memo;
use super::sets::SetId;
use crate::limits::{Pace, StopReason};
use crate::program::ProcessId;
use crate::property::Violation;
use crate::space::context::Context;
use crate::space::growing::Domain;
use crate::space::intern::{ClassId, ConfigId};
use crate::space::judge::{Judge, Judgement, Summary};
use crate::space::layout::{Field, Overflow, State};
use crate::space::members::{Gathered, Members};
use crate::space::pool::PARALLEL;
use crate::space::search::Unfinished;
use crate::space::sets::accessed_places;
use crate::space::shared::Pause;
use crate::space::successors::{SuccessorCache, Successors};
use ahash::RandomState;
use indexmap::IndexSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The steps of all members of a closed set under one view of memory.
pub struct SetSteps<const N: usize> {
    /// Those that change memory.
    changes: Vec<Change<N>>,
    /// How many there are, those included that change nothing in memory.
    transitions: u64,
}

pub struct Rows<'a, const N: usize> {
    context: Context<'a>,
    common: &'a Common<'a, N>,
    along: ProcessId,
    cache: SuccessorCache<'a, N>,
    judge: Judge<'a, N>,
    /// Where the set of a row stands.
    field: Field,
    /// Everything but the set.
    others: State<N>,
    /// The places that the process along which rows go accesses.
    view: State<N>,
    /// By set.
    sets: Vec<Option<Known>>,
    /// By process and configuration.
    configs: Vec<Vec<Option<Facts>>>,
    /// What properties see of configurations.
    looks: IndexSet<(Summary, ClassId), RandomState>,
    unions: Memo<1, SetId>,
    /// By a set and what its process sees of memory.
    closures: Memo<N, SetId>,
    own_steps: Memo<N, OwnSteps>,
    changes: Vec<Change<N>>,
    scratch: Successors<N>,
    gathered: Gathered,
    /// What was done since the memory of sets was last looked at.
    pace: Pace,
    /// States that the count of all threads lacks.
    found: u64,
    /// A state in which something is wrong.
    violating: Option<State<N>>,
    pub reached_final: bool,
    pub no_room: bool,
}

/// What is known of a set.
#[derive(Clone)]
struct Known {
    members: Arc<Members>,
    len: u64,
    /// Those of its members that have not failed.
    live: SetId,
    /// A member for each way in which properties see some.
    seen: Arc<[ConfigId]>,
}

/// What is known of a configuration.
#[derive(Clone, Copy)]
struct Facts {
    pending: u32,
    failed: bool,
    /// What properties see of it, as an index of `Rows::looks`.
    look: u32,
}

/// The same, as a thread keeps it.
#[derive(Clone, Copy)]
struct OwnSteps {
    /// A range of `Rows::changes`.
    first: u32,
    len: u32,
    transitions: u64,
}

/// A step of the process along which rows go: the successor is `row & keep | set`.
#[derive(Clone, Copy)]
pub struct Change<const N: usize> {
    keep: State<N>,
    set: State<N>,
}

impl<'a, const N: usize> Rows<'a, N> {
    pub fn new(context: Context<'a>, common: &'a Common<'a, N>) -> Rows<'a, N> {
        let layout = context.layout;
        let along = common.task.along;
        let field = layout.configs[along.index()];
        let (mut set, mut view) = ([0; N], [0; N]);
        field.fill(&mut set);
        for place in accessed_places(context.program().process(along)) {
            layout.places[place.index()].fill(&mut view);
        }
        let nothing = OwnSteps {
            first: 0,
            len: 0,
            transitions: 0,
        };
        Rows {
            context,
            common,
            along,
            cache: SuccessorCache::new(context),
            judge: Judge::new(context),
            field,
            others: set.map(|word: u64| !word),
            view,
            sets: Vec::new(),
            configs: vec![Vec::new(); layout.configs.len()],
            looks: IndexSet::default(),
            unions: Memo::new(SetId(0)),
            closures: Memo::new(SetId(0)),
            own_steps: Memo::new(nothing),
            changes: Vec::new(),
            scratch: Successors::default(),
            gathered: Gathered::default(),
            pace: Pace::default(),
            found: 0,
            violating: None,
            reached_final: false,
            no_room: false,
        }
    }

    /// The set of a row.
    #[inline]
    fn set(&self, row: &State<N>) -> SetId {
        SetId(self.field.get(row))
    }

    /// The members of a row, as states.
    pub fn states(&mut self, row: &State<N>) -> impl Iterator<Item = State<N>> + use<N> {
        let (row, field) = (*row, self.field);
        let members = self.known(self.set(&row)).members.clone();
        let ids: Vec<u32> = members.iter().collect();
        ids.into_iter().map(move |id| with(&row, field, id))
    }

    /// How many states a row stands for.
    #[inline]
    pub fn len(&mut self, row: &State<N>) -> u64 {
        let set = self.set(row);
        self.known(set).len
    }

    /// What is wrong with some state.
    pub fn violation(&self) -> Option<Violation> {
        let state = self.violating.as_ref()?;
        let violation = self.judge.violation(state);
        Some(violation.expect("something is wrong with it"))
    }

    /// The number of transitions out of all states of a row.
    pub fn transitions(&mut self, row: &State<N>) -> Result<u64, Unfinished> {
        match self.others_failed(row) {
            true => Ok(0),
            false => {
                let (mut successors, key) = (std::mem::take(&mut self.scratch), *row);
                let transitions = self.expand(row, &key, &mut successors, false);
                self.scratch = successors;
                transitions
            }
        }
    }

    /// Judges all states of a row.
    fn judge(&mut self, row: &State<N>) {
        let seen = self.known(self.set(row)).seen.clone();
        for id in seen.iter() {
            let state = with(row, self.field, id.0);
            let judgement = self.judge.judge(&state);
            if judgement.is_violation() {
                self.violating.get_or_insert(state);
            }
            self.reached_final |= judgement == Judgement::Final;
        }
    }
}

/// Clears all but some bits.
#[inline]
fn clear<const N: usize>(state: &mut State<N>, kept: &State<N>) {
    for (word, kept) in state.iter_mut().zip(kept) {
        *word &= kept;
    }
}

/// A row with a configuration in place of its set.
#[inline]
fn with<const N: usize>(row: &State<N>, field: Field, id: u32) -> State<N> {
    let mut state = *row;
    let done = field.set(&mut state, id);
    done.expect("a configuration that was found in a field fits it");
    state
}

impl<const N: usize> Domain<N> for Rows<'_, N> {
    // A row is as much work as many states.
    const WORTH_SHARING: usize = PARALLEL / 64;
    const CHUNK: usize = 8;

    fn initial(&mut self, state: State<N>) -> Result<State<N>, Unfinished> {
        let mut start = Gathered::default();
        start.add(self.field.get(&state));
        let start = self.common.task.sets.id(start.set());
        let closed = self.closure(&state, start)?;
        let mut row = self.key(&state)?;
        self.field.add(&mut row, closed.0)?;
        Ok(row)
    }

    #[inline]
    fn key(&mut self, row: &State<N>) -> Result<State<N>, Overflow> {
        let mut key = *row;
        clear(&mut key, &self.others);
        Ok(key)
    }

    #[inline]
    fn same_key(&mut self, one: &State<N>, other: &State<N>) -> bool {
        (0..N).all(|at| (one[at] ^ other[at]) & self.others[at] == 0)
    }

    #[inline]
    fn join(&mut self, old: &State<N>, new: &State<N>) -> Result<Option<State<N>>, Overflow> {
        if !self.same_key(old, new) {
            return Ok(None);
        }
        let (one, other) = (self.set(old), self.set(new));
        if one == other {
            return Ok(Some(*old));
        }
        let (low, high) = (one.min(other), one.max(other));
        let question = [u64::from(low.0) << 32 | u64::from(high.0)];
        let union = match self.unions.get(&question) {
            Some(union) => union,
            None => {
                let union = self.known(low).members.clone();
                let union = union.union(&self.known(high).members);
                let union = self.common.task.sets.id(union);
                self.unions.insert(question, union);
                union
            }
        };
        let mut joined = *old;
        self.field.set(&mut joined, union.0)?;
        Ok(Some(joined))
    }

    #[inline]
    fn pending_stores(&mut self, row: &State<N>) -> usize {
        let (along, layout) = (self.along, self.context.layout);
        let mut pending = 0;
        for process in self.context.program().process_ids() {
            if process != along {
                let id = ConfigId(layout.configs[process.index()].get(row));
                pending += self.facts(process, id).pending as usize;
            }
        }
        pending
    }

    fn add(&mut self, row: &State<N>) -> bool {
        self.found += self.len(row);
        let failed = self.others_failed(row);
        if failed && self.violating.is_none() {
            self.violating = self.states(row).next();
        }
        failed
    }

    fn grown(&mut self, before: &State<N>, after: &State<N>) {
        self.found += self.len(after) - self.len(before);
    }

    /// A row is judged whenever it is expanded: as it is in the end, too.
    #[inline]
    fn successors(
        &mut self,
        row: &State<N>,
        key: &State<N>,
        out: &mut Successors<N>,
    ) -> Result<u64, Unfinished> {
        self.judge(row);
        self.expand(row, key, out, true)
    }

    fn has_violation(&self) -> bool {
        self.violating.is_some()
    }

    fn pause(&mut self) -> Option<Pause> {
        let found = std::mem::take(&mut self.found);
        let states = self.common.states.fetch_add(found, Ordering::Relaxed) + found;
        self.common.task.monitor.report(states, 0);
        let most = self.common.task.limits.max_states.unwrap_or(u64::MAX);
        if self.violating.is_some() && !self.context.search.goal.goes_on() {
            Some(Pause::Found)
        } else if states > most {
            Some(Pause::End(StopReason::MaxStates.into()))
        } else if self.pace.is_due(1 << 6) {
            let bytes = self.common.bytes() as u64;
            let checked = self.context.check_memory(bytes);
            checked.err().map(|reason| Pause::End(reason.into()))
        } else {
            None
        }
    }

    fn bytes(&self) -> usize {
        let configs = self.configs.iter().map(Vec::capacity);
        self.cache.bytes()
            + self.common.bytes() / self.context.search.threads.max(1)
            + self.sets.capacity() * (size_of::<Known>() + 16)
            + configs.sum::<usize>() * size_of::<Option<Facts>>()
            + self.changes.capacity() * size_of::<Change<N>>()
            + self.unions.bytes()
            + self.closures.bytes()
            + self.own_steps.bytes()
    }
}
