//! Processes that are started by hand, with a list of hosts: who is let in, and who is not.

use crate::run::{Ended, end, run, start_with};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub const SECRET: &str = "correct horse battery staple";
const PROGRAM: &str = "algorithms/litmus/sb.fen";

/// A file with hosts on ports that nobody else has, and their addresses.
pub struct Hosts {
    folder: TempDir,
    addresses: Vec<String>,
}

impl Hosts {
    pub fn new(count: usize) -> Hosts {
        let ports: Vec<TcpListener> = (0..count)
            .map(|_| TcpListener::bind("127.0.0.1:0").expect("there is a port"))
            .collect();
        let address = |port: &TcpListener| port.local_addr().expect("it is bound").to_string();
        let hosts = Hosts {
            folder: tempfile::tempdir().expect("a temporary folder"),
            addresses: ports.iter().map(address).collect(),
        };
        let lines = hosts.addresses.join("\n");
        std::fs::write(hosts.file(), format!("# {count} processes\n{lines}\n")).expect("written");
        hosts
    }

    pub fn file(&self) -> String {
        self.folder.path().join("hosts").display().to_string()
    }

    /// Starts a process.
    fn start(
        &self,
        process: usize,
        program: &str,
        more: &[&str],
        secret: &str,
    ) -> std::process::Child {
        let (file, process) = (self.file(), process.to_string());
        let hosts = ["verify", program, "--hosts", &file, "--process", &process];
        let threads = match more.contains(&"--threads") {
            true => &[][..],
            false => &["--threads", "1"],
        };
        let usual = ["--search", "plain", "--model", "tso"];
        start_with(&[&hosts[..], &usual, threads, more].concat(), Some(secret))
    }
}

fn says(ended: &Ended, code: i32, words: &str) {
    assert_eq!(ended.code, Some(code), "{ended:?}");
    assert!(ended.err.contains(words), "{words}: {ended:?}");
}

/// The answer comes from process 0, whatever order they are started in; the others print nothing
/// and end with its exit code. Garbage on the ports does no harm.
#[test]
fn three_processes_and_garbage() {
    let hosts = Hosts::new(3);
    let first = hosts.start(0, PROGRAM, &[], SECRET);
    let begin = Instant::now();
    let mut garbage = loop {
        match TcpStream::connect(&hosts.addresses[0]) {
            Ok(socket) => break socket,
            Err(error) => assert!(begin.elapsed() < Duration::from_secs(20), "{error}"),
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    garbage.write_all(&[7; 4096]).expect("it is read");
    let mut silent = TcpStream::connect(&hosts.addresses[0]).expect("it listens");
    silent.write_all(b"fencesmith run 1").expect("it is read");
    let second = hosts.start(2, PROGRAM, &[], SECRET);
    let third = hosts.start(1, PROGRAM, &[], SECRET);
    let ended = end(first);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended
            .out
            .starts_with("algorithms/litmus/sb.fen under TSO: violated"),
        "{ended:?}"
    );
    for other in [second, third] {
        let ended = end(other);
        assert_eq!((ended.code, &*ended.out, &*ended.err), (Some(1), "", ""));
    }
    let _ = garbage.read(&mut [0; 1]);
}

#[test]
fn a_wrong_secret() {
    let hosts = Hosts::new(2);
    let first = hosts.start(0, PROGRAM, &["--wait", "2"], SECRET);
    let second = hosts.start(1, PROGRAM, &["--wait", "2"], "another secret of a run");
    says(&end(second), 2, "process 0 (127.0.0.1:");
    says(&end(first), 3, "process 1 (127.0.0.1:");
}

#[test]
fn other_programs_and_options() {
    let other = "algorithms/litmus/mp.fen";
    for (program, more, words) in [
        (other, &[][..], "has another program"),
        (PROGRAM, &["--full"], "was started with other options"),
        (PROGRAM, &["--threads", "2"], "has --threads"),
    ] {
        let hosts = Hosts::new(2);
        let first = hosts.start(0, PROGRAM, &[], SECRET);
        let second = hosts.start(1, program, more, SECRET);
        says(&end(second), 2, words);
        says(&end(first), 2, words);
    }
}

#[test]
fn a_process_that_does_not_come() {
    let hosts = Hosts::new(2);
    let absent = format!("process 1 ({})", hosts.addresses[1]);
    says(
        &end(hosts.start(0, PROGRAM, &["--wait", "1"], SECRET)),
        3,
        &absent,
    );
    let absent = format!("cannot reach process 0 ({})", hosts.addresses[0]);
    says(
        &end(hosts.start(1, PROGRAM, &["--wait", "1"], SECRET)),
        3,
        &absent,
    );
}

#[test]
fn lists_that_are_wrong() {
    let hosts = Hosts::new(2);
    let file = hosts.file();
    let with = |more: &[&str]| run(&[&["verify", PROGRAM, "--hosts", &file], more].concat());
    says(&with(&["--process", "2"]), 2, "there is no process 2");
    says(&with(&["--process", "0"]), 2, "has no secret");
    says(&with(&[]), 2, "--process");
    std::fs::write(&file, "localhost:1\nlocalhost\n").expect("written");
    says(&with(&["--process", "0"]), 2, "hosts:2:1");
    let several = |more: &[&str]| run(&[&["verify", PROGRAM, "--processes", "2"], more].concat());
    says(
        &several(&["--abs", "pd"]),
        2,
        "--abs pd does not go with several processes",
    );
    says(
        &several(&["--robust"]),
        2,
        "--robust does not go with several processes",
    );
}
