//! Certificates: making one, and checking one without trusting whoever made it.
//!
//! A certificate is about full fences in one program, given by the hash of its text, under
//! one memory model, and it says itself where fences may stand and what they cost. It holds
//! if each point is listed once; the placement verifies under the abstraction named, with
//! as many states as are said; every execution of the lower bound is replayed on the exact
//! model, ends in a violation of a property, and passes no other points with pending stores
//! than those listed; and the cheapest fences that hit all of these cost what is said.
//!
//! The check uses the exact model, the hitting-set bound and one verification run, or the
//! states of view logs, which are checked one by one. What it returns, a [`Claim`], names
//! everything that the certificate could choose freely.
//!
//! A certificate of correctness (`correctness`) is the same without a bound.

mod correctness;

pub use correctness::{certificate_of_correctness, check_correctness};

use crate::fences;
use crate::infer::hitting::{self, Costs, MOST_COST, cheapest};
use crate::infer::{Clause, InferOptions, Placement, clause};
use crate::limits::{Limits, Monitor, StopReason};
use crate::memory::{Abstraction, AbstractionKind, Atomics, Model, Semantics};
use crate::program::{PointId, PointSet, Program};
use crate::property::Violation;
use crate::record::{
    CERTIFICATE_SCHEMA, Certificate, Claim, Execution, Initial, LowerBound, PointName, PriceList,
    PricedPoint, Proof, Step,
};
use crate::replay::{Replay, replay};
use crate::source::Source;
use crate::space::{Flaw, Thresholds, recheck};
use crate::verify::{Inconclusive, Verdict, VerifyOptions, invariant, verify};
use crate::words::grouped;
use sha2::{Digest, Sha256};

/// Makes the certificate of a verified placement.
pub fn certificate(
    source: &Source,
    program: &Program,
    options: &InferOptions,
    placement: &Placement,
    clauses: &[Clause],
    monitor: &Monitor,
) -> Result<Certificate, StopReason> {
    let semantics = &options.verify.semantics;
    let names = |points: &PointSet| -> Vec<PointName> {
        points
            .iter()
            .map(|&point| name_of(program, source, point))
            .collect()
    };
    let real: Vec<&Clause> = clauses.iter().filter(|clause| clause.real).collect();
    let demands: Vec<PointSet> = real.iter().map(|clause| clause.points.clone()).collect();
    let bound = cheapest(&demands, &options.costs).expect("the placement hits them all");
    let executions = real.iter().map(|clause| {
        let fenced = program.fenced(&clause.fences);
        Execution {
            points: names(&clause.points),
            fences: names(&clause.fences),
            initial: Initial::new(&fenced, source, &clause.trace.initial),
            steps: Step::all(&fenced, source, &clause.trace),
        }
    });
    let priced = options
        .costs
        .iter()
        .enumerate()
        .filter_map(|(index, cost)| {
            let point = name_of(program, source, PointId(index as u32));
            cost.map(|cost| PricedPoint { point, cost })
        });
    let proof = proof(
        &program.fenced(&placement.fences),
        &options.verify,
        placement.abstraction,
        &placement.thresholds,
        monitor,
    );
    Ok(Certificate {
        schema: CERTIFICATE_SCHEMA.to_string(),
        tool: env!("CARGO_PKG_VERSION").to_string(),
        program: source.name().to_string(),
        sha256: hash(source),
        model: semantics.model,
        atomics: semantics.atomics,
        fuse: semantics.fuse,
        per_process: program.points.iter().any(|point| point.process.is_some()),
        points: priced.collect(),
        placement: names(&placement.fences),
        cost: placement.cost,
        proof: proof?,
        lower_bound: LowerBound {
            cost: hitting::cost(&bound, &options.costs),
            executions: executions.collect(),
        },
    })
}

/// What proves a program that was verified under this abstraction. The search is done again as
/// a check does it: which search answers, and with how many states, depends on what was asked
/// before. View logs also tell their states.
fn proof(
    program: &Program,
    options: &VerifyOptions,
    abstraction: Abstraction,
    thresholds: &Thresholds,
    monitor: &Monitor,
) -> Result<Proof, StopReason> {
    let (states, thresholds, invariant) = match abstraction {
        Abstraction::Logs { widening } => {
            let found = invariant(program, options, monitor, widening);
            let found = found.ok_or(StopReason::Interrupted)?;
            (
                found.states.len() as u64,
                Thresholds::default(),
                Some(found),
            )
        }
        _ => {
            let semantics = Semantics {
                abstraction,
                ..options.semantics
            };
            let again = VerifyOptions {
                threads: options.threads,
                limits: options.limits.clone(),
                thresholds: thresholds.clone(),
                join: options.join,
                ..VerifyOptions::under(semantics)
            };
            let answer = verify(program, &again, monitor);
            match answer.verdict {
                Verdict::Inconclusive(Inconclusive::Limit(reason)) => return Err(reason),
                _ => (answer.statistics.states, answer.thresholds, None),
            }
        }
    };
    Ok(Proof {
        abstraction: abstraction.kind(),
        k: abstraction.parameter(),
        states,
        thresholds,
        join: options.join,
        invariant,
    })
}

/// Whether a proof holds for a program.
fn prove_again(
    program: &Program,
    options: &VerifyOptions,
    proof: &Proof,
    monitor: &Monitor,
) -> Result<(), Refusal> {
    let claimed = proof.states;
    let states = match (proof.abstraction, &proof.invariant) {
        (AbstractionKind::Logs, None) => return Err("proof: its states are missing".into()),
        (AbstractionKind::Logs, _) if program.keeps_books() => {
            return Err("proof: view logs say nothing of programs that free memory".into());
        }
        (AbstractionKind::Logs, Some(invariant)) => {
            let semantics = options.semantics;
            let sequential = Semantics {
                model: Model::Sc,
                ..semantics
            };
            let stepper = sequential.stepper(program);
            let limits = &options.limits;
            recheck(&stepper, semantics.model, invariant, limits, monitor)?;
            invariant.states.len() as u64
        }
        (_, Some(_)) => return Err("proof: only view logs have states to show".into()),
        (_, None) => {
            let options = VerifyOptions {
                thresholds: proof.thresholds.clone(),
                join: proof.join,
                ..options.clone()
            };
            let answer = verify(program, &options, monitor);
            match answer.verdict {
                Verdict::Correct if answer.thresholds != proof.thresholds => {
                    return Err("proof: it needs other thresholds".into());
                }
                Verdict::Correct => answer.statistics.states,
                Verdict::Violated => return Err("proof: the fenced program is wrong".into()),
                Verdict::Inconclusive(Inconclusive::Limit(reason)) => {
                    return Err(Refusal::Limit(reason));
                }
                Verdict::Inconclusive(reason) => {
                    return Err(format!("proof: it does not verify: {reason}").into());
                }
            }
        }
    };
    match states == claimed {
        true => Ok(()),
        false => Err(format!("proof: it has {states} states, not {claimed}").into()),
    }
}

/// What a check takes from whoever asks for it.
#[derive(Debug, Clone, Default)]
pub struct CheckOptions {
    /// The certificate must be about this treatment of atomics; any will do if it is open.
    pub atomics: Option<Atomics>,
    /// The certificate must be about steps that are fused, or not; both will do if it is
    /// open.
    pub fuse: Option<bool>,
    /// At least 1.
    pub threads: usize,
    pub limits: Limits,
}

/// Why a certificate is not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// This is wrong with it.
    Rejected(String),
    /// A limit was reached before its proof was done again.
    Limit(StopReason),
}

impl From<String> for Refusal {
    fn from(why: String) -> Refusal {
        Refusal::Rejected(why)
    }
}

impl From<&str> for Refusal {
    fn from(why: &str) -> Refusal {
        Refusal::Rejected(why.to_string())
    }
}

impl From<Flaw> for Refusal {
    fn from(flaw: Flaw) -> Refusal {
        match flaw {
            Flaw::Wrong(why) => Refusal::Rejected(format!("proof: {why}")),
            Flaw::Limit(reason) => Refusal::Limit(reason),
        }
    }
}

/// Checks a certificate against a program: what it shows, or why it is not accepted.
/// Whether the placement is optimal is for the claim to say; a certificate may also show
/// less.
pub fn check(
    source: &Source,
    program: &Program,
    certificate: &Certificate,
    options: &CheckOptions,
    monitor: &Monitor,
) -> Result<Claim, Refusal> {
    let Certificate {
        schema,
        sha256,
        model,
        atomics,
        fuse,
        proof,
        ..
    } = certificate;
    is_about(source, (schema, CERTIFICATE_SCHEMA), sha256)?;
    if *model == Model::Sc {
        return Err("fences make no difference under SC".into());
    }
    if matches!(
        proof.abstraction,
        AbstractionKind::Set | AbstractionKind::Exact
    ) {
        return Err(format!("proof: {} proves no placement", proof.abstraction).into());
    }
    let semantics = Semantics {
        atomics: *atomics,
        fuse: *fuse,
        ..Semantics::new(*model, Abstraction::new(proof.abstraction, proof.k))
    };
    let verify_options = verify_options(semantics, options)?;
    let shared = program;
    let separate = certificate.per_process.then(|| program.per_process());
    let program = separate.as_ref().unwrap_or(shared);
    let costs = prices(source, program, certificate)?;
    let fences = placement(source, program, certificate, &costs)?;
    let bound = lower_bound(source, program, certificate, &costs, &verify_options)?;
    let fenced = program.fenced(&fences);
    prove_again(&fenced, &verify_options, &certificate.proof, monitor)?;
    let allowed = || costs.iter().flatten();
    Ok(Claim {
        model: certificate.model,
        atomics: certificate.atomics,
        fuse: certificate.fuse,
        per_process: certificate.per_process,
        own_fences: program.own_fences().len(),
        placement: certificate.placement.clone(),
        cost: certificate.cost,
        lower_bound: bound,
        executions: certificate.lower_bound.executions.len(),
        allowed_points: allowed().count(),
        all_points: costs.len(),
        prices: match allowed().all(|cost| *cost == 1) {
            true => PriceList::Uniform,
            false => PriceList::Own,
        },
        free_points: allowed().filter(|cost| **cost == 0).count(),
        proof: certificate.proof.basis(),
    })
}

/// The fences of the placement, if they may stand there and cost what is said.
fn placement(
    source: &Source,
    program: &Program,
    certificate: &Certificate,
    costs: &Costs,
) -> Result<PointSet, String> {
    let named = |why| format!("placement: {why}");
    let fences = points(source, program, &certificate.placement).map_err(named)?;
    if let Some(point) = fences.iter().find(|point| costs[point.index()].is_none()) {
        let name = name_of(program, source, *point).at;
        return Err(format!("placement: no fence may stand at {name}"));
    }
    let cost = hitting::cost(&fences, costs);
    match cost == certificate.cost {
        true => Ok(fences),
        false => Err(format!(
            "placement: it costs {cost}, not {}",
            certificate.cost
        )),
    }
}

/// What the cheapest fences cost that prevent all executions, if these are executions and
/// that is what is said.
fn lower_bound(
    source: &Source,
    program: &Program,
    certificate: &Certificate,
    costs: &Costs,
    options: &VerifyOptions,
) -> Result<u64, String> {
    let claimed = &certificate.lower_bound;
    let mut demands = Vec::new();
    for (index, execution) in claimed.executions.iter().enumerate() {
        let numbered = |why| format!("execution {}: {why}", index + 1);
        if claimed.executions[..index].contains(execution) {
            return Err(numbered("it is listed twice".to_string()));
        }
        demands.push(demand(source, program, execution, options).map_err(numbered)?);
    }
    let Some(fences) = cheapest(&demands, costs) else {
        return Err("lower bound: no fences prevent all of its executions".to_string());
    };
    let bound = hitting::cost(&fences, costs);
    match bound == claimed.cost {
        true => Ok(bound),
        false => Err(format!(
            "lower bound: its executions show {bound}, not {}",
            claimed.cost
        )),
    }
}

/// The points that an execution passes, if it is one, is wrong, and lists them all.
fn demand(
    source: &Source,
    program: &Program,
    execution: &Execution,
    options: &VerifyOptions,
) -> Result<PointSet, String> {
    let listed = points(source, program, &execution.points)?;
    let fences = points(source, program, &execution.fences)?;
    let fenced = program.fenced(&fences);
    let stepper = options.semantics.exact().stepper(&fenced);
    match replay(&stepper, source, &execution.initial, &execution.steps) {
        // That nothing goes on violates no property.
        Replay::Harmless | Replay::Violated(Violation::Deadlock | Violation::Stuck, _) => {
            Err("nothing is wrong at its end".to_string())
        }
        Replay::Violated(_, trace) => {
            let passed = clause(program, &fenced, &fences, &trace);
            match passed.difference(&listed).next() {
                None => Ok(listed),
                Some(&point) => {
                    let name = name_of(program, source, point).at;
                    Err(format!("a fence at {name} would prevent it as well"))
                }
            }
        }
        Replay::BadStart => Err("the program cannot start like this".to_string()),
        Replay::Stuck { index, .. } => Err(format!("step {} is not possible", index + 1)),
    }
}

/// Refuses certificates of another kind or about another text.
fn is_about(source: &Source, schema: (&str, &str), sha256: &str) -> Result<(), Refusal> {
    let (found, wanted) = schema;
    if found != wanted {
        return Err(format!("the schema is '{found}', not '{wanted}'").into());
    }
    match sha256 == hash(source) {
        true => Ok(()),
        false => Err("it is about another program: the hash of the text differs".into()),
    }
}

/// How a program is verified: as the certificate says, if that is what was asked about.
fn verify_options(semantics: Semantics, options: &CheckOptions) -> Result<VerifyOptions, String> {
    let Semantics { atomics, fuse, .. } = semantics;
    if let Some(wanted) = options.atomics.filter(|wanted| *wanted != atomics) {
        return Err(format!(
            "it is about --atomics {atomics}, not --atomics {wanted}"
        ));
    }
    if options.fuse.is_some_and(|wanted| wanted != fuse) {
        let steps = ["one instruction per step", "fused steps"];
        let (own, wanted) = (steps[usize::from(fuse)], steps[usize::from(!fuse)]);
        return Err(format!("it is about {own}, not {wanted}"));
    }
    Ok(VerifyOptions {
        threads: options.threads,
        limits: options.limits.clone(),
        ..VerifyOptions::under(semantics)
    })
}

/// What a fence costs at each point.
fn prices(source: &Source, program: &Program, certificate: &Certificate) -> Result<Costs, String> {
    let mut costs = vec![None; program.points.len()];
    for PricedPoint { point: name, cost } in &certificate.points {
        let wrong = |why: String| format!("points: {why}");
        let point = point(source, program, name).map_err(wrong)?;
        if *cost > MOST_COST {
            let most = grouped(MOST_COST);
            let name = &name.at;
            return Err(wrong(format!("the cost at {name} is larger than {most}")));
        }
        if costs[point.index()].replace(*cost).is_some() {
            return Err(wrong(twice(name)));
        }
    }
    match hitting::total(&costs, 1) {
        Some(_) => Ok(costs),
        None => Err("points: their costs together do not fit in 64 bits".to_string()),
    }
}

/// The points of a list in which each stands once.
fn points(source: &Source, program: &Program, names: &[PointName]) -> Result<PointSet, String> {
    let mut points = PointSet::new();
    for name in names {
        if !points.insert(point(source, program, name)?) {
            return Err(twice(name));
        }
    }
    Ok(points)
}

fn twice(name: &PointName) -> String {
    let process = name.process.as_ref().map(|name| format!(" in {name}"));
    format!("{}{} is listed twice", name.at, process.unwrap_or_default())
}

fn point(source: &Source, program: &Program, name: &PointName) -> Result<PointId, String> {
    let place = name.at.parse()?;
    fences::find_in(program, source, &place, |point| {
        point.process == name.process
    })
}

fn name_of(program: &Program, source: &Source, point: PointId) -> PointName {
    PointName {
        at: fences::name(program, source, point),
        process: program.points[point.index()].process.clone(),
    }
}

fn hash(source: &Source) -> String {
    let digest = Sha256::digest(source.text().as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
