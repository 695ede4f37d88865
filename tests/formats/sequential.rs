//! Programs with their buffers as variables, under SC, against the originals under TSO and PSO.

use fencesmith::export::sequential::{
    Encoding, Overflow, Sequential, SequentialOptions, translate,
};
use fencesmith::lang::ast::Ast;
use fencesmith::lang::parser::parse;
use fencesmith::lang::resolve::resolve;
use fencesmith::lang::unparse;
use fencesmith::lower::lower;
use fencesmith::memory::{Atomics, Model};
use fencesmith::program::Program;
use fencesmith::property::Violation;
use fencesmith::source::Source;
use fencesmith::verify::{Inconclusive, Verdict};
use fencesmith_testing::cases::{case, families, template_case};
use fencesmith_testing::programs;
use fencesmith_testing::programs::{answer, capped, exact};
use rayon::prelude::*;

const MOST_STATES: u64 = 60_000;

/// The translated program, as the text that is printed is read.
fn sequential(ast: &Ast, options: &SequentialOptions) -> (Source, Program) {
    let symbols = resolve(ast).expect("the program is well formed");
    let Sequential { ast, .. } = translate(ast, &symbols, options);
    let source = Source::new("sequential.fen", unparse(&ast, &[]));
    let program = programs::program(&source);
    (source, program)
}

/// What is found: a violation, a full buffer, nothing, or too many states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Violation,
    Overflow,
    Nothing,
    TooMuch,
}

fn sequential_verdict(ast: &Ast, options: &SequentialOptions) -> (Found, String) {
    let (source, program) = sequential(ast, options);
    let program = program.fenced(&Default::default());
    let answer = answer(&program, &capped(exact(Model::Sc, 1), 20 * MOST_STATES));
    let found = match (answer.verdict, answer.counterexample()) {
        (Verdict::Correct, _) => Found::Nothing,
        (Verdict::Violated, Some(found)) => match found.violation {
            Violation::Failure(_, failure)
                if source
                    .slice(failure.span)
                    .contains("pending < buffer_bound") =>
            {
                Found::Overflow
            }
            _ => Found::Violation,
        },
        _ => Found::TooMuch,
    };
    (found, source.text().to_string())
}

/// The same question to the original with buffers up to a bound.
fn exact_verdict(program: &Program, options: &SequentialOptions) -> Found {
    let mut asked = capped(exact(options.model, options.bound), MOST_STATES);
    asked.semantics.atomics = options.atomics;
    let answer = answer(program, &asked);
    match answer.verdict {
        Verdict::Correct => Found::Nothing,
        Verdict::Violated => Found::Violation,
        Verdict::Inconclusive(Inconclusive::Bound(_)) => Found::Overflow,
        Verdict::Inconclusive(_) => Found::TooMuch,
    }
}

/// How many verdicts were compared, of violations, overflows and proofs.
type Tally = [usize; 3];

fn compare(text: &str, ast: &Ast, program: &Program, options: SequentialOptions) -> Tally {
    let mut tally = [0; 3];
    let original = exact_verdict(program, &options);
    if original == Found::TooMuch {
        return tally;
    }
    for encoding in [Encoding::Direct, Encoding::Rba] {
        for overflow in [Overflow::Wait, Overflow::Abort] {
            let options = SequentialOptions {
                encoding,
                overflow,
                ..options
            };
            let (found, translated) = sequential_verdict(ast, &options);
            let fits = match (encoding, overflow, found) {
                (_, _, Found::TooMuch) => continue,
                // A proof is one of the original.
                (_, Overflow::Abort, Found::Nothing) => original == Found::Nothing,
                // A violation is one of the original with buffers of this length.
                (_, _, Found::Violation) => original == Found::Violation,
                // Slots that never shift run out earlier.
                (Encoding::Rba, Overflow::Wait, Found::Nothing) => true,
                (Encoding::Rba, Overflow::Abort, Found::Overflow) => true,
                (Encoding::Direct, Overflow::Wait, Found::Nothing) => original != Found::Violation,
                // A violation may lie behind it.
                (Encoding::Direct, Overflow::Abort, Found::Overflow) => original != Found::Nothing,
                (_, Overflow::Wait, Found::Overflow) => false,
            };
            assert!(
                fits,
                "{options:?}: {found:?} instead of {original:?}\n{text}\n{translated}"
            );
            let at = match found {
                Found::Violation => 0,
                Found::Overflow => 1,
                Found::Nothing | Found::TooMuch => 2,
            };
            tally[at] += 1;
        }
    }
    tally
}

fn add(a: Tally, b: Tally) -> Tally {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

fn both(text: &str, ast: &Ast, program: &Program, seed: u64, bound: usize) -> Tally {
    let program = program.fenced(&Default::default());
    let atomics = [Atomics::DrainPlace, Atomics::DrainAll][(seed % 2) as usize];
    let options = |model| SequentialOptions {
        model,
        atomics,
        encoding: Encoding::Direct,
        overflow: Overflow::Abort,
        bound,
    };
    let one = |model| compare(text, ast, &program, options(model));
    add(one(Model::Tso), one(Model::Pso))
}

#[test]
fn random_programs() {
    let tally = (0..160u64).into_par_iter().map(|seed| {
        let options = &families()[(seed % 4) as usize];
        let case = case(seed, options);
        both(
            &case.text,
            &case.ast,
            &case.program,
            seed / 4,
            1 + (seed / 8 % 3) as usize,
        )
    });
    let [violations, overflows, proofs] = tally.reduce(|| [0; 3], add);
    assert!(
        violations > 50 && overflows > 50 && proofs > 50,
        "{violations} {overflows} {proofs}"
    );
}

#[test]
fn random_templates() {
    (0..24u64).into_par_iter().for_each(|seed| {
        let case = template_case(seed);
        both(
            &case.text,
            &case.ast,
            &case.program,
            seed,
            1 + (seed % 2) as usize,
        );
    });
}

#[test]
fn the_suite() {
    let names = programs::names(&["litmus", "queue", "lock", "barrier", "protocol", "mutex"]);
    let tally = names.par_iter().map(|name| {
        let source = programs::source(name);
        let ast = parse(&source).expect("the program is well formed");
        let symbols = resolve(&ast).expect("the program is well formed");
        let program = lower(&ast, &symbols);
        // Two places and a flag are the longest that litmus tests need.
        let bound = if name.starts_with("litmus") { 2 } else { 1 };
        both(source.text(), &ast, &program, 0, bound)
    });
    let [violations, overflows, proofs] = tally.reduce(|| [0; 3], add);
    assert!(
        violations > 50 && overflows > 20 && proofs > 50,
        "{violations} {overflows} {proofs}"
    );
}

/// Every construct of the language, as its document shows it.
#[test]
fn the_language() {
    let text = include_str!("../../docs/language.md");
    let mut examples: Vec<String> = text
        .split("```fen\n")
        .skip(1)
        .filter_map(|rest| Some(rest.split_once("```")?.0.to_string()))
        .filter(|example| !example.contains("integer"))
        .collect();
    assert!(examples.len() >= 15, "only {} examples", examples.len());
    // Waits for own stores, loops around them, and cells of a matrix.
    examples.push(
        "shared int[0..=2] x[2][2]; shared bool f;
         macro put(r, c, v) { store x[r][c] = v; }
         process p { int[0..=1] i; bool ok; int[0..=2] old;
             for (i in 0..=1) { put(i, 1 - i, i + 1); await (x[i][1 - i] == i + 1); }
             fence sl; await (!f); repeat (2) { store f = true; }
             cas ok, old = x[1][0], 2, 0; assert(ok && old == 2); }
         process q { int[0..=2] a, b; await (f); load a = x[0][1]; load b = x[1][0];
             assert(a == 1); }"
            .to_string(),
    );
    let tally = examples.iter().map(|example| {
        let source = Source::new("example.fen", example.as_str());
        let ast = parse(&source).expect("the program is well formed");
        let program = lower(&ast, &resolve(&ast).expect("the program is well formed"));
        both(example, &ast, &program, 0, 4)
    });
    let [violations, _, proofs] = tally.fold([0; 3], add);
    assert!(violations > 20 && proofs > 50, "{violations} {proofs}");
}
