//! C programs.

pub mod headers;
mod insert_fences;
mod macros;
pub mod positions;
pub mod tokens;

pub use insert_fences::{FencedFile, insert_fences};

use crate::diagnostic::Diagnostic;
use crate::program::Program;
use crate::source::Span;
use positions::Preprocessed;

/// How C programs are read.
#[derive(Debug, Clone)]
pub struct Options {
    /// The most blocks of memory of each call of `malloc` in each thread.
    pub heap: usize,
}

/// The program form of a C program, or what is wrong with it.
pub fn compile(
    _preprocessed: &Preprocessed,
    _options: &Options,
) -> Result<Program, Vec<Diagnostic>> {
    let message = "C programs are not read yet";
    Err(vec![Diagnostic::error(Span::new(0, 0), message)])
}
