//! Tokens to a syntax tree, by recursive descent.
//!
//! An error is reported where it is found and travels up as `Reported` to the next
//! place where parsing can go on: the end of a statement, the end of a block, the next
//! item. A second error at the same token is never reported, so that one mistake gives
//! one message.

mod expr;
mod familiar;
mod item;
mod loops;
mod macros;
mod stmt;

use super::ast::{Ast, Expr, Name};
use super::diagnostics::Diagnostics;
use super::lexer::{Token, TokenKind, lex};
use crate::diagnostic::Diagnostic;
use crate::source::{Source, Span};
use macros::{Call, Macro};

/// Trees are at most this deep, so that whoever walks them may recurse.
pub const DEEPEST: u32 = 200;

/// More errors than this are only counted.
const MOST_ERRORS: usize = 20;

/// Larger texts are refused, so that offsets and token counts fit 32 bits with room to spare.
const LARGEST_TEXT: usize = 1 << 28;

/// Parses a program, or says everything that is wrong with its syntax.
pub fn parse(source: &Source) -> Result<Ast, Vec<Diagnostic>> {
    parsed(source, |parser| {
        parser.define_macros();
        parser.program()
    })
}

/// Parses predicates as properties have them, each with a semicolon behind it.
pub fn parse_predicates(source: &Source) -> Result<Vec<Expr>, Vec<Diagnostic>> {
    parsed(source, |parser| {
        let mut all = Vec::new();
        while !parser.at_end() {
            let predicate = parser.expression();
            let Ok(predicate) = predicate.and_then(|expr| parser.expect(";").map(|_| expr)) else {
                break;
            };
            all.push(predicate);
        }
        all
    })
}

fn parsed<T>(source: &Source, parse: impl FnOnce(&mut Parser) -> T) -> Result<T, Vec<Diagnostic>> {
    if source.text().len() > LARGEST_TEXT {
        let message = "the file is larger than 256 MiB";
        return Err(vec![Diagnostic::error(Span::new(0, 0), message)]);
    }
    let mut diagnostics = Diagnostics::new(MOST_ERRORS);
    let tokens = lex(source, &mut diagnostics);
    let mut parser = Parser {
        source,
        tokens,
        at: 0,
        depth: 0,
        last_error: None,
        diagnostics,
        macros: Vec::new(),
        defining: false,
        calls: Vec::new(),
        copied: 0,
    };
    let tree = parse(&mut parser);
    if parser.diagnostics.is_empty() {
        Ok(tree)
    } else {
        Err(parser.diagnostics.finish())
    }
}

/// An error that has been reported already.
#[derive(Debug, Clone, Copy)]
struct Reported;

type Parsed<T> = Result<T, Reported>;

struct Parser<'a> {
    source: &'a Source,
    /// Ends with `End`, which is never consumed.
    tokens: Vec<Token>,
    at: usize,
    depth: u32,
    /// The token at which the last error was reported.
    last_error: Option<usize>,
    diagnostics: Diagnostics,
    macros: Vec<Macro>,
    /// A definition is being parsed: its parameters are names like others.
    defining: bool,
    /// The calls that are being expanded, innermost last.
    calls: Vec<Call>,
    /// How many tokens have been copied for calls.
    copied: usize,
}

const ITEM_KEYWORDS: [&str; 7] = [
    "const",
    "shared",
    "process",
    "mutex",
    "forbid",
    "invariant",
    "final",
];

const STATEMENT_KEYWORDS: [&str; 24] = [
    "store", "load", "cas", "swap", "add", "fence", "havoc", "skip", "goto", "break", "continue",
    "stop", "assume", "assert", "if", "while", "do", "either", "nofence", "atomic", "bool", "int",
    "integer", "else",
];

impl Parser<'_> {
    fn token(&self) -> Token {
        self.tokens[self.at]
    }

    /// The token `ahead` places further on, or `End`.
    fn peek(&self, ahead: usize) -> TokenKind {
        match self.tokens.get(self.at + ahead) {
            Some(token) => token.kind,
            None => TokenKind::End,
        }
    }

    /// The span of the token consumed last.
    fn previous(&self) -> Span {
        match self.at.checked_sub(1) {
            Some(before) => self.tokens[before].span,
            None => Span::new(0, 0),
        }
    }

    fn previous_kind(&self) -> TokenKind {
        match self.at.checked_sub(1) {
            Some(before) => self.tokens[before].kind,
            None => TokenKind::End,
        }
    }

    /// From the start of `first` to the end of the token consumed last.
    fn since(&self, first: Span) -> Span {
        Span {
            start: first.start,
            end: self.previous().end.max(first.start),
        }
    }

    fn at_end(&self) -> bool {
        self.token().kind == TokenKind::End
    }

    /// Whether the next token is this keyword or symbol.
    fn at(&self, text: &str) -> bool {
        is(self.token().kind, text)
    }

    fn at_any(&self, texts: &[&str]) -> bool {
        texts.iter().any(|text| self.at(text))
    }

    fn bump(&mut self) -> Token {
        let token = self.token();
        if !self.at_end() {
            self.at += 1;
        }
        token
    }

    /// Consumes the keyword or symbol if it is next.
    fn eat(&mut self, text: &str) -> bool {
        let there = self.at(text);
        if there {
            self.bump();
        }
        there
    }

    /// Consumes a keyword or symbol that must be next.
    fn expect(&mut self, text: &str) -> Parsed<Span> {
        if self.at(text) {
            return Ok(self.bump().span);
        }
        if text == ";" {
            return Err(self.missing_semicolon());
        }
        Err(self.expected(&format!("`{text}`")))
    }

    /// Consumes a name; `what` says whose name it would be. A keyword is reported and
    /// taken for the name, unless it seems to begin something new.
    fn name(&mut self, what: &str) -> Parsed<Name> {
        let token = self.token();
        match token.kind {
            TokenKind::Name => {
                self.bump();
                let text = self.source.slice(token.span).to_string();
                Ok(Name {
                    text,
                    span: token.span,
                })
            }
            TokenKind::Keyword(word) if self.same_line() => {
                let message = format!("`{word}` is a keyword and cannot be the name of {what}");
                self.error(Diagnostic::error(token.span, message));
                self.bump();
                let text = word.to_string();
                Ok(Name {
                    text,
                    span: token.span,
                })
            }
            _ => Err(self.expected(&format!("the name of {what}"))),
        }
    }

    /// Whether the next token stands on the line of the one before it.
    fn same_line(&self) -> bool {
        let gap = Span {
            start: self.previous().end,
            end: self.token().span.start,
        };
        !self.source.slice(gap).contains('\n')
    }

    /// Reports that something else was expected at the next token.
    fn expected(&mut self, what: &str) -> Reported {
        let span = self.here();
        let message = format!("expected {what}, found {}", self.found());
        self.error(Diagnostic::error(span, message))
    }

    /// Points just behind the last token, if that is where the semicolon seems to belong.
    fn missing_semicolon(&mut self) -> Reported {
        let ends_here = match self.token().kind {
            TokenKind::End | TokenKind::Keyword(_) | TokenKind::Symbol("}") => true,
            _ => !self.same_line(),
        };
        if !ends_here {
            return self.expected("`;`");
        }
        let end = self.previous().end;
        let message = format!("expected `;`, found {}", self.found());
        let span = Span { start: end, end };
        self.error(Diagnostic::error(span, message).help("add `;` here"))
    }

    /// Where to point for a problem with the next token: at the end of the text, just
    /// behind the last token.
    fn here(&self) -> Span {
        let end = self.previous().end;
        match self.token().kind {
            TokenKind::End => Span { start: end, end },
            _ => self.token().span,
        }
    }

    /// How messages call the next token.
    fn found(&self) -> String {
        match self.token().kind {
            TokenKind::End => "the end of the file".to_string(),
            TokenKind::Keyword(text) | TokenKind::Symbol(text) => format!("`{text}`"),
            TokenKind::Int(_) | TokenKind::Bad if self.text().len() > 20 => "this".to_string(),
            TokenKind::Int(_) | TokenKind::Bad | TokenKind::Name => format!("`{}`", self.text()),
        }
    }

    /// The text of the next token.
    fn text(&self) -> &str {
        self.source.slice(self.token().span)
    }

    /// Reports a problem with the next token, unless it was reported before.
    fn error(&mut self, diagnostic: Diagnostic) -> Reported {
        let reported_by_lexer = match self.token().kind {
            TokenKind::Bad => true,
            TokenKind::End => self.previous_kind() == TokenKind::Bad,
            _ => false,
        };
        if self.last_error != Some(self.at) && !reported_by_lexer {
            self.diagnostics.push(diagnostic);
        }
        self.last_error = Some(self.at);
        Reported
    }

    /// Runs `parse` one level deeper in the tree.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.check_depth(1)?;
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    /// Fails if a tree of this height may not stand here; parsing then ends altogether.
    fn check_depth(&mut self, height: u32) -> Parsed<()> {
        if self.depth + height <= DEEPEST {
            return Ok(());
        }
        let message = format!("nested too deeply: more than {DEEPEST} levels");
        let reported = self.error(Diagnostic::error(self.here(), message));
        self.at = self.tokens.len() - 1;
        self.last_error = Some(self.at);
        Err(reported)
    }
}

fn is(kind: TokenKind, text: &str) -> bool {
    matches!(kind, TokenKind::Keyword(word) | TokenKind::Symbol(word) if word == text)
}

#[cfg(test)]
mod tests;
