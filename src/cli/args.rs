//! The arguments of every command.

mod buffers;
mod c;
mod common;
mod experiment;
mod explain;
mod formats;
mod infer;
mod processes;

pub use buffers::Buffers;
pub use c::CArgs;
pub use common::{AnswerFormat, Common, Integers, OutputFormat};
pub use experiment::{CellArgs, Compare, CompareFormat, Report, Sweep, SweepFormat};
pub use explain::Explain;
pub use formats::{Convert, Litmus, TargetName};
pub use infer::{Infer, KindsName};
pub use processes::{Member, Others, Processes};

use crate::fences::FencePlace;
use crate::memory::{Abstraction, AbstractionKind, Model};
use crate::space::Thresholds;
use crate::verify::{FIRST_WIDENING, SearchKind, Strategy};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ColorChoice, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// The reference of the input language.
pub const LANGUAGE: &str = include_str!("../../docs/language.md");

const EXIT_CODES: &str = "Exit codes:
  0  safe, or fences were placed
  1  a violation was found, or no fences can help
  2  the input or the command line is wrong
  3  inconclusive: a limit was reached, buffers were bounded, or the abstraction is too coarse";

const CHECK_EXIT_CODES: &str = "Exit codes:
  0  the certificate holds
  1  the certificate is rejected
  2  the input or the command line is wrong
  3  inconclusive: a limit was reached before the proof was done again";

#[derive(Debug, Parser)]
#[command(
    name = "fencesmith",
    version,
    about = "Proves small concurrent programs correct under SC, TSO and PSO, shows how they break, and finds the fewest fences that mend them",
    after_help = EXIT_CODES
)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Prove a program correct, or show an execution that breaks it
    Verify(Verify),
    /// Find the fewest fences that make a program correct, and prove that they do
    Infer(Infer),
    /// Re-check a certificate: that a program is correct, or a placement and that none is cheaper
    Check(Check),
    /// Run a recorded trace on the exact model and say where it stops if it does not fit
    Replay(Replay),
    /// Take the steps of an execution by hand, or follow a counterexample
    Explain(Explain),
    /// Answer a grid of questions about many programs, and keep what was found
    Sweep(Sweep),
    /// Put the abstractions FD and PD side by side: precision, size, time
    Compare(Compare),
    /// Make one self-contained page of results
    Report(Report),
    /// Say how long the store buffers of a program get, and which loops fill them without end
    Buffers(Buffers),
    /// Say which final states litmus tests allow, one line per test and model
    Litmus(Litmus),
    /// Print a program in another language
    Convert(Convert),
    /// Take part in a run of another process
    #[command(hide = true)]
    Member(Member),
    /// Print the reference of the input language
    #[command(long_about = LANGUAGE)]
    Language,
    /// Print the JSON Schema of what verify, infer and buffers print with --format json
    Schema,
    /// Print what a shell needs to complete commands and options
    Completions {
        /// The shell to print it for
        shell: clap_complete::Shell,
    },
    /// Print the manual page, of one command if it is named
    Man {
        /// The command
        command: Option<String>,
    },
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct Verify {
    /// Programs, and folders of them; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Memory models to answer for
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "tso,pso",
        value_name = "MODEL",
        ignore_case = true
    )]
    pub model: Vec<Model>,
    #[command(flatten)]
    pub buffers: BufferArgs,
    /// Longest store buffer of the exact models
    #[arg(long, value_name = "B", default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub bound: u64,
    /// How states are searched; --full is never by sets, and --abs pd is always plain
    #[arg(long, value_name = "SEARCH", default_value = "auto")]
    pub search: SearchKind,
    /// Tell states apart that differ only in who is who, in the search by sets
    #[arg(long)]
    pub no_symmetry: bool,
    /// Count all states, even behind violations
    #[arg(long)]
    pub full: bool,
    /// Look for deadlocks, too: states without a step in which some process has not stopped
    #[arg(long)]
    pub deadlock: bool,
    /// Look for states, too, that are stuck: no store is pending, some process has not stopped,
    /// and those that have not can only spin; every deadlock is one
    #[arg(long)]
    pub stuck: bool,
    /// Ask for robustness instead of properties: is every state in which no store is pending
    /// (control, locals and memory) one that SC reaches, too?
    #[arg(long, conflicts_with_all = ["deadlock", "stuck", "full", "save_trace", "certificate"])]
    pub robust: bool,
    /// Show the counterexample (the default in text output)
    #[arg(long, overrides_with = "no_trace")]
    pub show_trace: bool,
    /// Do not show the counterexample
    #[arg(long)]
    pub no_trace: bool,
    /// Show what becomes of locals in the counterexample, and every local step
    #[arg(long)]
    pub locals: bool,
    /// Write the counterexample to a file, for `replay`; with several models, the first one
    #[arg(long, value_name = "FILE")]
    pub save_trace: Option<PathBuf>,
    /// Write a picture of the counterexample to a file, for Graphviz
    #[arg(long, value_name = "FILE")]
    pub dot: Option<PathBuf>,
    /// The same as SVG
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Write a certificate of correctness, for `check`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["full", "deadlock", "stuck", "no_symmetry"])]
    pub certificate: Option<PathBuf>,
    /// Try fences without editing the file: where `fence;` would be typed, or
    /// LINE:COL:after for the statement that begins there; in an included file, FILE:LINE:COL
    #[arg(long, value_delimiter = ',', value_name = "LINE:COL")]
    pub fence: Vec<FencePlace>,
    #[command(flatten)]
    pub common: Common<AnswerFormat>,
    #[command(flatten)]
    pub processes: Processes,
}

#[derive(Debug, Args)]
#[command(
    after_help = CHECK_EXIT_CODES,
    mut_arg("atomics", |arg| arg.help(
        "Accept only a certificate about this treatment of cas, swap and add; otherwise its own is used, and named"
    )),
    mut_arg("no_fuse", |arg| arg.help(
        "Accept only a certificate about one instruction per step; otherwise its own steps are used, and named"
    ))
)]
pub struct Check {
    /// The program; `-` is standard input
    pub file: PathBuf,
    /// The certificate, as written by `verify` or `infer` with --certificate
    #[arg(long, value_name = "FILE")]
    pub certificate: PathBuf,
    #[command(flatten)]
    pub common: Common,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct Replay {
    /// The program; `-` is standard input
    pub file: PathBuf,
    /// The trace, as written by `verify --save-trace`
    #[arg(long, value_name = "FILE")]
    pub trace: PathBuf,
    #[command(flatten)]
    pub common: Common,
}

/// How store buffers are represented.
#[derive(Debug, Args)]
pub struct BufferArgs {
    /// How store buffers are represented (to infer: fd, pd or logs) [default: fd with growing k
    /// and logs in turn, until one of them is certain]
    #[arg(long, value_name = "NAME")]
    pub abs: Option<AbstractionKind>,
    /// Length of the ordered head of abstract buffers, or `auto` to refine FD from k = 1
    /// while counterexamples turn out not to be real [default: auto for fd, 1 for pd]
    #[arg(long, value_name = "N|auto", value_parser = head)]
    pub k: Option<Head>,
    /// Say which constants integers without bound were compared with; with a value, begin with
    /// these: those for differences, a slash, those for single integers, as in `-1,0/0`
    #[arg(long, value_name = "SET", num_args = 0..=1, require_equals = true)]
    pub thresholds: Option<Option<Thresholds>>,
    /// Keep all integers without bound of one state of the rest together: coarser, and fewer
    /// states
    #[arg(long)]
    pub join: bool,
}

/// The length of the ordered head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Head {
    Auto,
    Fixed(usize),
}

impl Arguments {
    /// When to use colours.
    pub fn color(&self) -> ColorChoice {
        match &self.command {
            Command::Verify(verify) => verify.common.color,
            Command::Infer(infer) => infer.common.color,
            Command::Check(check) => check.common.color,
            Command::Replay(replay) => replay.common.color,
            Command::Explain(explain) => explain.common.color,
            Command::Buffers(buffers) => buffers.common.color,
            Command::Litmus(litmus) => litmus.common.color,
            Command::Convert(convert) => convert.common.color,
            Command::Sweep(sweep) => sweep.cells.common.color,
            Command::Compare(compare) => compare.cells.common.color,
            Command::Report(_)
            | Command::Member(_)
            | Command::Language
            | Command::Schema
            | Command::Completions { .. }
            | Command::Man { .. } => ColorChoice::Auto,
        }
    }
}

impl BufferArgs {
    /// The thresholds to begin with.
    pub fn first_thresholds(&self) -> Thresholds {
        self.thresholds.clone().flatten().unwrap_or_default()
    }

    /// The abstraction to begin with, and how to go on from there; or what is wrong with it.
    pub fn abstraction(&self, bound: usize) -> Result<(Abstraction, Strategy), &'static str> {
        use AbstractionKind::{Exact, Fd, Logs, Pd, Set};
        let widening = FIRST_WIDENING;
        Ok(match (self.abs, self.k) {
            (None, None) => (Abstraction::Fd { k: 1 }, Strategy::Portfolio),
            (None | Some(Fd), Some(Head::Fixed(k))) => (Abstraction::Fd { k }, Strategy::Fixed),
            (None | Some(Fd), _) => (Abstraction::Fd { k: 1 }, Strategy::Refine),
            (Some(Pd), None) => (Abstraction::Pd { k: 1 }, Strategy::Fixed),
            (Some(Pd), Some(Head::Fixed(k))) => (Abstraction::Pd { k }, Strategy::Fixed),
            (Some(Pd), Some(Head::Auto)) => return Err("--k auto goes with --abs fd"),
            (Some(Set), None) => (Abstraction::Set, Strategy::Fixed),
            (Some(Set), Some(_)) => return Err("--abs set has no --k"),
            (Some(Logs), None) => (Abstraction::Logs { widening }, Strategy::Refine),
            (Some(Logs), Some(_)) => return Err("--abs logs has no --k"),
            (Some(Exact), None) => (Abstraction::Exact { bound }, Strategy::Fixed),
            (Some(Exact), Some(_)) => return Err("--abs exact has no --k, but a --bound"),
        })
    }
}

/// The models asked for, each once.
pub fn distinct<T: PartialEq + Copy>(models: &[T]) -> Vec<T> {
    let mut distinct = Vec::new();
    for model in models {
        if !distinct.contains(model) {
            distinct.push(*model);
        }
    }
    distinct
}

/// Reads one of some values by its name; help shows their names alone.
fn one_of<T>(values: &'static [T]) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + ValueEnum,
{
    let names = values.iter().filter_map(T::to_possible_value);
    PossibleValuesParser::new(names).map(|name| {
        let value = T::from_str(&name, true);
        value.expect("only the names of values are let through")
    })
}

/// The models under which fences make a difference.
const RELAXED: &[Model] = &[Model::Tso, Model::Pso];

/// A head length: `auto` or a number.
fn head(text: &str) -> Result<Head, String> {
    match text.parse() {
        _ if text == "auto" => Ok(Head::Auto),
        Ok(k) if k <= 1000 => Ok(Head::Fixed(k)),
        _ => Err(format!(
            "'{text}' is neither `auto` nor a number from 0 to 1000"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn arguments_are_consistent() {
        Arguments::command().debug_assert();
    }
}
