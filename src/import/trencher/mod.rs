//! Trencher automata: threads with states and transitions.
//!
//! A state becomes a label, a transition a statement and a jump. Memory is one array with
//! a cell per address, registers are locals; all of them are 32-bit integers, and leaving
//! those is a runtime error. `lock … unlock` is an atomic block. The format has no
//! property; states that must not be reached together are named from outside.

mod automaton;
mod parse;
mod waiting;

use crate::diagnostic::Diagnostic;
use crate::lang::ast::Ast;
use crate::lang::diagnostics::Diagnostics;
use crate::source::Source;
use std::str::FromStr;

/// States that must not be reached together: `t0:q5,t1:q5`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Together(pub Vec<(String, String)>);

impl FromStr for Together {
    type Err = String;

    fn from_str(text: &str) -> Result<Together, String> {
        let state = |part: &str| {
            let (thread, state) = part.trim().rsplit_once(':')?;
            let named = !thread.is_empty() && !state.is_empty();
            named.then(|| (thread.to_string(), state.to_string()))
        };
        let states: Option<Vec<_>> = text.split(',').map(state).collect();
        let states = states.filter(|states| !states.is_empty());
        states
            .map(Together)
            .ok_or_else(|| format!("'{text}' is not a list of THREAD:STATE, such as t0:q5,t1:q5"))
    }
}

/// Reads automata, or says what is wrong with them.
pub fn read(source: &Source, forbid: &[Together]) -> Result<Ast, Vec<Diagnostic>> {
    let mut diagnostics = Diagnostics::new(20);
    let file = parse::file(source, &mut diagnostics);
    if diagnostics.is_empty() {
        let ast = automaton::translate(&file, forbid, &mut diagnostics);
        if diagnostics.is_empty() {
            return Ok(ast);
        }
    }
    Err(diagnostics.finish())
}
