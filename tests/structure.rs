//! The shape of the source: imports point one way, and no file is too long.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A file with more lines than this wants to be two.
const MOST_LINES: usize = 500;

/// The folders of the two crates, in the order of dependence.
fn crates() -> [PathBuf; 2] {
    ["engine/src", "src"].map(|folder| Path::new(env!("CARGO_MANIFEST_DIR")).join(folder))
}

fn source_files() -> Vec<PathBuf> {
    let files = crates()
        .into_iter()
        .flat_map(|src| walkdir::WalkDir::new(src).sort_by_file_name());
    let files = files
        .into_iter()
        .map(|entry| entry.expect("src is readable").into_path());
    files
        .filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
        .collect()
}

/// A file without its comments and without the unit tests at its end, which may use anything.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).expect("a source file is text");
    let text = text
        .split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or_default();
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The top-level modules in the order of both `lib.rs`.
fn modules() -> Vec<String> {
    let libs = crates().map(|src| code(&src.join("lib.rs"))).join("\n");
    let names = libs.lines().filter_map(|line| {
        let line = line.strip_prefix("pub ").unwrap_or(line);
        line.strip_prefix("mod ")?.strip_suffix(';')
    });
    names.map(str::to_string).collect()
}

/// The top-level module that a file belongs to; none for `lib.rs` and `main.rs`.
fn module_of(path: &Path) -> Option<String> {
    let mut inside = crates()
        .into_iter()
        .filter_map(|src| path.strip_prefix(src).ok());
    let inside = inside.next().expect("it is in one of the crates");
    let first = inside.iter().next()?.to_str()?;
    let name = first.strip_suffix(".rs").unwrap_or(first);
    (name != "lib" && name != "main").then(|| name.to_string())
}

/// The top-level modules that some code names, by `crate::NAME` or `use crate::{NAME, …}`.
fn named(code: &str) -> BTreeSet<String> {
    let word = |text: &str| -> String {
        let word = text.chars();
        word.take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect()
    };
    let mut names = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            None => drop(names.insert(word(rest))),
            Some(list) => {
                let mut depth = 0;
                let mut begins = true;
                for (index, character) in list.char_indices() {
                    match character {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => begins = true,
                        c if begins && !c.is_whitespace() => {
                            names.insert(word(&list[index..]));
                            begins = false;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    names
}

#[test]
fn names_are_found() {
    let code = "use crate::{\n    a::{b, c},\n    d,\n};\nuse crate::e::F;\nlet x = crate::g::h();";
    let expected = ["a", "d", "e", "g"].map(str::to_string);
    assert_eq!(named(code), expected.into());
}

/// The order of modules in `lib.rs` is the order of dependence: a module uses only those
/// before it, so there are no cycles.
#[test]
fn imports_point_one_way() {
    let order = modules();
    assert!(order.len() > 20, "the modules of lib.rs: {order:?}");
    let place: BTreeMap<&str, usize> = order
        .iter()
        .enumerate()
        .map(|(index, name)| (name.as_str(), index))
        .collect();
    let mut wrong = Vec::new();
    for path in source_files() {
        let unit_tests = path.ends_with("tests.rs");
        let Some(own) = module_of(&path).filter(|_| !unit_tests) else {
            continue;
        };
        let Some(&at) = place.get(own.as_str()) else {
            panic!("{}: lib.rs does not have '{own}'", path.display());
        };
        for name in named(&code(&path)) {
            match place.get(name.as_str()) {
                Some(&other) if other <= at => {}
                Some(_) => wrong.push(format!("{}: '{own}' uses '{name}'", path.display())),
                None => wrong.push(format!(
                    "{}: '{name}' should be named by its module",
                    path.display()
                )),
            }
        }
    }
    assert!(wrong.is_empty(), "upward imports:\n{}", wrong.join("\n"));
}

#[test]
fn no_file_is_too_long() {
    let long = source_files().into_iter().filter_map(|path| {
        let lines = std::fs::read_to_string(&path)
            .expect("text")
            .lines()
            .count();
        (lines > MOST_LINES).then(|| format!("{}: {lines} lines", path.display()))
    });
    let long: Vec<String> = long.collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}
