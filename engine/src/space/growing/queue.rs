//! The states that wait to be expanded, those with the most pending stores first.
//!
//! The order decides only how often states are expanded. A set grows store by store and
//! shrinks only by becoming empty. With the fullest states first, all ways to fill sets are
//! followed before any of them is emptied, so most states are found with the sets that they
//! have in the end.
//!
//! Threads take states by the chunk, and hand over what they have found since. Of those that are
//! next, a thread takes what it has found itself: their successors are often the same, which it
//! notices without a look at any table.

use crate::space::layout::State;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};

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
    /// By the number of pending stores, and by who has found them; in the order in which they
    /// were found.
    buckets: Vec<Vec<VecDeque<State<N>>>>,
    threads: usize,
    /// States that a thread takes at a time.
    chunk: usize,
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
    pub fn new(threads: usize, chunk: usize) -> Queue<N> {
        Queue {
            waiting: Mutex::new(Waiting {
                buckets: Vec::new(),
                threads,
                chunk,
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
        own: usize,
        found: &mut Found<N>,
        chunk: &mut Vec<State<N>>,
        stop: impl Fn() -> bool,
    ) -> bool {
        let mut waiting = self.waiting.lock().expect("no thread panics here");
        waiting.busy -= usize::from(!chunk.is_empty());
        chunk.clear();
        self.len
            .fetch_add(waiting.add(own, found), Ordering::Relaxed);
        self.room.store(waiting.room(), Ordering::Relaxed);
        while !stop() {
            waiting.take(own, chunk);
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
    /// Moves all states that a thread has found here; how many.
    fn add(&mut self, own: usize, found: &mut Found<N>) -> u64 {
        let mut added = 0;
        if self.buckets.len() < found.buckets.len() {
            let threads = self.threads;
            let empty = || (0..threads).map(|_| VecDeque::new()).collect();
            self.buckets.resize_with(found.buckets.len(), empty);
        }
        let buckets = self.buckets.iter_mut().zip(&mut found.buckets);
        for (at, (bucket, states)) in buckets.enumerate() {
            if !states.is_empty() {
                self.end = self.end.max(at + 1);
                added += states.len() as u64;
                bucket[own].extend(states.drain(..));
            }
        }
        added
    }

    /// For how many states there is memory.
    fn room(&self) -> u64 {
        let room = self.buckets.iter().flatten().map(VecDeque::capacity);
        room.sum::<usize>() as u64
    }

    /// Takes a chunk of states from the last buckets, what others have found only where a thread
    /// has nothing of its own. Large ones that are empty give back their memory.
    fn take(&mut self, own: usize, chunk: &mut Vec<State<N>>) {
        while chunk.len() < self.chunk && self.end > 0 {
            let bucket = &mut self.buckets[self.end - 1];
            let longest = (0..bucket.len()).max_by_key(|&at| bucket[at].len());
            let from = match bucket[own].is_empty() {
                true => longest.expect("there are threads"),
                false => own,
            };
            let from = &mut bucket[from];
            let taken = from.len().min(self.chunk - chunk.len());
            chunk.extend(from.drain(..taken));
            if from.is_empty() {
                from.shrink_to(KEPT);
            }
            while self.end > 0 && self.buckets[self.end - 1].iter().all(VecDeque::is_empty) {
                self.end -= 1;
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    const CHUNK: usize = 64;

    /// The states with the most pending stores come first, and of these what the thread has
    /// found itself; what others have found comes before states with fewer stores.
    #[test]
    fn what_a_thread_has_found_comes_first() {
        let queue: Queue<1> = Queue::new(2, CHUNK);
        let mut found = Found::new();
        let mut chunk = Vec::new();
        let full = CHUNK as u64;
        let mut hand_over = |own: usize, states: &[(u64, usize)]| {
            for &(state, stores) in states {
                (0..full).for_each(|_| found.push([state], stores));
            }
            // Nobody takes anything yet.
            assert!(!queue.next(own, &mut found, &mut Vec::new(), || true));
        };
        hand_over(0, &[(1, 2), (2, 1)]);
        hand_over(1, &[(3, 2), (4, 0)]);
        assert_eq!(queue.len(), 4 * full);
        let mut taken = |own| {
            assert!(queue.next(own, &mut Found::new(), &mut chunk, || false));
            assert_eq!(chunk.len(), CHUNK);
            chunk[0][0]
        };
        assert_eq!([taken(1), taken(1), taken(1), taken(0)], [3, 1, 2, 4]);
        assert_eq!(queue.len(), 0);
    }
}
