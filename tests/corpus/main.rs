//! The programs under `algorithms/` against what their headers say.

mod costs;
mod paper;
mod verdicts;
