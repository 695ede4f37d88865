//! The programs with integers without bound: what is answered, what that takes, and what others
//! have published.

use crate::answers;
use fencesmith::words::grouped;
use serde_json::Value;
use std::error::Error;
use std::fmt::Write;
use std::path::Path;

const FOLDER: &str = "algorithms/integers";

/// Fences per process, predicates and seconds of Abdulla, Atig, Chen, Leonardsson, Rezine 2012
/// (SAS), table 1, under TSO.
const PUBLISHED: [(&str, u64, u64, &str); 8] = [
    ("burns", 1, 1, "0.02"),
    ("simple-dekker", 1, 1, "0.04"),
    ("dekker-goto", 1, 1, "0.06"),
    ("dijkstra", 1, 4, "0.35"),
    ("bakery", 2, 17, "154"),
    ("lamport-fast", 2, 4, "2"),
    ("peterson", 1, 6, "2"),
    ("ticket", 0, 2, "2"),
];

/// Fences in all processes of Dan, Meshman, Vechev, Yahav 2015 (SAS), table 1, TSO and PSO, for
/// programs whose text it does not print.
const RELATED: [(&str, &str, &str); 13] = [
    ("sequence", "Abp", "0 / 0"),
    ("bakery", "Bakery", "4 / 4"),
    ("concloop", "Concloop", "2 / 2"),
    ("dekker", "Dekker", "6 / 4"),
    ("kessels", "Kessels", "4 / 4"),
    ("loop2-tlm", "Loop2-TLM", "2 / 2"),
    ("peterson", "Peterson", "2 / 4"),
    ("pgsql", "Pgsql", "3 / 1"),
    ("spsc", "Queue", "1 / 1"),
    ("sober", "Sober", "2 / 3"),
    ("szymanski", "Szymanski", "3 / 4"),
    ("chase-lev", "Chase-Lev", "2 / 4"),
    ("the", "THE", "4 / 4"),
];

fn constants(answer: &Value) -> u64 {
    let count = |name: &str| answer["thresholds"][name].as_array().map_or(0, Vec::len) as u64;
    count("differences") + count("single")
}

fn cost(answer: &Value) -> String {
    match answer["outcome"].as_str() {
        Some("correct") => "0".to_string(),
        Some("placed") => answer["placement"]["cost"].to_string(),
        Some("incorrect-under-sc") => "–".to_string(),
        _ => "?".to_string(),
    }
}

pub fn markdown(root: &Path) -> Result<String, Box<dyn Error>> {
    let verdicts = answers(root, &["verify"], FOLDER, "sc,tso,pso")?;
    let joined = answers(root, &["verify", "--join"], FOLDER, "sc,tso,pso")?;
    let placements = answers(root, &["infer"], FOLDER, "tso,pso")?;
    let mut out = "# Integers without bound\n\n\
        Every program of `algorithms/integers`, one thread. No constants or predicates are given: \
        they are found. *Constants* are those that differences of two integers and single integers \
        were compared with in the end; *join* says whether one zone for all integers of a state of \
        the rest (`--join`) is enough for the same verdict.\n\n\
        ## Verdicts\n\n\
        | program | model | verdict | k | constants | states | s | join |\n\
        |---|---|---|--:|--:|--:|--:|---|\n"
        .to_string();
    for ((name, model), answer) in &verdicts {
        let states = grouped(answer["stats"]["states"].as_u64().unwrap_or(0));
        let seconds = answer["timing"]["total_s"].as_f64().unwrap_or(0.0);
        let join = &joined[&(name.clone(), model.clone())]["outcome"];
        writeln!(
            out,
            "| {name} | {} | {} | {} | {} | {states} | {seconds:.2} | {} |",
            model.to_uppercase(),
            answer["outcome"].as_str().unwrap_or("?"),
            answer["config"]["k"],
            constants(answer),
            if *join == answer["outcome"] {
                "yes"
            } else {
                "no"
            },
        )?;
    }
    out.push_str(
        "\n## Fences\n\n\
        A fence in a template is one fence, which stands in every process: what others call fences \
        per process. Published: Abdulla, Atig, Chen, Leonardsson, Rezine 2012 (SAS), table 1 (TSO; \
        fences per process, predicates, seconds on a laptop of 2.27 GHz).\n\n\
        | program | TSO | s | PSO | s | largest search | constants | published | predicates | s |\n\
        |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut names: Vec<&String> = placements.keys().map(|(name, _)| name).collect();
    names.dedup();
    for name in names {
        let [tso, pso] = ["tso", "pso"].map(|model| &placements[&(name.clone(), model.into())]);
        let seconds = |answer: &Value| answer["timing"]["total_s"].as_f64().unwrap_or(0.0);
        let peak = |answer: &Value| answer["stats"]["peak_states"].as_u64().unwrap_or(0);
        let published = PUBLISHED.iter().find(|(known, ..)| known == name);
        let published = published.map_or("| | |".to_string(), |(_, fences, predicates, time)| {
            format!("| {fences} | {predicates} | {time}")
        });
        writeln!(
            out,
            "| {name} | {} | {:.2} | {} | {:.2} | {} | {} {published} |",
            cost(tso),
            seconds(tso),
            cost(pso),
            seconds(pso),
            grouped(peak(tso).max(peak(pso))),
            constants(tso).max(constants(pso)),
        )?;
    }
    out.push_str(
        "\nThe table of 2012 does not print its programs. Its full Dekker has one fence, which is what \
        the form with one statement that raises the flag needs (`dekker-goto`: who gave way starts \
        again from the top); the form with two such statements (`dekker`) needs one behind each.\n\n\
        ## Beside Dan, Meshman, Vechev, Yahav 2015 (SAS), table 1\n\n\
        Their programs are not printed; these are reconstructions with the same names. They count \
        fences in all processes that their convex analysis needs; ours are proved optimal or come with \
        a certificate, so where ours are fewer, the certificate is the answer. A fence in a template \
        stands in every process.\n\n\
        | theirs | ours | fences published, TSO / PSO | ours, places in the text |\n|---|---|---|---|\n",
    );
    for (name, theirs, published) in RELATED {
        let cost_of = |model: &str| {
            let found = placements.get(&(name.to_string(), model.to_string()));
            found.map_or("–".to_string(), cost)
        };
        let (tso, pso) = (cost_of("tso"), cost_of("pso"));
        writeln!(out, "| {theirs} | {name} | {published} | {tso} / {pso} |")?;
    }
    Ok(out)
}
