//! Verifies a program from the library: `cargo run --example verify [FILE]`.

use fencesmith::{Model, Monitor, Source, Verdict, VerifyOptions, compile, describe, verify};
use std::error::Error;

const STORE_BUFFERING: &str = "
    shared bool x, y;
    process p { bool r; store x = true; load r = y; }
    process q { bool r; store y = true; load r = x; }
    final p.r || q.r;   // one of them sees the other
";

fn main() -> Result<(), Box<dyn Error>> {
    let source = match std::env::args().nth(1) {
        Some(path) => Source::new(path.clone(), std::fs::read_to_string(path)?),
        None => Source::new("sb.fen", STORE_BUFFERING),
    };
    for model in [Model::Sc, Model::Tso, Model::Pso] {
        println!("{model}: {}", verdict(&source, model)?);
    }
    Ok(())
}

/// What is known of a program under a memory model, in words.
fn verdict(source: &Source, model: Model) -> Result<String, Box<dyn Error>> {
    let program =
        compile(source).map_err(|errors| fencesmith::diagnostic::render(source, &errors, false))?;
    // Without any further fence: as it stands.
    let program = program.fenced(&Default::default());
    let options = VerifyOptions::refining(model);
    let answer = verify(&program, &options, &Monitor::default());
    Ok(match answer.verdict {
        Verdict::Correct => format!("correct ({} states)", answer.statistics.states),
        Verdict::Inconclusive(why) => format!("not known: {why}"),
        Verdict::Violated => {
            let (violation, trace) = answer.into_trace().ok_or("a violation has a trace")?;
            let (what, _) = describe::violation(&program, source, violation, trace.last());
            format!("violated after {} steps: {what}", trace.steps.len())
        }
    })
}

#[test]
fn store_buffering_needs_sequential_consistency() {
    let source = Source::new("sb.fen", STORE_BUFFERING);
    let verdict = |model| verdict(&source, model).expect("it is well formed");
    assert!(verdict(Model::Sc).starts_with("correct"));
    assert!(verdict(Model::Tso).starts_with("violated"));
    assert!(verdict(Model::Pso).starts_with("violated"));
}
