//! Messages about the input: one type for all of them, one renderer.

use crate::source::{Source, Span};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

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
            let primary = AnnotationKind::Primary
                .span(span.start as usize..span.end as usize)
                .label((!diagnostic.note.is_empty()).then_some(diagnostic.note.as_str()));
            let mut snippet = Snippet::source(source.text())
                .path(source.name())
                .annotation(primary);
            if let Some((span, text)) = &diagnostic.related {
                snippet = snippet.annotation(
                    AnnotationKind::Context
                        .span(span.start as usize..span.end as usize)
                        .label(text.as_str()),
                );
            }
            group = group.element(snippet);
        }
        if let Some(help) = &diagnostic.help {
            group = group.element(Level::HELP.message(help));
        }
        out.push_str(&renderer.render(&[group]));
        out.push_str("\n\n");
    }
    out
}
