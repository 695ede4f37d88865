//! `fencesmith verify` and `fencesmith replay`.

use super::args::{self, AbstractionName, Common, Format};
use super::{Exit, Failure, input, print, progress};
use crate::diagnostic::{self, Diagnostic};
use crate::fences;
use crate::memory::step::Stepper;
use crate::memory::{Atomics, Exact, Memory, Order, Sc};
use crate::program::{PointSet, Program, PropertyKind};
use crate::replay::{self, Replay};
use crate::report::json::{Config, Report, SCHEMA, Stats, Timing, Violation};
use crate::report::text::{self, Paint, count};
use crate::report::trace::{self, TraceConfig, TraceFile};
use crate::report::{self, describe};
use crate::source::Source;
use crate::space::{End, Limits};
use crate::verify::{Abstraction, Answer, Model, Options, Outcome, Reason, verify};
use std::fmt::Write;
use std::time::Instant;

/// Verifies a program under each model asked for.
pub fn run(args: &args::Verify) -> Result<Exit, Failure> {
    let start = Instant::now();
    let (source, whole) = input::program(&args.file)?;
    let fences = fence_set(args, &source, &whole)?;
    let program = whole.fenced(&fences);
    let names: Vec<String> = fences
        .iter()
        .map(|&p| fences::name(&whole, &source, p))
        .collect();
    let monitor = progress::interruptible();
    let limits = limits(&args.common, start);

    let mut exit = Exit::Fine;
    let mut reports = Vec::new();
    let mut models = args.model.clone();
    models.dedup();
    for model in models {
        let options = Options {
            model: model.into(),
            abstraction: match args.abs {
                AbstractionName::Exact => Abstraction::Exact {
                    bound: args.bound as usize,
                },
            },
            atomics: args.common.atomics.into(),
            fuse: !args.common.no_fuse,
            reset_dead: true,
            full: args.full,
            deadlock: args.deadlock,
            threads: args.common.thread_count(),
            limits: limits.clone(),
        };
        let begin = Instant::now();
        let what = format!("{} under {}", source.name(), upper(options.model));
        let answer = progress::watched(&args.common, &monitor, &what, || {
            verify(&program, &options, &monitor)
        });
        let seconds = begin.elapsed().as_secs_f64();
        let shown = Shown {
            args,
            source: &source,
            program: &program,
            options: &options,
            fences: &names,
            answer: &answer,
            seconds,
        };
        exit = exit.min(shown.exit());
        shown.save_trace()?;
        match args.common.format {
            Format::Json => reports.push(shown.json()),
            Format::Text => {
                let warnings = shown.warnings();
                if !args.common.quiet && !warnings.is_empty() {
                    let color = args.common.stderr_color();
                    eprint!("{}", diagnostic::render(&source, &warnings, color));
                }
                print(&shown.text())?;
            }
        }
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

fn limits(common: &Common, start: Instant) -> Limits {
    Limits {
        max_states: common.max_states,
        max_memory: common.max_memory,
        deadline: common.timeout.map(|timeout| start + timeout),
    }
}

/// An answer about to be shown.
struct Shown<'a> {
    args: &'a args::Verify,
    source: &'a Source,
    program: &'a Program,
    options: &'a Options,
    fences: &'a [String],
    answer: &'a Answer,
    seconds: f64,
}

impl Shown<'_> {
    fn exit(&self) -> Exit {
        match self.answer.outcome {
            Outcome::Correct => Exit::Fine,
            Outcome::Violated => Exit::Violated,
            Outcome::Inconclusive(_) => Exit::Inconclusive,
        }
    }

    /// Why the answer is inconclusive, and what to try.
    fn reason(&self) -> Option<String> {
        let Outcome::Inconclusive(reason) = self.answer.outcome else {
            return None;
        };
        Some(match reason {
            Reason::Bound(bound) => format!(
                "no violation up to bound {bound}, but some store had to wait for room: not a proof; try a larger --bound"
            ),
            Reason::Limit(reason) => format!("no violation found so far: {reason}"),
        })
    }

    fn violation(&self) -> Option<Violation> {
        let (violation, trace) = self.answer.exploration.violation.as_ref()?;
        let (text, span) = match trace {
            Some(trace) => {
                let last = trace
                    .steps
                    .last()
                    .map_or(&trace.initial, |step| &step.after);
                describe::violation(self.program, self.source, *violation, last)
            }
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
    fn warnings(&self) -> Vec<Diagnostic> {
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

    fn text(&self) -> String {
        let paint = Paint {
            color: self.args.common.stdout_color(),
        };
        let exploration = &self.answer.exploration;
        let violation = self.violation();
        let verdict = match self.answer.outcome {
            Outcome::Correct => paint.good("correct"),
            Outcome::Violated => paint.bad("violated"),
            Outcome::Inconclusive(_) => paint.unsure("inconclusive"),
        };
        let fences = match self.fences {
            [] => String::new(),
            fences => format!(" with fences at {}", fences.join(", ")),
        };
        let model = upper(self.options.model);
        let mut out = format!("{} under {model}{fences}: {verdict}", self.source.name());
        let work = format!(
            "{}, {}, {:.2} s",
            count(exploration.states, "state"),
            count(exploration.transitions, "transition"),
            self.seconds
        );
        match (self.answer.outcome, violation) {
            (Outcome::Correct, _) => {
                let _ = writeln!(out, " (proved: {work})");
            }
            (_, Some(violation)) => {
                let place = violation.line.map(|line| format!(" (line {line})"));
                let _ = writeln!(out, ": {}{}", violation.text, place.unwrap_or_default());
                let trace = exploration
                    .violation
                    .as_ref()
                    .and_then(|(_, trace)| trace.as_ref());
                if let Some(trace) = trace.filter(|_| !self.args.no_trace) {
                    let table = text::trace(self.program, self.source, trace, paint);
                    let _ = write!(
                        out,
                        "\n{table}  {} {}\n\n",
                        paint.bad("violated:"),
                        violation.text
                    );
                }
                let _ = writeln!(out, "{}", paint.faint(&work));
            }
            (_, None) => {
                let reason = self.reason().unwrap_or_default();
                let _ = writeln!(out, ": {reason}\n{}", paint.faint(&work));
            }
        }
        out
    }

    fn json(&self) -> Report {
        let exploration = &self.answer.exploration;
        let trace = exploration
            .violation
            .as_ref()
            .and_then(|(_, trace)| trace.as_ref());
        let Abstraction::Exact { bound } = self.options.abstraction;
        Report {
            schema: SCHEMA,
            tool: env!("CARGO_PKG_VERSION"),
            command: "verify",
            program: self.source.name().to_string(),
            config: Config {
                model: self.options.model.to_string(),
                abstraction: "exact",
                bound: Some(bound),
                atomics: atomics_name(self.options.atomics),
                fuse: self.options.fuse,
                full: self.options.full,
                deadlock: self.options.deadlock,
                fences: self.fences.to_vec(),
            },
            outcome: match self.answer.outcome {
                Outcome::Correct => "correct",
                Outcome::Violated => "violated",
                Outcome::Inconclusive(_) => "inconclusive",
            },
            reason: self.reason(),
            violation: self.violation(),
            initial: trace.map(|t| trace::initial(self.program, &t.initial)),
            trace: trace.map(|t| trace::steps(self.program, self.source, t)),
            spurious: trace.map(|_| false),
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

    fn save_trace(&self) -> Result<(), Failure> {
        let trace = self
            .answer
            .exploration
            .violation
            .as_ref()
            .and_then(|(_, t)| t.as_ref());
        let (Some(path), Some(trace)) = (&self.args.save_trace, trace) else {
            return Ok(());
        };
        let file = TraceFile {
            schema: trace::SCHEMA.to_string(),
            tool: env!("CARGO_PKG_VERSION").to_string(),
            program: self.source.name().to_string(),
            config: TraceConfig {
                model: self.options.model.to_string(),
                atomics: atomics_name(self.options.atomics).to_string(),
                fuse: self.options.fuse,
                fences: self.fences.to_vec(),
            },
            initial: trace::initial(self.program, &trace.initial),
            steps: trace::steps(self.program, self.source, trace),
            violation: self.violation().map_or(String::new(), |v| v.text),
        };
        input::write(path, &json_text(&file))
    }
}

/// Replays a recorded trace.
pub fn replay(args: &args::Replay) -> Result<Exit, Failure> {
    let (source, whole) = input::program(&args.file)?;
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
    let exact = |order| {
        Box::new(Exact {
            order,
            bound: file.steps.len() + 1,
        })
    };
    let memory: Box<dyn Memory> = match file.config.model.as_str() {
        "sc" => Box::new(Sc),
        "tso" => exact(Order::Tso),
        "pso" => exact(Order::Pso),
        other => return Err(wrong(format!("unknown memory model '{other}'"))),
    };
    let atomics = match file.config.atomics.as_str() {
        "drain-place" => Atomics::DrainPlace,
        "drain-all" => Atomics::DrainAll,
        other => return Err(wrong(format!("unknown treatment of atomics '{other}'"))),
    };
    let stepper = Stepper {
        program: &program,
        memory: &*memory,
        atomics,
        fuse: file.config.fuse,
        reset_dead: true,
        labelled: false,
    };
    let result = replay::replay(&stepper, &source, &file);
    let (outcome, text, step, exit) = match &result {
        Replay::Violated(violation, state) => {
            let (text, _) = describe::violation(&program, &source, *violation, state);
            let steps = count(file.steps.len() as u64, "step");
            (
                "violated",
                format!("all {steps} fit, and at the end: {text}"),
                None,
                Exit::Violated,
            )
        }
        Replay::Harmless => {
            let steps = count(file.steps.len() as u64, "step");
            (
                "harmless",
                format!("all {steps} fit, but nothing is wrong at the end"),
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

fn upper(model: Model) -> String {
    model.to_string().to_uppercase()
}

fn atomics_name(atomics: Atomics) -> &'static str {
    match atomics {
        Atomics::DrainPlace => "drain-place",
        Atomics::DrainAll => "drain-all",
    }
}

/// Pretty JSON with a final line break.
fn json_text(value: &impl serde::Serialize) -> String {
    let text = serde_json::to_string_pretty(value);
    text.expect("reports have string keys and finite numbers") + "\n"
}
