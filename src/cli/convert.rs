//! `fencesmith convert`.

use super::args::{self, TargetName};
use super::input::{self, Input};
use super::streams::print;
use super::{Exit, Failure};
use crate::export;
use crate::export::c::COptions;
use crate::export::sequential::{Encoding, Overflow, Sequential, SequentialOptions};
use crate::import::Format;
use crate::lang::resolve::resolve;
use crate::lang::unparse;
use crate::memory::Model;
use crate::program::{FenceKind, FenceSite};
use crate::source::Source;

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

/// A program in C: as it is, or with its store buffers as variables.
fn in_c(input: &Input, args: &args::Convert) -> Result<String, Failure> {
    let (sequential, lines) = match args.model {
        None => {
            let ast = input.ast.clone().ok_or_else(no_tree)?;
            let line = format!("{}, with C11 atomics.", file_name(&input.source));
            let (room, flushers) = (None, Vec::new());
            (
                Sequential {
                    ast,
                    room,
                    flushers,
                },
                vec![line],
            )
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
