//! Programs with integers without bound.
//!
//! The frame, in which integers are not looked at, does whatever the program does: what its queues
//! never exceed, those of the program do not. Everything else is asked of the program with its
//! buffers as variables, under SC, with its own properties and assertions taken away:
//!
//! - *At least n*: with buffers up to a bound, in which stores wait for room, the counter of a queue
//!   can be n. Such an execution is one of the program.
//! - *At most n*: no store finds its queue full with some bound; then the counters are those of the
//!   program, and none is larger than n.
//!
//! A loop that fills a queue in the frame may end in the program, because of its integers. A queue is
//! called unbounded if an execution with numbers comes round, and what integers must satisfy for
//! that is satisfied again each time ([`Integers::endless`]).

use super::memory::{Bounded, Bounds};
use super::round::{self, Round};
use super::{Known, Length, Occupancy, OccupancyOptions, Queue, occupancy};
use crate::export::sequential::{
    Counter, Encoding, Overflow, Sequential, SequentialOptions, translate,
};
use crate::import::build::{binary, expr, int, name};
use crate::lang::ast::{Ast, ExprKind, Item, Predicate, Property, StmtKind};
use crate::lang::resolve::{Symbols, resolve};
use crate::limits::{Monitor, StopReason};
use crate::lower::lower;
use crate::memory::{Memory, Model, Order};
use crate::program::{BinaryOp, ProcessId, Program, PropertyKind};
use crate::property::Violation;
use crate::source::Span;
use crate::space::{Filled, Frame, Integers};
use crate::verify::{Verdict, VerifyOptions, verify};
use std::sync::Arc;

const NOWHERE: Span = Span { start: 0, end: 0 };

/// How long the buffers of a program with integers get; `program` is what the tree stands for.
pub fn occupancy_of_integers(
    (ast, symbols): (&Ast, &Symbols),
    program: &Program,
    options: &OccupancyOptions,
    monitor: &Monitor,
) -> Occupancy {
    let frame = Frame::new(program);
    let mut found = occupancy(&frame.program, options, monitor);
    if options.semantics.model == Model::Sc || found.stopped.is_some() {
        found.queues = without_rounds(found.queues);
        return found;
    }
    let queues = found.queues.iter().map(|(queue, length)| Known {
        queue: *queue,
        at_least: 0,
        at_most: match length {
            Length::Exactly(length) => Some(*length),
            Length::Unknown { at_most, .. } => *at_most,
            Length::Unbounded(_) => None,
        },
        round: None,
        bound: 0,
    });
    let silent = without_questions(ast);
    let mut turns = Turns {
        ast: &silent,
        symbols,
        program,
        options,
        monitor,
        queues: queues.collect(),
        states: found.states,
        bound: 0,
    };
    let stopped = turns.run().err();
    Occupancy {
        states: turns.states,
        bound: turns.bound,
        stopped,
        lacked_heap: false,
        queues: turns
            .queues
            .into_iter()
            .map(|known| (known.queue, known.length()))
            .collect(),
    }
}

/// What the frame shows of the program.
fn without_rounds(queues: Vec<(Queue, Length)>) -> Vec<(Queue, Length)> {
    let open = |length: Length| Length::Unknown {
        at_least: 0,
        at_most: match length {
            Length::Exactly(length) => Some(length),
            Length::Unknown { at_most, .. } => at_most,
            Length::Unbounded(_) => None,
        },
    };
    let queues = queues.into_iter();
    queues
        .map(|(queue, length)| (queue, open(length)))
        .collect()
}

/// Turns with growing bounds.
struct Turns<'a> {
    /// The program without properties and assertions.
    ast: &'a Ast,
    symbols: &'a Symbols,
    program: &'a Program,
    options: &'a OccupancyOptions,
    monitor: &'a Monitor,
    queues: Vec<Known>,
    states: u64,
    bound: usize,
}

impl Turns<'_> {
    fn run(&mut self) -> Result<(), StopReason> {
        while self.queues.iter().any(|known| !known.is_settled()) {
            if self.bound >= self.options.most {
                return Ok(());
            }
            self.bound += 1;
            self.monitor.say(&format!("buffers up to {}", self.bound));
            for at in 0..self.queues.len() {
                if self.queues[at].at_most.is_none() && !self.queues[at].is_settled() {
                    self.queues[at].round = self.round(at)?;
                }
                self.fill(at)?;
            }
            if self.queues.iter().all(Known::is_settled) {
                return Ok(());
            }
            let aborting = self.translated(Overflow::Abort);
            if self.ask(&aborting.ast, None)? == Some(Verdict::Correct) {
                // The queues are as long as they are with this bound.
                let most = self.bound;
                for known in &mut self.queues {
                    known.at_most = Some(known.at_most.map_or(most, |known| known.min(most)));
                }
                for at in 0..self.queues.len() {
                    if self.fill(at)? {
                        self.queues[at].at_most = Some(self.queues[at].at_least);
                    }
                }
                return Ok(());
            }
        }
        Ok(())
    }

    /// A way round that fills a queue for ever; one on which nobody else moves is preferred.
    fn round(&self, at: usize) -> Result<Option<Round>, StopReason> {
        let queue = self.queues[at].queue;
        let (semantics, limits) = (self.options.semantics, &self.options.limits);
        let order = match semantics.model {
            Model::Pso => Order::Pso,
            _ => Order::Tso,
        };
        let bounds = |process: ProcessId| {
            let own = self.queues.iter();
            let own = own.filter(|known| known.queue.process == process);
            let own = own.map(|known| (known.queue.place, self.bound));
            Arc::new(Bounds::new(self.program.places.len(), own))
        };
        let integers = Integers::new(self.program);
        for alone in [true, false] {
            let memory = |process| -> Box<dyn Memory> {
                let bounds = bounds(process);
                Box::new(Bounded { order, bounds })
            };
            let filled = Filled {
                process: queue.process,
                holds: &|place| queue.place.is_none_or(|own| own == place),
                buffers: self.program.process_ids().map(memory).collect(),
                frozen: round::memory(order, bounds(queue.process), queue.place),
                freeze: &|buffers| round::freeze(order, queue.place, buffers),
                alone,
            };
            if let Some(steps) = integers.endless(semantics, filled, limits, self.monitor)? {
                let own = steps.iter().filter(|step| step.process == queue.process);
                let paths: Vec<_> = own.map(|step| step.path.clone()).collect();
                let process = self.program.process(queue.process);
                return Ok(round::described(process, &paths, steps.len() - paths.len()));
            }
        }
        Ok(None)
    }

    /// Finds executions that fill a queue as far as possible with this bound; whether it is
    /// certain that none fills it further.
    fn fill(&mut self, at: usize) -> Result<bool, StopReason> {
        let waiting = self.translated(Overflow::Wait);
        let Some(counter) = self.counter(self.queues[at].queue, &waiting.counters) else {
            // Nothing is stored there.
            self.queues[at].at_most = Some(0);
            return Ok(true);
        };
        while !self.queues[at].is_settled() && self.queues[at].at_least < self.bound {
            let wanted = self.queues[at].at_least + 1;
            let filled = (counter.clone(), wanted);
            match self.ask(&waiting.ast, Some(filled))? {
                Some(Verdict::Violated) => self.queues[at].at_least = wanted,
                Some(Verdict::Correct) => return Ok(true),
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    fn counter(&self, queue: Queue, counters: &[Counter]) -> Option<Counter> {
        let process = &self.program.process(queue.process).name;
        let place = queue
            .place
            .map(|place| &self.program.places[place.index()].name);
        let of =
            |counter: &&Counter| counter.process == *process && counter.place.as_ref() == place;
        counters.iter().find(of).cloned()
    }

    fn translated(&self, overflow: Overflow) -> Sequential {
        let semantics = self.options.semantics;
        let options = SequentialOptions {
            model: semantics.model,
            atomics: semantics.atomics,
            encoding: Encoding::Direct,
            overflow,
            bound: self.bound,
        };
        translate(self.ast, self.symbols, &options)
    }

    /// Verifies a program for SC, whose property may be that a counter stays below a number. No
    /// verdict is certain if something else goes wrong.
    fn ask(
        &mut self,
        ast: &Ast,
        filled: Option<(Counter, usize)>,
    ) -> Result<Option<Verdict>, StopReason> {
        let mut ast = ast.clone();
        ast.items.extend(filled.map(|(counter, number)| {
            let cell = ExprKind::Cell {
                name: name(&counter.array, NOWHERE),
                index: Box::new(int(counter.cell as i64, NOWHERE)),
            };
            let (cell, number) = (expr(cell, NOWHERE), int(number as i64, NOWHERE));
            Item::Property(Property {
                kind: PropertyKind::Forbid,
                predicate: Predicate::Expr(binary(BinaryOp::GreaterEqual, cell, number)),
                span: NOWHERE,
            })
        }));
        let Ok(symbols) = resolve(&ast) else {
            return Ok(None);
        };
        let program = lower(&ast, &symbols).fenced(&Default::default());
        let mut options = VerifyOptions::refining(Model::Sc);
        options.semantics.fuse = self.options.semantics.fuse;
        options.limits = self.options.limits.clone();
        let answer = verify(&program, &options, self.monitor);
        self.states += answer.statistics.states;
        if let Some(reason) = answer.stopped {
            return Err(reason);
        }
        let certain = match (answer.verdict, answer.counterexample()) {
            (Verdict::Violated, Some(found)) => matches!(found.violation, Violation::Property(_)),
            _ => true,
        };
        Ok(certain.then_some(answer.verdict))
    }
}

/// The program without its properties, and with assertions that stop a process where they fail.
fn without_questions(ast: &Ast) -> Ast {
    let items = ast.items.iter().filter_map(|item| match item {
        Item::Property(_) => None,
        Item::Process(process) => {
            let mut process = process.clone();
            process.body.visit_mut(&mut |_| {}, &mut |statement| {
                if let StmtKind::Assert(condition) = &statement.kind {
                    statement.kind = StmtKind::Assume(condition.clone());
                }
            });
            Some(Item::Process(process))
        }
        other => Some(other.clone()),
    });
    Ast {
        items: items.collect(),
    }
}
