//! Verification: is a program correct under a memory model?

use crate::memory::step::Stepper;
use crate::memory::{Atomics, Exact, Memory, Order, Sc};
use crate::program::Program;
use crate::space::{End, Exploration, Limits, Monitor, Search, StopReason, explore};
use std::fmt;

/// A memory model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Model {
    /// Sequential consistency.
    Sc,
    /// Total store order.
    Tso,
    /// Partial store order.
    Pso,
}

/// How store buffers are represented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Abstraction {
    /// As they are, up to a length.
    Exact { bound: usize },
}

/// How to verify.
#[derive(Debug, Clone)]
pub struct Options {
    pub model: Model,
    pub abstraction: Abstraction,
    /// What a read-modify-write waits for under PSO.
    pub atomics: Atomics,
    /// Run local steps together with the memory operation after them.
    pub fuse: bool,
    /// Reset locals that are not read any more.
    pub reset_dead: bool,
    /// Count all states, even behind violations.
    pub full: bool,
    /// Look for deadlocks, too.
    pub deadlock: bool,
    /// At least 1.
    pub threads: usize,
    pub limits: Limits,
}

/// What is known after a run.
#[derive(Debug)]
pub struct Answer {
    pub outcome: Outcome,
    pub exploration: Exploration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Proved: no reachable state violates a property.
    Correct,
    /// There is an execution that violates a property.
    Violated,
    Inconclusive(Reason),
}

/// Why nothing is known for certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// No violation with buffers of this length, but some store had to wait for room.
    Bound(usize),
    Limit(StopReason),
}

/// Explores a program and judges what was found.
pub fn verify(program: &Program, options: &Options, monitor: &Monitor) -> Answer {
    let memory = memory(options.model, options.abstraction);
    let stepper = Stepper {
        program,
        memory: &*memory,
        atomics: options.atomics,
        fuse: options.fuse,
        reset_dead: options.reset_dead,
        labelled: false,
    };
    let exploration = explore(&Search {
        stepper: &stepper,
        limits: &options.limits,
        monitor,
        threads: options.threads,
        full: options.full,
        deadlock: options.deadlock,
        collect: false,
    });
    let Abstraction::Exact { bound } = options.abstraction;
    let outcome = match exploration.end {
        _ if exploration.violation.is_some() => Outcome::Violated,
        End::Limit(reason) => Outcome::Inconclusive(Reason::Limit(reason)),
        _ if exploration.no_room => Outcome::Inconclusive(Reason::Bound(bound)),
        _ => Outcome::Correct,
    };
    Answer {
        outcome,
        exploration,
    }
}

/// The step relation of a model under an abstraction.
pub fn memory(model: Model, abstraction: Abstraction) -> Box<dyn Memory> {
    let order = match model {
        Model::Sc => return Box::new(Sc),
        Model::Tso => Order::Tso,
        Model::Pso => Order::Pso,
    };
    match abstraction {
        Abstraction::Exact { bound } => Box::new(Exact { order, bound }),
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Model::Sc => "sc",
            Model::Tso => "tso",
            Model::Pso => "pso",
        })
    }
}
