//! Reading files.

use super::Failure;
use super::args::Common;
use crate::import::{self, Format};
use crate::lang::ast::Ast;
use crate::lang::resolve::resolve;
use crate::lower::lower;
use crate::program::Program;
use crate::source::Source;
use clap::ValueEnum;
use std::io::Read;
use std::path::Path;

/// The largest file that is read.
const MAX_BYTES: u64 = 64 << 20;

/// Reads a text file, or standard input for `-`.
pub fn read(path: &Path) -> Result<Source, Failure> {
    let stdin = path.as_os_str() == "-";
    let name = if stdin {
        "<stdin>".into()
    } else {
        path.display().to_string()
    };
    let mut bytes = Vec::new();
    let read = match stdin {
        true => std::io::stdin().take(MAX_BYTES + 1).read_to_end(&mut bytes),
        false => std::fs::File::open(path)
            .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes)),
    };
    read.map_err(|error| Failure::message(format!("cannot read '{name}': {error}")))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Failure::message(format!("'{name}' is larger than 64 MiB")));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let good = String::from_utf8_lossy(&error.as_bytes()[..at]).into_owned();
        let position = Source::new("", good.clone()).position(good.len() as u32);
        Failure::message(format!("'{name}' is not UTF-8 text: see {name}:{position}"))
    })?;
    Ok(Source::new(name, text))
}

/// A program that was read.
pub struct Input {
    pub source: Source,
    pub format: Format,
    pub ast: Ast,
    pub program: Program,
}

/// Reads and compiles a program in any language.
pub fn program<F>(path: &Path, common: &Common<F>) -> Result<Input, Failure>
where
    F: ValueEnum + Send + Sync,
{
    let format = common.from.map_or_else(|| Format::of(path), Into::into);
    if !common.forbid.is_empty() && format != Format::Trencher {
        return Err(Failure::Message {
            text: "--forbid goes with --from trencher".to_string(),
            help: Some("other formats state what is forbidden themselves".to_string()),
        });
    }
    let source = read(path)?;
    let compiled = import::read(format, &source, &common.forbid)
        .and_then(|ast| resolve(&ast).map(|symbols| (lower(&ast, &symbols), ast)));
    match compiled {
        Ok((program, ast)) => Ok(Input {
            source,
            format,
            ast,
            program,
        }),
        Err(diagnostics) => Err(Failure::Program(source, diagnostics)),
    }
}

/// Reads results, however large they are.
pub fn read_results(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| Failure::file("read", path, &error))
}
