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
