//! Source files: their text, and the way from byte offsets to lines and columns.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A text together with the name under which messages speak of it: one file, or a main file
/// and those that it includes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Source {
    /// At least one, the main file first.
    files: Vec<File>,
    /// The texts of all files, with a line break between two of them.
    text: String,
    /// Of all files.
    line_starts: Vec<u32>,
}

/// Where a file stands in the text of its source.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct File {
    name: String,
    span: Span,
    /// The number of lines before it.
    lines_before: usize,
}

/// A half-open range of byte offsets into a [`Source`].
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
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

/// A position and its file, unless that is the main file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location<'a> {
    pub file: Option<&'a str>,
    pub at: Position,
}

impl Source {
    /// Wraps `text`; `name` is the path, or `<stdin>`.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        let text = text.into();
        let starts = text.match_indices('\n').map(|(at, _)| at as u32 + 1);
        let line_starts = std::iter::once(0).chain(starts).collect();
        Source {
            files: vec![File {
                name: name.into(),
                span: Span::new(0, text.len()),
                lines_before: 0,
            }],
            text,
            line_starts,
        }
    }

    /// Adds a file that the main file includes, and says where its text begins.
    pub fn add(&mut self, name: impl Into<String>, text: &str) -> u32 {
        let start = self.text.len() + 1;
        let starts = text
            .match_indices('\n')
            .map(|(at, _)| (start + at + 1) as u32);
        self.files.push(File {
            name: name.into(),
            span: Span::new(start, start + text.len()),
            lines_before: self.line_starts.len(),
        });
        self.line_starts.push(start as u32);
        self.line_starts.extend(starts);
        self.text.push('\n');
        self.text.push_str(text);
        start as u32
    }

    /// The name of the main file.
    pub fn name(&self) -> &str {
        &self.files[0].name
    }

    /// The texts of all files, which spans and offsets point into.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text of the main file.
    pub fn main_text(&self) -> &str {
        self.slice(self.files[0].span)
    }

    /// The names of all files and where their texts stand, the main file first.
    pub fn files(&self) -> impl Iterator<Item = (&str, Span)> {
        self.files.iter().map(|file| (&file.name[..], file.span))
    }

    /// The name of the file that `offset` is in, and where its text stands.
    pub fn file(&self, offset: u32) -> (&str, Span) {
        let file = self.file_at(offset);
        (&file.name, file.span)
    }

    fn file_at(&self, offset: u32) -> &File {
        let behind = self.files.partition_point(|file| file.span.start <= offset);
        &self.files[behind - 1]
    }

    /// The text that `span` covers.
    pub fn slice(&self, span: Span) -> &str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// The line and column of a byte offset in its file.
    pub fn position(&self, offset: u32) -> Position {
        let line = self.line_starts.partition_point(|&start| start <= offset);
        let start = self.line_starts[line - 1] as usize;
        let column = self.text[start..offset as usize].chars().count() + 1;
        Position {
            line: (line - self.file_at(offset).lines_before) as u32,
            column: column as u32,
        }
    }

    /// The file, line and column of a byte offset.
    pub fn location(&self, offset: u32) -> Location<'_> {
        let file = self.file_at(offset);
        Location {
            file: (file.span.start > 0).then_some(&file.name),
            at: self.position(offset),
        }
    }

    /// The byte offset of a position in the main file, if it has such a line and column;
    /// the column just past the last character of a line counts.
    pub fn offset(&self, at: Position) -> Option<u32> {
        self.offset_in(self.name(), at)
    }

    /// The same in the file with this name.
    pub fn offset_in(&self, name: &str, at: Position) -> Option<u32> {
        let file = self.files.iter().find(|file| file.name == name)?;
        let index = (at.line as usize).checked_sub(1)?;
        let start = *self.line_starts.get(file.lines_before + index)?;
        if start > file.span.end {
            return None;
        }
        let rest = self.slice(Span {
            start,
            end: file.span.end,
        });
        let line = rest.split('\n').next()?.trim_end_matches('\r');
        let skip = at.column.checked_sub(1)? as usize;
        let within = match line.char_indices().nth(skip) {
            Some((within, _)) => within,
            None if skip == line.chars().count() => line.len(),
            None => return None,
        };
        Some(start + within as u32)
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

impl Location<'_> {
    /// The line in words: `12`, or `lock.h:12` where it is not in the main file.
    pub fn line(&self) -> String {
        match self.file {
            Some(file) => format!("{file}:{}", self.at.line),
            None => self.at.line.to_string(),
        }
    }
}

impl fmt::Display for Location<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.file {
            Some(file) => write!(f, "{file}:{}", self.at),
            None => write!(f, "{}", self.at),
        }
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
    #[test]
    fn several_files() {
        let mut source = Source::new("main", "ab\ncd");
        assert_eq!(source.add("inc", "e\n\nçg\n"), 6);
        assert_eq!(source.add("empty", ""), 14);
        assert_eq!(source.main_text(), "ab\ncd");
        let shown = |offset| source.location(offset).to_string();
        let expected = [
            (4, "2:2"),
            (5, "2:3"),
            (6, "inc:1:1"),
            (9, "inc:3:1"),
            (11, "inc:3:2"),
            (13, "inc:4:1"),
            (14, "empty:1:1"),
        ];
        for (offset, place) in expected {
            assert_eq!(shown(offset), place);
            let (name, _) = source.file(offset);
            assert_eq!(
                source.offset_in(name, source.position(offset)),
                Some(offset)
            );
        }
        assert_eq!(source.offset(Position { line: 3, column: 1 }), None);
        assert_eq!(
            source.offset_in("inc", Position { line: 5, column: 1 }),
            None
        );
        assert_eq!(
            source.offset_in("none", Position { line: 1, column: 1 }),
            None
        );
    }
}
