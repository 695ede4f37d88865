//! The input language: text to syntax tree, checks, and back to text.

pub mod ast;
pub mod lexer;
pub mod parser;
pub mod pretty;
pub mod printer;
pub(crate) mod report;
pub mod resolve;
