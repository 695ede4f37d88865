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

/// Whenever a process is killed, there is no wrong answer, and `--resume` gives the right one.
#[test]
fn random_moments() {
    let question = [
        "verify",
        "algorithms/mutex/burns-3.fen",
        "--model=pso",
        "--abs=exact",
        "--bound=2",
        "--search=plain",
        "--full",
        "--format=json",
    ];
    let expected = answer(&run(&question));
    let mut ended_before = 0;
    let batch: u64 = std::env::var("FENCESMITH_SEEDS").map_or(0, |text| text.parse().unwrap_or(0));
    for seed in 6 * batch..6 * batch + 6 {
        // Numbers that look random: SplitMix64.
        let mut random = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        random = (random ^ random >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        random ^= random >> 27;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let folder = folder.path().display().to_string();
        let options = [
            "--processes",
            "3",
            "--threads",
            "1",
            "--checkpoint",
            &folder,
        ];
        let options = [&question[..], &options, &["--checkpoint-every", "0"]].concat();
        let child = start(&options);
        let others = children(&child, 2);
        std::thread::sleep(Duration::from_millis(random % 700));
        let victim = [child.id(), others[0], others[1]][(random >> 32) as usize % 3];
        // It may have ended by itself.
        let _ = std::process::Command::new("kill")
            .args(["-KILL", &victim.to_string()])
            .stderr(std::process::Stdio::null())
            .status();
        let ended = end(child);
        match ended.code {
            Some(1) => {
                assert_eq!(answer(&ended), expected, "seed {seed}");
                ended_before += 1;
            }
            Some(3) => assert!(ended.err.contains("process "), "seed {seed}: {ended:?}"),
            code => assert_eq!(code, None, "seed {seed}: {ended:?}"),
        }
        let resumed = run(&[&options[..], &["--resume"]].concat());
        assert_eq!(answer(&resumed), expected, "seed {seed}");
    }
    assert!(ended_before < 6, "nobody was killed");
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
