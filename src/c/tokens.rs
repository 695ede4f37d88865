//! Preprocessing tokens of C, with their places in the text.
//!
//! A line that ends in a backslash goes on in the next one, even within a token. Comments are
//! white space. Whatever is no token of C is one of a single character; a literal that is not
//! closed ends with its line.

use crate::source::Span;
use std::borrow::Cow;

/// A token, as it stands in the text and as it is spelled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token<'a> {
    /// Its spelling, without the line breaks that a backslash hides.
    pub text: Cow<'a, str>,
    pub span: Span,
    /// The line that it begins in, counted from one.
    pub line: u32,
    /// Whether it is the first of its line; lines that a backslash joins are one.
    pub begins_line: bool,
}

/// The tokens of a text.
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    let lexer = Lexer {
        bytes: text.as_bytes(),
    };
    let mut tokens = Vec::new();
    let mut begins_line = true;
    let (mut line, mut counted) = (1, 0);
    let mut at = lexer.splice(0);
    while let Some(byte) = lexer.byte(at) {
        match byte {
            b'\n' => {
                begins_line = true;
                at = lexer.next(at);
                continue;
            }
            _ if byte.is_ascii_whitespace() || byte == 0x0b => {
                at = lexer.next(at);
                continue;
            }
            b'/' if lexer.follows(at, b"//") => {
                at = lexer.skip(at, |byte| byte != b'\n');
                continue;
            }
            b'/' if lexer.follows(at, b"/*") => {
                at = lexer.behind_comment(at);
                continue;
            }
            _ => {}
        }
        let end = lexer.behind_token(at, byte);
        let breaks = lexer.bytes[counted..at].iter();
        line += breaks.filter(|byte| **byte == b'\n').count() as u32;
        counted = at;
        tokens.push(Token {
            text: lexer.spelling(text, at, end),
            span: Span::new(at, end),
            line,
            begins_line: std::mem::take(&mut begins_line),
        });
        at = lexer.splice(end);
    }
    tokens
}

/// Punctuators of more than one character, longest first.
const PUNCTUATORS: [&[u8]; 30] = [
    b"%:%:", b"<<=", b">>=", b"...", b"->", b"++", b"--", b"<<", b">>", b"<=", b">=", b"==", b"!=",
    b"&&", b"||", b"*=", b"/=", b"%=", b"+=", b"-=", b"&=", b"^=", b"|=", b"##", b"<:", b":>",
    b"<%", b"%>", b"%:", b"::",
];

/// The prefixes of literals.
const PREFIXES: [&str; 4] = ["L", "u", "U", "u8"];

struct Lexer<'a> {
    bytes: &'a [u8],
}

impl<'a> Lexer<'a> {
    /// The offset behind all hidden line breaks at `at`.
    fn splice(&self, mut at: usize) -> usize {
        while self.byte(at) == Some(b'\\') {
            let rest = &self.bytes[at + 1..];
            let blank = |byte: &&u8| matches!(**byte, b' ' | b'\t' | b'\r');
            let blanks = rest.iter().take_while(blank).count();
            if rest.get(blanks) != Some(&b'\n') {
                break;
            }
            at += blanks + 2;
        }
        at
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    /// The offset of the next byte that is not hidden.
    fn next(&self, at: usize) -> usize {
        self.splice(at + 1)
    }

    /// Whether these bytes stand here, apart from hidden line breaks.
    fn follows(&self, at: usize, word: &[u8]) -> bool {
        self.behind(at, word).is_some()
    }

    /// The offset behind these bytes, if they stand here.
    fn behind(&self, mut at: usize, word: &[u8]) -> Option<usize> {
        let mut end = at;
        for wanted in word {
            if self.byte(at) != Some(*wanted) {
                return None;
            }
            end = at + 1;
            at = self.next(at);
        }
        Some(end)
    }

    /// The offset of the first byte that is not wanted.
    fn skip(&self, mut at: usize, wanted: impl Fn(u8) -> bool) -> usize {
        while self.byte(at).is_some_and(&wanted) {
            at = self.next(at);
        }
        at
    }

    fn behind_comment(&self, at: usize) -> usize {
        let mut at = self.next(self.next(at));
        while at < self.bytes.len() {
            if let Some(end) = self.behind(at, b"*/") {
                return self.splice(end);
            }
            at = self.next(at);
        }
        at
    }

    /// The end of the token that begins at `at`.
    fn behind_token(&self, at: usize, first: u8) -> usize {
        let dotted = first == b'.' && self.byte(self.next(at)).is_some_and(|b| b.is_ascii_digit());
        if first.is_ascii_digit() || dotted {
            return self.behind_number(at);
        }
        if is_name(first) {
            return self.behind_name(at);
        }
        if matches!(first, b'"' | b'\'') {
            return self.behind_literal(at, first);
        }
        let mut longest = PUNCTUATORS.iter().map(|word| self.behind(at, word));
        longest.find_map(|end| end).unwrap_or(at + 1)
    }

    /// The end of a name, or of the literal whose prefix it is.
    fn behind_name(&self, at: usize) -> usize {
        let (mut end, mut next) = (at, at);
        let mut name = Vec::new();
        while let Some(byte) = self
            .byte(next)
            .filter(|byte| is_name(*byte) || byte.is_ascii_digit())
        {
            name.push(byte);
            end = next + 1;
            next = self.next(next);
        }
        let is_prefix = PREFIXES.iter().any(|prefix| prefix.as_bytes() == name);
        match self.byte(next) {
            Some(quote @ (b'"' | b'\'')) if is_prefix => self.behind_literal(next, quote),
            _ => end,
        }
    }

    fn behind_number(&self, at: usize) -> usize {
        let (mut end, mut next) = (at, at);
        let mut last = 0;
        while let Some(byte) = self.byte(next) {
            let signed = matches!(byte, b'+' | b'-') && matches!(last, b'e' | b'E' | b'p' | b'P');
            if !(signed || byte == b'.' || is_name(byte) || byte.is_ascii_digit()) {
                break;
            }
            last = byte;
            end = next + 1;
            next = self.next(next);
        }
        end
    }

    fn behind_literal(&self, at: usize, quote: u8) -> usize {
        let mut end = at + 1;
        let mut next = self.next(at);
        while let Some(byte) = self.byte(next).filter(|byte| *byte != b'\n') {
            end = next + 1;
            next = self.next(next);
            if byte == quote {
                break;
            }
            if byte == b'\\' && self.byte(next).is_some_and(|byte| byte != b'\n') {
                end = next + 1;
                next = self.next(next);
            }
        }
        end
    }

    fn spelling(&self, text: &'a str, start: usize, end: usize) -> Cow<'a, str> {
        let slice = &text[start..end];
        if !slice.contains('\n') {
            return Cow::Borrowed(slice);
        }
        let mut spelled = Vec::new();
        let mut at = start;
        while at < end {
            spelled.push(self.bytes[at]);
            at = self.next(at);
        }
        // Only whole characters were left out.
        Cow::Owned(String::from_utf8_lossy(&spelled).into_owned())
    }
}

/// Whether a byte can begin a name; those of characters beyond ASCII can.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$') || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let tokens = tokens(text);
        tokens.iter().map(|token| token.text.to_string()).collect()
    }

    #[test]
    fn spellings() {
        let text = "a+++b /* c */ 0x1.p-3 .5e+1. L\"x\\\"y\" u8'c' // d\n<<=...%: 'open\né #\\x";
        let expected = [
            "a",
            "++",
            "+",
            "b",
            "0x1.p-3",
            ".5e+1.",
            "L\"x\\\"y\"",
            "u8'c'",
            "<<=",
            "...",
            "%:",
            "'open",
            "é",
            "#",
            "\\",
            "x",
        ];
        assert_eq!(words(text), expected);
    }

    #[test]
    fn hidden_line_breaks() {
        let text = "lo\\\nng \"a\\ \n b\" /\\\n/ gone \\\n gone\nx /\\\r\n* gone *\\\n/ y <\\\n<=";
        assert_eq!(words(text), ["long", "\"a b\"", "x", "y", "<<="]);
        let lines: Vec<(u32, bool)> = tokens(text)
            .iter()
            .map(|t| (t.line, t.begins_line))
            .collect();
        assert_eq!(
            lines,
            [(1, true), (2, false), (6, true), (8, false), (8, false)]
        );
    }

    #[test]
    fn lines_begin_behind_comments() {
        let begins = |text| {
            tokens(text)
                .iter()
                .map(|t| t.begins_line)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            begins("/* a */ # b /*\n*/ # c\n # d"),
            [true, false, false, false, true, false]
        );
    }
}
