//! What several threads find out about the states that are expanded next.
//!
//! The search goes from one state to the next, and what it finds depends on their order. Most of the
//! time it only looks up what is known already: where writes lead, and whether that is covered.
//! Looking up changes nothing. So from time to time all threads do it for the states that come next
//! in the order, and the search goes on with what they have seen. What is covered stays covered, and
//! what is known stays true, so that the search does the same as without them. States that are
//! found meanwhile and come before the others are expanded as always.

use super::Ended;
use super::states::{MemoryId, Open, Parent, SetSearch, StateId};
use super::symmetry::Product;
use crate::space::pool::Workers;

/// States that are looked at together.
const MOST: usize = 512;

/// Fewer of them than this are not worth a second thread. With debug assertions they are, so that
/// tests with small spaces use threads.
const WORTH_SHARING: usize = if cfg!(debug_assertions) { 8 } else { 128 };

/// States that come next, and what was seen of them.
pub struct Foresight {
    threads: usize,
    /// In reverse order.
    next: Vec<(Open, Vec<Foreseen>)>,
    workers: Option<Workers<Seen>>,
}

/// What one thread has seen, by the positions of states.
type Seen = Vec<(usize, Vec<Foreseen>)>;

/// What was seen of a write, in the order in which the search takes them.
pub enum Foreseen {
    /// What it leads to is covered.
    Covered(MemoryId),
    /// Where it leads.
    Next(Product),
    /// Something is not known.
    Unknown,
}

impl Foresight {
    pub fn new(threads: usize) -> Foresight {
        Foresight {
            threads,
            next: Vec::new(),
            workers: None,
        }
    }
}

impl SetSearch<'_> {
    /// The state that is expanded next, and what was seen of it.
    pub fn next_state(&mut self) -> Result<Option<(StateId, Vec<Foreseen>)>, Ended> {
        if self.foresight.next.is_empty()
            && self.foresight.threads > 1
            && self.open.len() >= WORTH_SHARING
        {
            self.look_ahead()?;
        }
        let seen = self.foresight.next.last().map(|(state, _)| state);
        if seen >= self.open.peek() {
            let next = self.foresight.next.pop();
            return Ok(next.map(|((_, state), seen)| (state.0, seen)));
        }
        let next = self.open.pop();
        Ok(next.map(|(_, state)| (state.0, Vec::new())))
    }

    /// Lets all threads look at the states that come next.
    fn look_ahead(&mut self) -> Result<(), Ended> {
        let most = (self.open.len() / 2).min(MOST);
        let mut next = Vec::new();
        while next.len() < most
            && let Some(open) = self.open.pop()
        {
            if !self.head(open.1.0).covered {
                next.push(open);
            }
        }
        next.reverse();
        let threads = self.foresight.threads;
        let workers = self.foresight.workers.take();
        let mut workers = workers.unwrap_or_else(|| Workers::new(threads, |_| Seen::new()));
        let search = &*self;
        let looked = workers.share(&next, true, |seen, at, (_, state)| {
            search.budget.check(0)?;
            seen.push((at, search.foresee(state.0)));
            Ok::<_, Ended>(())
        });
        let mut all: Vec<_> = next.into_iter().map(|open| (open, Vec::new())).collect();
        for (at, seen) in workers.iter_mut().flat_map(|seen| seen.drain(..)) {
            all[at].1 = seen;
        }
        self.foresight.next = all;
        self.foresight.workers = Some(workers);
        looked
    }

    /// What is known of the writes that are possible in a state.
    fn foresee(&self, state: StateId) -> Vec<Foreseen> {
        let mut foreseen = Vec::new();
        for writer in self.processes() {
            let Ok(steps) = self.steps(state, writer) else {
                break;
            };
            for &(change, after) in self.kind(writer).step_list(steps) {
                let parent = Parent {
                    state,
                    writer,
                    change,
                };
                foreseen.push(match self.next(parent, after) {
                    Ok(next) if self.is_covered(&next) => Foreseen::Covered(next.memory),
                    Ok(next) => Foreseen::Next(next),
                    Err(_) => Foreseen::Unknown,
                });
            }
        }
        foreseen
    }
}
