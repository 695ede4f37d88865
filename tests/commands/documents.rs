//! The commands of the documents print what the documents say.

use crate::binary::run_in;
use std::path::Path;

/// The documents, and how many commands each has at least.
const DOCUMENTS: [(&str, usize); 7] = [
    ("README.md", 2),
    ("docs/tutorial.md", 8),
    ("docs/commands.md", 10),
    ("docs/formats.md", 5),
    ("docs/integers.md", 2),
    ("docs/convert.md", 5),
    ("docs/scale.md", 1),
];

/// A piece of a document between lines of backticks.
struct Piece<'a> {
    language: &'a str,
    lines: Vec<&'a str>,
}

fn pieces(document: &str) -> Vec<Piece<'_>> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut open = false;
    for line in document.lines() {
        match line.strip_prefix("```") {
            Some(language) => {
                open = !open;
                if open {
                    let lines = Vec::new();
                    pieces.push(Piece { language, lines });
                }
            }
            None if open => pieces.last_mut().expect("a piece").lines.push(line),
            None => {}
        }
    }
    assert!(!open, "a piece is never closed");
    pieces
}

/// What is the same in every run: seconds and sizes of memory vary, and with them the blanks of
/// tables.
fn steady(line: &str) -> String {
    let mut words: Vec<String> = line.split_whitespace().map(str::to_string).collect();
    for at in 1..words.len() {
        let unit = words[at].trim_end_matches([')', ',', ';']);
        if ["s", "KiB", "MiB"].contains(&unit) {
            words[at - 1] = "#".to_string();
            words[at] = words[at].replace("KiB", "B").replace("MiB", "B");
        }
    }
    words.join(" ")
}

/// Runs the commands of a piece, each with the output below it: up to a line `…`, if there is
/// one, and unchecked if nothing is shown. Commands of other programs are left out.
fn run_commands(name: &str, folder: &Path, piece: &Piece) -> usize {
    let mut count = 0;
    let mut lines = piece.lines.iter().peekable();
    while let Some(line) = lines.next() {
        let Some(command) = line.strip_prefix("$ ") else {
            continue;
        };
        let mut shown = Vec::new();
        while let Some(output) = lines.next_if(|line| !line.starts_with("$ ")) {
            shown.push(*output);
        }
        let (command, file) = match command.split_once(" > ") {
            Some((command, file)) => (command, Some(file)),
            None => (command, None),
        };
        let words: Vec<&str> = command.split_whitespace().collect();
        let plain = !words.iter().any(|word| ["|", "&&"].contains(word));
        let Some(("fencesmith", arguments)) = words.split_first().map(|(a, b)| (*a, b)) else {
            continue;
        };
        if !plain {
            continue;
        }
        count += 1;
        let ran = run_in(folder, arguments, "", &[]);
        assert_ne!(ran.code, 2, "{name}: {command}\n{}", ran.stderr);
        if let Some(file) = file {
            std::fs::write(folder.join(file), &ran.stdout).expect("a file");
            continue;
        }
        if shown.is_empty() {
            continue;
        }
        let open = shown.iter().position(|line| *line == "…");
        let shown = &shown[..open.unwrap_or(shown.len())];
        let printed = ran.stdout.lines().map(steady).collect::<Vec<_>>();
        let expected = shown.iter().map(|line| steady(line)).collect::<Vec<_>>();
        let printed = match open {
            Some(end) => &printed[..end.min(printed.len())],
            None => &printed[..],
        };
        assert_eq!(
            printed.join("\n").trim_end(),
            expected.join("\n").trim_end(),
            "{name}: {command}\n{}{}",
            ran.stdout,
            ran.stderr
        );
    }
    count
}

#[test]
fn commands_print_what_the_documents_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (name, least) in DOCUMENTS {
        let folder = tempfile::tempdir().expect("a folder");
        for shared in ["algorithms", "tests"] {
            let link = folder.path().join(shared);
            std::os::unix::fs::symlink(root.join(shared), link).expect("a link");
        }
        let document = std::fs::read_to_string(root.join(name)).expect("the document");
        let mut count = 0;
        for piece in pieces(&document) {
            // A program that is saved says so on its second line.
            let saved = piece.lines.get(1).and_then(|l| l.strip_prefix("// file: "));
            if let Some(file) = saved
                && piece.language == "fen"
            {
                let text = piece.lines.join("\n") + "\n";
                std::fs::write(folder.path().join(file), text).expect("a file");
            }
            count += run_commands(name, folder.path(), &piece);
        }
        assert!(count >= least, "{name}: only {count} commands");
    }
}

/// Links between the documents lead somewhere.
#[test]
fn links_lead_to_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let documents = std::fs::read_dir(root.join("docs")).expect("a folder");
    let mut documents: Vec<_> = documents
        .map(|entry| entry.expect("a file").path())
        .collect();
    documents.push(root.join("README.md"));
    for path in documents {
        let text = std::fs::read_to_string(&path).expect("the document");
        for rest in text.split("](").skip(1) {
            let target = rest.split(')').next().unwrap_or_default();
            let file = target.split('#').next().unwrap_or_default();
            if file.is_empty() || file.starts_with("http") {
                continue;
            }
            let folder = path.parent().expect("a folder");
            assert!(folder.join(file).exists(), "{}: {target}", path.display());
        }
    }
}
