//! Every token of what the preprocessor prints is traced back to the place where it was typed.

use crate::run::{self, printed};
use fencesmith::c::positions::{Preprocessed, user_files};
use fencesmith::c::tokens::tokens;
use fencesmith::source::Span;
use fencesmith_testing::random::Random;
use std::collections::HashMap;
use std::fmt::Write as _;

fn preprocess(text: &str) -> Preprocessed {
    let files = [("<stdin>".to_string(), text.to_string())];
    Preprocessed::new(&printed(text), &files)
}

/// A text, and where its words were typed, each of which stands there once. Words within an
/// invocation of a macro were typed as the invocation.
#[derive(Default)]
struct Typed {
    text: String,
    words: Vec<Word>,
    /// With the number of arguments of those that are invoked like functions.
    macros: Vec<(String, Option<usize>)>,
}

struct Word {
    text: String,
    span: Span,
    in_invocation: bool,
}

impl Typed {
    fn word(&mut self, random: &mut Random) {
        let text = format!("w{}_", self.words.len());
        let start = self.text.len();
        match random.chance(8) {
            true => self.text.push_str(&text.replace('w', "w\\\n")),
            false => self.text.push_str(&text),
        }
        self.words.push(Word {
            text,
            span: Span::new(start, self.text.len()),
            in_invocation: false,
        });
    }

    /// What stands between two tokens.
    fn blank(&mut self, random: &mut Random) {
        let blanks = [
            " ",
            " ",
            " ",
            "\t",
            "\n",
            "\n    ",
            "/* é '\" */",
            " /* a\n * b */ ",
            "// don't\n",
            " \\\n ",
            "\n\n",
            " /**/ ",
            "\n\n\n\n\n\n\n\n\n\n\n\n",
        ];
        self.text.push_str(random.pick(&blanks));
    }

    /// Lines of their own that print nothing; those of macros only if they are wanted.
    fn directive(&mut self, random: &mut Random, macros: bool) {
        self.text.push('\n');
        let name = format!("M{}", self.macros.len());
        let known = match self.macros.get(random.below(self.macros.len() + 1)) {
            Some((name, Some(_))) => format!("{name}(1, (2, 3))"),
            Some((name, None)) => name.clone(),
            None => "other".to_string(),
        };
        let text = &mut self.text;
        let written = match random.below(if macros { 8 } else { 2 }) {
            0 => writeln!(text, "#if 0\nw0_ w1_ don't # else (\n#endif"),
            1 => writeln!(text, "#ifdef NOTHING\nw0_; M0(\n#else\n#endif"),
            2 => {
                self.macros.push((name.clone(), None));
                writeln!(text, "# define {name} ({known}) + {known}; // no")
            }
            3 => {
                self.macros.push((name.clone(), None));
                writeln!(text, "#define {name}")
            }
            4 | 5 => {
                let bodies = ["do { a b; } while (0)", "a ## 1 + (b)", "b - #a", ""];
                let body = random.pick(&bodies);
                self.macros.push((name.clone(), Some(2)));
                writeln!(text, "#define {name}(a, b) \\\n {body} {known}")
            }
            6 => {
                self.macros.push((name.clone(), Some(1 + random.below(3))));
                writeln!(text, "#define {name}(a, ...) f(a, ## __VA_ARGS__)")
            }
            _ => match self.macros.pop() {
                Some((name, _)) => writeln!(text, "#undef {name} /* gone\n*/"),
                None => Ok(()),
            },
        };
        written.expect("texts can be written to");
    }

    /// A word, another token, or an invocation.
    fn piece(&mut self, random: &mut Random, depth: usize) {
        let others = [
            ";",
            "+",
            "(",
            ")",
            "\"a\\\"b /*\"",
            "'x'",
            "1.e+3",
            "->",
            "{",
            "<<=",
        ];
        let invoked = self
            .macros
            .get(random.below(2 * self.macros.len()))
            .cloned();
        match invoked {
            Some((name, arguments)) => {
                let (start, first) = (self.text.len(), self.words.len());
                self.text.push_str(&name);
                for argument in 0..arguments.unwrap_or(0) {
                    self.text.push(if argument == 0 { '(' } else { ',' });
                    self.blank(random);
                    self.word(random);
                    self.blank(random);
                    if depth < 3 && random.chance(30) {
                        self.piece(random, depth + 1);
                    }
                }
                self.text
                    .push_str(if arguments.is_some() { ")" } else { "" });
                let span = Span::new(start, self.text.len());
                for word in &mut self.words[first..] {
                    word.span = span;
                    word.in_invocation = true;
                }
            }
            None if depth == 0 && random.chance(40) => self.text.push_str(random.pick(&others)),
            None => self.word(random),
        }
    }

    fn random(seed: u64, macros: bool) -> Typed {
        let random = &mut Random(seed);
        let mut typed = Typed::default();
        for _ in 0..400 {
            match random.chance(6) {
                true => typed.directive(random, macros),
                false => typed.piece(random, 0),
            }
            typed.blank(random);
        }
        typed.text.push('\n');
        typed
    }
}

fn words_are_found(seed: u64, macros: bool) {
    let typed = Typed::random(seed, macros);
    let preprocessed = preprocess(&typed.text);
    let words: HashMap<&str, &Word> = typed.words.iter().map(|w| (&w.text[..], w)).collect();
    let mut printed = 0;
    for token in tokens(preprocessed.text()) {
        let located = preprocessed.locate(token.span);
        assert!(!preprocessed.in_system_header(token.span.start));
        let Some(word) = words.get(&*token.text) else {
            assert!(
                macros || located.is_exact(),
                "seed {seed}: {token:?}\n{}",
                typed.text
            );
            continue;
        };
        let context = || format!("seed {seed}: {token:?}: {located:?}\n{}", typed.text);
        assert_eq!(located.span, word.span, "{}", context());
        if !word.in_invocation {
            printed += 1;
            assert!(located.is_exact(), "{}", context());
        }
    }
    let outside = typed.words.iter().filter(|word| !word.in_invocation);
    assert_eq!(printed, outside.count(), "seed {seed}");
}

#[test]
fn without_macros_every_token_is_where_it_was_typed() {
    for seed in 0..40 {
        words_are_found(seed, false);
    }
}

#[test]
fn words_outside_of_invocations_are_where_they_were_typed() {
    for seed in 0..80 {
        words_are_found(seed, true);
    }
}

/// Headers of the system, as if a user had typed them, are full of macros and conditions.
#[test]
fn tokens_of_real_files_are_found() {
    let folders = ["/usr/include", "/usr/include/x86_64-linux-gnu"];
    let (mut all, mut unknown) = (0, 0);
    for name in [
        "pthread.h",
        "math.h",
        "stdlib.h",
        "linux/fs.h",
        "elf.h",
        "regex.h",
        "tgmath.h",
    ] {
        let text = format!("#include <{name}>\nint last;\n");
        let printed = run::printed_with(&text, &folders.map(|folder| format!("-I{folder}")));
        let files = user_files(&printed).into_iter().map(|name| {
            let read = std::fs::read_to_string(&name);
            (name, read.unwrap_or_else(|_| text.clone()))
        });
        let preprocessed = Preprocessed::new(&printed, &files.collect::<Vec<_>>());
        let source = preprocessed.source();
        for token in tokens(preprocessed.text()) {
            let located = preprocessed.locate(token.span);
            let typed = source.slice(located.span);
            all += 1;
            unknown += usize::from(!located.is_exact() && !is_invocation(typed, &printed));
            assert!(
                !located.is_exact() || typed == token.text || is_invocation(typed, &printed),
                "{name}: {token:?} {} {typed}",
                source.location(located.span.start)
            );
        }
    }
    assert!(all > 5_000 && unknown * 200 < all, "{unknown} of {all}");
}

/// Whether a text begins with the name of a macro.
fn is_invocation(text: &str, printed: &str) -> bool {
    let name = tokens(text)
        .first()
        .map_or(String::new(), |first| first.text.to_string());
    let defines = ["(", " ", "\n"].map(|end| format!("#define {name}{end}"));
    name.starts_with("__LINE") || defines.iter().any(|define| printed.contains(define))
}
