//! Certificates of correctness: a program, its fences, and what proves it.

use super::verify_options;
use super::{CheckOptions, Refusal, hash, is_about, name_of, points, proof, prove_again};
use crate::limits::{Monitor, StopReason};
use crate::memory::{Abstraction, Semantics};
use crate::program::{PointSet, Program};
use crate::record::{CORRECTNESS_SCHEMA, CorrectnessCertificate, CorrectnessClaim};
use crate::source::Source;
use crate::verify::{Answer, VerifyOptions};

/// Makes the certificate of a program that was proved correct with these fences. `program` is the
/// whole program, with all of its points.
pub fn certificate_of_correctness(
    source: &Source,
    program: &Program,
    fences: &PointSet,
    options: &VerifyOptions,
    answer: &Answer,
    monitor: &Monitor,
) -> Result<CorrectnessCertificate, StopReason> {
    let Semantics {
        model,
        atomics,
        fuse,
        ..
    } = options.semantics;
    Ok(CorrectnessCertificate {
        schema: CORRECTNESS_SCHEMA.to_string(),
        tool: env!("CARGO_PKG_VERSION").to_string(),
        program: source.name().to_string(),
        sha256: hash(source),
        model,
        atomics,
        fuse,
        fences: fences
            .iter()
            .map(|&point| name_of(program, source, point))
            .collect(),
        proof: proof(
            &program.fenced(fences),
            options,
            answer.abstraction,
            &answer.thresholds,
            monitor,
        )?,
    })
}

/// Checks a certificate of correctness against a program: what it shows, or why it is not
/// accepted.
pub fn check_correctness(
    source: &Source,
    program: &Program,
    certificate: &CorrectnessCertificate,
    options: &CheckOptions,
    monitor: &Monitor,
) -> Result<CorrectnessClaim, Refusal> {
    let CorrectnessCertificate {
        schema,
        sha256,
        model,
        atomics,
        fuse,
        proof,
        ..
    } = certificate;
    is_about(source, (schema, CORRECTNESS_SCHEMA), sha256)?;
    let semantics = Semantics {
        atomics: *atomics,
        fuse: *fuse,
        ..Semantics::new(*model, Abstraction::new(proof.abstraction, proof.k))
    };
    let verify_options = verify_options(semantics, options)?;
    let named = |why| format!("fences: {why}");
    let fences = points(source, program, &certificate.fences).map_err(named)?;
    prove_again(&program.fenced(&fences), &verify_options, proof, monitor)?;
    Ok(CorrectnessClaim {
        model: *model,
        atomics: *atomics,
        fuse: *fuse,
        own_fences: program.own_fences().len(),
        fences: certificate.fences.clone(),
        proof: proof.basis(),
    })
}
