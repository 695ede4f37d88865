//! The states that wait to be expanded, those with the most pending stores first.
//!
//! The order decides only how often states are expanded. A set grows store by store and
//! shrinks only by becoming empty. With the fullest states first, all ways to fill sets are
//! followed before any of them is emptied, so most states are found with the sets that they
//! have in the end.
//!
//! Threads take states by the chunk, and hand over what they have found since.

use crate::space::layout::State;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};

/// States that a thread takes at a time.
const CHUNK: usize = 64;

/// States that an empty bucket keeps memory for.
const KEPT: usize = 1 << 14;

/// The queue that all threads share.
pub struct Queue<const N: usize> {
    waiting: Mutex<Waiting<N>>,
    /// There are states for threads that have none, or there will be none.
    change: Condvar,
    len: AtomicU64,
    room: AtomicU64,
}

struct Waiting<const N: usize> {
    /// By the number of pending stores; in the order in which they were found.
    buckets: Vec<VecDeque<State<N>>>,
    /// The buckets from here on are empty.
    end: usize,
    /// Threads that expand states now.
    busy: usize,
    /// Threads that wait for states.
    idle: usize,
}

/// What one thread has found, by the number of pending stores.
pub struct Found<const N: usize> {
    buckets: Vec<Vec<State<N>>>,
}

impl<const N: usize> Queue<N> {
    pub fn new() -> Queue<N> {
        Queue {
            waiting: Mutex::new(Waiting {
                buckets: Vec::new(),
                end: 0,
                busy: 0,
                idle: 0,
            }),
            change: Condvar::new(),
            len: AtomicU64::new(0),
            room: AtomicU64::new(0),
        }
    }

    /// How many states wait.
    pub fn len(&self) -> u64 {
        self.len.load(Ordering::Relaxed)
    }

    /// For how many states it holds memory.
    pub fn room(&self) -> &AtomicU64 {
        &self.room
    }

    /// Hands over what a thread has found while it expanded its last chunk, and gives it the
    /// next one; false if there is none, now or later, or if it is to `stop`, which it is
    /// asked when all that was found is known.
    pub fn next(
        &self,
        found: &mut Found<N>,
        chunk: &mut Vec<State<N>>,
        stop: impl Fn() -> bool,
    ) -> bool {
        let mut waiting = self.waiting.lock().expect("no thread panics here");
        waiting.busy -= usize::from(!chunk.is_empty());
        chunk.clear();
        self.len.fetch_add(waiting.add(found), Ordering::Relaxed);
        self.room.store(waiting.room(), Ordering::Relaxed);
        while !stop() {
            waiting.take(chunk);
            if !chunk.is_empty() {
                waiting.busy += 1;
                let taken = chunk.len() as u64;
                self.len.fetch_sub(taken, Ordering::Relaxed);
                break;
            }
            if waiting.busy == 0 {
                break;
            }
            waiting.idle += 1;
            waiting = self.change.wait(waiting).expect("no thread panics here");
            waiting.idle -= 1;
        }
        if waiting.idle > 0 && (chunk.is_empty() || waiting.end > 0) {
            self.change.notify_all();
        }
        !chunk.is_empty()
    }
}

impl<const N: usize> Waiting<N> {
    /// Moves all states here; how many.
    fn add(&mut self, found: &mut Found<N>) -> u64 {
        let mut added = 0;
        if self.buckets.len() < found.buckets.len() {
            self.buckets.resize_with(found.buckets.len(), VecDeque::new);
        }
        let buckets = self.buckets.iter_mut().zip(&mut found.buckets);
        for (at, (bucket, states)) in buckets.enumerate() {
            if !states.is_empty() {
                self.end = self.end.max(at + 1);
                added += states.len() as u64;
                bucket.extend(states.drain(..));
            }
        }
        added
    }

    /// For how many states there is memory.
    fn room(&self) -> u64 {
        let room = self.buckets.iter().map(VecDeque::capacity);
        room.sum::<usize>() as u64
    }

    /// Takes a chunk of states from the last buckets. Large ones that are empty give back
    /// their memory.
    fn take(&mut self, chunk: &mut Vec<State<N>>) {
        while chunk.len() < CHUNK && self.end > 0 {
            let bucket = &mut self.buckets[self.end - 1];
            let taken = bucket.len().min(CHUNK - chunk.len());
            chunk.extend(bucket.drain(..taken));
            if bucket.is_empty() {
                bucket.shrink_to(KEPT);
                self.end -= 1;
            }
        }
        while self.end > 0 && self.buckets[self.end - 1].is_empty() {
            self.end -= 1;
        }
    }
}

impl<const N: usize> Found<N> {
    pub fn new() -> Found<N> {
        let buckets = Vec::new();
        Found { buckets }
    }

    /// Adds a state with this many pending stores.
    pub fn push(&mut self, state: State<N>, stores: usize) {
        if self.buckets.len() <= stores {
            self.buckets.resize_with(stores + 1, Vec::new);
        }
        self.buckets[stores].push(state);
    }
}
