//! `fencesmith check`.

use super::args::{self, OutputFormat};
use super::interrupt::Interruptible;
use super::streams::print;
use super::verify::{json_text, limits};
use super::{Exit, Failure, input, progress};
use crate::certificate::check;
use crate::record::{Certificate, SCHEMA};
use crate::words::count;

/// Checks a certificate.
pub fn run(args: &args::Check) -> Result<Exit, Failure> {
    let input = input::program(&args.file, &args.common)?;
    let (source, program) = (input.source, input.program);
    let file = input::read(&args.certificate)?;
    let certificate: Certificate = serde_json::from_str(file.text()).map_err(|error| {
        let path = args.certificate.display();
        Failure::message(format!("'{path}': this is not a certificate: {error}"))
    })?;
    let searches = Interruptible::new();
    let what = format!("{}: checking", source.name());
    let threads = args.common.thread_count();
    let limits = limits(&args.common);
    let checked = progress::watched(&args.common, &searches, &what, |monitor| {
        check(&source, &program, &certificate, threads, &limits, monitor)
    });
    let model = certificate.model.upper();
    let (outcome, text, exit) = match &checked {
        Ok(checked) => {
            let among = match checked.allowed {
                None => String::new(),
                Some((allowed, all)) => {
                    format!(", of fences at the {allowed} of {all} points it allows")
                }
            };
            let executions = count(checked.executions as u64, "execution");
            let bound = match (checked.cost, checked.lower_bound) {
                (0, _) if program.own_fences().is_empty() => "no fence is needed".to_string(),
                (0, _) => "no further fence is needed".to_string(),
                (cost, bound) if cost == bound => {
                    format!("nothing cheaper does{among}, by {executions} of {model}")
                }
                (_, bound) => {
                    format!("at least {bound} is needed{among}, by {executions} of {model}")
                }
            };
            let states = count(checked.states, "state");
            let text = format!("holds: cost {} verifies ({states}); {bound}", checked.cost);
            ("valid", text, Exit::Fine)
        }
        Err(why) => ("rejected", format!("is rejected: {why}"), Exit::Violated),
    };
    match args.common.format {
        OutputFormat::Json => print(&json_text(&serde_json::json!({
            "schema": SCHEMA,
            "tool": env!("CARGO_PKG_VERSION"),
            "command": "check",
            "program": source.name(),
            "outcome": outcome,
            "reason": text,
        })))?,
        OutputFormat::Text => print(&format!(
            "{} under {model}: the certificate {text}\n",
            source.name()
        ))?,
    }
    Ok(exit)
}
