//! Saved traces: each can be replayed and breaks the program; a changed one does not fit.

use crate::binary::{Ran, algorithm, json, run, verify};
use fencesmith_testing::programs;
use rayon::prelude::*;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Mutual exclusion for three processes, and the same at several sizes: too large here.
const THREE: &[&str] = &[
    "mutex/bakery-3",
    "mutex/burns-3",
    "mutex/filter-3",
    "mutex/lamport-fast-3",
];

/// Saves the shortest trace to a violation, if there is one.
fn save(name: &str, model: &str, more: &[&str], path: &Path) -> Ran {
    let path = path.to_str().expect("a readable name");
    let options = ["--no-trace", "--save-trace", path];
    verify(&algorithm(name), model, 2, &[&options, more].concat())
}

fn replay(name: &str, path: &Path) -> Ran {
    let path = path.to_str().expect("a readable name");
    run(&["replay", &algorithm(name), "--trace", path])
}

fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).expect("a trace was saved");
    serde_json::from_str(&text).expect("a trace is JSON")
}

#[test]
fn every_trace_fits_and_violates() {
    let mut names = programs::names(&["litmus", "mutex", "paper"]);
    names.retain(|name| !THREE.contains(&name.as_str()));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let check = |(index, name): (usize, &String)| {
        let mut replayed = 0;
        for model in ["tso", "pso"] {
            for more in [&[][..], &["--no-fuse"]] {
                let path = folder
                    .path()
                    .join(format!("{index}{model}{}.json", more.len()));
                let ran = save(name, model, more, &path);
                assert_eq!(path.exists(), ran.code == 1, "{name}: {ran:?}");
                if ran.code != 1 {
                    continue;
                }
                let steps = read(&path)["steps"].as_array().expect("steps").len();
                let again = replay(name, &path);
                let say = || format!("{name} under {model}, {more:?}: {again:?}");
                assert_eq!(again.code, 1, "{}", say());
                assert_eq!(again.stderr, "", "{}", say());
                let fits = format!("the trace fits ({steps} steps), and at its end: ");
                assert!(again.stdout.contains(&fits), "{}", say());
                // Both runs name the same thing.
                let what = again.stdout.split_once("at its end: ").expect("a reason").1;
                assert!(ran.stdout.contains(what.trim_end()), "{}\n{ran:?}", say());
                replayed += 1;
            }
        }
        replayed
    };
    let replayed: usize = names.par_iter().enumerate().map(check).sum();
    assert!(replayed > 150, "only {replayed} traces");
}

#[test]
fn shortest_traces_are_as_long_for_any_number_of_threads() {
    let names = [
        "litmus/n6",
        "litmus/z6.5",
        "mutex/burns-3",
        "mutex/lamport-fast-3",
    ];
    for name in names {
        let trace = |threads: &str| {
            let options = ["--no-fuse", "--format", "json", "--threads", threads];
            json(&verify(&algorithm(name), "pso", 2, &options))[0]["trace"].clone()
        };
        let one = trace("1");
        assert!(
            one.as_array().is_some_and(|steps| steps.len() > 5),
            "{name}"
        );
        for threads in ["2", "4"] {
            assert_eq!(one, trace(threads), "{name}, {threads} threads");
        }
    }
}

#[test]
fn traces_remember_fences_and_rules() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("trace.json");
    let cases: &[(&str, &str, &[&str])] = &[
        ("mutex/peterson", "pso", &["--fence", "19:9:after"]),
        ("mutex/peterson", "tso", &["--fence", "18:9:after,24:5"]),
        ("mutex/hyman", "sc", &[]),
        ("lock/tas-counter", "pso", &["--atomics", "drain-place"]),
        ("litmus/inc+inc", "pso", &["--atomics", "drain-all"]),
        ("barrier/sense-counter", "pso", &["--deadlock", "--full"]),
    ];
    for (name, model, options) in cases {
        assert_eq!(save(name, model, options, &path).code, 1, "{name}");
        let again = replay(name, &path);
        assert_eq!(again.code, 1, "{name}: {again:?}");
    }
    // A program that was mended has no trace, and an old file is left alone.
    let before = std::fs::read(&path).expect("the last trace");
    let mended = ["--fence", "18:9:after,19:9:after"];
    assert_eq!(save("mutex/peterson", "pso", &mended, &path).code, 0);
    assert_eq!(std::fs::read(&path).expect("still there"), before);
}

/// A saved trace to tamper with.
struct Saved {
    folder: tempfile::TempDir,
    name: &'static str,
    trace: Value,
}

impl Saved {
    fn new(name: &'static str, model: &str) -> Saved {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("trace.json");
        assert_eq!(save(name, model, &[], &path).code, 1, "{name}");
        let trace = read(&path);
        Saved {
            folder,
            name,
            trace,
        }
    }

    fn steps(&self) -> &Vec<Value> {
        self.trace["steps"].as_array().expect("steps")
    }

    fn write(&self, text: &str) -> PathBuf {
        let path = self.folder.path().join("tampered.json");
        std::fs::write(&path, text).expect("the file can be written");
        path
    }

    /// Replays the trace after a change.
    fn tampered(&self, change: impl Fn(&mut Value)) -> Ran {
        let mut trace = self.trace.clone();
        change(&mut trace);
        assert_ne!(trace, self.trace, "nothing was changed");
        replay(self.name, &self.write(&trace.to_string()))
    }

    /// The replay stops at this step, counted from one.
    fn check_stuck(&self, step: usize, change: impl Fn(&mut Value)) {
        let ran = self.tampered(change);
        let words = format!("step {step} does not fit: ");
        assert_eq!(ran.code, 3, "{}, step {step}: {ran:?}", self.name);
        assert!(ran.stdout.contains(&words), "{}: {words}{ran:?}", self.name);
    }

    /// The file is refused.
    fn check_refused(&self, words: &str, change: impl Fn(&mut Value)) {
        let ran = self.tampered(change);
        assert_eq!((ran.code, &*ran.stdout), (2, ""), "{words}: {ran:?}");
        assert!(ran.stderr.contains(words), "{words}: {ran:?}");
        assert!(ran.stderr.contains("tampered.json"), "{words}: {ran:?}");
    }
}

fn saved() -> Vec<Saved> {
    let names = [
        ("mutex/peterson", "tso"),
        ("mutex/peterson", "pso"),
        ("litmus/sb", "tso"),
        ("litmus/mp", "pso"),
        ("litmus/n6", "pso"),
        ("litmus/mp+swap-flag", "pso"),
        ("paper/sense0", "pso"),
        ("mutex/szymanski", "tso"),
    ];
    names.map(|(name, model)| Saved::new(name, model)).into()
}

#[test]
fn changed_steps_do_not_fit() {
    for saved in saved() {
        for (index, step) in saved.steps().iter().enumerate() {
            let stuck = |field: &str, value: Value| {
                saved.check_stuck(index + 1, |trace| {
                    trace["steps"][index][field] = value.clone()
                });
            };
            if let Some(value) = step["value"].as_i64() {
                stuck("value", json!(value + 7));
            }
            if step["place"].is_string() {
                stuck("place", json!("nowhere"));
            }
            stuck("process", json!("nobody"));
            stuck("flush", json!(step["flush"] == false));
            stuck("line", json!(4_294_967_295_u32));
            let local = step["locals"].as_object().and_then(|all| all.keys().next());
            if let Some(local) = local {
                saved.check_stuck(index + 1, |trace| {
                    trace["steps"][index]["locals"][local] = json!(77);
                });
            }
        }
    }
}

#[test]
fn traces_with_steps_in_another_order_do_not_fit() {
    let mut swapped = 0;
    for saved in saved() {
        // Two statements of one process never commute; steps of two processes may.
        let statement = |step: &Value| step["flush"] == false;
        for (index, pair) in saved.steps().windows(2).enumerate() {
            let own = pair[0]["process"] == pair[1]["process"];
            if own && pair.iter().all(statement) {
                saved.check_stuck(index + 1, |trace| {
                    let steps = trace["steps"].as_array_mut().expect("steps");
                    steps.swap(index, index + 1);
                });
                swapped += 1;
            }
        }
    }
    assert!(swapped > 20, "only {swapped}");
}

/// No buffer of these programs is ever full, so no shorter trace violates anything.
#[test]
fn traces_without_a_step_violate_nothing() {
    for saved in saved()
        .iter()
        .filter(|saved| saved.name.starts_with("litmus/"))
    {
        let length = saved.steps().len();
        for index in 0..length {
            let ran = saved.tampered(|trace| {
                trace["steps"].as_array_mut().expect("steps").remove(index);
            });
            let number = ran
                .stdout
                .split_once("step ")
                .and_then(|(_, rest)| rest.split_once(" does not fit")?.0.parse::<usize>().ok());
            match ran.code {
                3 => assert!(
                    number.is_some_and(|at| at > index && at < length),
                    "{ran:?}"
                ),
                0 => assert!(
                    ran.stdout.contains("nothing is wrong at its end"),
                    "{ran:?}"
                ),
                _ => panic!("{} without step {}: {ran:?}", saved.name, index + 1),
            }
        }
        let ran = saved.tampered(|trace| trace["steps"] = json!([]));
        assert_eq!(ran.code, 0, "{ran:?}");
    }
}

#[test]
fn traces_of_other_programs_do_not_fit() {
    for saved in saved() {
        let path = saved.write(&saved.trace.to_string());
        for other in ["mutex/dekker", "litmus/iriw", "lock/clh"] {
            let ran = replay(other, &path);
            assert_eq!(ran.code, 3, "{} on {other}: {ran:?}", saved.name);
            let start = ran.stdout.contains("cannot start with these values");
            assert!(start || ran.stdout.contains(" does not fit: "), "{ran:?}");
        }
        // The same program under a stricter model does not do that either.
        let ran = saved.tampered(|trace| trace["config"]["model"] = json!("sc"));
        assert_eq!(ran.code, 3, "{}: {ran:?}", saved.name);
        let ran = saved.tampered(|trace| {
            let memory = trace["initial"]["memory"].as_object_mut().expect("memory");
            memory.values_mut().for_each(|value| *value = json!(1234));
        });
        assert_eq!(ran.code, 3, "{}: {ran:?}", saved.name);
        assert!(
            ran.stdout.contains("cannot start with these values"),
            "{ran:?}"
        );
    }
}

#[test]
fn files_that_are_no_traces() {
    let saved = Saved::new("mutex/peterson", "tso");
    let check = |words, change: fn(&mut Value)| saved.check_refused(words, change);
    check("schema", |trace| {
        trace["schema"] = json!("fencesmith-trace/9")
    });
    check("unknown variant `arm`", |trace| {
        trace["config"]["model"] = json!("arm");
    });
    check("unknown variant `none`", |trace| {
        trace["config"]["atomics"] = json!("none");
    });
    check("no fence can be typed at 1:1", |trace| {
        trace["config"]["fences"] = json!(["1:1"]);
    });
    check("is not [FILE:]LINE:COL", |trace| {
        trace["config"]["fences"] = json!(["x"])
    });
    check("not a trace", |trace| trace["steps"] = json!(5));
    check("not a trace", |trace| {
        trace["steps"][0]["value"] = json!(0.5)
    });
    check("not a trace", |trace| trace["steps"][0]["line"] = json!(-1));
    check("not a trace", |trace| {
        trace.as_object_mut().expect("an object").remove("initial");
    });
    check("not a trace", |trace| *trace = json!([]));

    let whole = saved.trace.to_string();
    let nested = "[".repeat(100_000);
    let texts = [
        "",
        "{",
        "null",
        "[]",
        "\u{0}",
        &whole[..whole.len() / 2],
        &nested,
        "process p {}",
    ];
    for text in texts {
        let ran = replay(saved.name, &saved.write(text));
        assert_eq!((ran.code, &*ran.stdout), (2, ""), "{ran:?}");
        assert!(ran.stderr.contains("not a trace"), "{ran:?}");
    }
    let path = saved.write("");
    std::fs::write(&path, [b'"', 0xff]).expect("the file can be written");
    assert_eq!(replay(saved.name, &path).code, 2);
    assert_eq!(replay(saved.name, saved.folder.path()).code, 2);
}
