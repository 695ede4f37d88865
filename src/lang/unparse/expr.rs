//! Expressions as text.

use super::range;
use crate::lang::ast::{Among, Expr, ExprKind, ProcessRef};
use crate::program::{BinaryOp, UnaryOp};

/// An expression with the parentheses it needs.
pub fn expr(expr: &Expr) -> String {
    at_least(expr, 0)
}

/// `[e]` or `[e][f]`
pub(super) fn index(index: &Expr) -> String {
    match &index.kind {
        ExprKind::Pair { row, column } => format!("[{}][{}]", expr(row), expr(column)),
        _ => format!("[{}]", expr(index)),
    }
}

/// How tightly unary operators and leaves bind.
const UNARY: u8 = 12;
const LEAF: u8 = 13;

/// The operator and how tightly it binds.
fn operator(op: BinaryOp) -> (&'static str, u8) {
    match op {
        BinaryOp::Or => ("||", 1),
        BinaryOp::And => ("&&", 2),
        BinaryOp::BitOr => ("|", 3),
        BinaryOp::BitXor => ("^", 4),
        BinaryOp::BitAnd => ("&", 5),
        BinaryOp::Equal => ("==", 6),
        BinaryOp::NotEqual => ("!=", 6),
        BinaryOp::Less => ("<", 7),
        BinaryOp::LessEqual => ("<=", 7),
        BinaryOp::Greater => (">", 7),
        BinaryOp::GreaterEqual => (">=", 7),
        BinaryOp::Shl => ("<<", 8),
        BinaryOp::Shr => (">>", 8),
        BinaryOp::Add => ("+", 9),
        BinaryOp::Sub => ("-", 9),
        BinaryOp::Mul => ("*", 10),
        BinaryOp::Div => ("/", 10),
        BinaryOp::Rem => ("%", 10),
        BinaryOp::AddIntegers | BinaryOp::SubIntegers | BinaryOp::Machine(..) => {
            unreachable!("the language has no such operator")
        }
    }
}

/// The text of an expression, in parentheses if it binds less tightly than asked for.
fn at_least(expr: &Expr, wanted: u8) -> String {
    let (text, strength) = match &expr.kind {
        ExprKind::Int(value) => (value.to_string(), LEAF),
        ExprKind::Bool(value) => (value.to_string(), LEAF),
        ExprKind::Name(name) => (name.clone(), LEAF),
        ExprKind::Unary { op, operand } => {
            let sign = match op {
                UnaryOp::Not => "!",
                UnaryOp::Negate => "-",
                UnaryOp::Complement => "~",
                UnaryOp::NegateInteger | UnaryOp::Convert(_) => {
                    unreachable!("the language has no such operator")
                }
            };
            // A sign before a number is part of it: `-(1)` is not `-1` in the tree.
            let number = matches!(operand.kind, ExprKind::Int(_)) && *op == UnaryOp::Negate;
            let operand = match number {
                true => format!("({})", at_least(operand, 0)),
                false => at_least(operand, UNARY),
            };
            (format!("{sign}{operand}"), UNARY)
        }
        ExprKind::Binary { op, left, right } => {
            let (sign, strength) = operator(*op);
            // A comparison beside an operator on bits needs parentheses, whatever binds tighter.
            let bits = matches!(op, BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor);
            let operand = |expr: &Expr, wanted: u8| match expr.kind {
                ExprKind::Binary { op, .. } if bits && op.compares() => at_least(expr, LEAF),
                _ => at_least(expr, wanted),
            };
            let (left, right) = (operand(left, strength), operand(right, strength + 1));
            (format!("{left} {sign} {right}"), strength)
        }
        ExprKind::Conditional {
            condition,
            then,
            otherwise,
        } => {
            let (condition, then) = (at_least(condition, 1), at_least(then, 0));
            let otherwise = at_least(otherwise, 0);
            (format!("{condition} ? {then} : {otherwise}"), 0)
        }
        ExprKind::Cell { name, index: of } => (format!("{}{}", name.text, index(of)), LEAF),
        ExprKind::Pair { .. } => (index(expr), LEAF),
        ExprKind::Quantified {
            all,
            variable,
            among,
            body,
        } => {
            let word = if *all { "forall" } else { "exists" };
            let among = match among {
                Among::Range(of) => range(of),
                Among::Processes(name) => name.text.clone(),
            };
            let body = at_least(body, 0);
            (format!("{word} ({} in {among}) {body}", variable.text), 0)
        }
        ExprKind::At { process: of, label } => (format!("{} at {}", process(of), label.text), LEAF),
        ExprKind::Local { process: of, local } => (format!("{}.{}", process(of), local.text), LEAF),
    };
    match strength < wanted {
        true => format!("({text})"),
        false => text,
    }
}

fn process(process: &ProcessRef) -> String {
    match &process.index {
        None => process.name.text.clone(),
        Some(index) => format!("{}[{}]", process.name.text, expr(index)),
    }
}
