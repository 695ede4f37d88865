//! Robustness: is every state without pending stores one of sequential consistency?
//!
//! The states of sequential consistency are collected first, all locals included. Under a relaxed
//! model, a state whose buffers are all empty and which is not among them is a violation. States
//! with pending stores have no counterpart and are not compared. This compares states; trace
//! robustness (Bouajjani, Derevenetc and Meyer, ESOP 2013) compares which load has read which
//! store, too, and is the stronger notion.
//!
//! Properties are not looked at. A statement that fails is a violation as always.

use super::{
    Answer, Attempt, Evidence, Inconclusive, MOST_K, SearchKind, Strategy, Verdict, VerifyOptions,
    search, strategy, turns,
};
use crate::concretise::concretise_out_of;
use crate::limits::{Monitor, StopReason};
use crate::memory::{Abstraction, Model, Semantics};
use crate::program::Program;
use crate::space::{Goal, Search, SequentialStates, Standstill, Statistics};

/// Compares the states of a program with those of sequential consistency. FD is refined unless
/// the strategy is fixed.
pub(super) fn answer(program: &Program, options: &VerifyOptions, monitor: &Monitor) -> Answer {
    let program = Program {
        properties: Vec::new(),
        ..program.clone()
    };
    // A local that is not read any more is part of the state all the same.
    let options = VerifyOptions {
        semantics: Semantics {
            reset_dead: false,
            ..options.semantics
        },
        search: SearchKind::Plain,
        robust: false,
        full: false,
        standstill: Standstill::Ignored,
        ..options.clone()
    };
    if options.semantics.model == Model::Sc {
        return strategy::answer(&program, &options, monitor);
    }
    let sequential = Semantics {
        model: Model::Sc,
        ..options.semantics
    };
    let stepper = sequential.stepper(&program);
    let collected = SequentialStates::collect(&Search {
        stepper: &stepper,
        goal: Goal::Snapshots,
        standstill: Standstill::Ignored,
        limits: &options.limits,
        monitor,
        threads: options.threads,
    });
    let states = match collected {
        Ok(states) => states,
        Err(reason) => return stopped(&options, reason),
    };
    let question = Question {
        program: &program,
        states: &states,
        monitor,
    };
    question.refined(options)
}

/// A program and the states that it should keep to.
struct Question<'a> {
    program: &'a Program,
    states: &'a SequentialStates,
    monitor: &'a Monitor,
}

impl Question<'_> {
    /// Searches, with larger k while that is wanted and counterexamples are not real.
    fn refined(&self, mut options: VerifyOptions) -> Answer {
        let mut tried = Vec::new();
        loop {
            let answer = self.answer(&options);
            let finer = match options.semantics.abstraction {
                Abstraction::Fd { k } if k < MOST_K && options.strategy != Strategy::Fixed => k + 1,
                _ => return Answer { tried, ..answer },
            };
            if answer.verdict != Verdict::Inconclusive(Inconclusive::Spurious) {
                return Answer { tried, ..answer };
            }
            tried.push(Attempt {
                k: finer - 1,
                states: answer.statistics.states,
            });
            options.semantics.abstraction = Abstraction::Fd { k: finer };
        }
    }

    /// One search.
    fn answer(&self, options: &VerifyOptions) -> Answer {
        let stepper = options.semantics.stepper(self.program);
        let search = Search {
            stepper: &stepper,
            goal: Goal::Robustness(self.states),
            standstill: Standstill::Ignored,
            limits: &options.limits,
            monitor: self.monitor,
            threads: options.threads,
        };
        let exploration = turns::all_together(&search, options);
        search::of_exploration(options, exploration, SearchKind::Plain, |trace| {
            let exact = options.semantics.exact().stepper(self.program);
            let limits = options.limits.with_grace();
            concretise_out_of(self.states, &exact, trace, &limits, self.monitor)
        })
    }
}

/// An answer that a limit kept from being found.
fn stopped(options: &VerifyOptions, reason: StopReason) -> Answer {
    Answer {
        verdict: Verdict::Inconclusive(Inconclusive::Limit(reason)),
        model: options.semantics.model,
        abstraction: options.semantics.abstraction,
        evidence: Evidence::Nothing,
        search: SearchKind::Plain,
        coverage: None,
        statistics: Statistics::default(),
        stopped: Some(reason),
        tried: Vec::new(),
        thresholds: Default::default(),
    }
}
