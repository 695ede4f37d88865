//! An independent opinion: a second, deliberately naive reading of the language and of
//! the memory models, and random programs to compare it with the tool. It shares only
//! the syntax tree with the tool.

// Each test binary uses a part of this module.
#![allow(dead_code)]

pub mod code;
pub mod eval;
pub mod generate;
pub mod interpreter;
