//! What shows on a terminal.

use crate::binary::algorithm;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::Read;
use std::process::{Child, Command};

/// A program that runs on a terminal of its own.
pub struct OnTerminal {
    pub child: Child,
    screen: File,
}

impl OnTerminal {
    /// Starts the program with standard output and standard error on a terminal.
    pub fn start(arguments: &[&str], environment: &[(&str, &str)]) -> OnTerminal {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        let screen = openpt(flags).expect("there are terminals");
        grantpt(&screen).expect("it can be used");
        unlockpt(&screen).expect("it can be used");
        let name = ptsname(&screen, Vec::new()).expect("it has a name");
        let name = name.into_string().expect("a readable name");
        let open = || {
            let file = File::options().read(true).write(true).open(&name);
            file.expect("it can be opened")
        };
        let mut command = Command::new(env!("CARGO_BIN_EXE_fencesmith"));
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"] {
            command.env_remove(name);
        }
        let child = command
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(arguments)
            .env("TERM", "xterm")
            .envs(environment.iter().copied())
            .stdout(open())
            .stderr(open())
            .spawn();
        OnTerminal {
            child: child.expect("the program starts"),
            screen: screen.into(),
        }
    }

    /// Reads on until the terminal has shown these words.
    pub fn wait_for(&mut self, words: &str) -> String {
        self.read(|shown| shown.contains(words))
    }

    /// Reads on until the program has ended.
    pub fn rest(&mut self) -> String {
        self.read(|_| false)
    }

    fn read(&mut self, enough: impl Fn(&str) -> bool) -> String {
        let mut bytes = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            let shown = String::from_utf8_lossy(&bytes).into_owned();
            if enough(&shown) {
                return shown;
            }
            // Reading fails when the last process has left the terminal.
            match self.screen.read(&mut buffer) {
                Ok(0) | Err(_) => return shown,
                Ok(length) => bytes.extend(&buffer[..length]),
            }
        }
    }
}

#[test]
fn colours_depend_on_the_terminal_and_the_environment() {
    // The options, the environment, whether there are colours.
    type Case<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)], bool);
    let cases: &[Case] = &[
        (&[], &[], true),
        (&[], &[("NO_COLOR", "")], true),
        (&[], &[("NO_COLOR", "1")], false),
        (&[], &[("TERM", "dumb")], false),
        (&[], &[("CLICOLOR", "0")], false),
        (&[], &[("CLICOLOR", "0"), ("CLICOLOR_FORCE", "1")], true),
        (&["--color", "never"], &[], false),
        (&["--color", "always"], &[("TERM", "dumb")], true),
        (&["--color", "always"], &[("NO_COLOR", "1")], true),
        (&["--color", "auto"], &[("NO_COLOR", "1")], false),
    ];
    let sb = algorithm("litmus/sb");
    // Results, a message about a program and one about a file.
    for file in [&sb, "README.md", "missing.fen"] {
        for (options, environment, expected) in cases {
            let arguments = [&["verify", file, "-q", "--model", "sc"], *options].concat();
            let mut started = OnTerminal::start(&arguments, environment);
            let shown = started.rest();
            started.child.wait().expect("it ends");
            assert!(shown.len() > 20, "{arguments:?}: {shown:?}");
            assert_eq!(
                shown.contains('\x1b'),
                *expected,
                "{arguments:?} {environment:?}: {shown:?}"
            );
        }
    }
}

/// The cursor stays behind the line, so that a `^C` of the terminal is on it and goes with it.
#[test]
fn progress_is_not_filled_up() {
    let filter = algorithm("mutex/filter-3");
    let asked = [
        "verify", &filter, "--model", "pso", "--abs", "exact", "--bound", "2",
    ];
    let asked = [
        &asked[..],
        &["--search", "plain", "--timeout", "2", "--no-trace"],
    ]
    .concat();
    let mut started = OnTerminal::start(&asked, &[]);
    let shown = started.wait_for(" states/s") + &started.rest();
    started.child.wait().expect("it ends");
    assert!(shown.contains("\x1b[K"), "{shown:?}");
    assert!(
        !shown.contains("    "),
        "no blanks up to the margin: {shown:?}"
    );
    let mut dumb = OnTerminal::start(&asked, &[("TERM", "dumb")]);
    let shown = dumb.rest();
    dumb.child.wait().expect("it ends");
    assert!(!shown.contains("states/s"), "{shown:?}");
}
