//! Expressions: what the names stand for is asked of a [`Scope`].

use fencesmith::lang::ast::{Expr, ExprKind, Name, ProcessRef};
use fencesmith::program::{BinaryOp, UnaryOp};
use std::collections::BTreeMap;

/// The evaluation has no value: overflow, division by zero, or an index out of bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault;

/// What the leaves of an expression mean.
pub trait Scope {
    fn name(&self, name: &str) -> i64;

    fn cell(&self, name: &Name, _index: i64) -> Result<i64, Fault> {
        panic!("the cell {} outside a property", name.text)
    }

    fn at(&self, process: &ProcessRef, _index: Option<i64>, _label: &Name) -> Result<bool, Fault> {
        panic!("{} at a label outside a property", process.name.text)
    }

    fn local(
        &self,
        process: &ProcessRef,
        _index: Option<i64>,
        _local: &Name,
    ) -> Result<i64, Fault> {
        panic!("a local of {} outside a property", process.name.text)
    }
}

/// Constants only.
impl Scope for BTreeMap<String, i64> {
    fn name(&self, name: &str) -> i64 {
        *self
            .get(name)
            .unwrap_or_else(|| panic!("unknown name {name}"))
    }
}

pub fn eval(expr: &Expr, scope: &dyn Scope) -> Result<i64, Fault> {
    match &expr.kind {
        ExprKind::Int(value) => Ok(*value),
        ExprKind::Bool(value) => Ok(*value as i64),
        ExprKind::Name(name) => Ok(scope.name(name)),
        ExprKind::Unary { op, operand } => {
            let operand = eval(operand, scope)?;
            match op {
                UnaryOp::Not => Ok((operand == 0) as i64),
                UnaryOp::Negate => fit(-operand),
                UnaryOp::NegateInteger | UnaryOp::Convert(_) => {
                    unreachable!("the syntax tree has no such operator")
                }
            }
        }
        ExprKind::Binary { op, left, right } => {
            let left = eval(left, scope)?;
            if *op == BinaryOp::And && left == 0 {
                return Ok(0);
            }
            if *op == BinaryOp::Or && left != 0 {
                return Ok(1);
            }
            binary(*op, left as i64, eval(right, scope)? as i64)
        }
        ExprKind::Conditional {
            condition,
            then,
            otherwise,
        } => {
            if eval(condition, scope)? != 0 {
                eval(then, scope)
            } else {
                eval(otherwise, scope)
            }
        }
        ExprKind::Cell { name, index } => {
            let index = eval(index, scope)?;
            scope.cell(name, index)
        }
        ExprKind::At { process, label } => {
            let index = process_index(process, scope)?;
            Ok(scope.at(process, index, label)? as i64)
        }
        ExprKind::Local { process, local } => {
            let index = process_index(process, scope)?;
            scope.local(process, index, local)
        }
    }
}

fn process_index(process: &ProcessRef, scope: &dyn Scope) -> Result<Option<i64>, Fault> {
    match &process.index {
        None => Ok(None),
        Some(index) => Ok(Some(eval(index, scope)?)),
    }
}

fn binary(op: BinaryOp, left: i64, right: i64) -> Result<i64, Fault> {
    let result = match op {
        BinaryOp::Mul => left * right,
        BinaryOp::Div | BinaryOp::Rem if right == 0 => return Err(Fault),
        // The remainder is never negative, and the quotient goes with it.
        BinaryOp::Div => (left - euclidean_remainder(left, right)) / right,
        BinaryOp::Rem => euclidean_remainder(left, right),
        BinaryOp::Add => left + right,
        BinaryOp::Sub => left - right,
        BinaryOp::Less => (left < right) as i64,
        BinaryOp::LessEqual => (left <= right) as i64,
        BinaryOp::Greater => (left > right) as i64,
        BinaryOp::GreaterEqual => (left >= right) as i64,
        BinaryOp::Equal => (left == right) as i64,
        BinaryOp::NotEqual => (left != right) as i64,
        BinaryOp::And => (left != 0 && right != 0) as i64,
        BinaryOp::Or => (left != 0 || right != 0) as i64,
        BinaryOp::AddIntegers | BinaryOp::SubIntegers | BinaryOp::Machine(..) => {
            unreachable!("the syntax tree has no such operator")
        }
    };
    fit(result)
}

fn euclidean_remainder(left: i64, right: i64) -> i64 {
    let size = right.abs();
    ((left % size) + size) % size
}

/// The value, if it fits 32 bits.
pub fn fit(value: i64) -> Result<i64, Fault> {
    i32::try_from(value).map_err(|_| Fault)?;
    Ok(value)
}
