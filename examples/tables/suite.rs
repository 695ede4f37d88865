//! All programs, one line each: how large they are, what they need, what was published.

use super::header::{Answer, Fact, Question, find};
use super::optimal::{Cell, Run, or_dash};
use fencesmith::infer::{Conclusion, Optimality};
use fencesmith::memory::{Abstraction, Atomics, Model};
use fencesmith::verify::MOST_K;
use fencesmith::words::grouped;
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
         *states* and *seconds* are what finding them took over all rounds. *Proved at k* is the \
         shortest head with which FD proves the program as it stands. *Published* is the figure of \
         a paper for that model, less the fences that stand in the text; where it is not ours, or \
         counts otherwise, the header of the program says why:\n\n",
    );
    for (authors, short) in PAPERS {
        writeln!(out, "- {short}: {authors}")?;
    }
    out.push_str(
        "\n| program | processes | places | lines | fences | optimal | states | seconds | proved at k | published |\n\
         |---|---:|---:|---:|---|---|---|---|---|---|\n",
    );
    for run in runs {
        let both = |show: &dyn Fn(usize) -> String| format!("{} / {}", show(0), show(1));
        let cells = &run.cells;
        let lines = run.source.text().lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
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
            both(&|at| or_dash(proved_at(run, cells[at].model))),
            published(run),
        )?;
    }
    Ok(out)
}

/// The shortest head with which FD proves the program as it stands.
fn proved_at(run: &Run, model: Model) -> Option<u64> {
    let proves = |k: &usize| {
        let abstraction = Abstraction::Fd { k: *k };
        let question = Question::Verify(model, abstraction, Atomics::DrainPlace);
        let fact = find(&run.header.expected, question);
        fact.is_some_and(|fact| fact.answer == Answer::Correct)
    };
    (0..=MOST_K).find(proves).map(|k| k as u64)
}

/// The figures whose source is a paper.
fn published(run: &Run) -> String {
    let figure = |fact: &Fact| {
        let (model, cost) = match (fact.question, fact.answer) {
            (Question::Fences(model), Answer::Cost(cost)) => (model, cost.to_string()),
            (Question::Fences(model), Answer::Incorrect) => (model, "incorrect".to_string()),
            _ => return None,
        };
        let paper = |(authors, _): &&(&str, &str)| fact.source.starts_with(*authors);
        let (authors, short) = PAPERS.iter().find(paper)?;
        let place = &fact.source[authors.len()..];
        let model = model.to_string().to_uppercase();
        Some(format!("{model} {cost} ({short}{place})"))
    };
    let facts = run.header.expected.iter().chain(&run.header.published);
    facts.filter_map(figure).collect::<Vec<_>>().join("; ")
}

/// The placements against the headers, of the programs too that are too large for a test.
pub fn check(runs: &[Run]) -> Result<(), Box<dyn Error>> {
    let cells = runs
        .iter()
        .flat_map(|run| run.cells.iter().map(move |cell| (run, cell)));
    let wrong: Vec<String> = cells
        .filter_map(|(run, cell)| {
            let expected = run.header.fact(Question::Fences(cell.model)).answer;
            let say = || format!("{} {}: not {expected:?}\n", run.name, cell.model);
            (answer(cell) != Some(expected)).then(say)
        })
        .collect();
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.concat().into()),
    }
}

/// What was found, in the words of a header.
fn answer(cell: &Cell) -> Option<Answer> {
    Some(match &cell.found.conclusion {
        Conclusion::Correct(_) => Answer::Cost(0),
        Conclusion::IncorrectUnderSc(..) => Answer::Incorrect,
        Conclusion::Placed(placed) => match placed.optimality {
            Optimality::Exact => Answer::Cost(placed.best.cost),
            _ => Answer::AtMost(placed.best.cost),
        },
        _ => return None,
    })
}
