//! What the tests share: an independent oracle, random programs, the suite of algorithms
//! and the foreign files.

pub mod cases;
pub mod foreign;
pub mod oracle;
pub mod programs;
pub mod questions;
pub mod random;
pub mod templates;

use std::path::Path;

/// The root of the package that is tested.
fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("this is tests/support")
}
