//! Reading files.

use super::Failure;
use crate::lower::compile;
use crate::program::Program;
use crate::source::Source;
use std::io::Read;
use std::path::Path;

/// The largest file that is read.
const MAX_BYTES: u64 = 64 << 20;

/// Reads a text file, or standard input for `-`.
pub fn read(path: &Path) -> Result<Source, Failure> {
    let stdin = path.as_os_str() == "-";
    let name = if stdin {
        "<stdin>".into()
    } else {
        path.display().to_string()
    };
    let mut bytes = Vec::new();
    let read = match stdin {
        true => std::io::stdin().take(MAX_BYTES + 1).read_to_end(&mut bytes),
        false => std::fs::File::open(path)
            .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes)),
    };
    read.map_err(|error| Failure::message(format!("cannot read '{name}': {error}")))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Failure::message(format!("'{name}' is larger than 64 MiB")));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let good = String::from_utf8_lossy(&error.as_bytes()[..at]).into_owned();
        let position = Source::new("", good.clone()).position(good.len() as u32);
        Failure::message(format!("'{name}' is not UTF-8 text: see {name}:{position}"))
    })?;
    Ok(Source::new(name, text))
}

/// Reads and compiles a program.
pub fn program(path: &Path) -> Result<(Source, Program), Failure> {
    let source = read(path)?;
    match compile(&source) {
        Ok(program) => Ok((source, program)),
        Err(diagnostics) => Err(Failure::Program(source, diagnostics)),
    }
}

/// Reads results, however large they are.
pub fn read_results(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path)
        .map_err(|error| Failure::message(format!("cannot read '{}': {error}", path.display())))
}

/// Writes a file whole.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text)
        .map_err(|error| Failure::message(format!("cannot write '{}': {error}", path.display())))
}
