//! Short ways to make nodes of the native syntax tree.

use crate::lang::ast::{
    Block, Declaration, Expr, ExprKind, Init, Member, Name, Place, Process, Range, Stmt, StmtKind,
    Type, Variable,
};
use crate::program::{BinaryOp, Domain, UnaryOp};
use crate::source::Span;

pub fn name(text: &str, span: Span) -> Name {
    Name {
        text: text.to_string(),
        span,
    }
}

pub fn expr(kind: ExprKind, span: Span) -> Expr {
    Expr { kind, span }
}

pub fn int(value: i64, span: Span) -> Expr {
    expr(ExprKind::Int(value), span)
}

pub fn var(text: &str, span: Span) -> Expr {
    expr(ExprKind::Name(text.to_string()), span)
}

pub fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    let span = left.span.to(right.span);
    let (left, right) = (Box::new(left), Box::new(right));
    expr(ExprKind::Binary { op, left, right }, span)
}

pub fn unary(op: UnaryOp, operand: Expr, span: Span) -> Expr {
    let operand = Box::new(operand);
    expr(ExprKind::Unary { op, operand }, span)
}

pub fn not(operand: Expr) -> Expr {
    let span = operand.span;
    unary(UnaryOp::Not, operand, span)
}

/// Operands joined by an associative operator, left to right; a long chain becomes a
/// balanced tree, so that it is not deep.
pub fn chain(op: BinaryOp, mut operands: Vec<Expr>) -> Option<Expr> {
    if operands.len() > 16 {
        let right = operands.split_off(operands.len() / 2);
        return Some(binary(op, chain(op, operands)?, chain(op, right)?));
    }
    let joined = operands.into_iter();
    joined.reduce(|left, right| binary(op, left, right))
}

/// Whether `value` lies in a domain.
pub fn within(value: Expr, domain: Domain) -> Expr {
    let span = value.span;
    let low = binary(BinaryOp::LessEqual, int(domain.low, span), value.clone());
    let high = binary(BinaryOp::LessEqual, value, int(domain.high, span));
    binary(BinaryOp::And, low, high)
}

pub fn stmt(kind: StmtKind, span: Span) -> Stmt {
    Stmt { kind, span }
}

pub fn block(statements: Vec<Stmt>, span: Span) -> Block {
    Block {
        members: statements.into_iter().map(Member::Statement).collect(),
        span,
    }
}

/// The statements of one foreign instruction: if there are several, no fence may stand
/// between them.
pub fn one(mut statements: Vec<Stmt>, span: Span) -> Stmt {
    match statements.len() {
        1 => statements.remove(0),
        _ => stmt(StmtKind::Nofence(block(statements, span)), span),
    }
}

pub fn labelled(label: &str, at: Span, statement: Stmt) -> Stmt {
    let span = at.to(statement.span);
    let kind = StmtKind::Labelled {
        label: name(label, at),
        statement: Box::new(statement),
    };
    stmt(kind, span)
}

pub fn assign(target: &str, value: Expr, span: Span) -> Stmt {
    let target = name(target, span);
    stmt(StmtKind::Assign { target, value }, span)
}

pub fn assume(condition: Expr, span: Span) -> Stmt {
    stmt(StmtKind::Assume(condition), span)
}

pub fn goto(label: &str, span: Span) -> Stmt {
    stmt(StmtKind::Goto(name(label, span)), span)
}

pub fn swap(target: &str, place: Place, value: Expr, span: Span) -> Stmt {
    let target = name(target, span);
    let kind = StmtKind::Swap {
        target,
        place,
        value,
    };
    stmt(kind, span)
}

/// Reads memory itself and no pending store, by adding nothing to it.
pub fn load_from_memory(target: &str, place: Place, span: Span) -> Stmt {
    let kind = StmtKind::Add {
        target: name(target, span),
        place,
        value: int(0, span),
    };
    stmt(kind, span)
}

pub fn load(target: &str, place: Place, span: Span) -> Stmt {
    let target = name(target, span);
    stmt(StmtKind::Load { target, place }, span)
}

pub fn store(place: Place, value: Expr, span: Span) -> Stmt {
    stmt(StmtKind::Store { place, value }, span)
}

pub fn scalar(variable: &str, span: Span) -> Place {
    Place {
        name: name(variable, span),
        index: None,
        span,
    }
}

pub fn range(domain: Domain, span: Span) -> Type {
    match domain {
        Domain::INT => Type::Int,
        domain if domain.is_unbounded() => Type::Integer,
        Domain { low, high } => Type::Ranged(Range {
            low: int(low, span),
            high: int(high, span),
            span,
        }),
    }
}

/// A variable with an initial value; zero is left out.
pub fn variable(text: &str, initial: i64, span: Span) -> Variable {
    let init = (initial != 0).then(|| Init::Value(int(initial, span)));
    Variable {
        name: name(text, span),
        len: None,
        init,
    }
}

pub fn declare(ty: Type, variables: Vec<Variable>, span: Span) -> Declaration {
    Declaration {
        ty,
        variables,
        span,
    }
}

/// A process with its locals and its code.
pub fn process(text: &str, locals: Vec<Declaration>, statements: Vec<Stmt>, span: Span) -> Process {
    let mut body = block(statements, span);
    let locals = locals.into_iter().filter(|l| !l.variables.is_empty());
    let locals: Vec<Member> = locals.map(Member::Locals).collect();
    body.members.splice(0..0, locals);
    Process {
        name: name(text, span),
        parameter: None,
        body,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_chains_are_not_deep() {
        fn height(expr: &Expr) -> usize {
            match &expr.kind {
                ExprKind::Binary { left, right, .. } => 1 + height(left).max(height(right)),
                _ => 1,
            }
        }
        let operands = vec![int(1, Span::new(0, 1)); 10_000];
        let long = chain(BinaryOp::And, operands).unwrap();
        assert!(height(&long) < 40);
    }
}
