//! Programs with integers as programs for SC: with buffers as variables, and over booleans. What
//! these show must be true of the original, by the naive interpreter.

use crate::generate::{Shape, program};
use crate::random::{MODELS, options, wrong};
use fencesmith::export::boolean::{self, Boolean, BooleanOptions, Predicates, Refusal};
use fencesmith::export::sequential::{Encoding, Overflow, SequentialOptions, translate};
use fencesmith::lang::ast::Ast;
use fencesmith::lang::parser::{parse, parse_predicates};
use fencesmith::lang::resolve::resolve;
use fencesmith::lang::unparse;
use fencesmith::limits::Monitor;
use fencesmith::lower::compile;
use fencesmith::memory::{Atomics, Model};
use fencesmith::property::Violation;
use fencesmith::source::Source;
use fencesmith::space::Thresholds;
use fencesmith::verify::{Verdict, verify};
use fencesmith_testing::programs::{INTEGERS, source};
use rayon::prelude::*;
use std::collections::BTreeSet;

/// What is found in a program for SC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Violation,
    Overflow,
    Nothing,
    Unknown,
}

/// The verdict on a printed program for SC, with so many states.
fn sequential(ast: &Ast, most: u64) -> (Found, String) {
    let printed = Source::new("printed.fen", unparse(ast, &[]));
    let program = compile(&printed).unwrap_or_else(|e| panic!("{e:?}\n{}", printed.text()));
    let program = program.fenced(&Default::default());
    let mut options = options(Model::Sc, false);
    options.limits.max_states = Some(most);
    let answer = verify(&program, &options, &Monitor::default());
    let found = match (answer.verdict, answer.counterexample()) {
        (Verdict::Correct, _) => Found::Nothing,
        (Verdict::Violated, Some(found)) => match found.violation {
            Violation::Failure(_, failure)
                if printed.slice(failure.span).contains("pending < ") =>
            {
                Found::Overflow
            }
            _ => Found::Violation,
        },
        _ => Found::Unknown,
    };
    (found, printed.text().to_string())
}

pub fn tree(source: &Source) -> Ast {
    parse(source).expect("it is a program")
}

pub fn shape(seed: u64, loops: bool) -> Shape {
    Shape {
        loops,
        octagons: seed.is_multiple_of(3),
        accesses: seed.is_multiple_of(2),
        statements: 5,
    }
}

#[test]
fn buffers_as_variables() {
    let count = (0..90u64).into_par_iter().map(|seed| {
        let source = Source::new("random.fen", program(3 << 32 | seed, shape(seed, false)));
        let ast = tree(&source);
        let (model, naive) = MODELS[1 + (seed % 2) as usize];
        let encoding = [Encoding::Direct, Encoding::Rba][(seed / 2 % 2) as usize];
        let overflow = [Overflow::Abort, Overflow::Wait][(seed / 4 % 2) as usize];
        let asked = SequentialOptions {
            model,
            atomics: Atomics::DrainPlace,
            encoding,
            overflow,
            bound: 3,
        };
        let symbols = resolve(&ast).expect("it is well formed");
        let printed = translate(&ast, &symbols, &asked).ast;
        let (found, printed) = sequential(&printed, 20_000);
        let wrong = wrong(&source, naive, 30_000);
        let fits = match (found, wrong) {
            (Found::Violation, Some(wrong)) => wrong,
            (Found::Nothing, Some(wrong)) => !wrong || overflow == Overflow::Wait,
            (Found::Overflow, _) => overflow == Overflow::Abort,
            _ => true,
        };
        let text = source.text();
        assert!(
            fits,
            "{asked:?}: {found:?}, wrong: {wrong:?}\n{text}\n{printed}"
        );
        [
            usize::from(found == Found::Violation),
            usize::from(found == Found::Nothing),
        ]
    });
    let [violated, proved] = count.reduce(|| [0; 2], |a, b| [a[0] + b[0], a[1] + b[1]]);
    println!("{violated} violated, {proved} proved");
    assert!(violated > 20 && proved > 15, "{violated} {proved}");
}

/// The program over booleans, with bounds by the thresholds that verification finds.
fn over_booleans(
    source: &Source,
    model: Model,
    bound: usize,
) -> (Verdict, Result<Boolean, Refusal>) {
    let ast = tree(source);
    let symbols = resolve(&ast).expect("it is well formed");
    let whole = compile(source).expect("it compiles");
    let original = whole.fenced(&Default::default());
    let answer = verify(&original, &options(model, false), &Monitor::default());
    let translated = boolean::translate(
        &ast,
        &symbols,
        &BooleanOptions {
            model,
            atomics: Atomics::DrainPlace,
            bound,
            predicates: Predicates::Thresholds(answer.thresholds),
            cube: 2,
        },
    );
    (answer.verdict, translated)
}

/// A proof of the program over booleans is one of the original.
#[test]
fn proofs_over_booleans() {
    let count = (0..90u64).into_par_iter().map(|seed| {
        let shape = shape(seed, seed.is_multiple_of(3));
        let source = Source::new("random.fen", program(4 << 32 | seed, shape));
        let (model, naive) = MODELS[(seed % 3) as usize];
        let (verdict, translated) = over_booleans(&source, model, 2);
        let Ok(Boolean { ast, .. }) = translated else {
            return [0; 3];
        };
        let (found, printed) = sequential(&ast, 1_500);
        let wrong = wrong(&source, naive, 10_000);
        let text = source.text();
        assert!(
            found != Found::Nothing || wrong != Some(true),
            "proved, but wrong under {model}\n{text}\n{printed}"
        );
        assert!(
            found != Found::Nothing || verdict != Verdict::Violated,
            "proved, but violated under {model}\n{text}\n{printed}"
        );
        [
            usize::from(found == Found::Nothing),
            usize::from(verdict == Verdict::Correct),
            usize::from(verdict == Verdict::Violated && found == Found::Violation),
        ]
    });
    let count = count.reduce(|| [0; 3], |a, b| [a[0] + b[0], a[1] + b[1], a[2] + b[2]]);
    let [proved, correct, violated] = count;
    println!("{proved} proved of {correct} that are, {violated} violated as well");
    assert!(2 * proved > correct && violated > 15, "{count:?}");
}

#[test]
fn algorithms_over_booleans() {
    let proved = [
        ("burns", Model::Sc),
        ("dekker", Model::Sc),
        ("dijkstra", Model::Sc),
        ("epochs", Model::Sc),
        ("increasing", Model::Sc),
        ("peterson", Model::Sc),
        ("publish", Model::Sc),
        ("simple-dekker", Model::Sc),
        ("token-ring", Model::Sc),
        ("ticket", Model::Sc),
        ("ticket", Model::Tso),
    ];
    proved.par_iter().for_each(|(name, model)| {
        let source = source(&format!("{INTEGERS}/{name}"));
        let (verdict, translated) = over_booleans(&source, *model, 1);
        assert_eq!(verdict, Verdict::Correct, "{name} under {model}");
        let Boolean { ast, .. } = translated.expect("it can be said");
        let (found, _) = sequential(&ast, 20_000);
        assert_eq!(found, Found::Nothing, "{name} under {model}");
    });
}

#[test]
fn predicates_of_a_file() {
    let source = source(&format!("{INTEGERS}/ticket"));
    let ast = tree(&source);
    let symbols = resolve(&ast).expect("it is well formed");
    let with = |text: &str| {
        let file = Source::new("predicates", text);
        let given = parse_predicates(&file).expect("they are predicates");
        boolean::translate(
            &ast,
            &symbols,
            &BooleanOptions {
                model: Model::Tso,
                atomics: Atomics::DrainPlace,
                bound: 1,
                predicates: Predicates::Given(given),
                cube: 2,
            },
        )
    };
    let names = [
        "next",
        "serving",
        "p[0].mine",
        "p[0].now",
        "p[1].mine",
        "p[1].now",
    ];
    let mut all = String::new();
    for (at, left) in names.iter().enumerate() {
        for right in &names[at + 1..] {
            all += &format!("{left} < {right}; {left} - {right} <= 0;\n");
        }
    }
    let given = with(&all).expect("it can be said");
    let (_, found) = over_booleans(&source, Model::Tso, 1);
    let meanings = |translated: &Boolean| {
        let meanings = translated.meanings.iter();
        let meanings = meanings.map(|(_, meaning)| meaning.clone());
        meanings.collect::<BTreeSet<String>>()
    };
    // With the copies for slots, these are the bounds that verification finds, but for those
    // that relate a variable to its own copies.
    let mut found = meanings(&found.expect("it can be said"));
    found.retain(|meaning| {
        let copies = meaning.matches("p_integer").count();
        copies == 0 || copies == 1 && !meaning.contains("serving")
    });
    let copied = meanings(&given);
    assert!(
        copied.contains("p_integer[0] - p[0].mine <= -1"),
        "{copied:?}"
    );
    assert_eq!(copied, found);
    assert_eq!(sequential(&given.ast, 20_000).0, Found::Nothing);
    // Too little is known.
    let Boolean {
        ast: translated, ..
    } = with("serving < next;").expect("it can be said");
    assert_eq!(sequential(&translated, 20_000).0, Found::Violation);
    for (text, message) in [
        ("nxt < serving;", "unknown"),
        ("p[0] at critical;", "says nothing about integers"),
        ("next + serving + p[0].mine < 1;", "two integers, not more"),
    ] {
        match with(text) {
            Err(Refusal::Predicates(wrong)) => {
                assert!(wrong[0].message.contains(message), "{wrong:?}")
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn too_many_predicates() {
    let source = source(&format!("{INTEGERS}/bakery-3"));
    let ast = tree(&source);
    let thresholds: Thresholds = "-5,-4,-3,-2,-1,0/-2,-1,0,1".parse().expect("thresholds");
    let translated = boolean::translate(
        &ast,
        &resolve(&ast).expect("it is well formed"),
        &BooleanOptions {
            model: Model::Pso,
            atomics: Atomics::DrainPlace,
            bound: 3,
            predicates: Predicates::Thresholds(thresholds),
            cube: 2,
        },
    );
    assert!(
        matches!(translated, Err(Refusal::TooMany(_))),
        "{translated:?}"
    );
}
