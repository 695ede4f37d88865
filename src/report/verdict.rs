//! The answer of `verify` as data: why it is not certain, what is violated, the JSON.

use super::describe::{self, upper};
use super::json::{Config, Report, SCHEMA, Stats, Timing, Tried, Violation};
use super::trace;
use crate::diagnostic::Diagnostic;
use crate::program::{Program, PropertyKind};
use crate::source::Source;
use crate::space::{End, Trace};
use crate::verify::{Abstraction, Answer, Options, Outcome, Reason};

/// An answer and what it was asked about.
#[derive(Debug)]
pub struct Verdict<'a> {
    pub source: &'a Source,
    /// The program that was verified, fences in place.
    pub program: &'a Program,
    pub options: &'a Options,
    /// The fences that were added: `LINE:COL:SIDE`.
    pub fences: &'a [String],
    pub answer: &'a Answer,
    pub seconds: f64,
}

impl Verdict<'_> {
    /// Why the answer is inconclusive, and what to try.
    pub fn reason(&self) -> Option<String> {
        let Outcome::Inconclusive(reason) = self.answer.outcome else {
            return None;
        };
        let abstraction = self.answer.abstraction;
        let tried = match (&self.answer.tried[..], abstraction) {
            ([(first, _), ..], Abstraction::Fd { k }) => format!(" (tried k = {first} to {k})"),
            _ => String::new(),
        };
        let finer = match abstraction {
            Abstraction::Fd { k } => format!("try --k {}", k + 1),
            _ => "try --abs fd --k auto".to_string(),
        };
        Some(match reason {
            Reason::Bound(bound) => format!(
                "no violation up to bound {bound}, but some store had to wait for room, so this is no proof; try a larger --bound, or --abs fd"
            ),
            Reason::Limit(reason) => format!("no violation found so far: {reason}{tried}"),
            Reason::Spurious => format!(
                "the counterexample exists only in the abstraction {abstraction}{tried}: it cannot be replayed on the exact model; {finer}"
            ),
            Reason::Undecided => format!(
                "a counterexample was found under {abstraction}{tried}, but it is not known whether it is real: its replay was given up"
            ),
        })
    }

    /// What is violated, in words.
    pub fn violation(&self) -> Option<Violation> {
        let (violation, trace) = self.answer.exploration.violation.as_ref()?;
        let (text, span) = match trace {
            Some(trace) => describe::violation(self.program, self.source, *violation, trace.last()),
            None => (
                "a violation was found; the search for its trace was interrupted".to_string(),
                None,
            ),
        };
        let at = span.map(|span| self.source.position(span.start));
        Some(Violation {
            text,
            line: at.map(|at| at.line),
            column: at.map(|at| at.column),
        })
    }

    /// What makes an answer weaker than it looks.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        let exploration = &self.answer.exploration;
        let mut warnings = Vec::new();
        if exploration.end != End::Exhausted {
            return warnings;
        }
        let model = upper(self.options.model);
        for (property, unreached) in self.program.properties.iter().zip(&exploration.unreached) {
            for label in unreached {
                let text = format!("no process reaches '{label}' under {model}");
                let help = "the property may hold only because nothing happens there";
                warnings.push(Diagnostic::warning(Some(property.span), text).help(help));
            }
            if property.kind == PropertyKind::Final && !exploration.reached_final {
                let text = format!("no final state is reachable under {model}");
                let help = "a `final` property speaks of states in which every process has stopped";
                warnings.push(Diagnostic::warning(Some(property.span), text).help(help));
            }
        }
        warnings
    }

    /// The counterexample, if there is one.
    pub fn trace(&self) -> Option<&Trace> {
        let (_, trace) = self.answer.exploration.violation.as_ref()?;
        trace.as_ref()
    }

    /// The answer in the words of the contract.
    pub fn json(&self) -> Report {
        let exploration = &self.answer.exploration;
        let trace = self.trace();
        let (abstraction, k, bound) = match self.answer.abstraction {
            Abstraction::Exact { bound } => ("exact", None, Some(bound)),
            Abstraction::Set => ("set", None, None),
            Abstraction::Fd { k } => ("fd", Some(k), None),
            Abstraction::Pd { k } => ("pd", Some(k), None),
        };
        Report {
            schema: SCHEMA,
            tool: env!("CARGO_PKG_VERSION"),
            command: "verify",
            program: self.source.name().to_string(),
            source: Some(self.source.text().to_string()),
            config: Config {
                model: self.options.model.to_string(),
                abstraction,
                k,
                bound,
                atomics: self.options.atomics.to_string(),
                fuse: self.options.fuse,
                full: self.options.full,
                deadlock: self.options.deadlock,
                fences: self.fences.to_vec(),
            },
            outcome: self.answer.outcome.into(),
            stopped: match self.answer.outcome {
                Outcome::Inconclusive(Reason::Limit(limit)) => Some(limit.word()),
                _ => None,
            },
            reason: self.reason(),
            violation: self.violation(),
            initial: trace.map(|t| trace::initial(self.program, self.source, &t.initial)),
            trace: trace.map(|t| trace::steps(self.program, self.source, t)),
            spurious: self.answer.spurious,
            tried: self
                .answer
                .tried
                .iter()
                .map(|&(k, states)| Tried { k, states })
                .collect(),
            warnings: self.warnings().into_iter().map(|w| w.message).collect(),
            stats: Stats {
                states: exploration.states,
                transitions: exploration.transitions,
                depth: exploration.depth,
                configurations: exploration.configs,
                bytes_per_state: exploration.table_bytes.div_ceil(exploration.states.max(1)),
            },
            timing: Timing {
                total_s: self.seconds,
                states_per_s: exploration.states as f64 / self.seconds,
                peak_bytes: exploration.bytes,
            },
        }
    }
}
