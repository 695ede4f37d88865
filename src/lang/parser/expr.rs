//! Expressions, by precedence climbing.

use super::{Parsed, Parser};
use crate::diagnostic::Diagnostic;
use crate::lang::ast::{Expr, ExprKind, Name, ProcessRef};
use crate::lang::lexer::{TokenKind, too_large};
use crate::program::value::fit;
use crate::program::{BinaryOp, Domain, UnaryOp, Value};
use crate::source::Span;

/// An expression and the height of its tree.
type Measured = (Expr, u32);

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        self.conditional().map(|(expr, _)| expr)
    }

    /// `c ? a : b`, or anything that binds tighter.
    fn conditional(&mut self) -> Parsed<Measured> {
        let first = self.token().span;
        let (condition, height) = self.binary(0)?;
        if !self.eat("?") {
            return Ok((condition, height));
        }
        let (then, then_height) = self.nested(Self::conditional)?;
        self.expect(":")?;
        let (otherwise, otherwise_height) = self.nested(Self::conditional)?;
        let height = 1 + height.max(then_height).max(otherwise_height);
        self.check_depth(height)?;
        let span = self.since(first);
        let kind = ExprKind::Conditional {
            condition: Box::new(condition),
            then: Box::new(then),
            otherwise: Box::new(otherwise),
        };
        Ok((Expr { kind, span }, height))
    }

    /// A chain of binary operators that bind at least as tightly as `weakest`. The tree
    /// of a chain leans left, so it grows without recursion and its height is measured.
    fn binary(&mut self, weakest: u8) -> Parsed<Measured> {
        let first = self.token().span;
        let (mut left, mut height) = self.unary()?;
        while let Some((op, strength)) = binary_operator(self.token().kind)
            && strength >= weakest
        {
            self.bump();
            let (right, right_height) = self.nested(|parser| parser.binary(strength + 1))?;
            height = 1 + height.max(right_height);
            self.check_depth(height)?;
            let span = self.since(first);
            let kind = ExprKind::Binary {
                op,
                left: Box::new(left),
                right: Box::new(right),
            };
            left = Expr { kind, span };
        }
        Ok((left, height))
    }

    fn unary(&mut self) -> Parsed<Measured> {
        let first = self.token().span;
        let op = match self.token().kind {
            TokenKind::Symbol("!") => UnaryOp::Not,
            TokenKind::Symbol("-") => UnaryOp::Negate,
            _ => return self.primary(),
        };
        self.bump();
        if op == UnaryOp::Negate
            && let TokenKind::Int(magnitude) = self.token().kind
        {
            self.bump();
            let value = (-Value::from(magnitude)).max(Domain::INT.low);
            return Ok(leaf(ExprKind::Int(value), self.since(first)));
        }
        let (operand, height) = self.nested(Self::unary)?;
        self.check_depth(height + 1)?;
        let span = self.since(first);
        let operand = Box::new(operand);
        let kind = ExprKind::Unary { op, operand };
        Ok((Expr { kind, span }, height + 1))
    }

    fn primary(&mut self) -> Parsed<Measured> {
        let token = self.token();
        let kind = match token.kind {
            TokenKind::Int(magnitude) => match fit(Some(magnitude.into())) {
                Ok(value) => ExprKind::Int(value),
                Err(_) => return Err(self.error(too_large(token.span))),
            },
            TokenKind::Keyword("true") => ExprKind::Bool(true),
            TokenKind::Keyword("false") => ExprKind::Bool(false),
            TokenKind::Symbol("(") => return self.parenthesised(),
            TokenKind::Name => return self.named(),
            TokenKind::Keyword(word) => {
                let message = format!("expected an expression, found the keyword `{word}`");
                let reported = self.error(Diagnostic::error(token.span, message));
                if self.same_line() {
                    self.bump();
                }
                return Err(reported);
            }
            _ => return Err(self.expected("an expression")),
        };
        self.bump();
        Ok(leaf(kind, token.span))
    }

    /// `( e )`: neither the tree nor its span keeps the parentheses.
    fn parenthesised(&mut self) -> Parsed<Measured> {
        self.bump();
        let inner = self.nested(Self::conditional)?;
        self.closing_parenthesis()?;
        Ok(inner)
    }

    pub(super) fn closing_parenthesis(&mut self) -> Parsed<()> {
        if self.at("=") {
            let diagnostic = Diagnostic::error(self.here(), "expected `)`, found `=`")
                .help("equality is written `==`");
            return Err(self.error(diagnostic));
        }
        self.expect(")").map(|_| ())
    }

    /// `x`, `x[e]`, `p at L`, `p[e] at L`, `p.r` or `p[e].r`.
    fn named(&mut self) -> Parsed<Measured> {
        let name = self.name("a variable")?;
        let mut index = None;
        let mut height = 0;
        if self.eat("[") {
            let (expr, index_height) = self.nested(Self::conditional)?;
            self.expect("]")?;
            height = index_height;
            index = Some(Box::new(expr));
        }
        self.check_depth(height + 1)?;
        let first = name.span;
        if self.at("at") || self.at(".") {
            let kind = self.process_state(name, index)?;
            let span = self.since(first);
            return Ok((Expr { kind, span }, height + 1));
        }
        let span = self.since(first);
        let kind = match index {
            Some(index) => ExprKind::Cell { name, index },
            None => ExprKind::Name(name.text),
        };
        Ok((Expr { kind, span }, height + 1))
    }

    fn process_state(&mut self, name: Name, index: Option<Box<Expr>>) -> Parsed<ExprKind> {
        let span = self.since(name.span);
        let process = ProcessRef { name, index, span };
        if self.eat("at") {
            let label = self.name("a label")?;
            return Ok(ExprKind::At { process, label });
        }
        self.expect(".")?;
        let local = self.name("a local")?;
        Ok(ExprKind::Local { process, local })
    }
}

fn leaf(kind: ExprKind, span: Span) -> Measured {
    (Expr { kind, span }, 1)
}

/// The operator of a token and how tightly it binds.
fn binary_operator(kind: TokenKind) -> Option<(BinaryOp, u8)> {
    let TokenKind::Symbol(symbol) = kind else {
        return None;
    };
    Some(match symbol {
        "||" => (BinaryOp::Or, 0),
        "&&" => (BinaryOp::And, 1),
        "==" => (BinaryOp::Equal, 2),
        "!=" => (BinaryOp::NotEqual, 2),
        "<" => (BinaryOp::Less, 3),
        "<=" => (BinaryOp::LessEqual, 3),
        ">" => (BinaryOp::Greater, 3),
        ">=" => (BinaryOp::GreaterEqual, 3),
        "+" => (BinaryOp::Add, 4),
        "-" => (BinaryOp::Sub, 4),
        "*" => (BinaryOp::Mul, 5),
        "/" => (BinaryOp::Div, 5),
        "%" => (BinaryOp::Rem, 5),
        _ => return None,
    })
}
