//! `fencesmith check`.

use super::args::{self, OutputFormat};
use super::interrupt::Interruptible;
use super::streams::print;
use super::verify::{json_text, limits};
use super::{Exit, Failure, input, progress};
use crate::certificate::{CheckOptions, Refusal, check};
use crate::memory::Abstraction;
use crate::record::{Certificate, CheckAnswer, CheckOutcome, Claim, PriceList, SCHEMA};
use crate::words::count;
use std::fmt::Write;

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
    let options = CheckOptions {
        atomics: args.common.atomics,
        fuse: args.common.no_fuse.then_some(false),
        threads: args.common.thread_count(),
        limits: limits(&args.common),
    };
    let checked = progress::watched(&args.common, &searches, &what, |monitor| {
        check(&source, &program, &certificate, &options, monitor)
    });
    let (outcome, reason, exit) = match &checked {
        Ok(claim) => (
            CheckOutcome::Valid,
            format!("holds: {}", conclusion(claim)),
            Exit::Fine,
        ),
        Err(Refusal::Rejected(why)) => (
            CheckOutcome::Rejected,
            format!("is rejected: {why}"),
            Exit::Violated,
        ),
        Err(Refusal::Limit(limit)) => (
            CheckOutcome::Inconclusive,
            format!("could not be checked: {limit}"),
            Exit::Inconclusive,
        ),
    };
    let claim = checked.ok();
    let text = match args.common.format {
        OutputFormat::Text => {
            let model = certificate.model.upper();
            let with = claim.as_ref().map(with).unwrap_or_default();
            let basis = claim.as_ref().map(|claim| basis(claim, &options));
            format!(
                "{} under {model}{with}: the certificate {reason}\n{}",
                source.name(),
                basis.unwrap_or_default()
            )
        }
        OutputFormat::Json => json_text(&CheckAnswer {
            schema: SCHEMA.to_string(),
            tool: env!("CARGO_PKG_VERSION").to_string(),
            command: "check".to_string(),
            program: source.name().to_string(),
            outcome,
            reason,
            claim,
        }),
    };
    print(&text)?;
    Ok(exit)
}

/// The options under which a claim holds.
fn with(claim: &Claim) -> String {
    let steps = if claim.fuse { "" } else { " --no-fuse" };
    format!(" with --atomics {}{steps}", claim.atomics)
}

/// What a certificate shows.
fn conclusion(claim: &Claim) -> String {
    let fences = count(claim.placement.len() as u64, "fence");
    let (cost, bound) = (claim.cost, claim.lower_bound);
    let correct = match claim.placement.len() {
        0 if claim.own_fences > 0 => return "no further fence is needed".to_string(),
        0 => return "no fence is needed".to_string(),
        1 => format!("{fences} makes it correct at cost {cost}"),
        _ => format!("{fences} make it correct at cost {cost}"),
    };
    let points = match claim.allowed_points == claim.all_points {
        true => String::new(),
        false => format!(
            " at the {} of {} points that it allows",
            claim.allowed_points, claim.all_points
        ),
    };
    let prices = match claim.prices {
        PriceList::Uniform => "",
        PriceList::Own => " at its own prices",
    };
    match bound {
        bound if bound == cost => {
            format!("{correct}, and no placement{points} costs less{prices}")
        }
        0 => format!("{correct}; it does not show what a placement costs at least"),
        bound => format!("{correct}, and a placement{points} costs at least {bound}{prices}"),
    }
}

/// What a claim rests on.
fn basis(claim: &Claim, options: &CheckOptions) -> String {
    let whose = |asked: bool| match asked {
        true => "as asked",
        false => "by the certificate",
    };
    let abstraction = Abstraction::new(claim.proof.abstraction, claim.proof.k);
    let states = count(claim.proof.states, "state");
    let executions = count(claim.executions as u64, "execution");
    let points = match claim.allowed_points == claim.all_points {
        true => format!("all {}", count(claim.all_points as u64, "point")),
        false => format!("{} of {} points", claim.allowed_points, claim.all_points),
    };
    let separate = match claim.per_process {
        true => ", separately in each process",
        false => "",
    };
    let prices = match (claim.prices, claim.free_points) {
        (PriceList::Uniform, _) => "1 at each point".to_string(),
        (PriceList::Own, 0) => "the certificate's own".to_string(),
        (PriceList::Own, free) => {
            let free = count(free as u64, "point");
            format!("the certificate's own, nothing at {free}")
        }
    };
    let steps = match claim.fuse {
        true => "fused",
        false => "one instruction each",
    };
    let mut out = String::new();
    let _ = writeln!(out, "  proof: {states} by {abstraction}");
    let _ = writeln!(
        out,
        "  lower bound: cost {}, by {executions} of {}",
        claim.lower_bound,
        claim.model.upper()
    );
    let _ = writeln!(out, "  allowed: full fences at {points}{separate}");
    let _ = writeln!(out, "  prices: {prices}");
    let _ = writeln!(
        out,
        "  atomics: {}, {}",
        claim.atomics,
        whose(options.atomics.is_some())
    );
    let _ = writeln!(out, "  steps: {steps}, {}", whose(options.fuse.is_some()));
    out
}
