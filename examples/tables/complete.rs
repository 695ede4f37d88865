//! Which engine decides what, and what that takes: FD by each of its searches beside view logs.

use super::cpu;
use super::growth::{ALGORITHMS, FAMILIES, instance};
use fencesmith::infer::{Conclusion, InferOptions, infer};
use fencesmith::limits::{Limits, Monitor};
use fencesmith::memory::{Abstraction, Model};
use fencesmith::program::{PointSet, Program};
use fencesmith::verify::{FIRST_WIDENING, SearchKind, Strategy, Verdict, VerifyOptions, verify};
use fencesmith::words::{count, grouped};
use fencesmith_testing::programs;
use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// Time for one answer, and to find fences.
const SECONDS: u64 = 5;
const INFERENCE_SECONDS: u64 = 20;

/// Engines by name: where they begin, how they go on, and how they search.
const ENGINES: [(&str, Option<Abstraction>, SearchKind); 4] = [
    ("in turn", None, SearchKind::Auto),
    (
        "FD, plain",
        Some(Abstraction::Fd { k: 1 }),
        SearchKind::Plain,
    ),
    ("FD, sets", Some(Abstraction::Fd { k: 1 }), SearchKind::Sets),
    (
        "view logs",
        Some(Abstraction::Logs {
            widening: FIRST_WIDENING,
        }),
        SearchKind::Auto,
    ),
];

/// What one engine says: the verdict if it is certain, states, seconds, and who answered.
struct Found {
    verdict: Option<&'static str>,
    states: u64,
    seconds: f64,
    by: Abstraction,
}

pub fn markdown(root: &Path) -> Result<String, Box<dyn Error>> {
    let mut out = format!(
        "# Which engine decides what\n\n\
         Every program of the suite as it stands, litmus tests in which each part is played by \
         several processes, and algorithms for three and four processes with their fences: *in turn* is what `verify` does by itself, the others are asked \
         alone, FD from k = 1 up to k = 8. States, or sets of states, of the last search and CPU \
         seconds, one thread. A dash: not decided, by FD because counterexamples turn out not to \
         exist at every k, or not within {SECONDS} s.\n\n\
         | program | model | answer | by | CPU s | FD, plain | CPU s | FD, sets | CPU s | \
         view logs | CPU s |\n|---|---|---|---|--:|--:|--:|--:|--:|--:|--:|\n"
    );
    let mut tally = Tally::default();
    for name in programs::all() {
        let program = programs::program(&programs::source(&name));
        rows(&name, &program, &mut out, &mut tally)?;
    }
    for (name, sizes) in FAMILIES {
        let path = root.join(format!("benches/growth/{name}.fen"));
        let text = std::fs::read_to_string(path)?;
        for sizes in sizes {
            let constants = ["n1", "n2", "n3", "n4"].into_iter();
            let constants: Vec<_> = constants.zip(sizes.iter().copied()).collect();
            let numbers: Vec<String> = sizes.iter().map(usize::to_string).collect();
            let program = instance(name, &text, &constants)?;
            let name = format!("{name}_{}", numbers.join("_"));
            rows(&name, &program, &mut out, &mut tally)?;
        }
    }
    for (name, most) in ALGORITHMS {
        let path = root.join(format!("benches/growth/{name}.fen"));
        let text = std::fs::read_to_string(path)?;
        for n in 3..=most.min(4) {
            let program = instance(name, &text, &[("n", n)])?;
            fenced_rows(&format!("{name}-{n}"), &program, &mut out, &mut tally)?;
        }
    }
    writeln!(out, "\n{}", tally.summary())?;
    Ok(out)
}

/// Rows about a program with the fences that it needs under each model.
fn fenced_rows(
    name: &str,
    program: &Program,
    out: &mut String,
    tally: &mut Tally,
) -> Result<(), Box<dyn Error>> {
    for model in [Model::Tso, Model::Pso] {
        let options = InferOptions::new(
            within(VerifyOptions::refining(model), INFERENCE_SECONDS),
            vec![Some(1); program.points.len()],
        );
        let fences = match infer(program, &options, &Monitor::default()).conclusion {
            Conclusion::Correct(_) => PointSet::new(),
            Conclusion::Placed(placed) => placed.best.fences,
            _ => continue,
        };
        let name = format!("{name}, {}", count(fences.len() as u64, "fence"));
        row(&name, model, &program.fenced(&fences), out, tally)?;
    }
    Ok(())
}

fn rows(
    name: &str,
    program: &Program,
    out: &mut String,
    tally: &mut Tally,
) -> Result<(), Box<dyn Error>> {
    let program = program.fenced(&PointSet::new());
    for model in [Model::Tso, Model::Pso] {
        row(name, model, &program, out, tally)?;
    }
    Ok(())
}

fn row(
    name: &str,
    model: Model,
    program: &Program,
    out: &mut String,
    tally: &mut Tally,
) -> Result<(), Box<dyn Error>> {
    let found = ENGINES.map(|(_, begin, search)| ask(program, model, begin, search));
    let certain: Vec<&str> = found.iter().filter_map(|found| found.verdict).collect();
    if certain.iter().any(|verdict| *verdict != certain[0]) {
        return Err(format!("{name} {model}: engines disagree: {certain:?}").into());
    }
    tally.add(&found);
    let [all, others @ ..] = &found;
    write!(
        out,
        "| {name} | {} | {} | {} | {:.2} |",
        model.upper(),
        all.verdict.unwrap_or("–"),
        all.by,
        all.seconds
    )?;
    for one in others {
        match one.verdict {
            Some(_) => write!(out, " {} | {:.2} |", grouped(one.states), one.seconds)?,
            None => write!(out, " – | {:.2} |", one.seconds)?,
        }
    }
    writeln!(out)?;
    println!("{name} {model}");
    Ok(())
}

/// The same with limits, from now on.
fn within(options: VerifyOptions, seconds: u64) -> VerifyOptions {
    VerifyOptions {
        limits: Limits {
            max_states: None,
            max_memory: Some(8 << 30),
            deadline: Some(Instant::now() + Duration::from_secs(seconds)),
        },
        ..options
    }
}

fn ask(program: &Program, model: Model, begin: Option<Abstraction>, search: SearchKind) -> Found {
    let asked = match begin {
        None => VerifyOptions::refining(model),
        Some(begin) => VerifyOptions {
            strategy: Strategy::Refine,
            ..VerifyOptions::new(model, begin)
        },
    };
    let options = VerifyOptions {
        search,
        ..within(asked, SECONDS)
    };
    let begin = cpu::seconds();
    let answer = verify(program, &options, &Monitor::default());
    Found {
        verdict: match answer.verdict {
            Verdict::Correct => Some("correct"),
            Verdict::Violated => Some("violated"),
            Verdict::Inconclusive(_) => None,
        },
        states: answer.statistics.states,
        seconds: cpu::seconds() - begin,
        by: answer.abstraction,
    }
}

/// How often each engine decides, how long all of that takes, and how often it is the fastest
/// by more than the clock can be trusted.
#[derive(Default)]
struct Tally {
    asked: usize,
    decided: [usize; ENGINES.len()],
    seconds: [f64; ENGINES.len()],
    fastest: [usize; ENGINES.len()],
}

impl Tally {
    fn add(&mut self, found: &[Found; ENGINES.len()]) {
        self.asked += 1;
        for (at, one) in found.iter().enumerate() {
            self.decided[at] += usize::from(one.verdict.is_some());
            self.seconds[at] += one.seconds;
            let slower =
                |other: &Found| other.verdict.is_none() || other.seconds > 2.0 * one.seconds + 0.01;
            let others = found.iter().enumerate().skip(1);
            let mut others = others.filter(|(other, _)| *other != at);
            let wins = one.verdict.is_some() && others.all(|(_, other)| slower(other));
            self.fastest[at] += usize::from(wins && at > 0);
        }
    }

    fn summary(&self) -> String {
        let mut out = format!(
            "Of {} questions:\n\n| engine | decided | CPU s in all | twice as fast as the other two |\n\
             |---|--:|--:|--:|\n",
            self.asked
        );
        for (at, (name, ..)) in ENGINES.iter().enumerate() {
            let fastest = match at {
                0 => String::new(),
                _ => self.fastest[at].to_string(),
            };
            out += &format!(
                "| {name} | {} | {:.2} | {fastest} |\n",
                self.decided[at], self.seconds[at]
            );
        }
        out
    }
}
