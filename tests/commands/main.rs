//! The program as a person runs it.

mod assembly;
mod binary;
mod bounds;
mod buffers;
mod certificates;
mod cli;
#[cfg(unix)]
mod documents;
mod engines;
mod explain;
#[cfg(unix)]
mod files;
mod hints;
mod import;
#[cfg(target_os = "linux")]
mod memory;
mod reading;
mod report;
mod robust;
mod robustness;
#[cfg(unix)]
mod signals;
mod stuck;
mod sweep;
#[cfg(unix)]
mod sweep_folder;
#[cfg(unix)]
mod terminal;
mod traces;
mod workflow;
