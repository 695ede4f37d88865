//! Programs from and for other tools.

mod import;
mod litmus;
mod long;
mod sequential;
mod spin;
