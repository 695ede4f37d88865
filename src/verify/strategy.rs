//! Which engine is asked, and in which order. New engines are tried here.

use super::{Answer, Attempt, Inconclusive, Verdict, VerifyOptions, search};
use crate::limits::Monitor;
use crate::memory::{Abstraction, Semantics};
use crate::program::Program;

/// How an answer is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// One search under the abstraction that was given.
    Fixed,
    /// Searches under FD with k = 1, 2, … until the answer is certain: a proof, a violation
    /// of the exact model, or a limit.
    Refine,
}

/// The largest k that refinement tries.
pub const MOST_K: usize = 8;

/// Looks for an answer by the strategy of the options.
pub(super) fn answer(program: &Program, options: &VerifyOptions, monitor: &Monitor) -> Answer {
    match options.strategy {
        Strategy::Fixed => search::answer(program, options, monitor),
        Strategy::Refine => refine(program, options, monitor),
    }
}

/// Raises k while counterexamples turn out not to exist on the exact model.
fn refine(program: &Program, options: &VerifyOptions, monitor: &Monitor) -> Answer {
    let mut tried = Vec::new();
    for k in 1.. {
        let options = VerifyOptions {
            semantics: Semantics {
                abstraction: Abstraction::Fd { k },
                ..options.semantics
            },
            ..options.clone()
        };
        let answer = search::answer(program, &options, monitor);
        let refine = answer.verdict == Verdict::Inconclusive(Inconclusive::Spurious);
        if !refine || k == MOST_K {
            return Answer { tried, ..answer };
        }
        let states = answer.statistics.states;
        tried.push(Attempt { k, states });
    }
    unreachable!("the last k returns")
}
