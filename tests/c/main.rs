//! Programs in C.

mod expressions;
mod patch;
mod positions;
mod run;
