//! Searching with several processes, or with states on disk.

use super::common::seconds;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Who else takes part.
#[derive(Debug, Args)]
#[command(next_help_heading = "Beyond one process")]
pub struct Others {
    /// Use this many processes on this machine; --threads and --max-memory (for sweeps: --memory) are
    /// about each
    #[arg(long, value_name = "N", conflicts_with = "hosts", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub processes: Option<u64>,
    /// Use processes on other machines: a file with one HOST:PORT in a line for each
    /// process, and a line `secret TOKEN` unless FENCESMITH_SECRET has it
    #[arg(long, value_name = "FILE", requires = "process")]
    pub hosts: Option<PathBuf>,
    /// Which process of --hosts this one is; process 0 prints the answers
    #[arg(long, value_name = "I", requires = "hosts")]
    pub process: Option<u64>,
    /// How long to wait for the other processes to come, in seconds
    #[arg(long, value_name = "S", default_value = "30", value_parser = seconds)]
    pub wait: Duration,
}

/// With whom to search, and what is kept where.
#[derive(Debug, Args)]
#[command(next_help_heading = "Beyond one process")]
pub struct Processes {
    #[command(flatten)]
    pub others: Others,
    /// Write down what was found at the end of some levels, into this folder
    #[arg(long, value_name = "DIR")]
    pub checkpoint: Option<PathBuf>,
    /// The time between two checkpoints at least, in seconds
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds)]
    pub checkpoint_every: Duration,
    /// Go on from the checkpoints of a run that did not come to its end
    #[arg(long, requires = "checkpoint")]
    pub resume: bool,
    /// Keep states on disk, in this folder, if --max-memory does not suffice
    #[arg(long, value_name = "DIR", conflicts_with_all = ["processes", "hosts", "checkpoint"])]
    pub spill: Option<PathBuf>,
}

impl Others {
    /// Several processes are wanted.
    pub fn are_given(&self) -> bool {
        self.processes.is_some() || self.hosts.is_some()
    }
}

impl Processes {
    /// Several processes are wanted, or checkpoints, which one process can have as well, or
    /// states on disk.
    pub fn is_given(&self) -> bool {
        self.others.are_given() || self.checkpoint.is_some() || self.spill.is_some()
    }

    /// Checkpoints are written, and gone on from: on all processes, or on none.
    pub fn kept(&self) -> (bool, bool) {
        (self.checkpoint.is_some(), self.resume)
    }
}

/// A process that another one has started to search with it.
#[derive(Debug, Args)]
pub struct Member {
    /// Which process this one is
    #[arg(long)]
    pub process: usize,
    /// The addresses of all processes; standard input is the socket that this one listens on
    #[arg(long, value_delimiter = ',')]
    pub addresses: Vec<String>,
    #[arg(long)]
    pub threads: u32,
    #[arg(long)]
    pub max_memory: Option<u64>,
    #[arg(long)]
    pub checkpoint: Option<PathBuf>,
    #[arg(long, default_value = "60", value_parser = seconds)]
    pub checkpoint_every: Duration,
    #[arg(long)]
    pub resume: bool,
}
