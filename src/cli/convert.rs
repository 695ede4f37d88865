//! `fencesmith convert`.

use super::args::{self, TargetName};
use super::input::{self, Input};
use super::streams::print;
use super::{Exit, Failure};
use crate::export;
use crate::export::sequential::{Encoding, Overflow, SequentialOptions};
use crate::import::Format;
use crate::lang::ast::Ast;
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
    };
    print(&text)?;
    Ok(Exit::Fine)
}

/// A program for SC with its store buffers as variables, in the native language.
fn sequential(input: &Input, args: &args::Convert, encoding: Encoding) -> Result<String, Failure> {
    let model = args.model.unwrap_or(Model::Tso);
    let ast = with_buffers(input, args, model, encoding)?;
    let from = file_name(&input.source);
    let overflow = match (model, args.overflow) {
        (Model::Sc, _) => String::new(),
        (_, Overflow::Abort) => {
            "\n// A store without room fails `pending < buffer_bound`.".to_string()
        }
        (_, Overflow::Wait) => "\n// A store without room waits for a flush.".to_string(),
    };
    let model = model.upper();
    let head = format!("// {from} under {model}, as a program under SC.{overflow}");
    Ok(format!("{head}\n\n{}", unparse(&ast, &[])))
}

/// The syntax tree of such a program.
fn with_buffers(
    input: &Input,
    args: &args::Convert,
    model: Model,
    encoding: Encoding,
) -> Result<Ast, Failure> {
    let no_tree = || Failure::Message {
        text: "C programs cannot be printed with their buffers as variables".to_string(),
        help: Some("the other languages can".to_string()),
    };
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
    match resolve(&translated) {
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
