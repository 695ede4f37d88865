//! What to try next is said only where it can help.

use crate::binary::{Ran, algorithm, run, run_on};

/// Stores whose order matters and which no fence can separate.
const FALLING: &str = "shared int[0..=2] x;
process p { nofence { store x = 1; store x = 2; } }
process q { int[0..=2] r, s; load r = x; load s = x; }
final !(q.r == 2 && q.s == 1);";

/// The same any number of times.
const FALLING_IN_A_LOOP: &str = "shared int[0..=2] x;
process p { nofence { while (*) { store x = 1; } while (*) { store x = 2; } } }
process q { int[0..=2] r, s; load r = x; load s = x; }
final !(q.r == 2 && q.s == 1);";

fn inconclusive(ran: Ran) -> String {
    assert_eq!(ran.code, 3, "{ran:?}");
    let first = ran.stdout.lines().next().expect("an answer");
    first.to_string()
}

#[test]
fn a_finer_abstraction_than_the_one_that_failed() {
    let sequence = algorithm("protocol/increasing-sequence");
    let cases: [(&[&str], &str); 4] = [
        (&["--k", "0"], "; try --k 1"),
        (&["--k", "2"], "; try --k 3"),
        (&["--abs", "pd"], "; try --abs fd --k auto"),
        (&["--abs", "set"], "; try --abs fd --k auto"),
    ];
    for (options, hint) in cases {
        let question = ["verify", &sequence, "--model", "tso", "--no-trace"];
        let said = inconclusive(run(&[&question[..], options].concat()));
        assert!(said.ends_with(hint), "{options:?}: {said}");
    }
}

#[test]
fn no_larger_k_where_refinement_has_ended() {
    let question = ["verify", "-", "--model", "tso", "--no-trace"];
    let fd = [&question[..], &["--abs", "fd"]].concat();
    let said = inconclusive(run_on(&fd, FALLING_IN_A_LOOP, &[]));
    assert!(said.contains("(tried k = 1 to 8)"), "{said}");
    assert!(said.contains("; try --abs logs"), "{said}");
    assert!(!said.contains("--k"), "{said}");
    for options in [&[][..], &["--abs", "logs"]] {
        let ran = run_on(&[&question[..], options].concat(), FALLING_IN_A_LOOP, &[]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.stdout.contains("proved by view logs"), "{ran:?}");
    }
}

#[test]
fn hints_of_inference() {
    let cases: [(&str, &[&str], &str); 4] = [
        (FALLING, &["--k", "0"], "; try --k 1"),
        (
            FALLING,
            &["--abs", "pd", "--k", "0"],
            "; try --abs fd --k auto",
        ),
        (
            FALLING,
            &["--k", "0", "--place", "after-store"],
            "; try --place anywhere",
        ),
        (
            FALLING_IN_A_LOOP,
            &["--abs", "fd"],
            "; try --abs logs, which decides what no k does",
        ),
    ];
    for (text, options, hint) in cases {
        let question = ["infer", "-", "--model", "tso"];
        let ran = run_on(&[&question[..], options].concat(), text, &[]);
        assert_eq!(ran.code, 3, "{options:?}: {ran:?}");
        let said = ran
            .stdout
            .lines()
            .find(|line| line.contains("inconclusive"));
        let said = said.expect("the answer is inconclusive");
        assert!(said.ends_with(hint), "{options:?}: {said}");
    }
}

#[test]
fn fences_where_no_process_comes() {
    let text = "shared bool x, y;
process p {
    store x = 1;
    stop;
    store y = 1;
}
process q { stop; { } }
forbid y == 1;";
    let cases = [
        ("4:5:before", None),
        ("4:5:after", Some("4:5:after")),
        ("5:5", Some("5:5")),
        ("5:5:before", Some("5:5:before")),
        ("5:5:after", Some("5:5:after")),
        ("7:21", Some("7:21")),
    ];
    for (place, unreachable) in cases {
        let question = ["verify", "-", "--model", "pso", "--fence", place];
        let ran = run_on(&question, text, &[]);
        match unreachable {
            None => assert_eq!(ran.code, 0, "{place}: {ran:?}"),
            Some(shown) => {
                let said = format!("no process comes to {shown}, so a fence there does nothing");
                assert_eq!(ran.code, 2, "{place}: {ran:?}");
                assert!(ran.stderr.contains(&said), "{place}: {ran:?}");
            }
        }
    }
}
