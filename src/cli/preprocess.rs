//! Running the system's C preprocessor.
//!
//! It sees headers of ours in the place of the system's, so that operations on atomics and
//! threads stay calls, and prints its definitions, from which positions are found again.

use super::args::CArgs;
use super::{Failure, input, output};
use crate::c::FencedFile;
use crate::c::headers::HEADERS;
use crate::c::positions::{Preprocessed, STDIN, user_files};
use crate::c::tokens::tokens;
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{Position, Source, Span};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The longest text that a preprocessor may print.
const MAX_BYTES: u64 = 64 << 20;

/// The most messages of a preprocessor that are shown.
const MOST_ERRORS: usize = 20;

/// Preprocesses a file, or standard input for `-`.
pub fn preprocess(path: &Path, args: &CArgs) -> Result<Preprocessed, Failure> {
    let main = input::read(path)?;
    let folders = args.include_dir.clone();
    preprocess_in(Path::new(""), path, main.text(), folders, args)
}

/// Preprocesses a program that was read before, with some of its files changed. They are
/// laid out as they were in a folder of their own.
pub fn preprocess_changed(
    path: &Path,
    source: &Source,
    changed: &[FencedFile],
    args: &CArgs,
) -> Result<Preprocessed, Failure> {
    let here = std::env::current_dir().map_err(|error| Failure::file("find", path, &error))?;
    // The path below any folder that stands for a path from the root.
    let below_root = |path: &Path| -> PathBuf {
        let path = here.join(path);
        let parts = path.components();
        let parts = parts.filter(|part| !matches!(part, Component::RootDir | Component::Prefix(_)));
        parts.collect()
    };
    let text = |name: &str, span: Span| {
        let changed = changed.iter().find(|file| file.name == name);
        changed.map_or(source.slice(span), |file| &file.text[..])
    };
    let files = source.files().filter(|(name, _)| *name != STDIN);
    let files = files.map(|(name, span)| (below_root(Path::new(name)), text(name, span)));
    let copy = output::temporary_folder(&files.collect::<Vec<_>>())?;
    let base = copy.path().join(below_root(Path::new("")));
    output::create_folder(&base)?;
    let copied = |path: &Path| match path.is_absolute() {
        true => copy.path().join(below_root(path)),
        false => path.to_path_buf(),
    };
    let (main, whole) = source.file(0);
    let folders = args.include_dir.iter();
    let folders = folders.flat_map(|folder| [copied(folder), here.join(folder)]);
    preprocess_in(
        &base,
        &copied(path),
        text(main, whole),
        folders.collect(),
        args,
    )
}

/// Preprocesses a file with this text, with names that are relative to a folder.
fn preprocess_in(
    base: &Path,
    path: &Path,
    text: &str,
    folders: Vec<PathBuf>,
    args: &CArgs,
) -> Result<Preprocessed, Failure> {
    let headers = output::temporary_folder(HEADERS)?;
    let compiler = compiler();
    let (program, own) = compiler.split_first().expect("it has a default");
    let mut command = Command::new(program);
    if !base.as_os_str().is_empty() {
        command.current_dir(base);
    }
    command
        .args(own)
        .args(["-E", "-dD", "-w", "-std=gnu11", "-nostdinc"])
        .args(["-D__FENCESMITH__=1", "-D__thread=_Thread_local"])
        .args(args.define.iter().map(|define| format!("-D{define}")))
        .args(args.undefine.iter().map(|name| format!("-U{name}")));
    for folder in folders {
        command.arg("-I").arg(folder);
    }
    for file in &args.include {
        command.arg("-include").arg(file);
    }
    command.arg("-isystem").arg(headers.path());
    let path = file_argument(path);
    command.args(["-x", "c"]).arg(&path);
    let name = match path.as_os_str() == "-" {
        true => STDIN.to_string(),
        false => path.display().to_string(),
    };
    let printed = run(command, text)
        .map_err(|error| cannot_run(program, &error))?
        .map_err(|messages| refused(Source::new(&name, text), &messages, program))?;
    let mut files = vec![(name, text.to_string())];
    for name in user_files(&printed) {
        // A file that only `#line` mentions need not exist.
        if name != files[0].0
            && let Ok(file) = input::read(&base.join(&name))
        {
            files.push((name, file.text().to_string()));
        }
    }
    Ok(Preprocessed::new(&printed, &files))
}

/// The compiler and its first arguments, as `CC` has them.
fn compiler() -> Vec<String> {
    let words = std::env::var("CC").unwrap_or_default();
    let words: Vec<String> = words.split_whitespace().map(str::to_string).collect();
    match words.is_empty() {
        true => vec!["cc".to_string()],
        false => words,
    }
}

/// A path that is not taken for an option.
fn file_argument(path: &Path) -> PathBuf {
    let is_option = path.as_os_str() != "-" && path.to_string_lossy().starts_with('-');
    match is_option {
        true => Path::new(".").join(path),
        false => path.to_path_buf(),
    }
}

/// What a preprocessor prints; or its messages, if it has failed.
fn run(mut command: Command, text: &str) -> io::Result<Result<String, String>> {
    let mut child = command
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(mut stdin), Some(stdout), Some(stderr)) = streams else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    let (printed, messages) = std::thread::scope(|scope| {
        // It may not read its input to the end, or not at all.
        scope.spawn(move || stdin.write_all(text.as_bytes()));
        let messages = scope.spawn(|| read_up_to(stderr, MAX_BYTES));
        let printed = read_up_to(stdout, MAX_BYTES);
        if printed.is_none() {
            let _ = child.kill();
        }
        (printed, messages.join().ok().flatten())
    });
    finish(child, printed, messages)
}

fn finish(
    mut child: Child,
    printed: Option<Vec<u8>>,
    messages: Option<Vec<u8>>,
) -> io::Result<Result<String, String>> {
    let status = child.wait()?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok(match printed {
        None => Err("error: the preprocessed text is larger than 64 MiB".to_string()),
        Some(printed) if status.success() => Ok(text(printed)),
        Some(_) => Err(text(messages.unwrap_or_default())),
    })
}

/// All that can be read, unless it is too much.
fn read_up_to(stream: impl Read, most: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(most + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= most).then_some(bytes)
}

fn cannot_run(program: &str, error: &io::Error) -> Failure {
    let help = "C programs are preprocessed by the system's C compiler: install one, or name one in the environment variable CC";
    Failure::Message {
        text: format!("cannot run '{program}': {error}"),
        help: Some(help.to_string()),
    }
}

/// An error of a preprocessor: `FILE:LINE:COL: error: TEXT`.
struct Complaint<'a> {
    file: &'a str,
    at: Position,
    text: &'a str,
}

impl Complaint<'_> {
    fn read(line: &str) -> Option<Complaint<'_>> {
        let (place, text) = line
            .split_once(": error: ")
            .or_else(|| line.split_once(": fatal error: "))?;
        let number = |text: &str| text.parse().ok();
        let (rest, last) = place.rsplit_once(':')?;
        let (file, line, column) = match rest.rsplit_once(':') {
            Some((file, line)) if number(line).is_some() => (file, number(line)?, number(last)?),
            _ => (rest, number(last)?, 1),
        };
        Some(Complaint {
            file,
            at: Position { line, column },
            text,
        })
    }
}

/// The errors of a preprocessor, under what they are about.
fn refused(mut source: Source, messages: &str, program: &str) -> Failure {
    let mut diagnostics = Vec::new();
    for complaint in messages.lines().filter_map(Complaint::read) {
        if diagnostics.len() == MOST_ERRORS {
            break;
        }
        let known = source.files().any(|(name, _)| name == complaint.file);
        if !known && let Ok(file) = input::read(Path::new(complaint.file)) {
            source.add(file.name(), file.text());
        }
        diagnostics.push(diagnostic(&source, &complaint));
    }
    if diagnostics.is_empty() {
        let first = messages.lines().next().unwrap_or("it says nothing");
        return Failure::message(format!("'{program}' has failed: {first}"));
    }
    Failure::Program(source, diagnostics)
}

fn diagnostic(source: &Source, complaint: &Complaint) -> Diagnostic {
    let Complaint { file, at, text } = complaint;
    let line = Position { column: 1, ..*at };
    let offset = source.offset_in(file, *at);
    let offset = offset.or_else(|| source.offset_in(file, line));
    let span = offset.map(|offset| {
        let (_, file) = source.file(offset);
        let rest = source.slice(Span {
            start: offset,
            end: file.end,
        });
        let first = tokens(rest.lines().next().unwrap_or_default());
        let length = first.first().map_or(0, |token| token.span.end);
        Span {
            start: offset,
            end: offset + length,
        }
    });
    let message = match span {
        Some(_) => text.to_string(),
        None => format!("{file}:{at}: {text}"),
    };
    let missing = text.strip_suffix(": No such file or directory");
    let missing = missing.or_else(|| text.strip_suffix(" file not found"));
    let names: Vec<&str> = HEADERS.iter().map(|(name, _)| *name).collect();
    Diagnostic {
        severity: Severity::Error,
        message,
        span,
        note: String::new(),
        related: None,
        help: missing.map(|_| {
            let names = names.join(", ");
            format!("the system's headers that are known are {names}; folders of others are named with -I")
        }),
    }
}
