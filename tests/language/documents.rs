//! The examples of the documents.

use fencesmith::limits::Monitor;
use fencesmith::memory::Model;
use fencesmith::verify::{Verdict, VerifyOptions, verify};
use fencesmith_testing::programs::program;

/// The texts between ```` ```fen ```` and ```` ``` ````, with their lines.
fn examples(document: &str) -> Vec<(usize, String)> {
    let mut examples = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (index, line) in document.lines().enumerate() {
        match &mut open {
            None if line == "```fen" => open = Some((index + 1, String::new())),
            None => {}
            Some(_) if line == "```" => examples.extend(open.take()),
            Some((_, text)) => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    assert!(open.is_none(), "an example is never closed");
    examples
}

#[test]
fn examples_have_the_answers_they_claim() {
    for (name, least) in [
        ("language.md", 16),
        ("models.md", 3),
        ("tutorial.md", 2),
        ("integers.md", 2),
    ] {
        let path = format!("{}/docs/{name}", env!("CARGO_MANIFEST_DIR"));
        let document = std::fs::read_to_string(path).expect("the document is there");
        let examples = examples(&document);
        assert!(examples.len() >= least, "{name}: only {}", examples.len());
        examples
            .iter()
            .for_each(|(line, text)| check(name, *line, text));
    }
}

fn check(name: &str, line: usize, text: &str) {
    let claim = text.lines().next().unwrap_or_default();
    let claim = claim.strip_prefix("// ").unwrap_or_default();
    let (word, models) = claim
        .split_once(" under ")
        .expect("an example has an answer");
    let expected = match word {
        "correct" => Verdict::Correct,
        "violated" => Verdict::Violated,
        other => panic!("line {line}: '{other}' is no answer"),
    };
    let source = fencesmith::Source::new(format!("{name}:{line}"), text);
    let program = program(&source).fenced(&Default::default());
    for model in models.split(", ") {
        let model: Model = model.parse().expect("a model");
        let options = VerifyOptions::refining(model);
        let found = verify(&program, &options, &Monitor::default()).verdict;
        assert_eq!(found, expected, "line {line} under {model}\n{text}");
    }
}
