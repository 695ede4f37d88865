//! Every program under `algorithms/` keeps the promises of its header. What its cheapest
//! placements cost is checked in `costs.rs`.

use fencesmith::memory::{Model, Semantics};
use fencesmith::property::Violation;
use fencesmith::source::Source;
use fencesmith::verify::{Inconclusive, Verdict, VerifyOptions};
use fencesmith_testing::programs;
use fencesmith_testing::programs::header::{Answer, Header, Problem, Question};
use fencesmith_testing::programs::{MODELS, answer, exact, program, source};
use std::collections::BTreeSet;

/// Buffers of this length show every violation that is expected.
const BOUND: usize = 2;

fn check(of: impl Fn(&str, &Source) -> Vec<Problem> + Sync) {
    let names = programs::all();
    assert!(names.len() > 130, "only {} programs", names.len());
    programs::check(&names, of);
}

#[test]
fn headers_are_complete_and_consistent() {
    check(
        |name, source| match programs::header::header(source.text()) {
            Ok(header) if !name.ends_with(&format!("/{}", header.name)) => {
                vec![Problem(
                    1,
                    format!("the header is that of '{}'", header.name),
                )]
            }
            Ok(_) => Vec::new(),
            Err(problems) => problems,
        },
    );
}

/// On the exact models, which owe nothing to any abstraction.
#[test]
fn verdicts_are_as_expected() {
    check(|_, source| {
        let program = program(source).fenced(&Default::default());
        let header = programs::header(source);
        let wrong = MODELS.into_iter().filter_map(|model| {
            let fact = header.fact(Question::Verdict(model));
            let outcome = answer(&program, &exact(model, BOUND)).verdict;
            let fits = match outcome {
                Verdict::Correct => fact.answer == Answer::Correct,
                Verdict::Violated => fact.answer == Answer::Violated,
                // Longer buffers may be needed for a proof, which the lines with `verify`
                // have; but SC has no buffers.
                Verdict::Inconclusive(Inconclusive::Bound(_)) => {
                    fact.answer == Answer::Correct && model != Model::Sc
                }
                Verdict::Inconclusive(_) => false,
            };
            (!fits).then(|| Problem(fact.line, format!("found {outcome:?}")))
        });
        wrong.collect()
    });
}

#[test]
fn abstractions_answer_as_expected() {
    check(|_, source| {
        let program = program(source).fenced(&Default::default());
        let header = programs::header(source);
        let wrong = header.expected.iter().filter_map(|fact| {
            let Question::Verify(model, abstraction, atomics) = fact.question else {
                return None;
            };
            let options = VerifyOptions::under(Semantics {
                atomics,
                ..Semantics::new(model, abstraction)
            });
            let outcome = answer(&program, &options).verdict;
            let fits = match outcome {
                Verdict::Correct => fact.answer == Answer::Correct,
                Verdict::Violated => fact.answer == Answer::Violated,
                Verdict::Inconclusive(Inconclusive::Spurious) => fact.answer == Answer::Spurious,
                Verdict::Inconclusive(_) => false,
            };
            (!fits).then(|| Problem(fact.line, format!("found {outcome:?}")))
        });
        wrong.collect()
    });
}

/// The property can fail, and it is the property that fails: no run leaves a range.
#[test]
fn mutants_are_violated_under_sc() {
    check(|name, source| {
        let mutants = programs::header(source).mutants.into_iter();
        let wrong = mutants.filter_map(|mutant| {
            let (text, changed) = replaced(source.text(), &mutant.from, &mutant.to);
            if changed == 0 {
                let what = format!("'{}' is not in the program", mutant.from);
                return Some(Problem(mutant.line, what));
            }
            let program = program(&Source::new(name, text)).fenced(&Default::default());
            let answer = answer(&program, &exact(Model::Sc, BOUND));
            let is_property = match answer.counterexample().map(|found| found.violation) {
                Some(Violation::Property(_)) => true,
                Some(Violation::Failure(_, failure)) => failure.fault.is_none(),
                _ => false,
            };
            (!is_property).then(|| Problem(mutant.line, format!("found {:?}", answer.verdict)))
        });
        wrong.collect()
    });
}

/// The text with every occurrence of `from` outside comments replaced, and their number.
fn replaced(text: &str, from: &str, to: &str) -> (String, usize) {
    let (mut out, mut rest, mut changed) = (String::new(), text, 0);
    while let Some(first) = rest.chars().next() {
        let comment = match rest.get(..2) {
            Some("//") => rest.find('\n').or(Some(rest.len())),
            Some("/*") => rest.find("*/").map(|at| at + 2),
            _ => None,
        };
        if let Some(length) = comment {
            out.push_str(&rest[..length]);
            rest = &rest[length..];
        } else if let Some(behind) = rest.strip_prefix(from) {
            changed += 1;
            out.push_str(to);
            rest = behind;
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    (out, changed)
}

#[test]
fn the_index_lists_every_program_with_its_answers() {
    let index = std::fs::read_to_string(programs::root().join("README.md")).expect("an index");
    let mut listed = BTreeSet::new();
    for line in index.lines().filter(|line| line.starts_with("| [")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let link = cells[0].split_once("](").expect("a link").1;
        let name = link.strip_suffix(".fen)").expect("a link to a program");
        let source = source(name);
        let header = programs::header(&source);
        let first = source.text().lines().next().unwrap_or_default();
        assert_eq!(format!("// {}: {}", header.name, cells[1]), first);
        assert_eq!(cells[2], verdicts(&header), "{name}");
        assert_eq!(cells[3], fences(&header), "{name}");
        assert!(listed.insert(name.to_string()), "{name} is listed twice");
    }
    assert_eq!(listed, programs::all().into_iter().collect::<BTreeSet<_>>());
}

/// The verdicts as the index shows them.
fn verdicts(header: &Header) -> String {
    let verdict = |model| match header.fact(Question::Verdict(model)).answer {
        Answer::Correct => "holds",
        _ => "fails",
    };
    MODELS.map(verdict).join(" / ")
}

/// The costs as the index shows them.
fn fences(header: &Header) -> String {
    let fences = |model| match header.fact(Question::Fences(model)).answer {
        Answer::Cost(cost) => cost.to_string(),
        Answer::AtMost(cost) => format!("≤ {cost}"),
        _ => "–".to_string(),
    };
    [Model::Tso, Model::Pso].map(fences).join(" / ")
}

#[test]
fn replacements_spare_comments() {
    let text = "// store x = 1;\nstore x = 1; /* store x = 1; */ store x = 1;\n";
    let expected = "// store x = 1;\nskip; /* store x = 1; */ skip;\n";
    let found = replaced(text, "store x = 1;", "skip;");
    assert_eq!(found, (expected.to_string(), 2));
}

/// A header with nothing wrong.
const GOOD: &str = "\
// sb: store buffering
// from: classic
// property: not both zero
// expect sc: correct (computed)
// expect tso: correct (computed; why not)
// expect tso: cost 0, stuck cost 3 (Ann, Bob 2011, table 1)
// expect pso: violated (computed)
// expect pso: cost 2, stuck incorrect (computed)
// published pso: cost 4 (Ann, Bob 2011, table 1; another text)
// expect verify tso fd0: spurious (computed)
// expect verify tso fd1: correct (computed)
// expect verify pso set drain-all: violated (computed)
// mutant: replace \"x\" by \"y\"
// note: anything

shared int x;
";

#[test]
fn every_wrong_line_is_found() {
    assert!(programs::header::header(GOOD).is_ok());
    let wrong: &[(usize, &str)] = &[
        (1, "// store buffering"),
        (1, "// two words: store buffering"),
        (2, "// fro: classic"),
        (2, "//"),
        (2, "//from: classic"),
        (3, "// property"),
        (4, "// expect sc: correct"),
        (4, "// expect sc: right (computed)"),
        (4, "// expect sc: cost 0 (computed)"),
        (4, "// expect sc: correct (computed"),
        (4, "// expect sc: correct (by design)"),
        (4, "// expect sc: correct (Ann, Bob 2011)"),
        (4, "// expect sc: correct (2011, table 1)"),
        (5, "// expect arm: correct (computed)"),
        (5, "// expect tso: spurious (computed)"),
        (6, "// expect tso: cost none (computed)"),
        (6, "// expect tso: costs 0 (computed)"),
        (6, "// expect tso pso: cost 0 (computed)"),
        (6, "// expect tso: correct (computed)"),
        (6, "// expect tso: cost 1 (computed)"),
        (6, "// expect tso: incorrect (computed)"),
        (6, "// expect tso: cost at most 1 (computed)"),
        (8, "// expect pso: cost 0 (computed)"),
        (8, "// expect pso: cost 2 (computed)"),
        (8, "// expect pso: cost 2, stuck cost 1 (computed)"),
        (8, "// expect pso: cost 2, stuck correct 3 (computed)"),
        (7, "// expect pso: violated, stuck cost 2 (computed)"),
        (9, "// published pso: cost 4 (computed; another text)"),
        (9, "// published pso: cost 4 (Ann, Bob 2011, table 1)"),
        (
            9,
            "// published pso: cost 2 (Ann, Bob 2011, table 1; the same)",
        ),
        (
            9,
            "// published verify pso fd2: correct (Ann, Bob 2011, table 1; alone)",
        ),
        (10, "// expect verify tso fd: spurious (computed)"),
        (10, "// expect verify tso sets: spurious (computed)"),
        (10, "// expect verify tso fd0: cost 1 (computed)"),
        (
            10,
            "// expect verify tso fd0 drain-place: spurious (computed)",
        ),
        (13, "// mutant: \"x\""),
        (13, "// mutant: delete x"),
        (13, "// mutant: delete \"\""),
        (13, "// mutant: replace \"x\""),
        (14, "// remark: anything"),
        (15, "// remark: anything"),
        (16, "// expect sc: correct (computed)"),
    ];
    for (number, line) in wrong {
        let mut lines: Vec<&str> = GOOD.lines().collect();
        lines[number - 1] = line;
        let problems = programs::header::header(&lines.join("\n")).expect_err(line);
        let numbers: Vec<usize> = problems.iter().map(|problem| problem.0).collect();
        assert!(numbers.contains(number), "{line}: {problems:?}");
    }
}

#[test]
fn a_stricter_model_is_not_dearer() {
    let text = GOOD
        .replace("tso: correct", "tso: violated")
        .replace("tso: cost 0", "tso: cost 3");
    let problems = programs::header::header(&text).expect_err("3 fences against 2");
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].0, 6);
}

#[test]
fn every_missing_line_is_noticed() {
    // Neither the figure of a paper, nor a second atomics, nor a note is asked for.
    let spare = [9, 12, 14];
    for number in (1..=14).filter(|number| !spare.contains(number)) {
        let lines = GOOD.lines().enumerate();
        let lines = lines.filter(|(index, _)| index + 1 != number);
        let text: Vec<&str> = lines.map(|(_, line)| line).collect();
        let found = programs::header::header(&text.join("\n"));
        assert!(found.is_err(), "without line {number}");
    }
}
