//! Expressions, by precedence climbing.

use super::familiar::instead_of;
use super::{Parsed, Parser, is};
use crate::diagnostic::Diagnostic;
use crate::lang::ast::{Among, Expr, ExprKind, Name, ProcessRef};
use crate::lang::lexer::{TokenKind, too_large};
use crate::program::value::fit;
use crate::program::{BinaryOp, Domain, UnaryOp, Value};
use crate::source::Span;

/// An expression and the height of its tree.
pub(super) type Measured = (Expr, u32);

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        self.measured().map(|(expr, _)| expr)
    }

    /// An expression with the height of its tree.
    pub(super) fn measured(&mut self) -> Parsed<Measured> {
        self.conditional()
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
            self.check_precedence(op, &left, first)?;
            self.bump();
            let second = self.token().span;
            let (right, right_height) = self.nested(|parser| parser.binary(strength + 1))?;
            self.check_precedence(op, &right, second)?;
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
            TokenKind::Symbol("~") => UnaryOp::Complement,
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
            TokenKind::Name if self.at_quantifier() => return self.quantified(),
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
        let mut name = self.name("a variable")?;
        if let (true, Some(help)) = (self.at("("), instead_of(&name.text)) {
            let message = format!(
                "'{}' is no expression: what reads memory is a statement",
                name.text
            );
            return Err(self.error(Diagnostic::error(name.span, message).help(help)));
        }
        let index = self.indices()?;
        if let Some((argument, height)) = self.argument(&name.text).cloned() {
            match (argument.kind, &index) {
                (ExprKind::Name(text), Some(_)) => name.text = text,
                (kind, None) => {
                    self.check_depth(height)?;
                    let span = argument.span;
                    return Ok((Expr { kind, span }, height));
                }
                (kind, Some(_)) => {
                    let span = argument.span;
                    let must = "this must be the name of an array".to_string();
                    return Err(self.unfit(Expr { kind, span }, &name, must));
                }
            }
        }
        let height = index.as_ref().map_or(0, |(_, height)| *height);
        let index = index.map(|(index, _)| Box::new(index));
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

    /// `[e]` or `[e][f]`, if an index comes next.
    pub(super) fn indices(&mut self) -> Parsed<Option<Measured>> {
        if !self.eat("[") {
            return Ok(None);
        }
        let (row, height) = self.nested(Self::conditional)?;
        self.expect("]")?;
        if !self.eat("[") {
            return Ok(Some((row, height)));
        }
        let (column, column_height) = self.nested(Self::conditional)?;
        self.expect("]")?;
        let height = 1 + height.max(column_height);
        self.check_depth(height)?;
        let span = row.span.to(column.span);
        let kind = ExprKind::Pair {
            row: Box::new(row),
            column: Box::new(column),
        };
        Ok(Some((Expr { kind, span }, height)))
    }

    /// `forall (` or `exists (` comes next; without a parenthesis, both are names.
    fn at_quantifier(&self) -> bool {
        ["forall", "exists"].contains(&self.text()) && is(self.peek(1), "(")
    }

    /// `forall (i in 0..=2) e` or `exists (i in p) e`: the rest of the expression is quantified.
    fn quantified(&mut self) -> Parsed<Measured> {
        let first = self.token().span;
        let all = self.text() == "forall";
        self.bump();
        self.expect("(")?;
        let variable = self.name("a number")?;
        self.expect("in")?;
        let template = self.token().kind == TokenKind::Name && is(self.peek(1), ")");
        let among = match template {
            true => Among::Processes(self.name("a process")?),
            false => Among::Range(Box::new(self.range()?)),
        };
        self.closing_parenthesis()?;
        let (body, height) = self.nested(Self::conditional)?;
        self.check_depth(height + 1)?;
        let span = self.since(first);
        let kind = ExprKind::Quantified {
            all,
            variable,
            among,
            body: Box::new(body),
        };
        Ok((Expr { kind, span }, height + 1))
    }

    /// In C, `a & b == c` is `a & (b == c)`; elsewhere it is `(a & b) == c`. Here one has to say.
    fn check_precedence(&mut self, op: BinaryOp, operand: &Expr, first: Span) -> Parsed<()> {
        use BinaryOp::{BitAnd, BitOr, BitXor};
        let bits = matches!(op, BitAnd | BitOr | BitXor);
        let bare = operand.span.start == first.start;
        let compares = matches!(operand.kind, ExprKind::Binary { op, .. } if op.compares());
        if !(bits && bare && compares) {
            return Ok(());
        }
        let message = "it is not clear what is compared with what";
        let diagnostic = Diagnostic::error(operand.span, message)
            .help("write parentheses: `(a & b) == c` or `a & (b == c)`");
        Err(self.error(diagnostic))
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

/// The operator of a token and how tightly it binds, as in C.
fn binary_operator(kind: TokenKind) -> Option<(BinaryOp, u8)> {
    let TokenKind::Symbol(symbol) = kind else {
        return None;
    };
    Some(match symbol {
        "||" => (BinaryOp::Or, 0),
        "&&" => (BinaryOp::And, 1),
        "|" => (BinaryOp::BitOr, 2),
        "^" => (BinaryOp::BitXor, 3),
        "&" => (BinaryOp::BitAnd, 4),
        "==" => (BinaryOp::Equal, 5),
        "!=" => (BinaryOp::NotEqual, 5),
        "<" => (BinaryOp::Less, 6),
        "<=" => (BinaryOp::LessEqual, 6),
        ">" => (BinaryOp::Greater, 6),
        ">=" => (BinaryOp::GreaterEqual, 6),
        "<<" => (BinaryOp::Shl, 7),
        ">>" => (BinaryOp::Shr, 7),
        "+" => (BinaryOp::Add, 8),
        "-" => (BinaryOp::Sub, 8),
        "*" => (BinaryOp::Mul, 9),
        "/" => (BinaryOp::Div, 9),
        "%" => (BinaryOp::Rem, 9),
        _ => return None,
    })
}
