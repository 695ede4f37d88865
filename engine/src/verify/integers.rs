//! Answers about programs with integers without bound: FD with thresholds that are found by
//! refinement.
//!
//! A search begins with the thresholds that are given, usually none. A way to something wrong
//! that cannot be gone without rounding adds thresholds; one that can be gone, but not on exact
//! buffers, raises k. Every refinement adds something, and both have an end: beyond it, the
//! answer is inconclusive.

use super::{
    Answer, Attempt, Counterexample, Evidence, Inconclusive, MOST_K, SearchKind, Strategy, Verdict,
    VerifyOptions,
};
use crate::limits::Monitor;
use crate::memory::{Abstraction, AbstractionKind, Model, Semantics};
use crate::program::Program;
use crate::space::{
    Examined, IntegerEnd, IntegerExploration, IntegerOptions, Integers, Replayed, Standstill,
    Statistics, Thresholds,
};

/// More thresholds than this are taken as a sign that there will always be more.
pub const MOST_THRESHOLDS: usize = 100;

/// Looks for an answer, with FD and the k of the options or larger ones.
pub fn answer(program: &Program, options: &VerifyOptions, monitor: &Monitor) -> Answer {
    let asks = !options.robust && options.standstill == Standstill::Ignored;
    let fd = options.semantics.abstraction.kind() == AbstractionKind::Fd;
    if !asks || !(fd || options.semantics.model == Model::Sc) {
        return refused(options);
    }
    let integers = Integers::new(program);
    let mut thresholds = options.thresholds.clone();
    let mut k = options.semantics.abstraction.k().unwrap_or(1);
    let mut tried: Vec<Attempt> = Vec::new();
    let semantics_with = |k| Semantics {
        abstraction: Abstraction::Fd { k },
        reset_dead: true,
        ..options.semantics
    };
    let mut searches = integers.searches(semantics_with(k));
    loop {
        let semantics = semantics_with(k);
        let asked = IntegerOptions {
            thresholds: &thresholds,
            join: options.join,
            threads: options.threads,
            limits: &options.limits,
        };
        let explored = searches.explore(&asked, monitor);
        let IntegerExploration {
            end,
            statistics,
            coverage,
        } = explored;
        let conclude = |verdict, evidence, thresholds: &Thresholds, stopped| Answer {
            verdict,
            model: semantics.model,
            abstraction: semantics.abstraction,
            evidence,
            search: SearchKind::Plain,
            coverage: (verdict == Verdict::Correct).then(|| coverage.clone()),
            statistics,
            stopped,
            tried: tried.clone(),
            thresholds: thresholds.clone(),
        };
        let suspect = match end {
            IntegerEnd::Exhausted => {
                return conclude(Verdict::Correct, Evidence::AllStates, &thresholds, None);
            }
            IntegerEnd::Limit(reason) => {
                let verdict = Verdict::Inconclusive(Inconclusive::Limit(reason));
                return conclude(verdict, Evidence::Nothing, &thresholds, Some(reason));
            }
            IntegerEnd::Violation(suspect) => suspect,
        };
        let violation = suspect.violation;
        let examined = integers.examine(&mut searches, &suspect, &mut thresholds);
        let unreal = |why, spurious, thresholds: &Thresholds| {
            let evidence = Evidence::Counterexample(Counterexample {
                violation,
                trace: Some(integers.trace(&suspect)),
                spurious,
            });
            conclude(Verdict::Inconclusive(why), evidence, thresholds, None)
        };
        match examined {
            Examined::Refuted if thresholds.len() > MOST_THRESHOLDS => {
                return unreal(Inconclusive::Diverging, Some(true), &thresholds);
            }
            Examined::Refuted => continue,
            Examined::NothingNew => {
                return unreal(Inconclusive::Spurious, Some(true), &thresholds);
            }
            Examined::Possible => {}
        }
        let limits = options.limits.with_grace();
        match integers.replay(semantics, &suspect, &limits, monitor) {
            Replayed::Real(violation, trace) => {
                let evidence = Evidence::Counterexample(Counterexample {
                    violation,
                    trace: Some(trace),
                    spurious: Some(false),
                });
                return conclude(Verdict::Violated, evidence, &thresholds, None);
            }
            Replayed::Unknown => return unreal(Inconclusive::Undecided, None, &thresholds),
            Replayed::Spurious => {
                let refines = options.strategy != Strategy::Fixed && semantics.model != Model::Sc;
                if !refines || k >= MOST_K {
                    return unreal(Inconclusive::Spurious, Some(true), &thresholds);
                }
                let states = statistics.states;
                tried.push(Attempt { k, states });
                k += 1;
                searches = integers.searches(semantics_with(k));
            }
        }
    }
}

/// The answer to what cannot be asked about integers.
fn refused(options: &VerifyOptions) -> Answer {
    Answer {
        verdict: Verdict::Inconclusive(Inconclusive::Integers),
        model: options.semantics.model,
        abstraction: options.semantics.abstraction,
        evidence: Evidence::Nothing,
        search: SearchKind::Plain,
        coverage: None,
        statistics: Statistics::default(),
        stopped: None,
        tried: Vec::new(),
        thresholds: options.thresholds.clone(),
    }
}
