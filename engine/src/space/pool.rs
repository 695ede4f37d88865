//! Threads that share the work of a search.

use crossbeam_utils::CachePadded;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Fewer states than this are not worth a second thread: it has to be woken, and two threads find
/// some states twice. With debug assertions they are, so that tests with small spaces use threads.
pub const PARALLEL: usize = if cfg!(debug_assertions) { 256 } else { 4096 };

/// Workers, one for each thread, and the threads once they are needed: all but one, because
/// whoever asks for work takes part in it instead of going to sleep.
pub struct Workers<W> {
    /// Apart from one another in memory: what one of them writes all the time is in no cache
    /// line that another reads.
    workers: Vec<CachePadded<W>>,
    others: Option<ThreadPool>,
}

impl<W: Send> Workers<W> {
    pub fn new(threads: usize, worker: impl Fn(usize) -> W) -> Workers<W> {
        Workers {
            workers: (0..threads.max(1))
                .map(|own| CachePadded::new(worker(own)))
                .collect(),
            others: None,
        }
    }

    pub fn len(&self) -> usize {
        self.workers.len()
    }

    pub fn nth(&mut self, at: usize) -> &mut W {
        &mut self.workers[at]
    }

    pub fn first(&mut self) -> &mut W {
        &mut self.workers[0]
    }

    pub fn iter(&self) -> impl Iterator<Item = &W> {
        self.workers.iter().map(|worker| &**worker)
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut W> {
        self.workers.iter_mut().map(|worker| &mut **worker)
    }

    /// Starts threads if there are to be any; whether there are.
    pub fn start(&mut self) -> bool {
        let others = self.workers.len() - 1;
        if others > 0 && self.others.is_none() {
            let threads = ThreadPoolBuilder::new().num_threads(others);
            self.others = threads.build().ok();
        }
        self.others.is_some()
    }

    /// Runs a task once for every worker, on threads if it is worth while; otherwise once.
    pub fn run(&mut self, worth_while: bool, task: impl Fn(&mut W) + Sync) {
        let worth_while = worth_while && self.start();
        let (first, rest) = self.workers.split_first_mut().expect("there is one");
        match &self.others {
            Some(others) if worth_while => others.in_place_scope(|scope| {
                for worker in rest {
                    scope.spawn(|_| task(worker));
                }
                task(first);
            }),
            _ => task(first),
        }
    }

    /// The same for a task that may fail; the first error is returned.
    pub fn try_run<E: Send>(
        &mut self,
        worth_while: bool,
        task: impl Fn(&mut W) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        let first = Mutex::new(Ok(()));
        self.run(worth_while, |worker| {
            if let Err(error) = task(worker) {
                let mut first = first.lock().expect("no thread panics here");
                *first = std::mem::replace(&mut *first, Ok(())).and(Err(error));
            }
        });
        first.into_inner().expect("no thread panics here")
    }

    /// Gives every item and its index to some worker, in no certain order. After an error
    /// no more items are given out; the first one is returned.
    pub fn share<T: Sync, E: Send>(
        &mut self,
        items: &[T],
        worth_while: bool,
        task: impl Fn(&mut W, usize, &T) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        let cursor = AtomicUsize::new(0);
        self.try_run(worth_while, |worker| {
            loop {
                let at = cursor.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(at) else {
                    return Ok(());
                };
                let done = task(worker, at, item);
                if done.is_err() {
                    cursor.store(items.len(), Ordering::Relaxed);
                    return done;
                }
            }
        })
    }
}
