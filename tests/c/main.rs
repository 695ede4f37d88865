//! Programs in C.

mod differential;
mod expressions;
mod patch;
mod points;
mod positions;
mod repair;
mod robustness;
mod run;
mod suite;
