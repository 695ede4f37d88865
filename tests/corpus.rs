//! Every program under `algorithms/` keeps the promises of its header.

mod programs;

use fencesmith::source::Source;
use fencesmith::verify::{Model, Outcome, Reason};
use programs::{MODELS, answer, capped, exact, folders, names, program, source};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Buffers of this length show every violation that is expected.
const BOUND: usize = 2;

/// Programs of several million states. Reaching the limit does not contradict what their
/// headers say: no more is claimed than that nothing was found up to there.
const LARGE: &[(&str, Model)] = &[("mutex/filter-3", Model::Pso)];

/// The limit for them.
const MAX_STATES: u64 = 400_000;

/// What a header says.
#[derive(Debug, Default)]
struct Header {
    name: String,
    /// Whether the program is correct.
    expect: BTreeMap<String, bool>,
    cost: BTreeMap<String, u32>,
    mutants: Vec<String>,
    /// Lines that begin like a fact but are none.
    strange: Vec<String>,
}

fn header(text: &str) -> Header {
    let mut header = Header::default();
    let comments = text.lines().map_while(|line| line.strip_prefix("// "));
    for (index, line) in comments.enumerate() {
        let (key, rest) = line.split_once(':').unwrap_or((line, ""));
        let rest = rest.trim();
        let words: Vec<&str> = key.split(' ').collect();
        let known = match words[..] {
            [name] if index == 0 => {
                header.name = name.to_string();
                true
            }
            ["from" | "property" | "note"] => !rest.is_empty(),
            ["expect", model] => {
                let verdict = rest.split(' ').next().unwrap_or_default();
                let has_reason = rest.contains('(') && rest.ends_with(')');
                let correct = verdict == "correct";
                let is_new = header.expect.insert(model.to_string(), correct).is_none();
                is_new && has_reason && (correct || verdict == "violated")
            }
            ["known", model] => {
                let cost = rest.strip_prefix("cost ").and_then(|rest| {
                    let (cost, source) = rest.split_once(' ')?;
                    source.starts_with("(source: ").then_some(())?;
                    cost.parse().ok()
                });
                let is_new = |cost| header.cost.insert(model.to_string(), cost).is_none();
                cost.is_some_and(is_new)
            }
            ["mutant"] => {
                let text = rest
                    .strip_prefix("delete \"")
                    .and_then(|text| text.strip_suffix('"'));
                header.mutants.extend(text.map(str::to_string));
                text.is_some()
            }
            _ => false,
        };
        if !known {
            header.strange.push(line.to_string());
        }
    }
    header
}

fn every_name() -> Vec<String> {
    let folders = folders();
    names(&folders.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Runs a check on every program and reports all that is wrong, not only the first thing.
fn check(of: impl Fn(&str, &Source, &Header) -> Vec<String> + Sync) {
    let names = every_name();
    assert!(names.len() > 100, "only {} programs", names.len());
    let wrong: Vec<String> = names
        .par_iter()
        .flat_map_iter(|name| {
            let source = source(name);
            let header = header(source.text());
            let wrong = of(name, &source, &header);
            wrong
                .into_iter()
                .map(move |what| format!("{name}: {what}\n"))
        })
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.concat());
}

#[test]
fn headers_are_complete_and_consistent() {
    check(|name, _, header| {
        let mut wrong: Vec<String> = header.strange.clone();
        if !name.ends_with(&format!("/{}", header.name)) {
            wrong.push(format!("the header is that of '{}'", header.name));
        }
        let models: Vec<&str> = header.expect.keys().map(String::as_str).collect();
        if models != ["pso", "sc", "tso"] {
            wrong.push(format!("verdicts for {models:?}"));
            return wrong;
        }
        let correct = |model: &str| header.expect[model];
        // What a stricter model forbids is an execution of the weaker one, too.
        let surprising = |weak, strict| correct(weak) && !correct(strict);
        if surprising("pso", "tso") || surprising("tso", "sc") {
            wrong.push("a weaker model is correct and a stricter one is not".to_string());
        }
        for model in ["tso", "pso"] {
            let cost = header.cost.get(model).copied();
            let fits = match (correct("sc"), correct(model)) {
                (false, _) => cost.is_none(),
                (true, true) => cost == Some(0),
                (true, false) => cost.is_some_and(|cost| cost > 0),
            };
            if !fits {
                wrong.push(format!("a cost of {cost:?} under {model}"));
            }
        }
        if header.cost.get("tso") > header.cost.get("pso") {
            wrong.push("costs more under TSO than under PSO".to_string());
        }
        wrong
    });
}

#[test]
fn verdicts_are_as_expected() {
    check(|name, source, header| {
        let program = program(source).fenced(&Default::default());
        let wrong = MODELS.into_iter().filter_map(|model| {
            let expected = *header.expect.get(&model.to_string())?;
            let large = LARGE.contains(&(name, model));
            let options = match large {
                true => capped(exact(model, BOUND), MAX_STATES),
                false => exact(model, BOUND),
            };
            let outcome = answer(&program, &options).outcome;
            let fits = match outcome {
                Outcome::Correct => expected,
                Outcome::Violated => !expected,
                // Longer buffers may be needed for a proof, but SC has none.
                Outcome::Inconclusive(Reason::Bound(_)) => expected && model != Model::Sc,
                Outcome::Inconclusive(_) => large,
            };
            let say = || format!("expected correct: {expected} under {model}, found {outcome:?}");
            (!fits).then(say)
        });
        wrong.collect()
    });
}

#[test]
fn mutants_are_violated_under_sc() {
    check(|name, source, header| {
        let mutants = header.mutants.iter();
        let wrong = mutants.filter_map(|mutant| {
            let (text, deleted) = without(source.text(), mutant);
            if deleted == 0 {
                return Some(format!("'{mutant}' is not in the program"));
            }
            let program = program(&Source::new(name, text)).fenced(&Default::default());
            let outcome = answer(&program, &exact(Model::Sc, BOUND)).outcome;
            let say = || format!("{outcome:?} without '{mutant}'");
            (outcome != Outcome::Violated).then(say)
        });
        wrong.collect()
    });
}

/// The text without every occurrence of `what` outside comments, and their number.
fn without(text: &str, what: &str) -> (String, usize) {
    let (mut out, mut rest, mut deleted) = (String::new(), text, 0);
    while let Some(first) = rest.chars().next() {
        let comment = match rest.get(..2) {
            Some("//") => rest.find('\n').or(Some(rest.len())),
            Some("/*") => rest.find("*/").map(|at| at + 2),
            _ => None,
        };
        if let Some(length) = comment {
            out.push_str(&rest[..length]);
            rest = &rest[length..];
        } else if let Some(behind) = rest.strip_prefix(what) {
            deleted += 1;
            rest = behind;
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    (out, deleted)
}

#[test]
fn the_index_lists_every_program_with_its_answers() {
    let index = std::fs::read_to_string(programs::root().join("README.md")).expect("an index");
    let mut listed = BTreeSet::new();
    for line in index.lines().filter(|line| line.starts_with("| [")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let link = cells[0].split_once("](").expect("a link").1;
        let name = link.strip_suffix(".fen)").expect("a link to a program");
        let header = header(source(name).text());
        let verdict = |model: &str| match header.expect[model] {
            true => "holds",
            false => "fails",
        };
        let verdicts = ["sc", "tso", "pso"].map(verdict).join(" / ");
        assert_eq!(cells[2], verdicts, "{name}");
        if let (Some(tso), Some(pso)) = (header.cost.get("tso"), header.cost.get("pso")) {
            assert_eq!(cells[3], format!("{tso} / {pso}"), "{name}");
        }
        assert!(listed.insert(name.to_string()), "{name} is listed twice");
    }
    assert_eq!(listed, every_name().into_iter().collect::<BTreeSet<_>>());
}

#[test]
fn deletions_spare_comments() {
    let text = "// store x = 1;\nstore x = 1; /* store x = 1; */ store x = 1;\n";
    let expected = "// store x = 1;\n /* store x = 1; */ \n";
    assert_eq!(without(text, "store x = 1;"), (expected.to_string(), 2));
}
