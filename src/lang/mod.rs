//! The input language: text to syntax tree, checks, and back to text.

pub mod ast;
pub mod printer;
pub mod resolve;
pub mod value;
