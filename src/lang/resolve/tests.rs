use super::*;
use crate::lang::parser::parse;
use crate::source::Source;

fn symbols(text: &str) -> Symbols {
    let source = Source::new("t", text);
    let ast = parse(&source).expect("parses");
    match resolve(&ast) {
        Ok(symbols) => symbols,
        Err(errors) => panic!("{}", crate::diagnostic::render(&source, &errors, false)),
    }
}

fn errors(text: &str) -> Vec<String> {
    let ast = parse(&Source::new("t", text)).expect("parses");
    match resolve(&ast) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.into_iter().map(|error| error.message).collect(),
    }
}

const PETERSON: &str = "
    shared int[0..=1] turn = 0;
    shared bool ent[2];
    process p[i in 0..=1] {
        bool e;
        int[0..=1] t = 1 - i;
        while (true) {
            store ent[i] = true;
            store turn = 1 - i;
            do { load e = ent[1 - i]; load t = turn; } while (e && t == 1 - i);
        critical: skip;
            store ent[i] = false;
        }
    }
    mutex critical;
    forbid p[0] at critical && p[1] at critical && ent[0] == 0 && p[1].t == 0;
";

#[test]
fn the_symbols_of_a_program() {
    let symbols = symbols(PETERSON);
    assert_eq!(symbols.shared.len(), 2);
    assert_eq!(symbols.shared[1].len, Some(2));
    assert_eq!(symbols.shared[1].initial, [Initial::Value(0); 2]);
    let template = &symbols.templates[0];
    assert_eq!(template.item, 2);
    assert_eq!(template.labels[0].0, "critical");
    let starts: Vec<Initial> = template
        .instances
        .iter()
        .map(|i| i.locals[1].initial)
        .collect();
    assert_eq!(starts, [Initial::Value(1), Initial::Value(0)]);
}

#[test]
fn ranges_and_initial_values() {
    let symbols = symbols(
        "const N = 2; const M = N * 3 - 1;
         shared int[-N..=M] a[N + 1] = {-2, 5, N}, b[2] = *, c = M;
         process p[me in 1..=N] { int[me..=M] r = *; bool q = me == 2; int z; }",
    );
    let domain = Domain { low: -2, high: 5 };
    assert_eq!(symbols.consts["M"], 5);
    assert!(symbols.shared.iter().all(|shared| shared.domain == domain));
    assert_eq!(symbols.shared[0].initial[1], Initial::Value(5));
    assert_eq!(symbols.shared[1].initial, [Initial::Any; 2]);
    assert_eq!(symbols.shared[2].initial, [Initial::Value(5)]);
    let second = &symbols.templates[0].instances[1];
    assert_eq!(second.parameter, Some(2));
    assert_eq!(second.locals[0].domain, Domain { low: 2, high: 5 });
    assert_eq!(second.locals[1].initial, Initial::Value(1));
    assert_eq!(second.locals[2].domain, Domain::INT);
}

#[test]
fn indices_are_checked_where_they_are_used() {
    let program = |guard: &str| {
        format!("shared bool x[2]; process p[i in 0..=2] {{ bool r; {guard} load r = x[i - 1]; }}")
    };
    let message = "the index -1 is outside 'x', which has 2 cells (in p[0])";
    assert_eq!(errors(&program("")), [message]);
    assert_eq!(errors(&program("if (i != 0)")), [""; 0]);
    assert_eq!(errors(&program("if (i < 1) skip; else")), [""; 0]);
    assert_eq!(errors(&program("if (r)")), [message]);
    assert_eq!(errors(&program("while (i > 0)")), [""; 0]);
}

#[test]
fn a_wrong_declaration_gives_one_error() {
    let check = |text: &str, expected: &[&str]| assert_eq!(errors(text), expected, "{text}");
    check(
        "const N = 1 / 0; shared int[0..=N] x[N] = N; process p[i in 0..=N] {
             int[0..=N] r = i; store x[3] = N; havoc r in 0..=N; L: skip; }
         mutex L; forbid x[7] == p[9].r;",
        &["division by zero"],
    );
    check(
        "shared bool x[0]; process p { bool x2; load x2 = x[5]; }",
        &["an array has at least one cell, not 0"],
    );
}

#[test]
fn errors_are_capped() {
    let found = errors(&format!("process p {{ {} }}", "goto L;".repeat(1000)));
    assert_eq!(found.len(), 51);
    assert_eq!(found[50], "and 950 more errors");
}
