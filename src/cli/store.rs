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
use crate::experiment::{Cell, Entry, Finished, MANIFEST_SCHEMA, Manifest};
use crate::experiment::{read_measured, read_record};
use serde_json::{Value as Json, json};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const MANIFEST: &str = "sweep.json";
const JOURNAL: &str = "journal.jsonl";
const CELLS: &str = "cells.jsonl";
const MEASURED: &str = "measured.jsonl";

/// A cell on record: the lines of `cells.jsonl` and `measured.jsonl`, and what they say.
#[derive(Clone)]
pub struct Kept {
    pub record: Json,
    pub measured: Json,
    pub entry: Entry,
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
    ) -> Result<(Store, HashMap<Cell, Kept>), Failure> {
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
        let line = json!({ "record": finished.record, "measured": finished.measured });
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        let written = journal.write_all(format!("{line}\n").as_bytes());
        let written = written.and_then(|()| journal.sync_data());
        written.map_err(|error| failed("write", &self.folder.join(JOURNAL), &error))
    }

    /// Writes the final files; the journal has served its purpose.
    pub fn conclude(&self, cells: &[Kept], tables: &[(&str, String)]) -> Result<(), Failure> {
        let lines = |of: fn(&Kept) -> &Json| -> String {
            cells.iter().map(|kept| format!("{}\n", of(kept))).collect()
        };
        replace(&self.folder.join(CELLS), &lines(|kept| &kept.record))?;
        replace(&self.folder.join(MEASURED), &lines(|kept| &kept.measured))?;
        for (name, text) in tables {
            replace(&self.folder.join(name), text)?;
        }
        let journal = self.folder.join(JOURNAL);
        std::fs::remove_file(&journal).map_err(|error| failed("remove", &journal, &error))
    }
}

/// What a folder holds, if the sweep is the same.
fn continued(folder: &Path, manifest: &Manifest) -> Result<HashMap<Cell, Kept>, Failure> {
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
        .map(|kept| (kept.entry.cell.clone(), kept))
        .collect())
}

/// Reads a folder: what it is about, and the cells that are finished.
pub fn read(folder: &Path) -> Result<(Manifest, Vec<Entry>), Failure> {
    let manifest = manifest_of(folder)?;
    let mut entries: Vec<Entry> = cells_of(folder)?
        .into_iter()
        .map(|kept| kept.entry)
        .collect();
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
fn cells_of(folder: &Path) -> Result<Vec<Kept>, Failure> {
    let mut kept: Vec<Kept> = Vec::new();
    let mut known = HashMap::new();
    let mut add = |record: Json, measured: Json, mut entry: Entry, at: &str| {
        let (cell, figures) = read_measured(&measured).map_err(|text| wrong_line(at, &text))?;
        if cell != entry.cell {
            return Err(wrong_line(at, "it is about another cell"));
        }
        entry.measured = figures;
        let place = *known.entry(cell).or_insert(kept.len());
        let new = Kept {
            record,
            measured,
            entry,
        };
        match kept.get_mut(place) {
            Some(old) => *old = new,
            None => kept.push(new),
        }
        Ok(())
    };
    let cells = lines(&folder.join(CELLS))?;
    let measured: HashMap<Cell, Json> = lines(&folder.join(MEASURED))?
        .into_iter()
        .map(|(at, line)| match read_measured(&line) {
            Ok((cell, _)) => Ok((cell, line)),
            Err(text) => Err(wrong_line(&at, &text)),
        })
        .collect::<Result<_, Failure>>()?;
    for (at, record) in cells {
        let entry = read_record(&record).map_err(|text| wrong_line(&at, &text))?;
        let figures = measured.get(&entry.cell).cloned();
        let none = || json!({ "cell": entry.cell, "measured": {} });
        let figures = figures.unwrap_or_else(none);
        add(record, figures, entry, &at)?;
    }
    for (at, mut line) in lines(&folder.join(JOURNAL))? {
        let (record, measured) = (line["record"].take(), line["measured"].take());
        let entry = read_record(&record).map_err(|text| wrong_line(&at, &text))?;
        add(record, measured, entry, &at)?;
    }
    Ok(kept)
}

fn wrong_line(at: &str, text: &str) -> Failure {
    Failure::Message {
        text: format!("{at}: this is not a cell: {text}"),
        help: Some("the file is damaged; without that line the cell is run again".to_string()),
    }
}

/// The lines of a file that need not exist, each with its place. A last line without an end
/// was being written when the process died.
fn lines(path: &Path) -> Result<Vec<(String, Json)>, Failure> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = input::read_results(path)?;
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    let lines = whole.lines().enumerate();
    lines
        .map(|(index, line)| {
            let at = format!("{}:{}", path.display(), index + 1);
            match serde_json::from_str::<Json>(line) {
                Ok(value @ Json::Object(_)) => Ok((at, value)),
                Ok(_) => Err(wrong_line(&at, "not an object")),
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
