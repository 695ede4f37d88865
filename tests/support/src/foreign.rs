//! The foreign files under `tests/data`, and short ways to read them.

// Each test binary uses a part of this module.
#![allow(dead_code)]

use fencesmith::import::{self, Format, trencher::Together};
use fencesmith::lang::ast::Ast;
use fencesmith::lang::resolve::resolve;
use fencesmith::lower::lower;
use fencesmith::program::Program;
use fencesmith::source::Source;
use std::path::{Path, PathBuf};

/// A file under `tests/data`.
pub fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
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

/// A small generator: the same seed gives the same numbers.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end.max(1) as u64) as usize
    }
}
