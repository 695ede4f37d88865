//! The folder that a sweep keeps its results in.
//!
//! | file | what it is |
//! |---|---|
//! | `sweep.json` | the options and the programs with their texts |
//! | `sweep.lock` | locked by the process that writes to the folder; otherwise of no meaning |
//! | `journal.jsonl` | while the sweep lasts: the finished cells, in the order they finished |
//! | `cells.jsonl` | at the end: every cell, in the order of the grid |
//! | `measured.jsonl` | the same for seconds, memory and whatever else differs from run to run |
//! | `summary.md`, … | tables |
//!
//! A line of the journal is written whole and flushed before the cell counts as finished; if
//! the process dies within a line, that line is dropped. All other files are written under
//! another name and renamed. So at any time the folder holds every finished cell.

use super::output::{self, Journal, Lock};
use super::verify::json_text;
use super::{Failure, input};
use crate::experiment::{Entry, Finished};
use crate::record::{Cell, CellRecord, MANIFEST_SCHEMA, Manifest, Measured, MeasuredRecord};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const MANIFEST: &str = "sweep.json";
const LOCK: &str = "sweep.lock";
const JOURNAL: &str = "journal.jsonl";
const CELLS: &str = "cells.jsonl";
const MEASURED: &str = "measured.jsonl";
const TABLES: [&str; 7] = [
    "summary.txt",
    "summary.md",
    "summary.csv",
    "summary.json",
    "placements.json",
    "compare.md",
    "compare.json",
];

/// The files that belong to a sweep, whether they exist yet or not.
pub fn files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let names = [MANIFEST, LOCK, JOURNAL, CELLS, MEASURED];
    names
        .into_iter()
        .chain(TABLES)
        .map(|name| folder.join(name))
}

/// A line of the journal.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JournalLine<'a> {
    record: Cow<'a, CellRecord>,
    measured: Cow<'a, MeasuredRecord>,
}

/// A folder that no other process writes a sweep to as long as this value lives.
pub struct LockedFolder {
    path: PathBuf,
    _lock: Lock,
}

impl LockedFolder {
    /// Takes a folder that is empty, does not exist, or holds a sweep to go on with.
    pub fn take(path: &Path, resume: bool) -> Result<LockedFolder, Failure> {
        let refused = |text: String, help: &str| {
            Err(Failure::Message {
                text,
                help: Some(help.to_string()),
            })
        };
        if let Some(name) = other_content(path)? {
            let text = format!("'{}' holds no sweep, but '{name}'", path.display());
            return refused(text, "name a folder that is empty or does not exist");
        }
        output::create_folder(path)?;
        let Some(lock) = Lock::take(&path.join(LOCK))? else {
            let text = format!("another sweep is writing to '{}'", path.display());
            return refused(text, "wait for it, or name another folder");
        };
        if path.join(MANIFEST).exists() && !resume {
            let text = format!("'{}' already holds a sweep", path.display());
            return refused(text, "--resume goes on with it; or name another folder");
        }
        Ok(LockedFolder {
            path: path.to_path_buf(),
            _lock: lock,
        })
    }

    /// Begins a new sweep, or goes on with the one that the folder holds; also gives the cells
    /// that are finished.
    pub fn open(
        self,
        manifest: &Manifest,
    ) -> Result<(SweepFolder, HashMap<Cell, Finished>), Failure> {
        let path = self.path.join(MANIFEST);
        let finished = match path.exists() {
            true => continued(&self.path, manifest)?,
            false => {
                output::write(&path, &json_text(manifest))?;
                HashMap::new()
            }
        };
        let journal = Journal::open(&self.path.join(JOURNAL))?;
        let folder = SweepFolder {
            folder: self,
            journal,
        };
        Ok((folder, finished))
    }
}

/// Something in a folder that holds no sweep. What a process leaves behind that is killed
/// before it has written the manifest does not count.
fn other_content(folder: &Path) -> Result<Option<String>, Failure> {
    if folder.join(MANIFEST).exists() {
        return Ok(None);
    }
    let entries = match std::fs::read_dir(folder) {
        // Creating the folder will tell what is wrong.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        entries => entries.map_err(|error| Failure::file("read", folder, &error))?,
    };
    for entry in entries {
        let entry = entry.map_err(|error| Failure::file("read", folder, &error))?;
        let name = entry.file_name().display().to_string();
        if name != LOCK && !name.starts_with(output::TEMPORARY) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// A folder that the results of a sweep are written to.
pub struct SweepFolder {
    folder: LockedFolder,
    journal: Journal,
}

impl SweepFolder {
    /// Writes down a finished cell.
    pub fn record(&self, finished: &Finished) -> Result<(), Failure> {
        self.journal.append(&line_of(&JournalLine {
            record: Cow::Borrowed(&finished.record),
            measured: Cow::Borrowed(&finished.measured),
        }))
    }

    /// Writes the final files and removes the journal.
    pub fn complete(&self, cells: &[Finished], tables: &[(&str, String)]) -> Result<(), Failure> {
        let write = |name: &str, text: &str| output::write(&self.folder.path.join(name), text);
        let records: String = cells.iter().map(|cell| line_of(&cell.record)).collect();
        let measured: String = cells.iter().map(|cell| line_of(&cell.measured)).collect();
        write(CELLS, &records)?;
        write(MEASURED, &measured)?;
        for (name, text) in tables {
            debug_assert!(TABLES.contains(name), "'{name}' is not listed");
            write(name, text)?;
        }
        self.journal.remove()
    }
}

/// What a folder holds, if the sweep is the same.
fn continued(folder: &Path, manifest: &Manifest) -> Result<HashMap<Cell, Finished>, Failure> {
    let differences = manifest.differences(&manifest_of(folder)?);
    if !differences.is_empty() {
        return Err(Failure::Message {
            text: format!(
                "'{}' holds another sweep: {}",
                folder.display(),
                differences.join("; ")
            ),
            help: Some("--resume needs the options and programs it began with".to_string()),
        });
    }
    let cells = cells_of(folder)?.into_iter();
    Ok(cells.map(|cell| (cell.record.cell.clone(), cell)).collect())
}

/// Reads a folder: what it is about, and the cells that are finished.
pub fn read(folder: &Path) -> Result<(Manifest, Vec<Entry>), Failure> {
    let manifest = manifest_of(folder)?;
    let mut entries: Vec<Entry> = cells_of(folder)?.iter().map(Finished::entry).collect();
    // An unfinished sweep has its cells in the order they finished.
    let place = |entry: &Entry| {
        let mut programs = manifest.programs.iter();
        programs.position(|listed| listed.program == entry.cell.program)
    };
    entries.sort_by_key(place);
    Ok((manifest, entries))
}

fn manifest_of(folder: &Path) -> Result<Manifest, Failure> {
    let path = folder.join(MANIFEST);
    let text = input::read_results(&path)?;
    let wrong = |text: String| Failure::message(format!("'{}': {text}", path.display()));
    let manifest: Manifest = serde_json::from_str(&text)
        .map_err(|error| wrong(format!("this is not a sweep: {error}")))?;
    match manifest.schema == MANIFEST_SCHEMA {
        true => Ok(manifest),
        false => Err(wrong(format!(
            "the schema is '{}', not '{MANIFEST_SCHEMA}'",
            manifest.schema
        ))),
    }
}

/// The finished cells of a folder, each once.
fn cells_of(folder: &Path) -> Result<Vec<Finished>, Failure> {
    let mut finished: Vec<Finished> = Vec::new();
    let mut known = HashMap::new();
    let mut add = |record: CellRecord, measured: MeasuredRecord, at: &str| {
        if record.cell != measured.cell {
            return Err(wrong_line(at, "it is about another cell"));
        }
        let place = *known.entry(record.cell.clone()).or_insert(finished.len());
        let new = Finished { record, measured };
        match finished.get_mut(place) {
            Some(old) => *old = new,
            None => finished.push(new),
        }
        Ok(())
    };
    let mut measured: HashMap<Cell, Measured> = lines::<MeasuredRecord>(&folder.join(MEASURED))?
        .into_iter()
        .map(|(_, line)| (line.cell, line.measured))
        .collect();
    for (at, record) in lines::<CellRecord>(&folder.join(CELLS))? {
        let cell = record.cell.clone();
        let measured = measured.remove(&cell).unwrap_or_default();
        add(record, MeasuredRecord { cell, measured }, &at)?;
    }
    for (at, line) in lines::<JournalLine>(&folder.join(JOURNAL))? {
        add(line.record.into_owned(), line.measured.into_owned(), &at)?;
    }
    Ok(finished)
}

/// A record on one line.
fn line_of(record: &impl Serialize) -> String {
    let text = serde_json::to_string(record);
    text.expect("records have string keys and finite numbers") + "\n"
}

fn wrong_line(at: &str, text: &str) -> Failure {
    Failure::Message {
        text: format!("{at}: this is not a cell: {text}"),
        help: Some("the file is damaged; without that line the cell is run again".to_string()),
    }
}

/// The lines of a file that need not exist, each with its place. A last line without an end
/// was being written when the process died.
fn lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<(String, T)>, Failure> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = input::read_results(path)?;
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    let lines = whole.lines().enumerate();
    lines
        .map(|(index, line)| {
            let at = format!("{}:{}", path.display(), index + 1);
            match serde_json::from_str(line) {
                Ok(value) => Ok((at, value)),
                Err(error) => Err(wrong_line(&at, &error.to_string())),
            }
        })
        .collect()
}
