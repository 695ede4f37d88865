//! `fencesmith check`.

use super::args::{self, OutputFormat};
use super::interrupt::Interruptible;
use super::streams::print;
use super::verify::{json_text, limits};
use super::{Exit, Failure, input, progress};
use crate::certificate::{CheckOptions, Refusal, check, check_correctness};
use crate::memory::{Abstraction, Atomics, Model};
use crate::record::{
    CORRECTNESS_SCHEMA, Certificate, CertificateHead, CheckAnswer, CheckOutcome, Claim,
    CorrectnessCertificate, CorrectnessClaim, PriceList, ProofBasis, SCHEMA,
};
use crate::words::count;
use std::fmt::Write;

/// Checks a certificate.
pub fn run(args: &args::Check) -> Result<Exit, Failure> {
    let input = input::program(&args.file, &args.common)?;
    let (source, program) = (input.source, input.program);
    let file = input::read(&args.certificate)?;
    let foreign = |error: serde_json::Error| {
        let path = args.certificate.display();
        Failure::message(format!("'{path}': this is not a certificate: {error}"))
    };
    let head: CertificateHead = serde_json::from_str(file.text()).map_err(foreign)?;
    let searches = Interruptible::new();
    let what = format!("{}: checking", source.name());
    let options = CheckOptions {
        atomics: args.common.atomics,
        fuse: args.common.no_fuse.then_some(false),
        threads: args.common.thread_count(),
        limits: limits(&args.common),
    };
    let checked = match head.schema == CORRECTNESS_SCHEMA {
        true => {
            let certificate: CorrectnessCertificate =
                serde_json::from_str(file.text()).map_err(foreign)?;
            let checked = progress::watched(&args.common, &searches, &what, |monitor| {
                check_correctness(&source, &program, &certificate, &options, monitor)
            });
            Checked {
                model: certificate.model,
                claim: checked.map(Shown::Correct),
            }
        }
        false => {
            let certificate: Certificate = serde_json::from_str(file.text()).map_err(foreign)?;
            let checked = progress::watched(&args.common, &searches, &what, |monitor| {
                check(&source, &program, &certificate, &options, monitor)
            });
            Checked {
                model: certificate.model,
                claim: checked.map(|claim| Shown::Placement(Box::new(claim))),
            }
        }
    };
    let (outcome, reason, exit) = checked.outcome();
    let text = match args.common.format {
        OutputFormat::Text => {
            let model = checked.model.upper();
            let (with, basis) = match &checked.claim {
                Ok(Shown::Placement(claim)) => {
                    (with(claim.atomics, claim.fuse), basis(claim, &options))
                }
                Ok(Shown::Correct(claim)) => (
                    with(claim.atomics, claim.fuse),
                    format!("  proof: {}\n", proof(&claim.proof)),
                ),
                Err(_) => Default::default(),
            };
            format!(
                "{} under {model}{with}: the certificate {reason}\n{basis}",
                source.name(),
            )
        }
        OutputFormat::Json => {
            let (claim, correct) = match checked.claim {
                Ok(Shown::Placement(claim)) => (Some(*claim), None),
                Ok(Shown::Correct(claim)) => (None, Some(claim)),
                Err(_) => (None, None),
            };
            json_text(&CheckAnswer {
                schema: SCHEMA.to_string(),
                tool: env!("CARGO_PKG_VERSION").to_string(),
                command: "check".to_string(),
                program: source.name().to_string(),
                outcome,
                reason,
                claim,
                correct,
            })
        }
    };
    print(&text)?;
    Ok(exit)
}

/// What became of a certificate.
struct Checked {
    model: Model,
    claim: Result<Shown, Refusal>,
}

/// What a certificate shows.
enum Shown {
    Placement(Box<Claim>),
    Correct(CorrectnessClaim),
}

impl Checked {
    fn outcome(&self) -> (CheckOutcome, String, Exit) {
        let holds = |what: String| (CheckOutcome::Valid, format!("holds: {what}"), Exit::Fine);
        match &self.claim {
            Ok(Shown::Placement(claim)) => holds(conclusion(claim)),
            Ok(Shown::Correct(claim)) => holds(match claim.fences.len() as u64 {
                0 => "the program is correct".to_string(),
                fences => format!("the program is correct with {}", count(fences, "fence")),
            }),
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
        }
    }
}

/// The options under which a claim holds.
fn with(atomics: Atomics, fuse: bool) -> String {
    let steps = if fuse { "" } else { " --no-fuse" };
    format!(" with --atomics {atomics}{steps}")
}

/// What proves a program.
fn proof(proof: &ProofBasis) -> String {
    let abstraction = Abstraction::new(proof.abstraction, proof.k);
    let states = match abstraction.is_logs() {
        true => format!("{} of states", count(proof.states, "set")),
        false => count(proof.states, "state"),
    };
    let constants = match proof.thresholds.is_empty() {
        true => String::new(),
        false => format!(" with {}", count(proof.thresholds.len() as u64, "constant")),
    };
    format!("{states} by {abstraction}{constants}")
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
    let _ = writeln!(out, "  proof: {}", proof(&claim.proof));
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
