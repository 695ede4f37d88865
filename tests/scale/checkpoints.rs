//! Runs that are killed, and what `--resume` makes of them.

use crate::run::{Ended, children, end, run, signal, start};
use serde_json::Value as Json;
use std::path::Path;
use std::time::{Duration, Instant};

/// A search of some seconds, with a violation and states behind it.
const QUESTION: [&str; 12] = [
    "verify",
    "algorithms/mutex/filter-3.fen",
    "--model",
    "tso",
    "--abs",
    "exact",
    "--bound",
    "1",
    "--search",
    "plain",
    "--full",
    "--format=json",
];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&QUESTION[..], more].concat()
}

/// The answer without what differs from run to run.
fn answer(ended: &Ended) -> Json {
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    let mut answers: Json = serde_json::from_str(&ended.out).expect("JSON");
    let answer = answers[0].as_object_mut().expect("an answer");
    answer.remove("timing");
    let stats = answer["stats"].as_object_mut().expect("statistics");
    stats.remove("bytes_per_state");
    answers
}

/// The files of checkpoints in a folder.
fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let all = walkdir::WalkDir::new(folder).into_iter().flatten();
    let files = all.filter(|entry| entry.file_type().is_file());
    files.map(walkdir::DirEntry::into_path).collect()
}

/// Starts a run with checkpoints and kills one of its processes when so many files are there.
fn killed(folder: &str, which: usize, least: usize) {
    let options = ["--processes", "2", "--threads", "1", "--checkpoint", folder];
    let child = start(&with(
        &[&options[..], &["--checkpoint-every", "0"]].concat(),
    ));
    let others = children(&child, 1);
    let begin = Instant::now();
    while files(Path::new(folder)).len() < least {
        assert!(
            begin.elapsed() < Duration::from_secs(40),
            "no checkpoints are written"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
    signal([child.id(), others[0]][which], "-KILL");
    let ended = end(child);
    assert!(ended.code != Some(0) && ended.code != Some(1), "{ended:?}");
    assert!(!ended.out.contains("\"violated\""), "{ended:?}");
}

#[test]
fn a_killed_run_goes_on() {
    let expected = answer(&run(&with(&[])));
    for (which, least) in [(0, 31), (1, 91)] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let folder = folder.path().display().to_string();
        killed(&folder, which, least);
        let before = files(Path::new(&folder)).len();
        let options = [
            "--processes",
            "2",
            "--threads",
            "1",
            "--checkpoint",
            &folder,
            "--resume",
        ];
        let resumed = run(&with(&options));
        assert_eq!(answer(&resumed), expected);
        assert!(
            files(Path::new(&folder)).len() >= before - 4,
            "it has gone on from there"
        );
    }
}

/// A checkpoint that was changed is refused.
#[test]
fn a_broken_checkpoint() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let name = folder.path().display().to_string();
    killed(&name, 1, 20);
    let files = files(folder.path());
    let mut bytes = std::fs::read(&files[0]).expect("it is readable");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&files[0], bytes).expect("it is writable");
    let options = [
        "--processes",
        "2",
        "--threads",
        "1",
        "--checkpoint",
        &name,
        "--resume",
    ];
    let ended = run(&with(&options));
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert!(ended.err.contains("checkpoint"), "{ended:?}");
}
