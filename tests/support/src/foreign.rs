//! The foreign files under `tests/data`, and short ways to read them.

use fencesmith::import::{self, Format, trencher::Together};
use fencesmith::lang::ast::Ast;
use fencesmith::lang::resolve::resolve;
use fencesmith::lower::lower;
use fencesmith::program::Program;
use fencesmith::source::Source;
use std::path::{Path, PathBuf};

/// A file under `tests/data`.
pub fn path(name: &str) -> PathBuf {
    crate::root().join("tests/data").join(name)
}

/// The files of a folder with an ending, in order.
pub fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path(folder)).expect("the folder exists");
    let paths = entries.map(|entry| entry.expect("the folder can be read").path());
    let mut files: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|other| other == ending))
        .collect();
    files.sort();
    files
}

pub fn source(path: &Path) -> Source {
    let text = std::fs::read_to_string(path).expect("the file can be read");
    Source::new(path.display().to_string(), text)
}

/// Every foreign file with its format; automata forbid nothing.
pub fn all() -> Vec<(Format, Source)> {
    let folders = [
        (Format::Litmus, "litmus", "litmus"),
        (Format::Rmm, "rmm", "rmm"),
        (Format::Trencher, "trencher", "txt"),
    ];
    let mut all = Vec::new();
    for (format, folder, ending) in folders {
        let files = files(folder, ending);
        all.extend(files.iter().map(|path| (format, source(path))));
    }
    all
}

/// Reads a file that is well-formed.
pub fn ast(format: Format, source: &Source, forbid: &[Together]) -> Ast {
    import::read(format, source, forbid).unwrap_or_else(|errors| {
        let errors = fencesmith::diagnostic::render(source, &errors, false);
        panic!("{errors}")
    })
}

pub fn program(ast: &Ast) -> Program {
    let symbols = resolve(ast).unwrap_or_else(|errors| panic!("{errors:#?}"));
    lower(ast, &symbols).fenced(&Default::default())
}
