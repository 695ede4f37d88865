//! The search of a partially disjunctive model: states that differ only in the contents of
//! buffer sets are one state, whose sets are the unions.
//!
//! A state whose sets grow is expanded again, until nothing grows any more. The result is
//! the least fixed point of a monotone map, so it depends neither on the order of work nor
//! on the number of threads. Each round has two phases: threads expand states and sort the
//! successors by shard; then each shard is updated by one thread.

mod shards;

use super::graph::{self, Graph, NodeId};
use super::initial::for_each_initial;
use super::intern::Interner;
use super::layout::{Layout, Overflow, State};
use super::pool::{PARALLEL, in_parallel};
use super::search::{Coverage, End, Exploration, Search, Statistics};
use super::trace::{self, Snapshot, Trace};
use crate::limits::StopReason;
use crate::property::Violation;
use ahash::{AHashMap, AHashSet, RandomState};
use rayon::ThreadPool;
use shards::{SHARDS, Shard, Worker, map_bytes, shard_of};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// States expanded between two updates of the shards.
const BATCH: usize = 1 << 15;

/// States handed to a thread at a time.
const CHUNK: usize = 256;

struct Merged<'a, const N: usize> {
    search: &'a Search<'a>,
    interner: &'a Interner<'a>,
    layout: &'a Layout,
    shards: Vec<Mutex<Shard<N>>>,
    workers: Vec<Worker<'a, N>>,
    pool: Option<ThreadPool>,
    hasher: RandomState,
}

/// Searches to the fixed point.
pub fn explore<const N: usize>(
    search: &Search,
    interner: &Interner,
    layout: &Layout,
) -> Result<Exploration, Overflow> {
    let worker = || Worker::new(search, interner, layout);
    let merged: Merged<N> = Merged {
        search,
        interner,
        layout,
        shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
        workers: (0..search.threads.max(1)).map(|_| worker()).collect(),
        pool: None,
        hasher: RandomState::with_seeds(1, 2, 3, 4),
    };
    merged.go()
}

impl<const N: usize> Merged<'_, N> {
    fn go(mut self) -> Result<Exploration, Overflow> {
        let mut starts = Vec::new();
        let mut stop = for_each_initial(self.search.stepper, &mut |initial| {
            starts.push(
                self.interner
                    .pack(self.layout, &initial.memory, &initial.configs)?,
            );
            Ok(match starts.len() % 1024 {
                0 => self.stop(starts.len() as u64, 0),
                _ => None,
            })
        })?;
        for start in &starts {
            let key = self.workers[0].key(start)?;
            let shard = shard_of(&self.hasher, &key);
            self.workers[0].outgoing[shard].push((key, *start));
        }
        self.update_shards(starts.len())?;
        let mut rounds = 0;
        let mut frontier = self.take_changed();
        while stop.is_none() && !frontier.is_empty() {
            for batch in frontier.chunks(BATCH) {
                self.expand(batch)?;
                self.update_shards(batch.len())?;
                stop = self.stop(self.states(), rounds);
                if stop.is_some() {
                    break;
                }
            }
            rounds += 1;
            frontier = self.take_changed();
        }
        let end = match stop {
            Some(reason) => End::Limit(reason),
            None => End::Exhausted,
        };
        self.report(end, rounds, &starts)
    }

    fn stop(&self, states: u64, rounds: u64) -> Option<StopReason> {
        let limits = self.search.limits;
        self.search.monitor.report(states, rounds);
        if limits.max_states.is_some_and(|most| states >= most) {
            return Some(StopReason::MaxStates);
        }
        if limits.max_memory.is_some_and(|most| self.bytes() > most) {
            return Some(StopReason::MaxMemory);
        }
        self.search.monitor.stop(limits)
    }

    /// Lets the workers expand states and sort their successors by shard.
    fn expand(&mut self, batch: &[State<N>]) -> Result<(), Overflow> {
        let chunks: Vec<&[State<N>]> = batch.chunks(CHUNK).collect();
        let cursor = AtomicUsize::new(0);
        let hasher = &self.hasher;
        let parallel = batch.len() >= PARALLEL;
        in_parallel(&mut self.workers, &mut self.pool, parallel, |worker| {
            while let Some(chunk) = chunks.get(cursor.fetch_add(1, Ordering::Relaxed)) {
                let sorted = chunk
                    .iter()
                    .try_for_each(|state| worker.expand(state, hasher));
                worker.overflow |= sorted.is_err();
            }
        });
        self.check_overflow()
    }

    /// Merges what the workers have found into the shards.
    fn update_shards(&mut self, work: usize) -> Result<(), Overflow> {
        let mut incoming: Vec<Vec<_>> = (0..SHARDS).map(|_| Vec::new()).collect();
        for worker in &mut self.workers {
            for (shard, found) in worker.outgoing.iter_mut().enumerate() {
                incoming[shard].push(std::mem::take(found));
            }
        }
        let cursor = AtomicUsize::new(0);
        let shards = &self.shards;
        in_parallel(
            &mut self.workers,
            &mut self.pool,
            work >= PARALLEL,
            |worker| {
                loop {
                    let at = cursor.fetch_add(1, Ordering::Relaxed);
                    let Some(found) = incoming.get(at) else {
                        break;
                    };
                    let mut shard = shards[at].lock().expect("no thread panics here");
                    for (key, state) in found.iter().flatten() {
                        let merged = worker.merge(&mut shard, key, state);
                        worker.overflow |= merged.is_err();
                    }
                }
            },
        );
        self.check_overflow()
    }

    fn check_overflow(&self) -> Result<(), Overflow> {
        match self.workers.iter().any(|worker| worker.overflow) {
            true => Err(Overflow),
            false => Ok(()),
        }
    }

    /// The states that are new or have grown, as they are now.
    fn take_changed(&mut self) -> Vec<State<N>> {
        let mut changed = Vec::new();
        for shard in &mut self.shards {
            let shard = shard.get_mut().expect("no thread panics here");
            let keys = std::mem::take(&mut shard.changed);
            changed.extend(keys.iter().map(|key| shard.states[key]));
        }
        changed
    }

    fn states(&self) -> u64 {
        let len = |shard: &Mutex<Shard<N>>| shard.lock().map_or(0, |shard| shard.states.len());
        self.shards.iter().map(len).sum::<usize>() as u64
    }

    /// The size of the shards.
    fn table_bytes(&self) -> u64 {
        let shards = self.shards.iter().filter_map(|shard| shard.lock().ok());
        shards.map(|shard| map_bytes(&shard.states)).sum()
    }

    /// The size of everything, with what the next batch of work may add: shards that are
    /// nearly full will double, and all that has changed becomes a frontier.
    fn bytes(&self) -> u64 {
        let rows: usize = self.workers.iter().map(|worker| worker.rows.bytes()).sum();
        let mut bytes = (rows + self.interner.bytes()) as u64;
        for shard in self.shards.iter().filter_map(|shard| shard.lock().ok()) {
            let full = shard.states.len() * 8 > shard.states.capacity() * 7;
            bytes += map_bytes(&shard.states) * if full { 2 } else { 1 };
            bytes += (shard.changed.capacity() * 4 * size_of::<State<N>>()) as u64;
        }
        bytes
    }

    /// The merged state that a state belongs to, and its key.
    fn settled(&self, worker: &mut Worker<N>, state: &State<N>) -> Option<(State<N>, State<N>)> {
        let key = worker.key(state).ok()?;
        let shard = self.shards[shard_of(&self.hasher, &key)].lock();
        let value = shard.ok()?.states.get(&key).copied()?;
        Some((key, value))
    }

    /// The graph of the fixed point.
    fn graph(&mut self, starts: &[State<N>]) -> Result<Graph, StopReason> {
        let transitions = self.workers.iter().map(|worker| worker.transitions).sum();
        let states = self.states();
        let numbers = states * 4 * size_of::<State<N>>() as u64;
        let bytes = self.bytes() + numbers + Graph::bytes(states, transitions);
        if self
            .search
            .limits
            .max_memory
            .is_some_and(|most| bytes > most)
        {
            return Err(StopReason::MaxMemory);
        }
        let mut nodes: AHashMap<State<N>, NodeId> = AHashMap::new();
        let mut all = Vec::new();
        for shard in &self.shards {
            let shard = shard.lock().expect("no thread panics here");
            for (key, state) in &shard.states {
                let verdict = self.workers[0].judge.verdict(state);
                if !self.workers[0].ends(verdict) {
                    all.push(*state);
                    nodes.insert(*key, NodeId(all.len() as u32));
                }
            }
        }
        let node = |worker: &mut Worker<N>, state: &State<N>| {
            let key = worker
                .key(state)
                .expect("the search has met every component");
            nodes.get(&key).copied().unwrap_or(Graph::ERROR)
        };
        let initial = starts.iter().map(|start| node(&mut self.workers[0], start));
        let mut initial: Vec<NodeId> = initial.collect();
        initial.sort_unstable();
        initial.dedup();
        let source = graph::Source {
            workers: &mut self.workers,
            pool: &mut self.pool,
            chunks: all.chunks(CHUNK).collect(),
            initial,
            transitions,
        };
        graph::build(
            source,
            |worker, state, out| worker.rows.tagged(state, out),
            node,
            || self.search.monitor.stop(self.search.limits),
        )
    }

    fn report(
        mut self,
        mut end: End,
        rounds: u64,
        starts: &[State<N>],
    ) -> Result<Exploration, Overflow> {
        let (mut violated, mut reached_final) = (false, false);
        for shard in &mut self.shards {
            let shard = shard.get_mut().expect("no thread panics here");
            shard.changed = AHashSet::new();
            violated |= shard.violated;
            reached_final |= shard.reached_final;
        }
        if end == End::Exhausted {
            self.count()?;
        }
        let graph = self
            .search
            .goal
            .graph_after(&mut end, || self.graph(starts));
        let violated = violated || self.workers.iter().any(|worker| worker.deadlock);
        let violation = match violated && graph.is_none() {
            true => Some(self.shortest(starts)),
            false => None,
        };
        let mut snapshots = Vec::new();
        for shard in self
            .shards
            .iter()
            .filter(|_| self.search.goal.wants_snapshots())
        {
            let shard = shard.lock().expect("no thread panics here");
            let states = shard.states.values();
            let states = states.map(|state| Snapshot::unpack(self.interner, self.layout, state));
            snapshots.extend(states.filter(|state| !state.failed()));
        }
        Ok(Exploration {
            end,
            statistics: Statistics {
                states: self.states(),
                transitions: self.workers.iter().map(|worker| worker.transitions).sum(),
                depth: rounds,
                configurations: self.interner.config_count(),
                table_bytes: self.table_bytes(),
                bytes: self.bytes(),
            },
            coverage: Coverage {
                reached_final,
                unreached: self.interner.unreached(),
            },
            no_room: false,
            violation,
            snapshots,
            graph,
        })
    }

    /// Counts the transitions of the fixed point, and looks for deadlocks in it.
    fn count(&mut self) -> Result<(), Overflow> {
        let cursor = AtomicUsize::new(0);
        let deadlock = self.search.deadlock;
        let parallel = self.states() >= PARALLEL as u64;
        let shards = &self.shards;
        in_parallel(&mut self.workers, &mut self.pool, parallel, |worker| {
            while let Some(shard) = shards.get(cursor.fetch_add(1, Ordering::Relaxed)) {
                let shard = shard.lock().expect("no thread panics here");
                for state in shard.states.values() {
                    let verdict = worker.judge.verdict(state);
                    if worker.ends(verdict) {
                        continue;
                    }
                    let found = worker.rows.successors(state, &mut worker.successors);
                    worker.overflow |= found.is_err();
                    let successors = worker.successors.as_slice().len();
                    worker.transitions += successors as u64;
                    let stuck = deadlock && successors == 0;
                    worker.deadlock |= stuck && !worker.judge.all_done(state);
                }
            }
        });
        self.check_overflow()
    }

    /// A shortest trace through the merged states to a violation. If the search was ended
    /// by a limit, states that were not found yet are left out.
    fn shortest(&mut self, starts: &[State<N>]) -> (Violation, Option<Trace>) {
        let mut worker = self.workers.swap_remove(0);
        let found = self.shortest_with(&mut worker, starts);
        self.workers.push(worker);
        found
    }

    fn shortest_with(
        &self,
        worker: &mut Worker<N>,
        starts: &[State<N>],
    ) -> (Violation, Option<Trace>) {
        let mut seen: AHashMap<State<N>, State<N>> = AHashMap::new();
        let mut levels: Vec<Vec<State<N>>> = vec![Vec::new()];
        for start in starts {
            if let Some((key, value)) = self.settled(worker, start)
                && seen.insert(key, value).is_none()
            {
                levels[0].push(key);
            }
        }
        let errors = loop {
            let level = levels.last().expect("there is a level");
            let bad = |key: &&State<N>| worker.judge_violation(&seen[*key], self.search.deadlock);
            let errors: Vec<State<N>> = level.iter().filter(bad).copied().collect();
            if !errors.is_empty() {
                break errors;
            }
            let mut next = Vec::new();
            for key in level {
                for successor in worker.successors_of(&seen[key]) {
                    if let Some((key, value)) = self.settled(worker, &successor)
                        && seen.insert(key, value).is_none()
                    {
                        next.push(key);
                    }
                }
            }
            assert!(!next.is_empty(), "a violation was seen");
            levels.push(next);
        };
        let found = Snapshot::unpack(self.interner, self.layout, &seen[&errors[0]]);
        let program = self.search.stepper.program;
        if self.search.monitor.interrupted() {
            return (
                found.violation(program).unwrap_or(Violation::Deadlock),
                None,
            );
        }
        levels.pop();
        let mut ahead: Vec<AHashSet<State<N>>> = vec![errors.into_iter().collect()];
        for level in levels.iter().rev() {
            let target = ahead.last().expect("there is a target");
            let mut leading = AHashSet::new();
            for key in level {
                let successors = worker.successors_of(&seen[key]);
                let mut known = successors
                    .iter()
                    .filter_map(|state| self.settled(worker, state));
                if known.any(|(key, _)| target.contains(&key)) {
                    leading.insert(*key);
                }
            }
            ahead.push(leading);
        }
        ahead.reverse();
        let unpack = |state: &State<N>| Snapshot::unpack(self.interner, self.layout, state);
        let starts = ahead[0].iter().map(|key| unpack(&seen[key]));
        let worker = std::cell::RefCell::new(worker);
        let settle = |after: Snapshot| {
            let packed = self
                .interner
                .pack(self.layout, &after.memory, &after.configs);
            let (key, value) = self.settled(&mut worker.borrow_mut(), &packed.ok()?)?;
            Some((key, unpack(&value)))
        };
        let trace = trace::walk(self.search.stepper, starts, &ahead[1..], &settle);
        let last = trace.last().violation(program);
        (last.unwrap_or(Violation::Deadlock), Some(trace))
    }
}
