//! Speed and memory, as the benches print them.

use super::machine;
use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// What is measured: a heading, what it is about, and the command.
const MEASURED: [(&str, &str, &[&str]); 4] = [
    (
        "Exploration",
        "PSO, one instruction per step, all states, or the first so many where it says \"a part\"; of four runs in turn the fastest.",
        &["cargo", "bench", "--locked", "--bench", "explore", "--"],
    ),
    (
        "Labelling, and the engines beside one another",
        "The space labelled with formulas, and inference by each engine.",
        &["cargo", "bench", "--locked", "--bench", "infer", "--"],
    ),
    (
        "Litmus tests",
        "Generated tests of two to four processes.",
        &["cargo", "bench", "--locked", "--bench", "litmus"],
    ),
    (
        "Beside Spin, at equal counts",
        "The filter lock for three processes under PSO with buffers of length 1, one thread each; the best of several runs in turn.",
        &["benches/peers/run.sh"],
    ),
];

/// The page; with `quick`, the benches leave out what takes long.
pub fn markdown(root: &Path, quick: bool) -> Result<String, Box<dyn Error>> {
    let mut out = format!(
        "# Performance\n\n\
         Written by `make performance{}` from what the benches print. Seconds differ from run to \
         run, and on a machine that does other work at the same time.\n\n{}\n",
        if quick { " ARGS=--quick" } else { "" },
        machine()?
    );
    for (heading, about, command) in MEASURED {
        let mut words = command.to_vec();
        if quick && words.last() == Some(&"--") {
            words.push("--quick");
        }
        words.retain(|word| *word != "--" || quick);
        let _ = write!(out, "\n## {heading}\n\n{about}\n\n");
        println!("measuring: {}", words.join(" "));
        let run = Command::new(words[0])
            .args(&words[1..])
            .current_dir(root)
            .stderr(Stdio::null())
            .output();
        match run {
            Ok(run) if run.status.success() => {
                let printed = String::from_utf8_lossy(&run.stdout);
                let _ = writeln!(out, "```text\n$ {}", words.join(" "));
                for line in printed.lines().filter(|line| !line.trim().is_empty()) {
                    let _ = writeln!(out, "{}", line.trim_end());
                }
                let _ = writeln!(out, "```");
            }
            _ => {
                let _ = writeln!(
                    out,
                    "Not measured: `{}` could not be run here.",
                    words.join(" ")
                );
            }
        }
    }
    Ok(out)
}
