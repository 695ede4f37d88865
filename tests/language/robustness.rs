//! No text makes the front end panic, overflow its stack, take long or talk without end.

use fencesmith::diagnostic::render;
use fencesmith::lang::parser::parse;
use fencesmith::lang::resolve::resolve;
use fencesmith::lower::compile;
use fencesmith::program::{PointId, PointSet};
use fencesmith::source::Source;
use proptest::prelude::*;
use std::time::{Duration, Instant};

const VALID: &str = "
// Peterson's mutual exclusion, and one of everything else.
const N = 2;
shared int[0..=1] turn = 0, other = *;
shared bool ent[N] = {false, 0};
process p[i in 0..=N - 1] {
    bool e; int[0..=1] t = 1 - i; int wide = -2147483648;
    while (true) {
        store ent[i] = true; store turn = 1 - i;
        do { load e = ent[1 - i]; load t = turn; } while (e && t == 1 - i);
    critical:
        skip;
        store ent[i] = false;
        either { cas e = turn, 0, 1; } or { swap t = turn, !e; } or { add t = turn, e ? 1 : 0; }
        nofence { fence; fence ss; fence sl; }
        atomic { load t = other; assume (t < 1 || t >= 1); store other = t * 1 / 1 % 2; }
        if (*) goto out; else if (t != 0 && (wide <= 3)) break; else continue;
        havoc t; havoc wide in 0..=9;
        assert (t <= 1); /* always */
    }
    out: stop;
}
mutex critical;
forbid p[0] at critical && p at out && p[1].t > 5;
invariant turn + other <= N; final ent[0] == 0 || true;
";

/// Everything the front end does with a text; gives the number of diagnostics.
fn run(text: &str) -> usize {
    let source = Source::new("fuzz.fen", text);
    let errors = match parse(&source) {
        Ok(ast) => resolve(&ast).err().unwrap_or_default(),
        Err(errors) => {
            assert!(!errors.is_empty());
            errors
        }
    };
    assert!(errors.len() <= 51);
    for color in [false, true] {
        assert!(render(&source, &errors, color).len() < 200_000);
    }
    errors.len()
}

fn run_fast(text: &str) -> usize {
    within_seconds(20, || run(text))
}

fn within_seconds<T>(most: u64, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = work();
    let took = start.elapsed();
    assert!(took < Duration::from_secs(most), "{took:?}");
    done
}

/// Words and signs of the language, and a few that are not.
fn word() -> impl Strategy<Value = &'static str> {
    let words: Vec<&str> = "const shared process bool int in store load cas swap add fence ss sl \
        havoc skip goto break continue stop assume assert if else while do either or nofence atomic \
        mutex forbid invariant final at true false x y r p q L i N 0 1 2 -1 2147483648 \
        ..= .. . == = != <= >= && || < > + - * / % ! ? : ; , ( ) [ ] { } & # é /* */ // \" '"
        .split_whitespace()
        .collect();
    prop::sample::select(words)
}

/// Cuts a text before every word, sign and space.
fn pieces(text: &str) -> Vec<&str> {
    text.split_inclusive(|c: char| !c.is_alphanumeric())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        run(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn random_text(text in "\\PC{0,300}") {
        run(&text);
    }

    #[test]
    fn random_words(words in prop::collection::vec(word(), 0..400), lines in any::<bool>()) {
        run(&words.join(if lines { "\n" } else { " " }));
    }

    #[test]
    fn random_words_in_a_process(words in prop::collection::vec(word(), 0..40)) {
        run(&format!("shared int x, y[2]; process p[i in 0..=1] {{ int r; {} }}", words.join(" ")));
    }

    #[test]
    fn random_expressions(words in prop::collection::vec(word(), 0..20)) {
        run(&format!("shared int x, y[2]; process p {{ int r; L: skip; }} forbid {};", words.join(" ")));
    }

    #[test]
    fn mutations(edits in prop::collection::vec((any::<prop::sample::Index>(), 0..4, word()), 1..6)) {
        let mut pieces = pieces(VALID);
        for (at, action, word) in &edits {
            let at = at.index(pieces.len());
            match action {
                0 => { pieces.remove(at); }
                1 => pieces.insert(at, word),
                2 => pieces[at] = word,
                _ => { let last = pieces.len() - 1; pieces.swap(at, last.min(at + 1)); }
            }
        }
        run(&pieces.concat());
    }
}

#[test]
fn the_valid_program_is_valid() {
    assert_eq!(run(VALID), 0);
}

#[test]
fn truncations() {
    for (end, _) in VALID.char_indices() {
        run(&VALID[..end]);
        run(&VALID[end..]);
    }
}

#[test]
fn depth() {
    let nested = |open: &str, middle: &str, close: &str| -> Vec<String> {
        [150, 190, 198, 199, 200, 201, 1000, 50_000]
            .map(|times| format!("{}{middle}{}", open.repeat(times), close.repeat(times)))
            .to_vec()
    };
    let expressions = [
        nested("(", "x", ")"),
        nested("!", "x", ""),
        nested("-", "1", ""),
        nested("y[", "0", "]"),
        nested("x + ", "x", ""),
        nested("x && ", "x", ""),
        nested("x ? x : ", "x", ""),
        nested("x ? ", "x", " : x"),
        nested("x * (x + ", "x", ")"),
        nested("(", "", ""),
        nested("", "", ")"),
        nested("p[", "0", "] at L"),
        nested("p[", "0", "].r"),
    ];
    for text in expressions.concat() {
        run_fast(&format!(
            "shared int x, y[2]; process p {{ int r; L: skip; }} forbid {text};"
        ));
        run_fast(&format!("process p {{ int x; x = {text}; }}"));
        run_fast(&format!("const x = {text}; process p {{ }}"));
    }
    let statements = [
        nested("{", "", "}"),
        nested("if (*) ", "skip;", ""),
        nested("if (*) skip; else ", "skip;", ""),
        nested("while (*) ", "skip;", ""),
        nested("do ", "skip;", " while (*);"),
        nested("either { ", "", "} or { }"),
        nested("either { } or { ", "", "}"),
        nested("atomic { nofence { ", "", "} }"),
        nested("L: ", "skip;", ""),
        nested("{", "", ""),
        nested("", "", "}"),
        nested("if (x) { r = (", "", ""),
    ];
    for text in statements.concat() {
        run_fast(&format!("process p {{ {text} }}"));
    }
}

#[test]
fn a_megabyte_of_anything() {
    let pieces = [
        "@",
        "@ ",
        "a @ ",
        "é",
        "\u{0}",
        "\n",
        "\t",
        "a",
        "a ",
        "1",
        "1 ",
        "(",
        ")",
        "{",
        "}",
        ";",
        "/",
        "/*",
        "\"",
        "process p {",
        "process p { = }\n",
        "process p { skip; }\n",
        "shared int x;",
        "mutex L;",
        "forbid p at L;",
        "const N = M;",
        "if (",
        "else ",
        "L: ",
        "either {",
        "or ",
        "x = ",
        "store final = 1; ",
        "int x[",
        "..=",
    ];
    for piece in pieces {
        run_fast(&piece.repeat(1_000_000 / piece.len()));
    }
    let inside = [
        "goto L;",
        "x = y; ",
        "x = y;\n",
        "L: skip; ",
        "int r; ",
        "load r = x[i]; ",
        "break; ",
        "atomic { if (*) skip; } ",
        "if (i > 0) store x[i] = 1;",
        "skip ",
        "store ",
        "} process q {",
        "havoc r in i..=0; ",
    ];
    for piece in inside {
        let body = piece.repeat(1_000_000 / piece.len());
        run_fast(&format!(
            "shared int x[2]; process p[i in 0..=63] {{ int r; {body} }}"
        ));
    }
}

#[test]
fn many_different_names() {
    let names = |template: &str| -> String {
        (0..20_000)
            .map(|n| template.replace('#', &n.to_string()))
            .collect()
    };
    run_fast(&(names("shared int v#;\n") + "process p {" + &names("load w# = z#;\n") + "}"));
    run_fast(
        &(names("process p# { L#: skip; int r#; }\n") + &names("mutex M#; forbid s# == q#.r;\n")),
    );
    run_fast(&(names("process p# { L#: skip; }\n") + &names("mutex L#;\n")));
    run_fast(&(names("const c# = d#;\n") + "process p { }"));
    run_fast(&(names("process p#[i in 0..=63] { int r = i; }\n")));
    run_fast(&format!(
        "process p[i in 0..=63] {{ {} }}",
        names("int r# = i; ")
    ));
    run_fast(&format!(
        "process p {{ {} {} }}",
        names("L#: skip; "),
        names("goto M#; ")
    ));
}

/// Large programs that are well-formed: they are lowered and get their fences in a time that
/// grows with their length.
#[test]
fn large_programs() {
    const MANY: usize = 50_000;
    let each = |count: usize, template: &str| -> String {
        (0..count)
            .map(|n| template.replace('#', &n.to_string()))
            .collect()
    };
    let half = MANY / 2;
    let bodies = [
        each(MANY, "store x = 1;\n"),
        each(MANY, "{ }\n"),
        each(MANY, "nofence { }\n"),
        each(MANY, "stop; skip;\n"),
        each(half, "while (*) { store x = 1; }\n"),
        each(half, "if (r) { load r = x; }\n"),
        // Loops around loops.
        each(half, "L#: store x = 1;\n") + &each(half, "if (*) goto L#;\n"),
        // Jumps backwards only: what is live is known from the end.
        "goto L0;\n".to_string()
            + &each(half, "M#: r = r; goto L#;\n")
                .lines()
                .rev()
                .collect::<String>()
            + &each(half, "L#: goto M#;\n"),
        format!("either {{ }} {}", each(half, "or { store x = 1; }\n")),
        format!("atomic {{ {} }}", each(MANY, "load r = x;\n")),
        each(900, "int[0..=1] r#;\n") + &each(half, "store x = r899;\n"),
    ];
    let around = |body: &str| format!("shared bool x; process p {{ bool r; {body} }} forbid x;");
    let texts = bodies.iter().map(|body| around(body)).chain([
        each(30_000, "shared bool x#;\n") + "process p { " + &each(30_000, "store x# = 1;\n") + "}",
        each(250, "process p# { L: skip; }\n") + &each(2_000, "mutex L;\n"),
        "shared bool x; process p[i in 0..=63] { L: skip; ".to_string()
            + &each(500, "store x = 1;\n")
            + "}"
            + &each(2_000, "forbid p at L;\n"),
        each(16, "shared int[0..=9] x#[4096] = 7;\n") + "process p { skip; }",
    ]);
    for text in texts {
        let shown: String = text.chars().take(200).collect();
        within_seconds(20, || {
            let source = Source::new("large.fen", text);
            let program = compile(&source).unwrap_or_else(|_| panic!("it compiles: {shown}"));
            program.fenced(&PointSet::new());
            program.fenced(
                &program
                    .points
                    .iter()
                    .zip(0..)
                    .map(|(_, n)| PointId(n))
                    .collect(),
            );
        });
    }
}
