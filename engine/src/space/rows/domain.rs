//! What one thread knows of rows.

use super::memo::{Answers, Memo};
use super::sets::{SetId, Sets};
use crate::limits::{Limits, Monitor, Pace, StopReason};
use crate::memory::step::At;
use crate::program::ProcessId;
use crate::property::Violation;
use crate::space::context::Context;
use crate::space::growing::Domain;
use crate::space::intern::{ClassId, ConfigId};
use crate::space::judge::{Judge, Judgement, Summary};
use crate::space::layout::{Field, OCCUPIED, Overflow, State};
use crate::space::members::{Gathered, Members};
use crate::space::pool::PARALLEL;
use crate::space::search::Unfinished;
use crate::space::sets::accessed_places;
use crate::space::shared::Pause;
use crate::space::successors::{SuccessorCache, Successors};
use ahash::RandomState;
use indexmap::IndexSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is asked of a search by rows.
pub struct Task<'a> {
    /// The process along which rows go.
    pub along: ProcessId,
    /// The sets that were met, with earlier layouts as well.
    pub sets: Sets,
    /// How far to go, in states.
    pub limits: &'a Limits,
    /// Who is told of states.
    pub monitor: &'a Monitor,
}

/// What all threads of a search by rows share.
pub struct Common<'a, const N: usize> {
    pub task: &'a Task<'a>,
    /// States found, but for those that threads have yet to add.
    pub states: AtomicU64,
    closures: Answers<N, SetId>,
    own_steps: Answers<N, Arc<SetSteps<N>>>,
}

impl<'a, const N: usize> Common<'a, N> {
    pub fn new(task: &'a Task<'a>) -> Common<'a, N> {
        Common {
            task,
            states: AtomicU64::new(0),
            closures: Answers::new(),
            own_steps: Answers::new(),
        }
    }

    /// Roughly the memory that it takes.
    pub fn bytes(&self) -> usize {
        self.task.sets.bytes() + self.closures.bytes() + self.own_steps.bytes()
    }
}

/// The steps of all members of a closed set under one view of memory.
struct SetSteps<const N: usize> {
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
struct Change<const N: usize> {
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

    #[inline]
    fn known(&mut self, set: SetId) -> &Known {
        if self.sets.get(set.index()).is_none_or(Option::is_none) {
            self.learn_set(set);
        }
        self.sets[set.index()].as_ref().expect("it is known by now")
    }

    #[cold]
    fn learn_set(&mut self, set: SetId) {
        let members = self.common.task.sets.get(set);
        let along = self.along;
        let mut seen = Vec::new();
        let (mut looks, mut live) = (Gathered::default(), Gathered::default());
        for id in members.iter() {
            let facts = self.facts(along, ConfigId(id));
            let before = looks.members.len();
            looks.add(facts.look);
            if looks.members.len() > before {
                seen.push(ConfigId(id));
            }
            if !facts.failed {
                live.add(id);
            }
        }
        let len = members.len();
        let live = match live.members.len() == len {
            true => set,
            false => self.common.task.sets.id(live.set()),
        };
        if self.sets.len() <= set.index() {
            self.sets.resize(set.index() + 1, None);
        }
        self.sets[set.index()] = Some(Known {
            members,
            len: len as u64,
            live,
            seen: seen.into(),
        });
    }

    #[inline]
    fn facts(&mut self, process: ProcessId, id: ConfigId) -> Facts {
        match self.configs[process.index()].get(id.index()) {
            Some(Some(facts)) => *facts,
            _ => self.learn_facts(process, id),
        }
    }

    #[cold]
    fn learn_facts(&mut self, process: ProcessId, id: ConfigId) -> Facts {
        let config = self.context.interner.config(process, id);
        let look = self.looks.insert_full(self.judge.seen(process, id)).0;
        let all = &mut self.configs[process.index()];
        if all.len() <= id.index() {
            all.resize(id.index() + 1, None);
        }
        let facts = Facts {
            pending: config.buffers.size() as u32,
            failed: matches!(config.at, At::Failed(_)),
            look: look as u32,
        };
        all[id.index()] = Some(facts);
        facts
    }

    /// Some process other than that along which rows go has failed: nothing comes after any
    /// state of the row.
    fn others_failed(&mut self, row: &State<N>) -> bool {
        self.has_failed(row, |_, _| true)
    }

    /// One of those processes other than that along which rows go has failed that are asked
    /// about.
    #[inline]
    fn has_failed(&mut self, row: &State<N>, asked: impl Fn(Field, u32) -> bool) -> bool {
        let layout = self.context.layout;
        for (process, &field) in layout.configs.iter().enumerate() {
            let (process, id) = (ProcessId(process as u32), field.get(row));
            if process != self.along && asked(field, id) && self.facts(process, ConfigId(id)).failed
            {
                return true;
            }
        }
        false
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

    /// A row with a set, reduced to what decides about the steps of the set.
    #[inline]
    fn question(&self, row: &State<N>, set: SetId) -> Result<State<N>, Overflow> {
        let mut question = std::array::from_fn(|at| row[at] & self.view[at]);
        question[0] |= OCCUPIED;
        self.field.add(&mut question, set.0)?;
        Ok(question)
    }

    /// A set together with all that its members reach without changing memory.
    #[inline]
    fn closure(&mut self, row: &State<N>, set: SetId) -> Result<SetId, Unfinished> {
        let question = self.question(row, set)?;
        match self.closures.get(&question) {
            Some(closed) => Ok(closed),
            None => self.close(&question, set),
        }
    }

    #[cold]
    fn close(&mut self, question: &State<N>, set: SetId) -> Result<SetId, Unfinished> {
        let closed = match self.common.closures.get(question) {
            Some(closed) => closed,
            None => {
                let closed = self.closed(question, set)?;
                self.common.closures.insert(*question, closed);
                closed
            }
        };
        self.closures.insert(*question, closed);
        Ok(closed)
    }

    fn closed(&mut self, question: &State<N>, set: SetId) -> Result<SetId, Unfinished> {
        let mut gathered = std::mem::take(&mut self.gathered);
        let members = self.known(set).members.clone();
        members.iter().for_each(|id| gathered.add(id));
        let mut next = 0;
        while let Some(&member) = gathered.members.get(next) {
            next += 1;
            let before = self.own_successors(question, member)?;
            for after in self.scratch.as_slice() {
                if !self.differs(&before, after) {
                    gathered.add(self.field.get(after));
                }
            }
        }
        let closed = self.common.task.sets.id(gathered.set());
        gathered.clear();
        self.gathered = gathered;
        Ok(closed)
    }

    /// Finds the steps of one member; what it was a part of.
    fn own_successors(&mut self, question: &State<N>, member: u32) -> Result<State<N>, Unfinished> {
        let along = self.along;
        let state = with(question, self.field, member);
        match self.facts(along, ConfigId(member)).failed {
            true => self.scratch.clear(),
            false => {
                let found =
                    self.cache
                        .successors_of(|process| process == along, &state, &mut self.scratch);
                self.no_room |= found?;
            }
        }
        Ok(state)
    }

    /// The process along which rows go sees a difference between two states.
    #[inline]
    fn differs(&self, one: &State<N>, other: &State<N>) -> bool {
        (0..N).any(|at| (one[at] ^ other[at]) & self.view[at] != 0)
    }

    /// The steps of the members of a closed set without failures.
    #[inline]
    fn own_steps(&mut self, row: &State<N>, set: SetId) -> Result<OwnSteps, Unfinished> {
        let question = self.question(row, set)?;
        match self.own_steps.get(&question) {
            Some(steps) => Ok(steps),
            None => self.learn_steps(&question, set),
        }
    }

    #[cold]
    fn learn_steps(&mut self, question: &State<N>, set: SetId) -> Result<OwnSteps, Unfinished> {
        let found = match self.common.own_steps.get(question) {
            Some(found) => found,
            None => {
                let found = Arc::new(self.set_steps(question, set)?);
                self.common.own_steps.insert(*question, found.clone());
                found
            }
        };
        let steps = OwnSteps {
            first: self.changes.len() as u32,
            len: found.changes.len() as u32,
            transitions: found.transitions,
        };
        self.changes.extend(&found.changes);
        self.own_steps.insert(*question, steps);
        Ok(steps)
    }

    fn set_steps(&mut self, question: &State<N>, set: SetId) -> Result<SetSteps<N>, Unfinished> {
        let mut by_memory: Vec<(State<N>, Gathered)> = Vec::new();
        let mut transitions = 0;
        let members = self.known(set).members.clone();
        for member in members.iter() {
            let before = self.own_successors(question, member)?;
            for after in self.scratch.as_slice() {
                transitions += 1;
                if self.differs(&before, after) {
                    let memory = std::array::from_fn(|at| after[at] & self.view[at]);
                    let known = by_memory.iter().position(|(known, _)| *known == memory);
                    let at = known.unwrap_or_else(|| {
                        by_memory.push((memory, Gathered::default()));
                        by_memory.len() - 1
                    });
                    by_memory[at].1.add(self.field.get(after));
                }
            }
        }
        let keep = std::array::from_fn(|at| self.others[at] & !self.view[at]);
        let mut changes = Vec::new();
        for (memory, after) in by_memory {
            let after = self.common.task.sets.id(after.set());
            let closed = self.closure(&memory, after)?;
            let mut set = memory;
            self.field.add(&mut set, closed.0)?;
            changes.push(Change { keep, set });
        }
        Ok(SetSteps {
            changes,
            transitions,
        })
    }

    /// Finds the successors of a row, if they are wanted; how many transitions its states have.
    #[inline]
    fn expand(
        &mut self,
        row: &State<N>,
        key: &State<N>,
        out: &mut Successors<N>,
        wanted: bool,
    ) -> Result<u64, Unfinished> {
        let along = self.along;
        let set = self.set(row);
        let live = self.known(set).live;
        let count = self.known(live).len;
        if count == 0 {
            out.clear();
            return Ok(0);
        }
        let own = self.own_steps(row, live)?;
        let mut from = *key;
        clear(&mut from, &self.others);
        self.field.add(&mut from, live.0)?;
        let found = self
            .cache
            .successors_of(|process| process != along, &from, out);
        self.no_room |= found?;
        let transitions = out.as_slice().len() as u64 * count + own.transitions;
        if !wanted {
            return Ok(transitions);
        }
        for at in 0..out.as_slice().len() {
            let mut next = out.as_slice()[at];
            let mut key = next;
            clear(&mut key, &self.others);
            // What fails in the row fails in the other as well, after this step.
            let is_open = live != set || self.differs(&from, &next);
            if is_open && !self.has_failed(&next, |field, id| field.get(&from) != id) {
                let closed = self.closure(&next, live)?;
                next = key;
                self.field.add(&mut next, closed.0)?;
            }
            out.replace(at, next, key);
        }
        for change in &self.changes[own.first as usize..(own.first + own.len) as usize] {
            let next: State<N> =
                std::array::from_fn(|at| from[at] & change.keep[at] | change.set[at]);
            let mut key = next;
            clear(&mut key, &self.others);
            out.push(next, key);
        }
        Ok(transitions)
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
