//! What `sweep` and `compare` share: run the cells that are not answered yet, keep each answer,
//! and end with what is known.

use super::args::{CellArgs, Common};
use super::find::{Found, find};
use super::interrupt::Interruptible;
use super::processes::{self, Leader, Part, Share};
use super::programs::{self, Programs};
use super::streams::print_message;
use super::sweep_folder::{LockedFolder, SweepFolder};
use super::sweep_progress::SweepProgress;
use super::{Exit, Failure, free_memory, output, sweep_folder};
use crate::experiment::{Budget, Entry, Event, Finished, Helpers, Settings, run_all, short_names};
use crate::limits::Monitor;
use crate::record::{Cell, ListedProgram, Manifest};
use clap::ValueEnum;
use serde_json::{Map, Value as Json, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What is asked.
pub struct SweepRequest {
    pub command: &'static str,
    /// What makes it the same sweep, beside the settings.
    pub options: Map<String, Json>,
    pub settings: Settings,
}

/// What came of it.
pub struct SweepAnswer {
    pub programs: Vec<ListedProgram>,
    /// In the order of the grid; not all of them, if it was interrupted.
    pub entries: Vec<Entry>,
    pub exit: Exit,
    /// What could not be written.
    pub failures: Vec<Failure>,
}

/// The settings that the command line gives.
pub fn settings<F: ValueEnum + Send + Sync>(args: &CellArgs<F>) -> Settings {
    let common = &args.common;
    Settings {
        timeout: common.timeout,
        max_memory: common.max_memory,
        max_states: common.max_states,
        atomics: common.atomics(),
        fuse: !common.no_fuse,
        full: false,
        stuck: false,
        all: None,
    }
}

/// Answers all cells; or how this process has ended, if another one leads. `tables` makes the
/// files that go with complete results.
pub fn answer<F: ValueEnum + Send + Sync>(
    args: &CellArgs<F>,
    request: SweepRequest,
    cells: impl Fn(&Programs) -> Vec<Cell>,
    tables: impl Fn(&[Entry], &[ListedProgram]) -> Vec<(&'static str, String)>,
) -> Result<Result<SweepAnswer, Exit>, Failure> {
    let mut options = request.options;
    options.extend(request.settings.options());
    options.extend(language(&args.common));
    let asked = format!("{} {options:?}", request.command);
    if args.others.process.is_some_and(|process| process > 0) {
        let searches = Interruptible::new();
        if let Part::Done(exit) = processes_of(args, &searches, &asked)? {
            return Ok(Err(exit));
        }
    }
    let found = find(&args.files, &programs::ENDINGS);
    let folder = args.out.as_ref();
    let folder = folder.map(|folder| take(folder, args.resume, &found));
    let folder = folder.transpose()?;
    let programs = programs::load(found, &args.common);
    let cells = cells(&programs);
    let manifest = Manifest::new(request.command, options, programs.listed.clone());
    let opened = folder.map(|folder| folder.open(&manifest));
    let (folder, finished) = opened.transpose()?.unzip();
    let searches = Interruptible::new();
    let leader = match processes_of(args, &searches, &asked)? {
        Part::Alone => None,
        Part::Leader(leader) => Some(leader),
        Part::Done(exit) => return Ok(Err(exit)),
    };
    let ran = run(
        args,
        &programs,
        &cells,
        &request.settings,
        folder.as_ref(),
        finished.unwrap_or_default(),
        (&searches, leader.as_ref()),
    );
    let finished: Vec<Finished> = cells
        .iter()
        .filter_map(|cell| ran.finished.get(cell))
        .cloned()
        .collect();
    let entries: Vec<Entry> = finished.iter().map(Finished::entry).collect();
    let mut failures: Vec<Failure> = ran.failure.into_iter().collect();
    let complete = !ran.interrupted && failures.is_empty();
    if let (Some(folder), true) = (&folder, complete) {
        let written = folder.complete(&finished, &tables(&entries, &programs.listed));
        failures.extend(written.err());
    }
    if ran.interrupted {
        let help = match args.out {
            Some(_) => "they are kept, and --resume goes on",
            None => "with --out they would be kept, and --resume would go on",
        };
        print_message(&format!(
            "interrupted with {} of {} cells answered: {help}\n",
            entries.len(),
            cells.len()
        ));
    }
    let limited = entries.iter().any(Entry::is_unfinished);
    let exit = if programs.broken() {
        Exit::Usage
    } else if ran.interrupted || limited {
        Exit::Inconclusive
    } else {
        Exit::Fine
    };
    Ok(Ok(SweepAnswer {
        exit: leader.map_or(exit, |leader| leader.end(exit)),
        programs: programs.listed,
        entries,
        failures,
    }))
}

/// Comes together with other processes, if there are to be any: they answer cells.
fn processes_of<F: ValueEnum + Send + Sync>(
    args: &CellArgs<F>,
    searches: &Interruptible,
    asked: &str,
) -> Result<Part, Failure> {
    let share = Share {
        others: &args.others,
        max_memory: args.memory,
        checkpoints: None,
    };
    let digests = || processes::digests(&args.files, &args.common, asked);
    processes::assemble(&share, &args.common, searches, digests)
}

/// Takes a folder for results, if no program is in it.
fn take(folder: &Path, resume: bool, found: &Found) -> Result<LockedFolder, Failure> {
    let programs = found.files.iter().map(|path| ("a program", &**path));
    let results: Vec<PathBuf> = sweep_folder::files(folder).collect();
    let results: Vec<(&str, &Path)> = results.iter().map(|path| ("--out", &**path)).collect();
    output::refuse_overwriting(programs, &results)?;
    LockedFolder::take(folder, resume)
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
    let lists = [
        ("define", json!(common.c.define)),
        ("undefine", json!(common.c.undefine)),
        ("include-dir", json!(common.c.include_dir)),
        ("include", json!(common.c.include)),
        ("heap", json!(common.c.heap)),
    ];
    let given = lists
        .into_iter()
        .filter(|(_, list)| *list != json!([]) && !list.is_null());
    options.extend(given.map(|(name, list)| (name.to_string(), list)));
    options
}

/// All that is known at the end of a run.
struct RunOutcome {
    finished: HashMap<Cell, Finished>,
    /// A signal ended it.
    interrupted: bool,
    /// An answer could not be written down, which ended it.
    failure: Option<Failure>,
}

/// Runs what is not answered yet.
fn run<F: ValueEnum + Send + Sync>(
    args: &CellArgs<F>,
    programs: &Programs,
    cells: &[Cell],
    settings: &Settings,
    folder: Option<&SweepFolder>,
    finished: HashMap<Cell, Finished>,
    (searches, leader): (&Interruptible, Option<&Leader>),
) -> RunOutcome {
    let open = |cell: &&Cell| !finished.contains_key(cell);
    let open: Vec<Cell> = cells.iter().filter(open).cloned().collect();
    let prefix = short_names(&programs.listed);
    let done = cells.len() - open.len();
    let progress = SweepProgress::new(args.common.quiet, &searches.bars, prefix, cells.len(), done);
    let budget = match leader {
        None => Budget {
            threads: args.common.thread_count(),
            memory: args.memory.or_else(free_memory::nearly_all),
        },
        Some(leader) => Budget {
            threads: leader.threads,
            memory: leader.max_memory,
        },
    };
    let outcome = Mutex::new(RunOutcome {
        finished,
        interrupted: false,
        failure: None,
    });
    let watch = |event: Event| match event {
        Event::Started(index, monitor) => progress.started(index, &open[index], monitor),
        Event::Postponed(index) | Event::Abandoned(index) => progress.ended(index),
        Event::Finished(index, finished) => {
            let recorded = folder.map_or(Ok(()), |folder| folder.record(finished));
            let mut outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
            progress.finished(index, &finished.entry());
            outcome
                .finished
                .insert(open[index].clone(), finished.clone());
            if let Err(failure) = recorded {
                // Further answers could not be written down either.
                outcome.failure.get_or_insert(failure);
                searches.monitor.interrupt();
            }
        }
    };
    let subject = |cell: &Cell| &programs.subjects[&cell.program];
    // They help until all cells are answered, with what is too large for one of them together.
    let helpers = leader.map(|leader| leader.help_with_cells(settings.max_memory));
    let helping = helpers.as_ref().map(|helpers| helpers as &dyn Helpers);
    let run = |monitor: &Monitor| {
        run_all(&open, subject, settings, budget, helping, monitor, &watch);
    };
    progress.watch(|| searches.run(run));
    let outcome = outcome.into_inner().unwrap_or_else(PoisonError::into_inner);
    RunOutcome {
        interrupted: searches.monitor.interrupted() && outcome.failure.is_none(),
        ..outcome
    }
}
