//! Source files: their text, and the way from byte offsets to lines and columns.

use std::fmt;

/// A text together with the name under which messages speak of it.
#[derive(Debug, Clone)]
pub struct Source {
    name: String,
    text: String,
    line_starts: Vec<u32>,
}

/// A half-open range of byte offsets into a [`Source`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

/// A line and a column, both counted from one; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

impl Source {
    /// Wraps `text`; `name` is the path, or `<stdin>`.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        let text = text.into();
        let starts = text.match_indices('\n').map(|(at, _)| at as u32 + 1);
        let line_starts = std::iter::once(0).chain(starts).collect();
        Source {
            name: name.into(),
            text,
            line_starts,
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text that `span` covers.
    pub fn slice(&self, span: Span) -> &str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// The line and column of a byte offset.
    pub fn position(&self, offset: u32) -> Position {
        let line = self.line_starts.partition_point(|&start| start <= offset);
        let start = self.line_starts[line - 1] as usize;
        let column = self.text[start..offset as usize].chars().count() + 1;
        Position {
            line: line as u32,
            column: column as u32,
        }
    }

    /// The byte offset of a position, if the text has such a line and column;
    /// the column just past the last character of a line counts.
    pub fn offset(&self, at: Position) -> Option<u32> {
        let line = self.line(at.line)?;
        let start = self.line_starts[at.line as usize - 1];
        let skip = at.column.checked_sub(1)? as usize;
        let within = match line.char_indices().nth(skip) {
            Some((within, _)) => within,
            None if skip == line.chars().count() => line.len(),
            None => return None,
        };
        Some(start + within as u32)
    }

    /// A line counted from one, without its line ending.
    pub fn line(&self, line: u32) -> Option<&str> {
        let index = (line as usize).checked_sub(1)?;
        let start = *self.line_starts.get(index)? as usize;
        let rest = &self.text[start..];
        let end = rest.find('\n').unwrap_or(rest.len());
        Some(rest[..end].trim_end_matches('\r'))
    }
}

impl Span {
    pub fn new(start: usize, end: usize) -> Span {
        Span {
            start: start as u32,
            end: end as u32,
        }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    pub fn contains(self, offset: u32) -> bool {
        self.start <= offset && offset < self.end
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_and_positions_are_inverse() {
        let source = Source::new("t", "ab\nçd\r\n\nx");
        for (offset, _) in source.text().char_indices() {
            let offset = offset as u32;
            let at = source.position(offset);
            if source.text().as_bytes()[offset as usize] != b'\n' || at.column == 1 {
                assert_eq!(source.offset(at), Some(offset), "{at}");
            }
        }
        assert_eq!(source.position(5), Position { line: 2, column: 2 });
        assert_eq!(source.offset(Position { line: 4, column: 2 }), Some(10));
        assert_eq!(source.offset(Position { line: 4, column: 3 }), None);
        assert_eq!(source.offset(Position { line: 9, column: 1 }), None);
        assert_eq!(source.offset(Position { line: 1, column: 0 }), None);
    }
}
