//! How long do store buffers get?
//!
//! The exact models have unbounded buffers. [`occupancy`] says for each queue (TSO: one per
//! process; PSO: one per process and place) how many stores are pending in it at most, or that
//! there is no such number. Every answer is shown:
//!
//! - *Exactly n.* Some execution has n stores pending, and no execution has more. The latter
//!   follows from the automaton alone where no way passes more stores without draining the queue
//!   (`drains`); or all states with buffers up to some length were visited, and no store had to
//!   wait for room; or, where other queues are unbounded, all states were visited with those
//!   queues abstracted by FD.
//! - *Unbounded.* There is an execution that comes round to where it was, without a flush of the
//!   queue and with more stores in it, and so can go round for ever (`round`).
//! - Otherwise the answer is *not known*, with what is known at least and at most. Executions
//!   that can fill a queue only while they also flush it are of this kind.
//!
//! Programs with integers without bound are asked about in another way (`integers`).
//!
//! Bounds grow by one from turn to turn. A queue that is settled keeps the bound it was settled
//! with, so that an unbounded one does not make the states of all later turns explode.

mod drains;
mod explore;
mod integers;
mod memory;
mod round;

pub use integers::occupancy_of_integers;
pub use round::Round;

use crate::limits::{Limits, Monitor, StopReason};
use crate::memory::{Memory, Model, Order, PartialCoherence, Semantics, SetRule};
use crate::program::{PlaceId, ProcessId, Program};
use explore::{Explorer, Reached};
use memory::{Bounded, Bounds};
use std::sync::Arc;

/// Where stores wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Queue {
    pub process: ProcessId,
    /// The place whose stores it holds; none if it holds all stores of the process.
    pub place: Option<PlaceId>,
}

/// How long a queue gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Length {
    /// This long, and no longer.
    Exactly(usize),
    /// There is no longest one; this is how it is filled.
    Unbounded(Round),
    /// An execution fills it at least this far; no execution fills it further than the second
    /// number, if there is one.
    Unknown {
        at_least: usize,
        at_most: Option<usize>,
    },
}

/// What is asked.
#[derive(Debug, Clone)]
pub struct OccupancyOptions {
    /// The model, the treatment of atomics and how steps are cut; the abstraction is not used.
    pub semantics: Semantics,
    /// The longest buffer to try.
    pub most: usize,
    pub limits: Limits,
}

/// What was found.
#[derive(Debug)]
pub struct Occupancy {
    pub queues: Vec<(Queue, Length)>,
    /// The states that were visited in all turns.
    pub states: u64,
    /// The bound of the last turn; 0 if none was needed.
    pub bound: usize,
    /// The limit that ended the work early.
    pub stopped: Option<StopReason>,
    /// Some process found no free block of memory, so that visiting all states shows nothing.
    pub lacked_heap: bool,
}

impl Occupancy {
    /// The longest buffer of all, if every queue has one.
    pub fn longest(&self) -> Option<usize> {
        let lengths = self.queues.iter().map(|(_, length)| match length {
            Length::Exactly(length) => Some(*length),
            Length::Unbounded(_) | Length::Unknown { .. } => None,
        });
        lengths
            .collect::<Option<Vec<_>>>()?
            .into_iter()
            .max()
            .or(Some(0))
    }
}

/// How many states are visited before it is first asked whether something goes round.
const FIRST_LOOK: usize = 20_000;

/// How long the buffers of a program get. Under SC there are none.
pub fn occupancy(program: &Program, options: &OccupancyOptions, monitor: &Monitor) -> Occupancy {
    let order = match options.semantics.model {
        Model::Sc => {
            return Occupancy {
                queues: Vec::new(),
                states: 0,
                bound: 0,
                stopped: None,
                lacked_heap: false,
            };
        }
        Model::Tso => Order::Tso,
        Model::Pso => Order::Pso,
    };
    let mut turns = Turns {
        program,
        options,
        monitor,
        order,
        queues: drains::queues(program, order)
            .into_iter()
            .map(|queue| Known {
                queue,
                at_least: 0,
                at_most: drains::most_stores(program, queue, options.semantics),
                round: None,
                bound: 0,
            })
            .collect(),
        states: 0,
        bound: 0,
        lacked_heap: false,
    };
    let stopped = turns.run().err();
    Occupancy {
        states: turns.states,
        bound: turns.bound,
        stopped,
        lacked_heap: turns.lacked_heap,
        queues: turns
            .queues
            .into_iter()
            .map(|known| (known.queue, known.length()))
            .collect(),
    }
}

/// What is known of a queue.
struct Known {
    queue: Queue,
    at_least: usize,
    at_most: Option<usize>,
    round: Option<Round>,
    /// The bound of the last turn in which it was not settled.
    bound: usize,
}

impl Known {
    fn is_settled(&self) -> bool {
        self.round.is_some() || self.at_most == Some(self.at_least)
    }

    fn length(self) -> Length {
        match (self.round, self.at_least, self.at_most) {
            (Some(round), ..) => Length::Unbounded(round),
            (None, at_least, Some(at_most)) if at_least == at_most => Length::Exactly(at_least),
            (None, at_least, at_most) => Length::Unknown { at_least, at_most },
        }
    }
}

/// Turns with growing bounds.
struct Turns<'a> {
    program: &'a Program,
    options: &'a OccupancyOptions,
    monitor: &'a Monitor,
    order: Order,
    queues: Vec<Known>,
    states: u64,
    bound: usize,
    lacked_heap: bool,
}

impl Turns<'_> {
    fn run(&mut self) -> Result<(), StopReason> {
        while !self.is_settled() && !self.lacked_heap && self.bound < self.options.most {
            self.bound += 1;
            for known in self.queues.iter_mut().filter(|known| !known.is_settled()) {
                let most = known.at_most.unwrap_or(usize::MAX);
                known.bound = self.bound.min(most);
            }
            self.monitor.say(&format!("buffers up to {}", self.bound));
            self.turn()?;
        }
        Ok(())
    }

    fn is_settled(&self) -> bool {
        self.queues.iter().all(Known::is_settled)
    }

    /// All states with the bounds of this turn, and what they show.
    fn turn(&mut self) -> Result<(), StopReason> {
        let bounds = self.bounds();
        let memories = self.program.process_ids().map(|process| {
            let bounds = bounds[process.index()].clone();
            let order = self.order;
            Box::new(Bounded { order, bounds }) as Box<dyn Memory>
        });
        let steppers = explore::steppers(self.program, self.options.semantics, memories);
        let mut explorer = Explorer::new(self.program, steppers);
        let result = explorer.begin(&self.options.limits, self.monitor);
        let result = result.and_then(|()| self.look_on(&mut explorer, &bounds));
        self.states += explorer.states() as u64;
        if !result? || self.is_settled() {
            return Ok(());
        }
        // Every state with these bounds was visited.
        self.lacked_heap = explorer.lacked_heap();
        if self.lacked_heap {
            return Ok(());
        }
        let waited = |known: &Known| bounds[known.queue.process.index()].waited(known.queue.place);
        if !self.queues.iter().any(waited) {
            for known in &mut self.queues {
                known.at_most = Some(known.at_least);
            }
            return Ok(());
        }
        let open = |known: &Known| !known.is_settled() && waited(known);
        match self.queues.iter().any(open) {
            true => Ok(()),
            false => self.abstracted(),
        }
    }

    /// Visits states until all queues are settled or there are no more; from time to time it is
    /// asked whether those so far lead to a round. Whether all states were visited.
    fn look_on(
        &mut self,
        explorer: &mut Explorer,
        bounds: &[Arc<Bounds>],
    ) -> Result<bool, StopReason> {
        let mut budget = FIRST_LOOK;
        loop {
            let exhausted = explorer.run(budget, &self.options.limits, self.monitor)?;
            for known in &mut self.queues {
                let Reached { longest, .. } = explorer.reached(known.queue);
                known.at_least = known.at_least.max(longest);
            }
            for at in 0..self.queues.len() {
                let queue = self.queues[at].queue;
                let waited = bounds[queue.process.index()].waited(queue.place);
                // Only a queue that no automaton bounds can be filled for ever.
                let endless = self.queues[at].at_most.is_none();
                if waited && endless && !self.queues[at].is_settled() {
                    let budget = if exhausted { usize::MAX } else { budget };
                    let mut round = self.round(explorer, queue, budget, true)?;
                    if round.is_none() {
                        round = self.round(explorer, queue, budget, false)?;
                    }
                    self.queues[at].round = round;
                }
            }
            if exhausted || self.is_settled() {
                return Ok(exhausted);
            }
            budget = budget.saturating_mul(8);
        }
    }

    /// A way round that fills a queue, from one of the states that were visited; `alone` if
    /// others need not move.
    fn round(
        &mut self,
        explorer: &Explorer,
        queue: Queue,
        budget: usize,
        alone: bool,
    ) -> Result<Option<Round>, StopReason> {
        let bounds = self.bounds();
        let memories = self.program.process_ids().map(|process| {
            let bounds = bounds[process.index()].clone();
            let order = self.order;
            match process == queue.process {
                true => round::memory(order, bounds, queue.place),
                false => Box::new(Bounded { order, bounds }),
            }
        });
        let steppers = explore::steppers(self.program, self.options.semantics, memories);
        let search = round::Search {
            steppers,
            queue,
            order: self.order,
            alone,
            budget,
        };
        let (found, states) = search.run(explorer, &self.options.limits, self.monitor);
        self.states += states as u64;
        found
    }

    /// All states with the unbounded queues abstracted: what no queue exceeds there, it never
    /// does.
    fn abstracted(&mut self) -> Result<(), StopReason> {
        let bounds = self.bounds();
        let unbounded = |process: ProcessId| {
            let mut own = self
                .queues
                .iter()
                .filter(|known| known.queue.process == process);
            own.any(|known| known.round.is_some())
        };
        let memories = self.program.process_ids().map(|process| {
            let (order, bounds) = (self.order, bounds[process.index()].clone());
            match unbounded(process) {
                true => Box::new(PartialCoherence {
                    order,
                    k: self.bound,
                    rule: SetRule::FullyDisjunctive,
                }) as Box<dyn Memory>,
                false => Box::new(Bounded { order, bounds }),
            }
        });
        let steppers = explore::steppers(self.program, self.options.semantics, memories);
        let mut explorer = Explorer::new(self.program, steppers);
        let limits = &self.options.limits;
        let result = explorer.begin(limits, self.monitor);
        let result = result.and_then(|()| explorer.run(usize::MAX, limits, self.monitor));
        self.states += explorer.states() as u64;
        result?;
        if explorer.lacked_heap() {
            return Ok(());
        }
        // A store that waited was not seen to be followed by what comes after it.
        let open = |known: &&Known| !unbounded(known.queue.process);
        let mut open = self.queues.iter().filter(open);
        if open.any(|known| bounds[known.queue.process.index()].waited(known.queue.place)) {
            return Ok(());
        }
        for known in &mut self.queues {
            let Reached { longest, more } = explorer.reached(known.queue);
            if known.round.is_none() && !more {
                let most = known.at_most.unwrap_or(usize::MAX);
                known.at_most = Some(most.min(longest));
            }
        }
        Ok(())
    }

    /// The bounds of this turn, by process.
    fn bounds(&self) -> Vec<Arc<Bounds>> {
        let of = |process: ProcessId| {
            let own = self.queues.iter();
            let own = own.filter(|known| known.queue.process == process);
            let own = own.map(|known| (known.queue.place, known.bound));
            Arc::new(Bounds::new(self.program.places.len(), own))
        };
        self.program.process_ids().map(of).collect()
    }
}
