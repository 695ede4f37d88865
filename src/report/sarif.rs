//! Findings as a SARIF 2.1.0 log, for code-scanning pages and editors.

use super::infer::InferReport;
use super::text::with_additions;
use super::verify::VerifyReport;
use crate::diagnostic::{Diagnostic, Severity};
use crate::infer::Conclusion;
use crate::record::Step;
use crate::source::Source;
use crate::verify::Verdict;
use serde_json::{Value as Json, json};

/// What is found, and what such findings are called.
const RULES: [(&str, &str); 6] = [
    ("violation", "An execution violates a property"),
    ("fence", "A fence is needed here"),
    ("unfixable", "No fence makes the program correct"),
    ("inconclusive", "There is no certain answer"),
    ("unchecked", "Something was not checked"),
    ("program", "The program is not well formed"),
];

/// Something to be shown in a file.
#[derive(Debug)]
pub struct Finding {
    rule: &'static str,
    level: &'static str,
    message: String,
    file: String,
    /// Line and column, as far as they are known.
    at: Option<(u32, u32)>,
    /// The steps that lead to it: where, and what is done.
    flow: Vec<(Option<u32>, String)>,
    fix: Vec<Replacement>,
}

/// Whole lines and what stands in their place: the first of them, how many, and the text.
#[derive(Debug)]
struct Replacement {
    line: usize,
    lines: usize,
    text: String,
}

/// The log of all findings.
pub fn log(findings: &[Finding]) -> Json {
    let rules = RULES.map(|(id, text)| json!({ "id": id, "shortDescription": { "text": text } }));
    json!({
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "fencesmith",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "results": findings.iter().map(Finding::result).collect::<Vec<_>>(),
        }],
    })
}

impl Finding {
    fn new(rule: &'static str, level: &'static str, file: &str, message: String) -> Finding {
        Finding {
            rule,
            level,
            message,
            file: file.to_string(),
            at: None,
            flow: Vec::new(),
            fix: Vec::new(),
        }
    }

    fn result(&self) -> Json {
        let index = RULES.iter().position(|(id, _)| *id == self.rule);
        let mut result = json!({
            "ruleId": self.rule,
            "ruleIndex": index,
            "level": self.level,
            "message": { "text": self.message },
            "locations": [{ "physicalLocation": self.location(self.at) }],
        });
        if !self.flow.is_empty() {
            let steps = self.flow.iter().map(|(line, text)| {
                let at = line.map(|line| (line, 1));
                json!({ "location": {
                    "physicalLocation": self.location(at),
                    "message": { "text": text },
                } })
            });
            let steps: Vec<Json> = steps.collect();
            result["codeFlows"] = json!([{ "threadFlows": [{ "locations": steps }] }]);
        }
        if !self.fix.is_empty() {
            let changes = self.fix.iter().map(|change| {
                json!({
                    "deletedRegion": {
                        "startLine": change.line,
                        "startColumn": 1,
                        "endLine": change.line + change.lines,
                        "endColumn": 1,
                    },
                    "insertedContent": { "text": change.text },
                })
            });
            let changes: Vec<Json> = changes.collect();
            result["fixes"] = json!([{
                "description": { "text": self.message },
                "artifactChanges": [{
                    "artifactLocation": { "uri": self.uri() },
                    "replacements": changes,
                }],
            }]);
        }
        result
    }

    fn location(&self, at: Option<(u32, u32)>) -> Json {
        let mut location = json!({ "artifactLocation": { "uri": self.uri() } });
        if let Some((line, column)) = at {
            location["region"] = json!({ "startLine": line, "startColumn": column });
        }
        location
    }

    /// The path as a relative reference.
    fn uri(&self) -> String {
        let mut uri = String::new();
        for byte in self.file.replace('\\', "/").bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => uri.push(char::from(byte)),
                b'/' | b'.' | b'-' | b'_' | b'~' | b'+' => uri.push(char::from(byte)),
                _ => uri.push_str(&format!("%{byte:02X}")),
            }
        }
        uri
    }
}

/// What is wrong with a program's text.
pub fn of_diagnostics(source: &Source, diagnostics: &[Diagnostic]) -> Vec<Finding> {
    let findings = diagnostics.iter().map(|diagnostic| {
        let (rule, level) = match diagnostic.severity {
            Severity::Error => ("program", "error"),
            Severity::Warning => ("unchecked", "warning"),
        };
        let help = diagnostic.help.as_ref();
        let help = help.map_or(String::new(), |help| format!("; {help}"));
        let message = format!("{}{help}", diagnostic.message);
        let at = diagnostic.span.map(|span| source.position(span.start));
        Finding {
            at: at.map(|at| (at.line, at.column)),
            ..Finding::new(rule, level, source.name(), message)
        }
    });
    findings.collect()
}

fn flow(steps: &[Step]) -> Vec<(Option<u32>, String)> {
    let steps = steps.iter();
    let text = |step: &Step| (step.line, format!("{}: {}", step.process, step.step));
    steps.map(text).collect()
}

impl VerifyReport<'_> {
    /// What there is to be shown.
    pub fn findings(&self) -> Vec<Finding> {
        let name = self.source.name();
        let model = self.options.semantics.model.upper();
        let mut findings = of_diagnostics(self.source, &self.warnings());
        match (self.answer.verdict, self.violation()) {
            (Verdict::Correct, _) => {}
            (Verdict::Violated, Some(violation)) => {
                let steps = self
                    .trace()
                    .map(|t| Step::all(self.program, self.source, t));
                let message = format!("under {model}: {}", violation.text);
                findings.push(Finding {
                    at: violation.line.zip(violation.column),
                    flow: flow(&steps.unwrap_or_default()),
                    ..Finding::new("violation", "error", name, message)
                });
            }
            _ => {
                let message = format!("under {model}: {}", self.reason().unwrap_or_default());
                findings.push(Finding::new("inconclusive", "note", name, message));
            }
        }
        findings
    }
}

impl InferReport<'_> {
    /// What there is to be shown. `fenced` gives the program's text with one of the fences, where
    /// fences can be typed into it.
    pub fn findings(&self, fenced: impl Fn(usize) -> Option<String>) -> Vec<Finding> {
        let name = self.source.name();
        let model = self.options.verify.semantics.model.upper();
        let mut findings = of_diagnostics(self.source, &self.warnings());
        if let Some(reason) = self.reason() {
            let (rule, level) = match self.found.conclusion {
                Conclusion::Inconclusive(_) => ("inconclusive", "note"),
                _ => ("unfixable", "error"),
            };
            let steps = self
                .execution()
                .map(|(program, _, trace)| Step::all(&program, self.source, trace));
            findings.push(Finding {
                flow: flow(&steps.unwrap_or_default()),
                ..Finding::new(rule, level, name, format!("under {model}: {reason}"))
            });
        }
        let points = self.known().map(|known| known.fences.iter());
        for (index, &point) in points.into_iter().flatten().enumerate() {
            let site = self.program.points[point.index()].sites[0];
            let at = self.source.position(site.statement.start);
            let message = format!("under {model}, a fence is needed {}", self.place(point));
            let fixed = fenced(index).map(|text| replacements(self.source.text(), &text));
            findings.push(Finding {
                at: Some((at.line, at.column)),
                fix: fixed.unwrap_or_default(),
                ..Finding::new("fence", "warning", name, message)
            });
        }
        findings
    }
}

/// The lines of a text to which something was added, as replacements.
fn replacements(original: &str, fenced: &str) -> Vec<Replacement> {
    let mut all = Vec::new();
    let mut next = 1;
    for (number, line, changed) in with_additions(original, fenced) {
        if changed {
            all.push(Replacement {
                line: next,
                lines: usize::from(number.is_some()),
                text: format!("{line}\n"),
            });
        }
        next = number.map_or(next, |number| number + 1);
    }
    all
}
