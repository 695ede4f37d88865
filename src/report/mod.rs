//! What people read: answers in words, tables, and the records that say the same to programs.

pub mod infer;
pub mod patch;
pub mod target;
pub mod text;
pub mod verify;

use crate::memory::Abstraction;
use crate::verify::{MOST_K, Strategy, VerifyOptions};

/// What to try if a counterexample exists only in an abstraction; nothing if refinement has
/// come to its end.
///
/// A larger k can make a difference to any such counterexample: an execution on which no
/// store is in a set and no pending fence is forgotten is one of the exact model, so one that
/// is not real has gone beyond k somewhere.
fn finer(abstraction: Abstraction, asked: &VerifyOptions) -> Option<String> {
    let refines = asked.strategy != Strategy::Fixed && !asked.robust;
    match abstraction {
        Abstraction::Fd { k } if refines && k >= MOST_K => {
            Some("try --abs logs, which decides what no k does".to_string())
        }
        Abstraction::Fd { k } => Some(format!("try --k {}", k + 1)),
        Abstraction::Pd { .. } | Abstraction::Set => Some("try --abs fd --k auto".to_string()),
        Abstraction::Exact { .. } | Abstraction::Logs { .. } => None,
    }
}
