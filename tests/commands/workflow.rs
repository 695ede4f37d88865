//! Several programs at a time, formats for other tools, and what is said to whom.

use crate::binary::{algorithm, file, json, run, run_on};
use serde_json::Value;

const BROKEN: &str = "process p { x = 1; }";

#[test]
fn several_programs_and_folders() {
    let (folder, path) = file(
        "a.fen",
        "shared bool x; process p { store x = 1; } final x;",
    );
    std::fs::write(folder.path().join("b.fen"), BROKEN).expect("a file");
    std::fs::write(folder.path().join("notes.txt"), "nothing").expect("a file");
    let (a, all) = (
        path.display().to_string(),
        folder.path().display().to_string(),
    );
    for command in ["verify", "infer"] {
        let ran = run(&[command, &a, &algorithm("litmus/lb")]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(
            ran.stdout.matches(" under TSO: correct").count(),
            2,
            "{ran:?}"
        );
        // The worst counts, and what is broken does not stop the others.
        let ran = run(&[command, &all, &algorithm("lock/ttas-broken")]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stdout.matches(" under ").count() >= 4, "{ran:?}");
        assert!(ran.stderr.contains("unknown local 'x'"), "{ran:?}");
        let ran = run(&[command, &a, &algorithm("lock/ttas-broken")]);
        assert_eq!(ran.code, 1, "{ran:?}");
        let answers = json(&run(&[command, &all, "--model", "tso", "--format", "json"]));
        assert_eq!(answers.len(), 2);
        assert_eq!(answers[0]["outcome"], "correct");
        assert_eq!(answers[1]["outcome"], "error");
        assert_eq!(answers[1]["errors"][0]["message"], "unknown local 'x'");
        assert_eq!(answers[1]["errors"][0]["line"], 1);
    }
    let ran = run(&["verify", "missing.fen", &a]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stdout.contains("a.fen under TSO: correct"), "{ran:?}");
}

#[test]
fn what_is_about_one_program() {
    let (sb, mp) = (algorithm("litmus/sb"), algorithm("litmus/mp"));
    let refused: [&[&str]; 4] = [
        &["verify", "--save-trace", "t.json"],
        &["verify", "--fence", "1:1"],
        &["infer", "--emit", "e.fen"],
        &["infer", "--certificate", "c.json", "--model", "tso"],
    ];
    for arguments in refused {
        let ran = run(&[&arguments[..1], &[&sb, &mp], &arguments[1..]].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
        let words = format!("{} is about one program, and there are 2", arguments[1]);
        assert!(ran.stderr.contains(&words), "{ran:?}");
    }
}

#[test]
fn a_file_for_each_model() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("fenced.fen").display().to_string();
    let ran = run(&["infer", &algorithm("mutex/peterson"), "--emit", &path]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for (model, fences) in [("tso", 1), ("pso", 2)] {
        let path = folder.path().join(format!("fenced.{model}.fen"));
        let text = std::fs::read_to_string(&path).expect("it was written");
        assert_eq!(text.matches("fence;").count(), fences, "{text}");
        let verified = run(&["verify", &path.display().to_string(), "--model", model]);
        assert_eq!(verified.code, 0, "{verified:?}");
    }
    assert!(!folder.path().join("fenced.fen").exists());
}

#[test]
fn quiet_is_one_line_an_answer() {
    for command in ["verify", "infer"] {
        let ran = run(&[command, &algorithm("litmus/sb"), "--quiet"]);
        assert_eq!(ran.stdout.lines().count(), 2, "{ran:?}");
    }
}

fn sarif(arguments: &[&str], input: &str) -> Vec<Value> {
    let ran = run_on(&[arguments, &["--format", "sarif"]].concat(), input, &[]);
    let log: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "fencesmith");
    let results = run["results"].as_array().expect("results").clone();
    for result in &results {
        let index = result["ruleIndex"].as_u64().expect("an index") as usize;
        assert_eq!(
            run["tool"]["driver"]["rules"][index]["id"],
            result["ruleId"]
        );
    }
    results
}

#[test]
fn findings_for_other_tools() {
    let found = sarif(
        &["verify", &algorithm("litmus/sb"), "--model", "sc,tso"],
        "",
    );
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["ruleId"], "violation");
    let place = &found[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "algorithms/litmus/sb.fen");
    assert_eq!(place["region"]["startLine"], 25);
    let steps = &found[0]["codeFlows"][0]["threadFlows"][0]["locations"];
    assert_eq!(steps[0]["location"]["message"]["text"], "p0: store x = 1");
    let found = sarif(&["verify", "-"], BROKEN);
    assert_eq!((found.len(), &found[0]["ruleId"]), (1, &"program".into()));
    let found = sarif(&["verify", "-", "--model", "tso"], "process p { skip; }");
    assert_eq!((found.len(), &found[0]["ruleId"]), (1, &"unchecked".into()));
}

/// The fixes of all findings together are the program that is emitted.
#[test]
fn fences_are_fixes() {
    let name = algorithm("mutex/peterson");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("fenced.fen").display().to_string();
    let asked = ["infer", &name, "--model", "pso"];
    assert_eq!(run(&[&asked[..], &["--emit", &path]].concat()).code, 0);
    let found = sarif(&asked, "");
    let text = std::fs::read_to_string(&name).expect("the program");
    let mut lines: Vec<String> = text.lines().map(|line| format!("{line}\n")).collect();
    for fence in found.iter().rev() {
        assert_eq!(fence["ruleId"], "fence");
        let change = &fence["fixes"][0]["artifactChanges"][0]["replacements"][0];
        let line = change["deletedRegion"]["startLine"]
            .as_u64()
            .expect("a line") as usize;
        assert_eq!(change["deletedRegion"]["endLine"], line);
        let inserted = change["insertedContent"]["text"].as_str().expect("a text");
        lines.insert(line - 1, inserted.to_string());
    }
    let emitted = std::fs::read_to_string(&path).expect("it was written");
    assert_eq!(lines.concat(), emitted);
}

#[test]
fn a_trace_of_another_program() {
    let (folder, path) = file("t.json", "");
    let trace = path.display().to_string();
    let peterson = algorithm("mutex/peterson");
    let saved = run(&[
        "verify",
        &peterson,
        "--model",
        "tso",
        "--save-trace",
        &trace,
    ]);
    assert_eq!(saved.code, 1, "{saved:?}");
    let ran = run(&["replay", &algorithm("mutex/dekker"), "--trace", &trace]);
    let words = format!("; the trace is one of '{peterson}'");
    assert!(ran.stdout.contains(&words), "{ran:?}");
    drop(folder);
}

#[test]
fn manual_pages_of_commands() {
    for (command, option) in [("verify", "stuck"), ("infer", "emit"), ("sweep", "resume")] {
        let ran = run(&["man", command]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(
            ran.stdout.contains(&format!("fencesmith\\-{command}")),
            "{ran:?}"
        );
        assert!(ran.stdout.contains(&format!("\\-\\-{option}")), "{ran:?}");
        assert!(ran.stdout.contains("Exit codes"), "{ran:?}");
    }
    assert_eq!(run(&["man", "nothing"]).code, 2);
}

/// A page of answers lists what is broken.
#[test]
fn broken_programs_on_a_page() {
    let (folder, path) = file("b.fen", BROKEN);
    let broken = path.display().to_string();
    let (results, html) = (folder.path().join("r.json"), folder.path().join("r.html"));
    let ran = run(&[
        "verify",
        &broken,
        &algorithm("litmus/sb"),
        "--format",
        "json",
    ]);
    assert_eq!(ran.code, 2, "{ran:?}");
    std::fs::write(&results, ran.stdout).expect("a file");
    let (results, page) = (results.display().to_string(), html.display().to_string());
    let ran = run(&["report", &results, "--html", &page]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let page = std::fs::read_to_string(html).expect("a page");
    assert!(page.contains("unknown local"), "the error is on the page");
}

#[test]
fn the_language_is_at_hand() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/language.md");
    let document = std::fs::read_to_string(path).expect("the document");
    assert_eq!(run(&["language"]).stdout, document);
    let help = run(&["help", "language"]);
    assert_eq!(help.code, 0, "{help:?}");
    for words in ["## Memory", "`cas ok = x, old, new;`", "mutex critical;"] {
        assert!(help.stdout.contains(words), "{words}: {help:?}");
    }
}

#[test]
fn what_grows_without_bound_is_said_before_the_search() {
    let grows = [
        "process p { int n; while (true) n++; }",
        "shared int x; process p { int r; while (true) add r = x, 1; }",
        "shared int x; process p { int r; while (true) { load r = x; store x = r + 1; } }",
        "process p { int n, m; while (m < 3) { n = n * 2 + 1; n = 2 * n; } }",
    ];
    let bounded = [
        "process p { int n; while (n < 3) n++; }",
        "process p { int[0..=3] n; while (true) n = (n + 1) % 4; }",
        "process p { int n; while (true) n = (n + 1) % 4; }",
        "process p { int n; n++; n++; }",
        "shared int x; process p { int n; while (true) { load n = x; n++; } }",
        "process p { int n; while (true) { n = 0; n++; } }",
        "shared int x; process p { int r; do { load r = x; store x = r + 1; } while (r < 2); }",
    ];
    let ask = |text: &str, format: &str| {
        let limits = ["verify", "-", "--model", "sc", "--max-states", "50"];
        run_on(&[&limits[..], &["--format", format]].concat(), text, &[])
    };
    for (texts, expected) in [(&grows[..], true), (&bounded[..], false)] {
        for text in texts {
            let text = format!("{text}\nprocess q {{ assert(true); }}");
            let words = "has no range and grows in a loop";
            let said = ask(&text, "text").stderr;
            assert_eq!(said.contains(words), expected, "{text}\n{said}");
            assert_eq!(said.contains("integer"), expected, "{text}\n{said}");
            let json = ask(&text, "json").stdout;
            assert_eq!(json.contains(words), expected, "{text}\n{json}");
        }
    }
}
