//! The answer of `verify` as data: why it is not certain, what is violated, the JSON.

use super::{NOT_FOR_INTEGERS, finer, growing, nothing_stated, thresholds, unreached};
use crate::describe;
use crate::diagnostic::Diagnostic;
use crate::limits::StopReason;
use crate::memory::{Abstraction, Model};
use crate::program::Program;
use crate::property;
use crate::record::{
    self, Initial, Mode, SCHEMA, Stats, Step, Timing, Tried, VerifyAnswer, VerifyConfig, Violation,
};
use crate::source::Source;
use crate::space::{Spin, Standstill, Thresholds, Trace};
use crate::verify::{Answer, Attempt, Inconclusive, Strategy, Verdict, VerifyOptions};
use std::collections::BTreeSet;

/// An answer and what it was asked about.
#[derive(Debug)]
pub struct VerifyReport<'a> {
    pub source: &'a Source,
    /// The program that was verified, fences in place.
    pub program: &'a Program,
    pub options: &'a VerifyOptions,
    /// The fences that were added: `LINE:COL:SIDE`.
    pub fences: &'a [String],
    pub answer: &'a Answer,
    /// Whether the program is violated under SC, too, as far as somebody has asked.
    pub under_sc: Option<bool>,
    pub seconds: f64,
}

impl VerifyReport<'_> {
    /// Why the answer is inconclusive, and what to try.
    pub fn reason(&self) -> Option<String> {
        let Verdict::Inconclusive(reason) = self.answer.verdict else {
            return None;
        };
        let abstraction = self.answer.abstraction;
        let tried = match (&self.answer.tried[..], abstraction) {
            ([first, ..], Abstraction::Fd { k }) => {
                format!(" (tried k = {} to {k})", first.k)
            }
            _ => String::new(),
        };
        let finer = finer(abstraction, self.options).unwrap_or_else(|| {
            "try --abs exact, which finds or excludes violations up to a --bound".to_string()
        });
        Some(match reason {
            Inconclusive::Bound(bound) => format!(
                "no violation up to bound {bound}, but some store had to wait for room, so this is no proof; try a larger --bound, or --abs fd"
            ),
            Inconclusive::Limit(reason) => format!("no violation found so far: {reason}{tried}"),
            Inconclusive::Spurious => format!(
                "the counterexample exists only in the abstraction {abstraction}{tried}: it cannot be replayed on the exact model; {finer}"
            ),
            Inconclusive::Undecided => format!(
                "a counterexample was found under {abstraction}{tried}, but it is not known whether it is real: its replay was given up"
            ),
            Inconclusive::Diverging => diverging(&self.answer.thresholds),
            Inconclusive::Integers => NOT_FOR_INTEGERS.to_string(),
            Inconclusive::Heap => {
                "no violation was found, but more blocks of memory are allocated than there are; try a larger --heap".to_string()
            }
        })
    }

    /// The limit that kept a search from all states, although there is an answer.
    pub fn count_cut_by(&self) -> Option<StopReason> {
        let limit = Verdict::Inconclusive(Inconclusive::Limit(self.answer.stopped?));
        let answered = self.answer.verdict != limit;
        self.answer
            .stopped
            .filter(|_| self.options.full && answered)
    }

    /// What is violated, in words.
    pub fn violation(&self) -> Option<Violation> {
        let found = self.answer.counterexample()?;
        let (text, span) = match &found.trace {
            Some(trace) => {
                let last = trace.last();
                let (text, span) =
                    describe::violation(self.program, self.source, found.violation, last);
                let seen = describe::seen_by_failure(self.program, trace);
                let seen = seen.map_or(String::new(), |seen| format!(" with {seen}"));
                (format!("{text}{seen}"), span)
            }
            None => (
                "a violation was found; the search for its trace was interrupted".to_string(),
                None,
            ),
        };
        let location = span.map(|span| self.source.location(span.start));
        Some(Violation {
            text,
            file: location.and_then(|it| it.file).map(str::to_string),
            line: location.map(|it| it.at.line),
            column: location.map(|it| it.at.column),
        })
    }

    /// What makes an answer weaker than it looks.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        let mut warnings = growing(self.program);
        if self.answer.verdict != Verdict::Violated {
            warnings.extend(nothing_stated(self.program, self.options));
        }
        if let Some(coverage) = &self.answer.coverage {
            let model = self.options.semantics.model;
            warnings.extend(unreached(self.program, coverage, model));
        }
        warnings
    }

    /// The counterexample, if there is one.
    pub fn trace(&self) -> Option<&Trace> {
        // What is not known to be real has no numbers for integers.
        let real = self.answer.verdict == Verdict::Violated;
        let shown = real || !self.program.has_integers();
        let trace = self.answer.counterexample()?.trace.as_ref();
        trace.filter(|_| shown)
    }

    /// Whether a violation exists under SC, too, if that is known: then it is no matter of memory
    /// order, and no fence helps.
    pub fn under_sc(&self) -> Option<bool> {
        match self.answer.verdict {
            Verdict::Violated if self.options.semantics.model == Model::Sc => None,
            Verdict::Violated if self.answer.model == Model::Sc => Some(true),
            Verdict::Violated => self.under_sc,
            Verdict::Correct | Verdict::Inconclusive(_) => None,
        }
    }

    /// What processes do for ever at the end of the counterexample, if it ends stuck.
    pub fn spins(&self) -> Vec<Spin> {
        match self.answer.counterexample() {
            Some(found) if found.violation == property::Violation::Stuck => {
                let stepper = self.options.semantics.exact().stepper(self.program);
                let end = found.trace.as_ref().map(Trace::last);
                end.map_or_else(Vec::new, |end| end.spins(&stepper))
            }
            _ => Vec::new(),
        }
    }

    /// The answer in the words of the contract.
    pub fn record(&self) -> VerifyAnswer {
        let statistics = &self.answer.statistics;
        let semantics = &self.options.semantics;
        let trace = self.trace();
        VerifyAnswer {
            schema: SCHEMA.to_string(),
            tool: env!("CARGO_PKG_VERSION").to_string(),
            command: Mode::Verify,
            program: self.source.name().to_string(),
            source: Some(self.source.main_text().to_string()),
            config: VerifyConfig {
                model: semantics.model,
                abstraction: self.answer.abstraction.kind(),
                k: self.answer.abstraction.k(),
                bound: self.answer.abstraction.bound(),
                refined: self.options.strategy != Strategy::Fixed
                    && !semantics.abstraction.is_logs(),
                atomics: semantics.atomics,
                fuse: semantics.fuse,
                full: self.options.full,
                deadlock: self.options.standstill != Standstill::Ignored,
                stuck: self.options.standstill == Standstill::Stuck,
                robust: self.options.robust,
                join: self.options.join,
                fences: self.fences.to_vec(),
            },
            outcome: self.answer.verdict.into(),
            stopped: self.answer.stopped.map(Into::into),
            reason: self.reason(),
            violation: self.violation(),
            initial: trace.map(|t| Initial::new(self.program, self.source, &t.initial)),
            trace: trace.map(|t| Step::all(self.program, self.source, t)),
            spins: self
                .spins()
                .iter()
                .map(|spin| record::Spin::new(self.program, self.source, spin))
                .collect(),
            spurious: self
                .answer
                .counterexample()
                .and_then(|found| found.spurious),
            under_sc: self.under_sc(),
            thresholds: thresholds(self.program, &self.answer.thresholds),
            tried: self
                .answer
                .tried
                .iter()
                .map(|&Attempt { k, states }| Tried { k, states })
                .collect(),
            warnings: self.warnings().into_iter().map(|w| w.message).collect(),
            stats: Some(Stats {
                search: Some(self.answer.search),
                states: statistics.states,
                transitions: statistics.transitions,
                depth: statistics.depth,
                configurations: Some(statistics.configurations),
                bytes_per_state: Some(statistics.table_bytes.div_ceil(statistics.states.max(1))),
                ..Stats::default()
            }),
            timing: Some(Timing {
                total_s: self.seconds,
                states_per_s: Some(statistics.states as f64 / self.seconds.max(1e-9)),
                peak_bytes: Some(statistics.bytes),
            }),
        }
    }
}

/// That refinement of integers does not come to an end, and what to try.
fn diverging(thresholds: &Thresholds) -> String {
    let last = |set: &BTreeSet<i64>| {
        let last: Vec<String> = set.iter().rev().take(3).map(i64::to_string).collect();
        last.join(", ")
    };
    format!(
        "more and more constants are needed ({} so far, the largest {} for differences and {} for single integers); \
         say what relates the integers in an `invariant` or an `assume`, count down instead of up, or give them ranges",
        thresholds.len(),
        last(&thresholds.differences),
        last(&thresholds.single)
    )
}
