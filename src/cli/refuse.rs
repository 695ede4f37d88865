//! Questions that are refused: options that do not go together, or not with a program.

use super::{Failure, args};
use crate::import::Format;
use crate::memory::{Abstraction, AbstractionKind};
use crate::verify::SearchKind;

/// Refuses questions about standstills where programs guess: a process that has guessed wrongly
/// stands still, and means nothing.
pub fn guesses(option: &str, format: Format) -> Result<(), Failure> {
    match format {
        Format::Litmus | Format::Rmm => Err(Failure::Message {
            text: format!("{option} does not go with this format"),
            help: Some(
                "a compare-and-exchange, or a read that waits, is said by a guess there"
                    .to_string(),
            ),
        }),
        _ => Ok(()),
    }
}

/// Refuses what cannot answer a question of robustness.
pub fn under_robust(abstraction: Abstraction, search: SearchKind) -> Result<(), Failure> {
    use AbstractionKind::{Exact, Fd, Logs, Pd, Set};
    let (text, help) = match (abstraction.kind(), search) {
        (kind @ (Pd | Logs), _) => (
            format!("--robust does not go with --abs {kind}"),
            "single states are compared with those of SC: use fd, set or exact",
        ),
        (Fd | Set | Exact, SearchKind::Sets | SearchKind::Rows) => (
            format!("--robust does not go with --search {search}"),
            "single states are compared with those of SC: use --search plain",
        ),
        (Fd | Set | Exact, SearchKind::Auto | SearchKind::Plain) => return Ok(()),
    };
    Err(Failure::Message {
        text,
        help: Some(help.to_string()),
    })
}

/// Refuses what cannot be asked about a program with integers without bound.
pub fn with_integers(abstraction: Abstraction, asked: &[(&str, bool)]) -> Result<(), Failure> {
    let kind = abstraction.kind();
    let option = asked.iter().find(|(_, given)| *given);
    let text = match (kind, option) {
        (AbstractionKind::Fd, None) => return Ok(()),
        (AbstractionKind::Fd, Some((option, _))) => option.to_string(),
        (kind, _) => format!("--abs {kind}"),
    };
    Err(Failure::Message {
        text: format!("{text} does not go with integers without bound"),
        help: Some("give the variables ranges: `int[low..=high]`".to_string()),
    })
}

/// Refuses what can be done only by one process in its memory.
pub fn beyond_memory(
    args: &args::Processes,
    abstraction: Abstraction,
    asked: &[(&str, bool)],
) -> Result<(), Failure> {
    use AbstractionKind::{Exact, Fd, Logs, Pd, Set};
    let kind = abstraction.kind();
    let option = asked.iter().find(|(_, given)| *given);
    let text = match (kind, option) {
        (_, Some((option, _))) => option.to_string(),
        (Pd | Logs, None) => format!("--abs {kind}"),
        (Fd | Set | Exact, None) => return Ok(()),
    };
    let (with, who) = match args.spill {
        Some(_) => ("--spill", "it is for"),
        None => ("several processes", "they search"),
    };
    Err(Failure::Message {
        text: format!("{text} does not go with {with}"),
        help: Some(format!(
            "{who} states that are kept apart: use --abs fd, set or exact"
        )),
    })
}
