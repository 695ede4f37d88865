//! The arguments of `infer`.

use super::{AnswerFormat, BufferArgs, Common, EXIT_CODES, Processes, RELAXED, one_of};
use crate::c::Repair;
use crate::infer::{
    AllowedGaps, EngineKind, MOST_KIND_COST, MOST_NODES, Paths, PdMerge, PdPrevent, Prices,
};
use crate::memory::Model;
use crate::report::target::Target;
use crate::verify::SearchKind;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct Infer {
    /// Programs, and folders of them; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
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
    #[command(flatten)]
    pub buffers: BufferArgs,
    /// How placements are found
    #[arg(long, value_name = "NAME", default_value = "lazy")]
    pub engine: EngineKind,
    /// How states are searched, by the lazy engine
    #[arg(long, value_name = "SEARCH", default_value = "auto")]
    pub search: SearchKind,
    /// Where fences may stand
    #[arg(long, value_name = "WHERE", default_value = "anywhere")]
    pub place: AllowedGaps,
    /// What a fence costs: `uniform`, `loops` (ten times as much for each loop around it), or
    /// a JSON file of "line:column" to cost, for statements that begin there; others cost 1,
    /// and none more than 10^12
    #[arg(long, value_name = "COST", default_value = "uniform")]
    pub cost: String,
    /// Find every minimal placement, up to N of them
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "1000")]
    pub all: Option<usize>,
    /// Find the fewest fences that make the program robust, whatever its properties: every
    /// state in which no store is pending (control, locals and memory) is one that SC reaches
    #[arg(long, conflicts_with = "certificate")]
    pub robust: bool,
    /// Find the fewest fences with which the program is correct and is never stuck either: in a
    /// stuck state no store is pending, some process has not stopped, and those that have not
    /// can only spin
    #[arg(long, conflicts_with_all = ["robust", "certificate"])]
    pub stuck: bool,
    /// Place fences in each instance of a template separately
    #[arg(long)]
    pub per_process: bool,
    /// Show for each fence the execution that comes back without it
    #[arg(long)]
    pub why: bool,
    /// Show what becomes of locals in executions, and every local step
    #[arg(long)]
    pub locals: bool,
    /// Say which fences of the program's text can be removed
    #[arg(long)]
    pub prune: bool,
    /// Kinds of fences: `full`, or `fine` for the cheapest kinds at the chosen points that
    /// still verify
    #[arg(long, value_name = "KINDS", default_value = "full")]
    pub kinds: KindsName,
    /// What full, store-load and store-store fences cost beside one another, at most 1000,
    /// with --kinds fine [default: 3,2,1]
    #[arg(long, value_name = "FULL,SL,SS", value_parser = prices)]
    pub kind_cost: Option<Prices>,
    /// Show the formula whose solutions are the placements (engines points and ordering)
    #[arg(long)]
    pub formula: bool,
    /// Label the whole state space, and with it the states that fences which are known to be
    /// too few would reach: the same formula and placements, and the state counts of the
    /// papers, in more time (engines points and ordering)
    #[arg(long)]
    pub whole: bool,
    /// Which fences enforce an ordering (engine ordering)
    #[arg(long, value_name = "PATHS", default_value = "all")]
    pub paths: Paths,
    /// Which states are merged (engines points and ordering with --abs pd)
    #[arg(
        long,
        value_name = "STATES",
        default_value = "all",
        conflicts_with = "whole"
    )]
    pub pd_merge: PdMerge,
    /// What prevents a transition from merged states (engine ordering with --abs pd)
    #[arg(long, value_name = "RULE", default_value = "mix")]
    pub pd_prevent: PdPrevent,
    /// Give up when formulas have this many nodes (engines points and ordering)
    #[arg(long, value_name = "N", default_value_t = MOST_NODES)]
    pub max_formula_nodes: usize,
    /// What may be changed in a C program: the places of fences, the memory orders of atomic
    /// stores, or both
    #[arg(long, value_name = "WHAT", default_value = "fences")]
    pub repair: Repair,
    /// Write the program with its fences to a file; with several models, to one for each, whose
    /// name has the model before its ending. Where fences go into several files of a C program,
    /// name a folder
    #[arg(long, value_name = "FILE")]
    pub emit: Option<PathBuf>,
    /// Print the fences as a unified diff, which `patch -p0` takes, for the weakest --model; the
    /// answer goes to standard error
    #[arg(long)]
    pub patch: bool,
    /// List the instruction or call to use for each fence
    #[arg(long, value_name = "TARGET")]
    pub emit_target: Option<Target>,
    /// Write a certificate of the placement, with full fences, and of its optimality, for
    /// `check`; needs a single --model
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    #[command(flatten)]
    pub common: Common<AnswerFormat>,
    #[command(flatten)]
    pub processes: Processes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KindsName {
    Full,
    Fine,
}

/// Prices of full, store-load and store-store fences: `3,2,1`.
fn prices(text: &str) -> Result<Prices, String> {
    let price = |word: &str| {
        let price = word.trim().parse().ok();
        price.filter(|price| *price <= MOST_KIND_COST)
    };
    let prices: Option<Vec<u64>> = text.split(',').map(price).collect();
    match prices.as_deref() {
        Some(&[full, store_load, store_store]) => Ok(Prices {
            full,
            store_load,
            store_store,
        }),
        _ => Err(format!(
            "'{text}' is not three numbers from 0 to {MOST_KIND_COST} such as 3,2,1"
        )),
    }
}
