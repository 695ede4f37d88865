//! Results that somebody else wrote: whatever stands in them, there is a page or a message, and
//! no text becomes markup.

use super::*;
use crate::experiment::{Finished, Question, Resources, Settings, Subject, comparison_cells};
use crate::limits::Monitor;
use crate::lower::compile;
use crate::memory::{AbstractionKind, Atomics, Model};
use crate::record::Manifest;
use crate::report::text::Paint;
use crate::source::Source;
use serde_json::{Map, Value as Json, json};
use std::panic::catch_unwind;

const NAME: &str = "sb.fen";
const TEXT: &str = "shared bool x, y;
process p { bool r; store x = true; load r = y; }
process q { bool r; store y = true; load r = x; }
final p.r || q.r;
";

/// Cells of a small program at two values of k, some that show violations and some that place
/// fences.
fn finished() -> Vec<Finished> {
    let source = Source::new(NAME, TEXT);
    let program = compile(&source).expect("the program is well formed");
    let subject = Subject { source, program };
    let settings = Settings {
        timeout: None,
        max_memory: None,
        max_states: None,
        atomics: Atomics::DrainPlace,
        fuse: true,
        full: true,
        stuck: false,
        all: Some(4),
    };
    let resources = Resources {
        threads: 1,
        memory: None,
    };
    let mut cells = comparison_cells([NAME], &[Model::Tso], &[0, 1], false);
    cells.retain(|cell| cell.abstraction == AbstractionKind::Fd);
    let monitor = Monitor::default();
    let answer = |cell| {
        let question = Question {
            subject: &subject,
            cell,
            settings: &settings,
            resources,
        };
        question.answer(None, &monitor)
    };
    cells.iter().map(answer).collect()
}

/// The files of a sweep by name; those with lines are arrays.
fn sweep() -> Json {
    let finished = finished();
    let lines = |of: fn(&Finished) -> Json| finished.iter().map(of).collect::<Json>();
    let programs = vec![
        ListedProgram::readable(&Source::new(NAME, TEXT)),
        ListedProgram::broken("none.fen", "error: no process"),
    ];
    json!({
        "sweep.json": Manifest::new("compare", Map::new(), programs),
        "cells.jsonl": lines(|finished| json!(finished.record)),
        "measured.jsonl": lines(|finished| json!(finished.measured)),
    })
}

/// What `verify` and `infer` print about the same program.
fn answers() -> Json {
    let answer = |finished: &Finished| {
        let mut answer = json!(finished.record.report);
        answer["program"] = json!(NAME);
        answer["source"] = json!(TEXT);
        answer["timing"] = json!({ "total_s": 0.5, "states_per_s": 10.0, "peak_bytes": 64 });
        answer
    };
    finished().iter().map(answer).collect()
}

/// The page of results in a file or a folder, or the message.
fn page_of(results: &Path) -> Result<String, String> {
    let read = read(&[results.to_path_buf()]);
    let (programs, entries) = read.map_err(|failure| failure.render(Paint { color: false }))?;
    Ok(page::render("results", &programs, &entries))
}

fn page_of_answers(answers: &Json) -> Result<String, String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("answers.json");
    std::fs::write(&path, answers.to_string()).expect("it can be written");
    page_of(&path)
}

fn page_of_sweep(files: &Json) -> Result<String, String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, content) in files.as_object().expect("files by name") {
        let text = match content {
            Json::Array(lines) => lines.iter().map(|line| format!("{line}\n")).collect(),
            whole => whole.to_string(),
        };
        std::fs::write(folder.path().join(name), text).expect("it can be written");
    }
    page_of(folder.path())
}

/// A JSON pointer to every value below the root, with at most two elements of each array.
fn pointers(value: &Json) -> Vec<String> {
    let parts: Vec<(String, &Json)> = match value {
        Json::Object(fields) => {
            let escaped = |name: &str| name.replace('~', "~0").replace('/', "~1");
            let fields = fields.iter();
            fields.map(|(name, value)| (escaped(name), value)).collect()
        }
        Json::Array(elements) => {
            let elements = elements.iter().take(2).enumerate();
            elements
                .map(|(index, value)| (index.to_string(), value))
                .collect()
        }
        _ => Vec::new(),
    };
    let mut all = Vec::new();
    for (name, value) in parts {
        let below = pointers(value);
        all.push(format!("/{name}"));
        all.extend(below.iter().map(|below| format!("/{name}{below}")));
    }
    all
}

/// The value without what a pointer names.
fn without(mut value: Json, pointer: &str) -> Json {
    let (parent, name) = pointer.rsplit_once('/').expect("pointers have a slash");
    match value.pointer_mut(parent) {
        Some(Json::Object(fields)) => {
            fields.shift_remove(&name.replace("~1", "/").replace("~0", "~"));
        }
        Some(Json::Array(elements)) => {
            elements.remove(name.parse().expect("an index"));
        }
        _ => panic!("{pointer} names nothing"),
    }
    value
}

/// Every value is left out, and replaced by some others, which take turns; nothing may panic.
fn change_everything(valid: &Json, page: fn(&Json) -> Result<String, String>) {
    let complete = page(valid).expect("valid results give a page");
    assert!(complete.contains("<svg") && complete.contains("class=\"timeline\""));
    let others = [
        Json::Null,
        json!(-1),
        json!(0),
        json!(u64::MAX),
        json!(1.5e308),
        json!("text"),
        json!([]),
        json!({}),
    ];
    let mut given = [0, 0];
    for (turn, pointer) in pointers(valid).into_iter().enumerate() {
        let some = others.iter().cycle().skip(2 * turn % others.len()).take(2);
        let replaced = some.map(|other| {
            let mut changed = valid.clone();
            *changed.pointer_mut(&pointer).expect("it names a value") = other.clone();
            (other.to_string(), changed)
        });
        let left_out = ("left out".to_string(), without(valid.clone(), &pointer));
        for (how, changed) in replaced.chain([left_out]) {
            let result = catch_unwind(|| page(&changed));
            let result = result.unwrap_or_else(|_| panic!("{pointer}: {how}"));
            given[usize::from(result.is_ok())] += 1;
        }
    }
    assert!(given.iter().all(|count| *count > 50), "{given:?}");
}

#[test]
fn changed_answers_give_a_page_or_a_message() {
    change_everything(&answers(), page_of_answers);
}

#[test]
fn a_changed_sweep_gives_a_page_or_a_message() {
    change_everything(&sweep(), page_of_sweep);
}

/// The answer of `verify` with a violation.
fn violated() -> Json {
    let mut answers = answers();
    let answers = answers.as_array_mut().expect("an array");
    let violated = answers
        .iter()
        .position(|answer| answer["outcome"] == "violated");
    answers.remove(violated.expect("it is violated under TSO"))
}

/// What the page gives its script.
fn embedded(page: &str) -> Vec<Json> {
    let parts = page.split("<script type=\"application/json\">").skip(1);
    parts
        .map(|part| {
            let (data, _) = part.split_once("</script>").expect("it ends");
            serde_json::from_str(data).expect("it is JSON")
        })
        .collect()
}

#[test]
fn memory_that_a_step_does_not_tell_is_unknown() {
    let mut answer = violated();
    let steps = answer["trace"].as_array_mut().expect("a trace");
    assert!(steps.len() >= 3);
    steps[0] = without(steps[0].clone(), "/memory");
    steps[1]["memory"] = json!({ "x": 1, "z": 2 });
    let page = page_of_answers(&json!([answer]));
    let data = embedded(&page.expect("there is a page"));
    let trace = &data[0]["traces"][0];
    assert_eq!(trace["places"], json!(["x", "z", "y"]));
    assert_eq!(trace["initial"]["memory"], json!([0, null, 0]));
    assert_eq!(trace["steps"][0]["memory"], json!([null, null, null]));
    assert_eq!(trace["steps"][1]["memory"], json!([1, 2, null]));
}

const HOSTILE: &str =
    "<img src=x onerror=alert(1)></script><script>alert(1)</script><!--<script>\"'&";

/// The same results with markup in every text and name that is not one of a fixed list.
fn hostile(value: &mut Json) {
    const FIXED: [&str; 13] = [
        "schema",
        "command",
        "config",
        "model",
        "mode",
        "abstraction",
        "engine",
        "search",
        "outcome",
        "optimality",
        "position",
        "kind",
        "without",
    ];
    match value {
        Json::String(text) => text.push_str(HOSTILE),
        Json::Array(elements) => elements.iter_mut().for_each(hostile),
        Json::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                if !FIXED.contains(&name.as_str()) {
                    hostile(value);
                }
                if ["memory", "locals", "at", "buffers"].contains(&name.as_str()) {
                    rename_keys(value);
                }
            }
        }
        _ => {}
    }
}

/// Places, processes and locals are named by keys.
fn rename_keys(value: &mut Json) {
    if let Json::Object(fields) = value {
        let named = std::mem::take(fields).into_iter();
        let renamed = named.map(|(name, mut value)| {
            rename_keys(&mut value);
            (name + HOSTILE, value)
        });
        *fields = renamed.collect();
    }
}

#[test]
fn no_text_becomes_markup() {
    let mut files = sweep();
    let mut answers = answers();
    hostile(&mut answers);
    for file in files.as_object_mut().expect("files by name").values_mut() {
        hostile(file);
    }
    for page in [page_of_answers(&answers), page_of_sweep(&files)] {
        let page = page.expect("it is well formed");
        assert!(page.contains("&lt;img src=x onerror=alert(1)&gt;"));
        assert!(!page.contains("<img") && !page.contains("<!--"));
        let data = embedded(&page);
        assert!(data[0].to_string().contains("<img"));
        assert_eq!(page.matches("<script").count(), data.len() + 1);
        assert_eq!(page.matches("</script").count(), data.len() + 1);
    }
}
