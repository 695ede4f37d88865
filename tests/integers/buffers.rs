//! How long the buffers of programs with integers get.

use crate::generate::{Shape, program};
use crate::random::MODELS;
use crate::translated::{shape, tree};
use fencesmith::lang::resolve::resolve;
use fencesmith::limits::{Limits, Monitor};
use fencesmith::lower::compile;
use fencesmith::memory::{Abstraction, Model, Semantics};
use fencesmith::occupancy::{Length, OccupancyOptions, occupancy, occupancy_of_integers};
use fencesmith::source::Source;
use fencesmith::verify::VerifyOptions;
use fencesmith_testing::programs::{INTEGERS, source};
use fencesmith_testing::random::{Random, seeds};
use rayon::prelude::*;

/// Without loops, values stay small: the lengths are those of the same program with ranges.
#[test]
fn lengths_of_buffers() {
    let count = (0..40u64).into_par_iter().map(|seed| {
        let shape = Shape {
            octagons: false,
            accesses: true,
            statements: 4,
            ..shape(seed, false)
        };
        let text = program(5 << 32 | seed, shape);
        let source = Source::new("random.fen", text.clone());
        let ranged = Source::new("ranged.fen", text.replace("integer", "int[-60..=60]"));
        let model = MODELS[1 + (seed % 2) as usize].0;
        let asked = OccupancyOptions {
            semantics: Semantics::new(model, Abstraction::Exact { bound: 6 }),
            most: 6,
            limits: Limits::default(),
        };
        let monitor = Monitor::default();
        let Ok(bounded) = compile(&ranged) else {
            return 0;
        };
        let expected = occupancy(&bounded.fenced(&Default::default()), &asked, &monitor);
        let whole = compile(&source)
            .expect("it compiles")
            .fenced(&Default::default());
        let ast = tree(&source);
        let symbols = resolve(&ast).expect("it is well formed");
        let found = occupancy_of_integers((&ast, &symbols), &whole, &asked, &monitor);
        let mut settled = 0;
        for ((queue, found), (same, expected)) in found.queues.iter().zip(&expected.queues) {
            assert_eq!(queue, same);
            if let (Length::Exactly(found), Length::Exactly(expected)) = (found, expected) {
                assert_eq!(found, expected, "{queue:?} under {model}\n{text}");
                settled += 1;
            }
            assert!(!matches!(found, Length::Unbounded(_)), "{text}");
        }
        settled
    });
    let settled: usize = count.sum();
    println!("{settled} queues");
    assert!(settled > 60, "only {settled} queues");
}

/// Indices of a queue keep its buffers short, and no loop of the automaton tells.
#[test]
fn integers_bound_buffers() {
    let lengths = |name: &str, model: Model, most: usize| {
        let source = source(&format!("{INTEGERS}/{name}"));
        let ast = tree(&source);
        let symbols = resolve(&ast).expect("it is well formed");
        let program = compile(&source)
            .expect("it compiles")
            .fenced(&Default::default());
        let asked = OccupancyOptions {
            semantics: VerifyOptions::refining(model).semantics,
            most,
            limits: Limits::default(),
        };
        let found = occupancy_of_integers((&ast, &symbols), &program, &asked, &Monitor::default());
        let lengths = found.queues.into_iter().map(|(_, length)| length);
        lengths.collect::<Vec<_>>()
    };
    let exactly = |all: &[usize]| all.iter().map(|n| Length::Exactly(*n)).collect::<Vec<_>>();
    assert_eq!(lengths("ticket", Model::Tso, 4), exactly(&[1, 1]));
    assert_eq!(lengths("pgsql", Model::Tso, 4), exactly(&[3, 3]));
    let unbounded = |length: &Length| matches!(length, Length::Unbounded(_));
    for (name, model) in [
        ("ticket", Model::Pso),
        ("bakery", Model::Tso),
        ("bakery", Model::Pso),
    ] {
        let found = lengths(name, model, 2);
        assert!(
            found.iter().all(unbounded),
            "{name} under {model}: {found:?}"
        );
    }
    // Only the writers.
    for name in ["publish", "increasing"] {
        let found = lengths(name, Model::Tso, 2);
        let count = found.iter().filter(|length| unbounded(length)).count();
        assert_eq!(count, 1, "{name}: {found:?}");
    }
}

/// A loop that fills a queue is one that integers let go round for ever.
#[test]
fn loops_that_fill_buffers() {
    let length = |body: &str, model: Model| {
        let text = format!(
            "shared integer x, y; shared bool go;\n\
             process p {{ integer n, m; bool b; {body} }}\n\
             process q {{ store go = true; }}\n"
        );
        let source = Source::new("loop.fen", text);
        let ast = tree(&source);
        let symbols = resolve(&ast).expect("it is well formed");
        let program = compile(&source)
            .expect("it compiles")
            .fenced(&Default::default());
        let asked = OccupancyOptions {
            semantics: VerifyOptions::refining(model).semantics,
            most: 3,
            limits: Limits::default(),
        };
        let found = occupancy_of_integers((&ast, &symbols), &program, &asked, &Monitor::default());
        found.queues[0].1.clone()
    };
    let endless = [
        "while (true) { store x = n; n = n + 1; }",
        // What is compared does not change.
        "m = 3; while (m > 2) { store x = n; n = n - 1; }",
        // It changes in a way that helps.
        "while (n < 5) { store x = n; n = n - 1; }",
        "while (n - m <= 0) { store x = n; n = n + 1; m = m + 2; }",
        // The own store is read back.
        "store x = 7; while (true) { load n = x; assume(n == 7); store x = n; }",
        "while (true) { havoc n in m..=m + 1; assume(n > m); store x = n; m = n; }",
        // Others have to move first.
        "do { load b = go; } while (!b); while (true) { store x = n; n = n + 1; }",
        // Sums of two integers.
        "while (n + m <= 3) { store x = n; n = n + 1; m = m - 1; }",
    ];
    let ending = [
        "while (n < 9) { store x = n; n = n + 1; }",
        "while (n - m <= 9) { store x = n; n = n + 2; m = m + 1; }",
        "while (true) { store x = n; fence; n = n + 1; }",
        "while (true) { load n = x; assume(n < 4); store x = n + 1; }",
        "while (true) { havoc n in m..=m + 1; assume(n > m && n < 8); store x = n; m = n; }",
        "while (n + m <= 9) { store x = n; n = n + 1; m = m + 1; }",
    ];
    for model in [Model::Tso, Model::Pso] {
        for body in endless {
            let found = length(body, model);
            assert!(
                matches!(found, Length::Unbounded(_)),
                "{body} under {model}: {found:?}"
            );
        }
        for body in ending {
            let found = length(body, model);
            assert!(
                !matches!(found, Length::Unbounded(_)),
                "{body} under {model}: {found:?}"
            );
        }
    }
}

/// What is called unbounded is not bounded with ranges, which end an execution only after many
/// rounds.
#[test]
fn random_loops_that_fill_buffers() {
    let count = seeds(0, 200).into_par_iter().map(|seed| {
        let text = filling(seed);
        let source = Source::new("random.fen", text.clone());
        let ranged = Source::new("ranged.fen", text.replace("integer", "int[-60..=60]"));
        let model = MODELS[1 + (seed % 2) as usize].0;
        let asked = OccupancyOptions {
            semantics: Semantics::new(model, Abstraction::Exact { bound: 4 }),
            most: 4,
            limits: Limits {
                max_states: Some(20_000),
                ..Limits::default()
            },
        };
        let monitor = Monitor::default();
        let Ok(bounded) = compile(&ranged) else {
            return 0;
        };
        let whole = compile(&source).expect("it compiles");
        let whole = whole.fenced(&Default::default());
        let ast = tree(&source);
        let symbols = resolve(&ast).expect("it is well formed");
        let once = OccupancyOptions {
            most: 1,
            ..asked.clone()
        };
        let found = occupancy_of_integers((&ast, &symbols), &whole, &once, &monitor);
        let unbounded = |length: &Length| matches!(length, Length::Unbounded(_));
        let count = found.queues.iter().filter(|(_, length)| unbounded(length));
        let count = count.count();
        if count == 0 {
            return 0;
        }
        let expected = occupancy(&bounded.fenced(&Default::default()), &asked, &monitor);
        for ((queue, found), (same, expected)) in found.queues.iter().zip(&expected.queues) {
            assert_eq!(queue, same);
            let most = match expected {
                Length::Exactly(length) => Some(*length),
                Length::Unknown { at_most, .. } => *at_most,
                Length::Unbounded(_) => None,
            };
            assert!(
                !unbounded(found) || most.is_none_or(|most| most >= asked.most),
                "{queue:?} under {model}: {most:?}\n{text}"
            );
        }
        count
    });
    let unbounded: usize = count.sum();
    println!("{unbounded} queues without a longest length");
    assert!(unbounded > 20, "only {unbounded} queues");
}

/// A process with a loop that stores, and one that does something else.
fn filling(seed: u64) -> String {
    let mut random = Random(7 << 32 | seed);
    let mut one_of = |all: &[&'static str]| all[random.below(all.len())];
    let guards = [
        "true",
        "true",
        "n < 3",
        "n > -3",
        "n - m <= 2",
        "m - n < 1",
        "m > 0",
        "n == m",
        "n != 2",
    ];
    let steps = [
        "n = n + 1;",
        "n = n - 1;",
        "m = m + 2;",
        "m = m - 1;",
        "m = n;",
        "load n = x;",
        "load m = y;",
        "store y = m;",
        "assume(n <= m + 2);",
        "if (n > m) { n = m; }",
        "if (*) { n = 0; }",
        "havoc m in n..=n + 1;",
        "fence;",
        "skip;",
    ];
    let others = [
        "store y = 1;",
        "store x = 2;",
        "load r = x; store y = r;",
        "skip;",
    ];
    let (first, guard) = (one_of(&steps), one_of(&guards));
    let body: Vec<&str> = (0..3).map(|_| one_of(&steps)).collect();
    let (stored, other) = (one_of(&["n", "m", "n + 1", "7"]), one_of(&others));
    format!(
        "shared integer x, y;\nprocess p {{ integer n, m; {first} while ({guard}) {{ {} \
         store x = {stored}; {} }} }}\nprocess q {{ integer r; {other} }}\n",
        body[..2].join(" "),
        body[2],
    )
}
