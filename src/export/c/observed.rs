//! What predicates see of processes: labels and locals.

use super::expr::parts;
use crate::lang::ast::{Expr, ExprKind};
use crate::program::{BinaryOp, UnaryOp};
use std::collections::BTreeSet;

/// The labels and locals of a process that a predicate names.
pub fn named(
    expr: &Expr,
    process: &str,
    labels: &mut BTreeSet<String>,
    locals: &mut BTreeSet<String>,
) {
    match &expr.kind {
        ExprKind::At { process: of, label } if of.name.text == process => {
            labels.insert(label.text.clone());
        }
        ExprKind::Local { process: of, local } if of.name.text == process => {
            locals.insert(local.text.clone());
        }
        _ => parts(expr)
            .into_iter()
            .for_each(|part| named(part, process, labels, locals)),
    }
}

/// A predicate speaks of labels or locals.
pub fn observes(expr: &Expr) -> bool {
    let own = matches!(expr.kind, ExprKind::At { .. } | ExprKind::Local { .. });
    own || parts(expr).into_iter().any(observes)
}

/// No label makes the predicate less true (or less false, if that is not wanted).
pub fn monotone(expr: &Expr, positive: bool) -> bool {
    match &expr.kind {
        ExprKind::At { .. } => positive,
        ExprKind::Unary {
            op: UnaryOp::Not,
            operand,
        } => monotone(operand, !positive),
        ExprKind::Binary {
            op: BinaryOp::And | BinaryOp::Or,
            left,
            right,
        } => monotone(left, positive) && monotone(right, positive),
        _ => !contains_label(expr),
    }
}

fn contains_label(expr: &Expr) -> bool {
    let own = matches!(expr.kind, ExprKind::At { .. });
    own || parts(expr).into_iter().any(contains_label)
}
