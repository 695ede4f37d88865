//! Reading files.

use super::Failure;
use super::args::{CArgs, Common, Integers};
use super::preprocess::preprocess;
use crate::c::{self, Repair, positions::Preprocessed};
use crate::import::{self, Format};
use crate::lang::ast::Ast;
use crate::lang::resolve::resolve;
use crate::lang::unbounded;
use crate::lower::lower;
use crate::program::Program;
use crate::source::Source;
use clap::ValueEnum;
use std::io::Read;
use std::path::Path;

/// The largest file that is read.
const MAX_BYTES: u64 = 64 << 20;

/// The most blocks of each call of malloc in each thread, unless it is given.
const DEFAULT_HEAP: u64 = 4;

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
    /// C programs have none.
    pub ast: Option<Ast>,
    pub program: Program,
}

/// Reads and compiles a program in any language.
pub fn program<F>(path: &Path, common: &Common<F>) -> Result<Input, Failure>
where
    F: ValueEnum + Send + Sync,
{
    program_to_mend(path, common, Repair::Fences)
}

/// The same; `repair` says what may be changed in a C program.
pub fn program_to_mend<F>(path: &Path, common: &Common<F>, repair: Repair) -> Result<Input, Failure>
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
    if common.c.is_given() && format != Format::C {
        return Err(Failure::Message {
            text: "-D, -U, -I, --include and --heap go with C programs".to_string(),
            help: Some("a program in C ends in .c, or is named by --from c".to_string()),
        });
    }
    if repair != Repair::Fences && format != Format::C {
        return Err(Failure::Message {
            text: "--repair orders and --repair any go with C programs".to_string(),
            help: Some("other languages have no memory orders".to_string()),
        });
    }
    if format == Format::C {
        return compile_c(&preprocess(path, &common.c)?, &common.c, repair);
    }
    let source = read(path)?;
    let compiled = import::read(format, &source, &common.forbid)
        .map(|ast| match common.integers {
            Integers::Bounded => ast,
            Integers::Unbounded => unbounded(ast),
        })
        .and_then(|ast| resolve(&ast).map(|symbols| (lower(&ast, &symbols), ast)));
    match compiled {
        Ok((program, ast)) => Ok(Input {
            source,
            format,
            ast: Some(ast),
            program,
        }),
        Err(diagnostics) => Err(Failure::Program(source, diagnostics)),
    }
}

/// Compiles a C program.
pub fn compile_c(
    preprocessed: &Preprocessed,
    args: &CArgs,
    repair: Repair,
) -> Result<Input, Failure> {
    let options = c::Options {
        heap: args.heap.unwrap_or(DEFAULT_HEAP) as u32,
        repair,
        ..c::Options::default()
    };
    let source = preprocessed.source().clone();
    match c::compile(preprocessed, &options) {
        Ok(program) => Ok(Input {
            source,
            format: Format::C,
            ast: None,
            program,
        }),
        Err(diagnostics) => Err(Failure::Program(source, diagnostics)),
    }
}

/// Reads results, however large they are.
pub fn read_results(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| Failure::file("read", path, &error))
}
