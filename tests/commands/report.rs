//! The page, the manual and the completions. `tests/browser` opens the page in a browser.

use crate::binary::{file, run};
use std::path::Path;

/// A report on what these commands write; they may exit with any of these codes.
fn page(results: &[&[&str]]) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let mut paths = Vec::new();
    for (index, arguments) in results.iter().enumerate() {
        let ran = run(&[arguments, &["--format", "json"][..]].concat());
        let path = file(&format!("{index}.json"));
        std::fs::write(&path, ran.stdout).expect("it can be written");
        paths.push(path);
    }
    let html = file("page.html");
    let mut arguments = vec!["report", "--html", &html, "--title", "A <b> & \"c\""];
    arguments.extend(paths.iter().map(String::as_str));
    let ran = run(&arguments);
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (0, "", "")
    );
    std::fs::read_to_string(Path::new(&html)).expect("it was written")
}

#[test]
fn a_page_of_single_answers() {
    let peterson = "algorithms/mutex/peterson.fen";
    let page = page(&[&["verify", peterson], &["infer", peterson, "--all"]]);
    assert!(page.contains("<h1>A &lt;b&gt; &amp; &quot;c&quot;</h1>"));
    assert!(
        !page.contains("src=") && !page.contains("@import"),
        "nothing is fetched"
    );
    assert_eq!(page.matches("<details class=\"program\"").count(), 1);
    assert_eq!(
        page.matches("data-version=").count(),
        5,
        "two placements a model, and none"
    );
    let marked = page.matches("class=\"line fence\"").count();
    assert_eq!(marked, 6, "one fence under TSO, two under PSO, twice each");
    assert!(
        page.contains("TSO: after 19 (optimal)"),
        "the placement is named"
    );
    assert!(
        page.contains("PSO: without further fences"),
        "the counterexample is there"
    );
    assert!(
        page.contains("\"buffers\":{\"p[0]\":[\"ent[0] = 1\"]}"),
        "with its buffers"
    );
}

#[test]
fn a_program_cannot_break_the_page() {
    let text = "// </script><script>alert(1)</script>
shared bool x;
process p { store x = 1; assert(1 == 2 /* <!--<script> */); }";
    let (_keep, path) = file("a.fen", text);
    let page = page(&[&["verify", &path.display().to_string()]]);
    for tag in ["<script", "</script"] {
        assert_eq!(page.matches(tag).count(), 2, "data and script, once each");
    }
    assert!(page.contains("// &lt;/script&gt;"));
    assert!(page.contains("assert(1 == 2 /* \\u003c!--\\u003cscript> */)"));
    assert!(!page.contains("<!--"));
}

#[test]
fn results_that_contradict_one_another() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let ran = run(&["verify", "algorithms/litmus/sb.fen", "--format", "json"]);
    std::fs::write(file("a.json"), &ran.stdout).expect("it can be written");
    let other = ran.stdout.replace("process p0", "process  p0");
    std::fs::write(file("b.json"), other).expect("it can be written");
    let schema = ran.stdout.replace("fencesmith/1", "fencesmith/9");
    std::fs::write(file("c.json"), schema).expect("it can be written");
    let (a, b, c, html) = (
        file("a.json"),
        file("b.json"),
        file("c.json"),
        file("x.html"),
    );
    let cases = [
        (
            vec!["report", &a, &b, "--html", &html],
            "is not the same as in the results before it",
        ),
        (
            vec!["report", &c, "--html", &html],
            "the schema is 'fencesmith/9', not 'fencesmith/1'",
        ),
        (
            vec!["report", &a, "--html", "/nowhere/x.html"],
            "cannot write '/nowhere/x.html'",
        ),
    ];
    for (arguments, expected) in cases {
        let ran = run(&arguments);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stderr.contains(expected), "{ran:?}");
    }
    assert!(!Path::new(&html).exists());
}

/// The commands that the program says it has.
fn commands() -> Vec<String> {
    let help = run(&["--help"]).stdout;
    let (_, list) = help.split_once("\nCommands:\n").expect("it lists them");
    let (list, _) = list.split_once("\n\n").expect("the list ends");
    // The rest of a description that takes several lines is indented further.
    let names = list.lines().filter_map(|line| {
        let line = line.strip_prefix("  ")?;
        let (name, _) = line.split_once(' ')?;
        (!name.is_empty()).then(|| name.to_string())
    });
    let names: Vec<String> = names.filter(|name| name != "help").collect();
    assert!(names.len() > 10 && names.contains(&"verify".to_string()));
    names
}

#[test]
fn every_command_is_in_the_manual_and_the_completions() {
    let commands = commands();
    let manual = run(&["man"]);
    assert_eq!((manual.code, manual.stderr.as_str()), (0, ""));
    for command in &commands {
        let section = format!(".SH FENCESMITH {}\n", command.to_uppercase());
        assert!(manual.stdout.contains(&section), "{command}");
    }
    assert!(manual.stdout.contains(r"\-\-max\-memory"));
    // How each shell introduces a command.
    let shells = [
        ("bash", "fencesmith,NAME)"),
        ("zsh", "\n'NAME:"),
        ("fish", "-a \"NAME\""),
        ("elvish", "cand NAME "),
        ("powershell", "::new('NAME',"),
    ];
    for (shell, introduction) in shells {
        let ran = run(&["completions", shell]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        for command in &commands {
            let expected = introduction.replace("NAME", command);
            assert!(ran.stdout.contains(&expected), "{shell} {command}");
        }
    }
}
