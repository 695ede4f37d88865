//! Searches by several workers, by several processes, and with states on disk.

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
mod spill;
#[cfg(unix)]
mod sweeps;
mod workers;
