//! The folder that a sweep keeps its results in.
//!
//! | file | what it is |
//! |---|---|
//! | `sweep.json` | the options and the programs with their texts |
//! | `journal.jsonl` | while the sweep lasts: the finished cells, in the order they finished |
//! | `cells.jsonl` | at the end: every cell, in the order of the grid |
//! | `measured.jsonl` | the same for seconds, memory and whatever else differs from run to run |
//! | `summary.md`, … | tables |
//!
//! A line of the journal is written whole and flushed before the cell counts as finished; if
//! the process dies within a line, that line is dropped. All other files are written under
//! another name and renamed. So at any time the folder holds every finished cell.

use super::verify::json_text;
use super::{Failure, input};
use crate::experiment::{Entry, Finished};
use crate::record::{Cell, CellRecord, MANIFEST_SCHEMA, Manifest, Measured, MeasuredRecord};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const MANIFEST: &str = "sweep.json";
const JOURNAL: &str = "journal.jsonl";
const CELLS: &str = "cells.jsonl";
const MEASURED: &str = "measured.jsonl";

/// A line of the journal.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JournalLine<'a> {
    record: Cow<'a, CellRecord>,
    measured: Cow<'a, MeasuredRecord>,
}

/// A folder that is being written to.
pub struct Store {
    folder: PathBuf,
    journal: Mutex<File>,
}

impl Store {
    /// Opens the folder for a new sweep, or to go on with the one it holds; also gives the
    /// cells that are finished.
    pub fn open(
        folder: &Path,
        manifest: &Manifest,
        resume: bool,
    ) -> Result<(Store, HashMap<Cell, Finished>), Failure> {
        let begun = folder.join(MANIFEST).exists();
        let kept = match (begun, resume) {
            (true, false) => {
                return Err(Failure::Message {
                    text: format!("'{}' already holds a sweep", folder.display()),
                    help: Some("--resume goes on with it; or name another folder".to_string()),
                });
            }
            (true, true) => continued(folder, manifest)?,
            (false, _) => HashMap::new(),
        };
        if !begun {
            std::fs::create_dir_all(folder).map_err(|error| failed("create", folder, &error))?;
            replace(&folder.join(MANIFEST), &json_text(manifest))?;
        }
        let path = folder.join(JOURNAL);
        let journal = OpenOptions::new().create(true).append(true).open(&path);
        let store = Store {
            folder: folder.to_path_buf(),
            journal: Mutex::new(journal.map_err(|error| failed("open", &path, &error))?),
        };
        Ok((store, kept))
    }

    /// Writes down a finished cell.
    pub fn keep(&self, finished: &Finished) -> Result<(), Failure> {
        let line = line_of(&JournalLine {
            record: Cow::Borrowed(&finished.record),
            measured: Cow::Borrowed(&finished.measured),
        });
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        let written = journal.write_all(line.as_bytes());
        let written = written.and_then(|()| journal.sync_data());
        written.map_err(|error| failed("write", &self.folder.join(JOURNAL), &error))
    }

    /// Writes the final files; the journal has served its purpose.
    pub fn conclude(&self, cells: &[Finished], tables: &[(&str, String)]) -> Result<(), Failure> {
        let records: String = cells.iter().map(|cell| line_of(&cell.record)).collect();
        let measured: String = cells.iter().map(|cell| line_of(&cell.measured)).collect();
        replace(&self.folder.join(CELLS), &records)?;
        replace(&self.folder.join(MEASURED), &measured)?;
        for (name, text) in tables {
            replace(&self.folder.join(name), text)?;
        }
        let journal = self.folder.join(JOURNAL);
        std::fs::remove_file(&journal).map_err(|error| failed("remove", &journal, &error))
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
    let kept = cells_of(folder)?;
    drop_torn_line(&folder.join(JOURNAL))?;
    Ok(kept
        .into_iter()
        .map(|kept| (kept.record.cell.clone(), kept))
        .collect())
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

/// Cuts off what was written of a line that has no end.
fn drop_torn_line(journal: &Path) -> Result<(), Failure> {
    let bytes = match std::fs::read(journal) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        read => read.map_err(|error| failed("read", journal, &error))?,
    };
    let end = bytes.iter().rposition(|byte| *byte == b'\n');
    let whole = end.map_or(0, |end| end as u64 + 1);
    if whole == bytes.len() as u64 {
        return Ok(());
    }
    let file = OpenOptions::new().write(true).open(journal);
    let cut = file.and_then(|file| file.set_len(whole));
    cut.map_err(|error| failed("write", journal, &error))
}

/// Writes a file whole, or not at all.
pub fn replace(path: &Path, text: &str) -> Result<(), Failure> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".tmp");
    let beside = path.with_file_name(name);
    let written = File::create(&beside).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    let renamed = written.and_then(|()| std::fs::rename(&beside, path));
    renamed.map_err(|error| failed("write", path, &error))
}

fn failed(verb: &str, path: &Path, error: &std::io::Error) -> Failure {
    Failure::message(format!("cannot {verb} '{}': {error}", path.display()))
}
