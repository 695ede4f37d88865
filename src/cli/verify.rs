//! `fencesmith verify` and `fencesmith replay`.

use super::args::{self, Common, Format};
use super::{Exit, Failure, complain, input, print, progress};
use crate::diagnostic;
use crate::fences;
use crate::memory::step::Stepper;
use crate::program::{PointSet, Program};
use crate::replay::{self, Replay};
pub use crate::report::describe::upper;
use crate::report::text::{self, Paint, count};
use crate::report::trace::{self, TraceConfig, TraceFile};
use crate::report::verdict::Verdict;
use crate::report::{self, describe};
use crate::source::Source;
use crate::space::Limits;
use crate::verify::{
    Abstraction, Model, Options, Outcome, memory_without_bound, verify, verify_refining,
};
use std::fmt::Write;
use std::time::Instant;

/// Verifies a program under each model asked for.
pub fn run(args: &args::Verify) -> Result<Exit, Failure> {
    let input = input::program(&args.file, &args.common)?;
    let (source, whole) = (input.source, input.program);
    let fences = fence_set(args, &source, &whole)?;
    let program = whole.fenced(&fences);
    let names: Vec<String> = fences
        .iter()
        .map(|&p| fences::name(&whole, &source, p))
        .collect();
    let monitor = progress::interruptible();

    let abstraction = args.buffers.abstraction(args.bound as usize);
    let (abstraction, refine) = abstraction.map_err(Failure::message)?;
    let mut exit = Exit::Fine;
    let mut reports = Vec::new();
    let mut saved = false;
    for model in args::distinct(&args.model) {
        let options = Options {
            model: model.into(),
            abstraction,
            atomics: args.common.atomics.into(),
            fuse: !args.common.no_fuse,
            reset_dead: true,
            full: args.full,
            deadlock: args.deadlock,
            threads: args.common.thread_count(),
            limits: limits(&args.common),
        };
        let begin = Instant::now();
        let what = format!("{} under {}", source.name(), upper(options.model));
        let answer = progress::watched(&args.common, &monitor, &what, || {
            match refine && options.model != Model::Sc {
                true => verify_refining(&program, &options, &monitor),
                false => verify(&program, &options, &monitor),
            }
        });
        let seconds = begin.elapsed().as_secs_f64();
        let shown = Shown {
            args,
            verdict: Verdict {
                source: &source,
                program: &program,
                options: &options,
                fences: &names,
                answer: &answer,
                seconds,
            },
        };
        exit = exit.min(shown.exit());
        match args.common.format {
            Format::Json => reports.push(shown.verdict.json()),
            Format::Text => {
                let warnings = shown.verdict.warnings();
                if !args.common.quiet && !warnings.is_empty() {
                    let color = args.common.stderr_color();
                    complain(&diagnostic::render(&source, &warnings, color));
                }
                print(&shown.text())?;
            }
        }
        saved = saved || shown.save_trace()?;
    }
    if args.common.format == Format::Json {
        print(&json_text(&reports))?;
    }
    Ok(exit)
}

fn fence_set(args: &args::Verify, source: &Source, program: &Program) -> Result<PointSet, Failure> {
    let place = |place: &fences::FencePlace| {
        fences::find(program, source, *place).map_err(|text| Failure::Message {
            text: format!("{}: {text}", source.name()),
            help: Some("a fence goes before or after a statement; LINE:COL:after names the statement that begins there".to_string()),
        })
    };
    args.fence.iter().map(place).collect()
}

/// The limits of one answer, from now on.
pub fn limits(common: &Common) -> Limits {
    Limits {
        max_states: common.max_states,
        max_memory: common.max_memory.or_else(nearly_all_memory),
        // A deadline that no clock reaches is none.
        deadline: common
            .timeout
            .and_then(|timeout| Instant::now().checked_add(timeout)),
    }
}

/// Nine tenths of the memory that is free now, where the system tells: a program with
/// endlessly many states ends in an answer, not in the death of the process.
pub fn nearly_all_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find(|line| line.starts_with("MemAvailable:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024 / 10 * 9)
}

/// An answer about to be shown.
struct Shown<'a> {
    args: &'a args::Verify,
    verdict: Verdict<'a>,
}

impl Shown<'_> {
    fn exit(&self) -> Exit {
        match self.verdict.answer.outcome {
            Outcome::Correct => Exit::Fine,
            Outcome::Violated => Exit::Violated,
            Outcome::Inconclusive(_) => Exit::Inconclusive,
        }
    }

    fn text(&self) -> String {
        let paint = Paint {
            color: self.args.common.stdout_color(),
        };
        let exploration = &self.verdict.answer.exploration;
        let violation = self.verdict.violation();
        let verdict = match self.verdict.answer.outcome {
            Outcome::Correct => paint.good("correct"),
            Outcome::Violated => paint.bad("violated"),
            Outcome::Inconclusive(_) => paint.unsure("inconclusive"),
        };
        let fences = match self.verdict.fences {
            [] => String::new(),
            fences => format!(" with fences at {}", fences.join(", ")),
        };
        let model = upper(self.verdict.options.model);
        let mut out = format!(
            "{} under {model}{fences}: {verdict}",
            self.verdict.source.name()
        );
        let work = format!(
            "{}, {}, {:.2} s",
            count(exploration.states, "state"),
            count(exploration.transitions, "transition"),
            self.verdict.seconds
        );
        match (
            self.verdict.answer.outcome,
            self.verdict.reason(),
            &violation,
        ) {
            (Outcome::Correct, ..) => {
                let _ = writeln!(out, " (proved{}: {work})", self.under());
            }
            (_, Some(reason), _) => {
                let _ = writeln!(out, ": {reason}");
            }
            (_, None, violation) => {
                let text = violation.as_ref().map_or("", |violation| &violation.text);
                let line = violation.as_ref().and_then(|violation| violation.line);
                let line = line.map(|line| format!(" (line {line})"));
                let _ = writeln!(out, ": {text}{}", line.unwrap_or_default());
            }
        }
        if let (Some(violation), Some(trace), false) =
            (&violation, self.verdict.trace(), self.args.no_trace)
        {
            let table = text::trace(self.verdict.program, self.verdict.source, trace, paint);
            let verdict = match self.verdict.answer.outcome {
                Outcome::Violated => paint.bad("violated:"),
                _ => paint.unsure("in the abstraction:"),
            };
            let _ = write!(out, "\n{table}  {verdict} {}\n\n", violation.text);
        }
        if self.verdict.answer.outcome != Outcome::Correct {
            let _ = writeln!(out, "{}", paint.faint(&format!("{work}{}", self.under())));
        }
        out
    }

    /// The abstraction behind an answer, if there is one.
    fn under(&self) -> String {
        match self.verdict.answer.abstraction {
            _ if self.verdict.options.model == Model::Sc => String::new(),
            Abstraction::Exact { .. } => String::new(),
            abstraction => format!(" by {abstraction}"),
        }
    }

    /// Saves the trace if there is one and it is wanted; whether it did.
    fn save_trace(&self) -> Result<bool, Failure> {
        let (Some(path), Some(trace)) = (&self.args.save_trace, self.verdict.trace()) else {
            return Ok(false);
        };
        let file = TraceFile {
            schema: trace::SCHEMA.to_string(),
            tool: env!("CARGO_PKG_VERSION").to_string(),
            program: self.verdict.source.name().to_string(),
            config: TraceConfig {
                model: self.verdict.options.model.to_string(),
                atomics: self.verdict.options.atomics.to_string(),
                fuse: self.verdict.options.fuse,
                fences: self.verdict.fences.to_vec(),
            },
            initial: trace::initial(self.verdict.program, self.verdict.source, &trace.initial),
            steps: trace::steps(self.verdict.program, self.verdict.source, trace),
            violation: self.verdict.violation().map_or(String::new(), |v| v.text),
        };
        input::write(path, &json_text(&file))?;
        Ok(true)
    }
}

/// Replays a recorded trace.
pub fn replay(args: &args::Replay) -> Result<Exit, Failure> {
    let input = input::program(&args.file, &args.common)?;
    let (source, whole) = (input.source, input.program);
    let record = input::read(&args.trace)?;
    let wrong = |text: String| Failure::message(format!("'{}': {text}", args.trace.display()));
    let file: TraceFile = serde_json::from_str(record.text())
        .map_err(|error| wrong(format!("this is not a trace: {error}")))?;
    if file.schema != trace::SCHEMA {
        return Err(wrong(format!(
            "the schema is '{}', not '{}'",
            file.schema,
            trace::SCHEMA
        )));
    }
    let fences = file.config.fences.iter().map(|text| {
        let place = text.parse().map_err(&wrong)?;
        fences::find(&whole, &source, place).map_err(&wrong)
    });
    let program = whole.fenced(&fences.collect::<Result<PointSet, Failure>>()?);
    let memory = memory_without_bound(file.config.model.parse().map_err(&wrong)?);
    let atomics = file.config.atomics.parse().map_err(&wrong)?;
    let stepper = Stepper {
        program: &program,
        memory: &*memory,
        atomics,
        fuse: file.config.fuse,
        reset_dead: true,
        labelled: false,
    };
    let result = replay::replay(&stepper, &source, &file.initial, &file.steps);
    let (outcome, text, step, exit) = match &result {
        Replay::Violated(violation, trace) => {
            let (text, _) = describe::violation(&program, &source, *violation, trace.last());
            let steps = count(file.steps.len() as u64, "step");
            (
                "violated",
                format!("the trace fits ({steps}), and at its end: {text}"),
                None,
                Exit::Violated,
            )
        }
        Replay::Harmless => {
            let steps = count(file.steps.len() as u64, "step");
            (
                "harmless",
                format!("the trace fits ({steps}), but nothing is wrong at its end"),
                None,
                Exit::Fine,
            )
        }
        Replay::BadStart => {
            let text = "the program cannot start with these values".to_string();
            ("stuck", text, Some(0), Exit::Inconclusive)
        }
        Replay::Stuck { index, possible } => {
            let recorded = &file.steps[*index];
            let possible = match &possible[..] {
                [] => format!("{} cannot move there", recorded.process),
                possible => format!("{} can only: {}", recorded.process, possible.join("; ")),
            };
            let text = format!(
                "step {} does not fit: {}: {}; {possible}",
                index + 1,
                recorded.process,
                recorded.step
            );
            ("stuck", text, Some(index + 1), Exit::Inconclusive)
        }
    };
    match args.common.format {
        Format::Json => print(&json_text(&serde_json::json!({
            "schema": report::json::SCHEMA,
            "tool": env!("CARGO_PKG_VERSION"),
            "command": "replay",
            "program": source.name(),
            "outcome": outcome,
            "reason": text,
            "step": step,
        })))?,
        Format::Text => print(&format!(
            "{} under {}: {text}\n",
            source.name(),
            file.config.model.to_uppercase()
        ))?,
    }
    Ok(exit)
}

/// Pretty JSON with a final line break.
pub fn json_text(value: &impl serde::Serialize) -> String {
    let text = serde_json::to_string_pretty(value);
    text.expect("reports have string keys and finite numbers") + "\n"
}
