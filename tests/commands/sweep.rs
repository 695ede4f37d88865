//! Sweeps: what they answer and what they say.

use crate::binary::{Ran, algorithm, run};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// A folder that does not exist yet.
pub fn folder() -> (tempfile::TempDir, String) {
    let temporary = tempfile::tempdir().expect("a temporary folder");
    let path = temporary.path().join("out").display().to_string();
    (temporary, path)
}

pub fn with<'a>(arguments: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [arguments, more].concat()
}

/// Runs a sweep into a folder without progress; it may not complain.
pub fn sweep(arguments: &[&str], out: &str, more: &[&str]) -> Ran {
    let ran = run(&with(arguments, &with(&["-q", "--out", out], more)));
    assert_eq!(ran.stderr, "", "{ran:?}");
    ran
}

/// The files that are the same in every run, by name.
pub fn files(folder: &str) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(folder).expect("the folder exists");
    let files = entries.map(|entry| {
        let path = entry.expect("the folder can be read").path();
        let text = std::fs::read_to_string(&path).expect("results are text");
        let name = path.file_name().expect("a file has a name");
        (name.display().to_string(), text)
    });
    files.filter(|(name, _)| name != "measured.jsonl").collect()
}

pub fn lines(folder: &str, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(Path::new(folder).join(name)).unwrap_or_default();
    let lines = text.lines();
    lines
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

#[test]
fn a_broken_program_does_not_stop_the_others() {
    let programs = tempfile::tempdir().expect("a temporary folder");
    let file = |name: &str| programs.path().join(name);
    std::fs::create_dir(file("deep")).expect("it can be made");
    std::fs::copy(algorithm("litmus/mp"), file("deep/mp.fen")).expect("it can be copied");
    std::fs::copy(algorithm("litmus/sb"), file("sb.fen")).expect("it can be copied");
    std::fs::write(file("broken.fen"), "process p { store x = 1; }").expect("it can be written");
    std::fs::write(file("bytes.fen"), b"\xff\xfe").expect("it can be written");
    std::fs::write(file("notes.txt"), "not a program").expect("it can be written");
    let (_keep, out) = folder();
    let at = programs.path().display().to_string();
    let ran = run(&[
        "sweep",
        &at,
        "/nowhere.fen",
        "--abs",
        "fd",
        "--k",
        "1",
        "-q",
        "--out",
        &out,
    ]);
    assert_eq!(ran.code, 2, "{ran:?}");
    for message in [
        "unknown shared variable 'x'",
        "is not UTF-8 text",
        "cannot read '/nowhere.fen'",
    ] {
        assert!(ran.stderr.contains(message), "{message}: {ran:?}");
    }
    assert!(
        ran.stdout
            .contains("2 cells under PSO: 2 violated, 3 broken programs"),
        "{ran:?}"
    );
    let cells = lines(&out, "cells.jsonl");
    let names: Vec<&str> = cells
        .iter()
        .filter_map(|c| c["cell"]["program"].as_str())
        .collect();
    assert!(
        names[0].ends_with("deep/mp.fen") && names[1].ends_with("sb.fen"),
        "{names:?}"
    );
    let page = format!("{out}.html");
    assert_eq!(run(&["report", &out, "--html", &page]).code, 0);
    let page = std::fs::read_to_string(page).expect("it was written");
    assert!(page.contains("unknown shared variable 'x'"));
}

#[test]
fn limits_are_outcomes() {
    let (_keep, out) = folder();
    let ran = sweep(
        &[
            "sweep",
            "algorithms/paper/sense0.fen",
            "--k",
            "1",
            "--max-states",
            "10",
        ],
        &out,
        &[],
    );
    assert_eq!(ran.code, 3, "{ran:?}");
    assert_eq!(ran.stdout.matches("states limit").count(), 3, "{ran:?}");
    for cell in lines(&out, "cells.jsonl") {
        assert_eq!(cell["stopped"], "states");
        assert_eq!(cell["report"]["stats"], Value::Null);
    }
    for line in lines(&out, "measured.jsonl") {
        assert!(line["measured"]["stats"]["states"].is_u64(), "{line}");
    }
}

/// A cell that is too large for its share of the memory gets all of it in the end.
#[test]
fn memory_is_shared() {
    let arguments = [
        "sweep",
        "algorithms/paper/sense0.fen",
        "--k",
        "0",
        "--memory",
        "320K",
    ];
    let (_keep, one) = folder();
    let (_keep, two) = folder();
    assert_eq!(sweep(&arguments, &one, &["--threads", "1"]).code, 0);
    assert_eq!(sweep(&arguments, &two, &["--threads", "2"]).code, 0);
    assert!(files(&one) == files(&two), "the files differ");
    let peak = |line: &Value| line["measured"]["peak_bytes"].as_u64().expect("a number");
    let largest = lines(&two, "measured.jsonl").iter().map(peak).max();
    assert!(
        largest.is_some_and(|bytes| bytes > 160 << 10),
        "{largest:?}: the share was enough"
    );
    // A limit for each cell is one for all of its attempts. What was found before stands.
    let (_keep, out) = folder();
    let ran = sweep(
        &arguments,
        &out,
        &["--threads", "2", "--max-memory", "100K"],
    );
    assert_eq!(ran.code, 0, "{ran:?}");
    let merged = lines(&out, "cells.jsonl").pop().expect("three cells");
    assert_eq!(merged["stopped"], "memory");
    assert_eq!(merged["report"]["outcome"], "violated");
    assert_eq!(merged["report"]["stats"], Value::Null);
}

#[test]
fn placements_are_the_known_ones() {
    let (_keep, out) = folder();
    let arguments = [
        "sweep",
        "algorithms/mutex/peterson.fen",
        "algorithms/litmus/mp.fen",
        "algorithms/litmus/inc+inc.fen",
        "--mode",
        "infer",
        "--abs",
        "fd",
        "--k",
        "auto,0",
        "--model",
        "tso,pso",
    ];
    let ran = sweep(&arguments, &out, &[]);
    assert_eq!(ran.code, 0);
    let text = std::fs::read_to_string(Path::new(&out).join("placements.json"));
    let placements: Vec<Value> =
        serde_json::from_str(&text.expect("it is there")).expect("an array");
    let found = placements.iter().map(|p| {
        let name = p["program"]
            .as_str()
            .and_then(|name| name.rsplit('/').next());
        let cost = p["placement"]["cost"].as_u64();
        (
            name.unwrap_or_default(),
            p["model"].as_str().unwrap_or_default(),
            cost,
        )
    });
    let expected = [
        ("peterson.fen", "tso", Some(1)),
        ("peterson.fen", "pso", Some(2)),
        ("mp.fen", "tso", Some(0)),
        ("mp.fen", "pso", Some(1)),
        ("inc+inc.fen", "tso", None),
        ("inc+inc.fen", "pso", None),
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected);
    assert_eq!(placements[1]["placement"]["optimality"], "exact");
    assert_eq!(placements[1]["placement"]["fences"][1]["line"], 19);
    assert_eq!(placements[4]["outcome"], "incorrect");
}

#[test]
fn tables_in_every_format() {
    let arguments = [
        "sweep",
        "algorithms/paper",
        "--abs",
        "set,fd",
        "--k",
        "0,1",
        "-q",
        "--max-states",
        "5000",
    ];
    let of = |format: &str| {
        let ran = run(&with(&arguments, &["--format", format]));
        assert_eq!((ran.code, ran.stderr.as_str()), (3, ""), "{ran:?}");
        ran.stdout
    };
    let text = of("text");
    let widest = text.lines().map(|line| line.chars().count()).max();
    assert!(
        widest.is_some_and(|width| width <= 80),
        "{widest:?} columns\n{text}"
    );
    let rows: Vec<Value> = serde_json::from_str(&of("json")).expect("JSON");
    let csv = of("csv");
    assert_eq!(csv.lines().count(), rows.len() + 1);
    assert!(
        csv.starts_with("program,model,mode,abstraction,k,engine,outcome,"),
        "{csv}"
    );
    let markdown = of("markdown");
    let table = markdown.lines().filter(|line| line.starts_with('|'));
    assert_eq!(table.count(), rows.len() + 2);
    let fig6 = |abstraction: &str, k: Value| {
        let mut rows = rows.iter();
        let found = rows.find(|row| {
            row["program"] == "algorithms/paper/fig6.fen"
                && row["abstraction"] == abstraction
                && row["k"] == k
        });
        found.map(|row| row["outcome"].clone())
    };
    assert_eq!(fig6("fd", 0.into()), Some("inconclusive".into()));
    assert_eq!(fig6("fd", 1.into()), Some("correct".into()));
    assert_eq!(fig6("set", Value::Null), Some("inconclusive".into()));
}

#[test]
fn what_does_not_go_together() {
    let sb = algorithm("litmus/sb");
    let cases: &[(&[&str], &str)] = &[
        (&["sweep"], "required arguments"),
        (
            &["sweep", &sb, "--k", "3..=1"],
            "'3..=1' is not a list of numbers up to 1000",
        ),
        (
            &["sweep", &sb, "--mode", "infer", "--abs", "set"],
            "--abs fd, pd or logs only",
        ),
        (
            &["sweep", &sb, "--engine", "points"],
            "--engine goes with --mode infer",
        ),
        (&["sweep", &sb, "--all"], "--all goes with --mode infer"),
        (
            &["sweep", &sb, "--mode", "infer", "--full"],
            "--full goes with --mode verify",
        ),
        (
            &["sweep", &sb, "--abs", "pd", "--k", "auto"],
            "there is nothing to do",
        ),
        (&["sweep", &sb, "--resume"], "--out <DIR>"),
        (
            &["sweep", &sb, "--out", "Cargo.toml"],
            "cannot create 'Cargo.toml'",
        ),
        (
            &["sweep", "tests/browser"],
            "no .c, .fen, .litmus or .rmm files in 'tests/browser'",
        ),
        (
            &["compare", &sb, "--k", "auto"],
            "--k auto has no place here",
        ),
        (
            &["report", "Cargo.toml", "--html", "x"],
            "'Cargo.toml': these are not results",
        ),
        (
            &["report", "src", "--html", "x"],
            "cannot read 'src/sweep.json'",
        ),
        (&["completions", "tcl"], "invalid value 'tcl'"),
    ];
    for (arguments, expected) in cases {
        let ran = run(arguments);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stderr.contains(expected), "{expected}: {ran:?}");
    }
}

#[test]
fn fd_against_pd() {
    let (_keep, out) = folder();
    let arguments = [
        "compare",
        "algorithms/paper/fig6.fen",
        "algorithms/litmus/mp.fen",
        "--k",
        "0..=1",
    ];
    let ran = sweep(&arguments, &out, &[]);
    assert_eq!(ran.code, 0);
    let widest = ran.stdout.lines().map(|line| line.chars().count()).max();
    assert!(
        widest.is_some_and(|width| width <= 80),
        "{widest:?} columns\n{}",
        ran.stdout
    );
    let text = std::fs::read_to_string(Path::new(&out).join("compare.json")).expect("it is there");
    let found: Value = serde_json::from_str(&text).expect("JSON");
    let fig6 = &found["programs"][0];
    assert_eq!(fig6["optimum"], 0);
    assert_eq!(fig6["precise_from"]["fd"], 1);
    assert_eq!(fig6["rows"][0]["fd"]["spurious"], true);
    assert_eq!(
        fig6["rows"][0]["fd"]["fences"], 1,
        "a fence for a violation that does not exist"
    );
    assert_eq!(fig6["rows"][1]["fd"]["outcome"], "correct");
    assert_eq!(fig6["precision"], "equal");
    let mp = &found["programs"][1];
    assert_eq!(mp["optimum"], 1);
    assert_eq!(mp["rows"][0]["pd"]["spurious"], false);
    assert_eq!(mp["rows"][0]["pd"]["fences"], 1);
    assert_eq!(found["overall"][0]["precise"]["fd"], 1);
    assert_eq!(found["overall"][1]["precise"]["pd"], 2);
}

/// With its fences, a program is proved or not; no fences are inferred by formulas.
#[test]
fn fd_against_pd_with_fences() {
    let (_keep, out) = folder();
    let arguments = [
        "compare",
        "algorithms/paper/sense0.fen",
        "algorithms/litmus/mp.fen",
        "algorithms/lock/ttas-broken.fen",
        "--k",
        "0..=1",
        "--fenced",
    ];
    let ran = sweep(&arguments, &out, &[]);
    assert_eq!(ran.code, 0);
    assert!(!ran.stdout.contains("formulas"), "{}", ran.stdout);
    let text = std::fs::read_to_string(Path::new(&out).join("compare.json")).expect("it is there");
    let found: Value = serde_json::from_str(&text).expect("JSON");
    for program in 0..2 {
        let program = &found["programs"][program];
        assert_eq!(program["optimum"], 1, "{program}");
        assert_eq!(program["rows"][1]["fd"]["outcome"], "correct", "{program}");
        assert_eq!(program["rows"][1]["fd"]["fences"], Value::Null, "{program}");
        assert_ne!(program["precise_from"]["fd"], Value::Null, "{program}");
    }
    // What no fence can mend is taken as it stands.
    let broken = &found["programs"][2];
    assert_eq!(broken["optimum"], Value::Null);
    assert_eq!(broken["rows"][1]["fd"]["outcome"], "violated");
    let cells = std::fs::read_to_string(Path::new(&out).join("cells.jsonl")).expect("it is there");
    let fenced: Vec<Value> = cells
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .filter(|cell: &Value| cell["cell"]["fenced"] == true)
        .collect();
    assert_eq!(fenced.len(), 12);
    let sense = &fenced[0]["report"]["config"]["fences"];
    assert_eq!(sense.as_array().map(Vec::len), Some(1), "{sense}");
}
