//! Verification: is a program correct under a memory model?
//!
//! One search answers for the exact models and for an abstraction with a fixed k. An
//! abstract violation counts only if it is replayed on the exact model. With k left open,
//! the fully disjunctive abstraction is refined until it proves the program, finds a real
//! violation, or k reaches its limit.

use crate::concretise::{Concrete, concretise};
use crate::memory::step::Stepper;
use crate::memory::{Atomics, Exact, Memory, Order, Partial, Rule, Sc};
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
    /// As sets.
    Set,
    /// Fully disjunctive, with a head of length k.
    Fd { k: usize },
    /// Partially disjunctive, with a head of length k.
    Pd { k: usize },
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
    /// What the answer rests on: the last abstraction, if several were tried.
    pub abstraction: Abstraction,
    /// The last exploration. If a violation was replayed, its trace is the exact one.
    pub exploration: Exploration,
    /// Whether the trace exists only in the abstraction; `None` without a trace, or if the
    /// replay was given up.
    pub spurious: Option<bool>,
    /// The values of k that were tried before this one, each with its number of states.
    pub tried: Vec<(usize, u64)>,
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
    /// The counterexample does not exist on the exact model.
    Spurious,
    /// It is not known whether the counterexample exists on the exact model.
    Undecided,
}

/// The largest k that refinement tries.
pub const MOST_K: usize = 8;

/// Refines the fully disjunctive abstraction from k = 1 until the answer is certain.
pub fn verify_refining(program: &Program, options: &Options, monitor: &Monitor) -> Answer {
    let mut tried = Vec::new();
    for k in 1.. {
        let options = Options {
            abstraction: Abstraction::Fd { k },
            ..options.clone()
        };
        let mut answer = verify(program, &options, monitor);
        let refine = answer.outcome == Outcome::Inconclusive(Reason::Spurious);
        if !refine || k == MOST_K {
            answer.tried = tried;
            return answer;
        }
        tried.push((k, answer.exploration.states));
    }
    unreachable!("the last k returns")
}

/// Explores a program under one abstraction and judges what was found.
pub fn verify(program: &Program, options: &Options, monitor: &Monitor) -> Answer {
    let memory = memory(options.model, options.abstraction);
    let stepper = stepper(program, &*memory, options);
    let mut exploration = explore(&Search {
        stepper: &stepper,
        limits: &options.limits,
        monitor,
        threads: options.threads,
        full: options.full,
        deadlock: options.deadlock,
        collect: false,
        graph: None,
    });
    let (outcome, spurious) = match (exploration.end, &exploration.violation) {
        (_, Some((_, None))) => (Outcome::Inconclusive(Reason::Undecided), None),
        (_, Some((_, Some(trace)))) => match options.is_exact() {
            true => (Outcome::Violated, Some(false)),
            false => {
                let exact = memory_without_bound(options.model);
                let exact = self::stepper(program, &*exact, options);
                match concretise(&exact, trace, options.deadlock, &options.limits, monitor) {
                    Concrete::Real(violation, trace) => {
                        exploration.violation = Some((violation, Some(trace)));
                        (Outcome::Violated, Some(false))
                    }
                    Concrete::Spurious => (Outcome::Inconclusive(Reason::Spurious), Some(true)),
                    Concrete::Unknown => (Outcome::Inconclusive(Reason::Undecided), None),
                }
            }
        },
        (End::Limit(reason), None) => (Outcome::Inconclusive(Reason::Limit(reason)), None),
        (End::FirstError, None) => unreachable!("the first error is a violation"),
        (End::Exhausted, None) => match options.abstraction {
            Abstraction::Exact { bound } if exploration.no_room => {
                (Outcome::Inconclusive(Reason::Bound(bound)), None)
            }
            _ => (Outcome::Correct, None),
        },
    };
    Answer {
        outcome,
        abstraction: options.abstraction,
        exploration,
        spurious,
        tried: Vec::new(),
    }
}

impl Options {
    /// The usual way to verify, on one thread and without limits.
    pub fn new(model: Model, abstraction: Abstraction) -> Options {
        Options {
            model,
            abstraction,
            atomics: Atomics::DrainPlace,
            fuse: true,
            reset_dead: true,
            full: false,
            deadlock: false,
            threads: 1,
            limits: Limits::default(),
        }
    }

    /// Every violation found is real.
    fn is_exact(&self) -> bool {
        self.model == Model::Sc || matches!(self.abstraction, Abstraction::Exact { .. })
    }
}

fn stepper<'a>(program: &'a Program, memory: &'a dyn Memory, options: &Options) -> Stepper<'a> {
    Stepper {
        program,
        memory,
        atomics: options.atomics,
        fuse: options.fuse,
        reset_dead: options.reset_dead,
        labelled: false,
    }
}

/// The step relation of a model under an abstraction.
pub fn memory(model: Model, abstraction: Abstraction) -> Box<dyn Memory> {
    let order = match model {
        Model::Sc => return Box::new(Sc),
        Model::Tso => Order::Tso,
        Model::Pso => Order::Pso,
    };
    let partial = |k, rule| Box::new(Partial { order, k, rule });
    match abstraction {
        Abstraction::Exact { bound } => Box::new(Exact { order, bound }),
        Abstraction::Set => partial(0, Rule::Set),
        Abstraction::Fd { k } => partial(k, Rule::Full),
        Abstraction::Pd { k } => partial(k, Rule::Partial),
    }
}

/// The exact step relation of a model; only for following given traces.
pub fn memory_without_bound(model: Model) -> Box<dyn Memory> {
    memory(model, Abstraction::Exact { bound: usize::MAX })
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

impl std::str::FromStr for Model {
    type Err = String;

    fn from_str(name: &str) -> Result<Model, String> {
        match name {
            "sc" => Ok(Model::Sc),
            "tso" => Ok(Model::Tso),
            "pso" => Ok(Model::Pso),
            other => Err(format!("unknown memory model '{other}'")),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Bound(bound) => write!(f, "buffers were bounded by {bound}"),
            Reason::Limit(reason) => write!(f, "{reason}"),
            Reason::Spurious => write!(f, "the abstraction is too coarse"),
            Reason::Undecided => write!(f, "a counterexample could not be replayed"),
        }
    }
}

impl fmt::Display for Abstraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Abstraction::Exact { bound } => write!(f, "buffers up to {bound}"),
            Abstraction::Set => write!(f, "Set"),
            Abstraction::Fd { k } => write!(f, "FD(k={k})"),
            Abstraction::Pd { k } => write!(f, "PD(k={k})"),
        }
    }
}
