//! The arguments of every command.

mod experiment;
mod infer;

pub use experiment::{Compare, CompareFormat, Report, Sweep, SweepFormat, Tables};
pub use infer::{Infer, KindsName};

use crate::fences::FencePlace;
use crate::import::{Format, trencher::Together};
use crate::memory::{Abstraction, AbstractionKind, Atomics, Model};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

const EXIT_CODES: &str = "Exit codes:
  0  safe, or fences were placed
  1  a violation was found, or no fences can help
  2  the input or the command line is wrong
  3  inconclusive: a limit was reached, buffers were bounded, or the abstraction is too coarse";

const LITMUS_EXIT_CODES: &str = "Exit codes:
  0  all tests were run
  2  some file could not be read, or the command line is wrong
  3  a limit was reached, or buffers were bounded";

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
    /// Re-check a certificate: the placement, and that none is cheaper
    Check(Check),
    /// Run a recorded trace on the exact model and say where it stops if it does not fit
    Replay(Replay),
    /// Answer a grid of questions about many programs, and keep what was found
    Sweep(Sweep),
    /// Put the abstractions FD and PD side by side: precision, size, time
    Compare(Compare),
    /// Make one self-contained page of results
    Report(Report),
    /// Say which final states litmus tests allow, one line per test and model
    Litmus(Litmus),
    /// Print a program in another language
    Convert(Convert),
    /// Print the JSON Schema of what verify and infer print with --format json
    Schema,
    /// Print what a shell needs to complete commands and options
    Completions {
        /// The shell to print it for
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct Verify {
    /// The program; `-` is standard input
    pub file: PathBuf,
    /// Memory models to answer for
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "tso,pso",
        value_name = "MODEL"
    )]
    pub model: Vec<Model>,
    #[command(flatten)]
    pub buffers: BufferArgs,
    /// Longest store buffer of the exact models
    #[arg(long, value_name = "B", default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub bound: u64,
    /// Count all states, even behind violations
    #[arg(long)]
    pub full: bool,
    /// Look for deadlocks, too: states without a step in which some process has not stopped
    #[arg(long)]
    pub deadlock: bool,
    /// Show the counterexample (the default in text output)
    #[arg(long, overrides_with = "no_trace")]
    pub show_trace: bool,
    /// Do not show the counterexample
    #[arg(long)]
    pub no_trace: bool,
    /// Write the counterexample to a file, for `replay`; with several models, the first one
    #[arg(long, value_name = "FILE")]
    pub save_trace: Option<PathBuf>,
    /// Try fences without editing the file: where `fence;` would be typed, or
    /// LINE:COL:after for the statement that begins there
    #[arg(long, value_delimiter = ',', value_name = "LINE:COL")]
    pub fence: Vec<FencePlace>,
    #[command(flatten)]
    pub common: Common,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct Check {
    /// The program; `-` is standard input
    pub file: PathBuf,
    /// The certificate, as written by `infer --certificate`
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
        value_name = "MODEL"
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
    /// The memory model that a Promela program describes
    #[arg(long, value_name = "MODEL", default_value = "tso")]
    pub model: Model,
    /// Longest store buffer of a Promela program
    #[arg(long, value_name = "B", default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=64))]
    pub bound: u64,
    #[command(flatten)]
    pub common: Common,
}

/// How store buffers are represented.
#[derive(Debug, Args)]
pub struct BufferArgs {
    /// How store buffers are represented (to infer: fd or pd)
    #[arg(long, value_name = "NAME", default_value = "fd")]
    pub abs: AbstractionKind,
    /// Length of the ordered head of abstract buffers, or `auto` to refine FD from k = 1
    /// while counterexamples turn out not to be real [default: auto for fd, 1 for pd]
    #[arg(long, value_name = "N|auto", value_parser = head)]
    pub k: Option<Head>,
}

/// Options of every command that searches.
#[derive(Debug, Args)]
pub struct Common<F: ValueEnum + Send + Sync + 'static = OutputFormat> {
    /// The language of the program [default: by the file's ending, .litmus, .rmm or .fen]
    #[arg(long, value_name = "LANGUAGE")]
    pub from: Option<Format>,
    /// States of Trencher automata that must not be reached together, e.g. t0:q5,t1:q5; may
    /// be given several times
    #[arg(long, value_name = "THREAD:STATE,…")]
    pub forbid: Vec<Together>,
    /// What to print
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: F,
    /// Threads to use [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub threads: Option<u64>,
    /// Give up on an answer after this many states
    #[arg(long, value_name = "N")]
    pub max_states: Option<u64>,
    /// Give up on an answer at this much memory, e.g. 500M or 8G [default: nine tenths of
    /// what is free]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub max_memory: Option<u64>,
    /// Give up on an answer after this many seconds
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub timeout: Option<Duration>,
    /// What cas, swap and add wait for under PSO
    #[arg(long, value_name = "RULE", default_value = "drain-place")]
    pub atomics: Atomics,
    /// One instruction per step, as papers count states
    #[arg(long)]
    pub no_fuse: bool,
    /// When to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    /// No progress and no warnings
    #[arg(short, long)]
    pub quiet: bool,
}

/// The languages that programs can be printed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TargetName {
    Fen,
    /// For Spin, with store buffers
    Promela,
    /// For Memorax
    Rmm,
}

/// The length of the ordered head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Head {
    Auto,
    Fixed(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    Text,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

impl Arguments {
    /// Whether messages are coloured.
    pub fn stderr_color(&self) -> bool {
        match &self.command {
            Command::Verify(verify) => verify.common.stderr_color(),
            Command::Infer(infer) => infer.common.stderr_color(),
            Command::Check(check) => check.common.stderr_color(),
            Command::Replay(replay) => replay.common.stderr_color(),
            Command::Litmus(litmus) => litmus.common.stderr_color(),
            Command::Convert(convert) => convert.common.stderr_color(),
            Command::Sweep(sweep) => sweep.tables.common.stderr_color(),
            Command::Compare(compare) => compare.tables.common.stderr_color(),
            Command::Report(_) | Command::Schema | Command::Completions { .. } | Command::Man => {
                Color::Auto.on(std::io::stderr().is_terminal())
            }
        }
    }
}

impl BufferArgs {
    /// The abstraction asked for, and whether to refine it; or what is wrong with it.
    pub fn abstraction(&self, bound: usize) -> Result<(Abstraction, bool), &'static str> {
        match (self.abs, self.k) {
            (AbstractionKind::Fd, None | Some(Head::Auto)) => Ok((Abstraction::Fd { k: 1 }, true)),
            (AbstractionKind::Fd, Some(Head::Fixed(k))) => Ok((Abstraction::Fd { k }, false)),
            (AbstractionKind::Pd, None) => Ok((Abstraction::Pd { k: 1 }, false)),
            (AbstractionKind::Pd, Some(Head::Fixed(k))) => Ok((Abstraction::Pd { k }, false)),
            (AbstractionKind::Pd, Some(Head::Auto)) => Err("--k auto goes with --abs fd"),
            (AbstractionKind::Set, None) => Ok((Abstraction::Set, false)),
            (AbstractionKind::Set, Some(_)) => Err("--abs set has no --k"),
            (AbstractionKind::Exact, None) => Ok((Abstraction::Exact { bound }, false)),
            (AbstractionKind::Exact, Some(_)) => Err("--abs exact has no --k, but a --bound"),
        }
    }
}

impl Color {
    fn on(self, terminal: bool) -> bool {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        match self {
            Color::Auto => terminal && !unwanted,
            Color::Always => true,
            Color::Never => false,
        }
    }
}

impl<F: ValueEnum + Send + Sync + 'static> Common<F> {
    pub fn stdout_color(&self) -> bool {
        self.color.on(std::io::stdout().is_terminal())
    }

    pub fn stderr_color(&self) -> bool {
        self.color.on(std::io::stderr().is_terminal())
    }

    pub fn thread_count(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(all, |threads| threads as usize)
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
        let value = T::from_str(&name, false);
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

/// A number of bytes: `8G`, `500M`, `1048576`.
fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("'{text}' is not a size such as 500M or 8G");
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 1,
        "K" | "KB" | "KIB" => 1 << 10,
        "M" | "MB" | "MIB" => 1 << 20,
        "G" | "GB" | "GIB" => 1 << 30,
        "T" | "TB" | "TIB" => 1u64 << 40,
        _ => return Err(wrong()),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(unit).ok_or_else(wrong)
}

/// A time in seconds: `10`, `0.5`.
fn seconds(text: &str) -> Result<Duration, String> {
    let wrong = || format!("'{text}' is not a number of seconds");
    let number: f64 = text.trim_end_matches('s').parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(number).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn sizes_and_times() {
        assert_eq!(size("8G"), Ok(8 << 30));
        assert_eq!(size("500m"), Ok(500 << 20));
        assert_eq!(size("12"), Ok(12));
        assert!(size("-1").is_err() && size("G").is_err() && size("99999999999T").is_err());
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        assert!(seconds("-1").is_err() && seconds("nan").is_err() && seconds("x").is_err());
    }
}
