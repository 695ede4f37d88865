//! States on their way from the threads that find them to those that own them.
//!
//! Every thread owns a part of the visited set, and nobody else touches it: so nothing is
//! locked or exchanged between processors for a look at a state, and states that belong to
//! another are handed over by the parcel.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A box for each thread, into which all of them put parcels.
pub struct Mail<T> {
    boxes: Vec<Inbox<T>>,
    /// Threads that may still send something, and parcels that nobody has taken.
    open: AtomicUsize,
    /// A thread has panicked, so that some parcels may never be taken.
    broken: AtomicBool,
}

struct Inbox<T> {
    parcels: Mutex<Vec<Parcel<T>>>,
    /// Read without the lock.
    waiting: AtomicUsize,
}

/// What one thread has sent to another at a time.
pub struct Parcel<T> {
    pub from: usize,
    pub content: Vec<T>,
}

/// One who may still send something, until it is dropped.
pub struct Sender<'m, T> {
    mail: &'m Mail<T>,
    own: usize,
}

/// Lets nobody wait for a thread that panics while it holds this.
pub struct Alarm<'m> {
    broken: &'m AtomicBool,
}

impl<T> Mail<T> {
    /// Empty boxes for so many owners, and so many threads that may send.
    pub fn new(owners: usize, senders: usize) -> Mail<T> {
        let inbox = || Inbox {
            parcels: Mutex::new(Vec::new()),
            waiting: AtomicUsize::new(0),
        };
        Mail {
            boxes: (0..owners).map(|_| inbox()).collect(),
            open: AtomicUsize::new(senders),
            broken: AtomicBool::new(false),
        }
    }

    /// One of the threads that may send.
    pub fn sender(&self, own: usize) -> Sender<'_, T> {
        Sender { mail: self, own }
    }

    pub fn alarm(&self) -> Alarm<'_> {
        Alarm {
            broken: &self.broken,
        }
    }

    /// Takes the parcels out of a thread's box.
    pub fn take(&self, own: usize) -> Vec<Parcel<T>> {
        let inbox = &self.boxes[own];
        if inbox.waiting.load(Ordering::Relaxed) == 0 {
            return Vec::new();
        }
        let mut parcels = inbox.parcels.lock().expect("no thread panics here");
        inbox.waiting.store(0, Ordering::Relaxed);
        let taken = std::mem::take(&mut *parcels);
        self.open.fetch_sub(taken.len(), Ordering::AcqRel);
        taken
    }

    /// Nothing will come any more, and nothing waits.
    pub fn is_over(&self) -> bool {
        self.open.load(Ordering::Acquire) == 0 || self.broken.load(Ordering::Relaxed)
    }
}

impl<T> Sender<'_, T> {
    pub fn send(&self, to: usize, content: Vec<T>) {
        self.mail.open.fetch_add(1, Ordering::AcqRel);
        let inbox = &self.mail.boxes[to];
        let mut parcels = inbox.parcels.lock().expect("no thread panics here");
        let from = self.own;
        parcels.push(Parcel { from, content });
        inbox.waiting.store(parcels.len(), Ordering::Relaxed);
    }
}

impl<T> Drop for Sender<'_, T> {
    fn drop(&mut self) {
        self.mail.open.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.broken.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREADS: usize = 3;
    const PARCELS: usize = if cfg!(miri) { 20 } else { 2000 };

    /// Every thread sends numbers to all others and receives until nothing more can come.
    #[test]
    fn everything_arrives_once() {
        let mail = Mail::new(THREADS, THREADS);
        let receive = |own: usize, arrived: &mut Vec<usize>| {
            let parcels = mail.take(own);
            for parcel in &parcels {
                assert!(
                    parcel
                        .content
                        .iter()
                        .all(|number| number / PARCELS == parcel.from)
                );
                arrived.extend(&parcel.content);
            }
            !parcels.is_empty()
        };
        let work = |own: usize| {
            let (sender, mut arrived) = (mail.sender(own), Vec::new());
            for at in 0..PARCELS {
                let number = own * PARCELS + at;
                sender.send(number % THREADS, vec![number, number]);
                receive(own, &mut arrived);
            }
            drop(sender);
            while !mail.is_over() {
                if !receive(own, &mut arrived) {
                    std::thread::yield_now();
                }
            }
            arrived.sort();
            arrived
        };
        let arrived: Vec<Vec<usize>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|own| {
                    scope.spawn({
                        let work = &work;
                        move || work(own)
                    })
                })
                .collect();
            let threads = threads.into_iter();
            threads.map(|thread| thread.join().unwrap()).collect()
        });
        for (own, arrived) in arrived.iter().enumerate() {
            let sent = (0..THREADS * PARCELS).filter(|number| number % THREADS == own);
            assert!(
                arrived
                    .iter()
                    .copied()
                    .eq(sent.flat_map(|number| [number, number]))
            );
        }
    }

    #[test]
    fn nobody_waits_for_a_thread_that_panics() {
        let mail = Mail::<u8>::new(2, 2);
        std::thread::scope(|scope| {
            let failed = scope.spawn(|| {
                let _alarm = mail.alarm();
                panic!("as it should");
            });
            assert!(failed.join().is_err());
        });
        assert!(mail.is_over());
    }
}
