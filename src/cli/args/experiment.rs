//! The arguments of `sweep`, `compare` and `report`.

use super::common::{Common, size};
use super::{Others, RELAXED, one_of};
use crate::infer::EngineKind;
use crate::memory::{AbstractionKind, Model};
use crate::record::Mode;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

const EXIT_CODES: &str = "Exit codes:
  0  every cell was answered, whatever the answer
  2  the command line is wrong, or a program is: the others are answered all the same
  3  interrupted, a process was lost, or some cell ended at a limit";

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct Sweep {
    #[command(flatten)]
    pub cells: CellArgs<SweepFormat>,
    /// What to do with each program
    #[arg(long, value_name = "MODE", default_value = "verify")]
    pub mode: Mode,
    /// Memory models
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "pso",
        value_name = "MODEL",
        ignore_case = true,
        value_parser = one_of(RELAXED)
    )]
    pub model: Vec<Model>,
    /// How store buffers are represented [default: set,fd,pd to verify, fd,pd to infer]
    #[arg(long, value_delimiter = ',', value_name = "NAME", value_parser = one_of(SWEPT))]
    pub abs: Vec<AbstractionKind>,
    /// Lengths of the ordered head: `0..=3`, `0,2`, or `auto` to refine FD
    #[arg(long, value_name = "K", default_value = "0..=3", value_parser = heads)]
    pub k: Heads,
    /// How placements are found, with --mode infer [default: lazy]
    #[arg(long, value_name = "NAME")]
    pub engine: Option<EngineKind>,
    /// Find every minimal placement, up to N of them, with --mode infer
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "1000")]
    pub all: Option<usize>,
    /// Count all states, even behind violations, with --mode verify
    #[arg(long)]
    pub full: bool,
    /// States that are stuck are violations, too
    #[arg(long)]
    pub stuck: bool,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct Compare {
    #[command(flatten)]
    pub cells: CellArgs<CompareFormat>,
    /// Memory models
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "pso",
        value_name = "MODEL",
        ignore_case = true,
        value_parser = one_of(RELAXED)
    )]
    pub model: Vec<Model>,
    /// Lengths of the ordered head: `0..=3`, `0,2`
    #[arg(long, value_name = "K", default_value = "0..=3", value_parser = heads)]
    pub k: Heads,
    /// Compare the state spaces of the programs with the fewest fences that they need: is that
    /// proved, and with how many states?
    #[arg(long)]
    pub fenced: bool,
}

/// What commands that answer many cells have in common.
#[derive(Debug, Args)]
pub struct CellArgs<F: ValueEnum + Send + Sync + 'static> {
    /// Programs, and folders of them
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Keep every answer in this folder as soon as it is known, and tables at the end
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Go on with what --out holds: what was answered is not asked again
    #[arg(long, requires = "out")]
    pub resume: bool,
    /// Memory for all cells together, e.g. 16G [default: nine tenths of what is free]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub memory: Option<u64>,
    #[command(flatten)]
    pub others: Others,
    #[command(flatten)]
    pub common: Common<F>,
}

#[derive(Debug, Args)]
pub struct Report {
    /// Folders written by `sweep` or `compare`, JSON written by `verify` and `infer`, and saved
    /// traces
    #[arg(required = true)]
    pub results: Vec<PathBuf>,
    /// The page to write
    #[arg(long, value_name = "FILE")]
    pub html: PathBuf,
    /// The heading of the page
    #[arg(long, value_name = "TEXT", default_value = "fencesmith report")]
    pub title: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SweepFormat {
    Text,
    Markdown,
    Csv,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    Text,
    Markdown,
    Json,
}

/// Lengths of the head, each once, smallest first; `None` is `auto`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heads(pub Vec<Option<usize>>);

/// The representations that a sweep can put side by side.
const SWEPT: &[AbstractionKind] = &[
    AbstractionKind::Set,
    AbstractionKind::Fd,
    AbstractionKind::Pd,
    AbstractionKind::Logs,
];

/// The largest k that can be asked for.
const MAX_K: usize = 1000;

/// Head lengths: `0..=3`, `0..4`, `1`, `0,2`, `auto`.
fn heads(text: &str) -> Result<Heads, String> {
    let wrong = || {
        format!("'{text}' is not a list of numbers up to {MAX_K} such as 0..=3 or 0,2, or `auto`")
    };
    let number = |text: &str| match text.trim().parse::<usize>() {
        Ok(k) if k <= MAX_K => Ok(k),
        _ => Err(wrong()),
    };
    let mut all = Vec::new();
    for word in text.split(',').map(str::trim) {
        if let Some((low, high)) = word.split_once("..=") {
            all.extend((number(low)?..=number(high)?).map(Some));
        } else if let Some((low, high)) = word.split_once("..") {
            all.extend((number(low)?..number(high)?).map(Some));
        } else if word == "auto" {
            all.push(None);
        } else {
            all.push(Some(number(word)?));
        }
    }
    all.sort_by_key(|k| k.unwrap_or(usize::MAX));
    all.dedup();
    match all.is_empty() {
        true => Err(wrong()),
        false => Ok(Heads(all)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_lengths() {
        let cases = [
            ("0..=3", vec![Some(0), Some(1), Some(2), Some(3)]),
            ("0..2", vec![Some(0), Some(1)]),
            ("auto,2,0", vec![Some(0), Some(2), None]),
            ("1,1..=2", vec![Some(1), Some(2)]),
        ];
        for (text, expected) in cases {
            assert_eq!(heads(text), Ok(Heads(expected)), "{text}");
        }
        for text in ["", "3..=1", "1..1", "-1", "x", "0..=1001", "0..=", "0,,1"] {
            assert!(heads(text).is_err(), "{text}");
        }
    }
}
