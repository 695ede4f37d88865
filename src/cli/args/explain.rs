//! The arguments of `explain`.

use super::{Common, EXIT_CODES};
use crate::fences::FencePlace;
use crate::memory::Model;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct Explain {
    /// The program
    pub file: PathBuf,
    /// The memory model; that of the trace, if there is one [default: tso]
    #[arg(long, value_name = "MODEL", ignore_case = true)]
    pub model: Option<Model>,
    /// A counterexample to follow, as written by `verify --save-trace`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["model", "fence", "atomics", "no_fuse"])]
    pub trace: Option<PathBuf>,
    /// Fences to try, as with `verify`
    #[arg(long, value_delimiter = ',', value_name = "LINE:COL")]
    pub fence: Vec<FencePlace>,
    #[command(flatten)]
    pub common: Common,
}
