//! `fencesmith report`.

use super::{Exit, Failure, args, input, output, sweep_folder};
use crate::experiment::{Entry, read_answers};
use crate::page;
use crate::record::ListedProgram;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Makes one page of results.
pub fn run(args: &args::Report) -> Result<Exit, Failure> {
    let inputs: Vec<PathBuf> = args.results.iter().flat_map(|path| files(path)).collect();
    let inputs = inputs.iter().map(|path| ("results", &**path));
    output::refuse_overwriting(inputs, &[("--html", &args.html)])?;
    let (programs, entries) = read(&args.results)?;
    output::write(&args.html, &page::render(&args.title, &programs, &entries))?;
    Ok(Exit::Fine)
}

/// The programs and cells of all results, each once.
fn read(results: &[PathBuf]) -> Result<(Vec<ListedProgram>, Vec<Entry>), Failure> {
    let mut programs: Vec<ListedProgram> = Vec::new();
    let mut entries: Vec<Entry> = Vec::new();
    for path in results {
        let (listed, answered) = match path.is_dir() {
            true => {
                let (manifest, entries) = sweep_folder::read(path)?;
                (manifest.programs, entries)
            }
            false => answers(path)?,
        };
        for new in listed {
            match programs.iter_mut().find(|old| old.program == new.program) {
                None => programs.push(new),
                // A saved trace has no text.
                Some(old) if old.source == new.source || new.source.is_none() => {}
                Some(old) if old.source.is_none() && old.error.is_none() => *old = new,
                Some(old) => {
                    let text = format!(
                        "'{}': the text of '{}' is not the same as in the results before it",
                        path.display(),
                        old.program
                    );
                    return Err(Failure::message(text));
                }
            }
        }
        for new in answered {
            // A cell that was answered twice is shown once, as it was answered last.
            match entries.iter_mut().find(|old| old.cell == new.cell) {
                Some(old) => *old = new,
                None => entries.push(new),
            }
        }
    }
    Ok((programs, entries))
}

/// The file itself, or the files of a sweep's folder.
fn files(results: &Path) -> Vec<PathBuf> {
    match results.is_dir() {
        true => sweep_folder::files(results).collect(),
        false => vec![results.to_path_buf()],
    }
}

/// What `verify` or `infer` wrote.
fn answers(path: &Path) -> Result<(Vec<ListedProgram>, Vec<Entry>), Failure> {
    let text = input::read_results(path)?;
    let (entries, broken) = read_answers(&text).map_err(|text| Failure::Message {
        text: format!("'{}': these are not results: {text}", path.display()),
        help: Some(
            "folders of `sweep` and `compare`, JSON of `verify` and `infer`, and saved traces can be shown"
                .to_string(),
        ),
    })?;
    let listed = entries.iter().map(|entry| ListedProgram {
        program: entry.cell.program.clone(),
        error: None,
        source: entry.answer.source().clone(),
        included: BTreeMap::new(),
    });
    let broken = broken.iter().map(|broken| {
        let errors = broken.errors.iter().map(|error| match error.line {
            Some(line) => format!("line {line}: {}", error.message),
            None => error.message.clone(),
        });
        let errors: Vec<String> = errors.collect();
        ListedProgram::broken(&broken.program, &errors.join("\n"))
    });
    Ok((listed.chain(broken).collect(), entries))
}

#[cfg(test)]
mod tests;
