//! The state space against an independent oracle, the literature and itself.

mod abstraction;
mod determinism;
mod explorer;
mod large;
mod limits;
mod litmus;
mod logs;
mod merging;
mod occupancy;
mod oracle;
mod robust;
mod rows;
mod sets;
mod stuck;
