//! Values and objects that expressions stand for, and C's arithmetic on values.

use super::types::{Number, Qualified, Type};
use crate::program::{BinaryOp, Expr, LocalId, MachineOp, UnaryOp, Value};
use std::rc::Rc;

/// A value of a type.
#[derive(Debug, Clone)]
pub struct Operand {
    pub ty: Type,
    pub value: Val,
}

#[derive(Debug, Clone)]
pub enum Val {
    /// A scalar, as an expression over locals; for a pointer, what it may point to if known.
    Scalar(Expr<LocalId>, Option<Region>),
    /// A pointer to an object that lives in locals, as long as nobody asks for its address.
    ToLocal(Box<Lvalue>),
    /// A structure or array.
    Object(Box<Lvalue>),
    /// Of a call without a value.
    Nothing,
}

/// The addresses that something may have, in order.
pub type Region = Rc<Vec<Value>>;

/// An object or a part of one.
#[derive(Debug, Clone)]
pub struct Lvalue {
    pub ty: Qualified,
    pub at: Where,
}

#[derive(Debug, Clone)]
pub enum Where {
    /// In locals.
    Locals {
        /// The locals of the whole variable.
        first: LocalId,
        /// How many of them come before the part.
        offset: Expr<LocalId>,
        /// All values that `offset` may have, in order.
        offsets: Region,
        /// The declaration of the variable.
        declared: usize,
    },
    /// In memory.
    Memory {
        address: Expr<LocalId>,
        region: Region,
    },
}

impl Operand {
    pub fn scalar(ty: Type, value: Expr<LocalId>) -> Operand {
        Operand {
            ty,
            value: Val::Scalar(folded(value), None),
        }
    }

    pub fn int(value: Value) -> Operand {
        Operand::scalar(Type::INT, Expr::Const(value))
    }

    pub fn nothing() -> Operand {
        Operand {
            ty: Type::Void,
            value: Val::Nothing,
        }
    }

    /// It has the same value whatever happens.
    pub fn is_fixed(&self) -> bool {
        match &self.value {
            Val::ToLocal(object) => match &object.at {
                Where::Locals { offset, .. } => offset.constant().is_some(),
                Where::Memory { .. } => false,
            },
            Val::Scalar(value, _) => value.constant().is_some(),
            Val::Object(_) | Val::Nothing => false,
        }
    }

    /// The value of a constant expression.
    pub fn constant(&self) -> Option<Value> {
        match &self.value {
            Val::Scalar(value, _) => value.constant(),
            _ => None,
        }
    }
}

/// An expression with a constant value as that constant.
pub fn folded(expr: Expr<LocalId>) -> Expr<LocalId> {
    match expr.constant() {
        Some(value) => Expr::Const(value),
        None => expr,
    }
}

pub fn binary(op: BinaryOp, left: Expr<LocalId>, right: Expr<LocalId>) -> Expr<LocalId> {
    folded(Expr::Binary(op, Box::new(left), Box::new(right)))
}

pub fn machine(
    op: MachineOp,
    number: Number,
    left: Expr<LocalId>,
    right: Expr<LocalId>,
) -> Expr<LocalId> {
    binary(BinaryOp::Machine(op, number.int), left, right)
}

pub fn not(operand: Expr<LocalId>) -> Expr<LocalId> {
    folded(Expr::Unary(UnaryOp::Not, Box::new(operand)))
}

pub fn equal(left: Expr<LocalId>, right: Expr<LocalId>) -> Expr<LocalId> {
    binary(BinaryOp::Equal, left, right)
}

/// What is not 0 as 1.
pub fn truth(operand: Expr<LocalId>) -> Expr<LocalId> {
    let is_truth = matches!(
        operand,
        Expr::Unary(UnaryOp::Not, _)
            | Expr::Binary(
                BinaryOp::Equal
                    | BinaryOp::NotEqual
                    | BinaryOp::Less
                    | BinaryOp::LessEqual
                    | BinaryOp::Greater
                    | BinaryOp::GreaterEqual
                    | BinaryOp::And
                    | BinaryOp::Or
                    | BinaryOp::Machine(MachineOp::Less | MachineOp::LessEqual, _),
                _,
                _
            )
    );
    match is_truth {
        true => operand,
        false => binary(BinaryOp::NotEqual, operand, Expr::Const(0)),
    }
}

/// A value of one integer type as one of another.
pub fn convert(value: Expr<LocalId>, from: Number, to: Number) -> Expr<LocalId> {
    if to.boolean {
        return match from.boolean {
            true => value,
            false => truth(value),
        };
    }
    let (old, new) = (from.domain(), to.domain());
    let same = from.int == to.int || new.contains(old.low) && new.contains(old.high);
    match same && !(from.int.bits == 64 && to.int.bits < 64) {
        true => value,
        false => folded(Expr::Unary(UnaryOp::Convert(to.int), Box::new(value))),
    }
}

/// Whether the left operand is less than the right one, or not greater.
pub fn less(
    number: Number,
    or_equal: bool,
    left: Expr<LocalId>,
    right: Expr<LocalId>,
) -> Expr<LocalId> {
    let op = match or_equal {
        true => MachineOp::LessEqual,
        false => MachineOp::Less,
    };
    machine(op, number, left, right)
}
