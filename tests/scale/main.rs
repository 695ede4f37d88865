//! Searches by several workers and by several processes.

#[cfg(unix)]
mod answers;
#[cfg(unix)]
mod checkpoints;
#[cfg(unix)]
mod failures;
#[cfg(unix)]
mod hosts;
#[cfg(unix)]
mod run;
mod workers;
