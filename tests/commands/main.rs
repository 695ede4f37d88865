//! The program as a person runs it.

mod binary;
mod cli;
mod engines;
mod import;
mod report;
mod robustness;
mod sweep;
mod traces;
