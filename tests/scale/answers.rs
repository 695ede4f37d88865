//! Two and four processes give the answers of one, byte for byte.

use crate::run::run;
use fencesmith_testing::programs;
use serde_json::Value as Json;

/// Programs that are small enough for all ways.
const PROGRAMS: [&str; 8] = [
    "paper/dek0",
    "paper/fast1a",
    "paper/sense1",
    "lock/ticket-2",
    "mutex/peterson",
    "mutex/burns-2",
    "mutex/dekker-goto",
    "protocol/increasing-sequence",
];

/// More than fifty files.
fn files() -> Vec<String> {
    let litmus = programs::names(&["litmus"]).into_iter().take(46);
    let all = litmus.chain(PROGRAMS.map(str::to_string));
    all.map(|name| format!("algorithms/{name}.fen")).collect()
}

/// The answers without what differs from run to run: time and memory.
fn answers(options: &[&str], processes: Option<&str>) -> Vec<Json> {
    let mut arguments = vec!["verify", "--format", "json", "--model", "sc,tso,pso"];
    let files = files();
    arguments.extend(files.iter().map(String::as_str));
    arguments.extend(options);
    if let Some(processes) = processes {
        arguments.extend(["--processes", processes, "--threads", "1"]);
    }
    let ended = run(&arguments);
    assert_eq!(ended.code, Some(1), "some are violated: {}", ended.err);
    let mut answers: Vec<Json> = serde_json::from_str(&ended.out).expect("JSON");
    for answer in &mut answers {
        let answer = answer.as_object_mut().expect("an answer");
        assert!(answer.remove("timing").is_some());
        if let Some(stats) = answer["stats"].as_object_mut() {
            stats.remove("bytes_per_state");
        }
    }
    answers
}

fn same(options: &[&str], processes: &str) {
    let expected = answers(options, None);
    assert!(expected.len() > 3 * 50, "{} answers", expected.len());
    let count = |outcome: &str| {
        let all = expected.iter();
        all.filter(|answer| answer["outcome"] == outcome).count()
    };
    assert!(count("correct") > 50 && count("violated") > 20);
    let found = answers(options, Some(processes));
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected, "{processes} processes");
    }
}

#[test]
fn with_abstract_buffers() {
    same(&["--search", "plain", "--abs", "fd", "--k", "1"], "2");
}

#[test]
fn with_exact_buffers() {
    let exact = ["--abs", "exact", "--bound", "2", "--full"];
    same(&[&["--search", "plain"], &exact[..]].concat(), "4");
}

/// The table of a counterexample, and all that is printed around it; several workers a process.
#[test]
fn the_text_of_an_answer() {
    let text = |more: &[&str]| {
        let program = "algorithms/mutex/dekker.fen";
        let search = ["--search", "plain", "--deadlock", "--model", "pso"];
        let ended = run(&[&["verify", program], &search[..], more].concat());
        assert_eq!(ended.code, Some(1), "{}", ended.err);
        let words = ended.out.split_inclusive(' ');
        let times = |word: &&str| word.trim().parse::<f64>().is_err() || !word.contains('.');
        words.filter(times).collect::<String>()
    };
    let expected = text(&[]);
    assert!(expected.contains("violated:"), "{expected}");
    assert_eq!(text(&["--processes", "2", "--threads", "2"]), expected);
}

/// Every round of an inference is a search by all processes.
#[test]
fn placements() {
    let placed = |more: &[&str]| {
        let programs = [
            "algorithms/mutex/peterson.fen",
            "algorithms/mutex/burns-2.fen",
        ];
        let search = ["--search", "plain", "--format", "json"];
        let ended = run(&[&["infer"], &programs[..], &search, more].concat());
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        let mut answers: Vec<Json> = serde_json::from_str(&ended.out).expect("JSON");
        for answer in &mut answers {
            answer.as_object_mut().expect("an answer").remove("timing");
        }
        answers
    };
    let expected = placed(&[]);
    assert_eq!(expected.len(), 4);
    assert_eq!(placed(&["--processes", "2", "--threads", "1"]), expected);
}
