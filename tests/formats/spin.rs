//! Promela models against Spin: an error is found exactly where the exact search with the
//! same bound finds a violation.
//!
//! Without Spin and gcc there is nothing to compare with, and the tests say that they are
//! skipped. With `FENCESMITH_SPIN` set both must be there; if it is `all`, the whole suite is
//! compared.

use fencesmith::export::promela::{PromelaOptions, print};
use fencesmith::memory::{Atomics, Model};
use fencesmith::program::Program;
use fencesmith::source::Source;
use fencesmith::verify::{Inconclusive, Verdict};
use fencesmith_testing::programs::{MODELS, answer, capped, exact};
use fencesmith_testing::{cases, programs};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Mutex;

/// Programs with more states are left to the fencesmith alone.
const MOST_STATES: u64 = 20_000;

const BOUND: usize = 2;

/// How much is compared, if it is said.
fn wanted() -> Option<String> {
    std::env::var("FENCESMITH_SPIN").ok()
}

fn all() -> bool {
    wanted().is_some_and(|value| value == "all")
}

/// Whether there is something to compare with.
fn installed() -> bool {
    let lacks = |(program, version): &(&str, &str)| {
        let output = Command::new(program).arg(version).output();
        !output.is_ok_and(|output| output.status.success())
    };
    let Some((lacking, _)) = [("spin", "-V"), ("gcc", "--version")]
        .into_iter()
        .find(lacks)
    else {
        return true;
    };
    assert!(wanted().is_none(), "{lacking} is not installed");
    let test = std::thread::current();
    let test = test.name().unwrap_or_default();
    // Not by a macro: what these print is only shown if a test fails.
    let _ = writeln!(
        std::io::stderr(),
        "SKIPPED: {lacking} is not installed ({test})"
    );
    false
}

fn ended(folder: &Path, program: &str, arguments: &[&str]) -> Output {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output();
    output.unwrap_or_else(|error| panic!("{program}: {error}"))
}

/// Whether Spin finds an error.
fn spin_finds_an_error(model: &str) -> bool {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    std::fs::write(folder.join("model.pml"), model).expect("the model can be written");
    let spin = ended(folder, "spin", &["-a", "model.pml"]);
    let said = String::from_utf8_lossy(&spin.stdout).into_owned();
    assert!(
        spin.status.success() && !said.contains("rror"),
        "{said}\n{model}"
    );
    let gcc = ended(
        folder,
        "gcc",
        &["-w", "-O0", "-DSAFETY", "-o", "pan", "pan.c"],
    );
    assert!(gcc.status.success(), "{gcc:?}\n{model}");
    let pan = ended(folder, "./pan", &["-m2000000", "-w18"]);
    let said = String::from_utf8_lossy(&pan.stdout).into_owned();
    assert!(
        !said.contains("too small") && said.contains("errors:"),
        "{said}\n{model}"
    );
    !said.contains("errors: 0")
}

/// Whether the exact search finds a violation; none if the program is too large for this.
fn we_find_a_violation(program: &Program, model: Model, atomics: Atomics) -> Option<bool> {
    let mut options = capped(exact(model, BOUND), MOST_STATES);
    options.semantics.atomics = atomics;
    match answer(&program.fenced(&Default::default()), &options).verdict {
        Verdict::Violated => Some(true),
        Verdict::Correct | Verdict::Inconclusive(Inconclusive::Bound(_)) => Some(false),
        Verdict::Inconclusive(_) => None,
    }
}

/// A program to compare.
struct Case {
    name: String,
    source: Source,
    program: Program,
    model: Model,
    atomics: Atomics,
}

/// Compares cases on two threads; gives how many were compared.
fn compare(cases: Vec<Case>) -> usize {
    let compared = Mutex::new(0);
    let work = Mutex::new(cases.into_iter());
    let next = || work.lock().expect("no thread panics here").next();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(case) = next() {
                    let options = PromelaOptions {
                        model: case.model,
                        atomics: case.atomics,
                        bound: BOUND,
                    };
                    let Ok(model) = print(&case.program, &case.source, &options) else {
                        continue;
                    };
                    let ours = we_find_a_violation(&case.program, case.model, case.atomics);
                    if let Some(ours) = ours {
                        let theirs = spin_finds_an_error(&model);
                        assert_eq!(ours, theirs, "{} under {}\n{model}", case.name, case.model);
                        *compared.lock().expect("no thread panics here") += 1;
                    }
                }
            });
        }
    });
    compared.into_inner().expect("no thread panics here")
}

fn case(name: &str, model: Model) -> Case {
    let source = programs::source(name);
    Case {
        name: name.to_string(),
        program: programs::program(&source),
        source,
        model,
        atomics: Atomics::DrainPlace,
    }
}

#[test]
fn the_suite() {
    if !installed() {
        return;
    }
    let few = [
        ("litmus/sb", Model::Tso),
        ("litmus/mp+ss", Model::Pso),
        ("litmus/r+ss+sl", Model::Pso),
        ("litmus/2+2w", Model::Pso),
        ("litmus/sb+swaps-elsewhere", Model::Pso),
        ("mutex/peterson", Model::Sc),
        ("mutex/peterson", Model::Tso),
        ("mutex/dekker", Model::Pso),
        ("lock/ttas", Model::Tso),
        ("lock/ticket-add", Model::Pso),
        ("barrier/sense-counter", Model::Tso),
        ("protocol/pgsql-latch", Model::Tso),
    ];
    let cases: Vec<Case> = match all() {
        false => few.map(|(name, model)| case(name, model)).into(),
        true => {
            let folders = programs::folders();
            let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
            let names = programs::names(&folders);
            let each = names.iter();
            each.flat_map(|name| MODELS.map(|model| case(name, model)))
                .collect()
        }
    };
    let wanted = cases.len() / 2;
    let compared = compare(cases);
    println!("{compared} compared with Spin");
    assert!(compared >= wanted, "{compared}");
}

/// Random programs use everything: atomic blocks, both small fences, runtime errors,
/// assertions and choices.
#[test]
fn random_programs() {
    if !installed() {
        return;
    }
    let seeds = if all() { 60 } else { 3 };
    let mut cases = Vec::new();
    for seed in 0..seeds {
        for (family, options) in cases::families().iter().enumerate() {
            let random = cases::case(seed, options);
            let model = MODELS[(seed as usize + family) % 3];
            cases.push(Case {
                name: format!("family {family}, seed {seed}\n{}", random.text),
                source: Source::new("random.fen", random.text.clone()),
                program: random.program,
                model,
                atomics: match seed % 2 {
                    0 => Atomics::DrainPlace,
                    _ => Atomics::DrainAll,
                },
            });
        }
    }
    let compared = compare(cases);
    println!("{compared} compared with Spin");
    assert!(compared > 0);
}
