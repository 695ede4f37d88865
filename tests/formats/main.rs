//! Programs from and for other tools.

mod import;
mod litmus;
mod spin;
