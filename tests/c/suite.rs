//! Every program under `algorithms/c` keeps the promises of its header, and what is not read is
//! refused where it stands.

use crate::run::Folder;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A question about a program: `sc`, `tso cost`.
type Question = String;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).expect("the folder is there");
    let paths = entries.flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.is_file()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "c"));
    paths.sort();
    paths
}

/// What the header of a program promises.
fn promises(path: &Path) -> BTreeMap<Question, String> {
    let text = std::fs::read_to_string(path).expect("it can be read");
    let name = path.file_stem().expect("it has a name").to_string_lossy();
    let first = text.lines().next().unwrap_or_default();
    assert!(first.starts_with(&format!("// {name}: ")), "{first}");
    let mut all = BTreeMap::new();
    for line in text.lines().take_while(|line| line.starts_with("//")) {
        let Some(rest) = line.strip_prefix("// expect ") else {
            continue;
        };
        let (model, rest) = rest.split_once(": ").expect("a model and an answer");
        let (answer, why) = rest.split_once(" (").expect("an answer and a reason");
        assert!(why.ends_with(')'), "{name}: {line}");
        let question = match answer {
            "correct" | "violated" => model.to_string(),
            _ => format!("{model} cost"),
        };
        all.insert(question, answer.to_string());
    }
    assert_eq!(all.len(), 5, "{name}: {all:?}");
    all
}

/// All answers of a command about the whole suite, by program.
fn answers(command: &str, models: &str) -> BTreeMap<String, Vec<Value>> {
    let folder = root().join("algorithms/c");
    let folder = folder.to_string_lossy();
    let ran = Folder::new().run(&[command, &folder, "--model", models, "--format", "json"]);
    assert!(ran.code < 2, "{}", ran.stderr);
    let records: Vec<Value> = serde_json::from_str(&ran.stdout).expect("answers are JSON");
    let mut all: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for record in records {
        let path = record["program"].as_str().expect("it has a name");
        let name = path.rsplit('/').next().unwrap_or_default().to_string();
        all.entry(name).or_default().push(record);
    }
    all
}

#[test]
fn answers_are_as_expected() {
    let verdicts = answers("verify", "sc,tso,pso");
    let placements = answers("infer", "tso,pso");
    let paths = files("algorithms/c");
    assert!(paths.len() >= 40, "only {} programs", paths.len());
    let mut wrong = Vec::new();
    for path in paths {
        let promised = promises(&path);
        let name = path.file_name().expect("it has a name").to_string_lossy();
        let mut found: BTreeMap<Question, String> = BTreeMap::new();
        for record in &verdicts[&*name] {
            let model = record["config"]["model"].as_str().expect("a model");
            let verdict = record["outcome"].as_str().expect("a verdict");
            found.insert(model.to_string(), verdict.to_string());
        }
        for record in &placements[&*name] {
            let model = record["config"]["model"].as_str().expect("a model");
            let outcome = record["outcome"].as_str().expect("an outcome");
            let answer = match outcome {
                "correct" => "cost 0".to_string(),
                "incorrect-under-sc" => "incorrect".to_string(),
                "placed" => {
                    let exact = record["placement"]["optimality"] == "exact";
                    assert!(exact, "{name}: the placement is not known to be optimal");
                    format!("cost {}", record["placement"]["cost"])
                }
                other => other.to_string(),
            };
            found.insert(format!("{model} cost"), answer);
        }
        if found != promised {
            wrong.push(format!("{name}: promised {promised:?}, found {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The first line of a refused program names the position of the message and some of its words.
#[test]
fn what_is_not_read_is_refused_where_it_stands() {
    let paths = files("tests/data/c-refused");
    assert!(paths.len() >= 10, "only {} programs", paths.len());
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let first = text.lines().next().unwrap_or_default();
        let promised = first.strip_prefix("// refused: ").expect("a first line");
        let (position, words) = promised.split_once(' ').expect("a position and words");
        let shown = path.to_string_lossy();
        let ran = Folder::new().run(&["verify", &shown]);
        assert_eq!(ran.code, 2, "{shown}: {}", ran.stdout);
        let place = format!("{shown}:{position}");
        assert!(ran.stderr.contains(&place), "{place}\n{}", ran.stderr);
        assert!(ran.stderr.contains(words), "{words}\n{}", ran.stderr);
        assert!(ran.stderr.contains("help:"), "{}", ran.stderr);
    }
}
