//! Programs that are printed in C: gcc takes them, and they have the verdicts of the originals.

use crate::run::{Folder, compiled, gcc_accepts};
use assert_cmd::Command;
use fencesmith::export::c::{COptions, print};
use fencesmith::export::sequential::{
    Encoding, Overflow, Sequential, SequentialOptions, translate,
};
use fencesmith::lang::ast::Ast;
use fencesmith::lang::parser::parse;
use fencesmith::lang::resolve::resolve;
use fencesmith::memory::{Atomics, Model};
use fencesmith::program::PropertyKind;
use fencesmith::verify::{Inconclusive, Verdict};
use fencesmith::{Program, VerifyOptions};
use fencesmith_testing::cases::{case, families, template_case};
use fencesmith_testing::programs::{self, answer, capped, exact};
use fencesmith_testing::random::seeds;
use rayon::prelude::*;

const MOST_STATES: u64 = 4_000;

/// A program in C, with C11 atomics or with the buffers of a model; none if it cannot be said.
fn in_c(ast: &Ast, model: Option<Model>, overflow: Overflow, bound: usize) -> Option<String> {
    let symbols = resolve(ast).expect("the program is well formed");
    let options = SequentialOptions {
        model: model.unwrap_or(Model::Sc),
        atomics: Atomics::DrainPlace,
        encoding: Encoding::Direct,
        overflow,
        bound,
    };
    let Sequential { ast, flushers, .. } = translate(ast, &symbols, &options);
    let symbols = resolve(&ast).expect("the translation is well formed");
    let options = COptions {
        sequential: model.is_some(),
        servants: flushers,
        head: "/* A test. */".to_string(),
    };
    print(&ast, &symbols, &options).ok()
}

/// Whether something goes wrong; none if there are too many states.
fn violated(program: &Program, options: VerifyOptions, most: u64) -> Option<bool> {
    let program = program.fenced(&Default::default());
    match answer(&program, &capped(options, most)).verdict {
        Verdict::Violated => Some(true),
        Verdict::Correct | Verdict::Inconclusive(Inconclusive::Bound(_)) => Some(false),
        Verdict::Inconclusive(_) => None,
    }
}

/// Compares verdicts; how many violations and others were compared.
fn compare(text: &str, ast: &Ast, program: &Program) -> [usize; 2] {
    let mut tally = [0; 2];
    let mut agree = |c: &str, asked: Model, options: VerifyOptions, what: &str| {
        let (_, printed) = compiled(&format!("#define VERIFIER\n{c}"))
            .unwrap_or_else(|errors| panic!("{errors}\n{text}\n{c}"));
        let of = |program, options| violated(program, options, MOST_STATES);
        let Some(expected) = of(program, options) else {
            return;
        };
        let options = match asked {
            Model::Sc => exact(Model::Sc, 1),
            _ => VerifyOptions::refining(asked),
        };
        if let Some(found) = violated(&printed, options, 10 * MOST_STATES) {
            assert_eq!(found, expected, "{what}\n{text}\n{c}");
            tally[usize::from(!found)] += 1;
        }
    };
    for model in programs::MODELS {
        let bound = 1;
        if let Some(c) = in_c(ast, Some(model), Overflow::Wait, bound) {
            let what = format!("{model} up to {bound}");
            agree(&c, Model::Sc, exact(model, bound), &what);
        }
    }
    let Some(c) = in_c(ast, None, Overflow::Abort, 1) else {
        return tally;
    };
    // A label may be seen too late where stores to different places pass one another.
    let labels = program
        .properties
        .iter()
        .any(|p| p.kind == PropertyKind::Mutex);
    for model in programs::MODELS {
        if model != Model::Pso || !labels {
            let options = VerifyOptions::refining(model);
            agree(&c, model, options, &format!("{model} with C11 atomics"));
        }
    }
    tally
}

fn add(a: [usize; 2], b: [usize; 2]) -> [usize; 2] {
    [a[0] + b[0], a[1] + b[1]]
}

#[test]
fn random_programs_have_the_same_verdicts_in_c() {
    let tally = seeds(0, 28).into_par_iter().map(|seed| {
        let case = case(seed, &families()[(seed % 4) as usize]);
        compare(&case.text, &case.ast, &case.program)
    });
    let [wrong, right] = tally.reduce(|| [0; 2], add);
    assert!(wrong > 10 && right > 20, "{wrong} {right}");
}

#[test]
fn random_templates_have_the_same_verdicts_in_c() {
    let tally = seeds(0, 8).into_par_iter().map(|seed| {
        let case = template_case(seed);
        compare(&case.text, &case.ast, &case.program)
    });
    let [wrong, right] = tally.reduce(|| [0; 2], add);
    assert!(wrong + right > 5, "{wrong} {right}");
}

#[test]
fn the_suite_in_c() {
    let names = programs::names(&["litmus", "lock", "mutex", "barrier", "protocol"]);
    let printed = names.par_iter().map(|name| {
        let source = programs::source(name);
        let ast = parse(&source).expect("the program is well formed");
        let folder = Folder::new();
        let models = [None, Some(Model::Tso), Some(Model::Pso)];
        let texts = models.map(|model| in_c(&ast, model, Overflow::Abort, 2));
        let texts: Vec<String> = texts.into_iter().flatten().collect();
        let files: Vec<String> = (0..texts.len()).map(|n| format!("{n}.c")).collect();
        for (file, text) in files.iter().zip(&texts) {
            folder.write(file, text);
        }
        if !files.is_empty() {
            gcc_accepts(&folder, &files);
        }
        texts.len()
    });
    let printed: usize = printed.sum();
    assert!(
        printed > 2 * names.len(),
        "{printed} of {}",
        3 * names.len()
    );
}

#[test]
fn litmus_tests_have_the_same_verdicts_in_c() {
    let names = programs::names(&["litmus"]);
    let tally = names.par_iter().step_by(3).map(|name| {
        let source = programs::source(name);
        let ast = parse(&source).expect("the program is well formed");
        compare(source.text(), &ast, &programs::program(&source))
    });
    let [wrong, right] = tally.reduce(|| [0; 2], add);
    assert!(wrong > 8 && right > 20, "{wrong} {right}");
}

/// A program that ends and is correct under TSO runs to its end when it is compiled.
#[test]
fn a_printed_program_runs() {
    let ast = parse(&programs::source("litmus/mp")).expect("the program is well formed");
    for model in [None, Some(Model::Tso)] {
        let text = in_c(&ast, model, Overflow::Abort, 2).expect("it can be said");
        let folder = Folder::new();
        folder.write("main.c", &text);
        let mut gcc = Command::new("gcc");
        let options = ["-std=c11", "-pthread", "-o", "program", "main.c"];
        gcc.current_dir(folder.path("."))
            .args(options)
            .assert()
            .success();
        let mut run = Command::new(folder.path("program"));
        let patience = std::time::Duration::from_secs(20);
        run.timeout(patience).assert().success();
    }
}

#[test]
fn what_cannot_be_said_is_refused() {
    let refused = |text: &str, model: Option<Model>| {
        let source = fencesmith::Source::new("test.fen", text);
        let ast = parse(&source).expect("the program is well formed");
        in_c(&ast, model, Overflow::Abort, 1).is_none()
    };
    let body = "shared bool x; process p { store x = true; l: skip; }";
    let not_at = format!("{body} invariant x || p at l;");
    assert!(!refused(
        &not_at.replace("x || p at l", "x || !(p at l)"),
        Some(Model::Tso)
    ));
    assert!(refused(&not_at, Some(Model::Tso)));
    let at = format!("{body} forbid !x && p at l;");
    assert!(refused(&at, None) && !refused(&at, Some(Model::Tso)));
    let fence = "shared bool x; process p { store x = true; fence sl; }";
    assert!(refused(fence, None) && !refused(fence, Some(Model::Pso)));
}

/// What the language says in fewer words than C does.
#[test]
fn counting_loops_waits_and_macros() {
    let text = "shared bool x, y; shared int[0..=9] n; macro bump(v) { add v = n, 1; } \
                process p { int[0..=9] r, i; for (i in 1..=2) { bump(r); } store x = 1; store y = 1; } \
                process q { bool r; int[0..=9] s; await (y != 0); load r = x; \
                repeat (2) { bump(s); } assert(r); } final n == 4;";
    let folder = Folder::new();
    folder.write("p.fen", text);
    let print = |more: &[&str], file: &str| {
        let ran = folder.run(&[&["convert", "p.fen", "--to", "c"], more].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        folder.write(file, &ran.stdout);
    };
    let wrong = |file: &str, model: &str| {
        let ran = folder.run(&["verify", file, "--model", model, "--no-trace"]);
        assert!(ran.code < 2, "{ran:?}");
        ran.code == 1
    };
    print(&[], "p.c");
    for model in ["sc", "tso", "pso"] {
        assert_eq!(wrong("p.fen", model), model == "pso");
        assert_eq!(wrong("p.c", model), model == "pso");
        let file = format!("p-{model}.c");
        print(&["--model", model, "--bound", "3"], &file);
        assert_eq!(wrong(&file, "sc"), model == "pso");
    }
}

/// What C has, too: operators on bits, arrays of a process, the old value of `cas`, and what
/// quantifiers stand for.
#[test]
fn more_of_the_language() {
    let wrong_and_right = [
        (
            "shared int[0..=63] x = 5; process p { int r, s; load r = x; s = r & 4 | 1 ^ 2; \
             s = (s << 2) + (~r >> 1); store x = s & 63; } final x == WHAT;",
            ["24", "25"],
        ),
        (
            "shared int[0..=3] x; process p[i in 0..=1] { bool ok; int[0..=3] seen; \
             cas ok, seen = x, 0, i + 1; assert(ok || seen == 2 - i || WHAT); \
             if (!ok) { cas ok, seen = x, seen, 3; assert(ok && seen > 0); } }",
            ["false", "seen == 3"],
        ),
        (
            "shared int[0..=9] x; process p { int[0..=9] a[3] = {1, 2, 3}, i; int[0..=9] s; \
             while (i < 3) { a[i] = a[i] + a[(i + 1) % 3]; s = s + a[i] % 4; i = i + 1; } \
             store x = s; } final x == WHAT;",
            ["4", "5"],
        ),
        (
            "shared bool x[2], y[2]; process p[i in 0..=1] { bool r; store x[i] = true; \
             load r = x[1 - i]; store y[i] = r; } \
             final exists (i in 0..=1) y[i] || WHAT; invariant forall (i in p) !y[i] || x[i];",
            ["false", "true"],
        ),
    ];
    let mut compared = [0; 2];
    for (text, answers) in wrong_and_right {
        for what in answers {
            let text = text.replace("WHAT", what);
            let source = fencesmith::Source::new("test.fen", text.clone());
            let ast = parse(&source).expect("the program is well formed");
            for model in [None, Some(Model::Tso), Some(Model::Pso)] {
                let c = in_c(&ast, model, Overflow::Abort, 2);
                let c = c.unwrap_or_else(|| panic!("{model:?} cannot be said: {text}"));
                let folder = Folder::new();
                folder.write("main.c", &c);
                gcc_accepts(&folder, &["main.c".to_string()]);
            }
            compared = add(compared, compare(&text, &ast, &programs::program(&source)));
        }
    }
    let [wrong, right] = compared;
    assert!(wrong > 10 && right > 10, "{wrong} {right}");
}

/// Integers have 64 bits in C, which is enough where they stay small.
#[test]
fn integers_in_c() {
    let texts = [
        "shared integer x, y; process p { integer r; r = 2000000000; r = r + 2000000000; store x = r; store y = r + 1; } \
         process q { integer r, s; load r = y; load s = x; assert(r == 0 || s == r - 1); }",
        "shared integer next, serving; process p[i in 0..=1] { integer mine, now; \
         add mine = next, 1; do { load now = serving; } while (now != mine); critical: skip; \
         store serving = mine + 1; } mutex critical;",
        "shared integer x; process p { integer r; havoc r in 4..=6; store x = r; } \
         process q { integer s; load s = x; assert(s <= 5); }",
        "shared integer x[2] = {7, -3}; process p { integer r; bool ok; load r = x[1]; \
         cas ok = x[1], -3, 8; assert(ok && r < 0); swap r = x[0], r; assert(r == 7); } \
         final x[0] + x[1] <= 5;",
    ];
    let mut compared = [0; 2];
    for text in texts {
        let source = fencesmith::Source::new("test.fen", text);
        let ast = parse(&source).expect("the program is well formed");
        let program = programs::program(&source).fenced(&Default::default());
        for model in programs::MODELS {
            let bound = 2;
            let c = in_c(&ast, Some(model), Overflow::Wait, bound).expect("it can be said");
            let folder = Folder::new();
            folder.write("main.c", &c);
            gcc_accepts(&folder, &["main.c".to_string()]);
            let (_, printed) = compiled(&format!("#define VERIFIER\n{c}"))
                .unwrap_or_else(|errors| panic!("{errors}\n{text}\n{c}"));
            let expected = answer(&program, &VerifyOptions::refining(model)).verdict;
            let found = violated(&printed, exact(Model::Sc, 1), 100_000);
            assert_eq!(
                found,
                Some(expected == Verdict::Violated),
                "{model}\n{text}\n{c}"
            );
            compared[usize::from(found != Some(true))] += 1;
        }
    }
    let [wrong, right] = compared;
    assert!(wrong > 3 && right > 3, "{wrong} {right}");
}
