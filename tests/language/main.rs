//! The language: what is rejected and how it is said, and where fences can stand.

mod diagnostics;
mod documents;
mod points;
mod robustness;
