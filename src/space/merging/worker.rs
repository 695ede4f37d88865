//! One thread's part in expanding states and merging what is found.

use super::shards::{SHARDS, Shard, Shards, shard_of};
use crate::limits::{Pace, StopReason};
use crate::program::ProcessId;
use crate::space::context::Context;
use crate::space::intern::{ConfigId, SkeletonId};
use crate::space::judge::{Judge, Judgement};
use crate::space::layout::{Overflow, State};
use crate::space::search::Unfinished;
use crate::space::successors::{SuccessorCache, Successors};
use ahash::AHashMap;

/// States that wait to be merged at most.
const MOST_WAITING: usize = 1 << 20;

/// A thread's tables.
pub struct Worker<'a, const N: usize> {
    context: Context<'a>,
    pub cache: SuccessorCache<'a, N>,
    pub judge: Judge<'a, N>,
    /// Per process, by configuration.
    skeletons: Vec<Vec<Option<SkeletonId>>>,
    joins: AHashMap<(ProcessId, ConfigId, ConfigId), ConfigId>,
    successors: Successors<N>,
    /// By shard: keys and states that wait to be merged.
    waiting: Vec<Vec<(State<N>, State<N>)>>,
    waiting_count: usize,
    /// The transitions of the states that it expanded, as they were at the first time.
    pub transitions: u64,
    /// The shard to begin with when they are: threads begin with different ones.
    first_shard: usize,
    /// What was done since the limits were last looked at.
    pace: Pace,
}

impl<'a, const N: usize> Worker<'a, N> {
    pub fn new(context: Context<'a>, index: usize) -> Worker<'a, N> {
        Worker {
            context,
            cache: SuccessorCache::new(context),
            judge: Judge::new(context),
            skeletons: vec![Vec::new(); context.layout.configs.len()],
            joins: AHashMap::new(),
            successors: Successors::new(),
            waiting: vec![Vec::new(); SHARDS],
            waiting_count: 0,
            transitions: 0,
            first_shard: index * SHARDS / context.search.threads.max(1),
            pace: Pace::default(),
        }
    }

    /// Expands states, which are all new or all expanded before; their successors wait to be
    /// merged.
    pub fn expand(
        &mut self,
        states: &[State<N>],
        new: bool,
        shards: &Shards<N>,
    ) -> Result<(), Unfinished> {
        for state in states {
            let count = self.successors_of(state)?.len();
            self.transitions += if new { count as u64 } else { 0 };
            for at in 0..count {
                let next = self.successors.as_slice()[at];
                self.add(&next, shards)?;
            }
            self.context.go_on(&mut self.pace, 1 + count)?;
        }
        Ok(())
    }

    /// Lets a state wait to be merged; its key.
    pub fn add(&mut self, state: &State<N>, shards: &Shards<N>) -> Result<State<N>, Unfinished> {
        let key = self.key(state)?;
        self.waiting[shard_of(&key)].push((key, *state));
        self.waiting_count += 1;
        if self.waiting_count >= MOST_WAITING {
            self.flush(shards)?;
        }
        Ok(key)
    }

    /// Merges all waiting states into the shards.
    pub fn flush(&mut self, shards: &Shards<N>) -> Result<(), Unfinished> {
        for at in 0..SHARDS {
            let at = (self.first_shard + at) % SHARDS;
            let mut waiting = std::mem::take(&mut self.waiting[at]);
            let mut shard = shards.lock(at);
            for (key, state) in waiting.drain(..) {
                self.merge(&mut shard, &key, &state)?;
                self.context.go_on(&mut self.pace, 1)?;
            }
            self.waiting[at] = waiting;
        }
        self.waiting_count = 0;
        Ok(())
    }

    /// Adds a state to a shard, or merges it into the one with its key.
    fn merge(
        &mut self,
        shard: &mut Shard<N>,
        key: &State<N>,
        state: &State<N>,
    ) -> Result<(), Overflow> {
        let Some(old) = shard.states.get(key).copied() else {
            shard.states.insert(*key, *state);
            let judgement = self.judge.judge(state);
            if judgement.is_violation() {
                shard.violating.get_or_insert(*state);
            }
            shard.reached_final |= judgement == Judgement::Final;
            if !self.is_last(judgement) {
                shard.new.push(*key);
            }
            return Ok(());
        };
        if old == *state {
            return Ok(());
        }
        let joined = self.join(&old, state)?;
        if joined != old {
            shard.states.insert(*key, joined);
            let judgement = self.judge.judge(&joined);
            if !self.is_last(judgement) {
                shard.grown.insert(*key);
            }
        }
        Ok(())
    }

    /// The union of two states with the same key.
    pub fn join(&mut self, old: &State<N>, new: &State<N>) -> Result<State<N>, Overflow> {
        let mut joined = *old;
        for (index, field) in self.context.layout.configs.iter().enumerate() {
            let process = ProcessId(index as u32);
            let [own, other] = [old, new].map(|state| ConfigId(field.get(state)));
            if own != other {
                let join = || self.context.interner.join(process, own, other);
                let pair = (process, own, other);
                let id = *self.joins.entry(pair).or_insert_with(join);
                field.set(&mut joined, id.0)?;
            }
        }
        Ok(joined)
    }

    /// The state with skeletons in place of configurations.
    pub fn key(&mut self, state: &State<N>) -> Result<State<N>, Overflow> {
        let mut key = *state;
        for (index, field) in self.context.layout.configs.iter().enumerate() {
            let process = ProcessId(index as u32);
            let id = ConfigId(field.get(state));
            let known = &mut self.skeletons[index];
            if known.len() <= id.index() {
                known.resize(id.index() + 1, None);
            }
            let skeleton = || self.context.interner.skeleton_id(process, id);
            let skeleton = known[id.index()].get_or_insert_with(skeleton);
            field.set(&mut key, skeleton.0)?;
        }
        Ok(key)
    }

    /// Nothing comes after such a state.
    pub fn is_last(&self, judgement: Judgement) -> bool {
        let ends = self.context.search.goal.ends_at_violations();
        judgement == Judgement::Failure || ends && judgement == Judgement::Violation
    }

    /// Nothing comes after this state.
    pub fn ends_at(&mut self, state: &State<N>) -> bool {
        let judgement = self.judge.judge(state);
        self.is_last(judgement)
    }

    pub fn successors_of(&mut self, state: &State<N>) -> Result<&[State<N>], Unfinished> {
        self.cache.successors(state, &mut self.successors)?;
        Ok(self.successors.as_slice())
    }

    /// The keys of the successors of a state, while a trace is looked for. Only a state that
    /// a limit kept from being expanded has some that do not fit the layout; these are left
    /// out.
    pub fn successor_keys(&mut self, state: &State<N>) -> Result<Vec<State<N>>, StopReason> {
        let count = self.count_successors(state)?.unwrap_or(0);
        let keys = (0..count).filter_map(|at| {
            let next = self.successors.as_slice()[at];
            self.key(&next).ok()
        });
        Ok(keys.collect())
    }

    /// Something is wrong with a state, a deadlock included if those are looked for.
    pub fn violates(&mut self, state: &State<N>) -> Result<bool, StopReason> {
        let deadlock = self.context.search.deadlock;
        Ok(match self.judge.judge(state) {
            Judgement::Violation | Judgement::Failure => true,
            Judgement::Fine if deadlock => self.count_successors(state)? == Some(0),
            Judgement::Fine | Judgement::Final => false,
        })
    }

    /// The number of successors of a state, while a trace is looked for; `None` if they do
    /// not fit the layout.
    fn count_successors(&mut self, state: &State<N>) -> Result<Option<usize>, StopReason> {
        let count = match self.successors_of(state) {
            Ok(successors) => Some(successors.len()),
            Err(Unfinished::Stop(reason)) => return Err(reason),
            Err(Unfinished::Overflow) => None,
        };
        if self.pace.is_due(1 + count.unwrap_or(0)) {
            self.context.check_tracing()?;
        }
        Ok(count)
    }
}
