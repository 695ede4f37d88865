//! The arguments of `buffers`.

use super::{Common, RELAXED, one_of};
use crate::memory::Model;
use clap::Args;
use std::path::PathBuf;

const EXIT_CODES: &str = "Exit codes:
  0  every buffer has a longest length, and it is known
  1  some buffer is unbounded
  2  the input or the command line is wrong
  3  not known: a limit was reached, or longer buffers than --bound are needed";

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct Buffers {
    /// The program; `-` is standard input
    pub file: PathBuf,
    /// Memory models to answer for
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "tso,pso",
        value_name = "MODEL",
        ignore_case = true,
        value_parser = one_of(RELAXED)
    )]
    pub model: Vec<Model>,
    /// Longest store buffer to try
    #[arg(long, value_name = "B", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub bound: u64,
    #[command(flatten)]
    pub common: Common,
}
