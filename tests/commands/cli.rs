//! The command line: exit codes, messages, JSON, limits.

use crate::binary::{Ran, algorithm, file, json, run, run_on, verify};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// A run that was given up ends within this time.
const SOON: Duration = Duration::from_secs(3);

fn peterson() -> String {
    algorithm("mutex/peterson")
}

/// Verifies a text given on standard input with the exact models and buffers of length 2.
fn verify_text(text: &str, model: &str, more: &[&str]) -> Ran {
    let fixed = ["verify", "-", "--abs", "exact", "--bound", "2", "--model"];
    run_on(&[&fixed[..], &[model], more].concat(), text, &[])
}

#[test]
fn peterson_and_fences() {
    // The fences, the exit codes under SC, TSO and PSO.
    let cases: &[(&[&str], [i32; 3])] = &[
        (&[], [0, 1, 1]),
        (&["--fence", "19:9:after,18:9:after"], [0, 0, 0]),
        (
            &["--fence", "18:9:after", "--fence", "19:9:after"],
            [0, 0, 0],
        ),
        // Where `fence;` would be typed, blanks aside: before the second store, and before
        // the loop, which is also behind that store.
        (&["--fence", "19:9,20:9"], [0, 0, 0]),
        (&["--fence", "18:29,19:28"], [0, 0, 0]),
        (&["--fence", "19:1,20:1"], [0, 0, 0]),
        // TSO keeps the stores in order: a fence behind both is enough.
        (&["--fence", "19:9:after"], [0, 0, 1]),
        (&["--fence", "20:9:before"], [0, 0, 1]),
        (&["--fence", "18:9:after"], [0, 1, 1]),
        (&["--fence", "20:9:after"], [0, 1, 1]),
        (&["--fence", "26:9:after,26:9:before"], [0, 1, 1]),
    ];
    for (fences, expected) in cases {
        for (model, expected) in ["sc", "tso", "pso"].into_iter().zip(expected) {
            let ran = verify(&peterson(), model, 4, fences);
            assert_eq!(ran.code, *expected, "{fences:?} under {model}: {ran:?}");
            let word = ["correct (proved", "violated: mutex critical"][*expected as usize];
            assert!(ran.stdout.contains(word), "{ran:?}");
            assert_eq!(ran.stderr, "");
        }
    }
    let ran = verify(&peterson(), "sc,tso", 4, &[]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.stdout
            .contains("p[0] and p[1] are both at 'critical' (line 30)")
    );
    assert!(ran.stdout.contains("store ent[0] = 1"));
}

#[test]
fn fence_positions_that_do_not_exist() {
    let cases = [
        (
            "19:12",
            "no fence can be typed at 19:12; on that line there is room at 19:9, 19:28",
        ),
        ("19:12:after", "on that line there is room at 19:9, 19:28"),
        ("25:9", "on that line there is room at 25:14"),
        ("1:1", "no fence can be typed at 1:1\n"),
        ("0:0", "no fence can be typed at 0:0\n"),
        ("400:1", "no fence can be typed at 400:1\n"),
        (
            "4294967295:4294967295",
            "no fence can be typed at 4294967295:4294967295\n",
        ),
        (
            "19",
            "'19' is not [FILE:]LINE:COL, [FILE:]LINE:COL:before or [FILE:]LINE:COL:after",
        ),
        ("19:9:inside", "is not [FILE:]LINE:COL"),
        ("99999999999:1", "is not [FILE:]LINE:COL"),
        ("-1:1", "is not [FILE:]LINE:COL"),
    ];
    for (place, expected) in cases {
        let ran = verify(&peterson(), "tso", 2, &[&format!("--fence={place}")]);
        assert_eq!(ran.code, 2, "{place}: {ran:?}");
        assert!(ran.stderr.starts_with("error: "), "{place}: {ran:?}");
        assert!(ran.stderr.contains(expected), "{place}: {ran:?}");
        assert_eq!(ran.stdout, "");
    }
}

/// The answers without what may differ between two runs: times, and the size of a table
/// that may have grown one state earlier or later.
fn timeless(ran: &Ran) -> String {
    let mut reports = json(ran);
    for report in &mut reports {
        let fields = report.as_object_mut().expect("an object");
        let timing = fields.remove("timing");
        assert!(timing.is_some_and(|timing| timing.is_object()));
        let stats = fields["stats"].as_object_mut().expect("an object");
        assert!(stats.remove("bytes_per_state").is_some());
    }
    serde_json::to_string_pretty(&reports).expect("it was JSON before")
}

#[test]
fn json_has_the_fields_of_the_contract() {
    let ran = verify(&peterson(), "sc,tso,pso", 4, &["--format", "json"]);
    let reports = json(&ran);
    assert_eq!(reports.len(), 3);
    assert_eq!(ran.stderr, "");
    let outcomes = [("sc", "correct"), ("tso", "violated"), ("pso", "violated")];
    for (report, (model, outcome)) in reports.iter().zip(outcomes) {
        assert_eq!(report["schema"], "fencesmith/1");
        assert_eq!(report["tool"], env!("CARGO_PKG_VERSION"));
        assert_eq!(report["command"], "verify");
        assert_eq!(report["program"], peterson());
        assert_eq!(report["config"]["model"], model);
        assert_eq!(report["config"]["abstraction"], "exact");
        assert_eq!(report["config"]["bound"], 4);
        assert_eq!(report["outcome"], outcome);
        assert_eq!(report["warnings"], Value::Array(Vec::new()));
        for name in ["states", "transitions", "bytes_per_state"] {
            assert!(
                report["stats"][name].as_u64().is_some_and(|n| n > 0),
                "{name}"
            );
        }
        assert!(
            report["timing"]["total_s"]
                .as_f64()
                .is_some_and(|s| s > 0.0)
        );
        let violated = outcome == "violated";
        assert_eq!(
            report["spurious"],
            if violated {
                Value::Bool(false)
            } else {
                Value::Null
            }
        );
        let trace = report.get("trace").and_then(Value::as_array);
        assert_eq!(trace.is_some(), violated);
        for step in trace.into_iter().flatten() {
            assert!(
                step["process"]
                    .as_str()
                    .is_some_and(|name| name.starts_with("p["))
            );
            assert!(step["step"].is_string() && step["flush"].is_boolean());
            assert_eq!(step["line"].is_u64(), step["flush"] == false);
            assert!(step["memory"]["turn"].is_i64() && step["buffers"].is_object());
        }
    }
    assert_eq!(reports[1]["violation"]["line"], 30);
    assert_eq!(reports[1]["initial"]["memory"]["ent[0]"], 0);
}

#[test]
fn json_is_the_same_for_any_number_of_threads() {
    let programs = [
        ("mutex/peterson", "sc,tso,pso"),
        ("mutex/burns-3", "pso"),
        ("mutex/filter-3", "sc"),
        ("mutex/lamport-fast-3", "pso"),
        ("lock/clh-3", "tso"),
        ("barrier/tournament-4", "pso"),
        ("litmus/4.2w", "sc,tso,pso"),
    ];
    for (name, models) in programs {
        let run = |threads: &str, more: &[&str]| {
            let options = ["--format", "json", "--threads", threads];
            timeless(&verify(
                &algorithm(name),
                models,
                2,
                &[&options[..], more].concat(),
            ))
        };
        for more in [&[][..], &["--no-fuse"]] {
            let one = run("1", more);
            for threads in ["1", "2", "2", "3"] {
                assert_eq!(
                    one,
                    run(threads, more),
                    "{name}, {threads} threads, {more:?}"
                );
            }
        }
    }
}

#[test]
fn a_bound_that_is_too_small_is_no_proof() {
    let pair = "shared int x; process p { store x = 1; store x = 2; } \
        process q { int r; load r = x; } forbid x == 3;";
    let forever = "shared int x; process p { while (true) { store x = 1; } } forbid x == 3;";
    // The program, the bound, the exit code.
    let cases = [
        (pair, 1, 3),
        (pair, 2, 0),
        (forever, 2, 3),
        (forever, 40, 3),
    ];
    for (text, bound, code) in cases {
        for model in ["tso", "pso"] {
            let (_folder, path) = file("p.fen", text);
            let path = path.to_str().expect("a readable name");
            let ran = verify(path, model, bound, &[]);
            assert_eq!(ran.code, code, "bound {bound}, {text}: {ran:?}");
            let words = if code == 0 {
                "proved"
            } else {
                "try a larger --bound"
            };
            assert!(ran.stdout.contains(words), "{ran:?}");
            let report = &json(&verify(path, model, bound, &["--format", "json"]))[0];
            let outcome = if code == 0 { "correct" } else { "inconclusive" };
            assert_eq!(report["outcome"], outcome);
            let reason = report.get("reason").and_then(Value::as_str);
            assert_eq!(
                reason.is_some_and(|reason| reason.contains("bound")),
                code == 3
            );
        }
    }
    let ran = verify_text(forever, "sc", &[]);
    assert_eq!(ran.code, 0, "SC has no buffers: {ran:?}");
}

#[test]
fn limits_end_a_search_by_sets() {
    let cases: &[(&[&str], &str)] = &[
        (&["--max-states", "1000"], "the limit on states was reached"),
        (&["--max-states", "0"], "the limit on states was reached"),
        (&["--timeout", "0"], "the time limit was reached"),
        (&["--max-memory", "100K"], "the limit on memory was reached"),
        (&["--max-memory", "1"], "the limit on memory was reached"),
    ];
    for (options, reason) in cases {
        let options = [options, &["--search", "sets"][..]].concat();
        let ran = verify(&algorithm("mutex/bakery-3"), "sc", 1, &options);
        assert_eq!(ran.code, 3, "{options:?}: {ran:?}");
        assert!(ran.stdout.contains(reason), "{options:?}: {ran:?}");
        assert!(ran.stdout.contains(" writes, "), "{options:?}: {ran:?}");
    }
    let ran = verify(&algorithm("mutex/bakery-3"), "sc", 1, &["--search", "sets"]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn limits_end_a_run_with_what_is_known() {
    let cases: &[(&[&str], &str)] = &[
        (&["--max-states", "1000"], "the limit on states was reached"),
        (
            &["--max-states", "200000"],
            "the limit on states was reached",
        ),
        (&["--max-states", "0"], "the limit on states was reached"),
        (&["--timeout", "0"], "the time limit was reached"),
        (&["--timeout", "0.3"], "the time limit was reached"),
        (&["--max-memory", "1M"], "the limit on memory was reached"),
        (
            &["--max-memory", "16MiB"],
            "the limit on memory was reached",
        ),
        (&["--max-memory", "1"], "the limit on memory was reached"),
    ];
    for (options, reason) in cases {
        for threads in ["1", "2"] {
            let plain = ["--search", "plain", "--threads", threads];
            let options = [options, &plain[..]].concat();
            let filter = algorithm("mutex/filter-3");
            let ran = verify(&filter, "pso", 3, &options);
            assert_eq!(ran.code, 3, "{options:?}: {ran:?}");
            assert!(ran.took < SOON, "{options:?}: {ran:?}");
            assert!(ran.stdout.contains(reason), "{options:?}: {ran:?}");
            assert!(
                ran.stdout.contains(" transitions, "),
                "{options:?}: {ran:?}"
            );
        }
        let plain = ["--search", "plain", "--format", "json"];
        let options = [options, &plain[..]].concat();
        let report = &json(&verify(&algorithm("mutex/filter-3"), "pso", 3, &options))[0];
        assert_eq!(report["outcome"], "inconclusive");
        assert!(
            report["reason"]
                .as_str()
                .is_some_and(|text| text.contains(reason))
        );
        if let ["--max-states", most, ..] = options[..] {
            let states = report["stats"]["states"].as_u64().expect("a number");
            assert!(states <= most.parse().expect("a number"), "{report}");
        }
    }
    // A limit that is not reached changes nothing.
    let far = ["--max-states=100000", "--timeout=1e19", "--max-memory=1G"];
    let ran = verify(&peterson(), "sc", 2, &far);
    assert_eq!(ran.code, 0, "{ran:?}");
    // What was found before the limit counts.
    let counted = ["--full", "--max-states", "1000"];
    let ran = verify(&peterson(), "tso", 2, &counted);
    assert_eq!(ran.code, 1, "{ran:?}");
    let more = "; there may be more: the limit on states was reached\n";
    assert!(ran.stdout.contains(more), "{ran:?}");
    let file = peterson();
    let fd = ["verify", &file, "--model", "tso", "--abs", "fd", "--k", "0"];
    let ran = run(&[&fd[..], &["--full", "--max-states", "4000"]].concat());
    assert!(
        ran.stdout.contains(&format!(" by FD(k=0){more}")),
        "{ran:?}"
    );
    let counted = [&counted[..], &["--format", "json"]].concat();
    let report = &json(&verify(&peterson(), "tso", 2, &counted))[0];
    assert_eq!(report["outcome"], "violated");
    assert_eq!(report["stopped"], "states");
    // Whoever asks for a violation is not told how many states there are.
    let ran = verify(&peterson(), "tso", 2, &["--search", "plain"]);
    assert!(!ran.stdout.contains("there may be more"), "{ran:?}");
}

/// Exit codes of several answers: a violation before an open end before a proof.
#[test]
fn the_worst_answer_decides() {
    let cases = [("sc", 0), ("tso", 1), ("sc,tso", 1), ("pso,sc", 1)];
    for (models, code) in cases {
        assert_eq!(verify(&peterson(), models, 2, &[]).code, code, "{models}");
    }
    let text = "shared int x; process p { while (true) { store x = 1; } } forbid x == 3;";
    assert_eq!(verify_text(text, "sc,tso", &[]).code, 3);
    assert_eq!(verify_text(text, "tso,sc", &[]).code, 3);
}

/// The command ends with an error and prints nothing, or an error in JSON.
fn assert_no_result(ran: &Ran, format: &str) {
    assert_eq!(ran.code, 2, "{ran:?}");
    match format {
        "json" => {
            let answers = json(ran);
            assert_eq!(answers.len(), 1, "{ran:?}");
            assert_eq!(answers[0]["outcome"], "error", "{ran:?}");
        }
        _ => assert_eq!(ran.stdout, "", "{ran:?}"),
    }
}

#[test]
fn files_that_are_no_programs() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    let write = |name: &str, bytes: &[u8]| std::fs::write(path(name), bytes).expect("written");
    write("bytes.fen", b"shared int x;\n  \xff\xfe");
    write("empty.fen", b"");
    write("blank.fen", b" \n\n// nothing\n");
    write("zero.fen", b"\0\0\0");
    let cases = [
        ("missing.fen", "missing.fen': No such file"),
        ("bytes.fen", "bytes.fen' is not UTF-8 text: see "),
        ("bytes.fen", "bytes.fen:2:3"),
        ("empty.fen", "the program has no process"),
        ("blank.fen", "the program has no process"),
        ("zero.fen", "error: "),
    ];
    for (name, expected) in cases {
        for format in ["text", "json"] {
            let path = path(name);
            let path = path.to_str().expect("a readable name");
            let ran = verify(path, "tso,pso", 2, &["--format", format]);
            assert_no_result(&ran, format);
            assert!(ran.stderr.starts_with("error: "), "{name}: {ran:?}");
            assert!(ran.stderr.contains(expected), "{name}: {ran:?}");
            let is_file_error = !ran.stderr.contains("-->");
            assert!(!is_file_error || ran.stderr.lines().count() == 1, "{ran:?}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read() {
    use std::os::unix::fs::PermissionsExt;

    let (_folder, path) = file("secret.fen", "process p { }");
    let nobody = std::fs::Permissions::from_mode(0o000);
    std::fs::set_permissions(&path, nobody).expect("permissions can be changed");
    if std::fs::read(&path).is_ok() {
        return; // the super-user reads everything
    }
    let ran = verify(path.to_str().expect("a readable name"), "sc", 2, &[]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("secret.fen': Permission denied"),
        "{ran:?}"
    );
}

#[test]
fn a_program_on_standard_input() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(peterson()));
    let text = text.expect("Peterson's algorithm is there");
    for (model, code) in [("sc", 0), ("pso", 1)] {
        let ran = verify_text(&text, model, &[]);
        assert_eq!(ran.code, code, "{ran:?}");
        assert!(ran.stdout.starts_with("<stdin> under "), "{ran:?}");
    }
    let ran = verify_text("shared int x", "sc", &[]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("--> <stdin>:1:13"), "{ran:?}");
}

#[test]
fn wrong_programs_print_no_results() {
    let text = "shared int x;\nprocess p { store y = 1; load z = x; }\n";
    for format in ["text", "json"] {
        let ran = verify_text(text, "tso", &["--format", format]);
        assert_no_result(&ran, format);
        let errors = ran.stderr.matches("error: ").count();
        assert_eq!(errors, 2, "all errors in one go: {ran:?}");
        assert!(
            ran.stderr.contains("2:19") && ran.stderr.contains("2:31"),
            "{ran:?}"
        );
    }
}

/// Runs with one of the standard streams already closed at the other end.
#[cfg(unix)]
fn closed(arguments: &[&str], stderr: bool) -> std::process::Output {
    use std::process::{Command, Stdio};

    let mut command = Command::new(env!("CARGO_BIN_EXE_fencesmith"));
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(arguments);
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    match stderr {
        false => command.stdout(writer).stderr(Stdio::piped()),
        true => command.stderr(writer).stdout(Stdio::piped()),
    };
    command.output().expect("the program starts")
}

#[cfg(unix)]
#[test]
fn a_reader_that_has_gone_away_is_no_error() {
    let exact = ["--abs", "exact", "--bound", "2", "--model"];
    let vacuous = "process p { if (false) { L: skip; } } forbid p at L;";
    let (_folder, vacuous) = file("vacuous.fen", vacuous);
    let vacuous = vacuous.to_str().expect("a readable name");
    let peterson = peterson();
    let on = |file, more: &[&'static str]| -> Vec<String> {
        let all = [&["verify", file][..], &exact, more].concat();
        all.into_iter().map(str::to_string).collect()
    };
    let cases = [
        (on(&peterson, &["tso"]), false, 1),
        (on(&peterson, &["tso,pso", "--format", "json"]), false, 1),
        (on(&peterson, &["sc"]), false, 0),
        (vec!["--help".to_string()], false, 0),
        (on("missing.fen", &["sc"]), true, 2),
        (on("Cargo.toml", &["sc"]), true, 2),
        (on(vacuous, &["sc"]), true, 0),
        (on(vacuous, &["sc", "--unknown"]), true, 2),
    ];
    for (arguments, stderr, code) in cases {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = closed(&arguments, stderr);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{arguments:?}: {output:?}"
        );
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn results_that_cannot_be_written() {
    use std::process::Command;

    let full = std::fs::File::options().write(true).open("/dev/full");
    let output = Command::new(env!("CARGO_BIN_EXE_fencesmith"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["verify", &peterson(), "--abs", "exact", "--bound", "2"])
        .stdout(full.expect("Linux has a full device"))
        .output()
        .expect("the program starts");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text.starts_with("error: cannot write the results: "),
        "{text}"
    );

    let ran = verify(
        &peterson(),
        "tso",
        2,
        &["--save-trace", "/missing/trace.json"],
    );
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("cannot write '/missing/trace.json': "),
        "{ran:?}"
    );
}

#[test]
fn colours_only_where_they_are_wanted() {
    let coloured = |more: &[&str], no_color: &[(&str, &str)], text: &str| {
        let fixed = [
            "verify", "-", "--abs", "exact", "--bound", "2", "--model", "sc",
        ];
        let ran = run_on(&[&fixed[..], more].concat(), text, no_color);
        let escaped = |text: &str| text.contains('\x1b');
        (escaped(&ran.stdout), escaped(&ran.stderr))
    };
    let fine = "process p { assert(true); }";
    let wrong = "process p { x = 1; }";
    let no_color = &[("NO_COLOR", "1")][..];
    // What is asked for, the environment, whether there are colours.
    type Case<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)], bool);
    let cases: &[Case] = &[
        (&[], &[], false),
        (&[], no_color, false),
        (&["--color", "never"], &[], false),
        (&["--color", "auto"], &[("CLICOLOR_FORCE", "1")], true),
        (&["--color", "never"], &[("CLICOLOR_FORCE", "1")], false),
        (&["--color", "always"], &[], true),
        (&["--color", "always"], no_color, true),
    ];
    for (more, environment, expected) in cases {
        let results = coloured(more, environment, fine);
        assert_eq!(results, (*expected, false), "{more:?} {environment:?}");
        let errors = coloured(more, environment, wrong);
        assert_eq!(errors, (false, *expected), "{more:?} {environment:?}");
    }
    let (always, json) = (["--color", "always"], ["--format", "json"]);
    assert_eq!(
        coloured(&[always, json].concat(), &[], fine),
        (false, false)
    );
}

#[test]
fn properties_that_hold_because_nothing_happens() {
    let label = "shared int x; process p { int r; load r = x; if (r == 1) { L: skip; } } \
        forbid p at L;";
    let no_end = "shared int x; process p { while (true) { store x = 0; } } final x == 0;";
    let both = "shared int x; process p { int r; load r = x; if (r == 1) { L: skip; } }\n\
        process q { while (true) { store x = 0; } }\nforbid p at L;\nfinal x == 0;";
    let neither = "shared int x; process p { store x = 0; L: skip; } \
        forbid p at L && x == 1; final x == 0;";
    let (unreached, endless) = ("no process reaches 'L'", "no final state is reachable");
    let cases: &[(&str, &[&str])] = &[
        (label, &[unreached]),
        (no_end, &[endless]),
        (both, &[unreached, endless]),
        (neither, &[]),
    ];
    for (text, warnings) in cases {
        let ran = verify_text(text, "sc", &[]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(!ran.stdout.contains("warning"), "{ran:?}");
        let found = ran.stderr.matches("warning: ").count();
        assert_eq!(found, warnings.len(), "{ran:?}");
        assert_eq!(verify_text(text, "sc", &["--quiet"]).stderr, ran.stderr);
        let report = &json(&verify_text(text, "sc", &["--format", "json"]))[0];
        let listed = report["warnings"].as_array().expect("an array");
        assert_eq!(listed.len(), warnings.len(), "{report}");
        for (warning, listed) in warnings.iter().zip(listed) {
            assert!(
                ran.stderr.contains(&format!("warning: {warning} under SC")),
                "{ran:?}"
            );
            assert!(
                listed.as_str().is_some_and(|text| text.contains(warning)),
                "{report}"
            );
        }
    }
}

#[test]
fn what_counts_as_a_violation() {
    // The program, further options, the exit code under every model, and what is said.
    let cases: &[(&str, &[&str], i32, &str)] = &[
        (
            "shared int x; process p { int r = 2147483647; r = r + 1; store x = r; }",
            &[],
            1,
            "runtime error in p: r = r + 1: a result does not fit 32 bits",
        ),
        (
            "shared int[0..=1] x; process p { int r = 2; store x = r; }",
            &[],
            1,
            "the value 2 is outside the range 0..=1",
        ),
        (
            "shared int x = 2; process p { int[0..=1] r; load r = x; }",
            &[],
            1,
            "the value 2 is outside the range 0..=1",
        ),
        (
            "shared int x[2]; process p { int i = 2; store x[i] = 1; }",
            &[],
            1,
            "the index 2 is outside the array of 2 cells",
        ),
        (
            "shared int x; process p { int z; z = 1 / z; store x = z; }",
            &[],
            1,
            "division by zero",
        ),
        (
            "shared int x; process p { int z; z = 1 % z; store x = z; }",
            &[],
            1,
            "division by zero",
        ),
        (
            "shared int x; process p { int z; z = z != 0 && 1 / z; store x = z; }",
            &[],
            0,
            "correct",
        ),
        (
            "shared int x[2]; process p { store x[0] = 5; } forbid x[x[0]] == 1;",
            &[],
            1,
            "the index 5 is outside the array of 2 cells",
        ),
        (
            "shared int x; process p { int z; load z = x; assert (z == 1); }",
            &[],
            1,
            "assertion failed in p: assert (z == 1)",
        ),
        (
            "shared int x; process p { store x = 1; } invariant x == 0;",
            &[],
            1,
            "invariant x == 0: the state does not satisfy it",
        ),
        (
            "shared int x = 3; process p { skip; } forbid x == 3;",
            &[],
            1,
            "forbid x == 3: the state satisfies it",
        ),
        (
            "shared int x; process p { store x = 1; } final x == 0;",
            &[],
            1,
            "final x == 0: the final state does not satisfy it",
        ),
        (
            "shared int x; process p { int r; load r = x; assume (r == 1); }",
            &[],
            0,
            "correct",
        ),
        (
            "shared int x; process p { int r; load r = x; assume (r == 1); }",
            &["--deadlock"],
            1,
            "deadlock: p waits at 1:46",
        ),
        (
            "shared int x; process p { store x = 1; stop; }",
            &["--deadlock"],
            0,
            "correct",
        ),
    ];
    for (text, options, code, words) in cases {
        for model in ["sc", "tso", "pso"] {
            let ran = verify_text(text, model, options);
            assert_eq!(ran.code, *code, "{text} under {model}: {ran:?}");
            assert!(ran.stdout.contains(words), "{text} under {model}: {ran:?}");
        }
    }
}

#[test]
fn wrong_command_lines() {
    let peterson = peterson();
    let cases: &[(&[&str], &str)] = &[
        (&["verify", &peterson, "--bogus"], "--bogus"),
        (&["verify"], "<FILE>"),
        (&["prove", &peterson], "prove"),
        (&["verify", &peterson, "--model", "arm"], "arm"),
        (&["verify", &peterson, "--abs", "magic"], "magic"),
        (&["verify", &peterson, "--abs", "exact", "--k", "1"], "--k"),
        (&["verify", &peterson, "--bound", "0"], "--bound"),
        (&["verify", &peterson, "--bound", "x"], "--bound"),
        (&["verify", &peterson, "--threads", "0"], "--threads"),
        (&["verify", &peterson, "--max-states", "-1"], "-1"),
        (&["verify", &peterson, "--max-memory", "lots"], "lots"),
        (&["verify", &peterson, "--max-memory", "9é"], "9é"),
        (&["verify", &peterson, "--timeout", "soon"], "soon"),
        (&["verify", &peterson, "--timeout", "1e300"], "1e300"),
        (&["verify", &peterson, "--timeout=-1"], "-1"),
        (&["verify", &peterson, "--format", "xml"], "xml"),
        (&["replay", &peterson], "--trace"),
        (
            &["replay", &peterson, "--trace", "missing.json"],
            "missing.json",
        ),
    ];
    for (arguments, words) in cases {
        let ran = run(arguments);
        assert_eq!((ran.code, &*ran.stdout), (2, ""), "{arguments:?}: {ran:?}");
        assert!(ran.stderr.starts_with("error: "), "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains(words), "{arguments:?}: {ran:?}");
    }
}

#[test]
fn help_says_what_exit_codes_mean() {
    let ran = run(&["--help"]);
    assert_eq!(ran.code, 0);
    let codes = ran.stdout.split_once("Exit codes:").expect("exit codes").1;
    for code in [
        "0  safe",
        "1  a violation",
        "2  the input",
        "3  inconclusive",
    ] {
        assert!(codes.contains(code), "{codes}");
    }
    assert_eq!(run(&["verify", "--help"]).code, 0);
    assert!(
        run(&["--version"])
            .stdout
            .contains(env!("CARGO_PKG_VERSION"))
    );
}

/// A counterexample whose replay on the exact model needs long buffers.
#[test]
fn a_replay_keeps_to_the_limits() {
    let stores = "store x = 1; ".repeat(1_000);
    let text = format!("shared bool x, y; process p {{ {stores} store y = 1; }} forbid y == 1;");
    let verify = |more: &[&str]| {
        let fixed = ["verify", "-", "--model", "tso", "--no-trace"];
        run_on(&[&fixed[..], more].concat(), &text, &[])
    };
    assert_eq!(verify(&[]).code, 1);
    let ran = verify(&["--max-memory", "20M"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.stdout.contains("its replay was given up"), "{ran:?}");
}

/// The search goes on behind a violation until its time is over; that leaves none for the
/// replay, which gets a moment of its own.
#[test]
fn a_violation_that_was_found_in_time_is_replayed() {
    let text = "shared bool x, y; process p { bool r; store x = 1; load r = y; l: skip; } \
                process q { bool r; store y = 1; load r = x; l: skip; } \
                process endless { int i; while (true) { i = i + 1; skip; } } \
                forbid p at l && q at l && !p.r && !q.r;";
    let arguments = [
        "verify",
        "-",
        "--model",
        "tso",
        "--full",
        "--no-fuse",
        "--no-trace",
    ];
    let ran = run_on(&[&arguments[..], &["--timeout", "2"]].concat(), text, &[]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.contains("under TSO: violated"), "{ran:?}");
}
