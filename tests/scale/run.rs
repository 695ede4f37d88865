//! Runs of the program.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What a process has printed, and its exit code.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

pub fn start(arguments: &[&str]) -> Child {
    start_with(arguments, None)
}

/// Starts the program, with a secret in its environment if there is one.
pub fn start_with(arguments: &[&str], secret: Option<&str>) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fencesmith"));
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .env_remove("FENCESMITH_SECRET");
    if let Some(secret) = secret {
        command.env("FENCESMITH_SECRET", secret);
    }
    command.spawn().expect("the program starts")
}

/// Waits for the end of a process; one that does not end is ended.
pub fn end(child: Child) -> Ended {
    let id = child.id();
    let (done, ended) = std::sync::mpsc::channel();
    let reader = std::thread::spawn(move || {
        let output = child.wait_with_output().expect("it can be waited for");
        let _ = done.send(());
        output
    });
    if ended.recv_timeout(Duration::from_secs(60)).is_err() {
        signal(id, "-KILL");
        panic!("a process does not end");
    }
    let output = reader.join().expect("it has ended");
    Ended {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("text"),
        err: String::from_utf8(output.stderr).expect("text"),
    }
}

pub fn run(arguments: &[&str]) -> Ended {
    end(start(arguments))
}

pub fn signal(process: u32, signal: &str) {
    let sent = Command::new("kill")
        .args([signal, &process.to_string()])
        .status();
    assert!(sent.expect("there is a kill").success());
}

/// The processes that a process has started, when there are so many.
pub fn children(of: &Child, count: usize) -> Vec<u32> {
    let path = format!("/proc/{0}/task/{0}/children", of.id());
    let begin = Instant::now();
    loop {
        let mut text = String::new();
        let file = std::fs::File::open(&path);
        let read = file.and_then(|mut file| file.read_to_string(&mut text));
        read.expect("the kernel lists children");
        let all: Vec<u32> = text.split_whitespace().flat_map(str::parse).collect();
        if all.len() == count {
            return all;
        }
        assert!(
            begin.elapsed() < Duration::from_secs(30),
            "there are {} children",
            all.len()
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// What a process has taken of its processors.
pub fn cpu_seconds(process: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"));
    let stat = stat.expect("the process is there");
    let behind_name = stat.rsplit(')').next().expect("there is a name");
    let fields: Vec<&str> = behind_name.split_whitespace().collect();
    let ticks = [fields[11], fields[12]].map(|ticks| ticks.parse::<f64>().expect("a number"));
    ticks.iter().sum::<f64>() / 100.0
}
