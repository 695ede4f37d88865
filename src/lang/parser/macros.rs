//! Macros: each call is the body, parsed again with the arguments in place of the parameters.
//!
//! Definitions are parsed first, with their parameters as names, so that a mistake in a body is
//! reported once and whether or not it is called. Parts of a copy stand where the body was typed;
//! arguments stand where the call is.

use super::familiar::instead_of;
use super::item::nearest_keyword;
use super::{Parsed, Parser, Reported, STATEMENT_KEYWORDS, is};
use crate::diagnostic::Diagnostic;
use crate::lang::ast::{Expr, ExprKind, Name, Place, StmtKind};
use crate::lang::lexer::TokenKind;

/// All copies together have at most this many tokens.
const MOST_COPIED: usize = 200_000;

/// A macro that has been parsed.
#[derive(Debug, Clone)]
pub(super) struct Macro {
    name: Name,
    parameters: Vec<Name>,
    /// The token that its body begins with.
    body: usize,
    /// The token behind it.
    end: usize,
    /// A mistake in it has been reported.
    broken: bool,
}

/// A call that is being expanded.
#[derive(Debug)]
pub(super) struct Call {
    name: String,
    /// The arguments with the heights of their trees, in the order of `parameters`.
    arguments: Vec<(Expr, u32)>,
    parameters: Vec<Name>,
}

impl Parser<'_> {
    /// `macro NAME (` comes next; `macro` alone is a name like others.
    pub(super) fn at_macro(&self) -> bool {
        self.token().kind == TokenKind::Name
            && self.text() == "macro"
            && self.peek(1) == TokenKind::Name
            && is(self.peek(2), "(")
    }

    /// Parses all definitions, wherever they stand, and goes back to the start.
    pub(super) fn define_macros(&mut self) {
        self.defining = true;
        for at in 0..self.tokens.len() {
            self.at = at;
            if self.at_macro()
                && let Ok(defined) = self.definition()
            {
                if let Some(first) = self
                    .macros
                    .iter()
                    .find(|m| m.name.text == defined.name.text)
                {
                    let message = format!("there is another macro '{}'", defined.name.text);
                    let diagnostic = Diagnostic::error(defined.name.span, message);
                    let diagnostic = diagnostic.related(first.name.span, "first defined here");
                    self.diagnostics.push(diagnostic);
                }
                self.macros.push(defined);
            }
        }
        self.defining = false;
        self.at = 0;
    }

    /// `macro m(a, b) { … }`
    fn definition(&mut self) -> Parsed<Macro> {
        self.bump();
        let name = self.name("a macro")?;
        self.expect("(")?;
        let mut parameters: Vec<Name> = Vec::new();
        while !self.at(")") {
            let parameter = self.name("a parameter")?;
            if let Some(first) = parameters.iter().find(|p| p.text == parameter.text) {
                let message = format!("there is another parameter '{}'", parameter.text);
                let diagnostic = Diagnostic::error(parameter.span, message);
                let diagnostic = diagnostic.related(first.span, "first named here");
                self.diagnostics.push(diagnostic);
            }
            parameters.push(parameter);
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")")?;
        let body = self.at;
        let before = self.diagnostics.len();
        let parsed = self.block();
        Ok(Macro {
            name,
            parameters,
            body,
            end: self.at,
            broken: parsed.is_err() || self.diagnostics.len() > before,
        })
    }

    /// Passes a definition, which has been parsed already.
    pub(super) fn pass_macro(&mut self) -> Parsed<()> {
        let at = self.at;
        let within = |defined: &&Macro| defined.body > at;
        match self.macros.iter().filter(within).min_by_key(|m| m.body) {
            Some(defined) if defined.name.span == self.tokens[at + 1].span => {
                self.at = defined.end;
                Ok(())
            }
            _ => {
                self.bump();
                Err(Reported)
            }
        }
    }

    /// `m(a, b);`: a copy of the macro's body.
    pub(super) fn call(&mut self) -> Parsed<StmtKind> {
        let first = self.token().span;
        let known = self.macros.iter().find(|m| m.name.text == self.text());
        let Some(called) = known.cloned() else {
            // A definition may stand behind the one that is parsed now.
            return match self.defining && self.is_defined() {
                true => self.arguments().map(|_| StmtKind::Skip),
                false => Err(self.unknown_call()),
            };
        };
        let arguments = self.arguments()?;
        let span = self.since(first);
        let name = called.name.text;
        if arguments.len() != called.parameters.len() {
            let message = format!(
                "the macro '{name}' has {}, here are {}",
                crate::words::count(called.parameters.len() as u64, "parameter"),
                arguments.len()
            );
            let diagnostic = Diagnostic::error(span, message);
            self.diagnostics
                .push(diagnostic.related(called.name.span, "defined here"));
            return Ok(StmtKind::Skip);
        }
        if self.defining || called.broken {
            return Ok(StmtKind::Skip);
        }
        self.copied += called.end - called.body;
        let message = if self.calls.iter().any(|call| call.name == name) {
            format!("the macro '{name}' calls itself")
        } else if self.copied > MOST_COPIED {
            "the calls of macros stand for too much text".to_string()
        } else {
            let parameters = called.parameters;
            self.calls.push(Call {
                name,
                arguments,
                parameters,
            });
            let behind = std::mem::replace(&mut self.at, called.body);
            let before = self.diagnostics.len();
            let body = self.nested(|parser| parser.block());
            self.calls.pop();
            if self.diagnostics.len() == before || !self.at_end() {
                self.at = behind;
            }
            return body.map(StmtKind::Expanded);
        };
        self.diagnostics.push(Diagnostic::error(span, message));
        Ok(StmtKind::Skip)
    }

    /// Whether a macro of the next token's name is defined anywhere.
    fn is_defined(&self) -> bool {
        let text = |at: usize| self.tokens.get(at).map(|t| self.source.slice(t.span));
        let name = text(self.at);
        let mut all = 0..self.tokens.len();
        all.any(|at| text(at) == Some("macro") && text(at + 1) == name)
    }

    /// `m(a, b);`
    fn arguments(&mut self) -> Parsed<Vec<(Expr, u32)>> {
        self.bump();
        self.expect("(")?;
        let mut arguments = Vec::new();
        while !self.at(")") {
            arguments.push(self.measured()?);
            if !self.eat(",") {
                break;
            }
        }
        self.closing_parenthesis()?;
        self.expect(";")?;
        Ok(arguments)
    }

    /// Reports a call of something that is no macro.
    fn unknown_call(&mut self) -> Reported {
        let name = self.text().to_string();
        let message = format!("unknown statement '{name}'");
        let mut diagnostic = Diagnostic::error(self.token().span, message);
        let known = self.macros.iter().map(|m| m.name.text.as_str());
        let near = known.filter(|known| strsim::damerau_levenshtein(&name, known) <= 1);
        if let Some(help) = instead_of(&name) {
            diagnostic = diagnostic.help(help);
        } else if let Some(near) = near.min() {
            diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
        } else if let Some(keyword) = nearest_keyword(&name, &STATEMENT_KEYWORDS) {
            diagnostic = diagnostic.help(format!("did you mean `{keyword}`?"));
        }
        self.error(diagnostic)
    }

    /// What a parameter of the call that is being expanded stands for.
    pub(super) fn argument(&self, name: &str) -> Option<&(Expr, u32)> {
        let call = self.calls.last()?;
        let at = call.parameters.iter().position(|p| p.text == name)?;
        call.arguments.get(at)
    }

    /// A name that something is assigned to; a parameter must stand for a name.
    pub(super) fn target(&mut self, what: &str) -> Parsed<Name> {
        let name = self.name(what)?;
        match self.argument(&name.text) {
            None => Ok(name),
            Some((argument, _)) => match &argument.kind {
                ExprKind::Name(text) => Ok(Name {
                    text: text.clone(),
                    span: name.span,
                }),
                _ => {
                    let must = format!("this must be the name of {what}");
                    Err(self.unfit(argument.clone(), &name, must))
                }
            },
        }
    }

    /// A shared variable or a cell, where a parameter stands for either.
    pub(super) fn place_named(&mut self, name: Name) -> Parsed<Place> {
        let index = self.indices()?.map(|(index, _)| Box::new(index));
        let span = self.since(name.span);
        let Some((argument, _)) = self.argument(&name.text) else {
            return Ok(Place { name, index, span });
        };
        let renamed = |text: &String| Name {
            text: text.clone(),
            span: name.span,
        };
        match (&argument.kind, index) {
            (ExprKind::Name(text), index) => Ok(Place {
                name: renamed(text),
                index,
                span,
            }),
            (ExprKind::Cell { name: array, index }, None) => Ok(Place {
                name: renamed(&array.text),
                index: Some(index.clone()),
                span,
            }),
            _ => {
                let must = "this must be a shared variable or a cell of one".to_string();
                Err(self.unfit(argument.clone(), &name, must))
            }
        }
    }

    /// Reports an argument that cannot stand where its parameter does.
    pub(super) fn unfit(&mut self, argument: Expr, name: &Name, message: String) -> Reported {
        let message = format!(
            "{message}, because of what the macro does with '{}'",
            name.text
        );
        let diagnostic = Diagnostic::error(argument.span, message);
        let diagnostic = diagnostic.related(name.span, "here");
        self.error(diagnostic)
    }
}
