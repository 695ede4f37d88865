//! How long buffers get, in words and as a record.

use super::text::Paint;
use crate::describe::one_line;
use crate::occupancy::{Length, Occupancy, OccupancyOptions, Queue, Round};
use crate::program::Program;
use crate::record::{
    BuffersAnswer, BuffersCommand, BuffersConfig, BuffersOutcome, BuffersStats, QueueRecord,
    RoundRecord, SCHEMA, StatementRecord, Timing,
};
use crate::source::{Source, Span};
use crate::words::count;
use std::fmt::Write;

/// An answer and everything that is needed to show it.
pub struct OccupancyReport<'a> {
    pub source: &'a Source,
    pub program: &'a Program,
    pub options: &'a OccupancyOptions,
    pub answer: &'a Occupancy,
    pub seconds: f64,
}

impl OccupancyReport<'_> {
    /// What is known of all buffers together.
    pub fn outcome(&self) -> BuffersOutcome {
        let outcomes = self.answer.queues.iter();
        let outcomes: Vec<_> = outcomes.map(|(_, length)| outcome(length)).collect();
        let any = |wanted| outcomes.contains(&wanted);
        match () {
            () if any(BuffersOutcome::Inconclusive) => BuffersOutcome::Inconclusive,
            () if any(BuffersOutcome::Unbounded) => BuffersOutcome::Unbounded,
            () => BuffersOutcome::Bounded,
        }
    }

    /// Why something is not known, and what to try.
    pub fn reason(&self) -> Option<String> {
        if self.outcome() != BuffersOutcome::Inconclusive {
            return None;
        }
        let bound = self.answer.bound;
        Some(match self.answer.stopped {
            Some(reason) => format!("{reason} with buffers up to {bound}"),
            None if self.answer.lacked_heap => {
                "more blocks of memory are allocated than there are; try a larger --heap"
                    .to_string()
            }
            None => format!(
                "buffers up to {bound} were not enough; try a larger --bound, or fences in the loops that store"
            ),
        })
    }

    pub fn text(&self, paint: Paint, quiet: bool) -> String {
        let model = self.options.semantics.model.upper();
        let head = match self.outcome() {
            BuffersOutcome::Bounded => {
                let longest = self.answer.longest().unwrap_or(0) as u64;
                paint.good(&format!("at most {} pending", count(longest, "store")))
            }
            BuffersOutcome::Unbounded => paint.bad("unbounded"),
            BuffersOutcome::Inconclusive => paint.unsure("not known"),
        };
        let reason = self.reason().map(|reason| format!(": {reason}"));
        let reason = reason.unwrap_or_default();
        let mut out = format!("{} under {model}: {head}{reason}\n", self.source.name());
        if quiet {
            return out;
        }
        let names = self
            .answer
            .queues
            .iter()
            .map(|(queue, _)| self.name(*queue));
        let names: Vec<String> = names.collect();
        let width = names.iter().map(|name| name.chars().count()).max();
        let width = width.unwrap_or(0);
        for (name, (_, length)) in names.iter().zip(&self.answer.queues) {
            let _ = writeln!(out, "  {name:<width$}  {}", self.length(length));
            if let Length::Unbounded(round) = length {
                let _ = writeln!(out, "  {:<width$}    {}", "", self.round(round));
            }
        }
        let work = format!(
            "{}, {:.2} s",
            count(self.answer.states, "state"),
            self.seconds
        );
        let _ = writeln!(out, "{}", paint.faint(&work));
        out
    }

    /// The process, and the place if the queue is that of one.
    fn name(&self, queue: Queue) -> String {
        let process = &self.program.process(queue.process).name;
        match queue.place {
            None => process.clone(),
            Some(place) => format!("{process}, {}", self.program.places[place.index()].name),
        }
    }

    fn length(&self, length: &Length) -> String {
        match length {
            Length::Exactly(length) => length.to_string(),
            Length::Unbounded(_) => "unbounded".to_string(),
            Length::Unknown { at_least, at_most } => {
                let most = at_most.map(|most| format!(", at most {most}"));
                format!("not known: at least {at_least}{}", most.unwrap_or_default())
            }
        }
    }

    fn round(&self, round: &Round) -> String {
        let place = |span: Span| self.source.location(span.start);
        let store = one_line(self.source, round.store);
        let others = match round.others {
            0 => String::new(),
            others => format!(", with {} of others", count(others as u64, "step")),
        };
        format!(
            "filled by `{store}` ({}) in the loop from {} to {}{others}",
            place(round.store),
            place(round.begin),
            place(round.end),
        )
    }

    pub fn record(&self) -> BuffersAnswer {
        let semantics = self.options.semantics;
        BuffersAnswer {
            schema: SCHEMA.to_string(),
            tool: env!("CARGO_PKG_VERSION").to_string(),
            command: BuffersCommand::Buffers,
            program: self.source.name().to_string(),
            config: BuffersConfig {
                model: semantics.model,
                atomics: semantics.atomics,
                fuse: semantics.fuse,
                bound: self.options.most,
            },
            outcome: self.outcome(),
            longest: self.answer.longest(),
            queues: self
                .answer
                .queues
                .iter()
                .map(|(queue, length)| self.queue(*queue, length))
                .collect(),
            stopped: self.answer.stopped.map(Into::into),
            reason: self.reason(),
            stats: BuffersStats {
                states: self.answer.states,
                bound: self.answer.bound,
            },
            timing: Timing {
                total_s: self.seconds,
                states_per_s: None,
                peak_bytes: None,
            },
        }
    }

    fn queue(&self, queue: Queue, length: &Length) -> QueueRecord {
        let (at_least, at_most, round) = match length {
            Length::Exactly(length) => (*length, Some(*length), None),
            Length::Unbounded(round) => (self.answer.bound, None, Some(round)),
            Length::Unknown { at_least, at_most } => (*at_least, *at_most, None),
        };
        let place =
            |place: crate::program::PlaceId| self.program.places[place.index()].name.clone();
        QueueRecord {
            process: self.program.process(queue.process).name.clone(),
            place: queue.place.map(place),
            outcome: outcome(length),
            at_least,
            at_most,
            round: round.map(|round| RoundRecord {
                store: self.statement(round.store),
                begin: self.statement(round.begin),
                end: self.statement(round.end),
                statements: round
                    .statements
                    .iter()
                    .map(|s| self.statement(*s))
                    .collect(),
                others: round.others,
            }),
        }
    }

    fn statement(&self, span: Span) -> StatementRecord {
        let location = self.source.location(span.start);
        StatementRecord {
            text: one_line(self.source, span),
            file: location.file.map(str::to_string),
            line: location.at.line,
            column: location.at.column,
        }
    }
}

fn outcome(length: &Length) -> BuffersOutcome {
    match length {
        Length::Exactly(_) => BuffersOutcome::Bounded,
        Length::Unbounded(_) => BuffersOutcome::Unbounded,
        Length::Unknown { .. } => BuffersOutcome::Inconclusive,
    }
}
