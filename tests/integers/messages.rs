//! What is said about integers that are used in other ways, and where.

use fencesmith::lower::compile;
use fencesmith::source::Source;

/// The messages about a process with two integers and what is shared, each with its position.
fn messages(statements: &str) -> Vec<String> {
    let text = format!(
        "shared integer x, y, a[2]; shared int[0..=9] z;\nprocess p {{ integer r, s, t; int[0..=9] b; bool ok;\n{statements}\n}}\n"
    );
    let source = Source::new("t.fen", text);
    let errors = compile(&source).err().unwrap_or_default();
    let line = |error: &fencesmith::diagnostic::Diagnostic| {
        let at = source.location(error.span.expect("a position").start);
        let help = error.help.clone().unwrap_or_default();
        format!("{}:{} {} [{help}]", at.at.line, at.at.column, error.message)
    };
    errors.iter().map(line).collect()
}

fn first(statement: &str) -> String {
    let all = messages(statement);
    assert_eq!(all.len(), 1, "{statement}: {all:?}");
    all[0].clone()
}

#[test]
fn what_is_a_difference_is_accepted() {
    let fine = [
        "r = s + 1; r = s - b; r = 2; r = -s; r = ok ? r : s;",
        "if (r < s + 3 || r - s >= 2 && ok) { ok = r == s; }",
        "if (r + s <= 2) { skip; } assert(r + r > 1);",
        "store x = r + b; load r = a[s]; cas ok = x, r, r + 1; swap r = y, s; add r = x, b;",
        "havoc r; havoc r in s..=s + 3; assume(r - 1 != s + b);",
        "atomic { load r = x; store y = r + 1; }",
    ];
    for statements in fine {
        assert_eq!(messages(statements), Vec::<String>::new(), "{statements}");
    }
}

#[test]
fn what_is_not_is_refused_with_a_way_out() {
    let refused = [
        (
            "r = r + s;",
            "3:5 a value can be one integer and a number, not more",
        ),
        (
            "r = 2 * s;",
            "3:5 integers without bound are added and compared, nothing else",
        ),
        ("r = s % 2;", "3:5 integers without bound are not divided"),
        ("b = r;", "3:5 'b' has bounds and cannot take an integer"),
        (
            "load b = x;",
            "3:6 'b' has bounds and cannot take 'x', which is an integer",
        ),
        ("load r = z;", "3:6 'r' is an integer, and 'z' has bounds"),
        ("if (r) skip;", "3:5 an integer is not a condition"),
        (
            "if (r + s + t < 1) skip;",
            "3:5 a comparison can be about two integers, not more",
        ),
        (
            "store z = r;",
            "3:11 'z' has bounds and cannot take an integer",
        ),
        ("cas r = x, 1, 2;", "3:5 'cas' gives a truth value"),
        (
            "add r = x, s;",
            "3:12 what `add` adds has bounds, and this is an integer without",
        ),
        (
            "havoc b in r..=3;",
            "3:12 'b' has bounds and cannot take an integer",
        ),
    ];
    for (statement, wanted) in refused {
        let found = first(statement);
        assert!(
            found.starts_with(wanted) && !found.ends_with("[]"),
            "{statement}: {found}"
        );
    }
}

#[test]
fn every_place_has_its_own_message() {
    assert_eq!(
        messages("r = r + s;\nr = 2 * s; b = r;\nif (s) skip;").len(),
        4
    );
}
