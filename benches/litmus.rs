//! How many litmus tests a minute: thousands of generated ones under three models.
//!
//! ```text
//! cargo bench --bench litmus -- [TESTS]
//! ```
//!
//! The tests are cycles of the usual shapes: each process does two accesses, each access
//! communicates with the next process, and between the two accesses stands nothing, a
//! fence, a detour through the own store, or a locked access.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

/// What stands between the two accesses of a process.
const BETWEEN: [&[&str]; 6] = [
    &[],
    &["MFENCE"],
    &["SFENCE"],
    &["MOV ECX,[own]"],
    &["XCHG [aside],EDX"],
    &["LOCK INC [aside]"],
];

const LOCATIONS: [&str; 4] = ["x", "y", "z", "w"];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).filter(|a| !a.starts_with("--"));
    let wanted = arguments
        .next()
        .and_then(|n| n.parse().ok())
        .unwrap_or(3000);
    let folder = tempfile::tempdir().expect("a temporary folder");
    for number in 0..wanted {
        let text = test(number);
        let file = folder.path().join(format!("{number:05}.litmus"));
        std::fs::write(file, text).expect("the test can be written");
    }
    match run(folder.path(), wanted) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// Runs all tests under all models; whether every one was decided.
fn run(folder: &Path, wanted: usize) -> bool {
    let begin = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_fencesmith"))
        .arg("litmus")
        .arg(folder)
        .args(["--model", "sc,tso,pso"])
        .output()
        .expect("the program starts");
    let seconds = begin.elapsed().as_secs_f64();
    let lines = String::from_utf8_lossy(&output.stdout);
    let count = |verdict: &str| lines.matches(verdict).count();
    let (allowed, forbidden) = (count(" Allowed "), count(" Forbidden "));
    println!(
        "{wanted} tests under SC, TSO and PSO: {seconds:.2} s, {:.0} tests a minute; {allowed} allowed, {forbidden} forbidden",
        wanted as f64 / seconds * 60.0
    );
    output.status.success() && allowed + forbidden == 3 * wanted
}

/// The test of a number: two to four processes, stores and loads by its digits.
fn test(number: usize) -> String {
    let processes = 2 + number % 3;
    let mut digits = number / 3;
    let mut digit = |base: usize| {
        let digit = digits % base;
        digits /= base;
        digit
    };
    let mut columns = Vec::new();
    let mut condition = Vec::new();
    for process in 0..processes {
        let (here, there) = (LOCATIONS[process], LOCATIONS[(process + 1) % processes]);
        let kind = digit(3);
        let between = BETWEEN[digit(BETWEEN.len())];
        let mut column = match kind {
            // A store and then a load that misses the next store.
            0 | 1 => vec![format!("MOV [{here}],$1")],
            // A load that finds the store before it, and then a store.
            _ => vec![format!("MOV EAX,[{here}]")],
        };
        let own = |line: &&str| line.replace("own", here).replace("aside", "a");
        column.extend(between.iter().map(own));
        match kind {
            0 => {
                column.push(format!("MOV EAX,[{there}]"));
                condition.push(format!("{process}:EAX=0"));
            }
            1 => {
                column.push(format!("MOV [{there}],$2"));
                condition.push(format!("{there}=1"));
            }
            _ => {
                column.push(format!("MOV [{there}],$2"));
                condition.push(format!("{process}:EAX=2"));
            }
        }
        columns.push(column);
    }
    let rows = columns.iter().map(Vec::len).max().unwrap_or(0);
    let names: Vec<String> = (0..processes).map(|p| format!("P{p}")).collect();
    let mut text = format!("X86 cycle{number}\n{{ }}\n {} ;\n", names.join(" | "));
    for row in 0..rows {
        let cells = columns
            .iter()
            .map(|column| column.get(row).map_or("", |c| c));
        let _ = writeln!(text, " {} ;", cells.collect::<Vec<_>>().join(" | "));
    }
    let _ = writeln!(text, "exists ({})", condition.join(" /\\ "));
    text
}
