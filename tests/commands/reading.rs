//! Counterexamples as people read them.

use crate::binary::{algorithm, file, run, run_on};

/// Lines are no longer than the terminal is wide, which is 80 columns without one.
#[test]
fn tables_fit() {
    for name in ["mutex/peterson", "lock/mcs", "mutex/bakery", "queue/the"] {
        let ran = run(&["verify", &algorithm(name), "--model", "pso", "--stuck"]);
        assert_eq!(ran.code, 1, "{ran:?}");
        let table = ran.stdout.lines().skip(2);
        let table = table.take_while(|line| !line.starts_with("  violated:"));
        for line in table.take_while(|line| !line.starts_with("  then")) {
            assert!(line.chars().count() <= 80, "{name}: {line}");
        }
        assert!(ran.stdout.contains("  changes"), "{ran:?}");
    }
    // Small ones show everything.
    let ran = run(&["verify", &algorithm("litmus/sb"), "--model", "tso"]);
    let line = "1  p0         15  store x = 1        x=0 y=0  p0: x=1";
    assert!(ran.stdout.contains(line), "{ran:?}");
}

#[test]
fn a_table_of_changes() {
    let ran = run(&["verify", &algorithm("mutex/peterson"), "--model", "tso"]);
    let table = "  step  process  line  statement                    changes
     0                 (start)                      turn=0 ent={0,0}
     1  p[0]       18  store ent[0] = 1             p[0]: ent[0]=1
     2  p[0]       19  store turn = 1               p[0]: ent[0]=1 turn=1
     3  p[0]       21  load e = ent[1] (is 0)
";
    assert!(ran.stdout.contains(table), "{}", ran.stdout);
}

const COMPUTES: &str = "shared int[0..=5] x;
process p {
    int[0..=9] r, i;
    store x = 3;
    load r = x;
    i = 1;
    i = i + r;
    i = i + 1;
    i = i + 1;
    i = i + 0;
    i = i + 1;
    assert(r < i - 5);
}
";

#[test]
fn local_steps_are_folded_and_values_shown() {
    let asked = ["verify", "-", "--model", "sc", "--no-fuse"];
    let ran = run_on(&asked, COMPUTES, &[]);
    assert!(
        ran.stdout.contains("⋮  p              (5 local steps)"),
        "{ran:?}"
    );
    let wrong = "assertion failed in p: assert(r < i - 5) with r = 3, i = 7";
    assert!(ran.stdout.contains(wrong), "{ran:?}");
    // The same where the steps before have run together with the assertion.
    let ran = run_on(&["verify", "-", "--model", "sc"], COMPUTES, &[]);
    assert!(ran.stdout.contains(wrong), "{ran:?}");
    let ran = run_on(&[&asked[..], &["--locals"]].concat(), COMPUTES, &[]);
    assert!(!ran.stdout.contains("local steps"), "{ran:?}");
    for change in ["p.r=3", "p.i=1", "p.i=4", "p.i=7"] {
        assert!(ran.stdout.contains(change), "{change}: {ran:?}");
    }
}

/// Values that nobody reads again, and steps that run together with others.
const FORGOTTEN: &str = "shared bool ready, data;
process writer { store data = true; store ready = true; }
process reader {
    bool k, r;
    int[0..=5] c = 2;
    load k = ready;
    if (k) {
        c = 3;
        load r = data;
        c = c + 1;
        assert(r);
    }
}
";

#[test]
fn locals_are_told_as_statements_leave_them() {
    let asked = ["verify", "-", "--model", "pso", "--locals"];
    let ran = run_on(&asked, FORGOTTEN, &[]);
    assert_eq!(ran.code, 1, "{ran:?}");
    for told in [
        "reader.c=2",
        "load k = ready (is 1)  reader.k=1",
        "reader      7  test k: true",
        "reader      8  c = 3                  reader.c=3",
        "reader     10  c = c + 1              reader.c=4",
    ] {
        assert!(ran.stdout.contains(told), "{told}: {ran:?}");
    }
    assert_eq!(ran.stdout.matches("reader.k=").count(), 2, "{ran:?}");
    assert!(!ran.stdout.contains("reader.c=0"), "{ran:?}");
}

#[test]
fn each_process_has_a_colour() {
    let asked = ["verify", &algorithm("litmus/sb"), "--model", "tso"];
    let ran = run(&[&asked[..], &["--color", "always"]].concat());
    for name in ["\x1b[36mp0\x1b[0m", "\x1b[35mp1\x1b[0m"] {
        assert!(ran.stdout.contains(name), "{ran:?}");
    }
    assert!(
        ran.stdout.contains("\x1b[1mx=1\x1b[0m"),
        "what changed: {ran:?}"
    );
}

#[test]
fn pictures() {
    let (folder, path) = file("t.svg", "");
    let svg = path.display().to_string();
    let dot = folder.path().join("t.dot").display().to_string();
    let asked = ["verify", &algorithm("litmus/sb"), "--model", "tso"];
    let ran = run(&[&asked[..], &["--svg", &svg, "--dot", &dot]].concat());
    assert_eq!(ran.code, 1, "{ran:?}");
    let svg = std::fs::read_to_string(svg).expect("it was written");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>"), "{svg}");
    assert!(
        svg.contains(">p0</text>") && svg.contains(">memory</text>"),
        "{svg}"
    );
    // Both stores come after the loads behind them.
    assert_eq!(svg.matches("class=\"late\"").count(), 2, "{svg}");
    let dot = std::fs::read_to_string(dot).expect("it was written");
    assert_eq!(dot.matches("label=late").count(), 2, "{dot}");
    assert_eq!(dot.matches('{').count(), dot.matches('}').count(), "{dot}");
    let ran = run(&[
        "verify",
        &algorithm("litmus/sb"),
        "--svg",
        "x",
        "--dot",
        "x",
    ]);
    assert_eq!(ran.code, 2, "{ran:?}");
}

/// A saved trace on a page, with the text of its program from other results or without.
#[test]
fn a_saved_trace_on_a_page() {
    let (folder, path) = file("trace.json", "");
    let trace = path.display().to_string();
    let sb = algorithm("litmus/sb");
    let saved = run(&["verify", &sb, "--model", "tso", "--save-trace", &trace]);
    assert_eq!(saved.code, 1, "{saved:?}");
    let page = folder.path().join("page.html");
    let html = page.display().to_string();
    let ran = run(&["report", &trace, "--html", &html]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let text = std::fs::read_to_string(&page).expect("a page");
    assert!(text.contains("class=\"execution\""), "there is a picture");
    assert!(
        text.contains("id=\"p-algorithms--litmus--sb.fen\""),
        "and an anchor"
    );
    let answers = folder.path().join("answers.json");
    let ran = run(&["verify", &sb, "--model", "pso", "--format", "json"]);
    std::fs::write(&answers, ran.stdout).expect("a file");
    let answers = answers.display().to_string();
    for order in [[&trace, &answers], [&answers, &trace]] {
        let ran = run(&["report", order[0], order[1], "--html", &html]);
        assert_eq!(ran.code, 0, "{ran:?}");
        let text = std::fs::read_to_string(&page).expect("a page");
        assert!(text.contains("data-version=\"0\""), "the text is there");
    }
}
