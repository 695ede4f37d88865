//! An independent opinion: a second, deliberately naive reading of the language and of
//! the memory models, and random programs to compare it with the tool. It shares only
//! the syntax tree with the tool.

mod code;
mod compound;
mod eval;
pub mod generate;
pub mod interpreter;
mod program;
mod state;
mod step;
mod stuck;
