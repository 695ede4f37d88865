//! Regenerates the tables in `results/`: `make tables`, or `make tables ONLY=table2` for one.

mod c;
mod compare;
mod complete;
mod cpu;
mod growth;
mod integers;
mod optimal;
mod performance;
mod suite;
mod table1;
mod table2;

use fencesmith_testing::programs::header;
use serde_json::Value;
use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::process::Command;

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let results = root.join("results");
    std::fs::create_dir_all(&results)?;
    let write = |name: &str, text: &str| {
        println!("writing results/{name}");
        std::fs::write(results.join(name), text)
    };
    let (options, only): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .partition(|word| word.starts_with("--"));
    let wanted = |name: &str| only.is_empty() || only.iter().any(|other| other == name);
    write("README.md", &readme()?)?;
    if wanted("table1") {
        let (markdown, data) = table1::table1(root)?;
        write("table1.md", &markdown)?;
        write("table1.json", &json_text(&data)?)?;
    }
    if wanted("table2") {
        let (markdown, data) = table2::table2(root)?;
        write("table2.md", &markdown)?;
        write("table2.json", &json_text(&data)?)?;
    }
    if wanted("compare") {
        std::fs::create_dir_all(results.join("plots"))?;
        for (name, text) in compare::files(root)? {
            write(name, &text)?;
        }
    }
    if wanted("c") {
        write("c.md", &c::markdown(root)?)?;
    }
    if wanted("integers") {
        write("integers.md", &integers::markdown(root)?)?;
    }
    if wanted("complete") {
        write("complete.md", &complete::markdown(root)?)?;
    }
    if wanted("growth") {
        std::fs::create_dir_all(results.join("plots"))?;
        for (name, text) in growth::files(root)? {
            write(&name, &text)?;
        }
    }
    if wanted("suite") {
        let runs = optimal::measure(root)?;
        write("optimal.md", &optimal::markdown(&runs)?)?;
        write("optimal.json", &json_text(&optimal::json(&runs))?)?;
        write("suite.md", &suite::markdown(&runs)?)?;
        suite::check(&runs)?;
    }
    if wanted("performance") {
        let quick = options.iter().any(|option| option == "--quick");
        write("performance.md", &performance::markdown(root, quick)?)?;
    }
    Ok(())
}

/// What a command says of all programs of a folder, by the name of the program and the model.
type Answers = BTreeMap<(String, String), Value>;

/// Asks the release binary, on one thread, with a minute for each answer.
fn answers(
    root: &Path,
    command: &[&str],
    folder: &str,
    models: &str,
) -> Result<Answers, Box<dyn Error>> {
    let output = Command::new(root.join("target/release/fencesmith"))
        .current_dir(root)
        .args(command)
        .args([folder, "--model", models])
        .args(["--format", "json", "--threads", "1", "--timeout", "60"])
        .output()?;
    let records: Vec<Value> = serde_json::from_slice(&output.stdout)?;
    let mut all = Answers::new();
    for record in records {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
        let program = text(&record["program"]);
        let name = Path::new(&program).file_stem().unwrap_or_default();
        let name = name.display().to_string();
        all.insert((name, text(&record["config"]["model"])), record);
    }
    Ok(all)
}

fn json_text(data: &Value) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(data)? + "\n")
}

/// The tool and the machine.
fn machine() -> Result<String, Box<dyn Error>> {
    let value = |path: &str, key: &str| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let mut lines = text.lines().filter_map(|line| line.split_once(':'));
        let found = lines.find(|(name, _)| name.trim() == key);
        found.map_or("unknown".to_string(), |(_, value)| value.trim().to_string())
    };
    let kilobytes = value("/proc/meminfo", "MemTotal");
    let kilobytes: f64 = kilobytes.trim_end_matches(" kB").parse().unwrap_or(0.0);
    Ok(format!(
        "- tool: fencesmith {}\n\
         - processor: {}, {} cores\n\
         - memory: {:.0} GiB\n",
        env!("CARGO_PKG_VERSION"),
        value("/proc/cpuinfo", "model name"),
        std::thread::available_parallelism()?,
        kilobytes / (1 << 20) as f64,
    ))
}

/// What the files are and where they were made.
fn readme() -> Result<String, Box<dyn Error>> {
    Ok(format!(
        "# Results\n\n\
         Written by `make tables` (`cargo run --release --example tables`). Everything but the \
         seconds, and the rows that a limit ended, is the same in every run.\n\n\
         | file | what it is |\n|---|---|\n\
         | [table1.md](table1.md), [table1.json](table1.json) | Table 1 of Kuperstein, Vechev \
         and Yahav (PLDI 2011): verification of programs with their fences under three \
         abstractions, theirs beside ours |\n\
         | [table2.md](table2.md), [table2.json](table2.json) | Table 2 of the same paper: \
         inference under five abstractions |\n\
         | [compare.md](compare.md), [compare.json](compare.json), \
         [compare-fenced.json](compare-fenced.json) | FD against PD at each k: precision, fences, \
         states, time |\n\
         | [report.html](report.html), [plots](plots) | the same as a page to explore (`fencesmith \
         report`), with every minimal placement and counterexamples to step through; its plots |\n\
         | [optimal.md](optimal.md), [optimal.json](optimal.json) | the cheapest placement of \
         every program in `algorithms/` under TSO and PSO, whether it is optimal, and what it \
         took to find it |\n\
         | [suite.md](suite.md) | the same, one line a program, beside the size of the program \
         and what was published about it |\n\
         | [complete.md](complete.md) | which engine decides which program, and what that takes |\n\
         | [growth.md](growth.md) | states and time against the number of processes, with and \
         without each reduction |\n\
         | [performance.md](performance.md) | speed and memory, as the benches print them \
         (`make performance`) |\n\n\
         The machine of the last run; files that it did not write may be of another one:\n\n\
         {}\
         - limits: {} s and {} GiB for each program and model\n",
        machine()?,
        optimal::SECONDS,
        optimal::MEMORY >> 30,
    ))
}
