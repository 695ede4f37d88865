//! The engines of `infer` and what it says about placements, as a person sees them.

use crate::binary::{Ran, algorithm, file, json, run};
use serde_json::Value;
use std::collections::BTreeSet;

fn infer(name: &str, more: &[&str]) -> Ran {
    run(&[&["infer", &algorithm(name)], more].concat())
}

fn answer(name: &str, more: &[&str]) -> Value {
    let ran = infer(name, &[more, &["--format", "json"]].concat());
    let mut answers = json(&ran);
    assert_eq!(answers.len(), 1, "{ran:?}");
    answers.remove(0)
}

/// The placements as sets of places.
fn placements(answer: &Value) -> BTreeSet<Vec<String>> {
    let place = |fence: &Value| {
        format!(
            "{}:{}:{}",
            fence["line"], fence["column"], fence["position"]
        )
    };
    let fences = |placement: &Value| {
        assert_eq!(placement["verified"], true);
        let fences = placement["fences"].as_array().expect("a list");
        fences.iter().map(place).collect()
    };
    let all = answer["placements"].as_array().expect("a list");
    all.iter().map(fences).collect()
}

#[test]
fn lazy_and_points_find_the_same_placements() {
    let programs = [
        ("mutex/peterson", "pso"),
        ("mutex/peterson", "tso"),
        ("mutex/simple-dekker", "pso"),
        ("mutex/burns-2", "pso"),
        ("paper/sense0", "pso"),
        ("paper/fast1a", "pso"),
        ("lock/tas", "pso"),
        ("litmus/sb", "tso"),
        ("litmus/2+2w", "pso"),
        ("litmus/iriw", "pso"),
    ];
    for (name, model) in programs {
        let with = |engine| {
            let common = ["--model", model, "--k", "1", "--all", "--engine", engine];
            answer(name, &common)
        };
        let (lazy, points) = (with("lazy"), with("points"));
        assert_eq!(lazy["outcome"], points["outcome"], "{name} {model}");
        assert_eq!(lazy["config"]["engine"], "lazy");
        assert_eq!(points["config"]["engine"], "points");
        if lazy["outcome"] == "placed" {
            let cost = |answer: &Value| answer["placement"]["cost"].clone();
            assert_eq!(cost(&lazy), cost(&points), "{name} {model}");
            assert_eq!(placements(&lazy), placements(&points), "{name} {model}");
            assert!(
                points["stats"]["formulas"].as_u64() > Some(2),
                "{name} {model}"
            );
        }
    }
}

/// The whole space has the states of the old tables, and the same formula and placements. What
/// labelling takes depends on nothing but the program.
#[test]
fn the_whole_space_gives_the_same_answer() {
    let common = ["--model", "pso", "--k", "1", "--all", "--formula"];
    let with = |name: &str, more: &[&str]| {
        let mut answer = answer(name, &[&common[..], more].concat());
        assert!(answer["timing"].is_object());
        answer["timing"] = Value::Null;
        answer
    };
    let rows = [
        ("paper/pet0", "points", "fd", 1_167, 303_108),
        ("paper/pet0", "ordering", "fd", 976, 205_176),
        ("paper/pet0", "points", "pd", 136_680, 136_680),
        ("paper/fast1a", "ordering", "fd", 11_252, 68_221),
    ];
    for (name, engine, abstraction, relevant, all) in rows {
        let with = |more: &[&str]| {
            let engine = ["--engine", engine, "--abs", abstraction];
            let place = ["--place", "after-store"];
            with(name, &[&engine[..], &place, more].concat())
        };
        let (some, whole) = (with(&[]), with(&["--whole"]));
        assert_eq!(some["stats"]["peak_states"], relevant, "{name} {engine}");
        assert_eq!(whole["stats"]["peak_states"], all, "{name} {engine}");
        assert_eq!(some["config"]["whole"], false);
        assert_eq!(whole["config"]["whole"], true);
        for field in ["outcome", "placement", "placements", "formula"] {
            assert_eq!(some[field], whole[field], "{name} {engine} {field}");
        }
        for threads in ["1", "3"] {
            let again = with(&["--threads", threads]);
            assert_eq!(some, again, "{name} {engine}, {threads} threads");
        }
    }
    let lazy = infer("paper/pet0", &["--whole"]);
    assert_eq!(lazy.code, 2, "{lazy:?}");
}

/// What is merged depends on what is reachable: with all states merged the formula allows no
/// placement, with those that matter it does.
#[test]
fn merging_less_allows_more() {
    let with = |merge: &str, threads: &str| {
        let common = ["--model", "pso", "--abs", "pd", "--k", "0"];
        let engine = ["--engine", "points", "--place", "after-store"];
        let merge = ["--pd-merge", merge, "--threads", threads];
        let mut answer = answer("paper/sense0", &[&common[..], &engine, &merge].concat());
        answer["timing"] = Value::Null;
        answer
    };
    assert_eq!(with("all", "2")["outcome"], "inconclusive");
    let relevant = with("relevant", "2");
    assert_eq!(relevant["placement"]["cost"], 1);
    assert_eq!(relevant["config"]["pd_merge"], "relevant");
    assert_eq!(relevant, with("relevant", "1"));
    let both = infer(
        "paper/sense0",
        &["--engine", "points", "--whole", "--pd-merge", "relevant"],
    );
    assert_eq!(both.code, 2, "{both:?}");
}

/// Published for Peterson's algorithm: under TSO suboptimal at k = 0 and 1, optimal at 2.
#[test]
fn peterson_under_tso_needs_a_head_of_two() {
    for engine in ["points", "ordering"] {
        let cost = |k| {
            let answer = answer(
                "paper/pet0",
                &["--model", "tso", "--engine", engine, "--k", k],
            );
            answer["placement"]["cost"].clone()
        };
        assert_eq!(["0", "1", "2"].map(cost), [2, 2, 1], "{engine}");
    }
}

/// The marks of table 2 that take little time: fences behind stores, on acyclic paths.
#[test]
fn ordering_constraints_as_published() {
    let rows = [
        ("sense0", [Some(2), Some(1), None, Some(1), Some(1)]),
        ("pet0", [Some(2), Some(2), Some(3), Some(3), Some(2)]),
        ("fast1a", [None, Some(2), None, Some(2), Some(2)]),
    ];
    let columns = [
        ("fd", "0"),
        ("fd", "1"),
        ("pd", "0"),
        ("pd", "1"),
        ("pd", "2"),
    ];
    for (name, costs) in rows {
        for ((abstraction, k), cost) in columns.into_iter().zip(costs) {
            let answer = answer(
                &format!("paper/{name}"),
                &[
                    "--model",
                    "pso",
                    "--engine",
                    "ordering",
                    "--paths",
                    "acyclic",
                    "--place",
                    "after-store",
                    "--abs",
                    abstraction,
                    "--k",
                    k,
                ],
            );
            let found = answer["placement"]["cost"].as_u64();
            assert_eq!(found, cost, "{name} {abstraction}{k}");
            let outcome = if cost.is_some() {
                "placed"
            } else {
                "inconclusive"
            };
            assert_eq!(answer["outcome"], outcome, "{name} {abstraction}{k}");
        }
    }
}

#[test]
fn the_formula_is_shown_with_its_lines() {
    let text = infer(
        "litmus/sb",
        &["--model", "tso", "--engine", "ordering", "--formula"],
    );
    assert_eq!(text.code, 0, "{text:?}");
    let lines: Vec<&str> = text.stdout.lines().collect();
    let ordering = lines.iter().filter(|line| line.contains('≺')).count();
    assert_eq!(ordering, 2, "{}", text.stdout);
    assert!(
        text.stdout.contains("2 clauses, 1 minimal solution"),
        "{}",
        text.stdout
    );
    let points = answer(
        "litmus/sb",
        &["--model", "tso", "--engine", "points", "--formula"],
    );
    let clauses = points["formula"]["clauses"].as_array().expect("a list");
    assert_eq!(clauses.len(), 2);
    assert_eq!(points["formula"]["minimal_solutions"], 1);
    let refused = infer("litmus/sb", &["--formula"]);
    assert_eq!(refused.code, 2, "{refused:?}");
}

#[test]
fn too_many_nodes_end_in_an_outcome() {
    let ran = infer(
        "paper/pet0",
        &[
            "--model",
            "pso",
            "--engine",
            "points",
            "--max-formula-nodes",
            "20",
        ],
    );
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(
        ran.stdout.contains("formulas have grown too large"),
        "{}",
        ran.stdout
    );
}

/// Message passing needs the order of two stores only; store buffering needs a load to wait.
#[test]
fn the_cheapest_kinds_that_verify() {
    let kinds = |name, model, more: &[&str]| {
        let answer = answer(
            name,
            &[&["--model", model, "--kinds", "fine"], more].concat(),
        );
        let fences = answer["placement"]["fences"]
            .as_array()
            .expect("a list")
            .clone();
        let kinds = fences
            .iter()
            .map(|fence| fence["kind"].as_str().unwrap_or("").to_string());
        (
            kinds.collect::<Vec<_>>(),
            answer["placement"]["kinds_cost"].clone(),
        )
    };
    assert_eq!(
        kinds("litmus/mp", "pso", &[]),
        (vec!["ss".into()], 1.into())
    );
    let both = vec!["sl".to_string(); 2];
    assert_eq!(kinds("litmus/sb", "tso", &[]), (both.clone(), 4.into()));
    assert_eq!(kinds("litmus/sb", "pso", &[]), (both, 4.into()));
    let dear = ["--kind-cost", "1,1,1"];
    assert_eq!(
        kinds("litmus/mp", "pso", &dear),
        (vec!["full".into()], 1.into())
    );
    let refused = infer("litmus/mp", &["--kind-cost", "1,1,1"]);
    assert_eq!(refused.code, 2, "{refused:?}");
}

/// What was written with kinds verifies as it stands.
#[test]
fn kinds_are_written_and_verify() {
    for (name, model) in [
        ("litmus/mp", "pso"),
        ("mutex/peterson", "pso"),
        ("litmus/sb", "tso"),
    ] {
        let (_folder, path) = file("fenced.fen", "");
        let path = path.display().to_string();
        let ran = infer(
            name,
            &["--model", model, "--kinds", "fine", "--emit", &path],
        );
        assert_eq!(ran.code, 0, "{ran:?}");
        let text = std::fs::read_to_string(&path).expect("it was written");
        assert!(
            text.contains("fence ss;") || text.contains("fence sl;"),
            "{text}"
        );
        let checked = run(&["verify", &path, "--model", model]);
        assert_eq!(checked.code, 0, "{checked:?}\n{text}");
    }
}

#[test]
fn fences_in_the_text_that_are_not_needed() {
    let text = "shared bool x, y;
process p { bool r; store x = true; fence; fence ss; load r = y; fence; }
process q { bool r; store y = true; fence; load r = x; }
final p.r || q.r;
";
    let (_folder, path) = file("spare.fen", text);
    let path = path.display().to_string();
    let ran = run(&[
        "infer", &path, "--prune", "--model", "tso", "--format", "json",
    ]);
    let answer = &json(&ran)[0];
    assert_eq!(answer["outcome"], "correct");
    let removable = answer["removable"].as_array().expect("a list");
    let columns: Vec<_> = removable
        .iter()
        .map(|fence| fence["kind"].clone())
        .collect();
    assert_eq!(columns, ["ss", "full"], "{removable:?}");
    assert!(removable.iter().all(|fence| fence["line"] == 2));
    let ran = run(&["infer", &path, "--prune", "--model", "tso"]);
    assert!(
        ran.stdout
            .contains("2 of the program's own 4 fences can be removed"),
        "{}",
        ran.stdout
    );
    // A fence that is missing is found, and the others stay needed.
    let text = "shared bool x, y;
process p { bool r; store x = true; fence; load r = y; }
process q { bool r; store y = true; load r = x; }
final p.r || q.r;
";
    let (_folder, path) = file("missing.fen", text);
    let path = path.display().to_string();
    let ran = run(&[
        "infer", &path, "--prune", "--model", "tso", "--format", "json",
    ]);
    let answer = &json(&ran)[0];
    assert_eq!(answer["placement"]["cost"], 1);
    assert_eq!(answer["removable"].as_array().map(Vec::len), Some(0));
}

#[test]
fn fences_in_the_text_that_are_enough() {
    let text = |fence: &str| {
        format!(
            "shared bool x, y;
process p {{ bool r; store x = true; {fence} load r = y; }}
process q {{ bool r; store y = true; {fence} load r = x; }}
final p.r || q.r;
"
        )
    };
    let (_folder, path) = file("enough.fen", text("fence;"));
    let path = path.display().to_string();
    let certificate = format!("{path}.json");
    let ran = run(&[
        "infer",
        &path,
        "--prune",
        "--model",
        "tso",
        "--certificate",
        &certificate,
    ]);
    let expected = "correct: no further fence is needed
  none of the program's own 2 fences can be removed";
    assert!(ran.stdout.contains(expected), "{ran:?}");
    let ran = run(&["check", &path, "--certificate", &certificate]);
    let expected = "holds: no further fence is needed\n";
    assert!(ran.stdout.contains(expected), "{ran:?}");
    // Without fences of its own there is nothing that another one could be added to.
    let ran = run(&["infer", &algorithm("litmus/mp"), "--model", "tso"]);
    assert!(
        ran.stdout.contains("correct: no fence is needed\n"),
        "{ran:?}"
    );
}

#[test]
fn what_to_use_on_a_machine() {
    let instruction = |target, kinds| {
        let more = ["--model", "pso", "--kinds", kinds, "--emit-target", target];
        let answer = answer("litmus/mp", &more);
        let fence = &answer["placement"]["fences"][0];
        fence["instruction"].as_str().unwrap_or("").to_string()
    };
    assert!(instruction("x86", "full").starts_with("mfence"));
    assert_eq!(instruction("sparc", "fine"), "membar #StoreStore");
    assert!(instruction("c11", "full").contains("memory_order_seq_cst"));
    assert!(instruction("c11", "fine").contains("memory_order_release"));
    let text = infer("litmus/sb", &["--model", "tso", "--emit-target", "x86"]);
    assert_eq!(text.stdout.matches("mfence").count(), 2, "{}", text.stdout);
}

/// An execution that no fence prevents is told in the words of the program with the fences
/// that it has passed all the same.
#[test]
fn what_cannot_be_mended() {
    let text = "shared bool x, y, z;
process p {
    bool r, s;
    do {
        store z = true;
        either { skip; } or { load s = z; }
    } while (*);
    nofence { store x = true; load r = y; }
    either { store z = false; } or { }
    end: skip;
}
process q {
    bool r;
    nofence { store y = true; load r = x; }
    end: skip;
}
forbid p at end && q at end && p.r == 0 && q.r == 0;
";
    let (_folder, path) = file("hopeless.fen", text);
    let path = path.display().to_string();
    for engine in ["lazy", "points", "ordering"] {
        let arguments = ["infer", &path, "--model", "tso", "--engine", engine];
        let ran = run(&arguments);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stdout.contains("unfixable"), "{}", ran.stdout);
        let ran = run(&[&arguments[..], &["--format", "json"]].concat());
        let answer = &json(&ran)[0];
        let steps = answer["trace"].as_array().expect("a list");
        let told = |process: &str, line: u64, what: &str| {
            steps.iter().any(|step| {
                step["process"] == process && step["line"] == line && step["step"] == what
            })
        };
        assert!(
            told("p", 8, "store x = 1") && told("q", 14, "store y = 1"),
            "{steps:?}"
        );
        assert!(told("p", 8, "load r = y (is 0)"), "{steps:?}");
        assert!(told("q", 14, "load r = x (is 0)"), "{steps:?}");
    }
}

/// What happens without a fence is called real only if it is, and a fence that is not
/// needed is called so.
#[test]
fn what_happens_without_a_fence() {
    let outcomes = |answer: &Value| -> Vec<String> {
        let fences = answer["placement"]["fences"].as_array().expect("a list");
        let without = fences.iter().map(|fence| fence["without"].as_str());
        without.map(|word| word.unwrap_or("").to_string()).collect()
    };
    let real = answer("mutex/peterson", &["--model", "pso"]);
    assert_eq!(outcomes(&real), ["violated", "violated"]);
    let fd = ["--model", "tso", "--abs", "fd"];
    let unreal = answer("protocol/alternating-bit", &fd);
    assert!(outcomes(&unreal).iter().all(|word| word == "inconclusive"));
    let text = infer("protocol/alternating-bit", &fd).stdout;
    assert!(text.contains("in the abstraction, "), "{text}");
    let pd = [
        "--abs", "pd", "--k", "2", "--model", "pso", "--paths", "acyclic",
    ];
    let spare = answer(
        "paper/fast1b",
        &[&pd[..], &["--engine", "ordering"]].concat(),
    );
    assert!(outcomes(&spare).contains(&"correct".to_string()));
}

/// Every object that is printed satisfies the schema that is printed, with no field more.
#[test]
fn answers_satisfy_the_schema() {
    let printed = run(&["schema"]);
    let stored = std::fs::read_to_string("schema/fencesmith-1.json").expect("it is there");
    assert_eq!(printed.stdout, stored, "run `make schema`");
    let mut schema: Value = serde_json::from_str(&stored).expect("it is JSON");
    close(&mut schema);
    let schema = jsonschema::validator_for(&schema).expect("it is a schema");
    let peterson = algorithm("mutex/peterson");
    let broken = algorithm("protocol/producer-consumer-1");
    let commands: [&[&str]; 15] = [
        &["verify", &peterson, "--model", "sc,tso,pso"],
        &["verify", &peterson, "--abs", "exact", "--bound", "2"],
        &["verify", &peterson, "--max-states", "50"],
        &[
            "verify",
            &algorithm("paper/fig6"),
            "--k",
            "0",
            "--model",
            "pso",
        ],
        &[
            "infer",
            &peterson,
            "--all",
            "--kinds",
            "fine",
            "--prune",
            "--emit-target",
            "c11",
        ],
        &[
            "infer",
            &peterson,
            "--engine",
            "points",
            "--formula",
            "--per-process",
        ],
        &["infer", &peterson, "--engine", "ordering", "--formula"],
        &["infer", &broken],
        &["verify", &peterson, "--robust"],
        &["infer", &peterson, "--robust"],
        &["infer", &peterson, "--max-states", "50"],
        &["buffers", &peterson],
        &["buffers", &algorithm("queue/ring")],
        &["buffers", &peterson, "--max-states", "50"],
        &[
            "infer",
            &algorithm("litmus/sb"),
            "--place",
            "before-load",
            "--cost",
            "loops",
        ],
    ];
    let mut outcomes = BTreeSet::new();
    for command in commands {
        let ran = run(&[command, &["--format", "json"]].concat());
        let answers: Value = serde_json::from_str(&ran.stdout).expect("it is JSON");
        if let Err(error) = schema.validate(&answers) {
            panic!("{command:?}: {error} at {}", error.instance_path());
        }
        let answers = answers.as_array().expect("a list");
        outcomes.extend(answers.iter().map(|answer| answer["outcome"].to_string()));
    }
    assert!(outcomes.len() >= 5, "{outcomes:?}");
    let wrong: Value = serde_json::json!([{ "schema": "fencesmith/1", "command": "infer" }]);
    assert!(!schema.is_valid(&wrong));
}

/// Lets no object have fields that the schema does not name.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if map.contains_key("properties") {
                map.insert("additionalProperties".to_string(), false.into());
            }
            map.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}
