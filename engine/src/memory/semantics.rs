//! What a program means: the memory model, how its store buffers are represented, and how
//! steps are cut.

use super::step::Stepper;
use super::{Exact, Memory, Order, PartialCoherence, Sc, SetRule};
use crate::names::named_enum;
use crate::program::Program;
use serde::{Deserialize, Serialize};
use std::fmt;

named_enum! {
    /// A memory model.
    pub enum Model: "memory model" {
        /// Sequential consistency
        Sc = "sc",
        /// Total store order
        #[value(alias = "x86")]
        Tso = "tso",
        /// Partial store order
        Pso = "pso",
    }
}

named_enum! {
    /// How store buffers are represented.
    pub enum AbstractionKind: "abstraction" {
        /// Fully disjunctive partial coherence: finite, sound for any program
        Fd = "fd",
        /// Partially disjunctive partial coherence: fewer states, less precise
        Pd = "pd",
        /// Sets of stores
        Set = "set",
        /// As they are, up to `--bound` stores
        Exact = "exact",
        /// None: stores are run when they reach memory, and processes lag behind
        Logs = "logs",
    }
}

named_enum! {
    /// What a read-modify-write waits for under PSO.
    pub enum Atomics: "treatment of atomics" {
        /// The own buffer of the place
        DrainPlace = "drain-place",
        /// All own buffers
        DrainAll = "drain-all",
    }
}

/// A representation of store buffers with its parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Abstraction {
    /// As they are, up to a length.
    Exact { bound: usize },
    /// As sets.
    Set,
    /// Fully disjunctive, with a head of length k.
    Fd { k: usize },
    /// Partially disjunctive, with a head of length k.
    Pd { k: usize },
    /// None: processes have logs of what they can still see. So many parts of a log with the
    /// same contents in a row are any number of them.
    Logs { widening: usize },
}

/// Everything that the steps of a program depend on beside its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Semantics {
    pub model: Model,
    pub abstraction: Abstraction,
    pub atomics: Atomics,
    /// Run local steps together with the memory operation after them.
    pub fuse: bool,
    /// Reset locals that are not read any more.
    pub reset_dead: bool,
}

impl Semantics {
    /// The usual treatment of atomics and steps.
    pub fn new(model: Model, abstraction: Abstraction) -> Semantics {
        Semantics {
            model,
            abstraction,
            atomics: Atomics::DrainPlace,
            fuse: true,
            reset_dead: true,
        }
    }

    /// The same with exact buffers of any length; only for following given traces.
    pub fn exact(self) -> Semantics {
        Semantics {
            abstraction: Abstraction::Exact { bound: usize::MAX },
            ..self
        }
    }

    /// Every execution is one of the memory model.
    pub fn is_exact(self) -> bool {
        self.model == Model::Sc || self.abstraction.kind() == AbstractionKind::Exact
    }

    /// The step relation of a program.
    pub fn stepper(self, program: &Program) -> Stepper<'_> {
        Stepper {
            program,
            memory: self.memory(),
            semantics: self,
            labelled: false,
            all_ways: false,
            choices: Vec::new(),
        }
    }

    fn memory(self) -> Box<dyn Memory> {
        let order = match self.model {
            Model::Sc => return Box::new(Sc),
            Model::Tso => Order::Tso,
            Model::Pso => Order::Pso,
        };
        let partial = |k, rule| Box::new(PartialCoherence { order, k, rule });
        match self.abstraction {
            Abstraction::Exact { bound } => Box::new(Exact { order, bound }),
            // Which states can be reached is decided without buffers; an execution has them.
            Abstraction::Logs { .. } => Box::new(Exact {
                order,
                bound: usize::MAX,
            }),
            Abstraction::Set => partial(0, SetRule::Unordered),
            Abstraction::Fd { k } => partial(k, SetRule::FullyDisjunctive),
            Abstraction::Pd { k } => partial(k, SetRule::PartiallyDisjunctive),
        }
    }
}

impl Abstraction {
    /// A representation by its name and its parameter: the head's length, the bound, or
    /// the widening.
    pub fn new(kind: AbstractionKind, parameter: usize) -> Abstraction {
        match kind {
            AbstractionKind::Exact => Abstraction::Exact { bound: parameter },
            AbstractionKind::Set => Abstraction::Set,
            AbstractionKind::Fd => Abstraction::Fd { k: parameter },
            AbstractionKind::Pd => Abstraction::Pd { k: parameter },
            AbstractionKind::Logs => Abstraction::Logs {
                widening: parameter,
            },
        }
    }

    pub fn kind(self) -> AbstractionKind {
        match self {
            Abstraction::Exact { .. } => AbstractionKind::Exact,
            Abstraction::Set => AbstractionKind::Set,
            Abstraction::Fd { .. } => AbstractionKind::Fd,
            Abstraction::Pd { .. } => AbstractionKind::Pd,
            Abstraction::Logs { .. } => AbstractionKind::Logs,
        }
    }

    pub fn is_logs(self) -> bool {
        self.kind() == AbstractionKind::Logs
    }

    /// The length of the ordered head, if there is one.
    pub fn k(self) -> Option<usize> {
        match self {
            Abstraction::Fd { k } | Abstraction::Pd { k } => Some(k),
            Abstraction::Exact { .. } | Abstraction::Set | Abstraction::Logs { .. } => None,
        }
    }

    /// The parameter from which [`Abstraction::new`] makes it.
    pub fn parameter(self) -> usize {
        match self {
            Abstraction::Exact { bound } => bound,
            Abstraction::Set => 0,
            Abstraction::Fd { k } | Abstraction::Pd { k } => k,
            Abstraction::Logs { widening } => widening,
        }
    }

    /// The length of exact buffers.
    pub fn bound(self) -> Option<usize> {
        match self {
            Abstraction::Exact { bound } => Some(bound),
            _ => None,
        }
    }
}

impl Model {
    /// The name as people write it in a sentence: `PSO`.
    pub fn upper(self) -> String {
        self.name().to_uppercase()
    }
}

impl fmt::Display for Abstraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Abstraction::Exact { bound } => write!(f, "buffers up to {bound}"),
            Abstraction::Set => write!(f, "Set"),
            Abstraction::Fd { k } => write!(f, "FD(k={k})"),
            Abstraction::Pd { k } => write!(f, "PD(k={k})"),
            Abstraction::Logs { .. } => write!(f, "view logs"),
        }
    }
}
