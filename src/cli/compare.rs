//! `fencesmith compare`.

use super::args::{self, CompareFormat};
use super::programs::Programs;
use super::run_cells::{self, SweepRequest};
use super::streams::{print, stdout_paint};
use super::verify::json_text;
use super::{Exit, Failure, conclude};
use crate::experiment::{
    Comparison, Entry, Settings, compare, comparison_cells, comparison_json, comparison_markdown,
    comparison_text, joining_cells, short, short_names,
};
use crate::memory::Model;
use crate::record::ListedProgram;
use serde_json::{Map, json};

/// FD against PD, side by side; of integers without bound, many zones against one.
pub fn run(args: &args::Compare) -> Result<Exit, Failure> {
    let ks: Option<Vec<usize>> = args.k.0.iter().copied().collect();
    let Some(ks) = ks else {
        return Err(Failure::message(
            "--k auto has no place here: FD and PD are compared at each k",
        ));
    };
    let models: Vec<Model> = args::distinct(&args.model);
    let names: Vec<String> = models.iter().map(Model::to_string).collect();
    let mut options = Map::from_iter([
        ("model".to_string(), json!(names)),
        ("k".to_string(), json!(ks)),
    ]);
    if args.fenced {
        options.insert("fenced".to_string(), json!(true));
    }
    let request = SweepRequest {
        command: "compare",
        options,
        settings: Settings {
            full: !args.fenced,
            ..run_cells::settings(&args.cells)
        },
    };
    let cells = |programs: &Programs| {
        let cells = programs.names().flat_map(|name| {
            match programs.subjects[name].program.has_integers() {
                true => joining_cells([name], &models),
                false => comparison_cells([name], &models, &ks, args.fenced),
            }
        });
        cells.collect()
    };
    let answered = match run_cells::answer(&args.cells, request, cells, files)? {
        Ok(answered) => answered,
        Err(exit) => return Ok(exit),
    };
    let comparisons = compare(&answered.entries);
    let common = &args.cells.common;
    let paint = stdout_paint();
    print(&match common.format {
        CompareFormat::Text => {
            let folder = short_names(&answered.programs);
            comparison_text(&comparisons, |name| short(&folder, name), paint)
        }
        CompareFormat::Markdown => markdown(&comparisons, &answered.programs),
        CompareFormat::Json => json_text(&comparison_json(&comparisons)),
    })?;
    Ok(conclude(answered.exit, &answered.failures))
}

fn markdown(comparisons: &[Comparison], programs: &[ListedProgram]) -> String {
    let folder = short_names(programs);
    comparison_markdown(comparisons, |name| short(&folder, name))
}

fn files(entries: &[Entry], programs: &[ListedProgram]) -> Vec<(&'static str, String)> {
    let comparisons = compare(entries);
    vec![
        ("compare.md", markdown(&comparisons, programs)),
        ("compare.json", json_text(&comparison_json(&comparisons))),
    ]
}
