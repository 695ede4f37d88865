//! The files that commands write: no input is overwritten, and no file is lost when a write
//! fails.

use crate::binary::{Ran, algorithm, run};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

/// A folder with a program, another name for it of each kind, and a file of costs.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().expect("a temporary folder"));
        fs::copy(algorithm("mutex/peterson"), folder.path("p.fen")).expect("a copy");
        symlink("p.fen", folder.path("symbolic.fen")).expect("a symbolic link");
        fs::hard_link(folder.path("p.fen"), folder.path("hard.fen")).expect("a hard link");
        fs::create_dir(folder.path("sub")).expect("a folder");
        fs::write(folder.path("costs.json"), "{\"19:9\": 3}").expect("a file");
        folder
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    /// Every file with its text; names of folders end in a stroke.
    fn content(&self) -> BTreeMap<String, String> {
        let entries = fs::read_dir(self.0.path()).expect("the folder can be read");
        let content = entries.map(|entry| {
            let path = entry.expect("the folder can be read").path();
            let name = path.file_name().expect("a name").display().to_string();
            match path.is_dir() {
                true => (name + "/", String::new()),
                false => (name, fs::read_to_string(&path).unwrap_or_default()),
            }
        });
        content.collect()
    }
}

/// Runs a shell command in which `"$@"` is the program with its arguments.
fn in_shell(script: &str, arguments: &[&str]) -> Ran {
    let mut command = assert_cmd::Command::new("sh");
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["-c", script, "sh", env!("CARGO_BIN_EXE_fencesmith")])
        .args(arguments)
        .timeout(std::time::Duration::from_secs(20));
    let output = command.output().expect("there is a shell");
    Ran {
        code: output.status.code().expect("an exit code"),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        took: std::time::Duration::ZERO,
    }
}

/// Runs as on a disk that has room for files of so many blocks of 512 or 1024 bytes; shells do
/// not agree on their size.
pub fn on_a_full_disk(blocks: u32, arguments: &[&str]) -> Ran {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
    in_shell(&script, arguments)
}

#[test]
fn an_input_is_not_overwritten() {
    let folder = Folder::new();
    let at = |name: &str| folder.path(name);
    let (p, costs) = (at("p.fen"), at("costs.json"));
    let infer = ["infer", &p, "--model", "tso", "--cost", &costs];
    let before = folder.content();
    for name in [
        "p.fen",
        "./p.fen",
        "sub/../p.fen",
        "symbolic.fen",
        "hard.fen",
        "costs.json",
    ] {
        let output = at(name);
        let cases = [
            [&infer[..], &["--emit", &output]].concat(),
            [&infer[..], &["--certificate", &output]].concat(),
            vec!["verify", &p, "--save-trace", &output],
        ];
        // A cost file is no input of `verify`.
        let cases = &cases[..if name == "costs.json" { 2 } else { 3 }];
        for arguments in cases {
            let ran = run(arguments);
            assert_eq!((ran.code, &*ran.stdout), (2, ""), "{arguments:?}: {ran:?}");
            let option = arguments[arguments.len() - 2];
            let expected = format!("error: {option} would overwrite ");
            assert!(ran.stderr.starts_with(&expected), "{arguments:?}: {ran:?}");
            assert!(ran.stderr.contains(name), "{arguments:?}: {ran:?}");
            assert_eq!(folder.content(), before, "{arguments:?}");
        }
    }
    let script = format!("\"$@\" <'{p}'");
    let ran = in_shell(&script, &["infer", "-", "--model", "tso", "--emit", &p]);
    assert_eq!((ran.code, &*ran.stdout), (2, ""), "{ran:?}");
    assert!(ran.stderr.starts_with("error: --emit would"), "{ran:?}");
    assert_eq!(folder.content(), before);
}

#[test]
fn two_outputs_have_two_files() {
    let folder = Folder::new();
    fs::write(folder.path("old"), "old").expect("a file");
    fs::hard_link(folder.path("old"), folder.path("older")).expect("a hard link");
    symlink("new", folder.path("dangling")).expect("a symbolic link");
    let before = folder.content();
    for [emit, certificate] in [
        ["new", "new"],
        ["new", "sub/../new"],
        ["new", "dangling"],
        ["old", "older"],
    ] {
        let (emit, certificate) = (folder.path(emit), folder.path(certificate));
        let ran = run(&[
            "infer",
            &folder.path("p.fen"),
            "--model",
            "tso",
            "--emit",
            &emit,
            "--certificate",
            &certificate,
        ]);
        assert_eq!((ran.code, &*ran.stdout), (2, ""), "{ran:?}");
        let expected = "error: --emit and --certificate would write to one file";
        assert!(ran.stderr.starts_with(expected), "{ran:?}");
        assert_eq!(folder.content(), before);
    }
}

#[test]
fn results_are_not_overwritten_by_their_page() {
    let folder = Folder::new();
    let (sb, out) = (algorithm("litmus/sb"), folder.path("out"));
    let swept = run(&["sweep", &sb, "--k", "0", "-q", "--out", &out]);
    assert_eq!(swept.code, 0, "{swept:?}");
    let answers = run(&["verify", &sb, "--format", "json"]);
    let json = folder.path("sb.json");
    fs::write(&json, &answers.stdout).expect("a file");
    fs::hard_link(&json, folder.path("sb-hard.json")).expect("a hard link");
    let (before, swept) = (folder.content(), fs::read(format!("{out}/cells.jsonl")));
    for name in [
        "sb.json",
        "sb-hard.json",
        "out/cells.jsonl",
        "out/measured.jsonl",
        "out/sweep.json",
        "out/summary.txt",
        // A sweep that infers fences writes this one.
        "out/placements.json",
    ] {
        let ran = run(&["report", &json, &out, "--html", &folder.path(name)]);
        assert_eq!(ran.code, 2, "{name}: {ran:?}");
        assert!(
            ran.stderr.starts_with("error: --html would overwrite "),
            "{name}: {ran:?}"
        );
        assert_eq!(folder.content(), before, "{name}");
    }
    let cells = fs::read(format!("{out}/cells.jsonl"));
    assert_eq!(swept.expect("it was there"), cells.expect("it is there"));
    // A page beside the results is one of its own, and may be made again.
    let page = format!("{out}/page.html");
    for _ in 0..2 {
        let ran = run(&["report", &json, &out, "--html", &page]);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
}

/// The old file stays, nothing else is left in the folder, and the answer is printed.
#[test]
fn a_full_disk_leaves_the_old_file() {
    let folder = Folder::new();
    let (p, old) = (folder.path("p.fen"), folder.path("old"));
    fs::write(&old, "old").expect("a file");
    let json = folder.path("p.json");
    let answers = run(&["verify", &p, "--format", "json"]);
    fs::write(&json, &answers.stdout).expect("a file");
    // The program with its fences must not fit.
    let text = fs::read_to_string(&p).expect("it is there");
    fs::write(&p, format!("{text}\n// {}\n", "long".repeat(500))).expect("a file");
    let before = folder.content();
    let infer = ["infer", &p, "--model", "tso"];
    let cases: [(Vec<&str>, &str); 6] = [
        ([&infer[..], &["--emit", &old]].concat(), "1 fence makes it"),
        (
            [&infer[..], &["--certificate", &old]].concat(),
            "1 fence makes it",
        ),
        (
            [&infer[..], &["--emit", &old, "--format", "json"]].concat(),
            "\"outcome\": \"placed\"",
        ),
        (vec!["verify", &p, "--save-trace", &old], "under PSO"),
        (
            vec!["verify", &p, "--format", "json", "--save-trace", &old],
            "\"model\": \"pso\"",
        ),
        (vec!["report", &json, "--html", &old], ""),
    ];
    for (arguments, answer) in cases {
        let ran = on_a_full_disk(1, &arguments);
        assert_eq!(ran.code, 2, "{arguments:?}: {ran:?}");
        assert!(ran.stdout.contains(answer), "{arguments:?}: {ran:?}");
        let expected = format!("error: cannot write '{old}': File too large");
        assert!(ran.stderr.starts_with(&expected), "{arguments:?}: {ran:?}");
        assert_eq!(folder.content(), before, "{arguments:?}");
    }
}

/// Both files are tried, and both failures are told.
#[test]
fn every_output_that_fails_is_named() {
    let ran = run(&[
        "infer",
        &algorithm("mutex/peterson"),
        "--model",
        "tso",
        "--emit",
        "/missing/p.fen",
        "--certificate",
        "/missing/p.json",
    ]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stdout.contains("1 fence makes it correct"), "{ran:?}");
    for path in ["/missing/p.fen", "/missing/p.json"] {
        let expected = format!("error: cannot write '{path}': No such file");
        assert!(ran.stderr.contains(&expected), "{ran:?}");
    }
}

#[test]
fn permissions_and_links_are_kept() {
    let folder = Folder::new();
    let p = folder.path("p.fen");
    let emit = |path: &str| {
        let ran = run(&["infer", &p, "--model", "tso", "--emit", path]);
        assert_eq!(ran.code, 0, "{ran:?}");
        fs::symlink_metadata(path).expect("it was written")
    };
    let mode = |path: &str| fs::metadata(path).expect("it is there").mode();
    let plain = folder.path("plain");
    fs::write(&plain, "").expect("a file");
    emit(&folder.path("new"));
    assert_eq!(mode(&folder.path("new")), mode(&plain));
    for bits in [0o600, 0o664, 0o755] {
        fs::set_permissions(&plain, fs::Permissions::from_mode(bits)).expect("they can be set");
        let written = emit(&plain);
        assert_eq!(written.mode() & 0o777, bits);
        assert!(written.len() > 0);
    }
    // A link stays a link, whether what it leads to exists or not.
    for target in ["target", "sub/new"] {
        let link = folder.path("link");
        let _ = fs::remove_file(&link);
        symlink(target, &link).expect("a symbolic link");
        for _ in 0..2 {
            assert!(emit(&link).is_symlink());
            assert!(mode(&folder.path(target)) & 0o400 != 0);
        }
    }
}

#[test]
fn a_file_that_may_not_be_written_stays() {
    let folder = Folder::new();
    let old = folder.path("old");
    fs::write(&old, "old").expect("a file");
    fs::set_permissions(&old, fs::Permissions::from_mode(0o444)).expect("they can be set");
    if fs::OpenOptions::new().write(true).open(&old).is_ok() {
        eprintln!("skipped: the super-user may write to every file");
        return;
    }
    let ran = run(&["verify", &folder.path("p.fen"), "--save-trace", &old]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("Permission denied"), "{ran:?}");
    assert_eq!(fs::read_to_string(&old).expect("it is there"), "old");
}

#[test]
fn devices_pipes_and_standard_output_are_written_to() {
    let folder = Folder::new();
    let p = folder.path("p.fen");
    let both = |path| {
        let to = ["--emit", path, "--certificate", path];
        [&["infer", &p, "--model", "tso"], &to[..]].concat()
    };
    assert_eq!(run(&both("/dev/null")).code, 0);
    assert!(!Path::new("/dev/null").is_file(), "it is still a device");
    let ran = run(&both("/dev/stdout"));
    assert_eq!(ran.code, 0, "{ran:?}");
    let parts = ["1 fence makes it correct", "process p", "\"schema\""];
    let inside = |text: &str| parts.iter().all(|part| text.contains(part));
    assert!(inside(&ran.stdout), "{ran:?}");
    // Standard output may be a file: it holds everything, too.
    let file = folder.path("stdout");
    let ran = in_shell(&format!("\"$@\" >'{file}'"), &both("/dev/stdout"));
    assert_eq!(ran.code, 0, "{ran:?}");
    let text = fs::read_to_string(&file).expect("it is there");
    assert!(inside(&text), "{text}");

    let pipe = folder.path("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("there is a mkfifo").success());
    let mut cat = Command::new("cat");
    let reader = cat.arg(&pipe).stdout(Stdio::piped()).spawn();
    let reader = reader.expect("there is a cat");
    let ran = run(&["verify", &p, "--model", "tso", "--save-trace", &pipe]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let read = reader.wait_with_output().expect("the pipe ends").stdout;
    let trace: serde_json::Value = serde_json::from_slice(&read).expect("a trace");
    assert!(trace["steps"].is_array());
}
