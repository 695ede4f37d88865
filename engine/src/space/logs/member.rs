//! What a process may be doing: control and locals, how far it lags behind, and under PSO
//! the stores that have not reached memory yet.

use super::word::{Atom, Word};
use crate::ids::ids;
use crate::program::{PlaceId, Value};

ids!(
    /// Control and locals.
    ConfigId,
    /// The values of the places that a process loads, as it saw them at some moment.
    SnapshotId,
);

/// A process that lags behind the present.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Member {
    pub config: ConfigId,
    /// It has passed the fence before its next instruction, which is one step with it: at some
    /// moment all of its stores were in memory. The log begins there.
    pub drained: bool,
    pub log: Log,
    pub queues: Queues,
}

/// By place, in order; none is empty.
pub type Queues = Vec<(PlaceId, Queue)>;

/// A store that reaches memory.
pub struct Flush {
    pub place: PlaceId,
    pub value: Value,
    /// It stood before a store-load fence.
    pub early: bool,
    /// What is left.
    pub queues: Queues,
}

/// The moments that a process can still look at, the present aside. A moment may be looked at
/// any number of times, or be skipped, so every atom is a star.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Log {
    pub moments: Word<SnapshotId>,
    /// A store has landed after the moment that the process looks at: what comes behind the
    /// store may look at the past. Otherwise a load is run at the moment it looks at, and the
    /// moments are there for what comes behind the next store.
    pub behind_store: bool,
}

/// Stores to one place that have not reached memory, under PSO.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Queue {
    /// Those before the last store-load fence.
    pub early: Option<Channel>,
    pub late: Option<Channel>,
}

/// Stores to one place, in order. All but the last may reach memory unseen, right before the
/// next one does: they may be lost.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Channel {
    pub old: Word<Value>,
    pub last: Value,
}

impl Member {
    /// Whatever this one can do, the other can do as well.
    pub fn is_within(&self, other: &Member) -> bool {
        self.config == other.config
            && self.drained == other.drained
            && self.log.is_within(&other.log)
            && self.queues.len() == other.queues.len()
            && self
                .queues
                .iter()
                .zip(&other.queues)
                .all(|(own, theirs)| own.0 == theirs.0 && own.1.is_within(&theirs.1))
    }

    /// The stores to a place that have not reached memory.
    pub fn queue(&self, place: PlaceId) -> Option<&Queue> {
        let at = self
            .queues
            .binary_search_by_key(&place, |(place, _)| *place);
        at.ok().map(|at| &self.queues[at].1)
    }

    /// Loads wait for stores before a store-load fence.
    pub fn delays_loads(&self) -> bool {
        self.queues.iter().any(|(_, queue)| queue.early.is_some())
    }

    /// Puts a store behind those that have not reached memory.
    pub fn enqueue(&mut self, place: PlaceId, value: Value, widening: usize) {
        let at = self
            .queues
            .binary_search_by_key(&place, |(place, _)| *place);
        let at = at.unwrap_or_else(|at| {
            self.queues.insert(at, (place, Queue::default()));
            at
        });
        match &mut self.queues[at].1.late {
            None => {
                self.queues[at].1.late = Some(Channel {
                    old: Word::default(),
                    last: value,
                });
            }
            Some(channel) => {
                channel.old.push(Atom::once(channel.last));
                channel.old.widen(widening);
                channel.last = value;
            }
        }
    }

    /// A store-load fence: loads wait for everything that has not reached memory.
    pub fn mark_early(&mut self, widening: usize) {
        for (_, queue) in &mut self.queues {
            if let Some(late) = queue.late.take() {
                queue.early = Some(match queue.early.take() {
                    None => late,
                    Some(mut early) => {
                        early.old.push(Atom::once(early.last));
                        early.old.append(&late.old);
                        early.old.widen(widening);
                        Channel {
                            last: late.last,
                            ..early
                        }
                    }
                });
            }
        }
    }

    /// Every way in which a store can reach memory.
    pub fn flushes(&self) -> Vec<Flush> {
        let mut all = Vec::new();
        for (at, (place, queue)) in self.queues.iter().enumerate() {
            let (channel, early) = match (&queue.early, &queue.late) {
                (Some(channel), _) => (channel, true),
                (None, Some(channel)) => (channel, false),
                (None, None) => unreachable!("no queue is empty"),
            };
            for (value, left) in channel.flushes() {
                let queue = match early {
                    true => Queue {
                        early: left,
                        late: queue.late.clone(),
                    },
                    false => Queue {
                        early: None,
                        late: left,
                    },
                };
                let mut queues = self.queues.clone();
                match queue == Queue::default() {
                    true => drop(queues.remove(at)),
                    false => queues[at].1 = queue,
                }
                all.push(Flush {
                    place: *place,
                    value,
                    early,
                    queues,
                });
            }
        }
        all
    }
}

impl Log {
    pub fn is_empty(&self) -> bool {
        self.moments.is_empty() && !self.behind_store
    }

    fn is_within(&self, other: &Log) -> bool {
        (other.behind_store || !self.behind_store) && self.moments.is_within(&other.moments)
    }
}

impl Queue {
    fn is_within(&self, other: &Queue) -> bool {
        let within = |own: &Option<Channel>, theirs: &Option<Channel>| match (own, theirs) {
            (None, None) => true,
            (Some(own), Some(theirs)) => own.last == theirs.last && own.old.is_within(&theirs.old),
            _ => false,
        };
        within(&self.early, &other.early) && within(&self.late, &other.late)
    }

    /// The value that the process itself reads.
    pub fn newest(&self) -> Value {
        let newest = self.late.as_ref().or(self.early.as_ref());
        newest.expect("no queue is empty").last
    }
}

impl Channel {
    /// The values that can reach memory next, and what is left then. For each value the
    /// first store of it leaves the most.
    fn flushes(&self) -> Vec<(Value, Option<Channel>)> {
        let mut all: Vec<(Value, Option<Channel>)> = Vec::new();
        for (at, atom) in self.old.atoms().iter().enumerate() {
            for &value in atom.letters() {
                if all.iter().all(|(known, _)| *known != value) {
                    let left = Channel {
                        old: self.old.behind(at),
                        last: self.last,
                    };
                    all.push((value, Some(left)));
                }
            }
        }
        all.push((self.last, None));
        all
    }
}
