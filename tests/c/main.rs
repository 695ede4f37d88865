//! Programs in C.

mod differential;
mod exported;
mod expressions;
mod features;
mod patch;
mod points;
mod positions;
mod repair;
mod robustness;
mod run;
mod suite;
