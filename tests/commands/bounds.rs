//! An answer at any time: what `infer` says when a limit ends it.

use crate::binary::{algorithm, file, json, run};

/// A limit ends the search for the cheapest placement, and a dearer one is known.
#[test]
fn a_limit_ends_with_bounds() {
    let name = algorithm("mutex/peterson");
    let limited = [
        "infer",
        &name,
        "--model",
        "pso",
        "--search",
        "plain",
        "--max-states",
        "500",
    ];
    let ran = run(&limited);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.stdout.contains("inconclusive: at least "), "{ran:?}");
    assert!(
        ran.stdout.contains("the limit on states was reached"),
        "{ran:?}"
    );
    assert!(ran.stdout.contains("+ "), "the fences are shown: {ran:?}");
    let answers = json(&run(&[&limited[..], &["--format", "json"]].concat()));
    let answer = &answers[0];
    assert_eq!(answer["outcome"], "inconclusive");
    assert_eq!(answer["so_far"]["optimality"], "unknown");
    let cost = |cost: &serde_json::Value| cost.as_u64().expect("a cost");
    assert!(cost(&answer["lower_bound"]) <= 2, "{answer}");
    // Out of 11 points, not all are needed.
    assert!(
        (2..6).contains(&cost(&answer["so_far"]["cost"])),
        "{answer}"
    );
}

/// What is written is correct, whatever ended the search for something cheaper.
#[test]
fn what_is_emitted_is_verified() {
    let name = algorithm("mutex/bakery");
    let (_folder, path) = file("fenced.fen", "");
    let emitted = path.display().to_string();
    let limited = [
        "infer",
        &name,
        "--model",
        "tso",
        "--search",
        "plain",
        "--max-states",
        "1500",
    ];
    let ran = run(&[&limited[..], &["--emit", &emitted]].concat());
    assert_eq!(ran.code, 3, "{ran:?}");
    let ran = run(&["verify", &emitted, "--model", "tso"]);
    assert_eq!(ran.code, 0, "{ran:?}");
}
