//! `fencesmith infer`.

mod costs;
mod text;
mod written;

use super::answers::{self, Answers};
use super::args::{self, AnswerFormat, Head, KindsName};
use super::input::{self, Input};
use super::interrupt::Interruptible;
use super::processes;
use super::refuse;
use super::streams::{print_message, stderr_paint, stdout_paint};
use super::support::Support;
use super::{Exit, Failure, certificates, conclude, output, progress};
use crate::c::Repair;
use crate::certificate::certificate;
use crate::import::Format;
use crate::infer::{
    Conclusion, EngineKind, InferOptions, Inference, Optimality, OrderingRules, infer,
};
use crate::memory::{Abstraction, AbstractionKind, Model, Semantics};
use crate::program::{Program, Side};
use crate::record::Mode;
use crate::report::growing;
use crate::report::infer::{InferReport, Request};
use crate::report::target::Target;
use crate::source::Source;
use crate::space::Standstill;
use crate::verify::{SearchKind, Strategy, VerifyOptions};
use costs::{cost_file, costs};
use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Infers fences for each program under each model asked for.
pub fn run(args: &args::Infer) -> Result<Exit, Failure> {
    check(args)?;
    check_files(args)?;
    let (abstraction, strategy) = abstraction(args)?;
    if args.robust {
        refuse::under_robust(abstraction, args.search)?;
    }
    let searches = OnceCell::new();
    let about_one = [
        ("--emit", args.emit.is_some()),
        ("--certificate", args.certificate.is_some()),
        ("a file of costs", cost_file(args).is_some()),
    ];
    let asked = (abstraction, strategy);
    let support = match support(args, abstraction, &searches)? {
        Ok(support) => support,
        Err(exit) => return Ok(exit),
    };
    let infer =
        |file: &Path, answers: &mut Answers| one(args, file, asked, &searches, &support, answers);
    let exit = answers::for_each(&args.files, &args.common, Mode::Infer, &about_one, infer);
    support.conclude(exit)
}

/// Comes together with other processes, if there are to be any, or makes room on disk: for the
/// plain searches of the lazy engine.
fn support(
    args: &args::Infer,
    abstraction: Abstraction,
    searches: &OnceCell<Arc<Interruptible>>,
) -> Result<Result<Support, Exit>, Failure> {
    if !args.processes.is_given() {
        return Ok(Ok(Support::Nothing));
    }
    let asked = [
        ("--robust", args.robust && args.processes.spill.is_none()),
        ("--engine points", args.engine == EngineKind::Points),
        ("--engine ordering", args.engine == EngineKind::Ordering),
        ("--search sets", args.search == SearchKind::Sets),
        ("--search rows", args.search == SearchKind::Rows),
    ];
    refuse::beyond_memory(&args.processes, abstraction, &asked)?;
    let options = format!(
        "infer {:?} {:?} {} {:?} {:?}",
        args.model,
        (abstraction, args.buffers.k, args.search),
        args.stuck,
        (
            args.place,
            &args.cost,
            args.all,
            args.per_process,
            args.repair
        ),
        args.processes.kept(),
    );
    let digests = || processes::digests(&args.files, &args.common, &options);
    let searches = searches.get_or_init(Interruptible::new);
    Support::assemble(&args.processes, &args.common, searches, digests)
}

/// Infers fences for one program.
fn one(
    args: &args::Infer,
    file: &Path,
    (abstraction, strategy): (Abstraction, Strategy),
    searches: &OnceCell<Arc<Interruptible>>,
    support: &Support,
    answers: &mut Answers,
) -> Result<Exit, Failure> {
    let input = input::program_to_mend(file, &args.common, args.repair)?;
    if args.stuck {
        refuse::guesses("--stuck", input.format)?;
    }
    if input.program.has_integers() {
        let asked = [
            ("--robust", args.robust),
            ("--stuck", args.stuck),
            ("--engine points", args.engine == EngineKind::Points),
            ("--engine ordering", args.engine == EngineKind::Ordering),
            ("--search sets", args.search == SearchKind::Sets),
            ("--search rows", args.search == SearchKind::Rows),
        ];
        refuse::with_integers(abstraction, &asked)?;
    }
    // While a program is read, signals end the command.
    let searches = searches.get_or_init(Interruptible::new);
    let source = input.source.clone();
    let program = if args.per_process {
        input.program.per_process()
    } else {
        input.program.clone()
    };
    if args.emit_target == Some(Target::C11) && input.format == Format::Litmus {
        return Err(Failure::Message {
            text: "--emit-target c11 does not go with x86 assembly".to_string(),
            help: Some("its loads and stores are instructions, not C11 accesses".to_string()),
        });
    }
    let costs = costs(args, &source, &program)?;
    let mut exit = Exit::Fine;
    answers.next_program();
    answers.warn(&source, growing(&program));
    let mut failures = Vec::new();
    for model in models(args) {
        let verify = VerifyOptions {
            semantics: Semantics {
                atomics: args.common.atomics(),
                fuse: !args.common.no_fuse,
                ..Semantics::new(model, abstraction)
            },
            strategy,
            search: args.search,
            robust: args.robust,
            standstill: match args.stuck {
                true => Standstill::Stuck,
                false => Standstill::Ignored,
            },
            thresholds: args.buffers.first_thresholds(),
            join: args.buffers.join,
            threads: args.common.thread_count(),
            limits: support.limits(&args.common),
            explorer: support.explorer(),
            ..VerifyOptions::new(model, abstraction)
        };
        let mut options = InferOptions {
            engine: args.engine,
            ordering: OrderingRules {
                paths: args.paths,
                pd_prevent: args.pd_prevent,
            },
            whole: args.whole,
            pd_merge: args.pd_merge,
            all: args.all,
            why: true,
            most_nodes: args.max_formula_nodes,
            formula: args.formula,
            kinds: match args.kinds {
                KindsName::Full => None,
                KindsName::Fine => Some(args.kind_cost.unwrap_or_default()),
            },
            prune: args.prune,
            ..InferOptions::new(verify, costs.clone())
        };
        let begin = Instant::now();
        let what = format!("{} under {}", source.name(), model.upper());
        let asked = |options: &InferOptions| {
            progress::watched(&args.common, searches, &what, |monitor| {
                infer(&program, options, monitor)
            })
        };
        if model == Model::Tso {
            // It keeps stores in order as it is.
            without_releases(&program, &mut options);
        }
        let mut found = asked(&options);
        let question = Question {
            args,
            file,
            input: &input,
            source: &source,
            program: &program,
            begin,
        };
        if !question.answer(&options, &found).holds_as_typed(searches)? {
            without_releases(&program, &mut options);
            found = asked(&options);
            if let Conclusion::Placed(placed) = &mut found.conclusion {
                placed.optimality = Optimality::Unknown;
            }
        }
        let answer = question.answer(&options, &found);
        exit = exit.min(answer.exit());
        answers.warn(&source, answer.warnings());
        match args.patch {
            // Standard output has the patch alone.
            true if args.common.quiet => {}
            true => print_message(&answer.text(stderr_paint())),
            false => {
                let findings = || answer.findings(|index| answer.with_fence(index));
                let text = || answer.text(stdout_paint());
                answers.add(text, || answer.record(), findings)?;
            }
        }
        failures.extend(answer.write(searches).err());
        failures.extend(answer.certify(searches).err());
    }
    Ok(conclude(exit, &failures))
}

/// The models to answer for. What is correct under one is correct under stronger ones, so one
/// patch is for all.
fn models(args: &args::Infer) -> Vec<Model> {
    let models = args::distinct(&args.model);
    match models.iter().max() {
        Some(weakest) if args.patch => vec![*weakest],
        _ => models,
    }
}

/// Refuses outputs that are inputs or one file.
fn check_files(args: &args::Infer) -> Result<(), Failure> {
    let costs = cost_file(args).map(|path| ("the costs", path));
    let programs = args
        .files
        .iter()
        .map(|file| ("the program", file.as_path()));
    let models = args::distinct(&args.model);
    let emitted = models.iter().filter_map(|&model| emitted(args, model));
    let emitted: Vec<PathBuf> = emitted.collect();
    let outputs = emitted.iter().map(|path| ("--emit", path.as_path()));
    let certificate = args.certificate.as_deref();
    let outputs = outputs.chain(certificate.map(|path| ("--certificate", path)));
    let outputs: Vec<_> = outputs.collect();
    output::refuse_overwriting(programs.chain(costs), &outputs)
}

/// The file that a program with its fences under a model is written to. With several models, its
/// name has the model before the ending.
fn emitted(args: &args::Infer, model: Model) -> Option<PathBuf> {
    let path = args.emit.clone()?;
    if args::distinct(&args.model).len() == 1 {
        return Some(path);
    }
    let ending = path.extension().map(|ending| ending.to_string_lossy());
    let ending = ending.map_or(model.to_string(), |ending| format!("{model}.{ending}"));
    Some(path.with_extension(ending))
}

/// Refuses what does not go together.
fn check(args: &args::Infer) -> Result<(), Failure> {
    let lazy = args.engine == EngineKind::Lazy;
    if args.patch && args.common.format != AnswerFormat::Text {
        return Err(Failure::message("--patch goes with --format text"));
    }
    if args.certificate.is_some() && args.model.len() > 1 {
        return Err(Failure::message(
            "--certificate needs a single --model: the placements may differ",
        ));
    }
    if args.certificate.is_some() && args.repair != Repair::Fences {
        return Err(Failure::message(
            "--certificate is about fences: leave out --repair",
        ));
    }
    if args.certificate.is_some() && !lazy {
        return Err(Failure::message(
            "--certificate goes with --engine lazy: only its counterexamples show a lower bound",
        ));
    }
    if args.formula && lazy {
        return Err(Failure::message(
            "--formula goes with --engine points or ordering: the lazy engine has no formula",
        ));
    }
    if args.whole && lazy {
        return Err(Failure::message(
            "--whole goes with --engine points or ordering: the lazy engine labels nothing",
        ));
    }
    if args.robust && !lazy {
        return Err(Failure::message(
            "--robust goes with --engine lazy: only that compares states with those of SC",
        ));
    }
    if args.stuck && !lazy {
        return Err(Failure::message(
            "--stuck goes with --engine lazy: the others know no state but those that violate a property",
        ));
    }
    if args.stuck && args.buffers.abs == Some(AbstractionKind::Logs) {
        return Err(Failure::message(
            "--stuck does not go with --abs logs, which visits no single states",
        ));
    }
    if args.kind_cost.is_some() && args.kinds == KindsName::Full {
        return Err(Failure::message("--kind-cost goes with --kinds fine"));
    }
    Ok(())
}

/// The abstraction to begin with, and how to go on from there.
fn abstraction(args: &args::Infer) -> Result<(Abstraction, Strategy), Failure> {
    use AbstractionKind::{Exact, Fd, Logs, Set};
    match (args.buffers.abs, args.buffers.k, args.engine) {
        (Some(Set | Exact), ..) => Err(Failure::Message {
            text: "fences can be inferred under --abs fd, pd or logs only".to_string(),
            help: Some("Set is too coarse, and bounded buffers prove nothing".to_string()),
        }),
        (Some(Logs), _, EngineKind::Points | EngineKind::Ordering) => {
            Err(Failure::message("--abs logs goes with --engine lazy"))
        }
        (None | Some(Fd), None, EngineKind::Points | EngineKind::Ordering) => {
            Ok((Abstraction::Fd { k: 1 }, Strategy::Fixed))
        }
        (_, Some(Head::Auto), EngineKind::Points | EngineKind::Ordering) => {
            Err(Failure::message("--k auto goes with --engine lazy"))
        }
        _ => args.buffers.abstraction(0).map_err(Failure::message),
    }
}

/// What was asked, and about which program.
struct Question<'a> {
    args: &'a args::Infer,
    file: &'a Path,
    input: &'a Input,
    source: &'a Source,
    program: &'a Program,
    begin: Instant,
}

impl<'a> Question<'a> {
    fn answer(&self, options: &'a InferOptions, found: &'a Inference) -> InferAnswer<'a> {
        InferAnswer {
            args: self.args,
            file: self.file,
            input: self.input,
            report: InferReport {
                source: self.source,
                program: self.program,
                options,
                request: Request {
                    place: self.args.place,
                    cost: &self.args.cost,
                    per_process: self.args.per_process,
                    target: self.args.emit_target,
                },
                found,
                seconds: self.begin.elapsed().as_secs_f64(),
            },
        }
    }
}

/// Does not let stores become release.
fn without_releases(program: &Program, options: &mut InferOptions) {
    for (point, cost) in program.points.iter().zip(&mut options.costs) {
        if point.sites[0].side == Side::Release {
            *cost = None;
        }
    }
}

/// An inference about to be shown.
struct InferAnswer<'a> {
    args: &'a args::Infer,
    file: &'a Path,
    input: &'a Input,
    report: InferReport<'a>,
}

impl<'a> std::ops::Deref for InferAnswer<'a> {
    type Target = InferReport<'a>;

    fn deref(&self) -> &InferReport<'a> {
        &self.report
    }
}

impl InferAnswer<'_> {
    fn exit(&self) -> Exit {
        match self.found.conclusion {
            Conclusion::Correct(_) | Conclusion::Placed(_) => Exit::Fine,
            Conclusion::IncorrectUnderSc(..) | Conclusion::Unfixable(..) => Exit::Violated,
            Conclusion::Inconclusive(_) => Exit::Inconclusive,
        }
    }

    /// Writes the certificate of the placement.
    fn certify(&self, searches: &Interruptible) -> Result<(), Failure> {
        let (Some(path), Some(placement)) = (&self.args.certificate, self.best()) else {
            return Ok(());
        };
        let what = format!("{}: certificate", self.source.name());
        let made = progress::watched(&self.args.common, searches, &what, |monitor| {
            certificate(
                self.source,
                self.program,
                self.options,
                placement,
                &self.found.clauses,
                monitor,
            )
        });
        certificates::write(path, made)
    }
}
