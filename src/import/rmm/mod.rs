//! Memorax machines.
//!
//! Processes have no names and become `P0`, `P1`, …; copies of one text are one template
//! whose parameter counts the processes. Data that processes own is an array with a cell
//! per process. A value outside its domain blocks the step, and a read that waits for a
//! value loops until it finds it: for the states that can be reached together, this is
//! the same as being blocked.
//!
//! A domain of all integers is the native `int`: leaving 32 bits is a runtime error. A
//! macro call is one instruction as far as fences are concerned. A process waits at
//! locked statements until all its buffers are empty.

mod location;
mod macros;
mod parse;
mod sequence;
mod translate;
mod tree;

pub use parse::RESERVED;

use super::scan::{Cursor, blank_comments, tokens};
use crate::diagnostic::Diagnostic;
use crate::lang::ast::Ast;
use crate::lang::diagnostics::Diagnostics;
use crate::source::Source;

/// Reads a machine, or says what is wrong with it.
pub fn read(source: &Source) -> Result<Ast, Vec<Diagnostic>> {
    let mut diagnostics = Diagnostics::new(20);
    let parsed = blank_comments(source.text(), "/*", "*/", false).and_then(|text| {
        let tokens = macros::expand(&tokens(&text, 0)?)?;
        parse::machine(&mut Cursor::new(&tokens))
    });
    match parsed {
        Err(error) => Err(vec![*error]),
        Ok(machine) => {
            let ast = translate::machine(&machine, &mut diagnostics);
            match diagnostics.is_empty() {
                true => Ok(ast),
                false => Err(diagnostics.finish()),
            }
        }
    }
}
