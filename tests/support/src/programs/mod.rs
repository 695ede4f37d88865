//! The programs under `algorithms/`, and short ways to verify them on the exact models.

pub mod header;

use fencesmith::limits::{Limits, Monitor};
use fencesmith::lower::compile;
use fencesmith::memory::{Abstraction, Model};
use fencesmith::program::Program;
use fencesmith::source::Source;
use fencesmith::verify::{Answer, VerifyOptions, verify};
use header::Problem;
use rayon::prelude::*;
use std::path::PathBuf;

pub const MODELS: [Model; 3] = [Model::Sc, Model::Tso, Model::Pso];

/// Where the programs are.
pub fn root() -> PathBuf {
    crate::root().join("algorithms")
}

/// The programs of some folders, as `folder/name`, in order.
pub fn names(folders: &[&str]) -> Vec<String> {
    let mut names = Vec::new();
    for folder in folders {
        let files = std::fs::read_dir(root().join(folder)).expect("the folder exists");
        for file in files {
            let path = file.expect("the folder can be read").path();
            if path.extension().is_some_and(|ending| ending == "fen") {
                let stem = path.file_stem().expect("a file has a name");
                names.push(format!("{folder}/{}", stem.display()));
            }
        }
    }
    names.sort();
    names
}

/// The programs with integers without bound. They have headers of their own, and are asked other
/// questions.
pub const INTEGERS: &str = "integers";

/// The folders of programs, in order, those with integers without bound aside.
pub fn folders() -> Vec<String> {
    let entries = std::fs::read_dir(root()).expect("the folder exists");
    let paths = entries.map(|entry| entry.expect("the folder can be read").path());
    let folders = paths.filter(|path| path.is_dir());
    let mut names: Vec<String> = folders
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_string()))
        .filter(|name| name != INTEGERS)
        .collect();
    names.sort();
    names
}

pub fn path(name: &str) -> PathBuf {
    root().join(format!("{name}.fen"))
}

/// The text of a program.
pub fn source(name: &str) -> Source {
    let path = path(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    Source::new(path.display().to_string(), text)
}

/// The header of a program that has one.
pub fn header(source: &Source) -> header::Header {
    header::header(source.text()).unwrap_or_else(|wrong| panic!("{}: {wrong:?}", source.name()))
}

/// Every program, in order.
pub fn all() -> Vec<String> {
    let folders = folders();
    names(&folders.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Runs a check on programs and reports all that is wrong, not only the first thing.
pub fn check(names: &[String], of: impl Fn(&str, &Source) -> Vec<Problem> + Sync) {
    let wrong: Vec<String> = names
        .par_iter()
        .flat_map_iter(|name| {
            let wrong = of(name, &source(name)).into_iter();
            wrong.map(move |Problem(line, what)| format!("algorithms/{name}.fen:{line}: {what}\n"))
        })
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.concat());
}

/// Compiles a text that is a program.
pub fn program(source: &Source) -> Program {
    compile(source).unwrap_or_else(|errors| {
        let errors = fencesmith::diagnostic::render(source, &errors, false);
        panic!("{errors}\n{}", source.text())
    })
}

/// The exact model with buffers up to `bound`, one thread, no limits.
pub fn exact(model: Model, bound: usize) -> VerifyOptions {
    VerifyOptions::new(model, Abstraction::Exact { bound })
}

/// Gives up after this many states.
pub fn capped(options: VerifyOptions, max_states: u64) -> VerifyOptions {
    VerifyOptions {
        limits: Limits {
            max_states: Some(max_states),
            ..options.limits
        },
        ..options
    }
}

pub fn answer(program: &Program, options: &VerifyOptions) -> Answer {
    verify(program, options, &Monitor::default())
}
