//! Which engine is asked, and in which order. New engines are tried here.

use super::turns::{Paused, Turn};
use super::{Answer, Attempt, Inconclusive, Verdict, VerifyOptions, search};
use crate::limits::Monitor;
use crate::memory::{Abstraction, Model, Semantics};
use crate::program::Program;

/// How an answer is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// One search under the abstraction that was given.
    Fixed,
    /// Searches under FD, from the k that was given on, until the answer is certain: a
    /// proof, a violation of the exact model, or a limit.
    Refine,
}

/// The largest k that refinement tries.
pub const MOST_K: usize = 8;

/// Looks for an answer by the strategy of the options.
pub(super) fn answer(program: &Program, options: &VerifyOptions, monitor: &Monitor) -> Answer {
    match options.strategy {
        Strategy::Fixed => {
            let mut paused = Paused::default();
            in_turns(|turn| search::answer(program, options, monitor, turn, &mut paused))
        }
        Strategy::Refine => refine(program, options, monitor),
    }
}

/// Asks with more and more to spend, until there is an answer.
fn in_turns(mut ask: impl FnMut(Turn) -> Option<Answer>) -> Answer {
    let mut turn = Turn::FIRST;
    loop {
        if let Some(answer) = ask(turn) {
            return answer;
        }
        turn = turn.next();
    }
}

/// Raises k while counterexamples turn out not to exist on the exact model. The space of a
/// larger k may be the smaller one, so that the next k is tried as well before more is spent
/// on one.
fn refine(program: &Program, options: &VerifyOptions, monitor: &Monitor) -> Answer {
    let mut tried: Vec<Attempt> = Vec::new();
    let mut first = match options.semantics.abstraction {
        Abstraction::Fd { k } => k,
        _ => 1,
    };
    // All k are the same where nothing is abstracted.
    let further = usize::from(options.semantics.model != Model::Sc);
    let mut paused = Paused::default();
    let answer = in_turns(|turn| {
        let mut k = first;
        while k <= (first + further).min(MOST_K.max(first)) {
            let options = VerifyOptions {
                semantics: Semantics {
                    abstraction: Abstraction::Fd { k },
                    ..options.semantics
                },
                ..options.clone()
            };
            if let Some(answer) = search::answer(program, &options, monitor, turn, &mut paused) {
                let refine = answer.verdict == Verdict::Inconclusive(Inconclusive::Spurious);
                if !refine || k >= MOST_K {
                    return Some(answer);
                }
                let states = answer.statistics.states;
                tried.push(Attempt { k, states });
                first = k + 1;
            }
            k += 1;
        }
        None
    });
    Answer { tried, ..answer }
}
