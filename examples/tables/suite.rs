//! All programs, one line each: how large they are, what they need, what was published.

use super::optimal::{Run, or_dash};
use fencesmith::report::text::grouped;
use fencesmith::verify::Model;
use std::error::Error;
use std::fmt::Write;

/// The papers that headers name.
const PAPERS: [(&str, &str); 4] = [
    ("Kuperstein, Vechev, Yahav 2011", "KVY 2011"),
    (
        "Abdulla, Atig, Chen, Leonardsson, Rezine, SAS 2012",
        "AACLR-S 2012",
    ),
    (
        "Abdulla, Atig, Chen, Leonardsson, Rezine 2012",
        "AACLR 2012",
    ),
    ("Dan, Meshman, Vechev, Yahav 2015", "DMVY 2015"),
];

pub fn markdown(runs: &[Run]) -> Result<String, Box<dyn Error>> {
    let mut out = String::from(
        "# The suite\n\n\
         Every program in `algorithms/`. *Places* are shared variables and array cells; *lines* \
         are those that hold more than a comment. *Fences* are positions in the text under TSO / \
         PSO, *optimal* says whether no cheaper placement exists on the memory model itself, \
         *states* and *seconds* are what finding them took over all rounds. *Published* is the \
         figure of a paper for that model, less the fences that stand in the text:\n\n",
    );
    for (authors, short) in PAPERS {
        writeln!(out, "- {short}: {authors}")?;
    }
    out.push_str(
        "\n| program | processes | places | lines | fences | optimal | states | seconds | published |\n\
         |---|---:|---:|---:|---|---|---|---|---|\n",
    );
    for run in runs {
        let both = |show: &dyn Fn(usize) -> String| format!("{} / {}", show(0), show(1));
        let cells = &run.cells;
        let lines = run.source.text().lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            run.name,
            run.program.processes.len(),
            run.program.places.len(),
            lines.count(),
            both(&|at| or_dash(cells[at].cost)),
            both(&|at| {
                let word = match cells[at].optimality() {
                    "exact" => "yes",
                    "–" => "–",
                    _ => "not known",
                };
                word.to_string()
            }),
            both(&|at| match cells[at].stopped() {
                true => "–".to_string(),
                false => grouped(cells[at].found.states),
            }),
            both(&|at| format!("{:.2}", cells[at].seconds)),
            published(run),
        )?;
    }
    Ok(out)
}

/// The figures whose source is a paper.
fn published(run: &Run) -> String {
    let figure = |model: Model| {
        let start = format!("// known {model}: cost ");
        let mut lines = run.source.text().lines();
        let (cost, source) = lines
            .find_map(|line| line.strip_prefix(&start))?
            .split_once(" (source: ")?;
        let source = source.trim_end_matches(')');
        let (authors, short) = PAPERS.iter().find(|(paper, _)| source.starts_with(paper))?;
        let rest = &source[authors.len()..];
        Some(
            format!("{model} {cost} ({short}{rest})")
                .replace("tso", "TSO")
                .replace("pso", "PSO"),
        )
    };
    let figures = [Model::Tso, Model::Pso].into_iter().filter_map(figure);
    figures.collect::<Vec<_>>().join("; ")
}
