//! Programs in C.

mod patch;
mod positions;
mod run;
