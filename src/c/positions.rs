//! From the text that a preprocessor prints back to the files that were typed.
//!
//! The preprocessor is asked for its definitions as well (`cc -E -dD`). Its line markers say
//! which file and which line a line comes from, but not which columns: white space is
//! collapsed, comments are gone, and invocations of macros are replaced. So each file is read
//! again as tokens, its macros are expanded again, and what should be printed is compared with
//! what is printed, line by line. A token that agrees comes from the place it is expected from;
//! lines that do not agree are known as lines only.
//!
//! Which branches of `#if` were taken needs no evaluation: no line of the others is printed.

use super::macros::{Macros, Pattern};
use super::tokens::{Token, tokens};
use crate::source::{Source, Span};
use std::collections::VecDeque;

/// What a preprocessor has printed, and where it comes from.
#[derive(Debug, Clone)]
pub struct Preprocessed {
    text: String,
    source: Source,
    /// Of all tokens of the text, in order.
    origins: Vec<Origin>,
}

/// A piece of the text in the files that were typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Located {
    /// Where it was typed. A piece of what a macro becomes was typed as the whole invocation,
    /// and a piece of a header of the system as the line that includes it.
    pub span: Span,
    /// The piece begins where `span` begins: not amid what a macro becomes.
    pub begins: bool,
    /// The piece ends where `span` ends.
    pub ends: bool,
}

impl Located {
    /// Whether the piece is what was typed there, no more and no less.
    pub fn is_exact(&self) -> bool {
        self.begins && self.ends
    }
}

/// A token of the text and where it was typed.
#[derive(Debug, Clone)]
struct Origin {
    /// In the text.
    token: Span,
    /// In the source.
    located: Located,
    system: bool,
}

impl Preprocessed {
    /// Finds the origins of what `cc -E -dD` has printed. `files` are the names and texts of
    /// the files that the user has typed, the main file first; all others are the system's.
    pub fn new(printed: &str, files: &[(String, String)]) -> Preprocessed {
        let (main, included) = files
            .split_first()
            .map_or((None, files), |(main, others)| (Some(main), others));
        let (name, text) = main.map_or(("", ""), |(name, text)| (name, text));
        let mut source = Source::new(name, text);
        let mut starts = vec![0];
        starts.extend(included.iter().map(|(name, text)| source.add(name, text)));
        let read = files.iter().zip(starts);
        let mut walk = Walk {
            files: read
                .map(|((_, text), start)| File::new(text, start))
                .collect(),
            names: files.iter().map(|(name, _)| name.as_str()).collect(),
            macros: Macros::default(),
            frames: vec![Frame::default()],
            origins: Vec::new(),
            fuel: FUEL,
        };
        let mut text = String::with_capacity(printed.len());
        for line in printed.split_inclusive('\n') {
            let at = text.len();
            if walk.line(line, at) {
                text.push_str(line);
            } else {
                let blank = line.trim_end_matches(['\n', '\r']).len();
                text.extend(std::iter::repeat_n(' ', blank));
                text.push_str(&line[blank..]);
            }
        }
        Preprocessed {
            text,
            source,
            origins: walk.origins,
        }
    }

    /// What a parser reads: the printed text, with spaces in the place of directives.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The files that the user has typed.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Where a piece of the text was typed.
    pub fn locate(&self, span: Span) -> Located {
        let first = self
            .origins
            .partition_point(|it| it.token.end <= span.start);
        let behind = self.origins.partition_point(|it| it.token.start < span.end);
        let Some(last) = behind.checked_sub(1).filter(|last| *last >= first) else {
            // No token: the place before the next one.
            let next = self.origins.get(first).or(self.origins.last());
            let span = next.map_or(Span::default(), |next| next.located.span);
            return Located::unclear(span);
        };
        let (first, last) = (&self.origins[first].located, &self.origins[last].located);
        let one_file = self.source.file(first.span.start) == self.source.file(last.span.start);
        if !one_file || last.span.end < first.span.start {
            return Located::unclear(first.span);
        }
        Located {
            span: first.span.to(last.span),
            begins: first.begins && first.span.start <= last.span.start,
            ends: last.ends && first.span.end <= last.span.end,
        }
    }

    /// Whether the token at or behind an offset comes from a header of the system.
    pub fn in_system_header(&self, offset: u32) -> bool {
        let at = self.origins.partition_point(|it| it.token.end <= offset);
        self.origins.get(at).is_some_and(|origin| origin.system)
    }
}

/// The names of the files that the user has typed, in the order in which a preprocessor's
/// text mentions them.
pub fn user_files(printed: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for line in printed.lines().filter(|line| line.starts_with('#')) {
        if let Some(marker) = Marker::read(&tokens(line))
            && !marker.system
            && !(marker.name.starts_with('<') && marker.name != STDIN)
            && !names.contains(&marker.name)
        {
            names.push(marker.name);
        }
    }
    names
}

/// How preprocessors call standard input.
pub const STDIN: &str = "<stdin>";

/// How many tokens are looked at to expand all macros, and those of one line.
const FUEL: usize = 20_000_000;
const FUEL_OF_A_LINE: usize = 10_000;

impl Located {
    fn unclear(span: Span) -> Located {
        Located {
            span,
            begins: false,
            ends: false,
        }
    }
}

/// A line marker: `# LINE "FILE" FLAGS`.
struct Marker {
    line: u32,
    name: String,
    enters: bool,
    returns: bool,
    system: bool,
}

impl Marker {
    /// The marker that the tokens of a directive are, if they are one.
    fn read(tokens: &[Token]) -> Option<Marker> {
        let rest = match tokens {
            [_, word, rest @ ..] if word.text == "line" => rest,
            [_, rest @ ..] => rest,
            [] => return None,
        };
        let (line, rest) = rest.split_first()?;
        let (name, flags) = rest.split_first()?;
        let name = name.text.strip_prefix('"')?.strip_suffix('"')?;
        let has = |flag: &str| flags.iter().any(|token| token.text == flag);
        Some(Marker {
            line: line.text.parse().ok()?,
            name: unescape(name),
            enters: has("1"),
            returns: has("2"),
            system: has("3"),
        })
    }
}

/// The characters of a string literal that names a file.
fn unescape(literal: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = literal.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let mut value: u32 = 0;
        let mut digits = 0;
        while let Some(digit) = rest.next_if(|b| digits < 3 && (b'0'..b'8').contains(b)) {
            value = value * 8 + u32::from(digit - b'0');
            digits += 1;
        }
        match digits {
            0 => bytes.extend(rest.next()),
            _ => bytes.push(value as u8),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A file as it was typed.
struct File<'a> {
    /// Those that are no part of directives; spans are those of the source.
    tokens: Vec<Token<'a>>,
    /// The numbers of tokens that directives stand before.
    breaks: Vec<usize>,
    /// The lines of directives and where they stand.
    directives: Vec<(u32, Span)>,
}

impl File<'_> {
    fn new(text: &str, start: u32) -> File<'_> {
        let mut file = File {
            tokens: Vec::new(),
            breaks: Vec::new(),
            directives: Vec::new(),
        };
        let mut in_directive = false;
        for mut token in tokens(text) {
            token.span.start += start;
            token.span.end += start;
            if token.begins_line {
                in_directive = matches!(&*token.text, "#" | "%:");
                if in_directive {
                    file.breaks.push(file.tokens.len());
                    file.directives.push((token.line, token.span));
                }
            }
            match file.directives.last_mut() {
                Some((_, span)) if in_directive => span.end = token.span.end,
                _ => file.tokens.push(token),
            }
        }
        file
    }

    /// The number of the first token that is not above a line.
    fn at_line(&self, line: u32) -> usize {
        self.tokens.partition_point(|token| token.line < line)
    }

    /// The tokens from a number to the next directive.
    fn until_directive(&self, at: usize) -> &[Token<'_>] {
        let next = self.breaks.partition_point(|at_break| *at_break <= at);
        let end = self.breaks.get(next).copied();
        &self.tokens[at..end.unwrap_or(self.tokens.len())]
    }

    /// Where the tokens of a line stand; if it has none, the next token.
    fn line(&self, line: u32) -> Span {
        let (first, behind) = (self.at_line(line), self.at_line(line.saturating_add(1)));
        let last = behind.max(first + 1) - 1;
        match (self.tokens.get(first), self.tokens.get(last)) {
            (Some(first), Some(last)) => first.span.to(last.span),
            _ => self.tokens.last().map_or(Span::default(), |last| last.span),
        }
    }

    /// The last directive that begins at or above a line.
    fn directive(&self, line: u32) -> Span {
        let behind = self.directives.partition_point(|(at, _)| *at <= line);
        let found = behind.checked_sub(1).map(|at| self.directives[at].1);
        found.unwrap_or_default()
    }
}

/// A file that is being included.
#[derive(Default)]
struct Frame {
    /// The number of a file of the user.
    file: Option<usize>,
    /// The line that the next line of the text comes from.
    line: u32,
    expected: Expected,
    /// The number of origins when it was entered.
    first_origin: usize,
}

/// What should be printed next.
#[derive(Clone, Default)]
struct Expected {
    /// What is left of the last invocation.
    pending: VecDeque<(Pattern, Located)>,
    /// The number of the first token behind it.
    cursor: usize,
}

struct Walk<'a> {
    files: Vec<File<'a>>,
    names: Vec<&'a str>,
    macros: Macros,
    /// The files that include one another, the innermost last; at least one.
    frames: Vec<Frame>,
    origins: Vec<Origin>,
    fuel: usize,
}

impl Walk<'_> {
    /// Takes a line of the text into account, which begins at an offset; says whether it is
    /// text, not a directive.
    fn line(&mut self, line: &str, offset: usize) -> bool {
        let tokens = tokens(line);
        let directive = tokens.first().is_some_and(|token| token.text == "#");
        if let Some(marker) = Marker::read(&tokens).filter(|_| directive) {
            self.mark(marker);
            return false;
        }
        if directive {
            self.macros.read(&tokens[1..]);
        } else {
            self.find(&tokens, offset as u32);
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.line = frame.line.saturating_add(1);
        }
        !directive
    }

    fn mark(&mut self, marker: Marker) {
        let named = self.names.iter().position(|name| *name == marker.name);
        let file = named.filter(|_| !marker.system);
        if marker.enters {
            self.frames.push(Frame {
                first_origin: self.origins.len(),
                ..Frame::default()
            });
        } else if marker.returns && self.frames.len() > 1 {
            let left = self.frames.pop();
            if let (
                Some(Frame {
                    file: None,
                    first_origin,
                    ..
                }),
                Some(file),
            ) = (left, file)
            {
                let include = self.files[file].directive(marker.line.saturating_sub(1));
                for origin in &mut self.origins[first_origin..] {
                    if origin.system {
                        origin.located.span = include;
                    }
                }
            }
        }
        if let Some(frame) = self.frames.last_mut() {
            if frame.file != file {
                frame.file = file;
                frame.expected = Expected::default();
            }
            frame.line = marker.line;
        }
    }

    /// Finds the origins of the tokens of a line.
    fn find(&mut self, tokens: &[Token], offset: u32) {
        let Some(frame) = self.frames.last_mut().filter(|_| !tokens.is_empty()) else {
            return;
        };
        let mut located: Vec<Located> = Vec::with_capacity(tokens.len());
        if let Some(file) = frame.file {
            let file = &self.files[file];
            // Lines that are not printed are passed over, unless the preprocessor prints
            // what is left of an invocation, or is mistaken about the line.
            let stay = std::mem::take(&mut frame.expected);
            let jump = Expected {
                cursor: file.at_line(frame.line),
                ..Expected::default()
            };
            let options = match stay.pending.is_empty() && stay.cursor < jump.cursor {
                true => vec![jump, stay],
                false => vec![stay],
            };
            for (number, mut expected) in options.into_iter().enumerate() {
                let found = expected.read(file, tokens, &self.macros, &mut self.fuel);
                if number == 0 || found.len() > located.len() {
                    (located, frame.expected) = (found, expected);
                }
                if located.len() == tokens.len() {
                    break;
                }
            }
            if located.len() < tokens.len() {
                let line = Located::unclear(file.line(frame.line));
                located.resize(tokens.len(), line);
                let next = file.at_line(frame.line.saturating_add(1));
                frame.expected = Expected {
                    cursor: frame.expected.cursor.max(next),
                    ..Expected::default()
                };
            }
        }
        let system = frame.file.is_none();
        located.resize(tokens.len(), Located::unclear(Span::default()));
        let origins = tokens.iter().zip(located).map(|(token, located)| Origin {
            token: Span {
                start: token.span.start + offset,
                end: token.span.end + offset,
            },
            located,
            system,
        });
        self.origins.extend(origins);
    }
}

impl Expected {
    /// Where printed tokens were typed, up to the first that is not expected.
    fn read(
        &mut self,
        file: &File,
        tokens: &[Token],
        macros: &Macros,
        fuel: &mut usize,
    ) -> Vec<Located> {
        let mut found = Vec::new();
        let allowed = (FUEL_OF_A_LINE + 100 * tokens.len()).min(*fuel);
        let mut own = allowed;
        for token in tokens {
            while self.pending.is_empty() && self.cursor < file.tokens.len() {
                self.advance(file, macros, &mut own);
            }
            match self.pending.front() {
                Some((pattern, located)) if pattern.matches(&token.text) => found.push(*located),
                _ => break,
            }
            self.pending.pop_front();
        }
        *fuel -= allowed - own;
        found
    }

    /// Expects the next token, or what the next invocation becomes.
    fn advance(&mut self, file: &File, macros: &Macros, fuel: &mut usize) {
        let tokens = file.until_directive(self.cursor);
        let Some(first) = tokens.first() else {
            return;
        };
        let Some(expansion) = macros.expand(tokens, fuel) else {
            let word = Pattern::Word(first.text.as_ref().into());
            let located = Located {
                span: first.span,
                begins: true,
                ends: true,
            };
            self.pending.push_back((word, located));
            self.cursor += 1;
            return;
        };
        let last = &tokens[expansion.invocation - 1];
        let count = expansion.tokens.len();
        let patterns = expansion.tokens.into_iter().enumerate();
        self.pending.extend(patterns.map(|(index, pattern)| {
            let located = Located {
                span: first.span.to(last.span),
                begins: index == 0,
                ends: index + 1 == count,
            };
            (pattern, located)
        }));
        self.cursor += expansion.invocation;
    }
}
