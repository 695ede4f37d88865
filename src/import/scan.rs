//! Foreign text to tokens, and a cursor over them. What a word means is left to whoever
//! reads them; positions are those of the file.

use crate::diagnostic::Diagnostic;
use crate::lang::lexer::{is_word, length_while};
use crate::program::Value;
use crate::program::value::fit;
use crate::source::Span;

/// An error travels up boxed to whoever collects errors.
pub type Read<T> = Result<T, Box<Diagnostic>>;

/// An error at some place of the file.
pub fn wrong(span: Span, message: impl Into<String>) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(span, message))
}

/// An error with a hint how to mend it.
pub fn hinted(span: Span, message: impl Into<String>, help: impl Into<String>) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(span, message).help(help))
}

/// Foreign trees are at most this deep: translating them adds levels, and what comes out
/// must stay within what the native parser accepts.
pub const DEEPEST: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    pub kind: TokenKind,
    pub text: &'a str,
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    Word,
    Int,
    Symbol,
    End,
}

/// Longer ones first, so that the first match is the longest.
const SYMBOLS: [&str; 31] = [
    "/\\", "\\/", ":=", "!=", "<=", ">=", "&&", "||", "=", "<", ">", "+", "-", "*", "$", "%", "~",
    "!", ".", ":", ";", ",", "|", "(", ")", "[", "]", "{", "}", "@", "&",
];

/// Splits the text from `start` on into tokens, the last of which is the end. Comments
/// have been blanked before.
pub fn tokens(text: &str, start: usize) -> Read<Vec<Token<'_>>> {
    let mut tokens = Vec::new();
    let mut at = start;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let (kind, length) = if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if first.is_ascii_digit() {
            (TokenKind::Int, length_while(rest, is_word))
        } else if is_word(first) {
            (TokenKind::Word, length_while(rest, is_word))
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            (TokenKind::Symbol, symbol.len())
        } else {
            let span = Span::new(at, at + first.len_utf8());
            let message = format!("unknown character '{}'", first.escape_debug());
            return Err(wrong(span, message));
        };
        tokens.push(Token {
            kind,
            text: &rest[..length],
            span: Span::new(at, at + length),
        });
        at += length;
    }
    tokens.push(Token {
        kind: TokenKind::End,
        text: "",
        span: Span::new(at, at),
    });
    Ok(tokens)
}

/// The text with every comment between `open` and `close` turned into blanks, byte for
/// byte, so that offsets stay; `nested` comments may contain others. Quoted strings are
/// left alone.
pub fn blank_comments(text: &str, open: &str, close: &str, nested: bool) -> Read<String> {
    let mut out = String::with_capacity(text.len());
    let (mut at, mut depth, mut opened, mut quoted) = (0, 0usize, 0, false);
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = if !quoted && rest.starts_with(open) && (depth == 0 || nested) {
            if depth == 0 {
                opened = at;
            }
            depth += 1;
            open.len()
        } else if depth > 0 && rest.starts_with(close) {
            depth -= 1;
            at += close.len();
            out.extend(std::iter::repeat_n(' ', close.len()));
            continue;
        } else {
            quoted ^= depth == 0 && c == '"';
            c.len_utf8()
        };
        match c {
            _ if depth == 0 => out.push(c),
            '\n' => out.push(c),
            _ => out.extend(std::iter::repeat_n(' ', length)),
        }
        at += length;
    }
    if depth > 0 {
        let span = Span::new(opened, opened + open.len());
        let help = format!("close it with `{close}`");
        return Err(hinted(span, "this comment is never closed", help));
    }
    Ok(out)
}

/// The value of an integer token: decimal or hexadecimal.
pub fn value(token: &Token, negative: bool) -> Read<Value> {
    let text = token.text;
    let parsed = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => i64::from_str_radix(digits, 16),
        None => text.parse::<i64>(),
    };
    let plain = text.chars().all(|c| c.is_ascii_digit());
    match parsed.map(|value| fit(value.checked_mul(if negative { -1 } else { 1 }))) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(_)) => Err(Box::new(crate::lang::lexer::too_large(token.span))),
        Err(_) if plain => Err(Box::new(crate::lang::lexer::too_large(token.span))),
        Err(_) => {
            let message = format!("'{}' is not a number", shortened(text));
            Err(wrong(token.span, message))
        }
    }
}

/// A place among tokens.
#[derive(Clone)]
pub struct Cursor<'t, 'a> {
    tokens: &'t [Token<'a>],
    at: usize,
    depth: usize,
}

impl<'t, 'a> Cursor<'t, 'a> {
    /// Starts at the first of these tokens, the last of which is the end.
    pub fn new(tokens: &'t [Token<'a>]) -> Cursor<'t, 'a> {
        Cursor {
            tokens,
            at: 0,
            depth: 0,
        }
    }

    pub fn token(&self) -> Token<'a> {
        self.tokens[self.at]
    }

    /// The token `ahead` places further on, or the end.
    pub fn peek(&self, ahead: usize) -> Token<'a> {
        self.tokens[(self.at + ahead).min(self.tokens.len() - 1)]
    }

    pub fn bump(&mut self) -> Token<'a> {
        let token = self.token();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    pub fn at_end(&self) -> bool {
        self.token().kind == TokenKind::End
    }

    /// Whether the next token is this symbol or word.
    pub fn at(&self, text: &str) -> bool {
        self.token().text == text && !self.at_end()
    }

    pub fn at_word(&self) -> bool {
        self.token().kind == TokenKind::Word
    }

    pub fn eat(&mut self, text: &str) -> bool {
        let there = self.at(text);
        if there {
            self.bump();
        }
        there
    }

    pub fn expect(&mut self, text: &str) -> Read<Span> {
        match self.at(text) {
            true => Ok(self.bump().span),
            false => Err(self.expected(&format!("`{text}`"))),
        }
    }

    pub fn word(&mut self, what: &str) -> Read<Token<'a>> {
        match self.at_word() {
            true => Ok(self.bump()),
            false => Err(self.expected(what)),
        }
    }

    /// An integer, perhaps with a minus sign.
    pub fn int(&mut self, what: &str) -> Read<Value> {
        let negative = self.eat("-");
        match self.token().kind {
            TokenKind::Int => value(&self.bump(), negative),
            _ => Err(self.expected(what)),
        }
    }

    /// From a token to the token consumed last.
    pub fn since(&self, first: Span) -> Span {
        let last = self.at.checked_sub(1).map(|at| self.tokens[at].span);
        last.map_or(first, |last| first.to(last))
    }

    /// An error at the next token.
    pub fn error(&self, message: impl Into<String>) -> Box<Diagnostic> {
        wrong(self.token().span, message)
    }

    /// An error at the next token, with a hint.
    pub fn hinted(&self, message: impl Into<String>, help: impl Into<String>) -> Box<Diagnostic> {
        hinted(self.token().span, message, help)
    }

    /// The error that something else should stand here.
    pub fn expected(&self, what: &str) -> Box<Diagnostic> {
        let found = match self.token().kind {
            TokenKind::End => "the end".to_string(),
            _ => format!("`{}`", shortened(self.token().text)),
        };
        self.error(format!("expected {what}, found {found}"))
    }

    /// Fails unless everything has been read.
    pub fn finish(&self) -> Read<()> {
        match self.at_end() {
            true => Ok(()),
            false => Err(self.expected("the end")),
        }
    }

    /// Reads one level deeper.
    pub fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth == DEEPEST {
            return Err(self.error(format!("nested too deeply: more than {DEEPEST} levels")));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }
}

/// A word short enough to be quoted.
pub fn shortened(word: &str) -> String {
    match word.char_indices().nth(40) {
        None => word.to_string(),
        Some((end, _)) => format!("{}…", &word[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Domain;

    #[test]
    fn comments_become_blanks_of_the_same_length() {
        let blank = |text| blank_comments(text, "(*", "*)", true).unwrap();
        assert_eq!(blank("a(*é(*x*)\n*)b"), "a         \n  b");
        assert_eq!(blank("\"(*\" c"), "\"(*\" c");
        let flat = blank_comments("a/*/* x */b", "/*", "*/", false).unwrap();
        assert_eq!(flat, "a         b");
        let open = blank_comments("a (* b", "(*", "*)", true).unwrap_err();
        assert_eq!(open.span, Some(Span::new(2, 4)));
    }

    #[test]
    fn numbers() {
        let read = |text| value(&tokens(text, 0).unwrap()[0], false).ok();
        assert_eq!(read("0x10"), Some(16));
        assert_eq!(read("2147483648"), None);
        assert_eq!(read("99999999999999999999999"), None);
        assert_eq!(read("1x"), None);
        let least = value(&tokens("2147483648", 0).unwrap()[0], true);
        assert_eq!(least.ok(), Some(Domain::INT.low));
    }
}
