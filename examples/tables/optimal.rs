//! The cheapest placements of all programs.

use super::header::{Header, header};
use fencesmith::infer::{self, Conclusion, Inference, Obstacle, Optimality};
use fencesmith::limits::{Limits, Monitor};
use fencesmith::lower::compile;
use fencesmith::memory::{Abstraction, Model};
use fencesmith::program::Program;
use fencesmith::source::Source;
use fencesmith::verify::VerifyOptions;
use fencesmith::words::grouped;
use serde_json::{Value, json};
use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time and memory for one program under one model.
pub const SECONDS: u64 = 600;
pub const MEMORY: u64 = 8 << 30;

/// Inference for one program.
pub struct Run {
    /// The folder and the name: `mutex/peterson`.
    pub name: String,
    pub source: Source,
    pub header: Header,
    pub program: Program,
    /// Under TSO and PSO.
    pub cells: [Cell; 2],
}

/// Inference for one program under one model.
pub struct Cell {
    pub model: Model,
    pub found: Inference,
    pub seconds: f64,
    /// Positions in the text.
    pub cost: Option<u64>,
    /// Fences over all processes.
    pub total: Option<u64>,
}

/// Programs on which the paper's tool ran out of memory under PSO.
const OUT_OF_MEMORY: [(&str, &str, &str); 4] = [
    ("Lam0", "paper/lam0", "FD at k = 0 and 1, PD at k = 2"),
    (
        "Fast0",
        "paper/fast0",
        "FD at k = 0 and 1, PD at k = 1 and 2 (no placement at PD, k = 0)",
    ),
    ("Fast1c", "paper/fast1c", "FD at k = 0 and 1"),
    ("CLH0", "paper/clh0", "every abstraction"),
];

/// The files of all programs, as they are named from the root.
pub fn paths(root: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let mut paths = Vec::new();
    files(&root.join("algorithms"), &mut paths)?;
    paths.sort();
    let names = paths.iter().map(|path| path.strip_prefix(root));
    let names = names.map(|name| Ok(name?.display().to_string()));
    names.collect()
}

/// Infers fences for every program; those with integers without bound have a table of their own.
pub fn measure(root: &Path) -> Result<Vec<Run>, Box<dyn Error>> {
    let mut runs = Vec::new();
    for path in paths(root)? {
        let path = root.join(path);
        let name = path
            .strip_prefix(root.join("algorithms"))?
            .with_extension("");
        let name = name.display().to_string();
        let source = Source::new(name.clone(), std::fs::read_to_string(&path)?);
        let program = compile(&source).map_err(|_| format!("{name} does not compile"))?;
        if program.has_integers() {
            continue;
        }
        let header = header(source.text()).map_err(|wrong| format!("{name}: {wrong:?}"))?;
        let cells = [Model::Tso, Model::Pso].map(|model| {
            let cell = cell(&program, model);
            println!("{name} {model}: {} {:.2} s", cell.outcome(), cell.seconds);
            cell
        });
        runs.push(Run {
            name,
            source,
            header,
            program,
            cells,
        });
    }
    Ok(runs)
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files(&path, out)?;
        } else if path.extension().is_some_and(|end| end == "fen") {
            out.push(path);
        }
    }
    Ok(())
}

fn cell(program: &Program, model: Model) -> Cell {
    let begin = Instant::now();
    let options = infer::InferOptions {
        ..infer::InferOptions::new(
            VerifyOptions {
                threads: std::thread::available_parallelism().map_or(1, usize::from),
                limits: Limits {
                    max_states: None,
                    max_memory: Some(MEMORY),
                    deadline: Some(begin + Duration::from_secs(SECONDS)),
                },
                ..VerifyOptions::refining(model)
            },
            vec![Some(1); program.points.len()],
        )
    };
    let found = infer::infer(program, &options, &Monitor::default());
    let (cost, total) = match &found.conclusion {
        Conclusion::Correct(_) => (Some(0), Some(0)),
        Conclusion::Placed(placed) => {
            let locations = program.processes.iter().flat_map(|p| &p.locations);
            let fenced = locations.filter_map(|location| location.point);
            let fenced = fenced.filter(|point| placed.best.fences.contains(point));
            (Some(placed.best.cost), Some(fenced.count() as u64))
        }
        _ => (None, None),
    };
    Cell {
        model,
        found,
        seconds: begin.elapsed().as_secs_f64(),
        cost,
        total,
    }
}

impl Cell {
    pub fn outcome(&self) -> &'static str {
        match self.found.conclusion {
            Conclusion::Correct(_) => "correct",
            Conclusion::Placed(_) => "placed",
            Conclusion::IncorrectUnderSc(..) => "incorrect under SC",
            Conclusion::Unfixable(..) => "unfixable",
            Conclusion::Inconclusive(Obstacle::Limit(_)) => "stopped",
            Conclusion::Inconclusive(_) => "inconclusive",
        }
    }

    /// A limit ended it, so that the figures differ from run to run.
    pub fn stopped(&self) -> bool {
        let outcome = &self.found.conclusion;
        matches!(outcome, Conclusion::Inconclusive(Obstacle::Limit(_)))
    }

    pub fn optimality(&self) -> &'static str {
        match &self.found.conclusion {
            Conclusion::Correct(_) => "exact",
            Conclusion::Placed(placed) => match placed.optimality {
                Optimality::Exact => "exact",
                Optimality::UnderAbstraction => "under the abstraction",
                Optimality::Unknown => "unknown",
            },
            _ => "–",
        }
    }

    pub fn k(&self) -> Option<usize> {
        match self.found.abstraction {
            Abstraction::Fd { k } => Some(k),
            _ => None,
        }
    }
}

/// A figure, or a dash where there is none.
pub fn or_dash(figure: Option<u64>) -> String {
    figure.map_or("–".to_string(), |figure| figure.to_string())
}

pub fn markdown(runs: &[Run]) -> Result<String, Box<dyn Error>> {
    let mut out = format!(
        "# The cheapest placements\n\n\
         `fencesmith infer` on every program, full fences anywhere, one a piece; atomics wait for \
         their own place under PSO. *Cost* counts positions in the text, *fences* counts them in \
         every process that runs the text. *Exact*: no cheaper placement exists on the memory \
         model itself. *Under the abstraction*: none can be proved with FD at this k; one may \
         exist. The five protocols \
         where that is the answer (alternating bit, increasing sequence, task scheduling, \
         producer and consumer 2 under TSO with two cells and with three) are correct as they stand, because of the order of \
         unboundedly many stores, of which the abstraction keeps k. *Rounds* are explored programs, the check under SC included. *Stopped*: after \
         {SECONDS} s or at {} GiB.\n",
        MEMORY >> 30
    );
    let mut folder = "";
    for run in runs {
        let (own, name) = run.name.split_once('/').unwrap_or(("", &run.name));
        if own != folder {
            folder = own;
            write!(
                out,
                "\n## {folder}\n\n| program | model | outcome | cost | fences | optimality | k | \
                 rounds | states of the largest round | states in all | seconds |\n\
                 |---|---|---|---:|---:|---|---:|---:|---:|---:|---:|\n"
            )?;
        }
        for cell in &run.cells {
            let figure = |figure: u64| match cell.stopped() {
                true => "–".to_string(),
                false => grouped(figure),
            };
            writeln!(
                out,
                "| {name} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.2} |",
                cell.model.to_string().to_uppercase(),
                cell.outcome(),
                or_dash(cell.cost),
                or_dash(cell.total),
                cell.optimality(),
                or_dash(cell.k().map(|k| k as u64)),
                figure(cell.found.rounds),
                figure(cell.found.peak),
                figure(cell.found.states),
                cell.seconds,
            )?;
        }
    }
    out.push_str(
        "\n## Where the paper ran out of memory\n\n\
         Programs of Kuperstein, Vechev and Yahav (PLDI 2011), Table 2, under PSO. They label the \
         whole state space of the program without fences; here a round ends at its first \
         counterexample.\n\n\
         | program | out of memory with | cost | fences | optimality | states of the largest \
         round | states in all | seconds |\n|---|---|---:|---:|---|---:|---:|---:|\n",
    );
    for (published, name, with) in OUT_OF_MEMORY {
        let run = runs.iter().find(|run| run.name == name);
        let cell = &run.ok_or_else(|| format!("{name} is gone"))?.cells[1];
        writeln!(
            out,
            "| {published} | {with} | {} | {} | {} | {} | {} | {:.2} |",
            or_dash(cell.cost),
            or_dash(cell.total),
            cell.optimality(),
            grouped(cell.found.peak),
            grouped(cell.found.states),
            cell.seconds,
        )?;
    }
    Ok(out)
}

pub fn json(runs: &[Run]) -> Value {
    let cells = runs
        .iter()
        .flat_map(|run| run.cells.iter().map(move |cell| (run, cell)));
    let rows = cells.map(|(run, cell)| {
        let found = &cell.found;
        let stats = json!({
            "rounds": found.rounds,
            "peak_states": found.peak,
            "states": found.states,
            "transitions": found.transitions,
            "clauses": found.clauses.len(),
        });
        let reason = match found.conclusion {
            Conclusion::Inconclusive(Obstacle::Limit(reason)) => Some(reason.to_string()),
            _ => None,
        };
        let mut row = json!({
            "program": run.name,
            "model": cell.model.to_string(),
            "outcome": cell.outcome(),
            "reason": reason,
            "cost": cell.cost,
            "fences": cell.total,
            "optimality": cell.optimality(),
            "k": cell.k(),
            "stats": null,
            "timing": { "total_s": cell.seconds },
        });
        // What a limit cut short belongs to the figures that differ from run to run.
        match cell.stopped() {
            true => row["timing"]["stats"] = stats,
            false => row["stats"] = stats,
        }
        row
    });
    Value::Array(rows.collect())
}
