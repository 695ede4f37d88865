//! Every program under `algorithms/integers` keeps the promises of its header, and its mutants
//! are wrong.
//!
//! `// expect tso: violated, cost 2` says the verdict and what the cheapest placement costs;
//! `// expect tso: open, cost at most 1` that the tool does not know the verdict.

use fencesmith::certificate::{
    CheckOptions, certificate, certificate_of_correctness, check, check_correctness,
};
use fencesmith::infer::{AllowedGaps, Conclusion, InferOptions, allowed, infer};
use fencesmith::limits::Monitor;
use fencesmith::lower::compile;
use fencesmith::memory::Model;
use fencesmith::program::Program;
use fencesmith::source::Source;
use fencesmith::verify::{Verdict, VerifyOptions, verify};
use fencesmith_testing::programs::{INTEGERS, names, source};
use rayon::prelude::*;

/// What a header says of one model.
struct Expected {
    model: Model,
    verdict: String,
    cost: Option<(bool, u64)>,
}

fn expected(source: &Source) -> Vec<Expected> {
    let lines = source.text().lines();
    let lines = lines.filter_map(|line| line.strip_prefix("// expect "));
    lines
        .map(|line| {
            let (model, rest) = line.split_once(": ").expect("a model");
            let (verdict, cost) = rest.split_once(", cost ").map_or((rest, None), |(v, c)| {
                let exact = !c.starts_with("at most ");
                let number = c.trim_start_matches("at most ").parse();
                (v, Some((exact, number.expect("a cost"))))
            });
            Expected {
                model: model.parse().expect("a model"),
                verdict: verdict.to_string(),
                cost,
            }
        })
        .collect()
}

fn compiled(source: &Source) -> Program {
    compile(source).unwrap_or_else(|errors| panic!("{}: {errors:?}", source.name()))
}

fn verdict(program: &Program, model: Model) -> &'static str {
    let program = program.fenced(&Default::default());
    let answer = verify(
        &program,
        &VerifyOptions::refining(model),
        &Monitor::default(),
    );
    match answer.verdict {
        Verdict::Correct => "correct",
        Verdict::Violated => "violated",
        Verdict::Inconclusive(_) => "open",
    }
}

fn each(check: impl Fn(&Source, &Program) + Sync) {
    let names = names(&[INTEGERS]);
    assert!(names.len() >= 15, "only {} programs", names.len());
    names.par_iter().for_each(|name| {
        let source = source(name);
        check(&source, &compiled(&source));
    });
}

#[test]
fn verdicts_are_as_expected() {
    each(|source, program| {
        for expected in expected(source) {
            let found = verdict(program, expected.model);
            let Expected { model, verdict, .. } = &expected;
            assert_eq!(found, verdict, "{} under {model}", source.name());
        }
    });
}

/// What fences cost, and that certificates of placements and of correctness are accepted.
/// The same states, constants and executions, whoever looks for them.
#[test]
fn threads_change_nothing() {
    for (name, model, join) in [
        ("bakery-3", Model::Sc, false),
        ("bakery-3", Model::Tso, false),
        ("counter", Model::Tso, false),
        ("counter", Model::Tso, true),
        ("ticket-3", Model::Pso, false),
    ] {
        let source = source(&format!("{INTEGERS}/{name}"));
        let program = compiled(&source).fenced(&Default::default());
        let answer = |threads| {
            let mut options = VerifyOptions::refining(model);
            options.threads = threads;
            options.join = join;
            options.limits.max_states = Some(30_000);
            let answer = verify(&program, &options, &Monitor::default());
            format!("{answer:?}")
        };
        let alone = answer(1);
        for threads in [2, 5] {
            assert_eq!(answer(threads), alone, "{name} under {model}");
        }
    }
}

#[test]
fn costs_are_as_expected() {
    each(|source, program| {
        for expected in expected(source) {
            let Some((exact, most)) = expected.cost else {
                continue;
            };
            let (model, monitor) = (expected.model, Monitor::default());
            let costs = allowed(program, AllowedGaps::Anywhere).into_iter();
            let costs = costs.map(|allowed| allowed.then_some(1)).collect();
            let options = InferOptions::new(VerifyOptions::refining(model), costs);
            let found = infer(program, &options, &monitor);
            let name = source.name();
            let best = match &found.conclusion {
                Conclusion::Correct(best) => best,
                Conclusion::Placed(placed) => &placed.best,
                other => panic!("{name} under {model}: {other:?}"),
            };
            let fits = if exact {
                best.cost == most
            } else {
                best.cost <= most
            };
            assert!(fits, "{name} under {model}: cost {}", best.cost);
            let made = certificate(source, program, &options, best, &found.clauses, &monitor);
            let made = made.expect("nothing ends it early");
            let text = serde_json::to_string(&made).expect("it can be written");
            let read = serde_json::from_str(&text).expect("it can be read");
            let checking = CheckOptions {
                threads: 1,
                ..CheckOptions::default()
            };
            let claim = check(source, program, &read, &checking, &monitor);
            let claim = claim.unwrap_or_else(|why| panic!("{name} under {model}: {why:?}"));
            assert!(claim.cost == best.cost && claim.lower_bound <= best.cost);
            let mut fewer = read.clone();
            fewer.proof.thresholds.differences.clear();
            fewer.proof.thresholds.single.clear();
            let refused = check(source, program, &fewer, &checking, &monitor);
            assert!(
                made.proof.thresholds.is_empty() || refused.is_err(),
                "{name}"
            );
        }
    });
}

#[test]
fn correctness_is_certified() {
    each(|source, program| {
        for expected in expected(source) {
            let (model, monitor) = (expected.model, Monitor::default());
            if expected.verdict != "correct" {
                continue;
            }
            let options = VerifyOptions::refining(model);
            let fences = Default::default();
            let answer = verify(&program.fenced(&fences), &options, &monitor);
            let made =
                certificate_of_correctness(source, program, &fences, &options, &answer, &monitor);
            let made = made.expect("nothing ends it early");
            let checking = CheckOptions {
                threads: 1,
                ..CheckOptions::default()
            };
            let claim = check_correctness(source, program, &made, &checking, &monitor);
            assert!(claim.is_ok(), "{} under {model}: {claim:?}", source.name());
        }
    });
}

#[test]
fn mutants_are_wrong() {
    each(|source, _| {
        let lines = source.text().lines();
        let mutants = lines.filter_map(|line| line.strip_prefix("// mutant: replace \""));
        let mut count = 0;
        for mutant in mutants {
            let parts = mutant
                .strip_suffix('"')
                .and_then(|m| m.split_once("\" by \""));
            let (from, to) = parts.expect("a mutant: replace \"…\" by \"…\"");
            let (header, code) = source.text().split_once("\n\n").expect("a header");
            assert!(code.contains(from), "{}: no {from}", source.name());
            let text = format!("{header}\n\n{}", code.replace(from, to));
            let changed = Source::new(source.name(), text);
            let found = verdict(&compiled(&changed), Model::Sc);
            assert_eq!(found, "violated", "{} with {to}", source.name());
            count += 1;
        }
        assert!(count > 0, "{} has no mutant", source.name());
    });
}

/// Printed for Memorax and read again, with `Z` as all integers.
#[test]
fn machines_over_all_integers() {
    let mut read = 0;
    for name in names(&[INTEGERS]) {
        let source = source(&name);
        let Ok(text) = fencesmith::export::rmm::print(&compiled(&source), &source) else {
            continue;
        };
        let machine = Source::new("machine.rmm", text);
        let ast = fencesmith::import::read(fencesmith::import::Format::Rmm, &machine, &[]);
        let ast = fencesmith::lang::unbounded(ast.expect("it is a machine"));
        let symbols = fencesmith::lang::resolve::resolve(&ast).expect("it is well formed");
        let program = fencesmith::lower::lower(&ast, &symbols);
        assert!(program.has_integers(), "{name}");
        for expected in expected(&source).iter().filter(|it| it.verdict != "open") {
            let found = verdict(&program, expected.model);
            assert_eq!(found, expected.verdict, "{name} under {}", expected.model);
        }
        read += 1;
    }
    assert!(read >= 3, "only {read} machines");
}

/// A machine whose variables and registers may start with any integer.
#[test]
fn machines_that_start_anywhere() {
    let text = |first: &str| {
        format!(
            "forbidden\n  B\ndata\n  x = {first} : Z\nprocess\nregisters\n  $r = {first} : Z\ntext\n  \
             read: $r := x;\n  assume: $r > 5;\n  B: nop\n"
        )
    };
    for (first, expected) in [("*", "violated"), ("0", "correct")] {
        let machine = Source::new("machine.rmm", text(first));
        let ast = fencesmith::import::read(fencesmith::import::Format::Rmm, &machine, &[]);
        let ast = ast.expect("it is a machine");
        let bounded = fencesmith::lang::resolve::resolve(&ast);
        assert_eq!(bounded.is_err(), first == "*");
        let ast = fencesmith::lang::unbounded(ast);
        let symbols = fencesmith::lang::resolve::resolve(&ast).expect("it is well formed");
        let program = fencesmith::lower::lower(&ast, &symbols);
        assert_eq!(verdict(&program, Model::Tso), expected);
    }
}

/// What an integer takes or is compared with may have no value, and that is a failure, although
/// the integer itself is not looked at.
#[test]
fn values_that_are_missing() {
    let statements = [
        "r = 1 / b;",
        "r = r + 1 / b;",
        "store x = 1 / b;",
        "store x = r + 1 / b;",
        "swap r = x, 1 / b;",
        "add r = x, 1 / b;",
        "cas ok = x, 1 / b, 0;",
        "cas ok = x, 0, 1 / b;",
        "havoc r in 0..=1 / b;",
        "load r = a[1 / b];",
        "load r = a[r + 1 / b];",
        "if (r > 1 / b) { skip; }",
        "ok = r > 1 / b;",
        "assume(r > 1 / b);",
        "assert(r <= 1 / b);",
        "r = ok ? r : 1 / b;",
        "atomic { store x = 1 / b; }",
        "atomic { r = 1 / b; assume(r > 3); }",
        "atomic { assume(r >= 0); assert(b == 1); assume(r > 3); }",
    ];
    for statement in statements {
        let text = format!(
            "shared integer x, a[2]; process p {{ integer r; bool ok; int[0..=1] b; {statement} }}"
        );
        let program = compiled(&Source::new("missing.fen", text));
        assert_eq!(verdict(&program, Model::Tso), "violated", "{statement}");
    }
}
