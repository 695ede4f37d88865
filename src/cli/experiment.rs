//! What `sweep` and `compare` share: run the cells that are not answered yet, keep each answer,
//! and end with what is known.

use super::args::{Common, Tables};
use super::board::Board;
use super::programs::{self, Programs};
use super::store::Store;
use super::verify::nearly_all_memory;
use super::{Exit, Failure, complain, progress};
use crate::experiment::{
    Budget, CellOutcome, Entry, Event, Finished, Settings, run_all, short_names,
};
use crate::record::{Cell, ListedProgram, Manifest};
use clap::ValueEnum;
use serde_json::{Map, Value as Json, json};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// What is asked.
pub struct Questions {
    pub command: &'static str,
    /// What makes it the same sweep, beside the settings.
    pub options: Map<String, Json>,
    pub settings: Settings,
}

/// What came of it.
pub struct Answered {
    pub programs: Vec<ListedProgram>,
    /// In the order of the grid; not all of them, if it was interrupted.
    pub entries: Vec<Entry>,
    pub exit: Exit,
}

/// The settings that the command line gives.
pub fn settings<F: ValueEnum + Send + Sync>(tables: &Tables<F>) -> Settings {
    let common = &tables.common;
    Settings {
        timeout: common.timeout,
        max_memory: common.max_memory,
        max_states: common.max_states,
        atomics: common.atomics,
        fuse: !common.no_fuse,
        full: false,
        all: None,
    }
}

/// Answers all cells. `tables` makes the files that go with complete results.
pub fn answer<F: ValueEnum + Send + Sync>(
    args: &Tables<F>,
    questions: Questions,
    cells: impl Fn(&mut dyn Iterator<Item = &str>) -> Vec<Cell>,
    tables: impl Fn(&[Entry], &[ListedProgram]) -> Vec<(&'static str, String)>,
) -> Result<Answered, Failure> {
    let programs = programs::load(&args.files, &args.common);
    let cells = cells(&mut programs.names());
    let mut options = questions.options;
    options.extend(questions.settings.options());
    options.extend(language(&args.common));
    let manifest = Manifest::new(questions.command, options, programs.listed.clone());
    let opened = args.out.as_ref();
    let opened = opened.map(|folder| Store::open(folder, &manifest, args.resume));
    let (store, kept) = match opened.transpose()? {
        Some((store, kept)) => (Some(store), kept),
        None => (None, HashMap::new()),
    };
    let (kept, interrupted) = run(args, &programs, &cells, &questions.settings, &store, kept)?;
    let kept: Vec<Finished> = cells
        .iter()
        .filter_map(|cell| kept.get(cell))
        .cloned()
        .collect();
    let entries: Vec<Entry> = kept.iter().map(Finished::entry).collect();
    if let (Some(store), false) = (&store, interrupted) {
        store.conclude(&kept, &tables(&entries, &programs.listed))?;
    }
    if interrupted {
        let help = match args.out {
            Some(_) => "they are kept, and --resume goes on",
            None => "with --out they would be kept, and --resume would go on",
        };
        complain(&format!(
            "interrupted with {} of {} cells answered: {help}\n",
            entries.len(),
            cells.len()
        ));
    }
    let limited = entries
        .iter()
        .any(|entry| entry.cell_outcome() == CellOutcome::Stopped);
    Ok(Answered {
        exit: if programs.broken() {
            Exit::Usage
        } else if interrupted || limited {
            Exit::Inconclusive
        } else {
            Exit::Fine
        },
        programs: programs.listed,
        entries,
    })
}

/// How programs are read, where it is not left to their endings.
fn language<F: ValueEnum + Send + Sync>(common: &Common<F>) -> Map<String, Json> {
    let mut options = Map::new();
    if let Some(from) = common.from {
        options.insert("from".into(), json!(from));
    }
    if !common.forbid.is_empty() {
        let states = common.forbid.iter().map(|together| &together.0);
        options.insert("forbid".into(), json!(states.collect::<Vec<_>>()));
    }
    options
}

/// Runs what is not answered yet; gives all answers, and whether it was interrupted.
fn run<F: ValueEnum + Send + Sync>(
    args: &Tables<F>,
    programs: &Programs,
    cells: &[Cell],
    settings: &Settings,
    store: &Option<Store>,
    kept: HashMap<Cell, Finished>,
) -> Result<(HashMap<Cell, Finished>, bool), Failure> {
    let open = |cell: &&Cell| !kept.contains_key(cell);
    let open: Vec<Cell> = cells.iter().filter(open).cloned().collect();
    let folder = short_names(&programs.listed);
    let done = cells.len() - open.len();
    let board = Board::new(args.common.quiet, folder, cells.len(), done);
    let monitor = progress::interruptible();
    let budget = Budget {
        threads: args.common.thread_count(),
        memory: args.memory.or_else(nearly_all_memory),
    };
    let answers = Mutex::new((kept, None));
    let watch = |event: Event| match event {
        Event::Started(index, monitor) => board.started(index, &open[index], monitor),
        Event::Postponed(index) | Event::Abandoned(index) => board.ended(index),
        Event::Finished(index, finished) => {
            let written = store.as_ref().map_or(Ok(()), |store| store.keep(finished));
            let mut answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
            match written {
                Ok(()) => {
                    board.finished(index, &finished.entry());
                    answers.0.insert(open[index].clone(), finished.clone());
                }
                // What cannot be kept need not be found out.
                Err(failure) => {
                    answers.1 = Some(failure);
                    monitor.interrupt();
                }
            }
        }
    };
    let subject = |cell: &Cell| &programs.subjects[&cell.program];
    board.watch(|| run_all(&open, subject, settings, budget, &monitor, &watch));
    let (kept, failure) = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
    match failure {
        Some(failure) => Err(failure),
        None => Ok((kept, monitor.interrupted())),
    }
}
