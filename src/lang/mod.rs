//! The input language: text to syntax tree, checks, and back to text.

pub mod ast;
pub(crate) mod diagnostics;
pub(crate) mod insert_fences;
pub mod lexer;
pub mod parser;
pub mod resolve;
mod substitute;
mod unbounded;
mod unparse;

pub use insert_fences::insert_fences;
pub use substitute::substitute;
pub use unbounded::unbounded;
pub use unparse::{expr as expression_text, unparse};
