//! The answer does not depend on the number of threads, and fusing steps changes only how
//! many states there are.

use fencesmith::memory::Model;
use fencesmith::program::Program;
use fencesmith::record::{Initial, Step};
use fencesmith::source::Source;
use fencesmith::space::Coverage;
use fencesmith::verify::{SearchKind, Verdict, VerifyOptions};
use fencesmith_testing::programs::{MODELS, answer, exact, program, source};

/// Small programs of every kind, and some whose levels are large enough for several
/// threads: these with the model under which they are.
const SMALL: &[&str] = &[
    "barrier/sense-data",
    "barrier/tournament-4",
    "litmus/4.2w",
    "litmus/iriw",
    "litmus/sb",
    "lock/clh",
    "lock/ttas-broken",
    "mutex/burns-2",
    "mutex/peterson",
    "mutex/szymanski",
    "paper/fast0",
    "queue/chase-lev",
    "queue/michael-scott",
    "protocol/seqlock",
];

const LARGE: &[(&str, Model)] = &[
    ("lock/clh-3", Model::Tso),
    ("mutex/bakery-3", Model::Sc),
    ("mutex/burns-3", Model::Pso),
    ("mutex/filter-3", Model::Sc),
    ("mutex/lamport-fast-3", Model::Pso),
];

const BOUND: usize = 2;

/// Everything about an answer that must not depend on threads.
#[derive(Debug, PartialEq)]
struct Facts {
    outcome: Verdict,
    states: u64,
    transitions: u64,
    depth: Option<u64>,
    configurations: usize,
    coverage: Option<Coverage>,
    violation: String,
    initial: Option<Initial>,
    steps: Option<Vec<Step>>,
}

fn facts(source: &Source, program: &Program, options: &VerifyOptions) -> Facts {
    let answer = answer(program, options);
    let found = answer.statistics;
    let violation = answer.counterexample();
    let trace = violation.and_then(|found| found.trace.as_ref());
    Facts {
        outcome: answer.verdict,
        states: found.states,
        transitions: found.transitions,
        depth: found.depth,
        configurations: found.configurations,
        coverage: answer.coverage.clone(),
        violation: format!("{:?}", violation.map(|found| found.violation)),
        initial: trace.map(|trace| Initial::new(program, source, &trace.initial)),
        steps: trace.map(|trace| Step::all(program, source, trace)),
    }
}

/// Checks one program under one model; gives the number of states.
fn check(name: &str, model: Model, full: bool, search: SearchKind) -> u64 {
    let source = source(name);
    let program = program(&source).fenced(&Default::default());
    let [fused, unfused] = [true, false].map(|fuse| {
        let with = |threads| {
            let mut options = VerifyOptions {
                full,
                threads,
                search,
                ..exact(model, BOUND)
            };
            options.semantics.fuse = fuse;
            facts(&source, &program, &options)
        };
        let alone = with(1);
        for threads in [2, 4] {
            let say = || format!("{name} under {model}, {threads} threads, fuse {fuse}");
            assert_eq!(alone, with(threads), "{}", say());
        }
        let violated = alone.outcome == Verdict::Violated;
        assert_eq!(alone.steps.is_some(), violated, "{name} under {model}");
        alone
    });
    let say = format!("{name} under {model}, full {full}");
    assert_eq!(fused.outcome, unfused.outcome, "{say}");
    if search != SearchKind::Plain {
        return unfused.states;
    }
    if full || fused.outcome != Verdict::Violated {
        assert!(fused.states <= unfused.states, "{say}");
        assert!(fused.transitions <= unfused.transitions, "{say}");
    }
    let length = |facts: &Facts| facts.steps.as_ref().map_or(0, Vec::len);
    assert!(length(&fused) <= length(&unfused), "{say}");
    unfused.states
}

#[test]
fn small_programs() {
    for name in SMALL {
        for model in MODELS {
            let first = check(name, model, false, SearchKind::Plain);
            let all = check(name, model, true, SearchKind::Plain);
            assert!(first <= all, "{name} under {model}");
            check(name, model, false, SearchKind::Sets);
        }
    }
}

#[test]
fn large_programs() {
    for (name, model) in LARGE {
        let states = check(name, *model, false, SearchKind::Plain);
        assert!(states > 10_000, "{name} under {model}: {states} states");
        check(name, *model, false, SearchKind::Auto);
    }
}

/// Programs that the plain search does not get done with in its first turn: the search by sets
/// for k and that for k + 1 then run side by side.
#[test]
fn two_k_side_by_side() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/growth");
    for (name, processes, model) in [
        ("burns", 4, Model::Sc),
        ("clh", 4, Model::Tso),
        ("clh", 5, Model::Tso),
        ("mcs", 4, Model::Tso),
        ("mcs", 3, Model::Pso),
        ("ticket", 5, Model::Tso),
    ] {
        let text = std::fs::read_to_string(folder.join(name).with_extension("fen")).unwrap();
        let (constant, rest) = text.split_once(';').expect("a constant comes first");
        assert!(constant.starts_with("const n = "), "{constant}");
        let source = Source::new(name, format!("const n = {processes};{rest}"));
        let program = program(&source).fenced(&Default::default());
        let with = |threads| {
            let options = VerifyOptions {
                threads,
                ..VerifyOptions::refining(model)
            };
            facts(&source, &program, &options)
        };
        let alone = with(1);
        assert_eq!(alone.outcome, Verdict::Correct, "{name}-{processes}");
        for threads in [2, 3] {
            assert_eq!(alone, with(threads), "{name}-{processes} under {model}");
        }
    }
}
