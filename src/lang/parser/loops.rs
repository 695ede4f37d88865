//! Statements that begin with a word which is a name elsewhere: `for`, `repeat` and `await`.

use super::{Parsed, Parser, is};
use crate::diagnostic::Diagnostic;
use crate::lang::ast::StmtKind;
use crate::lang::lexer::TokenKind;

impl Parser<'_> {
    /// A name before a parenthesis: a loop, a wait, or the call of a macro.
    pub(super) fn worded(&mut self) -> Parsed<StmtKind> {
        match self.text() {
            "for" => self.counting(),
            "repeat" => {
                let first = self.bump().span;
                let count = self.in_parentheses()?;
                let head = self.since(first);
                let body = self.boxed_statement()?;
                Ok(StmtKind::Repeat { count, head, body })
            }
            "await" => {
                self.bump();
                let condition = self.in_parentheses()?;
                self.expect(";")?;
                Ok(StmtKind::Await(condition))
            }
            _ => self.call(),
        }
    }

    /// `for (i in low..=high) body`
    fn counting(&mut self) -> Parsed<StmtKind> {
        let first = self.bump().span;
        self.expect("(")?;
        if self.token().kind != TokenKind::Name || !is(self.peek(1), "in") {
            let message = format!("expected a local and `in`, found {}", self.found());
            let diagnostic = Diagnostic::error(self.here(), message).help(
                "`for (i in 0..=3) { … }` goes through a range; other loops are `while (c) { … }`",
            );
            let reported = self.error(diagnostic);
            while !self.at_end() && !self.at(")") && !self.at("{") && !self.at("}") {
                self.bump();
            }
            return Err(reported);
        }
        let variable = self.target("a local")?;
        self.expect("in")?;
        let range = self.range()?;
        self.closing_parenthesis()?;
        let head = self.since(first);
        let body = self.boxed_statement()?;
        Ok(StmtKind::For {
            variable,
            range,
            head,
            body,
        })
    }
}
