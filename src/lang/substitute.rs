//! Expressions in place of parts of others: what quantifiers are expanded with, and reads of
//! places.

use super::ast::{Among, Expr, ExprKind, ProcessRef, Range};

/// What a part is replaced by; `None` leaves it.
pub type Replacement<'r> = &'r dyn Fn(&ExprKind) -> Option<Expr>;

/// The expression with parts replaced. The names of arrays and processes stay.
pub fn substitute(expr: &Expr, by: Replacement) -> Expr {
    let inside = |expr: &Expr| Box::new(substitute(expr, by));
    let process = |process: &ProcessRef| ProcessRef {
        index: process.index.as_deref().map(inside),
        ..process.clone()
    };
    if let Some(replacement) = by(&expr.kind) {
        return replacement;
    }
    let kind = match &expr.kind {
        ExprKind::Name(_) | ExprKind::Int(_) | ExprKind::Bool(_) => expr.kind.clone(),
        ExprKind::Unary { op, operand } => ExprKind::Unary {
            op: *op,
            operand: inside(operand),
        },
        ExprKind::Binary { op, left, right } => ExprKind::Binary {
            op: *op,
            left: inside(left),
            right: inside(right),
        },
        ExprKind::Conditional {
            condition,
            then,
            otherwise,
        } => ExprKind::Conditional {
            condition: inside(condition),
            then: inside(then),
            otherwise: inside(otherwise),
        },
        ExprKind::Cell { name, index } => ExprKind::Cell {
            name: name.clone(),
            index: inside(index),
        },
        ExprKind::Pair { row, column } => ExprKind::Pair {
            row: inside(row),
            column: inside(column),
        },
        ExprKind::At { process: of, label } => ExprKind::At {
            process: process(of),
            label: label.clone(),
        },
        ExprKind::Local { process: of, local } => ExprKind::Local {
            process: process(of),
            local: local.clone(),
        },
        ExprKind::Quantified {
            all,
            variable,
            among,
            body,
        } => {
            let hidden = |part: &ExprKind| match part {
                ExprKind::Name(name) if *name == variable.text => None,
                _ => by(part),
            };
            ExprKind::Quantified {
                all: *all,
                variable: variable.clone(),
                among: match among {
                    Among::Range(range) => Among::Range(Box::new(Range {
                        low: substitute(&range.low, by),
                        high: substitute(&range.high, by),
                        span: range.span,
                    })),
                    Among::Processes(_) => among.clone(),
                },
                body: Box::new(substitute(body, &hidden)),
            }
        }
    };
    let span = expr.span;
    Expr { kind, span }
}
