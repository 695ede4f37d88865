//! `fencesmith verify`.

use super::answers::{self, Answers};
use super::args::{self, Common};
use super::interrupt::Interruptible;
use super::processes;
use super::streams::{stdout_paint, table_style};
use super::support::Support;
use super::{Exit, Failure, certificates, conclude, free_memory, input, output, progress, refuse};
use crate::certificate::certificate_of_correctness;
use crate::fences::{self, FencePlace};
use crate::limits::Limits;
use crate::memory::{Abstraction, AbstractionKind, Model, Semantics};
use crate::program::{PointId, PointSet, Program};
use crate::property;
use crate::record::{Initial, Mode, Step, TRACE_SCHEMA, TraceConfig, TraceFile, Violation};
use crate::report::trace::trace as trace_table;
use crate::report::verify::VerifyReport;
use crate::report::{about_atomics, constants, growing, picture, text, with_constants};
use crate::source::Source;
use crate::space::Standstill;
use crate::verify::{Answer, SearchKind, Strategy, Verdict, VerifyOptions, verify};
use crate::words::{self, count};
use clap::ValueEnum;
use std::cell::OnceCell;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Verifies each program under each model asked for.
pub fn run(args: &args::Verify) -> Result<Exit, Failure> {
    let outputs = [
        ("--save-trace", &args.save_trace),
        ("--dot", &args.dot),
        ("--svg", &args.svg),
        ("--certificate", &args.certificate),
    ];
    let outputs = outputs.map(|(option, path)| Some((option, path.as_deref()?)));
    let outputs: Vec<_> = outputs.into_iter().flatten().collect();
    let programs = args
        .files
        .iter()
        .map(|file| ("the program", file.as_path()));
    output::refuse_overwriting(programs, &outputs)?;
    if args.certificate.is_some() && (args.model.len() > 1 || args.search != SearchKind::Auto) {
        return Err(Failure::message(
            "--certificate needs a single --model, and no --search",
        ));
    }
    let abstraction = args.buffers.abstraction(args.bound as usize);
    let (abstraction, strategy) = abstraction.map_err(Failure::message)?;
    let visits = args.full || args.deadlock || args.stuck;
    if abstraction.kind() == AbstractionKind::Logs && visits {
        let text = "--abs logs goes neither with --full nor with --deadlock or --stuck";
        let help = "it proves or refutes properties, and visits no single states";
        return Err(Failure::Message {
            text: text.to_string(),
            help: Some(help.to_string()),
        });
    }
    if args.robust {
        refuse::under_robust(abstraction, args.search)?;
    }
    let searches = OnceCell::new();
    let about_one = [
        ("--save-trace", args.save_trace.is_some()),
        ("--dot", args.dot.is_some()),
        ("--svg", args.svg.is_some()),
        ("--certificate", args.certificate.is_some()),
        ("--fence", !args.fence.is_empty()),
    ];
    let asked = (abstraction, strategy);
    let support = match support(args, abstraction, &searches)? {
        Ok(support) => support,
        Err(exit) => return Ok(exit),
    };
    let verify =
        |file: &Path, answers: &mut Answers| one(args, file, asked, &searches, &support, answers);
    let exit = answers::for_each(&args.files, &args.common, Mode::Verify, &about_one, verify);
    support.conclude(exit)
}

/// Comes together with other processes, if there are to be any, or makes room on disk.
fn support(
    args: &args::Verify,
    abstraction: Abstraction,
    searches: &OnceCell<Arc<Interruptible>>,
) -> Result<Result<Support, Exit>, Failure> {
    if !args.processes.is_given() {
        return Ok(Ok(Support::Nothing));
    }
    let asked = [
        ("--robust", args.robust && args.processes.spill.is_none()),
        ("--search sets", args.search == SearchKind::Sets),
        ("--search rows", args.search == SearchKind::Rows),
    ];
    refuse::beyond_memory(&args.processes, abstraction, &asked)?;
    let options = format!(
        "verify {:?} {:?} {} {} {:?} {:?}",
        args.model,
        (abstraction, args.buffers.k, args.bound, args.search),
        args.no_symmetry,
        args.full,
        (args.deadlock, args.stuck, &args.fence),
        args.processes.kept(),
    );
    let digests = || processes::digests(&args.files, &args.common, &options);
    let searches = searches.get_or_init(Interruptible::new);
    Support::assemble(&args.processes, &args.common, searches, digests)
}

/// Verifies one program.
fn one(
    args: &args::Verify,
    file: &Path,
    (abstraction, strategy): (Abstraction, Strategy),
    searches: &OnceCell<Arc<Interruptible>>,
    support: &Support,
    answers: &mut Answers,
) -> Result<Exit, Failure> {
    let input = input::program(file, &args.common)?;
    for (option, given) in [("--stuck", args.stuck), ("--deadlock", args.deadlock)] {
        if given {
            refuse::guesses(option, input.format)?;
        }
    }
    if input.program.has_integers() {
        let asked = [
            ("--robust", args.robust),
            ("--stuck", args.stuck),
            ("--deadlock", args.deadlock),
            ("--full", args.full),
            ("--search sets", args.search == SearchKind::Sets),
            ("--search rows", args.search == SearchKind::Rows),
        ];
        refuse::with_integers(abstraction, &asked)?;
    }
    // While a program is read, signals end the command.
    let searches = searches.get_or_init(Interruptible::new);
    let (source, whole) = (input.source, input.program);
    let fences = fence_set(args, &source, &whole)?;
    let program = whole.fenced(&fences);
    let names: Vec<String> = fences
        .iter()
        .map(|&p| fences::name(&whole, &source, p))
        .collect();
    let mut exit = Exit::Fine;
    let mut under_sc = None;
    answers.next_program();
    answers.warn(&source, growing(&program));
    let mut saved = None;
    let mut failures = Vec::new();
    for model in args::distinct(&args.model) {
        let options = VerifyOptions {
            semantics: Semantics {
                atomics: args.common.atomics(),
                fuse: !args.common.no_fuse,
                ..Semantics::new(model, abstraction)
            },
            strategy: match model {
                Model::Sc => Strategy::Fixed,
                Model::Tso | Model::Pso => strategy,
            },
            search: args.search,
            symmetry: !args.no_symmetry,
            full: args.full,
            standstill: match (args.stuck, args.deadlock) {
                (true, _) => Standstill::Stuck,
                (false, true) => Standstill::Deadlock,
                (false, false) => Standstill::Ignored,
            },
            robust: args.robust,
            thresholds: args.buffers.first_thresholds(),
            join: args.buffers.join,
            correct_under_sc: false,
            threads: args.common.thread_count(),
            limits: support.limits(&args.common),
            explorer: support.explorer(),
        };
        let begin = Instant::now();
        let what = format!("{} under {}", source.name(), model.upper());
        let found = progress::watched(&args.common, searches, &what, |monitor| {
            verify(&program, &options, monitor)
        });
        let seconds = begin.elapsed().as_secs_f64();
        if model == Model::Sc {
            under_sc = is_violated(&found);
        } else if found.verdict == Verdict::Violated && found.model != Model::Sc && !args.robust {
            under_sc = under_sc.or_else(|| {
                let what = format!("{} under SC", source.name());
                progress::watched(&args.common, searches, &what, |monitor| {
                    is_violated(&verify(&program, &under_sc_options(&options), monitor))
                })
            });
        }
        let answer = VerifyAnswer {
            args,
            report: VerifyReport {
                source: &source,
                program: &program,
                options: &options,
                fences: &names,
                answer: &found,
                under_sc,
                seconds,
            },
        };
        exit = exit.min(answer.exit());
        answers.warn(&source, answer.report.warnings());
        let report = &answer.report;
        answers.add(|| answer.text(), || report.record(), || report.findings())?;
        saved = saved.or_else(|| answer.save_execution());
        if let Some(path) = &args.certificate
            && found.verdict == Verdict::Correct
        {
            let what = format!("{}: certificate", source.name());
            let made = progress::watched(&args.common, searches, &what, |monitor| {
                certificate_of_correctness(&source, &whole, &fences, &options, &found, monitor)
            });
            failures.extend(certificates::write(path, made).err());
        }
    }
    failures.extend(saved.into_iter().flatten());
    Ok(conclude(exit, &failures))
}

/// What may be taken to find out whether a violation exists under SC, too.
const MOST_SC_STATES: u64 = 500_000;

/// The same question under SC.
fn under_sc_options(options: &VerifyOptions) -> VerifyOptions {
    let most = options.limits.max_states.unwrap_or(u64::MAX);
    VerifyOptions {
        semantics: Semantics {
            model: Model::Sc,
            ..options.semantics
        },
        strategy: Strategy::Fixed,
        full: false,
        limits: Limits {
            max_states: Some(most.min(MOST_SC_STATES)),
            ..options.limits.clone()
        },
        ..options.clone()
    }
}

fn is_violated(answer: &Answer) -> Option<bool> {
    match answer.verdict {
        Verdict::Correct => Some(false),
        Verdict::Violated => Some(true),
        Verdict::Inconclusive(_) => None,
    }
}

fn fence_set(args: &args::Verify, source: &Source, program: &Program) -> Result<PointSet, Failure> {
    let place = |place: &FencePlace| fence_point(program, source, place);
    args.fence.iter().map(place).collect()
}

/// The point that a person has named.
pub fn fence_point(
    program: &Program,
    source: &Source,
    place: &FencePlace,
) -> Result<PointId, Failure> {
    fences::find(program, source, place).map_err(|text| Failure::Message {
        text: format!("{}: {text}", source.name()),
        help: Some("a fence goes before or after a statement; LINE:COL:after names the statement that begins there".to_string()),
    })
}

/// The limits of one answer, from now on.
pub fn limits<F: ValueEnum + Send + Sync>(common: &Common<F>) -> Limits {
    limits_within(common, memory_limit(common))
}

/// The most memory that an answer may take, as far as that is known now.
pub fn memory_limit<F: ValueEnum + Send + Sync>(common: &Common<F>) -> Option<u64> {
    common.max_memory.or_else(free_memory::nearly_all)
}

/// The limits of one answer, from now on, with this much memory.
pub fn limits_within<F: ValueEnum + Send + Sync>(
    common: &Common<F>,
    max_memory: Option<u64>,
) -> Limits {
    let deadline = |timeout| Instant::now().checked_add(timeout);
    Limits {
        max_states: common.max_states,
        max_memory,
        // A time that the clock cannot represent sets no deadline.
        deadline: common.timeout.and_then(deadline),
    }
}

/// An answer about to be shown.
struct VerifyAnswer<'a> {
    args: &'a args::Verify,
    report: VerifyReport<'a>,
}

impl VerifyAnswer<'_> {
    fn exit(&self) -> Exit {
        match self.report.answer.verdict {
            Verdict::Correct => Exit::Fine,
            Verdict::Violated => Exit::Violated,
            Verdict::Inconclusive(_) => Exit::Inconclusive,
        }
    }

    fn text(&self) -> String {
        let paint = stdout_paint();
        let statistics = &self.report.answer.statistics;
        let violation = self.report.violation();
        let violates = self.report.answer.counterexample().map(|it| it.violation);
        let verdict = match self.report.answer.verdict {
            Verdict::Correct if self.args.robust => paint.good("robust"),
            Verdict::Correct if self.args.stuck => paint.good("correct and never stuck"),
            Verdict::Correct => paint.good("correct"),
            Verdict::Violated if violates == Some(property::Violation::NotSequential) => {
                paint.bad("not robust")
            }
            Verdict::Violated => paint.bad("violated"),
            Verdict::Inconclusive(_) => paint.unsure("inconclusive"),
        };
        let fences = match self.report.fences {
            [] => String::new(),
            fences => format!(" with fences at {}", fences.join(", ")),
        };
        let model = self.report.options.semantics.model.upper();
        let mut out = format!(
            "{} under {model}{fences}: {verdict}",
            self.report.source.name()
        );
        let (states, transitions) = (statistics.states, statistics.transitions);
        let size = match (self.report.answer.search, states) {
            (SearchKind::Sets, 1) => format!("1 set of states, {}", count(transitions, "write")),
            (SearchKind::Sets, _) => {
                let states = words::grouped(states);
                format!("{states} sets of states, {}", count(transitions, "write"))
            }
            _ => format!(
                "{}, {}",
                count(states, "state"),
                count(transitions, "transition")
            ),
        };
        let work = format!("{size}, {:.2} s", self.report.seconds);
        match (self.report.answer.verdict, self.report.reason(), &violation) {
            (Verdict::Correct, ..) => {
                let _ = writeln!(out, " (proved{}: {work})", self.under());
            }
            (_, Some(reason), _) => {
                let _ = writeln!(out, ": {reason}");
            }
            (_, None, violation) => {
                let text = violation.as_ref().map_or("", |violation| &violation.text);
                let line = violation.as_ref().and_then(Violation::line);
                let line = line.map(|line| format!(" (line {line})"));
                let _ = writeln!(out, ": {text}{}", line.unwrap_or_default());
            }
        }
        if let (Some(violation), Some(trace), false) =
            (&violation, self.report.trace(), self.args.no_trace)
        {
            let style = table_style(self.args.locals);
            let table = trace_table(self.report.program, self.report.source, trace, style);
            let verdict = match self.report.answer.verdict {
                Verdict::Violated => paint.bad("violated:"),
                _ => paint.unsure("in the abstraction:"),
            };
            let spins = text::spins(
                self.report.program,
                self.report.source,
                &self.report.spins(),
            );
            let _ = write!(out, "\n{table}{spins}  {verdict} {}\n\n", violation.text);
        }
        if self.report.answer.verdict != Verdict::Correct {
            let part = self.report.count_cut_by();
            let part = part.map_or(String::new(), |limit| {
                format!("; there may be more: {limit}")
            });
            let work = format!("{work}{}{part}", self.under());
            let _ = writeln!(out, "{}", paint.faint(&work));
        }
        match self.report.under_sc() {
            Some(true) => {
                let text = "SC has a violation, too: this is no matter of memory order";
                let _ = writeln!(out, "{}", paint.unsure(text));
            }
            Some(false) => {
                let text = "under SC it is correct: the violation is one of memory order";
                let _ = writeln!(out, "{}", paint.faint(text));
            }
            None => {}
        }
        let semantics = &self.report.options.semantics;
        if let Some(text) = about_atomics(self.report.program, semantics) {
            let _ = writeln!(out, "{}", paint.faint(text));
        }
        if self.args.buffers.thresholds.is_some() && self.report.program.has_integers() {
            let text = constants(&self.report.answer.thresholds);
            let _ = writeln!(out, "{}", paint.faint(&text));
        }
        if self.args.robust {
            let _ = writeln!(out, "{}", paint.faint(text::ROBUSTNESS));
        }
        out
    }

    /// The abstraction behind an answer, if there is one.
    fn under(&self) -> String {
        match self.report.answer.abstraction {
            _ if self.report.options.semantics.model == Model::Sc => self.with_constants(),
            Abstraction::Exact { .. } => String::new(),
            _ if self.report.answer.model == Model::Sc => " under SC already".to_string(),
            abstraction => format!(" by {abstraction}{}", self.with_constants()),
        }
    }

    fn with_constants(&self) -> String {
        with_constants(self.report.program, &self.report.answer.thresholds)
    }

    /// Writes the counterexample if there is one, in all ways that are wanted; what failed.
    fn save_execution(&self) -> Option<Vec<Failure>> {
        let (program, source) = (self.report.program, self.report.source);
        let trace = self.report.trace()?;
        let initial = Initial::new(program, source, &trace.initial);
        let steps = Step::all(program, source, trace);
        let mut written = Vec::new();
        if let Some(path) = &self.args.dot {
            written.push(output::write(path, &picture::dot(&initial, &steps)));
        }
        if let Some(path) = &self.args.svg {
            written.push(output::write(path, &picture::svg(&initial, &steps, None)));
        }
        if let Some(path) = &self.args.save_trace {
            let file = TraceFile {
                schema: TRACE_SCHEMA.to_string(),
                tool: env!("CARGO_PKG_VERSION").to_string(),
                program: source.name().to_string(),
                config: TraceConfig {
                    model: self.report.options.semantics.model,
                    atomics: self.report.options.semantics.atomics,
                    fuse: self.report.options.semantics.fuse,
                    fences: self.report.fences.to_vec(),
                },
                initial,
                steps,
                violation: self.report.violation().map_or(String::new(), |v| v.text),
            };
            written.push(output::write(path, &json_text(&file)));
        }
        Some(written.into_iter().filter_map(Result::err).collect())
    }
}

/// Pretty JSON with a final line break.
pub fn json_text(value: &impl serde::Serialize) -> String {
    let text = serde_json::to_string_pretty(value);
    text.expect("reports have string keys and finite numbers") + "\n"
}
