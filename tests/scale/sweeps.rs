//! Sweeps by several processes write what one process writes.

use crate::hosts::{Hosts, SECRET};
use crate::run::{children, cpu_seconds, end, run, signal, start, start_with};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const PROGRAMS: [&str; 7] = [
    "algorithms/paper/dek0.fen",
    "algorithms/paper/pet0.fen",
    "algorithms/paper/fast1a.fen",
    "algorithms/lock/ticket-2.fen",
    "algorithms/mutex/peterson.fen",
    "algorithms/mutex/burns-2.fen",
    "algorithms/litmus/sb.fen",
];

/// A folder for results that does not exist yet.
fn out() -> (TempDir, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("out").display().to_string();
    (folder, out)
}

fn sweep<'a>(out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let options = ["sweep", "--quiet", "--out", out];
    [&options[..], more].concat()
}

/// The files of a folder, without what differs from run to run.
fn files(folder: &str) -> BTreeMap<String, String> {
    let entries = Path::new(folder).read_dir().expect("a folder").flatten();
    let files = entries.map(|entry| {
        let text = std::fs::read_to_string(entry.path()).expect("it is readable");
        (entry.file_name().display().to_string(), text)
    });
    let measured = ["measured.jsonl", "sweep.lock"];
    files
        .filter(|(name, _)| !measured.contains(&name.as_str()))
        .collect()
}

#[test]
fn the_same_bytes() {
    let verified = ["--model", "tso,pso", "--k", "0..=1"];
    let mended = ["--mode", "infer", "--model", "pso", "--k", "auto"];
    for options in [&verified[..], &mended] {
        let (_kept, alone) = out();
        let (_also, together) = out();
        let all = [&PROGRAMS[..], options].concat();
        let first = run(&sweep(&alone, &all));
        let several = [&all[..], &["--processes", "3", "--threads", "1"]].concat();
        let second = run(&sweep(&together, &several));
        assert_eq!((first.code, second.code), (Some(0), Some(0)), "{second:?}");
        assert_eq!(files(&together), files(&alone));
        assert!(files(&alone)["cells.jsonl"].lines().count() >= 7);
    }
}

#[test]
fn with_a_list_of_hosts() {
    let hosts = Hosts::new(2);
    let file = hosts.file();
    let (_kept, alone) = out();
    let (_also, together) = out();
    assert_eq!(run(&sweep(&alone, &PROGRAMS)).code, Some(0));
    let process = |process: &str, out: &str| {
        let options = ["--hosts", &file, "--process", process, "--threads", "2"];
        start_with(
            &sweep(out, &[&PROGRAMS[..], &options].concat()),
            Some(SECRET),
        )
    };
    let (first, second) = (process("0", &together), process("1", "not used"));
    let first = end(first);
    assert_eq!(first.code, Some(0), "{first:?}");
    let second = end(second);
    assert_eq!((second.code, &*second.out, &*second.err), (Some(0), "", ""));
    assert_eq!(files(&together), files(&alone));
}

/// What is too large for a share of the memory is answered with all of it.
#[test]
fn cells_that_outgrow_their_share() {
    let (_kept, alone) = out();
    let (_also, together) = out();
    let programs = [
        "algorithms/mutex/burns-3.fen",
        "algorithms/mutex/peterson.fen",
    ];
    let memory = ["--abs", "fd,pd", "--k", "0", "--memory", "24M", "--full"];
    let all = [&programs[..], &memory].concat();
    let first = run(&sweep(&alone, &[&all[..], &["--threads", "1"]].concat()));
    let several = [&all[..], &["--processes", "2", "--threads", "4"]].concat();
    let second = run(&sweep(&together, &several));
    assert_eq!((first.code, second.code), (Some(0), Some(0)), "{second:?}");
    assert_eq!(files(&together), files(&alone));
    assert!(!files(&alone)["cells.jsonl"].contains(OUT_OF_MEMORY));
}

/// How a cell says that its memory did not suffice.
const OUT_OF_MEMORY: &str = r#""stopped":"memory""#;

/// What no process can hold is searched by all of them together.
#[test]
fn a_cell_that_fits_no_single_process() {
    let cells = [
        "algorithms/mutex/burns-3.fen",
        "algorithms/mutex/peterson.fen",
        "--model",
        "pso",
        "--abs",
        "fd,pd",
        "--k",
        "0",
        "--full",
        // State by state: rows fit.
        "--stuck",
    ];
    let is_cut = |files: &BTreeMap<String, String>| files["cells.jsonl"].contains(OUT_OF_MEMORY);
    let sweep_with = |more: &[&str]| {
        let (_kept, to) = out();
        let ended = run(&sweep(
            &to,
            &[&cells[..], &["--threads", "1"], more].concat(),
        ));
        let files = files(&to);
        // All are violated, but not all states may have been counted.
        let code = if is_cut(&files) { 3 } else { 0 };
        assert_eq!(ended.code, Some(code), "{ended:?}");
        files
    };
    let expected = sweep_with(&[]);
    assert!(!is_cut(&expected));
    let one = ["--memory", "6M", "--processes", "1"];
    assert!(is_cut(&sweep_with(&one[..2])) && is_cut(&sweep_with(&one)));
    let two = ["--memory", "6M", "--processes", "2"];
    let together = sweep_with(&two);
    assert!(!is_cut(&together));
    assert!(together == expected, "the files differ");
    // What a cell may take is not more because there are more processes.
    for (most, cut) in [("12M", false), ("7M", true)] {
        let limited = [&two[..], &["--max-memory", most]].concat();
        assert_eq!(is_cut(&sweep_with(&limited)), cut, "{most}");
    }
}

/// Cells of which one takes long.
const LONG: [&str; 8] = [
    "algorithms/mutex/bakery-3.fen",
    "--model",
    "pso",
    "--full",
    "--abs",
    "fd",
    "--k",
    "1",
];

/// A process that is lost is named; what was answered is kept.
#[test]
fn a_killed_process() {
    let (_kept, lost) = out();
    let several = ["--processes", "2", "--threads", "1"];
    let timeout = ["--timeout", "100"];
    let options = [&PROGRAMS[..], &LONG, &several, &timeout].concat();
    let sweeping = start(&sweep(&lost, &options));
    let others = children(&sweeping, 1);
    let journal = Path::new(&lost).join("journal.jsonl");
    let begin = Instant::now();
    let answered = || {
        let text = std::fs::read_to_string(&journal).unwrap_or_default();
        text.lines().count()
    };
    while answered() < 5 {
        assert!(
            begin.elapsed() < Duration::from_secs(40),
            "nothing is answered"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    signal(others[0], "-KILL");
    let ended = end(sweeping);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert!(ended.err.contains("process 1 (127.0.0.1:"), "{ended:?}");
    assert!(ended.err.contains("--resume goes on"), "{ended:?}");
    let kept = answered();
    assert!(kept >= 5 && !Path::new(&lost).join("cells.jsonl").exists());
    // Ctrl-C ends all processes as well, and keeps as much.
    let options = [&options[..], &["--resume"]].concat();
    let sweeping = start(&sweep(&lost, &options));
    let others = children(&sweeping, 1);
    std::thread::sleep(Duration::from_millis(1000));
    signal(others[0], "-INT");
    let ended = end(sweeping);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert!(ended.err.contains("interrupted with"), "{ended:?}");
    assert!(answered() >= kept);
}

/// A process that is lost while all search together leaves the cell without an answer.
#[test]
fn a_process_killed_while_all_search() {
    let (_kept, lost) = out();
    let several = ["--processes", "2", "--threads", "1", "--memory", "100M"];
    let sweeping = start(&sweep(&lost, &[&LONG[..], &several].concat()));
    let others = children(&sweeping, 1);
    let begin = Instant::now();
    // One of them is idle as long as the other has the cell for itself.
    while others.iter().any(|id| cpu_seconds(*id) < 0.4) || cpu_seconds(sweeping.id()) < 0.4 {
        assert!(
            begin.elapsed() < Duration::from_secs(40),
            "they do not search together"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    signal(others[0], "-KILL");
    let ended = end(sweeping);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert!(ended.err.contains("process 1 (127.0.0.1:"), "{ended:?}");
    assert!(ended.err.contains("with 0 of 1 cells"), "{ended:?}");
    let journal = Path::new(&lost).join("journal.jsonl");
    let answered = std::fs::read_to_string(journal).unwrap_or_default();
    assert_eq!(answered, "");
    assert!(!Path::new(&lost).join("cells.jsonl").exists());
}

/// A sweep that has lost a process goes on, with any number of processes.
#[test]
fn a_lost_sweep_goes_on() {
    let (_kept, alone) = out();
    let (_also, lost) = out();
    let options = [
        "algorithms/litmus",
        "algorithms/mutex/burns-3.fen",
        "--abs",
        "fd",
        "--k",
        "0..=1",
    ];
    assert_eq!(run(&sweep(&alone, &options)).code, Some(0));
    let several = [&options[..], &["--processes", "2", "--threads", "1"]].concat();
    let sweeping = start(&sweep(&lost, &several));
    let others = children(&sweeping, 1);
    std::thread::sleep(Duration::from_millis(150));
    signal(others[0], "-KILL");
    let ended = end(sweeping);
    assert!([Some(0), Some(3)].contains(&ended.code), "{ended:?}");
    let resumed = run(&sweep(&lost, &[&several[..], &["--resume"]].concat()));
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    assert_eq!(files(&lost), files(&alone));
}
