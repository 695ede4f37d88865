//! The merged states, in shards, and a thread's part in filling them.

use crate::program::ProcessId;
use crate::space::intern::{ConfigId, Interner, SkeletonId};
use crate::space::judge::{Judge, Verdict};
use crate::space::layout::{Layout, Overflow, State};
use crate::space::search::Search;
use crate::space::successors::{SuccessorCache, Successors};
use ahash::{AHashMap, AHashSet, RandomState};

/// Parts of the state map, each owned by one thread at a time.
pub const SHARDS: usize = 64;

/// A merged state by its key: the state with skeletons in place of configurations.
#[derive(Default)]
pub struct Shard<const N: usize> {
    pub states: AHashMap<State<N>, State<N>>,
    /// Keys of states that are new or have grown in this round.
    pub changed: AHashSet<State<N>>,
    pub violated: bool,
    pub reached_final: bool,
}

/// A thread's tables.
pub struct Worker<'a, const N: usize> {
    interner: &'a Interner<'a>,
    layout: &'a Layout,
    pub rows: SuccessorCache<'a, N>,
    pub judge: Judge<'a, N>,
    /// Per process, by configuration id.
    skeletons: Vec<Vec<Option<SkeletonId>>>,
    /// By process and two configurations.
    joins: AHashMap<(ProcessId, ConfigId, ConfigId), ConfigId>,
    pub successors: Successors<N>,
    /// By shard: successors with their keys.
    pub outgoing: Vec<Vec<(State<N>, State<N>)>>,
    pub overflow: bool,
    pub transitions: u64,
    pub deadlock: bool,
    /// What comes after a violation does not count.
    end_at_errors: bool,
}

impl<'a, const N: usize> Worker<'a, N> {
    pub fn new(
        search: &'a Search<'a>,
        interner: &'a Interner<'a>,
        layout: &'a Layout,
    ) -> Worker<'a, N> {
        Worker {
            interner,
            layout,
            rows: SuccessorCache::new(search.stepper, interner, layout, search.goal.tagger()),
            judge: Judge::new(search.stepper.program, interner, layout),
            skeletons: vec![Vec::new(); layout.configs.len()],
            joins: AHashMap::new(),
            successors: Successors::new(),
            outgoing: vec![Vec::new(); SHARDS],
            overflow: false,
            transitions: 0,
            deadlock: false,
            end_at_errors: search.goal.tagger().is_some(),
        }
    }

    pub fn expand(&mut self, state: &State<N>, hasher: &RandomState) -> Result<(), Overflow> {
        self.rows.successors(state, &mut self.successors)?;
        for at in 0..self.successors.as_slice().len() {
            let next = self.successors.as_slice()[at];
            let key = self.key(&next)?;
            self.outgoing[shard_of(hasher, &key)].push((key, next));
        }
        Ok(())
    }

    pub fn successors_of(&mut self, state: &State<N>) -> Vec<State<N>> {
        match self.rows.successors(state, &mut self.successors) {
            Ok(_) => self.successors.as_slice().to_vec(),
            // Only states that a limit kept from being expanded can outgrow the layout.
            Err(Overflow) => Vec::new(),
        }
    }

    /// Nothing comes after such a state.
    pub fn ends(&self, verdict: Verdict) -> bool {
        verdict == Verdict::Failure || self.end_at_errors && verdict == Verdict::Violation
    }

    pub fn judge_violation(&mut self, state: &State<N>, deadlock: bool) -> bool {
        match self.judge.verdict(state) {
            Verdict::Violation | Verdict::Failure => true,
            Verdict::Final => false,
            Verdict::Fine => deadlock && self.successors_of(state).is_empty(),
        }
    }

    /// The state with skeletons in place of configurations.
    pub fn key(&mut self, state: &State<N>) -> Result<State<N>, Overflow> {
        let mut key = *state;
        for (index, field) in self.layout.configs.iter().enumerate() {
            let process = ProcessId(index as u32);
            let id = ConfigId(field.get(state));
            let known = &mut self.skeletons[index];
            if known.len() <= id.index() {
                known.resize(id.index() + 1, None);
            }
            let skeleton =
                known[id.index()].get_or_insert_with(|| self.interner.skeleton_id(process, id));
            field.set(&mut key, skeleton.0)?;
        }
        Ok(key)
    }

    /// Adds a state to a shard, or merges it into the one with its key.
    pub fn merge(
        &mut self,
        shard: &mut Shard<N>,
        key: &State<N>,
        state: &State<N>,
    ) -> Result<(), Overflow> {
        let Some(old) = shard.states.get(key).copied() else {
            shard.states.insert(*key, *state);
            let verdict = self.judge.verdict(state);
            shard.violated |= matches!(verdict, Verdict::Violation | Verdict::Failure);
            shard.reached_final |= verdict == Verdict::Final;
            if !self.ends(verdict) {
                shard.changed.insert(*key);
            }
            return Ok(());
        };
        if old == *state {
            return Ok(());
        }
        let mut joined = old;
        for (index, field) in self.layout.configs.iter().enumerate() {
            let process = ProcessId(index as u32);
            let [own, other] = [&old, state].map(|state| ConfigId(field.get(state)));
            if own != other {
                let join = || self.interner.join(process, own, other);
                let pair = (process, own, other);
                let id = *self.joins.entry(pair).or_insert_with(join);
                field.set(&mut joined, id.0)?;
            }
        }
        if joined != old {
            shard.states.insert(*key, joined);
            let verdict = self.judge.verdict(&joined);
            if !self.ends(verdict) {
                shard.changed.insert(*key);
            }
        }
        Ok(())
    }
}

/// The size of a map: one control byte and the entry for every slot, an eighth of which
/// stays empty.
pub fn map_bytes<const N: usize>(map: &AHashMap<State<N>, State<N>>) -> u64 {
    (map.capacity() * 8 / 7 * (2 * size_of::<State<N>>() + 1)) as u64
}

pub fn shard_of<const N: usize>(hasher: &RandomState, key: &State<N>) -> usize {
    hasher.hash_one(key) as usize % SHARDS
}
