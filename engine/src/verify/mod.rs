//! Verification: is a program correct under a memory model?
//!
//! [`verify`] follows the [`Strategy`] that was asked for: one search under a given
//! abstraction (`search`, by one of two engines in `turns`; `logs`), or several engines in turn
//! until the answer is certain (`strategy`). An [`Answer`] says what is known, what it rests
//! on and what it took; nothing in it assumes how it was found.

mod integers;
mod logs;
mod robust;
mod search;
mod strategy;
mod turns;

pub use integers::MOST_THRESHOLDS;
pub use logs::invariant;
pub use strategy::{FIRST_WIDENING, MOST_K, Strategy};

use crate::limits::{Limits, Monitor, StopReason};
use crate::memory::{Abstraction, Model, Semantics};
use crate::names::named_enum;
use crate::program::Program;
use crate::property::Violation;
use crate::space::{Coverage, Explorer, Standstill, Statistics, Thresholds, Trace};
use std::fmt;
use std::sync::Arc;

/// How to verify.
#[derive(Debug, Clone)]
pub struct VerifyOptions {
    pub semantics: Semantics,
    pub strategy: Strategy,
    /// How states are searched, where there is a choice.
    pub search: SearchKind,
    /// States that differ in who of interchangeable processes is who are one for the search
    /// by sets.
    pub symmetry: bool,
    /// Count all states, even behind violations.
    pub full: bool,
    /// Which states are violations because nothing goes on in them. View logs say nothing of
    /// these: where they alone were asked for, FD answers.
    pub standstill: Standstill,
    /// Ask for robustness instead of properties: every state without pending stores is one of
    /// sequential consistency.
    pub robust: bool,
    /// What is told apart of integers without bound at the beginning; refinement adds to it.
    pub thresholds: Thresholds,
    /// Keep all integers of one state in one zone: coarser, and fewer states.
    pub join: bool,
    /// The program is known to be correct under sequential consistency.
    pub correct_under_sc: bool,
    /// At least 1.
    pub threads: usize,
    pub limits: Limits,
    /// Who does plain searches in place of this process alone.
    pub explorer: Option<Arc<dyn Explorer>>,
}

impl VerifyOptions {
    /// The usual way to verify under one abstraction, on one thread and without limits.
    pub fn new(model: Model, abstraction: Abstraction) -> VerifyOptions {
        VerifyOptions::under(Semantics::new(model, abstraction))
    }

    /// The same with other atomics or steps.
    pub fn under(semantics: Semantics) -> VerifyOptions {
        VerifyOptions {
            semantics,
            strategy: Strategy::Fixed,
            search: SearchKind::Auto,
            symmetry: true,
            full: false,
            standstill: Standstill::Ignored,
            robust: false,
            thresholds: Thresholds::default(),
            join: false,
            correct_under_sc: false,
            threads: 1,
            limits: Limits::default(),
            explorer: None,
        }
    }

    /// The usual way to an answer that is certain if one can be had: several engines in turn,
    /// from FD(k=1) on.
    pub fn refining(model: Model) -> VerifyOptions {
        VerifyOptions {
            strategy: Strategy::Portfolio,
            ..VerifyOptions::new(model, Abstraction::Fd { k: 1 })
        }
    }
}

/// Verifies a program as its options say.
///
/// A program whose heap may be exhausted is first asked about as if whoever finds no free block
/// stopped there: what goes wrong then goes wrong with any heap. Only a proof needs to know
/// that no process comes to that point.
pub fn verify(program: &Program, options: &VerifyOptions, monitor: &Monitor) -> Answer {
    let answer = answer(program, options, monitor);
    let undecided = answer.verdict == Verdict::Inconclusive(Inconclusive::Undecided);
    // The replay of a counterexample is given up for a limit only.
    let given_up = || monitor.stop(&options.limits).filter(|_| undecided);
    Answer {
        stopped: answer.stopped.or_else(given_up),
        ..answer
    }
}

fn answer(program: &Program, options: &VerifyOptions, monitor: &Monitor) -> Answer {
    let ask = |program: &Program| match options.robust {
        _ if program.has_integers() => integers::answer(program, options, monitor),
        true => robust::answer(program, options, monitor),
        false => strategy::answer(program, options, monitor),
    };
    if !program.may_exhaust_heap() {
        return ask(program);
    }
    let answer = ask(&program.stopping_without_heap());
    match answer.verdict {
        Verdict::Correct => {}
        Verdict::Violated | Verdict::Inconclusive(_) => return answer,
    }
    let answer = ask(program);
    match answer.verdict {
        Verdict::Violated => Answer {
            verdict: Verdict::Inconclusive(Inconclusive::Heap),
            ..answer
        },
        Verdict::Correct | Verdict::Inconclusive(_) => answer,
    }
}

named_enum! {
    /// How states are searched.
    pub enum SearchKind: "search" {
        /// Both in turn, with more and more states, until one of them is done
        Auto = "auto",
        /// One state after the other, breadth first
        Plain = "plain",
        /// All states, those that differ in one process alone at a time where there are many
        Rows = "rows",
        /// Sets of configurations; only writes are steps
        Sets = "sets",
    }
}

/// What is known of a program, and why.
#[derive(Debug)]
pub struct Answer {
    pub verdict: Verdict,
    /// The model under which it was found: that of the question, or sequential consistency
    /// for a violation that all models have.
    pub model: Model,
    /// The abstraction that the verdict rests on: the last one, if several were tried.
    pub abstraction: Abstraction,
    pub evidence: Evidence,
    /// The search that gave it.
    pub search: SearchKind,
    /// What the proof covers; only if all states were visited.
    pub coverage: Option<Coverage>,
    pub statistics: Statistics,
    /// The limit that ended the work early. There may be an answer all the same: a
    /// violation that was found before.
    pub stopped: Option<StopReason>,
    /// What was tried before.
    pub tried: Vec<Attempt>,
    /// What was told apart of integers without bound.
    pub thresholds: Thresholds,
}

impl Answer {
    /// The counterexample, if there is one.
    pub fn counterexample(&self) -> Option<&Counterexample> {
        match &self.evidence {
            Evidence::Counterexample(counterexample) => Some(counterexample),
            Evidence::AllStates | Evidence::Nothing => None,
        }
    }

    /// The counterexample with its trace, if there is one.
    pub fn into_trace(self) -> Option<(Violation, Trace)> {
        match self.evidence {
            Evidence::Counterexample(found) => Some((found.violation, found.trace?)),
            Evidence::AllStates | Evidence::Nothing => None,
        }
    }
}

/// What is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Proved: no reachable state violates a property.
    Correct,
    /// There is an execution that violates a property.
    Violated,
    Inconclusive(Inconclusive),
}

/// Why nothing is known for certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inconclusive {
    /// No violation with buffers of this length, but some store had to wait for room.
    Bound(usize),
    Limit(StopReason),
    /// The counterexample does not exist on the exact model.
    Spurious,
    /// It is not known whether the counterexample exists on the exact model.
    Undecided,
    /// More blocks of memory are allocated than there are.
    Heap,
    /// More and more thresholds for integers are needed.
    Diverging,
    /// The program has integers without bound, and this cannot be asked about them.
    Integers,
}

/// What a verdict rests on.
#[derive(Debug)]
pub enum Evidence {
    /// All states that are reachable under the abstraction were visited, and none violates
    /// a property.
    AllStates,
    Counterexample(Counterexample),
    /// Nothing was found before a limit was reached.
    Nothing,
}

/// An execution that violates a property.
#[derive(Debug)]
pub struct Counterexample {
    pub violation: Violation,
    /// The execution of the exact model if it is real, otherwise that of the abstraction;
    /// none if the search for it was interrupted.
    pub trace: Option<Trace>,
    /// Whether it exists only in the abstraction; none if that was not decided.
    pub spurious: Option<bool>,
}

/// A search with another k that did not decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    pub k: usize,
    pub states: u64,
}

impl fmt::Display for Inconclusive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Inconclusive::Bound(bound) => write!(f, "buffers were bounded by {bound}"),
            Inconclusive::Limit(reason) => write!(f, "{reason}"),
            Inconclusive::Spurious => write!(f, "the abstraction is too coarse"),
            Inconclusive::Undecided => write!(f, "a counterexample could not be replayed"),
            Inconclusive::Diverging => write!(f, "more and more constants are needed"),
            Inconclusive::Integers => write!(f, "integers without bound need FD and properties"),
            Inconclusive::Heap => write!(f, "more memory is allocated than there is"),
        }
    }
}
