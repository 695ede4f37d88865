//! FD against PD: the whole spaces of small programs, all programs with their fences, and the
//! page that shows the former.

use super::{json_text, optimal};
use fencesmith::experiment::{
    Budget, Comparison, Entry, Event, Grid, Settings, Subject, compare, comparison_cells,
    comparison_json, comparison_markdown, run_all, short,
};
use fencesmith::infer::EngineKind;
use fencesmith::limits::Monitor;
use fencesmith::lower::compile;
use fencesmith::memory::{AbstractionKind, Atomics, Model};
use fencesmith::page;
use fencesmith::record::{Cell, ListedProgram, Mode};
use fencesmith::source::Source;
use std::collections::HashMap;
use std::error::Error;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

/// Time and memory for each cell.
const SECONDS: u64 = 300;
const MEMORY: u64 = 8 << 30;

/// Lengths of the ordered head.
const HEADS: [usize; 4] = [0, 1, 2, 3];

/// Small enough to be searched whole without their fences.
const PROGRAMS: [&str; 23] = [
    "paper/pet0",
    "paper/pet2",
    "paper/dek0",
    "paper/dek2",
    "paper/lam2",
    "paper/fast3",
    "paper/clh2",
    "paper/sense0",
    "paper/sense1",
    "paper/fig6",
    "mutex/simple-dekker",
    "mutex/dekker-goto",
    "mutex/burns-2",
    "mutex/dijkstra",
    "lock/tas-counter",
    "lock/ticket-2",
    "barrier/sense-counter",
    "barrier/sense-epochs",
    "queue/ring",
    "protocol/handshake",
    "protocol/seqlock",
    "protocol/parker",
    "litmus/2+2w",
];

/// Programs by the names of their files.
struct Programs {
    listed: Vec<ListedProgram>,
    subjects: HashMap<String, Subject>,
}

impl Programs {
    /// Reads programs; those with integers without bound are left out.
    fn read(root: &Path, paths: impl Iterator<Item = String>) -> Result<Programs, Box<dyn Error>> {
        let (mut listed, mut subjects) = (Vec::new(), HashMap::new());
        for path in paths {
            let source = Source::new(&path, std::fs::read_to_string(root.join(&path))?);
            let program = compile(&source).map_err(|_| format!("{path} does not compile"))?;
            if program.has_integers() {
                continue;
            }
            listed.push(ListedProgram::readable(&source));
            subjects.insert(path, Subject { source, program });
        }
        Ok(Programs { listed, subjects })
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.listed.iter().map(|listed| listed.program.as_str())
    }

    fn compared(&self, fenced: bool) -> Vec<Entry> {
        let cells = comparison_cells(self.names(), &[Model::Pso], &HEADS, fenced);
        answer(&cells, &self.subjects, !fenced, None)
    }
}

/// The files, by name.
pub fn files(root: &Path) -> Result<Vec<(&'static str, String)>, Box<dyn Error>> {
    let small = PROGRAMS.map(|name| format!("algorithms/{name}.fen"));
    let small = Programs::read(root, small.into_iter())?;
    let suite = optimal::paths(root)?;
    let suite = Programs::read(root, suite.into_iter())?;
    let mut entries = small.compared(false);
    let fenced = suite.compared(true);
    let comparisons = compare(&entries);
    let with_fences = compare(&fenced);
    let table = |comparisons: &[Comparison]| {
        comparison_markdown(comparisons, |name| short("algorithms/", name))
            .replace("\n## ", "\n### ")
    };
    let markdown = format!(
        "# FD against PD under PSO\n\n\
         Written by `make tables ONLY=compare` with {SECONDS} s and {} GiB for each cell; where a \
         limit was reached there is a dash. A *violated* was replayed on the exact model, a \
         *spurious* violation exists only in the abstraction.\n\n\
         ## All programs, with the fewest fences that they need\n\n\
         `fencesmith compare --fenced`. *Precise*: it proves the program with these fences. \
         *States* are those of the whole state space, where it was proved; a search that finds a violation \
         ends there.\n\n#{}\n\
         ## Small programs, without fences\n\n\
         `fencesmith compare`. *Precise*: it proves a program that is correct as it stands, or finds \
         the fewest fences (✓) for one that is not. *Verdict*, *states*, *transitions* and *memory* \
         are those of the whole state space (`verify --full`). *Fences* and *formulas* are those of \
         `infer --engine points`. *Time* is for both.\n\n#{}",
        MEMORY >> 30,
        table(&with_fences),
        table(&comparisons),
    );
    let json = json_text(&comparison_json(&comparisons))?;
    let json_fenced = json_text(&comparison_json(&with_fences))?;
    let all: Vec<&Entry> = entries.iter().collect();
    let plots = [
        ("plots/states.svg", page::states_plot(&all).standalone()),
        (
            "plots/precise.svg",
            page::precision_plot(&entries).standalone(),
        ),
        ("plots/time.svg", page::time_plot(&all).standalone()),
    ];
    // The page also has every minimal placement.
    let grid = Grid {
        mode: Mode::Infer,
        models: vec![Model::Tso, Model::Pso],
        abstractions: vec![AbstractionKind::Fd],
        heads: vec![None],
        engine: EngineKind::Lazy,
    };
    let placed = answer(&grid.cells(small.names()), &small.subjects, true, Some(12));
    entries.retain(|entry| !entry.cell.refine());
    entries.extend(placed);
    let page = page::render("FD against PD under PSO", &small.listed, &entries);
    let mut files = vec![
        ("compare.md", markdown),
        ("compare.json", json),
        ("compare-fenced.json", json_fenced),
        ("report.html", page),
    ];
    files.extend(plots);
    Ok(files)
}

/// Answers all cells, and gives the answers in their order.
fn answer(
    cells: &[Cell],
    subjects: &HashMap<String, Subject>,
    full: bool,
    all: Option<usize>,
) -> Vec<Entry> {
    let settings = Settings {
        timeout: Some(Duration::from_secs(SECONDS)),
        max_memory: Some(MEMORY),
        max_states: None,
        atomics: Atomics::DrainPlace,
        fuse: true,
        stuck: false,
        full,
        all,
    };
    let budget = Budget {
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        memory: Some(2 * MEMORY),
    };
    let found: Mutex<HashMap<Cell, Entry>> = Mutex::default();
    let watch = |event: Event| {
        if let Event::Finished(index, finished) = event {
            let entry = finished.entry();
            let seconds = entry.measured.total_s.unwrap_or_default();
            println!("{}: {} {seconds:.2} s", cells[index], entry.outcome());
            let mut found = found.lock().expect("nobody panics with the lock");
            found.insert(cells[index].clone(), entry);
        }
    };
    let subject = |cell: &Cell| &subjects[&cell.program];
    run_all(
        cells,
        subject,
        &settings,
        budget,
        None,
        &Monitor::default(),
        &watch,
    );
    let mut found = found.into_inner().expect("nobody panics with the lock");
    cells.iter().filter_map(|cell| found.remove(cell)).collect()
}
