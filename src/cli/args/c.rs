//! The options of C programs.

use clap::Args;
use std::path::PathBuf;

/// How C programs are preprocessed and read.
#[derive(Debug, Args)]
#[command(next_help_heading = "C programs")]
pub struct CArgs {
    /// Define a macro
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub define: Vec<String>,
    /// Undefine a macro
    #[arg(short = 'U', value_name = "NAME")]
    pub undefine: Vec<String>,
    /// Look for included files here, too
    #[arg(short = 'I', value_name = "DIR")]
    pub include_dir: Vec<PathBuf>,
    /// Include a file before the first line; `-include` is the same
    #[arg(long, value_name = "FILE")]
    pub include: Vec<PathBuf>,
    /// Blocks of memory that each call of malloc in each thread may have at a time [default: 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=64))]
    pub heap: Option<u64>,
}

impl CArgs {
    /// Whether any of them is given.
    pub fn is_given(&self) -> bool {
        let lists = [self.define.is_empty(), self.undefine.is_empty()];
        let paths = [self.include_dir.is_empty(), self.include.is_empty()];
        lists.iter().chain(&paths).any(|empty| !empty) || self.heap.is_some()
    }
}
