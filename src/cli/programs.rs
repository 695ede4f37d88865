//! Reading many programs: a broken one does not stop the others.

use super::Failure;
use super::args::{Common, distinct};
use super::find::Found;
use super::input::{self, Input};
use crate::experiment::Subject;
use crate::record::ListedProgram;
use crate::report::text::Paint;
use clap::ValueEnum;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The endings of programs in folders.
pub const ENDINGS: [&str; 4] = ["c", "fen", "litmus", "rmm"];

/// The programs of a sweep.
pub struct Programs {
    /// In order, the broken ones too.
    pub listed: Vec<ListedProgram>,
    /// Those that are well formed, by name.
    pub subjects: HashMap<String, Subject>,
}

impl Programs {
    /// The names of those that are well formed, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let sound = self.listed.iter().filter(|listed| listed.error.is_none());
        sound.map(|listed| listed.program.as_str())
    }

    /// Some program could not be read or is not well formed.
    pub fn broken(&self) -> bool {
        self.listed.iter().any(|listed| listed.error.is_some())
    }
}

/// Reads programs; says on standard error what is wrong with the broken ones.
pub fn load<F: ValueEnum + Send + Sync>(found: Found, common: &Common<F>) -> Programs {
    let mut programs = Programs {
        listed: Vec::new(),
        subjects: HashMap::new(),
    };
    let broken = |path: &Path, failure: Failure| {
        failure.report();
        let plain = Paint { color: false };
        let (name, text) = (path.display().to_string(), failure.render(plain));
        ListedProgram::broken(&name, text.trim_end())
    };
    for (path, failure) in found.failures {
        programs.listed.push(broken(&path, failure));
    }
    let paths: Vec<&Path> = found.files.iter().map(PathBuf::as_path).collect();
    for path in distinct(&paths) {
        match input::program(path, common) {
            Ok(Input {
                source, program, ..
            }) => {
                let name = source.name().to_string();
                programs.listed.push(ListedProgram::readable(&source));
                programs.subjects.insert(name, Subject { source, program });
            }
            Err(failure) => programs.listed.push(broken(path, failure)),
        }
    }
    programs
}
