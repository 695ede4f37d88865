//! Programs in C.

mod expressions;
mod patch;
mod points;
mod positions;
mod robustness;
mod run;
