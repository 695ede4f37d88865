//! The merged states, in shards.

use crate::space::layout::State;
use ahash::{AHashMap, AHashSet, RandomState};
use std::sync::{Mutex, MutexGuard};

/// Parts of the state map, each used by one thread at a time.
pub const SHARDS: usize = 64;

/// All merged states.
pub struct Shards<const N: usize> {
    shards: Vec<Mutex<Shard<N>>>,
}

/// Merged states by their keys: a key is the state with skeletons in place of
/// configurations.
#[derive(Default)]
pub struct Shard<const N: usize> {
    pub states: AHashMap<State<N>, State<N>>,
    /// Keys of states that are new in this round.
    pub new: Vec<State<N>>,
    /// Keys of states that have grown in this round; some may be new as well.
    pub grown: AHashSet<State<N>>,
    /// A state in which something is wrong.
    pub violating: Option<State<N>>,
    pub reached_final: bool,
}

/// The states of one round that are new or have grown, as they are when the next begins.
pub struct Frontier<const N: usize> {
    pub new: Vec<State<N>>,
    /// Those that have been expanded before.
    pub grown: Vec<State<N>>,
}

/// Tells shards apart; has nothing to do with the hashes inside of them.
const SHARD_HASH: RandomState = RandomState::with_seeds(1, 2, 3, 4);

/// The shard that a key belongs to.
pub fn shard_of<const N: usize>(key: &State<N>) -> usize {
    SHARD_HASH.hash_one(key) as usize % SHARDS
}

impl<const N: usize> Shards<N> {
    pub fn new() -> Shards<N> {
        Shards {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
        }
    }

    pub fn as_slice(&self) -> &[Mutex<Shard<N>>] {
        &self.shards
    }

    pub fn lock(&self, shard: usize) -> MutexGuard<'_, Shard<N>> {
        self.shards[shard].lock().expect("no thread panics here")
    }

    /// The merged state under a key.
    pub fn get(&self, key: &State<N>) -> Option<State<N>> {
        self.lock(shard_of(key)).states.get(key).copied()
    }

    /// Visits all keys and their states, until that fails.
    pub fn try_for_each<E>(
        &self,
        mut visit: impl FnMut(&State<N>, &State<N>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut shards = (0..SHARDS).map(|shard| self.lock(shard));
        shards.try_for_each(|shard| {
            let mut states = shard.states.iter();
            states.try_for_each(|(key, state)| visit(key, state))
        })
    }

    pub fn len(&self) -> u64 {
        let shards = (0..SHARDS).map(|shard| self.lock(shard).states.len());
        shards.sum::<usize>() as u64
    }

    /// The states that are new or have grown since it was last asked.
    pub fn take_frontier(&mut self) -> Frontier<N> {
        let (mut new, mut grown) = (Vec::new(), Vec::new());
        for shard in 0..SHARDS {
            let mut shard = self.lock(shard);
            let new_keys = std::mem::take(&mut shard.new);
            let mut grown_keys = std::mem::take(&mut shard.grown);
            for key in &new_keys {
                grown_keys.remove(key);
            }
            new.extend(new_keys.iter().map(|key| shard.states[key]));
            grown.extend(grown_keys.iter().map(|key| shard.states[key]));
        }
        Frontier { new, grown }
    }

    /// Nothing is expanded any more: a state in which something is wrong, and whether some
    /// state is final.
    pub fn finish(&mut self) -> (Option<State<N>>, bool) {
        let (mut violating, mut reached_final) = (None, false);
        for shard in 0..SHARDS {
            let mut shard = self.lock(shard);
            (shard.new, shard.grown) = Default::default();
            violating = violating.or(shard.violating);
            reached_final |= shard.reached_final;
        }
        (violating, reached_final)
    }

    /// The size of all maps.
    pub fn bytes(&self) -> u64 {
        let shards = (0..SHARDS).map(|shard| self.lock(shard).map_bytes());
        shards.sum()
    }

    /// The size of everything, with what the next batch of work may add: shards that are
    /// nearly full will double, and all that has changed becomes a frontier.
    pub fn bytes_soon(&self) -> u64 {
        let shards = (0..SHARDS).map(|shard| {
            let shard = self.lock(shard);
            let full = shard.states.len() * 8 > shard.states.capacity() * 7;
            let changed = 3 * shard.new.capacity() + 4 * shard.grown.capacity();
            let changed = changed * size_of::<State<N>>();
            shard.map_bytes() * if full { 2 } else { 1 } + changed as u64
        });
        shards.sum()
    }
}

impl<const N: usize> Frontier<N> {
    pub fn is_empty(&self) -> bool {
        self.new.is_empty() && self.grown.is_empty()
    }
}

impl<const N: usize> Shard<N> {
    /// The size of the map: one control byte and the entry for every slot, an eighth of
    /// which stays empty.
    fn map_bytes(&self) -> u64 {
        (self.states.capacity() * 8 / 7 * (2 * size_of::<State<N>>() + 1)) as u64
    }
}
