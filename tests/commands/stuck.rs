//! `--stuck` as a person uses it, and what answers say about what was not checked.

use crate::binary::{algorithm, file, json, run, run_on};

/// Two stores hand a lock over; under PSO the first may come last.
const HAND_OVER: &str = "shared bool locked, next;
process waiter {
    bool l;
    store locked = true;
    store next = true;
    do { load l = locked; } while (l);
}
process owner {
    bool n;
    do { load n = next; } while (!n);
    store locked = false;
}
";

#[test]
fn a_lost_hand_over_is_shown_as_a_loop() {
    let ran = run_on(
        &["verify", "-", "--model", "tso,pso", "--stuck"],
        HAND_OVER,
        &[],
    );
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.stdout.contains("under TSO: correct and never stuck ("),
        "{ran:?}"
    );
    let wrong = "under PSO: violated: stuck: waiter can only spin at 6:10";
    assert!(ran.stdout.contains(wrong), "{ran:?}");
    let circle = "  then waiter goes round:
    ╭ line 6: load l = locked (is 1)
    ╰ line 6: test l: true
";
    assert!(ran.stdout.contains(circle), "{ran:?}");
    let ran = run_on(&["infer", "-", "--model", "pso", "--stuck"], HAND_OVER, &[]);
    assert!(
        ran.stdout
            .contains("1 fence makes it correct and never stuck"),
        "{ran:?}"
    );
    let why = "without the fence after line 4 'store locked = true': stuck: waiter can only spin";
    assert!(ran.stdout.contains(why), "{ran:?}");
    // A deadlock is another matter.
    let ran = run_on(
        &["verify", "-", "--model", "pso", "--deadlock"],
        HAND_OVER,
        &[],
    );
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn json_and_saved_traces_know_it() {
    let (folder, path) = file("h.fen", HAND_OVER);
    let (program, trace) = (path.display().to_string(), folder.path().join("trace.json"));
    let trace = trace.display().to_string();
    let asked = ["verify", &program, "--model", "pso", "--stuck"];
    let more = ["--format", "json", "--save-trace", &trace];
    let answers = json(&run(&[&asked[..], &more].concat()));
    assert_eq!(answers[0]["config"]["stuck"], true);
    assert_eq!(answers[0]["spins"][0]["process"], "waiter");
    assert_eq!(answers[0]["spins"][0]["begin"], 0);
    assert_eq!(
        answers[0]["spins"][0]["steps"].as_array().map(Vec::len),
        Some(2)
    );
    let ran = run(&["replay", &program, "--trace", &trace]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.contains("at its end: stuck: waiter"), "{ran:?}");
    let asked = [
        "infer", &program, "--model", "pso", "--stuck", "--format", "json",
    ];
    assert_eq!(json(&run(&asked))[0]["config"]["stuck"], true);
}

#[test]
fn a_sweep_can_ask_for_it() {
    let (_folder, path) = file("h.fen", HAND_OVER);
    let program = path.display().to_string();
    let asked = [
        "sweep", &program, "--k", "1", "--abs", "fd", "--format", "csv",
    ];
    let found = |more: &[&str]| run(&[&asked[..], more].concat()).stdout;
    assert!(found(&[]).contains(",correct,"));
    assert!(found(&["--stuck"]).contains(",violated,"));
    assert!(found(&["--stuck", "--mode", "infer"]).contains(",placed,"));
}

#[test]
fn what_cannot_answer_is_refused() {
    let sb = algorithm("litmus/sb");
    let refused: [&[&str]; 7] = [
        &["verify", "--abs", "logs"],
        &["verify", "--robust"],
        &["verify", "--model", "tso", "--certificate", "c.json"],
        &["infer", "--engine", "points"],
        &["infer", "--abs", "logs"],
        &["infer", "--model", "tso", "--certificate", "c.json"],
        &["sweep", "--abs", "logs"],
    ];
    for arguments in refused {
        let ran = run(&[&arguments[..1], &[&sb, "--stuck"], &arguments[1..]].concat());
        assert_eq!(ran.code, 2, "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains("--stuck"), "{arguments:?}: {ran:?}");
    }
}

/// Nothing is called proved without a word where nothing was asked.
#[test]
fn no_property_is_said() {
    let warning = "the program states no property: nothing but runtime errors was checked";
    for command in ["verify", "infer"] {
        for quiet in [&[][..], &["--quiet"]] {
            let ran = run_on(&[&[command, "-"], quiet].concat(), HAND_OVER, &[]);
            assert_eq!(ran.code, 0, "{ran:?}");
            assert_eq!(ran.stderr.matches(warning).count(), 1, "{ran:?}");
        }
        let answers = json(&run_on(&[command, "-", "--format", "json"], HAND_OVER, &[]));
        assert_eq!(answers[0]["warnings"][0], warning);
        let ran = run_on(&[command, "-", "--robust"], HAND_OVER, &[]);
        assert!(!ran.stderr.contains("no property"), "{ran:?}");
        let asserts = format!("{HAND_OVER} process r {{ assert(true); }}");
        let ran = run_on(&[command, "-"], &asserts, &[]);
        assert_eq!(ran.stderr, "", "{ran:?}");
    }
    let ran = run_on(
        &["infer", "-", "--model", "tso"],
        "process p { if (false) { L: skip; } } forbid p at L;",
        &[],
    );
    assert!(
        ran.stderr.contains("no process reaches 'L' under SC"),
        "{ran:?}"
    );
}

#[test]
fn a_violation_says_whether_sc_has_it() {
    let verify = |name: &str, more: &[&str]| run(&[&["verify", &algorithm(name)], more].concat());
    let order = "under SC it is correct: the violation is one of memory order";
    let plain = "SC has a violation, too: this is no matter of memory order";
    let ran = verify("litmus/sb", &["--model", "tso,pso"]);
    assert_eq!(ran.stdout.matches(order).count(), 2, "{ran:?}");
    let ran = verify("lock/ttas-broken", &["--model", "sc,tso"]);
    assert_eq!(ran.stdout.matches(plain).count(), 1, "{ran:?}");
    for (name, under_sc) in [("litmus/sb", false), ("lock/ttas-broken", true)] {
        let answers = json(&verify(name, &["--model", "tso", "--format", "json"]));
        assert_eq!(answers[0]["under_sc"], under_sc);
    }
}

#[test]
fn what_an_answer_rests_on() {
    let atomics = "cas, swap and add wait for the process's own stores to their place";
    let ran = run(&["verify", &algorithm("lock/tas")]);
    assert_eq!(
        ran.stdout.matches(atomics).count(),
        1,
        "only under PSO: {ran:?}"
    );
    let ran = run(&["infer", &algorithm("lock/tas"), "--atomics", "drain-all"]);
    assert!(ran.stdout.contains("(--atomics drain-all)"), "{ran:?}");
    let ran = run(&["verify", &algorithm("litmus/sb"), "--model", "pso"]);
    assert!(!ran.stdout.contains("cas, swap"), "{ran:?}");
    let c11 = ["--model", "tso", "--emit-target", "c11"];
    for name in ["litmus/sb", "litmus/mp"] {
        let ran = run(&[&["infer", &algorithm(name)], &c11[..]].concat());
        let assumed = "c11: only on machines whose memory model is TSO or stronger";
        assert!(ran.stdout.contains(assumed), "{ran:?}");
    }
    let ran = run(&[&["infer", "tests/data/litmus/SB.litmus"], &c11[..]].concat());
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(
        ran.stderr.contains("does not go with x86 assembly"),
        "{ran:?}"
    );
}
