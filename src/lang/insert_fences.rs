//! Fences typed into the original text, whose comments and layout stay as they are.
//!
//! Everything is an insertion. At one offset, what ends there comes first, inner before
//! outer, and then what begins there, outer before inner; so braces and fences of nested
//! statements that share an edge end up properly nested.

use super::diagnostics::Diagnostics;
use super::lexer::{TokenKind, lex};
use crate::program::{FenceKind, FenceSite, Side};
use crate::source::{Source, Span};
use std::collections::{BTreeMap, BTreeSet};

/// The text of `source` with the fences typed in.
pub fn insert_fences(source: &Source, fences: &[(FenceSite, FenceKind)]) -> String {
    let tokens = lex(source, &mut Diagnostics::new(1));
    let lexemes = tokens.iter().map(|token| Lexeme {
        span: token.span,
        kind: match token.kind {
            TokenKind::Name => LexemeKind::Name,
            TokenKind::Symbol(":") => LexemeKind::Colon,
            _ => LexemeKind::Other,
        },
    });
    Layout::new(source.text(), lexemes.collect(), words).insert(fences)
}

/// The text with insertions, which are in order at each offset, and with pieces replaced.
pub(crate) fn with_edits(
    text: &str,
    insertions: Vec<Insertion>,
    replaced: BTreeMap<Span, String>,
) -> String {
    let insertions = insertions.into_iter().map(|(at, text)| (at, at, text));
    let replaced = replaced.into_iter();
    let replaced = replaced.map(|(span, text)| (span.start as usize, span.end as usize, text));
    let mut edits: Vec<(usize, usize, String)> = insertions.chain(replaced).collect();
    edits.sort_by_key(|(start, ..)| *start);
    let mut out = String::with_capacity(text.len() + 32 * edits.len());
    let mut done = 0;
    for (start, end, edit) in edits {
        out.push_str(&text[done..start]);
        out.push_str(&edit);
        done = end;
    }
    out.push_str(&text[done..]);
    out
}

/// An offset into the text and what is inserted there.
pub(crate) type Insertion = (usize, String);

/// A token, as far as the layout of a text depends on it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lexeme {
    pub span: Span,
    pub kind: LexemeKind,
}

/// A name and a colon before a statement are a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LexemeKind {
    Name,
    Colon,
    Other,
}

/// Something to be typed at the edge of a statement.
#[derive(Debug, Clone, Copy)]
enum Typed {
    Fence(&'static str),
    Brace,
}

/// A text with statements, labels, braces and comments like those of C, and what has to be
/// known about its lines.
pub(crate) struct Layout<'a> {
    text: &'a str,
    tokens: Vec<Lexeme>,
    newline: &'static str,
    /// How a fence is typed.
    words: fn(FenceKind) -> &'static str,
}

impl<'a> Layout<'a> {
    pub fn new(
        text: &'a str,
        tokens: Vec<Lexeme>,
        words: fn(FenceKind) -> &'static str,
    ) -> Layout<'a> {
        Layout {
            text,
            tokens,
            newline: newline(text),
            words,
        }
    }

    /// The text with the fences typed in.
    pub fn insert(&self, fences: &[(FenceSite, FenceKind)]) -> String {
        with_edits(self.text, self.insertions(fences), BTreeMap::new())
    }

    /// What is typed for fences.
    pub fn insertions(&self, fences: &[(FenceSite, FenceKind)]) -> Vec<Insertion> {
        let mut insertions = self.endings(fences);
        insertions.extend(self.insides(fences));
        insertions.extend(self.beginnings(fences));
        insertions
    }

    /// Fences after statements, and closing braces.
    fn endings(&self, fences: &[(FenceSite, FenceKind)]) -> Vec<Insertion> {
        let mut typed = self.at_edges(fences, Side::After);
        typed.sort_by_key(|(span, what)| {
            let is_brace = matches!(what, Typed::Brace);
            (span.end, std::cmp::Reverse(span.start), is_brace)
        });
        let mut insertions = Vec::new();
        // The end of the last statement whose insertion went to a line of its own: what
        // ends there too must follow it.
        let mut moved = None;
        for (span, what) in typed {
            let end = span.end as usize;
            let line_end = self.line_end_behind(end);
            let own_line = match what {
                Typed::Fence(_) => self.begins_line_after_labels(span),
                Typed::Brace => self.begins_line(span),
            };
            let insertion = match (line_end, what) {
                (Some(at), _) if own_line || moved == Some(end) => {
                    moved = Some(end);
                    let (indent, word) = match what {
                        Typed::Fence(fence) => (self.statement_indent(span), fence),
                        Typed::Brace => (self.indent(self.token_before(span).start as usize), "}"),
                    };
                    (at, format!("{}{indent}{word}", self.newline))
                }
                (_, Typed::Fence(fence)) => (end, format!(" {fence}")),
                (_, Typed::Brace) => (end, " }".to_string()),
            };
            insertions.push(insertion);
        }
        insertions
    }

    /// Fences in empty blocks.
    fn insides(&self, fences: &[(FenceSite, FenceKind)]) -> Vec<Insertion> {
        let inside = fences.iter().filter(|(site, _)| site.side == Side::Inside);
        let mut seen = BTreeSet::new();
        let insertions = inside.map(|(site, kind)| {
            let block = site.statement;
            let first = seen.insert(block);
            let at = (block.end as usize).saturating_sub(1);
            let fence = (self.words)(*kind);
            let closing = Span::new(at, block.end as usize);
            let blank = self.text[..at].ends_with(char::is_whitespace);
            let insertion = if self.begins_line(closing) {
                let indent = self.indent(at);
                format!("    {fence}{}{indent}", self.newline)
            } else if first && !blank {
                format!(" {fence} ")
            } else {
                format!("{fence} ")
            };
            (at, insertion)
        });
        insertions.collect()
    }

    /// Opening braces, and fences before statements.
    fn beginnings(&self, fences: &[(FenceSite, FenceKind)]) -> Vec<Insertion> {
        let mut typed = self.at_edges(fences, Side::Before);
        typed.sort_by_key(|(span, what)| {
            let is_fence = matches!(what, Typed::Fence(_));
            (span.start, std::cmp::Reverse(span.end), is_fence)
        });
        let insertion = |(span, what): (Span, Typed)| {
            let start = span.start as usize;
            let begins_line = self.begins_line(span);
            match what {
                Typed::Brace if begins_line => {
                    (self.token_before(span).end as usize, " {".to_string())
                }
                Typed::Brace => (start, "{ ".to_string()),
                Typed::Fence(fence)
                    if begins_line && self.line_end_behind(span.end as usize).is_some() =>
                {
                    let indent = self.indent(start);
                    let wanted = self.statement_indent(span);
                    let deeper = wanted.strip_prefix(indent).unwrap_or_default();
                    (start, format!("{deeper}{fence}{}{indent}", self.newline))
                }
                Typed::Fence(fence) => (start, format!("{fence} ")),
            }
        };
        typed.into_iter().map(insertion).collect()
    }

    fn line_start(&self, offset: usize) -> usize {
        self.text[..offset].rfind('\n').map_or(0, |at| at + 1)
    }

    /// The white space that the line of `offset` begins with.
    fn indent(&self, offset: usize) -> &'a str {
        let line = &self.text[self.line_start(offset)..];
        let length = line.find(|c| c != ' ' && c != '\t').unwrap_or(line.len());
        &line[..length]
    }

    /// The indentation of a statement; under a label on a line of its own, that of the
    /// statement behind the label.
    fn statement_indent(&self, statement: Span) -> &'a str {
        let mut at = self.index_of(statement);
        while let Some([name, colon, next]) = self.tokens.get(at..at + 3)
            && name.kind == LexemeKind::Name
            && colon.kind == LexemeKind::Colon
            && next.span.start < statement.end
        {
            at += 2;
        }
        match self.tokens.get(at) {
            Some(token) if self.begins_line(token.span) => self.indent(token.span.start as usize),
            _ => self.indent(statement.start as usize),
        }
    }

    /// Whether only white space stands before it on its line.
    fn begins_line(&self, span: Span) -> bool {
        let start = span.start as usize;
        let before = &self.text[self.line_start(start)..start];
        before.chars().all(char::is_whitespace)
    }

    /// Whether only its labels stand before it on its line.
    fn begins_line_after_labels(&self, span: Span) -> bool {
        let mut first = span;
        let mut at = self.index_of(span);
        while let Some(before) = at.checked_sub(2)
            && let Some([name, colon]) = self.tokens.get(before..at)
            && name.kind == LexemeKind::Name
            && colon.kind == LexemeKind::Colon
            && name.span.start as usize >= self.line_start(first.start as usize)
        {
            first = name.span;
            at = before;
        }
        self.begins_line(first)
    }

    /// The end of the line if nothing but comments follows `offset` on it.
    fn line_end_behind(&self, offset: usize) -> Option<usize> {
        let mut at = offset;
        loop {
            let rest = &self.text[at..];
            let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
            let line = line.strip_suffix('\r').unwrap_or(line);
            let code = line.trim_start();
            if code.is_empty() || code.starts_with("//") {
                return Some(at + line.len());
            }
            let comment = code.strip_prefix("/*")?;
            let length = comment.find("*/")?;
            at += line.len() - comment.len() + length + 2;
        }
    }

    /// The index of the first token of a statement.
    fn index_of(&self, statement: Span) -> usize {
        let start = statement.start;
        self.tokens.partition_point(|t| t.span.start < start)
    }

    fn token_before(&self, statement: Span) -> Span {
        let before = self.index_of(statement).checked_sub(1);
        let token = before.and_then(|index| self.tokens.get(index));
        token.map_or(Span::new(0, 0), |token| token.span)
    }

    /// The fences on one side of statements, and the braces of bodies on that side.
    fn at_edges(&self, fences: &[(FenceSite, FenceKind)], side: Side) -> Vec<(Span, Typed)> {
        let bodies: BTreeSet<Span> = fences.iter().filter_map(|(site, _)| site.body).collect();
        let braces = bodies.into_iter().map(|body| (body, Typed::Brace));
        let fences = fences.iter().filter(|(site, _)| site.side == side);
        let fences = fences.map(|(site, kind)| (site.statement, Typed::Fence((self.words)(*kind))));
        braces.chain(fences).collect()
    }
}

/// How the lines of a text end.
pub(crate) fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

pub(super) fn words(kind: FenceKind) -> &'static str {
    match kind {
        FenceKind::Full => "fence;",
        FenceKind::StoreStore => "fence ss;",
        FenceKind::StoreLoad => "fence sl;",
    }
}

#[cfg(test)]
mod tests;
