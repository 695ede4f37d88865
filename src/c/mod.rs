//! C programs.

mod macros;
pub mod positions;
pub mod tokens;
