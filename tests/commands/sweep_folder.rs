//! The folder that a sweep writes to: what it keeps, how a sweep goes on, and who may write.

use crate::binary::{algorithm, run};
use crate::files::on_a_full_disk;
use crate::sweep::{files, folder, lines, sweep, with};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Many small cells.
const LITMUS: &[&str] = &[
    "sweep",
    "algorithms/litmus",
    "--abs",
    "fd,pd",
    "--k",
    "0..=2",
];

/// A few that take all there is: every minimal placement, by formulas.
const PLACED: &[&str] = &[
    "sweep",
    "algorithms/litmus/sb.fen",
    "algorithms/litmus/2+2w.fen",
    "algorithms/litmus/r.fen",
    "algorithms/paper/sense0.fen",
    "--mode",
    "infer",
    "--engine",
    "points",
    "--model",
    "tso,pso",
    "--k",
    "0..=1",
    "--all",
    "5",
];

/// A long sweep: the second cell does not end by itself.
const LONG: &[&str] = &[
    "sweep",
    "algorithms/litmus/sb.fen",
    "algorithms/mutex/filter-3.fen",
    "--abs",
    "fd",
    "--full",
    "--k",
    "2",
    "--max-memory",
    "2G",
];

/// Starts a sweep, and waits until so many cells are on record.
fn started(arguments: &[&str], out: &str, cells: usize) -> Child {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fencesmith"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(with(arguments, &["-q", "--threads", "2", "--out", out]))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let begin = Instant::now();
    while lines(out, "journal.jsonl").len() < cells {
        let ended = child.try_wait().expect("the child can be waited for");
        assert!(ended.is_none(), "it ended too early: {ended:?}");
        assert!(begin.elapsed() < Duration::from_secs(20), "it is too slow");
        std::thread::sleep(Duration::from_millis(1));
    }
    child
}

fn interrupt(child: &Child) {
    let mut kill = Command::new("kill");
    let sent = kill.args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("kill is there").success());
}

#[test]
fn a_killed_sweep_goes_on() {
    let (_keep, whole) = folder();
    assert_eq!(sweep(LITMUS, &whole, &[]).code, 0);
    let (_keep, out) = folder();
    let mut child = started(LITMUS, &out, 20);
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let names = files(&out);
    assert_eq!(
        names.keys().collect::<Vec<_>>(),
        ["journal.jsonl", "sweep.json", "sweep.lock"]
    );
    let finished = lines(&out, "journal.jsonl");
    let all = lines(&whole, "cells.jsonl").len();
    assert!(
        (20..all).contains(&finished.len()),
        "{} of {all}",
        finished.len()
    );

    // The process may die in the middle of a line.
    let journal = Path::new(&out).join("journal.jsonl");
    let mut text = std::fs::read_to_string(&journal).expect("it is there");
    text.push_str("{\"record\":{\"cell\":{\"program\":\"algori");
    std::fs::write(&journal, text).expect("it can be written");

    let ran = run(&with(LITMUS, &["--out", &out, "--resume"]));
    assert_eq!(ran.code, 0, "{ran:?}");
    let run_now = ran.stderr.lines().count();
    assert_eq!(run_now, all - finished.len(), "only what is open runs");
    assert!(files(&out) == files(&whole), "the files differ");
    // Nobody measures the same thing twice and gets the same figure for all.
    let measured = lines(&out, "measured.jsonl");
    for line in finished {
        assert!(measured.contains(&line["measured"]), "ran again: {line}");
    }
}

#[test]
fn threads_and_a_second_resume_change_nothing() {
    let (_keep, one) = folder();
    let (_keep, two) = folder();
    assert_eq!(sweep(PLACED, &one, &["--threads", "1"]).code, 0);
    assert_eq!(sweep(PLACED, &two, &["--threads", "2"]).code, 0);
    assert!(files(&one) == files(&two), "the files differ");
    let before = std::fs::read_to_string(Path::new(&two).join("measured.jsonl"));
    let again = run(&with(PLACED, &["--out", &two, "--resume"]));
    assert_eq!(
        (again.code, again.stderr.as_str()),
        (0, ""),
        "nothing is left to do"
    );
    assert!(files(&one) == files(&two), "the files differ");
    let after = std::fs::read_to_string(Path::new(&two).join("measured.jsonl"));
    assert_eq!(before.expect("it is there"), after.expect("it is there"));
}

#[test]
fn ctrl_c_keeps_what_was_found() {
    let (_keep, out) = folder();
    let child = started(LONG, &out, 1);
    interrupt(&child);
    let begin = Instant::now();
    let ended = child.wait_with_output().expect("it ends");
    assert!(begin.elapsed() < Duration::from_secs(10));
    assert_eq!(ended.status.code(), Some(3));
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(
        said.contains("interrupted with 1 of 2 cells answered: they are kept"),
        "{said}"
    );
    assert_eq!(lines(&out, "journal.jsonl").len(), 1);
    assert!(!Path::new(&out).join("cells.jsonl").exists());
}

#[test]
fn other_options_are_noticed() {
    let (_keep, out) = folder();
    let sb = algorithm("litmus/sb");
    let begun = ["sweep", &sb, "--k", "0,1"];
    assert_eq!(sweep(&begun, &out, &[]).code, 0);
    let cases: &[(&[&str], &str)] = &[
        (&["sweep", &sb, "--k", "0"], "--k was 0,1, is 0"),
        (
            &["sweep", &sb, "--k", "0,1", "--full"],
            "--full was false, is true",
        ),
        (
            &["sweep", &sb, "--k", "0,1", "--timeout", "9"],
            "--timeout was not given, is 9",
        ),
        (
            &["sweep", "algorithms/litmus/mp.fen", "--k", "0,1"],
            "'algorithms/litmus/mp.fen' is new; 'algorithms/litmus/sb.fen' is missing",
        ),
        (&["compare", &sb, "--k", "0,1"], "it was made by fencesmith"),
    ];
    for (arguments, expected) in cases {
        let ran = run(&with(arguments, &["--out", &out, "--resume"]));
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stderr.contains("holds another sweep: "), "{ran:?}");
        assert!(ran.stderr.contains(expected), "{ran:?}");
    }
    let ran = run(&with(&begun, &["--out", &out]));
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("already holds a sweep"), "{ran:?}");
    // What does not change an answer may change.
    let ran = sweep(
        &begun,
        &out,
        &["--resume", "--threads", "1", "--memory", "1G"],
    );
    assert_eq!(ran.code, 0);
}

#[test]
fn damaged_results_name_file_and_line() {
    let (_keep, out) = folder();
    let arguments = ["sweep", "algorithms/litmus/sb.fen", "--k", "0,1"];
    assert_eq!(sweep(&arguments, &out, &[]).code, 0);
    let path = Path::new(&out).join("cells.jsonl");
    let good = std::fs::read_to_string(&path).expect("it is there");
    let damages = [
        (
            good.replacen("\"cell\"", "\"call\"", 1),
            "cells.jsonl:1: this is not a cell",
        ),
        (
            good.replace("\"k\":1}", "\"k\":-1}"),
            "cells.jsonl:3: this is not a cell",
        ),
        (
            good.replacen('\n', "\n[1]\n", 1),
            "cells.jsonl:2: this is not a cell: invalid type",
        ),
        (
            good.replacen('{', "", 1),
            "cells.jsonl:1: this is not a cell",
        ),
    ];
    let page = format!("{out}.html");
    for (text, expected) in damages {
        std::fs::write(&path, text).expect("it can be written");
        let resumed = run(&with(&arguments, &["-q", "--out", &out, "--resume"]));
        for ran in [resumed, run(&["report", &out, "--html", &page])] {
            assert_eq!(ran.code, 2, "{ran:?}");
            assert!(ran.stderr.contains(expected), "{expected}: {ran:?}");
        }
    }
    std::fs::write(&path, good).expect("it can be written");
    std::fs::write(Path::new(&out).join("sweep.json"), "{}").expect("it can be written");
    let ran = run(&["report", &out, "--html", &page]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr
            .contains("sweep.json': this is not a sweep: missing field"),
        "{ran:?}"
    );
}

#[test]
fn one_sweep_at_a_time_writes_to_a_folder() {
    let (_keep, out) = folder();
    let mut child = started(LONG, &out, 1);
    let before = files(&out);
    for more in [&[][..], &["--resume"]] {
        let ran = run(&with(LONG, &with(&["-q", "--out", &out], more)));
        assert_eq!((ran.code, &*ran.stdout), (2, ""), "{ran:?}");
        let expected = format!("error: another sweep is writing to '{out}'");
        assert!(ran.stderr.starts_with(&expected), "{ran:?}");
    }
    assert!(files(&out) == before, "the files differ");
    // The lock goes with the process, however it ends.
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let ran = run(&with(LONG, &["-q", "--out", &out]));
    assert!(ran.stderr.contains("already holds a sweep"), "{ran:?}");
}

#[test]
fn a_folder_with_something_else_is_refused() {
    let temporary = tempfile::tempdir().expect("a temporary folder");
    let out = temporary.path().display().to_string();
    let (sb, notes) = (algorithm("litmus/sb"), temporary.path().join("notes.txt"));
    std::fs::write(&notes, "notes").expect("it can be written");
    for command in ["sweep", "compare"] {
        for more in [&[][..], &["--resume"]] {
            let ran = run(&with(&[command, &sb, "--k", "0", "--out", &out], more));
            assert_eq!((ran.code, &*ran.stdout), (2, ""), "{ran:?}");
            let expected = format!("error: '{out}' holds no sweep, but 'notes.txt'");
            assert!(ran.stderr.starts_with(&expected), "{ran:?}");
            assert_eq!(files(&out).len(), 1, "nothing was added");
        }
    }
    // What a sweep leaves that was killed at its very beginning is no obstacle.
    std::fs::remove_file(notes).expect("it is there");
    for name in ["sweep.lock", ".fencesmith-x"] {
        std::fs::write(temporary.path().join(name), "").expect("it can be written");
    }
    assert_eq!(sweep(&["sweep", &sb, "--k", "0"], &out, &[]).code, 0);
}

#[test]
fn a_program_among_the_results_is_not_overwritten() {
    let (_keep, out) = folder();
    let sb = algorithm("litmus/sb");
    let arguments = ["sweep", &sb, "--k", "0", "--max-states", "9"];
    assert_eq!(sweep(&arguments, &out, &[]).code, 3);
    let program = format!("{out}/summary.csv");
    std::fs::copy(&sb, &program).expect("it can be copied");
    let ran = run(&["sweep", &program, "--k", "0", "--out", &out, "--resume"]);
    assert_eq!((ran.code, &*ran.stdout), (2, ""), "{ran:?}");
    let expected = format!("error: --out would overwrite '{program}', a program");
    assert!(ran.stderr.starts_with(&expected), "{ran:?}");
}

/// What was found is printed, what fits the disk is kept, and the sweep can go on.
#[test]
fn a_full_disk_ends_a_sweep() {
    let (_keep, whole) = folder();
    assert_eq!(sweep(LITMUS, &whole, &[]).code, 0);
    let (_keep, out) = folder();
    let arguments = with(LITMUS, &["-q", "--threads", "1", "--out", &out]);
    let ran = on_a_full_disk(256, &arguments);
    assert_eq!(ran.code, 2, "{ran:?}");
    let expected = format!("error: cannot write '{out}/journal.jsonl': File too large");
    assert!(ran.stderr.starts_with(&expected), "{ran:?}");
    let kept = lines(&out, "journal.jsonl").len();
    assert!(kept > 0, "{ran:?}");
    let rows = ran.stdout.matches(" FD").count() + ran.stdout.matches(" PD").count();
    assert_eq!(rows, kept + 1, "the last one was not kept: {ran:?}");
    let ran = sweep(LITMUS, &out, &["--resume"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(files(&out) == files(&whole), "the files differ");
    // The final files do not fit: those of before stay.
    let ran = on_a_full_disk(256, &with(&arguments, &["--resume"]));
    assert_eq!(ran.code, 2, "{ran:?}");
    let expected = format!("error: cannot write '{out}/cells.jsonl': File too large");
    assert!(ran.stderr.starts_with(&expected), "{ran:?}");
    assert!(ran.stdout.contains(" cells under PSO"), "{ran:?}");
    assert!(!sweep(LITMUS, &out, &["--resume"]).stdout.is_empty());
    assert!(files(&out) == files(&whole), "the files differ");
}
