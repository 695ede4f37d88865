//! Whatever is read as C, the answer is an answer or a message: no panic, and no end without.

use crate::run::{self, Folder};
use fencesmith::c::positions::Preprocessed;
use fencesmith::c::tokens::tokens;
use fencesmith::c::{Options, compile};
use fencesmith::{Abstraction, Limits, Model, Monitor, VerifyOptions, diagnostic, verify};
use fencesmith_testing::random::Random;
use rayon::prelude::*;
use std::path::PathBuf;

/// Reads a preprocessed text and, if it is a program, looks at some of its states.
fn answer(preprocessed: &Preprocessed) {
    match compile(preprocessed, &Options::default()) {
        Ok(program) => {
            let options = VerifyOptions {
                limits: Limits {
                    max_states: Some(300),
                    ..Limits::default()
                },
                ..VerifyOptions::new(Model::Tso, Abstraction::Fd { k: 1 })
            };
            verify(&program, &options, &Monitor::default());
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            diagnostic::render(preprocessed.source(), &errors, false);
        }
    }
}

/// A text with a few tokens gone, doubled, or changed for others, or cut off.
fn mutated(text: &str, random: &mut Random) -> String {
    const WORDS: [&str; 40] = [
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ";",
        ",",
        "*",
        "&",
        "=",
        "->",
        ".",
        ":",
        "?",
        "\"s\"",
        "'c'",
        "0",
        "0x7fffffffffffffff",
        "1.5",
        "int",
        "unsigned long",
        "_Atomic",
        "struct s",
        "enum",
        "union",
        "typedef",
        "static",
        "extern",
        "return",
        "goto x",
        "switch",
        "case 1:",
        "while",
        "sizeof",
        "pthread_create",
        "malloc",
        "x",
        "main",
        "_Alignas(8)",
    ];
    let tokens = tokens(text);
    let mut pieces: Vec<&str> = Vec::new();
    let mut done = 0;
    for token in &tokens {
        // The white space before a token goes with it.
        pieces.push(&text[done..token.span.end as usize]);
        done = token.span.end as usize;
    }
    pieces.push(&text[done..]);
    for _ in 0..1 + random.below(4) {
        let at = random.below(pieces.len());
        let other = pieces[random.below(pieces.len())];
        match random.below(7) {
            0 => pieces.truncate(at + 1),
            1 => pieces.insert(at, other),
            2 => pieces[at] = other,
            3 => pieces.insert(at, random.pick(&WORDS)),
            4 => pieces[at] = random.pick(&WORDS),
            _ => pieces[at] = " ",
        }
    }
    pieces.join(" ")
}

#[test]
fn mutated_programs() {
    let texts = run::programs();
    assert!(!texts.is_empty());
    let printed: Vec<(String, String)> = texts
        .par_iter()
        .map(|text| (text.clone(), run::printed(text)))
        .collect();
    let rounds = 1000 / printed.len().max(1) as u64;
    printed
        .par_iter()
        .enumerate()
        .for_each(|(index, (text, printed))| {
            let files = [("<stdin>".to_string(), text.clone())];
            answer(&Preprocessed::new(printed, &files));
            let random = &mut Random(index as u64);
            for _ in 0..rounds {
                let mutated = mutated(printed, random);
                answer(&Preprocessed::new(&mutated, &files));
            }
        });
}

/// Files that end too early, or have bytes that are none of C.
#[test]
fn broken_files() {
    let texts = run::programs();
    (0..60).into_par_iter().for_each(|seed| {
        let random = &mut Random(seed);
        let mut bytes = random.pick(&texts).into_bytes();
        match random.below(3) {
            0 => bytes.truncate(random.below(bytes.len())),
            1 => {
                let at = random.below(bytes.len());
                bytes[at] = random.number() as u8;
            }
            _ => {
                let at = random.below(bytes.len());
                let piece = bytes.split_off(at);
                bytes.extend_from_slice(&piece[random.below(piece.len())..]);
            }
        }
        let folder = Folder::new();
        std::fs::write(folder.path("broken.c"), bytes).expect("there is room");
        let ran = folder.run(&[
            "verify",
            "broken.c",
            "--max-states",
            "1000",
            "--timeout",
            "5",
        ]);
        assert!(
            ran.code != 2 || ran.stderr.starts_with("error: "),
            "{ran:?}"
        );
    });
}

/// Texts that never went through a preprocessor, markers and definitions included.
#[test]
fn markers_and_definitions_of_all_kinds() {
    let pieces = [
        "# 1 \"<stdin>\"",
        "# 99999999999 \"<stdin>\" 1",
        "# 4294967295 \"<stdin>\"",
        "# 2 \"<stdin>\" 2",
        "# 1 \"a.h\" 1 3",
        "#define F(",
        "#define F(a,...) a##__VA_ARGS__ #a",
        "#define F",
        "#undef F",
        "#",
        "#define",
        "##",
        "F(1",
        "F(F)(F)",
        "int x; F",
        "\"",
        "'\\",
        "/*",
        "\\",
        "é\u{0}",
        "#line 3",
        "int main(void) {",
        "}",
        "# 7 \"\\303\\\"\"",
    ];
    for seed in 0..3000 {
        let random = &mut Random(seed);
        let line = |random: &mut Random| {
            let words = (0..random.below(3) + 1).map(|_| random.pick(&pieces));
            words.collect::<Vec<_>>().join(" ")
        };
        let text = |random: &mut Random| (0..12).map(|_| line(random) + "\n").collect::<String>();
        let files = [
            ("<stdin>".to_string(), text(random)),
            ("a.h".to_string(), text(random)),
        ];
        let printed = text(random);
        let preprocessed = Preprocessed::new(&printed, &files);
        assert_eq!(preprocessed.text().len(), printed.len());
        for token in tokens(preprocessed.text()) {
            let located = preprocessed.locate(token.span);
            preprocessed.source().slice(located.span);
        }
        answer(&preprocessed);
    }
}

/// Headers of the system, as if a user had typed them.
fn headers() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for folder in [
        "/usr/include",
        "/usr/include/linux",
        "/usr/include/x86_64-linux-gnu/bits",
    ] {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        found.extend(paths.filter(|path| path.extension().is_some_and(|ending| ending == "h")));
    }
    found.sort();
    found
}

#[test]
fn headers_of_the_system() {
    let headers = headers();
    let step = (headers.len() / 200).max(1);
    let chosen: Vec<&PathBuf> = headers.iter().step_by(step).collect();
    chosen.par_iter().enumerate().for_each(|(index, path)| {
        let Ok(text) = std::fs::read_to_string(path) else {
            return;
        };
        let folder = Folder::new();
        // Alone, or with all that it includes.
        let text = match index % 2 {
            0 => text.replace("#include", "#pragma"),
            _ => text,
        };
        folder.write(
            "header.c",
            &format!("{text}\nint main(void) {{ return 0; }}\n"),
        );
        let folders = ["-I/usr/include", "-I/usr/include/x86_64-linux-gnu"];
        let options = [
            "verify",
            "header.c",
            "--timeout",
            "5",
            "--max-states",
            "1000",
        ];
        let ran = folder.run(&[&options[..], &folders].concat());
        assert!(
            ran.code != 2 || ran.stderr.starts_with("error: "),
            "{path:?}: {ran:?}"
        );
    });
}
