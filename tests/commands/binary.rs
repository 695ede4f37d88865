//! Running the program as a person does, with an eye on the clock and on panics.

use assert_cmd::Command;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a run may take before it is ended and the test fails.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a run did.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
    pub took: Duration,
}

/// The name of a program under `algorithms/`, from the root of the package.
pub fn algorithm(name: &str) -> String {
    format!("algorithms/{name}.fen")
}

/// Runs the program, in the root of the package, with these arguments; no run may panic or
/// end without an exit code.
pub fn run(arguments: &[&str]) -> Ran {
    run_on(arguments, "", &[])
}

/// Runs the program with something on standard input and these environment variables.
pub fn run_on(arguments: &[&str], input: &str, environment: &[(&str, &str)]) -> Ran {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    run_in(root, arguments, input, environment)
}

/// Runs the program in some folder.
pub fn run_in(folder: &Path, arguments: &[&str], input: &str, environment: &[(&str, &str)]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fencesmith"));
    command
        .current_dir(folder)
        .args(arguments)
        .env_remove("NO_COLOR")
        .envs(environment.iter().copied())
        .write_stdin(input)
        .timeout(PATIENCE);
    let start = Instant::now();
    let output = command.output().expect("the program starts");
    let took = start.elapsed();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the program writes UTF-8");
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    let code = output.status.code();
    let code =
        code.unwrap_or_else(|| panic!("{arguments:?}: no exit code after {took:?}\n{stderr}"));
    assert!(!stderr.contains("panicked"), "{arguments:?}\n{stderr}");
    assert!((0..=3).contains(&code), "{arguments:?}: exit code {code}");
    Ran {
        code,
        stdout,
        stderr,
        took,
    }
}

/// Verifies on the exact models with buffers up to `bound`.
pub fn verify(file: &str, model: &str, bound: u32, more: &[&str]) -> Ran {
    let bound = bound.to_string();
    let exact = ["--abs", "exact", "--bound", &bound];
    run(&[&["verify", file, "--model", model], &exact[..], more].concat())
}

/// The objects of a JSON answer.
pub fn json(ran: &Ran) -> Vec<serde_json::Value> {
    serde_json::from_str(&ran.stdout)
        .unwrap_or_else(|error| panic!("not an array of JSON: {error}\n{ran:?}"))
}

/// A file with this text, in a folder that lives as long as the first component.
pub fn file(name: &str, bytes: impl AsRef<[u8]>) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("the file can be written");
    (folder, path)
}
