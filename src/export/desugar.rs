//! Statements that stand for several others, written out: counting loops, waits, and calls of
//! macros.

use super::taken;
use crate::import::build::{
    assign, binary, block, declare, int, load, name, not, range, stmt, var, variable,
};
use crate::import::names::Names;
use crate::lang::ast::{
    Ast, Condition, Declaration, Expr, ExprKind, Item, Member, Place, Range, Stmt, StmtKind, Type,
};
use crate::lang::resolve::Symbols;
use crate::lang::substitute;
use crate::program::BinaryOp;
use crate::source::Span;

/// The same program without `for`, `repeat`, `await` and macros.
pub fn desugared(ast: &Ast, symbols: &Symbols) -> Ast {
    let mut ast = ast.clone();
    let names = taken(&ast, symbols);
    for item in &mut ast.items {
        if let Item::Process(process) = item {
            let mut own = Desugar {
                symbols,
                names: names.clone(),
                locals: Vec::new(),
            };
            process.body.visit_mut(&mut |_| {}, &mut |statement| {
                if let Some(kind) = own.written_out(statement) {
                    statement.kind = kind;
                }
            });
            let locals = own.locals.into_iter().map(Member::Locals);
            process.body.members.splice(0..0, locals);
        }
    }
    ast
}

/// One process while it is written out.
struct Desugar<'a> {
    symbols: &'a Symbols,
    names: Names,
    /// What loops count with and waits read into.
    locals: Vec<Declaration>,
}

impl Desugar<'_> {
    /// What a statement stands for, if it is one of those; statements inside are left.
    fn written_out(&mut self, statement: &Stmt) -> Option<StmtKind> {
        let span = statement.span;
        match &statement.kind {
            StmtKind::Expanded(body) => Some(StmtKind::Block(body.clone())),
            StmtKind::For {
                variable,
                range,
                body,
                ..
            } => Some(self.counted(&variable.text, range, body, span)),
            StmtKind::Repeat { count, body, .. } => {
                let left = self.local("rounds", Type::Int, span);
                let more = binary(BinaryOp::Greater, var(&left, span), int(0, span));
                let fewer = binary(BinaryOp::Sub, var(&left, span), int(1, span));
                let body = vec![assign(&left, fewer, span), (**body).clone()];
                let repeated = StmtKind::While {
                    condition: Condition::Expr(more),
                    body: Box::new(braced(body, span)),
                };
                let code = vec![assign(&left, count.clone(), span), stmt(repeated, span)];
                Some(StmtKind::Block(block(code, span)))
            }
            StmtKind::Await(condition) => Some(self.awaited(condition, span)),
            _ => None,
        }
    }

    fn local(&mut self, wanted: &str, ty: Type, span: Span) -> String {
        let text = self.names.fresh(wanted);
        self.declare(&text, ty, span);
        text
    }

    fn declare(&mut self, text: &str, ty: Type, span: Span) {
        let local = variable(text, 0, span);
        self.locals.push(declare(ty, vec![local], span));
    }

    /// `continue` goes to the test, so the next number is taken at the beginning of a round.
    fn counted(&mut self, variable: &str, range: &Range, body: &Stmt, span: Span) -> StmtKind {
        let again = self.local("again", Type::Bool, span);
        let (low, high) = (range.low.clone(), range.high.clone());
        let next = binary(BinaryOp::Add, var(variable, span), int(1, span));
        let next = StmtKind::If {
            condition: Condition::Expr(var(&again, span)),
            then: Box::new(assign(variable, next, span)),
            otherwise: None,
        };
        let more = binary(BinaryOp::Less, var(variable, span), high.clone());
        let rounds = StmtKind::DoWhile {
            body: Box::new(braced(
                vec![
                    stmt(next, span),
                    assign(&again, int(1, span), span),
                    body.clone(),
                ],
                span,
            )),
            condition: Condition::Expr(more),
        };
        let code = vec![
            assign(variable, low.clone(), span),
            assign(&again, int(0, span), span),
            stmt(rounds, span),
        ];
        StmtKind::If {
            condition: Condition::Expr(binary(BinaryOp::LessEqual, low, high)),
            then: Box::new(braced(code, span)),
            otherwise: None,
        }
    }

    fn awaited(&mut self, condition: &Expr, span: Span) -> StmtKind {
        let read = |part: &ExprKind| {
            let (text, index) = match part {
                ExprKind::Name(text) => (text, None),
                ExprKind::Cell { name, index } => (&name.text, Some(index.clone())),
                _ => return None,
            };
            let mut shared = self.symbols.shared.iter();
            let variable = shared.find(|variable| variable.name == *text)?;
            let name = name(text, span);
            Some((Place { name, index, span }, variable.domain))
        };
        let mut found = None;
        condition.visit(&mut |part| found = found.take().or_else(|| read(&part.kind)));
        let (place, domain) = found.expect("a wait reads a place");
        let into = self.names.fresh("found");
        let tested = substitute(condition, &|part| read(part).map(|_| var(&into, span)));
        self.declare(&into, range(domain, span), span);
        StmtKind::DoWhile {
            body: Box::new(braced(vec![load(&into, place, span)], span)),
            condition: Condition::Expr(not(tested)),
        }
    }
}

fn braced(statements: Vec<Stmt>, span: Span) -> Stmt {
    stmt(StmtKind::Block(block(statements, span)), span)
}
