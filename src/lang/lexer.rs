//! Text to tokens.

use super::diagnostics::Diagnostics;
use crate::diagnostic::Diagnostic;
use crate::source::{Source, Span};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    Name,
    /// A magnitude of at most 2³¹; only a minus sign makes the largest one fit.
    Int(u32),
    Keyword(&'static str),
    Symbol(&'static str),
    /// Text that is no token and has already been reported.
    Bad,
    End,
}

pub const KEYWORDS: [&str; 38] = [
    "add",
    "assert",
    "assume",
    "at",
    "atomic",
    "bool",
    "break",
    "cas",
    "const",
    "continue",
    "do",
    "either",
    "else",
    "false",
    "fence",
    "final",
    "forbid",
    "goto",
    "havoc",
    "if",
    "in",
    "int",
    "integer",
    "invariant",
    "load",
    "mutex",
    "nofence",
    "or",
    "process",
    "shared",
    "skip",
    "sl",
    "ss",
    "stop",
    "store",
    "swap",
    "true",
    "while",
];

/// Longer ones first, so that the first match is the longest.
const SYMBOLS: [&str; 33] = [
    "..=", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>", "<", ">", "=", "+", "-", "*", "/", "%",
    "!", "~", "&", "|", "^", "?", ":", ";", ",", ".", "(", ")", "[", "]", "{", "}",
];

/// Names are kept short enough to be quoted in messages.
const LONGEST_NAME: usize = 128;

const LARGEST_MAGNITUDE: u32 = 1 << 31;

/// Splits `source` into tokens, the last of which is `End`; what is wrong goes to `diagnostics`.
pub fn lex(source: &Source, diagnostics: &mut Diagnostics) -> Vec<Token> {
    let mut lexer = Lexer {
        text: source.text(),
        at: 0,
        tokens: Vec::new(),
        diagnostics,
    };
    if lexer.text.starts_with('\u{feff}') {
        lexer.at = '\u{feff}'.len_utf8();
    }
    while lexer.at < lexer.text.len() {
        lexer.step();
    }
    lexer.push(TokenKind::End, lexer.at);
    lexer.tokens
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    tokens: Vec<Token>,
    diagnostics: &'a mut Diagnostics,
}

impl<'a> Lexer<'a> {
    /// Consumes one token, comment or stretch of white space.
    fn step(&mut self) {
        let text = self.text;
        let rest = &text[self.at..];
        let Some(first) = rest.chars().next() else {
            return;
        };
        if first.is_whitespace() {
            self.at += length_while(rest, char::is_whitespace);
        } else if rest.starts_with("//") {
            self.at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            self.block_comment(rest);
        } else if first.is_ascii_digit() {
            self.number(rest);
        } else if is_word(first) {
            self.word(rest);
        } else if let Some(symbol) = symbol(rest) {
            self.push(TokenKind::Symbol(symbol), self.at + symbol.len());
        } else {
            self.unknown(rest);
        }
    }

    fn push(&mut self, kind: TokenKind, end: usize) {
        let span = Span::new(self.at, end);
        self.tokens.push(Token { kind, span });
        self.at = end;
    }

    /// Reports `diagnostic` and leaves a token that the parser passes over in silence.
    fn bad(&mut self, diagnostic: Diagnostic, end: usize) {
        self.diagnostics.push(diagnostic);
        self.push(TokenKind::Bad, end);
    }

    fn block_comment(&mut self, rest: &str) {
        match rest[2..].find("*/") {
            Some(length) => self.at += length + 4,
            None => {
                let opening = Span::new(self.at, self.at + 2);
                let diagnostic = Diagnostic::error(opening, "this comment is never closed")
                    .help("close it with `*/`");
                self.bad(diagnostic, self.text.len());
            }
        }
    }

    fn number(&mut self, rest: &str) {
        let digits = length_while(rest, |c| c.is_ascii_digit());
        let length = length_while(rest, is_word);
        let end = self.at + length;
        let span = Span::new(self.at, end);
        if length > digits {
            let message = "a name or number cannot begin like this";
            let diagnostic = Diagnostic::error(span, message)
                .help("names begin with a letter, and numbers are decimal");
            return self.bad(diagnostic, end);
        }
        match rest[..digits].parse::<u32>() {
            Ok(magnitude) if magnitude <= LARGEST_MAGNITUDE => {
                self.push(TokenKind::Int(magnitude), end);
            }
            _ => {
                self.diagnostics.push(too_large(span));
                self.push(TokenKind::Int(0), end);
            }
        }
    }

    fn word(&mut self, rest: &str) {
        let length = length_while(rest, is_word);
        let word = &rest[..length];
        let end = self.at + length;
        if length > LONGEST_NAME {
            let message = format!("a name has at most {LONGEST_NAME} characters");
            return self.bad(Diagnostic::error(Span::new(self.at, end), message), end);
        }
        let kind = match KEYWORDS.binary_search(&word) {
            Ok(index) => TokenKind::Keyword(KEYWORDS[index]),
            Err(_) => TokenKind::Name,
        };
        self.push(kind, end);
    }

    fn unknown(&mut self, rest: &str) {
        let length = length_while(rest, |c| {
            !c.is_whitespace() && !is_word(c) && !SYMBOLS.iter().any(|s| s.starts_with(c))
        });
        let end = self.at + length;
        let found: String = rest[..length].chars().take(8).collect();
        let shown = found.escape_debug();
        let message = match rest[..length].chars().nth(1) {
            None => format!("unknown character '{shown}'"),
            Some(_) if found.len() < length => format!("unknown characters '{shown}…'"),
            Some(_) => format!("unknown characters '{shown}'"),
        };
        self.bad(Diagnostic::error(Span::new(self.at, end), message), end);
    }
}

/// The message about an integer literal that no value can hold.
pub fn too_large(span: Span) -> Diagnostic {
    Diagnostic::error(span, "integer literal does not fit 32 bits")
        .help("values run from -2147483648 to 2147483647")
}

fn symbol(rest: &str) -> Option<&'static str> {
    SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol))
}

/// Part of a name or a number.
pub(crate) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The bytes at the start of a text whose characters are kept.
pub(crate) fn length_while(text: &str, keep: impl Fn(char) -> bool) -> usize {
    text.find(|c| !keep(c)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        let mut diagnostics = Diagnostics::new(20);
        let tokens = lex(&Source::new("t", text), &mut diagnostics);
        assert!(diagnostics.is_empty(), "{text}");
        tokens.into_iter().map(|token| token.kind).collect()
    }

    fn errors(text: &str) -> Vec<(String, Span)> {
        let mut diagnostics = Diagnostics::new(20);
        lex(&Source::new("t", text), &mut diagnostics);
        let errors = diagnostics.finish();
        errors
            .into_iter()
            .filter_map(|error| Some((error.message, error.span?)))
            .collect()
    }

    #[test]
    fn keywords_are_sorted() {
        assert!(KEYWORDS.is_sorted());
    }

    #[test]
    fn longest_symbols_win() {
        use TokenKind::*;
        assert_eq!(
            kinds("0..=x.y // c\n<= /* *//**/ = ! !="),
            [
                Int(0),
                Symbol("..="),
                Name,
                Symbol("."),
                Name,
                Symbol("<="),
                Symbol("="),
                Symbol("!"),
                Symbol("!="),
                End
            ]
        );
    }

    #[test]
    fn numbers_up_to_the_smallest_value() {
        assert_eq!(kinds("2147483648")[0], TokenKind::Int(LARGEST_MAGNITUDE));
        assert_eq!(errors("2147483649").len(), 1);
        assert_eq!(errors("99999999999999999999")[0].1, Span::new(0, 20));
        assert_eq!(errors("0x10").len(), 1);
    }

    #[test]
    fn bad_characters_come_in_runs() {
        assert_eq!(
            errors("a #@é b $ c"),
            [
                ("unknown characters '#@é'".to_string(), Span::new(2, 6)),
                ("unknown character '$'".to_string(), Span::new(9, 10)),
            ]
        );
    }

    #[test]
    fn an_open_comment_is_reported_at_its_start() {
        assert_eq!(errors("a /* b")[0].1, Span::new(2, 4));
    }
}
