//! Blocks and statements.

use super::familiar::instead_of;
use super::item::nearest_keyword;
use super::{ITEM_KEYWORDS, Parsed, Parser, Reported, STATEMENT_KEYWORDS, is};
use crate::diagnostic::Diagnostic;
use crate::lang::ast::{Block, Condition, Expr, ExprKind, Member, Name, Place, Stmt, StmtKind};
use crate::lang::lexer::TokenKind;
use crate::program::{BinaryOp, FenceKind};
use crate::source::Span;

impl Parser<'_> {
    /// `{ … }`, going on at the next statement after an error.
    pub(super) fn block(&mut self) -> Parsed<Block> {
        let opening = self.expect("{")?;
        let mut members = Vec::new();
        let mut broken = false;
        while !self.at("}") {
            if self.at_end() || (self.at_any(&ITEM_KEYWORDS) && !self.before_name_sign()) {
                let message = format!("expected `}}`, found {}", self.found());
                let diagnostic =
                    Diagnostic::error(self.here(), message).related(opening, "to close this block");
                return Err(self.error(diagnostic));
            }
            let before = self.at;
            match self.member() {
                Ok(member) => {
                    members.push(member);
                    broken = broken && self.skip_orphan();
                }
                Err(Reported) => {
                    self.skip_to_statement(before);
                    broken = true;
                }
            }
        }
        self.bump();
        let span = self.since(opening);
        Ok(Block { members, span })
    }

    /// Whether `=` or `:` follows the next token, as after a name.
    fn before_name_sign(&self) -> bool {
        is(self.peek(1), "=") || is(self.peek(1), ":")
    }

    /// Skips to where a statement can begin again, and at least past the token `before`.
    fn skip_to_statement(&mut self, before: usize) {
        let stuck = self.at == before;
        if stuck && !self.at("}") && !self.at_any(&ITEM_KEYWORDS) && !self.eat(";") {
            self.bump();
        }
        while !self.at_end() {
            if self.eat(";") {
                self.skip_orphan();
                return;
            }
            if self.at("{") && is_before_value(self.previous_kind()) {
                self.skip_braces();
                continue;
            }
            if self.at("{") || self.at("}") || self.at_any(&ITEM_KEYWORDS) {
                return;
            }
            if self.at_any(&STATEMENT_KEYWORDS) {
                self.skip_orphan();
                return;
            }
            self.bump();
        }
    }

    /// Skips `{ … }` where no block can stand.
    fn skip_braces(&mut self) {
        let mut open = 0u32;
        while !self.at_end() && !self.at_any(&ITEM_KEYWORDS) {
            if self.at("{") {
                open += 1;
            } else if self.at("}") {
                open -= 1;
            }
            self.bump();
            if open == 0 {
                return;
            }
        }
    }

    /// After an error, an `else` or `or` may have lost its beginning: goes on behind it.
    fn skip_orphan(&mut self) -> bool {
        self.eat("else") || self.eat("or")
    }

    fn member(&mut self) -> Parsed<Member> {
        if self.at("bool") || self.at("int") || self.at("integer") {
            if self.defining {
                let message = "a macro has no locals of its own";
                let diagnostic = Diagnostic::error(self.here(), message)
                    .help("give it a parameter, and call it with a local of the process");
                return Err(self.error(diagnostic));
            }
            return self.declaration().map(Member::Locals);
        }
        self.statement().map(Member::Statement)
    }

    fn statement(&mut self) -> Parsed<Stmt> {
        self.nested(|parser| {
            let first = parser.token().span;
            let kind = parser.statement_kind()?;
            let span = parser.since(first);
            Ok(Stmt { kind, span })
        })
    }

    pub(super) fn boxed_statement(&mut self) -> Parsed<Box<Stmt>> {
        self.statement().map(Box::new)
    }

    fn statement_kind(&mut self) -> Parsed<StmtKind> {
        let keyword = match self.token().kind {
            TokenKind::Keyword(word) if self.before_name_sign() => {
                return Err(self.keyword_as_name(word));
            }
            TokenKind::Keyword(word) => word,
            TokenKind::Symbol("{") => return self.block().map(StmtKind::Block),
            TokenKind::Name if is(self.peek(1), ":") => return self.labelled(),
            TokenKind::Name if is(self.peek(1), "(") => return self.worded(),
            TokenKind::Name => return self.assignment(),
            _ => return Err(self.expected("a statement")),
        };
        match keyword {
            "if" | "while" | "do" | "either" | "nofence" | "atomic" => self.structured(keyword),
            "store" | "load" | "cas" | "swap" | "add" | "fence" | "havoc" | "skip" | "goto"
            | "break" | "continue" | "stop" | "assume" | "assert" => {
                self.bump();
                let kind = self.simple(keyword)?;
                self.expect(";")?;
                Ok(kind)
            }
            _ => Err(self.no_statement(keyword)),
        }
    }

    /// Reports a keyword in place of a label or variable, and passes it.
    fn keyword_as_name(&mut self, keyword: &str) -> Reported {
        let message = format!("`{keyword}` is a keyword and cannot be a name");
        let reported = self.error(Diagnostic::error(self.here(), message));
        self.bump();
        self.eat(":");
        reported
    }

    /// Reports a keyword that begins no statement.
    fn no_statement(&mut self, keyword: &str) -> Reported {
        let message = match keyword {
            "else" => "`else` without an `if`".to_string(),
            "or" => "`or` without an `either`".to_string(),
            "bool" | "int" | "integer" => {
                "a declaration must stand directly in a block".to_string()
            }
            _ => format!("expected a statement, found `{keyword}`"),
        };
        self.error(Diagnostic::error(self.here(), message))
    }

    fn labelled(&mut self) -> Parsed<StmtKind> {
        if self.defining {
            let message = "a label cannot stand in a macro: every call would place it again";
            return Err(self.error(Diagnostic::error(self.here(), message)));
        }
        let label = self.name("a label")?;
        self.expect(":")?;
        if self.at("}") {
            let diagnostic = Diagnostic::error(self.here(), "expected a statement, found `}`")
                .help("a label names the statement after it; `skip;` does nothing");
            return Err(self.error(diagnostic));
        }
        let statement = self.boxed_statement()?;
        Ok(StmtKind::Labelled { label, statement })
    }

    fn assignment(&mut self) -> Parsed<StmtKind> {
        let target = self.target("a variable")?;
        if self.at("[") {
            return self.cell_assignment(target);
        }
        if self.eat("=") {
            let value = self.expression()?;
            self.expect(";")?;
            return Ok(StmtKind::Assign { target, value });
        }
        if let Some(op) = self.combining() {
            let kind = ExprKind::Name(target.text.clone());
            let value = self.combined(kind, target.span, op)?;
            return Ok(StmtKind::Assign { target, value });
        }
        let message = format!("expected `=` or `:`, found {}", self.found());
        let mut diagnostic = Diagnostic::error(self.here(), message);
        if let Some(help) = instead_of(&target.text) {
            let message = format!("unknown statement '{}'", target.text);
            diagnostic = Diagnostic::error(target.span, message).help(help);
        } else if let Some(keyword) = nearest_keyword(&target.text, &STATEMENT_KEYWORDS) {
            let message = format!("unknown statement '{}'", target.text);
            diagnostic =
                Diagnostic::error(target.span, message).help(format!("did you mean `{keyword}`?"));
        }
        Err(self.error(diagnostic))
    }

    /// `a[i] = e;`, and `a[i] += e;` with its kind.
    fn cell_assignment(&mut self, target: Name) -> Parsed<StmtKind> {
        self.expect("[")?;
        let index = self.expression()?;
        self.expect("]")?;
        if let Some(op) = self.combining() {
            let kind = ExprKind::Cell {
                name: target.clone(),
                index: Box::new(index.clone()),
            };
            let value = self.combined(kind, self.since(target.span), op)?;
            return Ok(StmtKind::AssignCell {
                target,
                index,
                value,
            });
        }
        self.expect("=")?;
        let value = self.expression()?;
        self.expect(";")?;
        Ok(StmtKind::AssignCell {
            target,
            index,
            value,
        })
    }

    /// What `++`, `--`, `+=`, `-=` or `*=` does, if one of them comes next.
    fn combining(&self) -> Option<BinaryOp> {
        let (first, second) = (self.token(), self.tokens.get(self.at + 1)?);
        let together = first.span.end == second.span.start;
        let op = match (first.kind, second.kind) {
            (TokenKind::Symbol("+"), TokenKind::Symbol("+" | "=")) => BinaryOp::Add,
            (TokenKind::Symbol("-"), TokenKind::Symbol("-" | "=")) => BinaryOp::Sub,
            (TokenKind::Symbol("*"), TokenKind::Symbol("=")) => BinaryOp::Mul,
            _ => return None,
        };
        together.then_some(op)
    }

    /// What `i++;` and `i += e;` assign, given the left side and its span.
    fn combined(&mut self, left: ExprKind, at: Span, op: BinaryOp) -> Parsed<Expr> {
        let sign = self.here();
        self.bump();
        let right = match self.eat("=") {
            true => self.expression()?,
            false => {
                self.bump();
                let span = self.since(sign);
                let kind = ExprKind::Int(1);
                Expr { kind, span }
            }
        };
        self.expect(";")?;
        let left = Expr {
            kind: left,
            span: at,
        };
        let span = at.to(right.span);
        let kind = ExprKind::Binary {
            op,
            left: Box::new(left),
            right: Box::new(right),
        };
        Ok(Expr { kind, span })
    }

    /// A statement whose keyword has been consumed, up to its semicolon.
    fn simple(&mut self, keyword: &str) -> Parsed<StmtKind> {
        Ok(match keyword {
            "store" => {
                let place = self.place()?;
                self.expect("=")?;
                let value = self.expression()?;
                StmtKind::Store { place, value }
            }
            "load" | "cas" | "swap" | "add" => return self.access(keyword),
            "fence" if self.eat("ss") => StmtKind::Fence(FenceKind::StoreStore),
            "fence" if self.eat("sl") => StmtKind::Fence(FenceKind::StoreLoad),
            "fence" if self.token().kind == TokenKind::Name && self.same_line() => {
                return Err(self.expected("`;`, `ss` or `sl`"));
            }
            "fence" => StmtKind::Fence(FenceKind::Full),
            "havoc" => {
                let target = self.target("a local")?;
                let ranged = self.eat("in");
                let range = if ranged { Some(self.range()?) } else { None };
                StmtKind::Havoc { target, range }
            }
            "goto" => StmtKind::Goto(self.name("a label")?),
            "break" => StmtKind::Break,
            "continue" => StmtKind::Continue,
            "stop" => StmtKind::Stop,
            "assume" => StmtKind::Assume(self.in_parentheses()?),
            "assert" => StmtKind::Assert(self.in_parentheses()?),
            _ => StmtKind::Skip,
        })
    }

    /// `r = place, …` of a load or an atomic operation.
    fn access(&mut self, keyword: &str) -> Parsed<StmtKind> {
        let target = self.target("a local")?;
        let both = keyword == "cas" && self.eat(",");
        let old = match both {
            true => Some(self.target("a local")?),
            false => None,
        };
        self.expect("=")?;
        let place = self.place()?;
        if keyword == "load" {
            return Ok(StmtKind::Load { target, place });
        }
        self.expect(",")?;
        let value = self.expression()?;
        match keyword {
            "swap" => Ok(StmtKind::Swap {
                target,
                place,
                value,
            }),
            "add" => Ok(StmtKind::Add {
                target,
                place,
                value,
            }),
            _ => {
                self.expect(",")?;
                let new = self.expression()?;
                Ok(StmtKind::Cas {
                    target,
                    old,
                    place,
                    expected: value,
                    new,
                })
            }
        }
    }

    /// A statement that contains others.
    fn structured(&mut self, keyword: &str) -> Parsed<StmtKind> {
        self.bump();
        match keyword {
            "if" => self.conditional_statement(),
            "while" => {
                let condition = self.condition()?;
                let body = self.boxed_statement()?;
                Ok(StmtKind::While { condition, body })
            }
            "do" => {
                let body = self.boxed_statement()?;
                self.expect("while")?;
                let condition = self.condition()?;
                self.expect(";")?;
                Ok(StmtKind::DoWhile { body, condition })
            }
            "either" => {
                let mut branches = vec![self.block()?];
                if !self.at("or") {
                    return Err(self.expected("`or`"));
                }
                while self.eat("or") {
                    branches.push(self.block()?);
                }
                Ok(StmtKind::Either(branches))
            }
            "nofence" => self.block().map(StmtKind::Nofence),
            _ => self.block().map(StmtKind::Atomic),
        }
    }

    fn conditional_statement(&mut self) -> Parsed<StmtKind> {
        let condition = self.condition()?;
        let then = self.boxed_statement()?;
        let otherwise = if self.eat("else") {
            Some(self.boxed_statement()?)
        } else {
            None
        };
        Ok(StmtKind::If {
            condition,
            then,
            otherwise,
        })
    }

    fn condition(&mut self) -> Parsed<Condition> {
        if is(self.peek(1), "*") && is(self.peek(2), ")") {
            self.expect("(")?;
            let star = self.bump().span;
            self.expect(")")?;
            return Ok(Condition::Any(star));
        }
        self.in_parentheses().map(Condition::Expr)
    }

    pub(super) fn in_parentheses(&mut self) -> Parsed<Expr> {
        self.expect("(")?;
        let inner = self.expression()?;
        self.closing_parenthesis()?;
        Ok(inner)
    }

    fn place(&mut self) -> Parsed<Place> {
        let name = self.name("a shared variable")?;
        self.place_named(name)
    }
}

/// Whether a value and not a block is expected behind this token.
fn is_before_value(kind: TokenKind) -> bool {
    ["=", ",", "("].into_iter().any(|symbol| is(kind, symbol))
}
