//! Programs in C.

mod expressions;
mod patch;
mod positions;
mod robustness;
mod run;
