//! Other formats at the command line: `litmus`, `convert`, `--from`, `--forbid`.

use crate::binary::{Ran, algorithm, file, json, run, run_on};
use std::time::Duration;

const SB: &str = "tests/data/litmus/SB.litmus";
const PETERSON: &str = "tests/data/rmm/peterson.rmm";
const AUTOMATON: &str = "tests/data/trencher/peterson.txt";
const FORBID: [&str; 4] = ["--from", "trencher", "--forbid", "t0:enter,t1:enter"];

#[test]
fn litmus_lines_and_states() {
    let ran = run(&["litmus", SB, "--model", "sc,tso"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "SB sc Forbidden 3\nSB tso Allowed 4\n")
    );
    let ran = run(&["litmus", SB, "--model", "tso", "--states"]);
    let expected = "SB tso Allowed 4
0:EAX=0; 1:EAX=0;
0:EAX=0; 1:EAX=1;
0:EAX=1; 1:EAX=0;
0:EAX=1; 1:EAX=1;
";
    assert_eq!(ran.stdout, expected);
}

#[test]
fn litmus_json() {
    let ran = run(&["litmus", SB, "--format", "json", "--states"]);
    let rows = json(&ran);
    assert_eq!(rows.len(), 3);
    let tso = &rows[1];
    assert_eq!(tso["file"], SB);
    assert_eq!(tso["name"], "SB");
    assert_eq!(tso["model"], "tso");
    assert_eq!(tso["verdict"], "Allowed");
    assert_eq!(tso["states"], 4);
    assert_eq!(tso["finals"][0], "0:EAX=0; 1:EAX=0;");
}

#[test]
fn litmus_folders_are_walked_and_bad_files_named() {
    let (folder, _) = file(
        "b.litmus",
        "X86 b\n{ }\n P0 ;\n MOV [x],$1 ;\nexists (x=1)\n",
    );
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).expect("a folder");
    std::fs::write(
        inner.join("a.litmus"),
        "X86 a\n{ }\n P0 ;\n FROB ;\nexists (x=1)\n",
    )
    .expect("a file");
    std::fs::write(folder.path().join("notes.txt"), "not a test").expect("a file");
    let path = folder.path().display().to_string();
    let ran = run(&["litmus", &path, "--model", "pso"]);
    assert_eq!(ran.code, 2);
    assert_eq!(ran.stdout, "b pso Allowed 1\n");
    assert!(ran.stderr.contains("a.litmus:4:2"), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("unknown instruction 'FROB'"),
        "{}",
        ran.stderr
    );
    let ran = run(&["litmus", "no/such.litmus", SB, "--model", "sc"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, "SB sc Forbidden 3\n"));
    assert_eq!(run(&["litmus", SB, "--from", "rmm"]).code, 2);
}

#[test]
fn litmus_with_loops_says_what_was_bounded() {
    let text = "X86 loop
{ }
 P0             | P1          ;
 L: MOV [x],$1  | MOV EBX,[x] ;
 MOV EAX,[y]    | MOV [y],$1  ;
 CMP EAX,$1     |             ;
 JNE L          |             ;
exists (1:EBX=0)
";
    let ran = run_on(
        &["litmus", "-", "--model", "sc,tso", "--bound", "2"],
        text,
        &[],
    );
    assert_eq!(ran.code, 3);
    let note = "(buffers were bounded by 2, there may be more states; try a larger --bound)";
    let expected = format!("loop sc Allowed 2\nloop tso Allowed 2 {note}\n");
    assert_eq!(ran.stdout, expected);
    let limited = ["litmus", SB, "--model", "tso", "--max-states", "3"];
    let ran = run(&limited);
    assert_eq!(ran.code, 3);
    assert!(
        ran.stdout
            .starts_with("SB tso Unknown 0 (the limit on states"),
        "{ran:?}"
    );
}

#[test]
fn litmus_arithmetic_that_leaves_32_bits() {
    let text = "X86 big\n{ 0:EAX=2147483647; }\n P0 ;\n INC EAX ;\nexists (0:EAX=0)\n";
    let ran = run_on(&["litmus", "-", "--model", "sc"], text, &[]);
    assert_eq!(ran.code, 3);
    assert_eq!(
        ran.stdout,
        "big sc Unknown 0 (a result does not fit 32 bits)\n"
    );
}

/// The results do not depend on the number of threads.
#[test]
fn litmus_is_deterministic() {
    let all = |threads| {
        let ran = run(&[
            "litmus",
            "tests/data/litmus",
            "--states",
            "--threads",
            threads,
        ]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.took < Duration::from_secs(20));
        ran.stdout
    };
    assert_eq!(all("1"), all("3"));
}

#[test]
fn foreign_programs_are_verified() {
    let ran = run(&["verify", SB, "--model", "sc,tso"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.stdout.contains("SB.litmus under SC: correct"),
        "{}",
        ran.stdout
    );
    let violated =
        "under TSO: violated: exists (0:EAX=0 /\\ 1:EAX=0): the final state satisfies it (line 7)";
    assert!(ran.stdout.contains(violated), "{}", ran.stdout);
    let ran = run(&["verify", PETERSON, "--model", "sc"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let ran = run(&[&["verify", AUTOMATON, "--model", "tso"][..], &FORBID].concat());
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let ran = run(&["verify", AUTOMATON, "--from", "trencher", "--model", "sc"]);
    assert!(ran.stderr.contains("--forbid"), "{}", ran.stderr);
    let ran = run(&["verify", PETERSON, "--forbid", "t0:q1"]);
    assert_eq!(ran.code, 2);
}

/// The cost of the cheapest placement under each model.
fn costs(ran: &Ran) -> Vec<u64> {
    let rows = json(ran);
    let cost = |row: &serde_json::Value| row["placement"]["cost"].as_u64();
    let costs = rows
        .iter()
        .map(|row| cost(row).unwrap_or_else(|| panic!("{row}")));
    costs.collect()
}

#[test]
fn one_algorithm_in_three_formats() {
    let native = |name: &str| {
        let file = algorithm(name);
        costs(&run(&["infer", &file, "--per-process", "--format", "json"]))
    };
    let rmm = |name: &str| {
        let file = format!("tests/data/rmm/{name}.rmm");
        costs(&run(&["infer", &file, "--per-process", "--format", "json"]))
    };
    let trencher = |name: &str| {
        let file = format!("tests/data/trencher/{name}.txt");
        costs(&run(
            &[&["infer", &file, "--format", "json"][..], &FORBID].concat()
        ))
    };
    assert_eq!(native("mutex/peterson"), [2, 4]);
    for machine in ["peterson", "peterson-wait"] {
        assert_eq!(rmm(machine), [2, 4], "{machine}");
    }
    assert_eq!(trencher("peterson"), [2, 4]);
    assert_eq!(native("mutex/dekker-goto"), [2, 2]);
    assert_eq!(rmm("dekker"), [2, 2]);
    assert_eq!(trencher("dekker"), [2, 2]);
    assert_eq!(native("mutex/simple-dekker"), [2, 2]);
    assert_eq!(rmm("simple-dekker"), [2, 2]);
    let ran = run(&["infer", "tests/data/litmus/R.litmus", "--format", "json"]);
    assert_eq!(costs(&ran), [1, 2]);
}

#[test]
fn placements_speak_of_the_foreign_text() {
    let ran = run(&["infer", PETERSON, "--model", "tso"]);
    assert_eq!(ran.code, 0);
    for place in [
        "fence after line 16 'write: turn := 1' in P0",
        "fence after line 32 'write: turn := 0' in P1",
    ] {
        assert!(ran.stdout.contains(place), "{}", ran.stdout);
    }
    let ran = run(&["infer", SB, "--model", "tso", "--format", "json"]);
    let fence = &json(&ran)[0]["placement"]["fences"][1];
    assert_eq!(fence["process"], "P1");
    assert_eq!(fence["line"], 5);
    assert_eq!(fence["column"], 16);
    assert_eq!(fence["text"], "MOV [y],$1");
    let fences = "5:2:after,5:16:after";
    let ran = run(&["verify", SB, "--model", "tso", "--fence", fences]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
}

/// What `--emit` writes is a native program that is correct as it stands.
#[test]
fn emitted_programs_are_native_and_correct() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let emitted = folder.path().join("fenced.fen").display().to_string();
    let cases: [(&str, &[&str]); 6] = [
        (SB, &[]),
        ("tests/data/litmus/dekker-try.litmus", &[]),
        (PETERSON, &[]),
        ("tests/data/rmm/simple-dekker.rmm", &[]),
        ("tests/data/rmm/peterson-wait.rmm", &[]),
        (AUTOMATON, &FORBID),
    ];
    for (file, more) in cases {
        for model in ["tso", "pso"] {
            let infer = ["infer", file, "--model", model, "--emit", &emitted];
            assert_eq!(run(&[&infer[..], more].concat()).code, 0, "{file}");
            let ran = run(&["verify", &emitted, "--model", model]);
            assert_eq!(ran.code, 0, "{file} under {model}: {ran:?}");
            let text = std::fs::read_to_string(&emitted).expect("a program");
            assert!(text.contains("fence;"), "{text}");
        }
    }
}

#[test]
fn certificates_and_traces_of_foreign_programs() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (certificate, trace) = (path("c.json"), path("t.json"));
    for (file, more) in [(SB, &[][..]), (PETERSON, &[]), (AUTOMATON, &FORBID)] {
        let infer = [
            "infer",
            file,
            "--model",
            "pso",
            "--certificate",
            &certificate,
        ];
        assert_eq!(run(&[&infer[..], more].concat()).code, 0, "{file}");
        let check = ["check", file, "--certificate", &certificate];
        let ran = run(&[&check[..], more].concat());
        assert_eq!(ran.code, 0, "{file}: {ran:?}");
        let verify = ["verify", file, "--model", "pso", "--save-trace", &trace];
        assert_eq!(run(&[&verify[..], more].concat()).code, 1, "{file}");
        let replay = ["replay", file, "--trace", &trace];
        let ran = run(&[&replay[..], more].concat());
        assert_eq!(ran.code, 1, "{file}: {ran:?}");
        assert!(ran.stdout.contains("the trace fits"), "{ran:?}");
    }
}

#[test]
fn conversions() {
    let ran = run(&["convert", SB]);
    let expected = "// From SB.litmus.

shared int x, y;

process P0 {
    int EAX;
    store x = 1;
    load EAX = y;
}

process P1 {
    int EAX;
    store y = 1;
    load EAX = x;
}

final !(P0.EAX == 0 && P1.EAX == 0);
";
    assert_eq!((ran.code, ran.stdout.as_str()), (0, expected));
    let native = algorithm("mutex/peterson");
    let same = std::fs::read_to_string(&native).expect("the program");
    assert_eq!(run(&["convert", &native]).stdout, same);
    let machine = run(&["convert", &native, "--to", "rmm"]);
    assert_eq!(machine.code, 0);
    let ran = run_on(
        &["verify", "-", "--from", "rmm", "--model", "sc"],
        &machine.stdout,
        &[],
    );
    assert_eq!(ran.code, 0, "{ran:?}");
    let ran = run(&[
        "convert", &native, "--to", "promela", "--model", "pso", "--bound", "2",
    ]);
    assert!(
        ran.stdout
            .contains("under PSO, with store buffers of length 2"),
        "{ran:?}"
    );
    let ran = run(&["convert", SB, "--to", "rmm"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("SB.litmus:7:1"), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("a property of the kind `final`"),
        "{}",
        ran.stderr
    );
}

#[test]
fn malformed_files_end_with_code_2() {
    let bad = [
        (
            "litmus",
            "X86 t\n{ }\n P0 ;\n HLT ;\nexists (x=1)\n",
            "<stdin>:4:2",
        ),
        (
            "rmm",
            "forbidden A\nprocess\ntext\n A: sffence\n",
            "<stdin>:4:5",
        ),
        (
            "trencher",
            "thread t\ninitial q\ntransition q r frob\nend\n",
            "<stdin>:3:16",
        ),
    ];
    for (format, text, place) in bad {
        for command in ["verify", "infer", "convert"] {
            let ran = run_on(&[command, "-", "--from", format], text, &[]);
            assert_eq!(ran.code, 2, "{format}: {ran:?}");
            assert!(ran.stderr.contains(place), "{format}: {}", ran.stderr);
            assert!(ran.stderr.contains("help: "), "{format}: {}", ran.stderr);
            assert!(ran.stdout.is_empty());
        }
    }
}

/// Two threads with a lock: in the locked part they look whether it is free.
fn test_and_set(taken: &str) -> String {
    let thread = |name: &str| {
        format!(
            "thread {name}\ninitial q0\ntransition q0 q1 lock\ntransition q1 q2 read r 0\n\
             transition q2 q3 check {taken}\ntransition q3 q4 write 2 0\ntransition q4 cs unlock\n\
             transition q2 q5 check ! == r 0\ntransition q5 q0 unlock\n\
             transition cs q6 write 0 0\ntransition q6 q0 noop\nend\n"
        )
    };
    thread("t0") + &thread("t1")
}

#[test]
fn locked_parts_with_branches_and_bits() {
    let ask = |text: &str, model: &str| {
        let forbid = [
            "--from",
            "trencher",
            "--forbid",
            "t0:cs,t1:cs",
            "--model",
            model,
        ];
        let ran = run_on(
            &[&["verify", "-", "--no-trace"], &forbid[..]].concat(),
            text,
            &[],
        );
        ran.code
    };
    for model in ["sc", "tso", "pso"] {
        assert_eq!(ask(&test_and_set("== r 0"), model), 0, "{model}");
        // Bit 1 is what is stored, bit 0 is not.
        assert_eq!(ask(&test_and_set("== & r 2 0"), model), 0, "{model}");
        assert_eq!(ask(&test_and_set("== & r 1 0"), model), 1, "{model}");
        assert_eq!(ask(&test_and_set("== ^ r ~ 0 -1"), model), 0, "{model}");
        assert_eq!(ask(&test_and_set("| r 1"), model), 1, "{model}");
    }
    let text = test_and_set("== r 0");
    let printed = run_on(
        &[
            "convert",
            "-",
            "--from",
            "trencher",
            "--forbid",
            "t0:cs,t1:cs",
        ],
        &text,
        &[],
    );
    let again = run_on(&["verify", "-", "--model", "tso"], &printed.stdout, &[]);
    assert_eq!(again.code, 0, "{printed:?}\n{again:?}");
}

/// In a locked part nobody else writes: a loop that only reads again waits for ever.
#[test]
fn locked_parts_that_wait() {
    let thread = |name: &str, back: &str| {
        format!(
            "thread {name}\ninitial q0\ntransition q0 q1 read r 1\ntransition q1 q2 lock\n\
             transition q2 q3 read tail 1\n{back}\n\
             transition q3 q4 check == tail r\ntransition q4 q5 write + r 1 1\n\
             transition q5 q6 unlock\ntransition q6 q7 read head 0\n\
             transition q7 q6 check != head r\ntransition q7 cs check == head r\n\
             transition cs done write + r 1 0\nend\n"
        )
    };
    let ask = |back: &str, model: &str| {
        let text = thread("t0", back) + &thread("t1", back);
        let asked = ["verify", "-", "--from", "trencher", "--no-trace"];
        let forbid = ["--forbid", "t0:cs,t1:cs", "--model", model];
        run_on(&[&asked[..], &forbid[..]].concat(), &text, &[])
    };
    for model in ["sc", "tso", "pso"] {
        let ran = ask("transition q3 q2 check != tail r", model);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    // The next round may be another one.
    let other = "transition q3 q8 check != tail r\ntransition q8 q2 local r tail";
    let ran = ask(other, "sc");
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("the locked part has a loop"), "{ran:?}");
}

#[test]
fn synchronised_accesses_of_machines_act_on_memory() {
    let machine = |write: &str, read: &str| {
        let process = |own: &str, other: &str| {
            format!(
                "process\nregisters $r = 1 : [0:1]\ntext\n{write}: {own} := 1;\n\
                 {read}: $r := {other};\nif $r = 0 then ZERO: nop\n"
            )
        };
        let both = process("x", "y") + &process("y", "x");
        format!("forbidden ZERO ZERO\ndata x = 0 : [0:1] y = 0 : [0:1]\n{both}")
    };
    for model in ["tso", "pso"] {
        let cases = [
            ("write", "read", 1),
            ("syncwr", "read", 0),
            ("syncwr", "syncrd", 0),
        ];
        for (write, read, code) in cases {
            let arguments = [
                "verify",
                "-",
                "--from",
                "rmm",
                "--no-trace",
                "--model",
                model,
            ];
            let ran = run_on(&arguments, &machine(write, read), &[]);
            assert_eq!(ran.code, code, "{write} {read} {model}: {ran:?}");
        }
    }
    // A synchronised read waits for the own stores that are pending: all of them under TSO, those
    // to its place under PSO.
    for (model, code) in [("tso", 0), ("pso", 1)] {
        let arguments = [
            "verify",
            "-",
            "--from",
            "rmm",
            "--no-trace",
            "--model",
            model,
        ];
        let ran = run_on(&arguments, &machine("write", "syncrd"), &[]);
        assert_eq!(ran.code, code, "{model}: {ran:?}");
    }
}

#[test]
fn processes_with_very_many_starts() {
    let text = "shared int[0..=15] x;
        process p[i in 0..=1] {
            int[0..=15] a = *, b = *, c = *, d = *, e = *;
            b = 1; c = 1; d = b; e = c;
            store x = a;
            load a = x;
            assert(a >= 0 && d == 1 && e == 1);
        }";
    let ran = run_on(&["verify", "-", "--model", "tso"], text, &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let all = text.replace("assert(a >= 0", "assert(a != 7");
    let ran = run_on(&["verify", "-", "--model", "tso"], &all, &[]);
    assert_eq!(ran.code, 1, "{ran:?}");
    // What a property sees is there from the start.
    let seen = format!("{text} invariant p[0].a <= 15;");
    let ran = run_on(&["verify", "-"], &seen, &[]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("too many ways"), "{ran:?}");
}
