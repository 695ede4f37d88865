//! The programs in C: what is answered, and what that takes.

use crate::answers;
use fencesmith::words::grouped;
use std::error::Error;
use std::fmt::Write;
use std::path::Path;

pub fn markdown(root: &Path) -> Result<String, Box<dyn Error>> {
    let verdicts = answers(root, &["verify"], "algorithms/c", "sc,tso,pso")?;
    let placements = answers(root, &["infer"], "algorithms/c", "tso,pso")?;
    let mut out = "# Programs in C\n\n\
        Every program of `algorithms/c`: the verdict with unbounded buffers and loops, the states (or \
        sets of states) of the search that gave it, and seconds, one thread, as `verify` and `infer` \
        report them; then the fewest fences. A dash: no fence helps. Bounded checkers unroll the \
        spin loops of these programs and answer for so many rounds only; the programs are our own, \
        so there are no published figures for them.\n\n\
        | program | SC | states | s | TSO | states | s | PSO | states | s | fences TSO / PSO | s |\n\
        |---|---|--:|--:|---|--:|--:|---|--:|--:|---|--:|\n"
        .to_string();
    let mut names: Vec<&String> = verdicts.keys().map(|(name, _)| name).collect();
    names.dedup();
    for name in names {
        write!(out, "| {name} |")?;
        for model in ["sc", "tso", "pso"] {
            let answer = &verdicts[&(name.clone(), model.to_string())];
            let outcome = answer["outcome"].as_str().unwrap_or("?");
            let states = grouped(answer["stats"]["states"].as_u64().unwrap_or(0));
            let seconds = answer["timing"]["total_s"].as_f64().unwrap_or(0.0);
            write!(out, " {outcome} | {states} | {seconds:.2} |")?;
        }
        let mut costs = Vec::new();
        let mut seconds = 0.0;
        for model in ["tso", "pso"] {
            let answer = &placements[&(name.clone(), model.to_string())];
            seconds += answer["timing"]["total_s"].as_f64().unwrap_or(0.0);
            costs.push(match answer["outcome"].as_str() {
                Some("correct") => "0".to_string(),
                Some("placed") => answer["placement"]["cost"].to_string(),
                Some("incorrect-under-sc") => "–".to_string(),
                _ => "?".to_string(),
            });
        }
        writeln!(out, " {} | {seconds:.2} |", costs.join(" / "))?;
    }
    Ok(out)
}
