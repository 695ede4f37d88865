//! Expressions: what the names stand for is asked of a [`Scope`].

use fencesmith::lang::ast::{Among, Expr, ExprKind, Name, ProcessRef};
use fencesmith::program::{BinaryOp, UnaryOp};
use std::collections::BTreeMap;

/// The evaluation has no value: overflow, division by zero, or an index out of bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault;

/// What the leaves of an expression mean.
pub trait Scope {
    fn name(&self, name: &str) -> i64;

    fn cell(&self, name: &Name, _index: &[i64]) -> Result<i64, Fault> {
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

    /// The numbers of the processes of a template.
    fn numbers(&self, template: &Name) -> Vec<i64> {
        panic!("the processes {} outside a property", template.text)
    }
}

/// What a quantified name is, and otherwise what it was before.
struct Bound<'s> {
    name: &'s str,
    value: i64,
    outer: &'s dyn Scope,
}

impl Scope for Bound<'_> {
    fn name(&self, name: &str) -> i64 {
        match name == self.name {
            true => self.value,
            false => self.outer.name(name),
        }
    }

    fn cell(&self, name: &Name, index: &[i64]) -> Result<i64, Fault> {
        self.outer.cell(name, index)
    }

    fn at(&self, process: &ProcessRef, index: Option<i64>, label: &Name) -> Result<bool, Fault> {
        self.outer.at(process, index, label)
    }

    fn local(&self, process: &ProcessRef, index: Option<i64>, local: &Name) -> Result<i64, Fault> {
        self.outer.local(process, index, local)
    }

    fn numbers(&self, template: &Name) -> Vec<i64> {
        self.outer.numbers(template)
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
                UnaryOp::Complement => fit(-1 - operand),
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
            binary(*op, left, eval(right, scope)?)
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
            let index = indices(index, scope)?;
            scope.cell(name, &index)
        }
        ExprKind::Pair { .. } => panic!("two indices are not one value"),
        ExprKind::Quantified {
            all,
            variable,
            among,
            body,
        } => {
            let values = match among {
                Among::Range(range) => {
                    (eval(&range.low, scope)?..=eval(&range.high, scope)?).collect()
                }
                Among::Processes(template) => scope.numbers(template),
            };
            for value in values {
                let bound = Bound {
                    name: &variable.text,
                    value,
                    outer: scope,
                };
                if (eval(body, &bound)? != 0) != *all {
                    return Ok(!*all as i64);
                }
            }
            Ok(*all as i64)
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

/// One index of an array, or two.
pub fn indices(index: &Expr, scope: &dyn Scope) -> Result<Vec<i64>, Fault> {
    match &index.kind {
        ExprKind::Pair { row, column } => Ok(vec![eval(row, scope)?, eval(column, scope)?]),
        _ => Ok(vec![eval(index, scope)?]),
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
        BinaryOp::BitAnd => bits(left, right, |a, b| a && b),
        BinaryOp::BitOr => bits(left, right, |a, b| a || b),
        BinaryOp::BitXor => bits(left, right, |a, b| a != b),
        BinaryOp::Shl | BinaryOp::Shr if !(0..32).contains(&right) => return Err(Fault),
        BinaryOp::Shl => (0..right).fold(left, |value, _| value * 2),
        BinaryOp::Shr => {
            (0..right).fold(left, |value, _| (value - euclidean_remainder(value, 2)) / 2)
        }
        BinaryOp::AddIntegers | BinaryOp::SubIntegers | BinaryOp::Machine(..) => {
            unreachable!("the syntax tree has no such operator")
        }
    };
    fit(result)
}

/// Bit by bit, as 32 of them; the last one counts negatively.
fn bits(left: i64, right: i64, combine: fn(bool, bool) -> bool) -> i64 {
    let bit = |value: i64, at: u32| euclidean_remainder(value >> at, 2) == 1;
    (0..32).fold(0, |result, at| {
        let weight = if at == 31 { -(1 << 31) } else { 1 << at };
        let set = combine(bit(left, at), bit(right, at));
        result + if set { weight } else { 0 }
    })
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
