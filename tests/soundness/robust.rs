//! Robustness against the oracle, known answers, and every set of fences.

use fencesmith::infer::{Conclusion, InferOptions, infer};
use fencesmith::limits::{Limits, Monitor};
use fencesmith::lower::compile;
use fencesmith::memory::{Abstraction, Atomics, Model, Semantics};
use fencesmith::program::{PointId, PointSet, Program};
use fencesmith::property::Violation;
use fencesmith::source::Source;
use fencesmith::verify::{Inconclusive, Strategy, Verdict, VerifyOptions};
use fencesmith_testing::cases::{case, families};
use fencesmith_testing::oracle::interpreter::{self, Setup};
use fencesmith_testing::programs::{answer, program, source};
use fencesmith_testing::questions::{Shape, questions};
use rayon::prelude::*;

const RELAXED: [Model; 2] = [Model::Tso, Model::Pso];

fn options(model: Model, abstraction: Abstraction, atomics: Atomics, fuse: bool) -> VerifyOptions {
    VerifyOptions {
        robust: true,
        strategy: Strategy::Refine,
        limits: Limits {
            max_states: Some(20_000),
            ..Limits::default()
        },
        ..VerifyOptions::under(Semantics {
            atomics,
            fuse,
            ..Semantics::new(model, abstraction)
        })
    }
}

fn usual(model: Model) -> VerifyOptions {
    options(model, Abstraction::Fd { k: 1 }, Atomics::DrainPlace, true)
}

fn compiled(text: &str) -> Program {
    let source = Source::new("random.fen", text.to_string());
    compile(&source).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"))
}

/// Whether a relaxed model reaches a state without pending stores that SC does not reach; none if
/// there are too many states or a statement fails.
fn by_oracle(text: &str, model: Model, atomics: Atomics) -> Option<bool> {
    let source = Source::new("random.fen", text.to_string());
    let ast = fencesmith::lang::parser::parse(&source).expect("it is a program");
    let setup = |model| Setup {
        model,
        bound: 8,
        atomics: match atomics {
            Atomics::DrainPlace => interpreter::Atomics::DrainPlace,
            Atomics::DrainAll => interpreter::Atomics::DrainAll,
        },
        max_states: 6_000,
    };
    let relaxed = match model {
        Model::Sc => interpreter::Model::Sc,
        Model::Tso => interpreter::Model::Tso,
        Model::Pso => interpreter::Model::Pso,
    };
    let [sc, relaxed] = [interpreter::Model::Sc, relaxed].map(|model| {
        let found = interpreter::explore(&ast, &setup(model));
        let fails =
            |found: &interpreter::Violation| !matches!(found, interpreter::Violation::Property(_));
        let usable =
            found.complete && !found.waited_for_room && !found.violations.iter().any(fails);
        usable.then_some(found)
    });
    let (sc, relaxed) = (sc?, relaxed?);
    assert!(sc.quiescent.is_subset(&relaxed.quiescent), "{text}");
    Some(sc.quiescent == relaxed.quiescent)
}

/// Compares with the oracle; whether the program is robust, under each model that was compared.
fn compare(text: &str, seed: u64) -> Vec<bool> {
    let program = compiled(text).fenced(&PointSet::new());
    let atomics = [Atomics::DrainPlace, Atomics::DrainAll][(seed % 2) as usize];
    let compared = RELAXED.into_iter().filter_map(|model| {
        let robust = by_oracle(text, model, atomics)?;
        let fuse = !seed.is_multiple_of(3);
        for abstraction in [Abstraction::Fd { k: 1 }, Abstraction::Exact { bound: 8 }] {
            let found = answer(&program, &options(model, abstraction, atomics, fuse));
            let expected = match robust {
                true => Verdict::Correct,
                false => Verdict::Violated,
            };
            match found.verdict {
                Verdict::Inconclusive(Inconclusive::Limit(_)) => return None,
                verdict => assert_eq!(verdict, expected, "{seed} {model} {abstraction}\n{text}"),
            }
            if let Some((violation, trace)) = found.into_trace() {
                assert_eq!(violation, Violation::NotSequential);
                let pending = |state: &fencesmith::space::Snapshot| {
                    state
                        .configs
                        .iter()
                        .any(|config| !config.buffers.is_empty())
                };
                assert!(!pending(trace.last()), "{text}");
            }
        }
        Some(robust)
    });
    compared.collect()
}

#[test]
fn random_programs_are_as_robust_as_the_oracle_says() {
    let families = families();
    let compared: Vec<bool> = (0..250u64)
        .into_par_iter()
        .flat_map_iter(|seed| {
            let straight = questions(seed, Shape::Straight).body;
            let themed = case(seed, &families[1]).text;
            let branching = case(seed, &families[2]).text;
            [straight, themed, branching]
                .into_iter()
                .flat_map(move |text| compare(&text, seed))
        })
        .collect();
    let robust = compared.iter().filter(|robust| **robust).count();
    let others = compared.len() - robust;
    println!("{robust} robust, {others} not");
    assert!(
        robust > 500 && others > 200,
        "{robust} robust, {others} not"
    );
}

/// The fewest fences that make a program robust, by trying every set, small ones first.
fn fewest(whole: &Program, model: Model) -> Option<usize> {
    let points = whole.points.len();
    let mut masks: Vec<usize> = (0..1 << points).collect();
    masks.sort_by_key(|mask| mask.count_ones());
    for mask in masks {
        let fences = (0..points as u32).filter(|bit| mask >> bit & 1 == 1);
        let fences: PointSet = fences.map(PointId).collect();
        let exact = Abstraction::Exact { bound: 8 };
        let exact = options(model, exact, Atomics::DrainPlace, true);
        match answer(&whole.fenced(&fences), &exact).verdict {
            Verdict::Correct => return Some(fences.len()),
            Verdict::Violated => {}
            Verdict::Inconclusive(_) => return None,
        }
    }
    None
}

fn inferred(whole: &Program, model: Model) -> Option<usize> {
    let options = InferOptions::new(usual(model), vec![Some(1); whole.points.len()]);
    match infer(whole, &options, &Monitor::default()).conclusion {
        Conclusion::Correct(_) => Some(0),
        Conclusion::Placed(placed) => Some(placed.best.fences.len()),
        _ => None,
    }
}

#[test]
fn the_fewest_fences_are_those_of_all_sets() {
    let families = families();
    let compared: Vec<usize> = (0..150u64)
        .into_par_iter()
        .flat_map_iter(|seed| {
            let text = case(seed, &families[1]).text;
            let whole = compiled(&text);
            let few = whole.points.len() <= 11 && !text.contains("assert");
            let models = RELAXED.into_iter().filter(move |_| few);
            models.filter_map(move |model| {
                let fewest = fewest(&whole, model)?;
                let inferred = inferred(&whole, model);
                assert_eq!(inferred, Some(fewest), "seed {seed}, {model}\n{text}");
                Some(fewest)
            })
        })
        .collect();
    let needed = compared.iter().filter(|fewest| **fewest > 0).count();
    println!("{} compared, {needed} of them need fences", compared.len());
    let enough = compared.len() > 100 && needed > 30;
    assert!(enough, "{} compared, {needed} need fences", compared.len());
}

/// The fewest fences under TSO and PSO.
#[track_caller]
fn check(name: &str, fences: [usize; 2]) {
    let whole = program(&source(name));
    let bare = whole.fenced(&PointSet::new());
    for (model, fences) in RELAXED.into_iter().zip(fences) {
        let expected = match fences {
            0 => Verdict::Correct,
            _ => Verdict::Violated,
        };
        let found = answer(&bare, &usual(model)).verdict;
        assert_eq!(found, expected, "{name} under {model}");
        assert_eq!(
            inferred(&whole, model),
            Some(fences),
            "{name} under {model}"
        );
    }
    assert_eq!(answer(&bare, &usual(Model::Sc)).verdict, Verdict::Correct);
}

#[test]
fn litmus_tests_have_known_answers() {
    check("litmus/sb", [2, 2]);
    check("litmus/mp", [0, 1]);
    check("litmus/lb", [0, 0]);
    check("litmus/iriw", [0, 0]);
    check("litmus/2+2w", [0, 2]);
    check("litmus/3.sb", [3, 3]);
    check("litmus/mp+ss", [0, 0]);
    check("litmus/mp+fence", [0, 0]);
}

/// A local that is not read any more, and a property that holds, make no difference.
#[test]
fn what_is_compared() {
    let sb = "shared bool x, y; process p { bool r; store x = 1; load r = y; }
        process q { bool r; store y = 1; load r = x; }";
    let verdict =
        |text: &str, model| answer(&compiled(text).fenced(&PointSet::new()), &usual(model)).verdict;
    assert_eq!(verdict(sb, Model::Tso), Verdict::Violated);
    assert_eq!(
        verdict(&format!("{sb} final x;"), Model::Tso),
        Verdict::Violated
    );
    // Nobody keeps what was read.
    let forgets = sb
        .replace("load r = x;", "load r = x; r = 0;")
        .replace("load r = y;", "load r = y; r = 0;");
    assert_eq!(verdict(&forgets, Model::Tso), Verdict::Violated);
    let atomically = "shared bool x, y; process p { store x = 1; } process q { store y = 1; }";
    assert_eq!(verdict(atomically, Model::Pso), Verdict::Correct);
    // Properties are not looked at, failed statements are.
    assert_eq!(
        verdict(&format!("{atomically} forbid x;"), Model::Pso),
        Verdict::Correct
    );
    let fails = "shared bool x; process p { bool r; load r = x; assert (r); }";
    assert_eq!(verdict(fails, Model::Tso), Verdict::Violated);
}

#[test]
fn limits_are_outcomes() {
    let whole = program(&source("mutex/peterson")).fenced(&PointSet::new());
    let few_states = |states| Limits {
        max_states: Some(states),
        ..Limits::default()
    };
    let little_memory = Limits {
        max_memory: Some(1000),
        ..Limits::default()
    };
    for limits in [few_states(1), few_states(100), little_memory] {
        let limited = VerifyOptions {
            limits,
            ..usual(Model::Tso)
        };
        let found = answer(&whole, &limited).verdict;
        assert!(
            matches!(found, Verdict::Inconclusive(Inconclusive::Limit(_))),
            "{found:?}"
        );
    }
}
