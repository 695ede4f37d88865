//! The arguments of `litmus` and `convert`.

use super::{Common, EXIT_CODES};
use crate::export::sequential::Overflow;
use crate::memory::Model;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

const LITMUS_EXIT_CODES: &str = "Exit codes:
  0  all tests were run
  2  some file could not be read, or the command line is wrong
  3  a limit was reached, or buffers were bounded";

#[derive(Debug, Args)]
#[command(after_help = LITMUS_EXIT_CODES)]
pub struct Litmus {
    /// Tests, and folders to search for files that end in `.litmus`
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Memory models to answer for
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "sc,tso,pso",
        value_name = "MODEL",
        ignore_case = true
    )]
    pub model: Vec<Model>,
    /// Show the final states, too
    #[arg(long)]
    pub states: bool,
    /// Longest store buffer of tests with loops; others need none
    #[arg(long, value_name = "B", default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub bound: u64,
    #[command(flatten)]
    pub common: Common,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct Convert {
    /// The program; `-` is standard input
    pub file: PathBuf,
    /// The language to print it in
    #[arg(long, value_name = "LANGUAGE", default_value = "fen")]
    pub to: TargetName,
    /// The memory model that the printed program describes itself, with buffers in its variables
    /// [default: tso; c: none]
    #[arg(long, value_name = "MODEL", ignore_case = true)]
    pub model: Option<Model>,
    /// Longest store buffer of such a program
    #[arg(long, value_name = "B", default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=64))]
    pub bound: u64,
    /// What a store does that finds no room, in direct, rba and c
    #[arg(long, value_name = "WHAT", default_value = "abort")]
    pub overflow: Overflow,
    /// What becomes booleans, in boolean: the predicates of a file, each with a semicolon behind
    /// it, or `found` for the bounds that verification finds
    #[arg(long, value_name = "FILE|found", default_value = "found")]
    pub predicates: PathBuf,
    /// The most predicates that are looked at together to tell another one, in boolean
    #[arg(long, value_name = "L", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=4))]
    pub cubes: u64,
    #[command(flatten)]
    pub common: Common,
}

/// The languages that programs can be printed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TargetName {
    Fen,
    /// For Spin, with store buffers
    Promela,
    /// For Memorax
    Rmm,
    /// The native language under SC, with store buffers that shift
    Direct,
    /// The same with store buffers that never shift
    Rba,
    /// The native language under SC, with predicates on integers as booleans
    Boolean,
    /// C with pthreads and assert: with C11 atomics, or with the store buffers of a --model
    C,
}
