//! Whatever the text is, the program ends soon, with an exit code and without a panic.

use crate::binary::{Ran, run_on};
use fencesmith_testing::programs;
use fencesmith_testing::random::Random;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(6);

/// Verifies a text on all models; it must end in time whatever it is.
fn check(text: &str, what: &str) -> Ran {
    let limits = [
        "--timeout",
        "1",
        "--max-states",
        "50000",
        "--max-memory",
        "500M",
    ];
    let fixed = [
        "verify", "-", "--abs", "exact", "--bound", "2", "--model", "sc,pso",
    ];
    let ran = run_on(&[&fixed[..], &limits].concat(), text, &[]);
    assert!(ran.took < SOON, "{what}: {:?}\n{text:.2000}", ran.took);
    assert_eq!(ran.code == 2, ran.stdout.is_empty(), "{what}: {ran:?}");
    if ran.code == 2 {
        assert!(ran.stderr.starts_with("error: "), "{what}: {ran:?}");
        assert!(
            ran.stderr.len() < 100_000,
            "{what}: {} bytes",
            ran.stderr.len()
        );
    }
    ran
}

/// Words and signs with spaces between them kept.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for c in text.chars() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        match words.last_mut() {
            Some(word) if is_word(c) && word.chars().all(is_word) => word.push(c),
            _ => words.push(c.to_string()),
        }
    }
    words
}

/// The program without its comments, which are half of the text.
fn code(name: &str) -> String {
    let source = programs::source(name);
    let lines = source.text().lines();
    let lines: Vec<&str> = lines.filter(|line| !line.starts_with("//")).collect();
    lines.join("\n")
}

/// Deletes, doubles, swaps or replaces a few words.
fn mutated(text: &str, random: &mut Random) -> String {
    let mut words = words(text);
    for _ in 0..1 + random.below(3) {
        let (at, other) = (random.below(words.len()), random.below(words.len()));
        match random.below(4) {
            0 => drop(words.remove(at)),
            1 => words.insert(at, words[other].clone()),
            2 => words.swap(at, other),
            _ => words[at] = words[other].clone(),
        }
    }
    words.concat()
}

#[test]
fn mutated_and_truncated_programs() {
    let names = programs::names(&["litmus", "lock", "mutex", "protocol", "queue"]);
    let mut random = Random(11);
    let mut codes = [0; 4];
    for round in 0..80 {
        let text = code(&names[random.below(names.len())]);
        let text = match round % 4 {
            0 => text.chars().take(random.below(text.len())).collect(),
            _ => mutated(&text, &mut random),
        };
        let ran = check(&text, "mutated");
        codes[ran.code as usize] += 1;
    }
    println!("{codes:?}");
    assert!(codes[2] > 20, "{codes:?}");
    assert!(codes[0] + codes[1] + codes[3] > 5, "{codes:?}");
}

#[test]
fn garbage() {
    let mut random = Random(5);
    let mut noise = |alphabet: &str| -> String {
        let alphabet: Vec<char> = alphabet.chars().collect();
        let letters = (0..1_000_000).map(|_| alphabet[random.below(alphabet.len())]);
        letters.collect()
    };
    let texts = [
        noise(" abcdefghijklmnopqrstuvwxyz0123456789"),
        noise(" \n\t;:=(){}[]<>!&|+-*/%,.?"),
        noise("é→\u{0}\u{7f}\u{feff} \r\n"),
        noise("{}();\n"),
        noise("/*"),
    ];
    for text in texts {
        let ran = check(&text, "garbage");
        assert_eq!(ran.code, 2, "{ran:?}");
    }
}

/// Texts that are too much of one thing, and the exit code if there is only one.
#[test]
fn too_much_of_one_thing() {
    let in_process =
        |body: &str| format!("shared int x; process p {{ int r; {body} }} forbid x == 9;");
    let nested = |open: &str, middle: &str, close: &str, times: usize| {
        in_process(&format!(
            "{}{middle}{}",
            open.repeat(times),
            close.repeat(times)
        ))
    };
    let cases: Vec<(&str, String, Option<i32>)> = vec![
        (
            "nested blocks",
            nested("{ ", "skip;", " }", 100_000),
            Some(2),
        ),
        (
            "nested ifs",
            nested("if (r == 0) { ", "skip;", " }", 20_000),
            Some(2),
        ),
        (
            "nested loops",
            nested("while (r == 0) { ", "load r = x;", " }", 60),
            None,
        ),
        (
            "nested choices",
            nested("either { ", "", "} or { }", 90),
            None,
        ),
        (
            "parentheses",
            nested("r = ", "1;", "", 1).replace(
                '1',
                &format!("{}1{}", "(".repeat(50_000), ")".repeat(50_000)),
            ),
            Some(2),
        ),
        (
            "a long sum",
            in_process(&format!("r = {}1;", "1 + ".repeat(20_000))),
            Some(2),
        ),
        (
            "a long literal",
            in_process(&format!("r = {};", "9".repeat(100_000))),
            Some(2),
        ),
        ("a large literal", in_process("r = 2147483648;"), Some(2)),
        (
            "the largest literal",
            in_process("r = 2147483647;"),
            Some(0),
        ),
        ("the least literal", in_process("r = -2147483648;"), Some(0)),
        ("an empty range", in_process("int[1..=0] e;"), Some(2)),
        (
            "an empty parameter range",
            "process p[i in 1..=0] { skip; }".into(),
            Some(2),
        ),
        ("an empty havoc", in_process("havoc r in 1..=0;"), Some(2)),
        (
            "a late empty havoc",
            in_process("load r = x; havoc r in r..=r - 1;"),
            None,
        ),
        (
            "a huge havoc",
            in_process("havoc r in 0..=2147483647; store x = r;"),
            None,
        ),
        (
            "a late huge havoc",
            in_process("load r = x; havoc r in r..=r + 2000000000; store x = r;"),
            None,
        ),
        (
            "a huge start",
            in_process("int[0..=2000000000] e = *; store x = e;"),
            None,
        ),
        (
            "many starts",
            "shared int[0..=99] x[40] = *; process p { int r; load r = x[0]; }".into(),
            None,
        ),
        (
            "many local starts",
            in_process("int[0..=99] a = *, b = *, c = *, d = *; store x = a + b + c + d;"),
            None,
        ),
        (
            "a huge array",
            "shared int x[2000000000]; process p { }".into(),
            Some(2),
        ),
        (
            "a wide memory",
            "shared int x[4096]; process p { int r; load r = x[5]; store x[6] = r; }".into(),
            None,
        ),
        (
            "many processes",
            "shared int x; process p[i in 0..=63] { int r; add r = x, 1; }".into(),
            None,
        ),
        (
            "too many processes",
            "process p[i in 0..=1000000] { }".into(),
            Some(2),
        ),
        (
            "many statements",
            in_process(&"store x = 1; ".repeat(5_000)),
            None,
        ),
        (
            "many tests",
            in_process(&"if (r == 1) r = 0; else r = 1; ".repeat(2_000)),
            None,
        ),
        (
            "many choices",
            in_process(&format!(
                "{} store x = r;",
                "either { r = 2 * r; } or { r = 2 * r + 1; } ".repeat(24)
            )),
            None,
        ),
        (
            "an endless count",
            in_process("while (true) { r = r + 1; store x = r % 7; }"),
            None,
        ),
        (
            "an endless local loop",
            in_process("while (true) { r = r + 1; }"),
            None,
        ),
        ("an idle loop", in_process("while (true) { }"), Some(0)),
        (
            "jumps in circles",
            in_process("A: goto B; B: goto A;"),
            Some(0),
        ),
        (
            "many properties",
            format!(
                "shared int x; process p {{ store x = 1; }} {}",
                "forbid x == 9; ".repeat(2_000)
            ),
            Some(0),
        ),
    ];
    for (what, text, code) in cases {
        let ran = check(&text, what);
        assert!(code.is_none_or(|code| code == ran.code), "{what}: {ran:?}");
    }
}
