//! Running the program, `patch` and gcc in a folder of their own.

use assert_cmd::Command;
use fencesmith::c::headers::HEADERS;
use fencesmith::c::positions::Preprocessed;
use fencesmith::c::{Options, compile};
use fencesmith::{Program, Source, diagnostic};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// How long a run may take before it is ended and the test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder that goes when it is dropped.
pub struct Folder(TempDir);

/// What a run did.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Folder {
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().expect("there is room"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("there is room");
        std::fs::write(path, text).expect("there is room");
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("it was written")
    }

    /// Runs the program with these arguments.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.run_in(".", arguments, "")
    }

    /// Runs the program below the folder, with something on standard input; it may not panic.
    pub fn run_in(&self, path: &str, arguments: &[&str], input: &str) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fencesmith"));
        let output = command
            .current_dir(self.path(path))
            .args(arguments)
            .write_stdin(input)
            .timeout(PATIENCE)
            .output()
            .expect("the program starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the program writes UTF-8");
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        let code = output.status.code();
        let code = code.unwrap_or_else(|| panic!("{arguments:?}: no exit code\n{stderr}"));
        assert!(!stderr.contains("panicked"), "{arguments:?}\n{stderr}");
        assert!((0..=3).contains(&code), "{arguments:?}: exit code {code}");
        Ran {
            code,
            stdout,
            stderr,
        }
    }

    /// Applies a patch.
    pub fn patch(&self, path: &str, patch: &str) {
        let mut command = Command::new("patch");
        let command = command
            .current_dir(self.path(path))
            .args(["-p0", "--batch"]);
        command.write_stdin(patch).assert().success();
    }
}

/// Files are C11 to gcc, with the system's headers and no function unknown.
pub fn gcc_accepts<S: AsRef<str>>(folder: &Folder, files: &[S]) {
    let mut command = Command::new("gcc");
    let command = command.current_dir(folder.path("."));
    let options = ["-std=c11", "-fsyntax-only", "-Werror=implicit"];
    let files = files.iter().map(AsRef::as_ref);
    command.args(options).args(files).assert().success();
}

/// What the system's preprocessor prints, with the headers that come with the program.
pub fn printed(text: &str) -> String {
    printed_with(text, &[])
}

/// The same with further options.
pub fn printed_with(text: &str, options: &[String]) -> String {
    let headers = Folder::new();
    for (name, text) in HEADERS {
        headers.write(name, text);
    }
    let mut command = Command::new("cc");
    let output = command
        .args(["-E", "-dD", "-w", "-nostdinc"])
        .args(options)
        .arg("-isystem")
        .arg(headers.path("."))
        .args(["-x", "c", "-"])
        .write_stdin(text)
        .output();
    let printed = output.expect("there is a C compiler").stdout;
    String::from_utf8(printed).expect("it prints UTF-8")
}

/// The program form of a text, with its source; or what is wrong with it.
pub fn compiled(text: &str) -> Result<(Source, Program), String> {
    let files = [("main.c".to_string(), text.to_string())];
    let printed = printed(text).replace("\"<stdin>\"", "\"main.c\"");
    let preprocessed = Preprocessed::new(&printed, &files);
    let source = preprocessed.source().clone();
    match compile(&preprocessed, &Options::default()) {
        Ok(program) => Ok((source, program)),
        Err(errors) => Err(diagnostic::render(&source, &errors, false)),
    }
}

/// C programs in the style of the field.
pub fn programs() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let entries = std::fs::read_dir(root.join("tests/data/c")).expect("the folder is there");
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let read = |path: &PathBuf| std::fs::read_to_string(path).expect("it can be read");
    paths.iter().map(read).collect()
}
