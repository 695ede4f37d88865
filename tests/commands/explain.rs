//! Steps by hand, with commands from a pipe.

use crate::binary::{Ran, algorithm, file, run, run_on};

const SB: &str = "shared bool x, y;
process p { bool r; store x = true; load r = y; }
process q { bool r; store y = true; load r = x; }
final p.r || q.r;
";

fn explain(text: &str, more: &[&str], commands: &str) -> Ran {
    let (_folder, path) = file("sb.fen", text);
    let path = path.display().to_string();
    let arguments = [&["explain", &path], more].concat();
    let ran = run_on(&arguments, commands, &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    ran
}

/// The state that is shown last.
fn last(ran: &Ran) -> &str {
    let at = ran.stdout.rfind("\nafter ").expect("a state");
    &ran.stdout[at + 1..]
}

#[test]
fn steps_are_chosen_and_taken_back() {
    let ran = explain(SB, &[], "1\n");
    assert!(last(&ran).starts_with("after 1 step: x=0 y=0"), "{ran:?}");
    assert!(last(&ran).contains("x=1"), "it is pending: {ran:?}");
    assert!(
        last(&ran).contains("p: load r = y (is 0) (line 2:"),
        "{ran:?}"
    );
    assert!(last(&ran).contains("p: flush x = 1"), "{ran:?}");
    let ran = explain(SB, &[], "1\n1\nundo 2\n");
    let first = explain(SB, &[], "");
    assert_eq!(last(&ran), last(&first));
    let ran = explain(SB, &[], "undo\n99\nnonsense\ngo 1\n\nquit\n1\n");
    for words in [
        "this is the start",
        "choose a step from 1 to 2",
        "'nonsense' is no command",
        "there is no counterexample",
        "there are several steps",
    ] {
        assert!(ran.stdout.contains(words), "{words}: {ran:?}");
    }
    assert!(last(&ran).starts_with("after 0 steps"), "{ran:?}");
}

/// What is not read again is shown all the same.
#[test]
fn locals_are_not_forgotten() {
    let text = "shared int[0..=3] x = 3;
process p { int[0..=3] c = 2, r; load r = x; c = 1; skip; }
";
    let ran = explain(text, &["--no-fuse"], "1\n1\n");
    let states: Vec<&str> = ran.stdout.split("\nafter ").collect();
    let shown = ["c=2 r=0", "c=2 r=3", "c=1 r=3"];
    for (state, locals) in states[1..].iter().zip(shown) {
        assert!(state.contains(locals), "{locals}: {ran:?}");
    }
}

#[test]
fn counterexamples_are_followed() {
    let ran = explain(SB, &[], "find\ngo end\n");
    assert!(ran.stdout.contains("a counterexample of "), "{ran:?}");
    assert!(last(&ran).contains("violated: final p.r || q.r"), "{ran:?}");
    assert!(last(&ran).contains("everything has stopped"), "{ran:?}");
    // Step by step it is the same, and the next step is marked.
    let steps = "\n".repeat(6);
    let slowly = explain(SB, &[], &format!("find\n{steps}"));
    assert_eq!(last(&slowly), last(&ran));
    let marked = explain(SB, &[], "find\n");
    assert!(last(&marked).contains("\n *  "), "{marked:?}");
    let none = explain(SB, &["--model", "sc"], "find\n");
    assert!(none.stdout.contains("the program is correct"), "{none:?}");
    let fenced = explain(SB, &["--fence", "2:37,3:37"], "find\n");
    assert!(
        fenced.stdout.contains("the program is correct"),
        "{fenced:?}"
    );
}

#[test]
fn saved_traces_are_followed() {
    let peterson = algorithm("mutex/peterson");
    let (_folder, trace) = file("trace.json", "");
    let trace = trace.display().to_string();
    let saved = [
        "verify",
        &peterson,
        "--model",
        "pso",
        "--save-trace",
        &trace,
    ];
    assert_eq!(run(&saved).code, 1);
    let commands = "go end\ntrace\n";
    let ran = run_on(&["explain", &peterson, "--trace", &trace], commands, &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains("under PSO"), "{ran:?}");
    assert!(last(&ran).contains("violated: mutex critical"), "{ran:?}");
    let other = algorithm("mutex/dekker");
    let ran = run_on(&["explain", &other, "--trace", &trace], "", &[]);
    assert_eq!(ran.code, 2, "{ran:?}");
}

#[test]
fn programs_that_start_in_several_ways() {
    let text =
        "shared int[0..=2] x = *;\nprocess p { int[0..=2] r = *; store x = r; }\nfinal x < 3;";
    let ran = explain(text, &[], "start 2\nstart 10\n");
    assert!(ran.stdout.contains("can start in 9 ways"), "{ran:?}");
    assert!(ran.stdout.contains("there is no start 10"), "{ran:?}");
    assert!(last(&ran).contains("r=1"), "{ran:?}");
}
