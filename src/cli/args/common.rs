//! The options of every command that searches.

use super::CArgs;
use crate::import::{Format, trencher::Together};
use crate::memory::Atomics;
use clap::{Args, ColorChoice, ValueEnum};
use std::time::Duration;

/// Options of every command that searches.
#[derive(Debug, Args)]
pub struct Common<F: ValueEnum + Send + Sync + 'static = OutputFormat> {
    /// The language of the program [default: by the file's ending, .c, .litmus, .rmm or .fen]
    #[arg(long, value_name = "LANGUAGE")]
    pub from: Option<Format>,
    /// States of Trencher automata that must not be reached together, e.g. t0:q5,t1:q5; may
    /// be given several times
    #[arg(long, value_name = "THREAD:STATE,…")]
    pub forbid: Vec<Together>,
    /// What `int` without a range means, in .fen, .rmm (also: Z) and Trencher programs: integers of
    /// 32 bits, or all integers
    #[arg(long, value_name = "WHICH", default_value = "bounded")]
    pub integers: Integers,
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
    /// What cas, swap and add wait for under PSO [default: drain-place]
    #[arg(long, value_name = "RULE")]
    pub atomics: Option<Atomics>,
    /// One instruction per step, as papers count states
    #[arg(long)]
    pub no_fuse: bool,
    /// When to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
    /// One line an answer, and no progress; warnings of what was not checked stay
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub c: CArgs,
}

/// What `int` without a range means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Integers {
    /// 32 bits, and leaving them is an error
    Bounded,
    /// All integers, as `integer`
    Unbounded,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    Text,
    Json,
}

/// What `verify` and `infer` print.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AnswerFormat {
    Text,
    Json,
    /// A SARIF log: findings with their places, and fences as fixes
    Sarif,
}

impl<F: ValueEnum + Send + Sync + 'static> Common<F> {
    pub fn atomics(&self) -> Atomics {
        self.atomics.unwrap_or(Atomics::DrainPlace)
    }

    pub fn thread_count(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(all, |threads| threads as usize)
    }
}

/// A number of bytes: `8G`, `500M`, `1048576`.
pub fn size(text: &str) -> Result<u64, String> {
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
pub fn seconds(text: &str) -> Result<Duration, String> {
    let wrong = || format!("'{text}' is not a number of seconds");
    let number: f64 = text.trim_end_matches('s').parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(number).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

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
