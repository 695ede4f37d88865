//! The program as a person runs it.

mod binary;
mod cli;
mod engines;
#[cfg(unix)]
mod files;
mod import;
mod report;
mod robustness;
mod sweep;
#[cfg(unix)]
mod sweep_folder;
mod traces;
