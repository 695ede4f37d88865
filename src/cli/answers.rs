//! What `verify` and `infer` share: several programs, one after the other, and their answers in
//! the format that was asked for. A broken program does not stop the others.

use super::args::{AnswerFormat, Common, distinct};
use super::find::find;
use super::programs::ENDINGS;
use super::streams::{print, print_message, stderr_paint};
use super::verify::json_text;
use super::{Exit, Failure};
use crate::diagnostic::{self, Diagnostic};
use crate::record::{BrokenOutcome, BrokenProgram, Message, Mode, SCHEMA};
use crate::report::sarif::{self, Finding};
use crate::source::Source;
use serde::Serialize;
use serde_json::Value as Json;
use std::path::{Path, PathBuf};

/// The answers of a command.
pub struct Answers {
    format: AnswerFormat,
    quiet: bool,
    records: Vec<Json>,
    findings: Vec<Finding>,
    /// Warnings that were printed.
    said: Vec<Diagnostic>,
}

/// Answers for each of the programs that paths stand for; the exit code is that of the worst.
/// Options that are about one program are refused if there are several.
pub fn for_each(
    paths: &[PathBuf],
    common: &Common<AnswerFormat>,
    command: Mode,
    about_one: &[(&str, bool)],
    mut answer: impl FnMut(&Path, &mut Answers) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let found = find(paths, &ENDINGS);
    let files: Vec<&Path> = found.files.iter().map(PathBuf::as_path).collect();
    let files = distinct(&files);
    if let (true, Some((option, _))) = (files.len() > 1, about_one.iter().find(|(_, given)| *given))
    {
        return Err(Failure::message(format!(
            "{option} is about one program, and there are {}",
            files.len()
        )));
    }
    let mut answers = Answers {
        format: common.format,
        quiet: common.quiet,
        records: Vec::new(),
        findings: Vec::new(),
        said: Vec::new(),
    };
    let mut exit = Exit::Fine;
    for (path, failure) in &found.failures {
        answers.broken(path, command, failure);
        exit = Exit::Usage;
    }
    for file in files {
        exit = exit.min(answer(file, &mut answers).unwrap_or_else(|failure| {
            answers.broken(file, command, &failure);
            Exit::Usage
        }));
    }
    match answers.format {
        AnswerFormat::Text => {}
        AnswerFormat::Json => print(&json_text(&answers.records))?,
        AnswerFormat::Sarif => print(&json_text(&sarif::log(&answers.findings)))?,
    }
    Ok(exit)
}

impl Answers {
    /// Prints an answer, or keeps it for later.
    pub fn add<R: Serialize>(
        &mut self,
        text: impl FnOnce() -> String,
        record: impl FnOnce() -> R,
        findings: impl FnOnce() -> Vec<Finding>,
    ) -> Result<(), Failure> {
        match self.format {
            AnswerFormat::Text => {
                let text = text();
                let first = text.lines().next().unwrap_or_default();
                print(&match self.quiet {
                    true => format!("{first}\n"),
                    false => text,
                })?;
            }
            AnswerFormat::Json => {
                let record = serde_json::to_value(record());
                let record = record.expect("answers have string keys and finite numbers");
                self.records.push(record);
            }
            AnswerFormat::Sarif => self.findings.extend(findings()),
        }
        Ok(())
    }

    /// Says on standard error what makes an answer weaker than it looks, once.
    pub fn warn(&mut self, source: &Source, mut warnings: Vec<Diagnostic>) {
        warnings.retain(|warning| !self.said.contains(warning));
        if self.format == AnswerFormat::Text && !warnings.is_empty() {
            let color = stderr_paint().color;
            print_message(&diagnostic::render(source, &warnings, color));
        }
        self.said.append(&mut warnings);
    }

    /// The next warnings are about another program.
    pub fn next_program(&mut self) {
        self.said.clear();
    }

    fn broken(&mut self, path: &Path, command: Mode, failure: &Failure) {
        failure.report();
        let (program, errors) = match failure {
            Failure::Program(source, diagnostics) => {
                self.findings
                    .extend(sarif::of_diagnostics(source, diagnostics));
                let errors = diagnostics.iter();
                let errors = errors.map(|diagnostic| Message::new(source, diagnostic));
                (source.name().to_string(), errors.collect())
            }
            Failure::Message { text, help } => {
                let message = Message {
                    message: text.clone(),
                    line: None,
                    column: None,
                    help: help.clone(),
                };
                (path.display().to_string(), vec![message])
            }
        };
        let record = serde_json::to_value(BrokenProgram {
            schema: SCHEMA.to_string(),
            tool: env!("CARGO_PKG_VERSION").to_string(),
            command,
            program,
            outcome: BrokenOutcome::Error,
            errors,
        });
        self.records
            .push(record.expect("records have string keys and finite numbers"));
    }
}
