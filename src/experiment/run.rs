//! One cell, answered.

use super::entry::Entry;
use super::settings::Settings;
use crate::fences;
use crate::infer::{AllowedGaps, Conclusion, EngineKind, InferOptions, infer};
use crate::limits::{Limits, Monitor};
use crate::memory::{AbstractionKind, Semantics};
use crate::program::{PointSet, Program};
use crate::record::{Answer, Cell, CellRecord, MeasuredRecord, Mode, Stopped};
use crate::report::infer::{InferReport, Request, stopped_by};
use crate::report::verify::VerifyReport;
use crate::source::Source;
use crate::space::{Explorer, Standstill};
use crate::verify::{SearchKind, VerifyOptions, verify};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Instant;

/// A program that cells are about.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Subject {
    pub source: Source,
    /// The whole program, with all of its points.
    pub program: Program,
}

/// What one cell may use.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Resources {
    pub threads: usize,
    /// In bytes.
    pub memory: Option<u64>,
}

/// An answered cell.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finished {
    /// Everything that is the same in every run.
    pub record: CellRecord,
    /// The rest.
    pub measured: MeasuredRecord,
}

impl Finished {
    /// The limit that ended it, if one did.
    pub fn stopped(&self) -> Option<Stopped> {
        self.record.stopped
    }

    /// The cell with all that is known about it.
    pub fn entry(&self) -> Entry {
        Entry {
            measured: self.measured.measured.clone(),
            ..self.record.clone().into()
        }
    }
}

/// What is asked in a cell.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    pub subject: &'a Subject,
    pub cell: &'a Cell,
    pub settings: &'a Settings,
    pub resources: Resources,
}

impl Question<'_> {
    /// Answers it. Plain searches are done by `explorer`, if there is one.
    pub fn answer(&self, explorer: Option<Arc<dyn Explorer>>, monitor: &Monitor) -> Finished {
        let Question { subject, cell, .. } = self;
        let fences = match cell.fenced {
            true => self.fewest_fences(explorer.clone(), monitor),
            false => PointSet::new(),
        };
        let begin = Instant::now();
        let options = self.options(cell, explorer, begin);
        let (answer, stopped) = match cell.mode {
            Mode::Verify => verified(subject, &fences, &options, begin, monitor),
            Mode::Infer => inferred(subject, cell, self.settings, options, begin, monitor),
        };
        let (record, measured) = CellRecord::split(cell, answer, stopped);
        Finished { record, measured }
    }

    /// How this cell, or one like it, is verified.
    fn options(
        &self,
        cell: &Cell,
        explorer: Option<Arc<dyn Explorer>>,
        begin: Instant,
    ) -> VerifyOptions {
        let settings = self.settings;
        VerifyOptions {
            semantics: Semantics {
                atomics: settings.atomics,
                fuse: settings.fuse,
                ..Semantics::new(cell.model, cell.abstraction())
            },
            strategy: cell.strategy(),
            // What a verification counts is compared with other cells; of an inference only the
            // answer is.
            search: match cell.mode {
                Mode::Verify => SearchKind::Rows,
                Mode::Infer => SearchKind::Auto,
            },
            full: settings.full,
            join: cell.join,
            standstill: match settings.stuck {
                true => Standstill::Stuck,
                false => Standstill::Ignored,
            },
            threads: self.resources.threads,
            limits: Limits {
                max_states: settings.max_states,
                max_memory: self.resources.memory,
                // A deadline that no clock reaches is none.
                deadline: settings.timeout.and_then(|time| begin.checked_add(time)),
            },
            explorer,
            ..VerifyOptions::new(cell.model, cell.abstraction())
        }
    }

    /// The fewest fences that refinement finds; none for a program that is correct without, or
    /// that none are known to mend.
    fn fewest_fences(&self, explorer: Option<Arc<dyn Explorer>>, monitor: &Monitor) -> PointSet {
        let program = &self.subject.program;
        let refined = Cell {
            mode: Mode::Infer,
            abstraction: AbstractionKind::Fd,
            k: None,
            ..self.cell.clone()
        };
        let verify = VerifyOptions {
            full: false,
            ..self.options(&refined, explorer, Instant::now())
        };
        let costs = vec![Some(1); program.points.len()];
        let found = infer(program, &InferOptions::new(verify, costs), monitor);
        match found.conclusion {
            Conclusion::Placed(placed) => placed.best.fences,
            _ => PointSet::new(),
        }
    }
}

fn verified(
    subject: &Subject,
    fences: &PointSet,
    options: &VerifyOptions,
    begin: Instant,
    monitor: &Monitor,
) -> (Answer, Option<Stopped>) {
    let Subject { source, program } = subject;
    let names: Vec<String> = fences
        .iter()
        .map(|&point| fences::name(program, source, point))
        .collect();
    let program = program.fenced(fences);
    let answer = verify(&program, options, monitor);
    let report = VerifyReport {
        source,
        program: &program,
        options,
        fences: &names,
        answer: &answer,
        under_sc: None,
        seconds: begin.elapsed().as_secs_f64(),
    };
    let record = Answer::Verify(Box::new(report.record()));
    (record, answer.stopped.map(Stopped::from))
}

fn inferred(
    subject: &Subject,
    cell: &Cell,
    settings: &Settings,
    options: VerifyOptions,
    begin: Instant,
    monitor: &Monitor,
) -> (Answer, Option<Stopped>) {
    let costs = vec![Some(1); subject.program.points.len()];
    let options = InferOptions {
        engine: cell.engine.unwrap_or(EngineKind::Lazy),
        all: settings.all,
        why: true,
        ..InferOptions::new(options, costs)
    };
    let found = infer(&subject.program, &options, monitor);
    let report = InferReport {
        source: &subject.source,
        program: &subject.program,
        options: &options,
        request: Request {
            place: AllowedGaps::Anywhere,
            cost: "uniform",
            per_process: false,
            target: None,
        },
        found: &found,
        seconds: begin.elapsed().as_secs_f64(),
    };
    let stopped = match found.conclusion {
        Conclusion::Inconclusive(obstacle) => stopped_by(obstacle),
        _ => None,
    };
    let stopped = stopped.or(found.cut.map(Stopped::from));
    (Answer::Infer(Box::new(report.record())), stopped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::compile;
    use crate::memory::{Atomics, Model};

    /// Without its fences the program is another one: what is found then is not the answer.
    #[test]
    fn fences_that_were_not_looked_for() {
        let text = "shared bool x, y;
            process p { bool r; store x = true; load r = y; }
            process q { bool r; store y = true; load r = x; }
            final p.r || q.r;";
        let source = Source::new("sb.fen", text);
        let program = compile(&source).expect("the program is well formed");
        let question = Question {
            subject: &Subject { source, program },
            cell: &Cell {
                program: "sb.fen".to_string(),
                model: Model::Tso,
                mode: Mode::Verify,
                abstraction: AbstractionKind::Pd,
                k: Some(1),
                engine: None,
                join: false,
                fenced: true,
            },
            settings: &Settings {
                timeout: None,
                max_memory: None,
                max_states: None,
                atomics: Atomics::DrainPlace,
                fuse: true,
                full: false,
                stuck: false,
                all: None,
            },
            resources: Resources {
                threads: 1,
                memory: None,
            },
        };
        let monitor = Monitor::default();
        assert_eq!(question.answer(None, &monitor).stopped(), None);
        monitor.lose();
        let finished = question.answer(None, &monitor);
        assert_eq!(finished.stopped(), Some(Stopped::Lost));
    }
}
