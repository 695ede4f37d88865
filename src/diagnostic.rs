//! Messages about the input: one type for all of them, one renderer.

use crate::source::{Source, Span};
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

/// One message: what is wrong, where, and how to mend it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    pub message: String,
    /// The smallest piece of source that shows the trouble.
    pub span: Option<Span>,
    /// A few words under the caret.
    pub note: String,
    /// Another place that matters, such as the first of two declarations.
    pub related: Option<(Span, String)>,
    pub help: Option<String>,
}

/// How bad it is: an error ends the run with exit code 2, a warning does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    Error,
    Warning,
}

impl Diagnostic {
    pub fn error(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            message: message.into(),
            span: Some(span),
            note: String::new(),
            related: None,
            help: None,
        }
    }

    pub fn warning(span: Option<Span>, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Warning,
            message: message.into(),
            span,
            note: String::new(),
            related: None,
            help: None,
        }
    }

    pub fn note(mut self, note: impl Into<String>) -> Diagnostic {
        self.note = note.into();
        self
    }

    pub fn related(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.related = Some((span, text.into()));
        self
    }

    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }
}

/// Renders messages in the style of rustc, each followed by an empty line.
pub fn render(source: &Source, diagnostics: &[Diagnostic], color: bool) -> String {
    let renderer = if color {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let mut out = String::new();
    for diagnostic in diagnostics {
        let level = match diagnostic.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let mut group = Group::with_title(level.primary_title(&diagnostic.message));
        if let Some(span) = diagnostic.span {
            let note = (!diagnostic.note.is_empty()).then_some(diagnostic.note.as_str());
            let primary = (AnnotationKind::Primary, span, note);
            let related = diagnostic.related.as_ref();
            let context = related.map(|(at, text)| (AnnotationKind::Context, *at, Some(&text[..])));
            group = match context {
                Some(context) if is_near(source, span, context.1) => {
                    annotate(group, source, span.to(context.1), &[primary, context])
                }
                Some(context) => {
                    let group = annotate(group, source, span, &[primary]);
                    annotate(group, source, context.1, &[context])
                }
                None => annotate(group, source, span, &[primary]),
            };
        }
        if let Some(help) = &diagnostic.help {
            group = group.element(Level::HELP.message(help));
        }
        out.push_str(&renderer.render(&[group]));
        out.push_str("\n\n");
    }
    out
}

/// Excerpts reach at most this far to either side of what they show.
const MARGIN: usize = 1000;

/// Whether one excerpt can show both.
fn is_near(source: &Source, span: Span, other: Span) -> bool {
    let both = span.to(other);
    let one_file = source.file(both.start) == source.file(both.end);
    one_file && (both.end - both.start) as usize <= MARGIN
}

/// What to mark, where, and a few words about it.
type Mark<'a> = (AnnotationKind, Span, Option<&'a str>);

/// Adds an excerpt around `shown` with its marks.
fn annotate<'a>(
    group: Group<'a>,
    source: &'a Source,
    shown: Span,
    marks: &[Mark<'a>],
) -> Group<'a> {
    let excerpt = Excerpt::around(source, shown);
    let (name, _) = source.file(shown.start);
    let snippet = Snippet::source(excerpt.text).line_start(excerpt.line);
    let annotations = marks.iter().map(|(kind, span, text)| {
        let annotation = kind.span(excerpt.clip(*span));
        annotation.label(*text)
    });
    let snippet = snippet.annotations(annotations);
    if excerpt.whole_lines {
        return group.element(snippet.path(name));
    }
    let at = source.position(marks.first().map_or(shown, |(_, span, _)| *span).start);
    let origin = Origin::path(name)
        .line(at.line as usize)
        .char_column(at.column as usize);
    group.element(origin).element(snippet)
}

/// A few lines of a source, or a piece of a line that is too long; so that a message
/// costs the same in a text of any size.
struct Excerpt<'a> {
    text: &'a str,
    start: usize,
    line: usize,
    /// Whether it begins where a line begins, so that columns can be counted in it.
    whole_lines: bool,
}

impl<'a> Excerpt<'a> {
    /// The lines that `span` touches, as far as they are near its ends.
    fn around(source: &'a Source, span: Span) -> Excerpt<'a> {
        let (_, file) = source.file(span.start);
        let text = &source.text()[..file.end as usize];
        let (first, last) = (span.start as usize, span.end as usize);
        let last = floor(text, last.min(first + MARGIN).min(text.len()));
        let earliest = floor(text, first.saturating_sub(MARGIN).max(file.start as usize));
        let latest = floor(text, (last + MARGIN).min(text.len()));
        let before = text[earliest..first].rfind('\n');
        let behind = text[last..latest].find('\n');
        let start = before.map_or(earliest, |at| earliest + at + 1);
        let end = behind.map_or(latest, |at| last + at);
        Excerpt {
            text: &text[start..end],
            start,
            line: source.position(span.start).line as usize,
            whole_lines: start == file.start as usize || before.is_some(),
        }
    }

    /// The part of `span` that the excerpt shows.
    fn clip(&self, span: Span) -> std::ops::Range<usize> {
        let end = self.text.len();
        let within = |offset: u32| (offset as usize).saturating_sub(self.start).min(end);
        within(span.start)..within(span.end)
    }
}

/// The last character boundary up to `offset`.
fn floor(text: &str, offset: usize) -> usize {
    let mut offsets = (0..=offset).rev();
    offsets
        .find(|offset| text.is_char_boundary(*offset))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(text: &str, at: usize, related: Option<usize>) -> String {
        let mut diagnostic = Diagnostic::error(Span::new(at, at + 3), "odd").note("here");
        if let Some(at) = related {
            diagnostic = diagnostic.related(Span::new(at, at + 3), "there");
        }
        render(&Source::new("t", text), &[diagnostic.help("even")], false)
    }

    #[test]
    fn both_marks_in_one_excerpt() {
        let expected = "error: odd
 --> t:3:1
  |
2 | def
  | --- there
3 | ghi
  | ^^^ here
  |
  = help: even

";
        assert_eq!(rendered("abc\ndef\nghi\njkl", 8, Some(4)), expected);
    }

    #[test]
    fn marks_far_apart() {
        let text = "abc def\n".repeat(1000);
        let shown = rendered(&text, 7996, Some(12));
        for part in ["t:1000:5", "1000 | abc def", "t:2:5", "there"] {
            assert!(shown.contains(part), "{shown}");
        }
        assert!(shown.lines().count() < 20, "{shown}");
    }

    #[test]
    fn long_lines_are_cut() {
        let text = "é".repeat(50_000) + "abc" + &"é".repeat(50_000);
        let shown = rendered(&text, 100_000, None);
        assert!(shown.contains("t:1:50001"), "{shown}");
        assert!(shown.contains("éabcé"), "{shown}");
        assert!(shown.len() < 2000, "{shown}");
        for at in 0..20 {
            let span = Span::new(2 * at, 100_003 + 2 * at);
            let long = [Diagnostic::error(span, "long")];
            let shown = render(&Source::new("t", text.as_str()), &long, true);
            assert!(shown.len() < 5000, "{shown}");
        }
    }
}
