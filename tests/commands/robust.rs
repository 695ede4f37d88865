//! `--robust` as a person uses it.

use crate::binary::{Ran, algorithm, json, run, run_on};

fn verify(file: &str, more: &[&str]) -> Ran {
    run(&[&["verify", file, "--robust"], more].concat())
}

fn infer(file: &str, more: &[&str]) -> Ran {
    run(&[&["infer", file, "--robust"], more].concat())
}

#[test]
fn store_buffering_is_not_robust() {
    let sb = algorithm("litmus/sb");
    let ran = verify(&sb, &["--model", "sc,tso"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.contains("under SC: robust ("), "{ran:?}");
    let wrong = "under TSO: not robust: no store is pending, and sequential consistency does not reach this state";
    assert!(ran.stdout.contains(wrong), "{ran:?}");
    assert!(ran.stdout.contains("trace robustness is a stronger notion"));
    let ran = infer(&sb, &["--model", "tso"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains("2 fences make it robust"), "{ran:?}");
    let without = "without the fence after line 15 'store x = 1': no store is pending, and";
    assert!(ran.stdout.contains(without), "{ran:?}");
    let ran = infer(&algorithm("litmus/mp"), &["--model", "tso"]);
    assert!(ran.stdout.contains("robust: no fence is needed"), "{ran:?}");
}

#[test]
fn fences_can_be_tried() {
    let text = "shared bool x, y;\nprocess p { bool r; store x = 1; load r = y; }\nprocess q { bool r; store y = 1; load r = x; }\n";
    let with = |fences: &str| {
        let common = ["verify", "-", "--robust", "--model", "tso", "--fence"];
        run_on(&[&common[..], &[fences]].concat(), text, &[]).code
    };
    assert_eq!(with("2:21:after,3:21:after"), 0);
    assert_eq!(with("2:21:after"), 1);
}

#[test]
fn json_says_what_was_asked() {
    let sb = algorithm("litmus/sb");
    let answers = json(&verify(&sb, &["--model", "tso", "--format", "json"]));
    assert_eq!(answers[0]["config"]["robust"], true);
    assert_eq!(answers[0]["outcome"], "violated");
    assert!(answers[0]["trace"].is_array());
    let answers = json(&run(&["verify", &sb, "--model", "tso", "--format", "json"]));
    assert!(answers[0]["config"].get("robust").is_none());
    let answers = json(&infer(
        &sb,
        &["--model", "pso", "--all", "--format", "json"],
    ));
    assert_eq!(answers[0]["config"]["robust"], true);
    assert_eq!(answers[0]["placement"]["cost"], 2);
    assert_eq!(answers[0]["placement"]["optimality"], "exact");
}

/// Automata and files without properties have an answer, and no warning that nothing is asked.
#[test]
fn no_property_is_needed() {
    let dekker = "tests/data/trencher/dekker.txt";
    let ran = verify(dekker, &["--from", "trencher", "--model", "tso"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""), "{ran:?}");
    let ran = infer(dekker, &["--from", "trencher", "--model", "tso"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    assert!(ran.stdout.contains("fences make it robust"), "{ran:?}");
}

#[test]
fn what_cannot_answer_is_refused() {
    let sb = algorithm("litmus/sb");
    let refused: [&[&str]; 8] = [
        &["verify", "--abs", "pd"],
        &["verify", "--abs", "logs"],
        &["verify", "--deadlock"],
        &["verify", "--full"],
        &["verify", "--search", "sets"],
        &["infer", "--engine", "points"],
        &["infer", "--abs", "pd"],
        &["infer", "--model", "tso", "--certificate", "c.json"],
    ];
    for arguments in refused {
        let ran = run(&[&arguments[..1], &[&sb, "--robust"], &arguments[1..]].concat());
        assert_eq!(ran.code, 2, "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains("--robust"), "{arguments:?}: {ran:?}");
        assert!(ran.stdout.is_empty(), "{arguments:?}: {ran:?}");
    }
}

/// What is suggested is what can be asked.
#[test]
fn what_no_k_decides() {
    let ran = verify(&algorithm("protocol/alternating-bit"), &["--model", "tso"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.stdout.contains("try --k 9"), "{ran:?}");
    assert!(!ran.stdout.contains("--abs logs"), "{ran:?}");
}

#[test]
fn a_limit_is_an_outcome() {
    let peterson = algorithm("mutex/peterson");
    for ran in [
        verify(&peterson, &["--max-states", "10"]),
        infer(&peterson, &["--max-states", "10"]),
    ] {
        assert_eq!(ran.code, 3, "{ran:?}");
        assert!(ran.stdout.contains("inconclusive"), "{ran:?}");
    }
}
