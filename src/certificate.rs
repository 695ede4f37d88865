//! Certificates: making one, and checking one without trusting whoever made it.
//!
//! The check uses the exact model, the hitting-set bound and one verification run: the
//! placement verifies under the abstraction named; every execution of the lower bound is
//! replayed on the exact model, ends in a violation, and passes no other points with
//! pending stores than those listed; and the cheapest fences that hit all of these cost
//! what the certificate says.

use crate::fences;
use crate::infer::hitting::{self, Costs, cheapest};
use crate::infer::{Clause, InferOptions, Placement, clause};
use crate::limits::{Limits, Monitor};
use crate::memory::{Abstraction, AbstractionKind, Model, Semantics};
use crate::program::{PointId, PointSet, Program};
use crate::record::{
    CERTIFICATE_SCHEMA, Certificate, Execution, Initial, LowerBound, PointName, PricedPoint, Proof,
    Step,
};
use crate::replay::{Replay, replay};
use crate::source::Source;
use crate::verify::{Verdict, VerifyOptions, verify};
use sha2::{Digest, Sha256};

/// Makes the certificate of a verified placement.
pub fn certificate(
    source: &Source,
    program: &Program,
    options: &InferOptions,
    placement: &Placement,
    clauses: &[Clause],
) -> Certificate {
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
    Certificate {
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
        proof: Proof {
            abstraction: placement.abstraction.kind(),
            k: placement.abstraction.k().unwrap_or(0),
            states: placement.states,
        },
        lower_bound: LowerBound {
            cost: hitting::cost(&bound, &options.costs),
            executions: executions.collect(),
        },
    }
}

/// A certificate that holds.
#[derive(Debug, PartialEq, Eq)]
pub struct Checked {
    pub cost: u64,
    /// No placement is cheaper than this.
    pub lower_bound: u64,
    pub states: u64,
    pub executions: usize,
    /// How many of how many points it allows and prices, unless all cost one.
    pub allowed: Option<(usize, usize)>,
}

/// Checks a certificate against a program; says which part fails if one does.
pub fn check(
    source: &Source,
    program: &Program,
    certificate: &Certificate,
    threads: usize,
    limits: &Limits,
    monitor: &Monitor,
) -> Result<Checked, String> {
    if certificate.schema != CERTIFICATE_SCHEMA {
        return Err(format!(
            "the schema is '{}', not '{CERTIFICATE_SCHEMA}'",
            certificate.schema
        ));
    }
    if certificate.sha256 != hash(source) {
        return Err("it is about another program: the hash of the text differs".to_string());
    }
    let options = options(certificate, threads, limits)?;
    let shared = program;
    let separate = certificate.per_process.then(|| program.per_process());
    let program = separate.as_ref().unwrap_or(shared);
    let costs = prices(source, program, certificate)?;
    let fences = points(source, program, &certificate.placement)?;
    if let Some(point) = fences.iter().find(|point| costs[point.index()].is_none()) {
        let name = name_of(program, source, *point).at;
        return Err(format!("placement: no fence may stand at {name}"));
    }
    if hitting::cost(&fences, &costs) != certificate.cost {
        let cost = hitting::cost(&fences, &costs);
        return Err(format!(
            "placement: it costs {cost}, not {}",
            certificate.cost
        ));
    }
    let mut demands = Vec::new();
    for (index, execution) in certificate.lower_bound.executions.iter().enumerate() {
        let demand = demand(source, program, execution, &options);
        demands.push(demand.map_err(|why| format!("execution {}: {why}", index + 1))?);
    }
    let Some(bound) = cheapest(&demands, &costs) else {
        return Err("lower bound: no fences prevent all of its executions".to_string());
    };
    let bound = hitting::cost(&bound, &costs);
    if bound != certificate.lower_bound.cost {
        let claimed = certificate.lower_bound.cost;
        return Err(format!(
            "lower bound: its executions show {bound}, not {claimed}"
        ));
    }
    let answer = verify(&program.fenced(&fences), &options, monitor);
    let states = answer.statistics.states;
    match answer.verdict {
        Verdict::Correct if states == certificate.proof.states => Ok(Checked {
            cost: certificate.cost,
            lower_bound: bound,
            states,
            executions: demands.len(),
            allowed: match costs.iter().all(|cost| *cost == Some(1)) {
                true => None,
                false => Some((costs.iter().flatten().count(), costs.len())),
            },
        }),
        Verdict::Correct => {
            let claimed = certificate.proof.states;
            Err(format!("proof: it has {states} states, not {claimed}"))
        }
        Verdict::Violated => Err("proof: the fenced program is wrong".to_string()),
        Verdict::Inconclusive(reason) => Err(format!("proof: it does not verify: {reason}")),
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
        Replay::Harmless => Err("nothing is wrong at its end".to_string()),
        Replay::BadStart => Err("the program cannot start like this".to_string()),
        Replay::Stuck { index, .. } => Err(format!("step {} is not possible", index + 1)),
    }
}

fn options(
    certificate: &Certificate,
    threads: usize,
    limits: &Limits,
) -> Result<VerifyOptions, String> {
    let proof = &certificate.proof;
    if certificate.model == Model::Sc {
        return Err("fences make no difference under SC".to_string());
    }
    if !matches!(proof.abstraction, AbstractionKind::Fd | AbstractionKind::Pd) {
        return Err(format!("proof: {} proves no placement", proof.abstraction));
    }
    let abstraction = Abstraction::new(proof.abstraction, proof.k);
    let semantics = Semantics {
        atomics: certificate.atomics,
        fuse: certificate.fuse,
        ..Semantics::new(certificate.model, abstraction)
    };
    Ok(VerifyOptions {
        threads,
        limits: limits.clone(),
        ..VerifyOptions::under(semantics)
    })
}

fn prices(source: &Source, program: &Program, certificate: &Certificate) -> Result<Costs, String> {
    let mut costs = vec![None; program.points.len()];
    for priced in &certificate.points {
        let point = point(source, program, &priced.point)?;
        costs[point.index()] = Some(priced.cost);
    }
    Ok(costs)
}

fn points(source: &Source, program: &Program, names: &[PointName]) -> Result<PointSet, String> {
    names
        .iter()
        .map(|name| point(source, program, name))
        .collect()
}

fn point(source: &Source, program: &Program, name: &PointName) -> Result<PointId, String> {
    let place = name.at.parse()?;
    fences::find_in(program, source, place, |point| {
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
