//! Signals: the program ends within a second, whatever it is doing.

use crate::binary::{algorithm, file};
use crate::terminal::OnTerminal;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A signal is answered within this time; a busy machine may need a little longer.
const SOON: Duration = Duration::from_millis(1500);

const SIGTERM: i32 = 15;

fn start(arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_fencesmith"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

fn send(signal: &str, child: &Child) {
    let mut kill = Command::new("kill");
    let sent = kill.args([signal, &child.id().to_string()]).status();
    assert!(sent.expect("there is a kill").success());
}

/// Waits for the end; it fails if that takes too long, and the child is not left behind.
fn ends_soon(child: &mut Child) -> ExitStatus {
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            return status;
        }
        if begin.elapsed() > SOON {
            child.kill().expect("it runs");
            panic!("it still runs after {SOON:?}");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The first pipe of a child, up to these words.
fn wait_for(child: &mut Child, words: &str) {
    let out = child.stdout.as_mut().expect("a pipe");
    let (mut text, mut byte) = (Vec::new(), [0]);
    while !String::from_utf8_lossy(&text).contains(words) {
        out.read_exact(&mut byte).expect("the words come");
        text.push(byte[0]);
    }
}

/// Nothing is being searched: the answer is printed, and nobody opens the pipe for the trace.
#[test]
fn while_an_output_waits_for_a_reader() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pipe = folder.path().join("pipe").display().to_string();
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("there is a mkfifo").success());
    let sb = algorithm("litmus/sb");
    let mut child = start(&["verify", &sb, "--model", "tso", "--save-trace", &pipe]);
    wait_for(&mut child, "by FD");
    std::thread::sleep(Duration::from_millis(100));
    send("-TERM", &child);
    assert_eq!(ends_soon(&mut child).code(), Some(130));
}

#[test]
fn while_an_input_waits_for_a_writer() {
    for arguments in [&["litmus", "-"][..], &["verify", "-"], &["sweep", "-"]] {
        let mut child = start(arguments);
        std::thread::sleep(Duration::from_millis(300));
        send("-TERM", &child);
        let status = ends_soon(&mut child);
        assert_eq!(status.signal(), Some(SIGTERM), "{arguments:?}: {status:?}");
    }
}

#[test]
fn while_litmus_tests_run() {
    let long = "X86 long\n{ }\n P0            | P1          ;\n L: INC EAX   | M: INC EBX  ;\n \
                MOV [x],EAX | MOV [y],EBX ;\n JMP L | JMP M ;\nexists (x=1)\n";
    let (folder, _) = file("a.litmus", long);
    for name in ["b", "c"] {
        let to = folder.path().join(format!("{name}.litmus"));
        std::fs::copy("tests/data/litmus/SB.litmus", to).expect("a copy");
    }
    let path = folder.path().display().to_string();
    let more = ["--bound", "8", "--threads", "1", "--model", "tso"];
    let mut started = OnTerminal::start(&[&["litmus", &path], &more[..]].concat(), &[]);
    started.wait_for("3 litmus tests: ");
    send("-TERM", &started.child);
    let shown = started.rest();
    let status = started.child.wait().expect("it ends");
    assert_eq!(status.code(), Some(3), "{shown:?}");
    assert!(shown.contains("long tso Unknown"), "{shown:?}");
    assert!(
        shown.ends_with("interrupted: 2 tests of 3 not run\r\n"),
        "{shown:?}"
    );
}

#[test]
fn while_a_program_is_searched() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let filter = algorithm("mutex/filter-3");
        let arguments = ["verify", &filter, "--model", "pso", "--abs", "exact"];
        let limits = ["--bound", "6", "--max-memory", "6G", "--search", "plain"];
        let mut child = start(&[&arguments[..], &limits].concat());
        std::thread::sleep(Duration::from_millis(700));
        send(signal, &child);
        let status = ends_soon(&mut child);
        let output = child.wait_with_output().expect("it has ended");
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(status.code(), Some(3), "{signal}: {output:?}");
        assert!(
            text.contains("interrupted") && text.contains(" states, "),
            "{text}"
        );
    }
}

/// The line that shows progress is gone when the answer is printed.
#[test]
fn progress_leaves_the_terminal() {
    let filter = algorithm("mutex/filter-3");
    let long = [
        "verify", &filter, "--model", "pso", "--abs", "exact", "--bound", "6", "--search", "plain",
    ];
    let sweep = [
        "sweep",
        &filter,
        "--abs",
        "fd",
        "--full",
        "--k",
        "2",
        "--threads",
        "1",
    ];
    for (arguments, progress, answer) in [
        (&long[..], "states/s", "interrupted"),
        (&sweep, "cells", "interrupted with 0 of 1 cells"),
    ] {
        let arguments = [arguments, &["--max-memory", "2G"]].concat();
        let mut started = OnTerminal::start(&arguments, &[]);
        started.wait_for(progress);
        send("-TERM", &started.child);
        let sent = Instant::now();
        let shown = started.rest();
        assert!(sent.elapsed() < SOON, "{arguments:?}: {shown:?}");
        let status = started.child.wait().expect("it ends");
        assert_eq!(status.code(), Some(3), "{arguments:?}: {shown:?}");
        let (before, after) = shown.split_once(answer).expect("there is an answer");
        let erased = before.rfind("\x1b[2K").map_or("", |at| &before[at..]);
        assert!(!erased.contains(progress), "{arguments:?}: {shown:?}");
        assert!(!erased.is_empty(), "{arguments:?}: {shown:?}");
        assert!(!after.contains("states/s"), "{arguments:?}: {shown:?}");
    }
}
