//! `fencesmith convert`.

use super::args::{self, TargetName};
use super::input::{self, Input};
use super::interrupt::Interruptible;
use super::streams::print;
use super::verify::limits;
use super::{Exit, Failure, progress};
use crate::export;
use crate::export::boolean::{Boolean, BooleanOptions, MOST_PREDICATES, Predicates, Refusal};
use crate::export::c::COptions;
use crate::export::sequential::{Encoding, Overflow, Sequential, SequentialOptions};
use crate::import::Format;
use crate::lang::parser::parse_predicates;
use crate::lang::resolve::resolve;
use crate::lang::unparse;
use crate::memory::Model;
use crate::program::{FenceKind, FenceSite};
use crate::source::Source;
use crate::space::Thresholds;
use crate::verify::{Verdict, VerifyOptions, verify};

/// Prints a program in another language.
pub fn run(args: &args::Convert) -> Result<Exit, Failure> {
    let input = input::program(&args.file, &args.common)?;
    let refused = |diagnostics| Failure::Program(input.source.clone(), diagnostics);
    let text = match args.to {
        TargetName::Fen if input.format == Format::Fen => input.source.text().to_string(),
        TargetName::Fen => converted(&input, &[]).ok_or_else(|| {
            Failure::message("C programs cannot be printed in the native language")
        })?,
        TargetName::Promela => {
            let options = export::promela::PromelaOptions {
                model: args.model.unwrap_or(Model::Tso),
                atomics: args.common.atomics(),
                bound: args.bound as usize,
            };
            let source = &input.source;
            export::promela::print(&input.program, source, &options).map_err(refused)?
        }
        TargetName::Rmm => export::rmm::print(&input.program, &input.source).map_err(refused)?,
        TargetName::Direct => sequential(&input, args, Encoding::Direct)?,
        TargetName::Rba => sequential(&input, args, Encoding::Rba)?,
        TargetName::Boolean => boolean(&input, args)?,
        TargetName::C => in_c(&input, args)?,
    };
    print(&text)?;
    Ok(Exit::Fine)
}

/// A program for SC with its store buffers as variables, in the native language.
fn sequential(input: &Input, args: &args::Convert, encoding: Encoding) -> Result<String, Failure> {
    let model = args.model.unwrap_or(Model::Tso);
    let Sequential { ast, room, .. } = with_buffers(input, args, model, encoding)?;
    let lines = head(input, args, model, room.as_deref());
    let lines: String = lines.iter().map(|line| format!("// {line}\n")).collect();
    Ok(format!("{lines}\n{}", unparse(&ast, &[])))
}

/// A program for SC over booleans, in the native language.
fn boolean(input: &Input, args: &args::Convert) -> Result<String, Failure> {
    let ast = input.ast.as_ref().ok_or_else(no_tree)?;
    let model = args.model.unwrap_or(Model::Tso);
    let broken = |diagnostics| Failure::Program(input.source.clone(), diagnostics);
    let symbols = resolve(ast).map_err(broken)?;
    let (predicates, file, origin) = if args.predicates.as_os_str() == "found" {
        let (found, origin) = found(input, args, model);
        (Predicates::Thresholds(found), None, origin)
    } else {
        let file = input::read(&args.predicates)?;
        let given = parse_predicates(&file);
        let given = given.map_err(|wrong| Failure::Program(file.clone(), wrong))?;
        let origin = format!("Predicates of {}.", file_name(&file));
        (Predicates::Given(given), Some(file), origin)
    };
    let options = BooleanOptions {
        model,
        atomics: args.common.atomics(),
        bound: args.bound as usize,
        predicates,
        cube: args.cubes as usize,
    };
    let translated = export::boolean::translate(ast, &symbols, &options);
    let Boolean {
        ast,
        meanings,
        room,
    } = translated.map_err(|refusal| match refusal {
        Refusal::Program(wrong) => Failure::Program(input.source.clone(), wrong),
        Refusal::Predicates(wrong) => {
            Failure::Program(file.unwrap_or_else(|| input.source.clone()), wrong)
        }
        Refusal::TooMany(count) => Failure::Message {
            text: format!("{count} predicates are too many: at most {MOST_PREDICATES} can be kept"),
            help: Some(
                "try a smaller --bound, or name those that matter: --predicates FILE".to_string(),
            ),
        },
        Refusal::TooLarge(why) => Failure::Message {
            text: format!("the program over booleans is too large: {why}"),
            help: Some("try a smaller --bound or fewer predicates".to_string()),
        },
    })?;
    let mut lines = head(input, args, model, room.as_deref());
    lines.push(origin);
    let meanings = meanings.iter();
    lines.extend(meanings.map(|(boolean, meaning)| format!("{boolean}: {meaning}")));
    let lines: String = lines.iter().map(|line| format!("// {line}\n")).collect();
    Ok(format!("{lines}\n{}", unparse(&ast, &[])))
}

/// The constants that verification of the program finds, and how it ends.
fn found(input: &Input, args: &args::Convert, model: Model) -> (Thresholds, String) {
    let mut options = VerifyOptions::refining(model);
    options.semantics.atomics = args.common.atomics();
    options.semantics.fuse = !args.common.no_fuse;
    options.limits = limits(&args.common);
    let program = input.program.fenced(&Default::default());
    let what = format!("{} under {}", input.source.name(), model.upper());
    let searches = Interruptible::new();
    let answer = progress::watched(&args.common, &searches, &what, |monitor| {
        verify(&program, &options, monitor)
    });
    let verdict = match answer.verdict {
        Verdict::Correct => "correct",
        Verdict::Violated => "violated",
        Verdict::Inconclusive(_) => "inconclusive",
    };
    let found = answer.thresholds;
    let origin = format!("Predicates by --thresholds={found}, with which it was {verdict}.");
    (found, origin)
}

/// A program in C: as it is, or with its store buffers as variables.
fn in_c(input: &Input, args: &args::Convert) -> Result<String, Failure> {
    let (sequential, lines) = match args.model {
        None => {
            let ast = input.ast.clone().ok_or_else(no_tree)?;
            let line = format!("{}, with C11 atomics.", file_name(&input.source));
            let sequential = Sequential {
                ast,
                room: None,
                flushers: Vec::new(),
                slots: Vec::new(),
                counters: Vec::new(),
            };
            (sequential, vec![line])
        }
        Some(model) => {
            let sequential = with_buffers(input, args, model, Encoding::Direct)?;
            let lines = head(input, args, model, sequential.room.as_deref());
            (sequential, lines)
        }
    };
    let broken = |diagnostics| Failure::Program(input.source.clone(), diagnostics);
    let symbols = resolve(&sequential.ast).map_err(broken)?;
    let lines: Vec<String> = lines.iter().map(|line| line.replace("*/", "* /")).collect();
    let options = COptions {
        sequential: args.model.is_some(),
        servants: sequential.flushers,
        head: format!("/* {} */", lines.join("\n   ")),
    };
    export::c::print(&sequential.ast, &symbols, &options).map_err(broken)
}

/// What the first lines of such a program say.
fn head(input: &Input, args: &args::Convert, model: Model, room: Option<&str>) -> Vec<String> {
    let from = file_name(&input.source);
    let model = model.upper();
    let overflow = room.map(|room| match args.overflow {
        Overflow::Abort => format!("A store without room fails `{room}`."),
        Overflow::Wait => format!("A store waits for `{room}`."),
    });
    let first = format!("{from} under {model}, as a program under SC.");
    [Some(first), overflow].into_iter().flatten().collect()
}

/// Such a program as a syntax tree.
fn with_buffers(
    input: &Input,
    args: &args::Convert,
    model: Model,
    encoding: Encoding,
) -> Result<Sequential, Failure> {
    let ast = input.ast.as_ref().ok_or_else(no_tree)?;
    let broken = |diagnostics| Failure::Program(input.source.clone(), diagnostics);
    let symbols = resolve(ast).map_err(broken)?;
    let options = SequentialOptions {
        model,
        atomics: args.common.atomics(),
        encoding,
        overflow: args.overflow,
        bound: args.bound as usize,
    };
    let translated = export::sequential::translate(ast, &symbols, &options);
    match resolve(&translated.ast) {
        Ok(_) => Ok(translated),
        Err(diagnostics) => Err(Failure::Message {
            text: format!(
                "the program with its buffers as variables is too large: {}",
                diagnostics.first().map_or("", |first| &first.message)
            ),
            help: Some("try a smaller --bound".to_string()),
        }),
    }
}

fn no_tree() -> Failure {
    Failure::Message {
        text: "C programs cannot be printed in this form".to_string(),
        help: Some("programs in the other languages can".to_string()),
    }
}

/// The name of a file without its folder, on one line.
fn file_name(source: &Source) -> String {
    let from = source.name();
    let name = from.rsplit(['/', '\\']).next().unwrap_or(from);
    name.replace(['\n', '\r'], " ")
}

/// A foreign program in the native language, with fences; C has no such form.
pub fn converted(input: &Input, fences: &[(FenceSite, FenceKind)]) -> Option<String> {
    let text = unparse(input.ast.as_ref()?, fences);
    let name = file_name(&input.source);
    Some(format!("// From {name}.\n\n{text}"))
}
