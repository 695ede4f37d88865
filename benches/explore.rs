//! How fast the explorer is: states per second with one and two threads, and memory, on
//! programs of growing size, state by state and by rows. `make bench` runs it; `--quick` leaves out the long ones,
//! `--json FILE` writes the figures down.
//!
//! Runs with one and two threads take turns, and the fastest of each counts, because machines
//! do other work as well.

use fencesmith::limits::{Limits, Monitor};
use fencesmith::lower::compile;
use fencesmith::memory::{Abstraction, Model, Semantics};
use fencesmith::program::Program;
use fencesmith::source::Source;
use fencesmith::verify::{SearchKind, VerifyOptions, verify};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;

struct Case {
    file: &'static str,
    abstraction: Abstraction,
    search: SearchKind,
    /// The search ends after so many states.
    max_states: Option<u64>,
    quick: bool,
}

const fn case(
    file: &'static str,
    abstraction: Abstraction,
    max_states: Option<u64>,
    quick: bool,
) -> Case {
    Case {
        file,
        abstraction,
        search: SearchKind::Plain,
        max_states,
        quick,
    }
}

/// The same space by rows.
const fn by_rows(file: &'static str, abstraction: Abstraction, quick: bool) -> Case {
    Case {
        search: SearchKind::Rows,
        ..case(file, abstraction, None, quick)
    }
}

const ONE: Abstraction = Abstraction::Exact { bound: 1 };
const TWO: Abstraction = Abstraction::Exact { bound: 2 };

const CASES: [Case; 19] = [
    case("algorithms/mutex/peterson.fen", TWO, None, true),
    case("algorithms/mutex/dekker.fen", TWO, None, true),
    case("algorithms/mutex/bakery.fen", TWO, None, true),
    case("algorithms/mutex/bakery-3.fen", ONE, Some(2_000_000), true),
    case("benches/peers/filter3.fen", ONE, None, false),
    case(
        "algorithms/mutex/filter-3.fen",
        ONE,
        Some(20_000_000),
        false,
    ),
    case(
        "algorithms/mutex/filter-3.fen",
        ONE,
        Some(60_000_000),
        false,
    ),
    case(
        "algorithms/paper/dek0.fen",
        Abstraction::Fd { k: 2 },
        None,
        true,
    ),
    case(
        "algorithms/paper/dek0.fen",
        Abstraction::Pd { k: 2 },
        None,
        true,
    ),
    case(
        "algorithms/paper/lam0.fen",
        Abstraction::Fd { k: 0 },
        None,
        true,
    ),
    case(
        "algorithms/paper/lam0.fen",
        Abstraction::Pd { k: 1 },
        None,
        true,
    ),
    case(
        "algorithms/paper/lam0.fen",
        Abstraction::Pd { k: 2 },
        None,
        false,
    ),
    case(
        "algorithms/paper/fast0.fen",
        Abstraction::Pd { k: 1 },
        None,
        false,
    ),
    by_rows("benches/peers/filter3.fen", ONE, true),
    by_rows("algorithms/paper/dek0.fen", Abstraction::Fd { k: 2 }, true),
    by_rows("algorithms/paper/lam0.fen", Abstraction::Fd { k: 0 }, true),
    by_rows(
        "algorithms/mutex/burns-3.fen",
        Abstraction::Fd { k: 2 },
        true,
    ),
    by_rows("algorithms/mutex/filter-3.fen", ONE, false),
    by_rows(
        "algorithms/mutex/lamport-fast-3.fen",
        Abstraction::Fd { k: 0 },
        false,
    ),
];

/// Runs of each number of threads.
const RUNS: usize = 4;

struct Run {
    states: u64,
    transitions: u64,
    seconds: f64,
    cpu_seconds: Option<f64>,
    table_bytes_per_state: f64,
    peak_bytes: Option<u64>,
}

impl Run {
    fn or_faster(self, other: Run) -> Run {
        match other.seconds < self.seconds {
            true => other,
            false => self,
        }
    }
}

fn main() {
    let (mut quick, mut json_file) = (false, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--quick" => quick = true,
            "--json" => json_file = Some(arguments.next().expect("--json wants a file")),
            // What cargo adds by itself.
            "--bench" => {}
            other => panic!("unknown argument {other}"),
        }
    }
    println!(
        "{:<40} {:>11} {:>12} {:>8} {:>8} {:>9} {:>9} {:>8} {:>7} {:>9}",
        "program, PSO, one step each",
        "states",
        "transitions",
        "s, 1 thr",
        "s, 2 thr",
        "k/s, 1",
        "k/s, 2",
        "speed-up",
        "B/state",
        "peak MiB",
    );
    let mut results = Vec::new();
    for case in CASES.iter().filter(|case| case.quick || !quick) {
        let program = program(case.file);
        let [mut one, mut two] = [1, 2].map(|threads| measure(&program, case, threads));
        for _ in 1..RUNS {
            one = one.or_faster(measure(&program, case, 1));
            two = two.or_faster(measure(&program, case, 2));
        }
        print_row(case, &one, &two);
        results.push(json!({
            "program": case.file,
            "model": Model::Pso.to_string(),
            "abstraction": case.abstraction.to_string(),
            "search": case.search.to_string(),
            "max_states": case.max_states,
            "runs": [to_json(1, &one), to_json(2, &two)],
        }));
    }
    if let Some(file) = json_file {
        let text = serde_json::to_string_pretty(&results).expect("figures can be written");
        std::fs::write(&file, text + "\n").unwrap_or_else(|error| panic!("{file}: {error}"));
    }
}

fn program(file: &str) -> Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
    match compile(&Source::new(file, text)) {
        Ok(program) => program.fenced(&Default::default()),
        Err(found) => panic!("{file} has {} errors", found.len()),
    }
}

fn measure(program: &Program, case: &Case, threads: usize) -> Run {
    let options = VerifyOptions {
        full: true,
        search: case.search,
        threads,
        limits: Limits {
            max_states: case.max_states,
            ..Limits::default()
        },
        ..VerifyOptions::under(Semantics {
            fuse: false,
            ..Semantics::new(Model::Pso, case.abstraction)
        })
    };
    forget_peak();
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let found = verify(program, &options, &Monitor::default()).statistics;
    Run {
        states: found.states,
        transitions: found.transitions,
        seconds: start.elapsed().as_secs_f64(),
        cpu_seconds: cpu.and_then(|before| Some(cpu_seconds()? - before)),
        table_bytes_per_state: found.table_bytes as f64 / found.states as f64,
        peak_bytes: peak_bytes(),
    }
}

fn print_row(case: &Case, one: &Run, two: &Run) {
    let file = case.file.rsplit('/').next().unwrap_or(case.file);
    let whole = match case.search {
        SearchKind::Rows => ", by rows",
        _ if case.max_states.is_some() => ", a part",
        _ => "",
    };
    let rate = |run: &Run| run.states as f64 / run.seconds;
    let peak = one.peak_bytes.map_or("?".to_string(), |bytes| {
        format!("{:.0}", bytes as f64 / 1_048_576.0)
    });
    println!(
        "{:<40} {:>11} {:>12} {:>8.2} {:>8.2} {:>9.0} {:>9.0} {:>8.2} {:>7.1} {:>9}",
        format!("{file}, {}{whole}", case.abstraction),
        one.states,
        one.transitions,
        one.seconds,
        two.seconds,
        rate(one) / 1e3,
        rate(two) / 1e3,
        rate(two) / rate(one),
        one.table_bytes_per_state,
        peak,
    );
    if case.max_states.is_none() && (one.states, one.transitions) != (two.states, two.transitions) {
        panic!("two threads found {} states", two.states);
    }
}

fn to_json(threads: usize, run: &Run) -> Value {
    json!({
        "threads": threads,
        "states": run.states,
        "transitions": run.transitions,
        "seconds": run.seconds,
        "cpu_seconds": run.cpu_seconds,
        "states_per_second": run.states as f64 / run.seconds,
        "table_bytes_per_state": run.table_bytes_per_state,
        "peak_bytes": run.peak_bytes,
    })
}

/// Processor time of this process so far, where Linux tells; it counts in hundredths.
fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / 100.0)
}

/// Lets the peak start over, where Linux can.
fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}
