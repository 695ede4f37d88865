//! How states and time grow with the number of processes, with and without reductions.

use super::cpu;
use fencesmith::compile;
use fencesmith::infer::{Conclusion, InferOptions, infer};
use fencesmith::limits::{Limits, Monitor};
use fencesmith::memory::{Abstraction, Model, Semantics};
use fencesmith::page::{Plot, Series};
use fencesmith::program::{PointSet, Program};
use fencesmith::source::Source;
use fencesmith::verify::{Inconclusive, SearchKind, Strategy, Verdict, VerifyOptions, verify};
use fencesmith::words::grouped;
use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// Time for one search, and its memory.
const SECONDS: u64 = 5;
const MEMORY: u64 = 8 << 30;

/// Time for one search by sets, and for one inference, which takes many of these.
const SETS_SECONDS: u64 = 100;
const INFERENCE_SECONDS: u64 = 200;

/// Algorithms for n processes, and the largest n.
pub const ALGORITHMS: [(&str, usize); 9] = [
    ("bakery", 5),
    ("burns", 6),
    ("clh", 6),
    ("dijkstra", 5),
    ("filter", 5),
    ("lamport-fast", 5),
    ("mcs", 5),
    ("szymanski", 6),
    ("ticket", 6),
];

/// Litmus tests with several processes in each part.
pub const FAMILIES: [(&str, &[&[usize]]); 7] = [
    ("iriw", &[&[2, 2, 2, 2], &[3, 3, 3, 4], &[5, 5, 5, 5]]),
    ("isa2", &[&[2, 2, 2], &[3, 4, 4], &[6, 7, 7]]),
    ("lb", &[&[3, 3], &[6, 6], &[10, 10]]),
    ("mp", &[&[3, 3], &[6, 6], &[10, 10]]),
    ("rwc", &[&[2, 2, 2], &[4, 4, 4], &[6, 7, 7]]),
    ("sb", &[&[3, 3], &[6, 6], &[10, 10]]),
    ("wrc", &[&[2, 2, 2], &[3, 3, 3], &[6, 7, 7]]),
];

/// How states are searched: one after the other, by rows, by sets, and by sets up to who is who.
const WAYS: [(&str, SearchKind, bool); 4] = [
    ("plain", SearchKind::Plain, false),
    ("rows", SearchKind::Rows, false),
    ("sets", SearchKind::Sets, false),
    ("sets and symmetry", SearchKind::Sets, true),
];

/// One verification of a program with its fences; `None` if a limit was reached.
type Measured = Option<(u64, f64)>;

/// The table, and its plots by file name.
pub fn files(root: &Path) -> Result<Vec<(String, String)>, Box<dyn Error>> {
    let folder = root.join("benches/growth");
    let mut out = format!(
        "# More processes\n\n\
         Programs of `benches/growth` for n processes. *Fenced*: `infer`, from the text without \
         fences to a placement that is proved to be optimal, with the choices that the tool \
         makes by itself. The other columns verify the program with these fences, under FD with \
         the k that sufficed: one state after the other, the same states by rows, by sets, and by \
         sets of which those that differ in who is who are one. States, or sets of states, and seconds of CPU time, \
         one thread; a dash: not in {SECONDS} s, by sets not in {SETS_SECONDS} s, to find fences not in {INFERENCE_SECONDS} s.\n\n\
         | program | n | model | fences | fenced, CPU s | k | plain | CPU s | rows | CPU s | sets | \
         CPU s | sets and symmetry | CPU s |\n\
         |---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"
    );
    let mut plots = Vec::new();
    for (name, most) in ALGORITHMS {
        let text = std::fs::read_to_string(folder.join(format!("{name}.fen")))?;
        for model in [Model::Tso, Model::Pso] {
            let mut lines = WAYS.map(|_| Vec::new());
            for n in 2..=most {
                let program = instance(name, &text, &[("n", n)])?;
                let row = algorithm(name, n, model, &program, &mut out)?;
                for (line, measured) in lines.iter_mut().zip(row) {
                    line.extend(measured.map(|(states, _)| (n, states as f64)));
                }
            }
            let plot = plot(name, model, lines);
            plots.push((
                format!("plots/growth-{name}-{model}.svg"),
                plot.standalone(),
            ));
        }
    }
    out += "\n![states against processes](plots/growth-clh-tso.svg) \
            ![states against processes](plots/growth-filter-tso.svg) \
            ![states against processes](plots/growth-bakery-tso.svg)\n\n\
            ## Many short processes\n\n\
            Litmus tests in which each part is played by several processes, without fences: \
            `verify`, with the choices that the tool makes by itself, and by each search alone.\n\n\
            | program | processes | model | answer | CPU s | plain | CPU s | rows | CPU s | sets | \
            CPU s | sets and symmetry | CPU s |\n\
            |---|--:|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";
    for (name, sizes) in FAMILIES {
        let text = std::fs::read_to_string(folder.join(format!("{name}.fen")))?;
        for sizes in sizes {
            let constants = ["n1", "n2", "n3", "n4"]
                .into_iter()
                .zip(sizes.iter().copied());
            let constants: Vec<_> = constants.collect();
            let program = instance(name, &text, &constants)?;
            let numbers: Vec<String> = sizes.iter().map(usize::to_string).collect();
            let name = format!("{name}_{}", numbers.join("_"));
            for model in [Model::Tso, Model::Pso] {
                family(&name, model, &program, &mut out)?;
            }
        }
    }
    let mut files = vec![("growth.md".to_string(), out)];
    files.append(&mut plots);
    Ok(files)
}

/// A program with other constants.
pub fn instance(
    name: &str,
    text: &str,
    constants: &[(&str, usize)],
) -> Result<Program, Box<dyn Error>> {
    let mut text = text.to_string();
    for (constant, value) in constants {
        let begin = text.find(&format!("const {constant} = "));
        let begin = begin.ok_or_else(|| format!("{name}: no constant {constant}"))?;
        let end = begin + text[begin..].find(';').ok_or("a declaration ends")?;
        text.replace_range(begin..end, &format!("const {constant} = {value}"));
    }
    let source = Source::new(name, text);
    compile(&source).map_err(|_| format!("{name} does not compile").into())
}

fn options(model: Model, seconds: u64) -> VerifyOptions {
    VerifyOptions {
        limits: Limits {
            max_states: None,
            max_memory: Some(MEMORY),
            deadline: Some(Instant::now() + Duration::from_secs(seconds)),
        },
        ..VerifyOptions::refining(model)
    }
}

/// A row about an algorithm, and what was measured in each way.
fn algorithm(
    name: &str,
    n: usize,
    model: Model,
    program: &Program,
    out: &mut String,
) -> Result<[Measured; WAYS.len()], Box<dyn Error>> {
    let begin = cpu::seconds();
    let inference = infer(
        program,
        &InferOptions::new(
            options(model, INFERENCE_SECONDS),
            vec![Some(1); program.points.len()],
        ),
        &Monitor::default(),
    );
    let seconds = cpu::seconds() - begin;
    let fences = match &inference.conclusion {
        Conclusion::Correct(_) => Some(PointSet::new()),
        Conclusion::Placed(placed) => Some(placed.best.fences.clone()),
        _ => None,
    };
    println!("{name}-{n} {model}: {seconds:.2} s");
    let Some(fences) = fences else {
        let model = model.upper();
        writeln!(out, "| {name} | {n} | {model} | – | – | | | | | | | | | |")?;
        return Ok([None; WAYS.len()]);
    };
    let k = inference.abstraction.k().unwrap_or(0);
    let fenced = program.fenced(&fences);
    let measured = WAYS.map(|(_, search, symmetry)| measure(&fenced, model, k, search, symmetry));
    write!(
        out,
        "| {name} | {n} | {} | {} | {seconds:.2} | {k} |",
        model.upper(),
        fences.len()
    )?;
    cells(&measured, out)?;
    Ok(measured)
}

fn measure(
    program: &Program,
    model: Model,
    k: usize,
    search: SearchKind,
    symmetry: bool,
) -> Measured {
    let seconds = match search {
        SearchKind::Sets => SETS_SECONDS,
        _ => SECONDS,
    };
    let options = VerifyOptions {
        semantics: Semantics::new(model, Abstraction::Fd { k }),
        strategy: Strategy::Fixed,
        search,
        symmetry,
        ..options(model, seconds)
    };
    let begin = cpu::seconds();
    let answer = verify(program, &options, &Monitor::default());
    let seconds = cpu::seconds() - begin;
    let limited = matches!(
        answer.verdict,
        Verdict::Inconclusive(Inconclusive::Limit(_))
    );
    (!limited).then_some((answer.statistics.states, seconds))
}

fn cells(measured: &[Measured], out: &mut String) -> std::fmt::Result {
    for measured in measured {
        match measured {
            Some((states, seconds)) => write!(out, " {} | {seconds:.2} |", grouped(*states))?,
            None => write!(out, " – | – |")?,
        }
    }
    writeln!(out)
}

fn family(
    name: &str,
    model: Model,
    program: &Program,
    out: &mut String,
) -> Result<(), Box<dyn Error>> {
    let fenced = program.fenced(&PointSet::new());
    let begin = cpu::seconds();
    let answer = verify(&fenced, &options(model, SECONDS), &Monitor::default());
    let seconds = cpu::seconds() - begin;
    let k = answer.abstraction.k().unwrap_or(0);
    let verdict = match answer.verdict {
        Verdict::Correct => "correct",
        Verdict::Violated => "violated",
        Verdict::Inconclusive(_) => "not known",
    };
    println!("{name} {model}: {verdict}, {seconds:.2} s");
    let measured = WAYS.map(|(_, search, symmetry)| measure(&fenced, model, k, search, symmetry));
    write!(
        out,
        "| {name} | {} | {} | {verdict} | {seconds:.2} |",
        program.processes.len(),
        model.upper()
    )?;
    Ok(cells(&measured, out)?)
}

fn plot(name: &str, model: Model, lines: [Vec<(usize, f64)>; WAYS.len()]) -> Plot {
    let classes = ["fd", "set", "pd", "best"];
    let series = WAYS.iter().zip(classes).zip(lines);
    Plot {
        title: format!("{name} under {}", model.upper()),
        subtitle: "states, or sets of states, with the fewest fences".to_string(),
        x: "processes".to_string(),
        log: true,
        unit: "",
        series: series
            .map(|((way, class), points)| Series {
                name: way.0.to_string(),
                class,
                dashed: false,
                points,
            })
            .collect(),
        faint: Vec::new(),
    }
}
