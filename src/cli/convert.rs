//! `fencesmith convert`.

use super::args::{self, TargetName};
use super::input::{self, Input};
use super::streams::print;
use super::{Exit, Failure};
use crate::export;
use crate::import::Format;
use crate::lang::unparse;
use crate::program::{FenceKind, FenceSite};

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
                model: args.model,
                atomics: args.common.atomics(),
                bound: args.bound as usize,
            };
            let source = &input.source;
            export::promela::print(&input.program, source, &options).map_err(refused)?
        }
        TargetName::Rmm => export::rmm::print(&input.program, &input.source).map_err(refused)?,
    };
    print(&text)?;
    Ok(Exit::Fine)
}

/// A foreign program in the native language, with fences; C has no such form.
pub fn converted(input: &Input, fences: &[(FenceSite, FenceKind)]) -> Option<String> {
    let from = input.source.name();
    let name = from.rsplit(['/', '\\']).next().unwrap_or(from);
    let text = unparse(input.ast.as_ref()?, fences);
    let name = name.replace(['\n', '\r'], " ");
    Some(format!("// From {name}.\n\n{text}"))
}
