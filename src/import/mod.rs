//! Programs in other formats, read as the native syntax tree.
//!
//! Every importer has a small tree of its own and says it in the native language, with
//! spans that point into the foreign file. Everything behind the parser then works
//! unchanged: checks, fence points, traces and placements speak of the foreign text. What
//! is not understood is an error that names it; nothing is skipped in silence.
//!
//! One foreign instruction is one statement, or a `nofence` block if it takes several, so
//! that a fence can stand wherever the foreign language has room for one and nowhere else.

pub(crate) mod build;
pub mod litmus;
pub(crate) mod names;
pub mod rmm;
mod scan;
pub mod trencher;

use crate::diagnostic::Diagnostic;
use crate::lang::ast::Ast;
use crate::lang::parser::parse;
use crate::names::named_enum;
use crate::source::{Source, Span};
use std::path::Path;

named_enum! {
    /// The languages that can be read.
    pub enum Format: "language" {
        /// The native language
        Fen = "fen",
        /// C11
        C = "c",
        /// x86 litmus tests
        Litmus = "litmus",
        /// Memorax machines
        Rmm = "rmm",
        /// Trencher automata
        Trencher = "trencher",
    }
}

impl Format {
    /// The format of a file, by its ending; native unless the ending says otherwise.
    pub fn of(path: &Path) -> Format {
        let ending = path.extension().and_then(|ending| ending.to_str());
        match ending.map(str::to_ascii_lowercase).as_deref() {
            Some("c") => Format::C,
            Some("litmus") => Format::Litmus,
            Some("rmm") => Format::Rmm,
            _ => Format::Fen,
        }
    }
}

/// Larger foreign files are refused.
const LARGEST: usize = 16 << 20;

/// Reads a program, or says what is wrong with it; C has a module of its own. `forbid` names states of Trencher
/// automata that must not be reached together.
pub fn read(
    format: Format,
    source: &Source,
    forbid: &[trencher::Together],
) -> Result<Ast, Vec<Diagnostic>> {
    if format != Format::Fen && source.text().len() > LARGEST {
        let message = "the file is larger than 16 MiB";
        return Err(vec![Diagnostic::error(Span::new(0, 0), message)]);
    }
    match format {
        Format::Fen => parse(source),
        Format::C => {
            let message = "a C program has to be preprocessed and compiled";
            Err(vec![Diagnostic::error(Span::new(0, 0), message)])
        }
        Format::Litmus => litmus::read(source).map(|test| test.ast),
        Format::Rmm => rmm::read(source),
        Format::Trencher => trencher::read(source, forbid),
    }
}
