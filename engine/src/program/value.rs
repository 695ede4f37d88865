//! Values, their operators and their declared ranges. The arithmetic of the input language is
//! that of 32-bit integers whose overflow is a fault; [`super::machine`] has that of C.

use super::machine::{self, Int, MachineOp};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Wide enough for every integer type of C; one of 64 bits without a sign is stored by its bits.
pub type Value = i64;

/// The values a variable may hold, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Domain {
    pub low: Value,
    pub high: Value,
}

/// Why an evaluation has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Fault {
    /// A result that does not fit so many bits.
    Overflow {
        bits: u32,
    },
    DivisionByZero,
    /// A value outside the range of the variable that should take it.
    OutOfRange {
        value: Value,
        domain: Domain,
    },
    /// An index outside its array.
    OutOfBounds {
        index: Value,
        len: u32,
    },
    /// An index outside its array, wherever it comes from.
    OutsideArray {
        len: u32,
    },
    /// A shift by less than nothing or by all bits and more.
    Shift {
        by: Value,
        bits: u32,
    },
    /// A null pointer was followed.
    NullPointer,
    /// A pointer was followed that points to nothing of the kind that is accessed.
    WildPointer,
    /// Memory was used or freed after it had been freed.
    Freed,
    /// More blocks were allocated than the program form has room for.
    HeapExhausted,
}

/// What a variable holds at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Initial {
    Value(Value),
    /// Any value of the domain.
    Any,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum UnaryOp {
    Not,
    Negate,
    /// Of integers without bound.
    NegateInteger,
    /// `~`: all bits turned round.
    Complement,
    /// Conversion to a type of C.
    Convert(Int),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BinaryOp {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Or,
    /// Of integers without bound.
    AddIntegers,
    /// Of integers without bound.
    SubIntegers,
    /// The bits of two numbers, with the sign in all bits to the left.
    BitAnd,
    BitOr,
    BitXor,
    /// Times a power of two; it overflows like any product.
    Shl,
    /// Divided by a power of two and rounded down.
    Shr,
    /// An operation of C on two operands of one type.
    Machine(MachineOp, Int),
}

impl BinaryOp {
    /// Whether it says how two numbers compare.
    pub fn compares(self) -> bool {
        use BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        matches!(
            self,
            Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual
        )
    }
}

/// By how many bits a number can be shifted.
pub(super) const SHIFTS: Domain = Domain { low: 0, high: 31 };

impl Domain {
    pub const BOOL: Domain = Domain { low: 0, high: 1 };
    /// The integers of the input language.
    pub const INT: Domain = Domain {
        low: i32::MIN as Value,
        high: i32::MAX as Value,
    };
    /// Integers without bound, as far as values go. Only executions that were found before hold
    /// numbers of these, and no such number comes near the ends. The least value is left out:
    /// this is the range of no type of C.
    pub const INTEGERS: Domain = Domain {
        low: -Value::MAX,
        high: Value::MAX,
    };

    /// Whether the values are the integers without bound.
    pub fn is_unbounded(self) -> bool {
        self == Domain::INTEGERS
    }

    /// The number of values.
    pub fn size(self) -> u64 {
        let size = i128::from(self.high) - i128::from(self.low) + 1;
        u64::try_from(size.max(0)).unwrap_or(u64::MAX)
    }

    pub fn contains(self, value: Value) -> bool {
        self.low <= value && value <= self.high
    }

    /// `value` itself, or the fault of leaving the range.
    pub fn check(self, value: Value) -> Result<Value, Fault> {
        if self.contains(value) {
            Ok(value)
        } else {
            Err(Fault::OutOfRange {
                value,
                domain: self,
            })
        }
    }
}

/// Applies a unary operator.
pub fn unary(op: UnaryOp, operand: Value) -> Result<Value, Fault> {
    match op {
        UnaryOp::Not => Ok(Value::from(operand == 0)),
        UnaryOp::Negate => fit(operand.checked_neg()),
        UnaryOp::NegateInteger => Ok(operand.saturating_neg()),
        UnaryOp::Complement => Ok(!operand),
        UnaryOp::Convert(to) => Ok(to.wrap(operand)),
    }
}

/// A result, if it fits 32 bits.
pub fn fit(result: Option<Value>) -> Result<Value, Fault> {
    let fitting = result.filter(|&result| Domain::INT.contains(result));
    fitting.ok_or(Fault::Overflow { bits: 32 })
}

/// Applies a binary operator. `&&` and `||` evaluate their right side only when it
/// matters, which is why it comes as a closure.
pub fn binary(
    op: BinaryOp,
    left: Value,
    right: impl FnOnce() -> Result<Value, Fault>,
) -> Result<Value, Fault> {
    let truth = |b: bool| Ok(Value::from(b));
    match op {
        BinaryOp::And if left == 0 => return Ok(0),
        BinaryOp::Or if left != 0 => return Ok(1),
        _ => {}
    }
    let right = right()?;
    let divide = |f: fn(Value, Value) -> Option<Value>| match right {
        0 => Err(Fault::DivisionByZero),
        _ => fit(f(left, right)),
    };
    let shift = |f: fn(Value, Value) -> Option<Value>| match SHIFTS.contains(right) {
        true => fit(f(left, right)),
        false => Err(Fault::Shift {
            by: right,
            bits: 32,
        }),
    };
    match op {
        BinaryOp::Mul => fit(left.checked_mul(right)),
        BinaryOp::Div => divide(Value::checked_div_euclid),
        BinaryOp::Rem => divide(|a, b| Some(a.wrapping_rem_euclid(b))),
        BinaryOp::Add => fit(left.checked_add(right)),
        BinaryOp::Sub => fit(left.checked_sub(right)),
        BinaryOp::AddIntegers => Ok(left.saturating_add(right)),
        BinaryOp::SubIntegers => Ok(left.saturating_sub(right)),
        BinaryOp::Less => truth(left < right),
        BinaryOp::LessEqual => truth(left <= right),
        BinaryOp::Greater => truth(left > right),
        BinaryOp::GreaterEqual => truth(left >= right),
        BinaryOp::Equal => truth(left == right),
        BinaryOp::NotEqual => truth(left != right),
        BinaryOp::And | BinaryOp::Or => truth(right != 0),
        BinaryOp::BitAnd => Ok(left & right),
        BinaryOp::BitOr => Ok(left | right),
        BinaryOp::BitXor => Ok(left ^ right),
        BinaryOp::Shl => shift(|a, by| a.checked_mul(1 << by)),
        BinaryOp::Shr => shift(|a, by| Some(a >> by)),
        BinaryOp::Machine(op, int) => machine::apply(op, int, left, right),
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_unbounded() {
            true => write!(f, "all integers"),
            false => write!(f, "{}..={}", self.low, self.high),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Overflow { bits } => write!(f, "a result does not fit {bits} bits"),
            Fault::DivisionByZero => write!(f, "division by zero"),
            Fault::OutOfRange { value, domain } => {
                write!(f, "the value {value} is outside the range {domain}")
            }
            Fault::OutOfBounds { index, len } => {
                write!(f, "the index {index} is outside the array of {len} cells")
            }
            Fault::OutsideArray { len } => {
                write!(f, "an index is outside the array of {len} elements")
            }
            Fault::Shift { by, bits } => write!(f, "a value of {bits} bits is shifted by {by}"),
            Fault::NullPointer => write!(f, "a null pointer is followed"),
            Fault::WildPointer => write!(f, "a pointer is followed that points to no such object"),
            Fault::Freed => write!(f, "memory is used after it was freed"),
            Fault::HeapExhausted => write!(f, "more blocks are allocated than --heap allows"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OVERFLOW: Fault = Fault::Overflow { bits: 32 };

    #[test]
    fn arithmetic() {
        let Domain {
            low: least,
            high: most,
        } = Domain::INT;
        let run = |op, a, b| binary(op, a, || Ok(b));
        assert_eq!(run(BinaryOp::Rem, -1, 3), Ok(2));
        assert_eq!(run(BinaryOp::Div, -1, 3), Ok(-1));
        assert_eq!(run(BinaryOp::Div, 1, 0), Err(Fault::DivisionByZero));
        assert_eq!(run(BinaryOp::Div, least, -1), Err(OVERFLOW));
        assert_eq!(run(BinaryOp::Rem, least, -1), Ok(0));
        assert_eq!(run(BinaryOp::Add, most, 1), Err(OVERFLOW));
        assert_eq!(unary(UnaryOp::Negate, least), Err(OVERFLOW));
        assert_eq!(binary(BinaryOp::And, 0, || Err(OVERFLOW)), Ok(0));
        assert_eq!(binary(BinaryOp::Or, 7, || Err(OVERFLOW)), Ok(1));
        assert_eq!(run(BinaryOp::And, 2, 2), Ok(1));
        assert_eq!(run(BinaryOp::BitAnd, -2, 7), Ok(6));
        assert_eq!(run(BinaryOp::BitOr, -8, 3), Ok(-5));
        assert_eq!(run(BinaryOp::BitXor, 5, 3), Ok(6));
        assert_eq!(unary(UnaryOp::Complement, least), Ok(most));
        assert_eq!(run(BinaryOp::Shl, 1, 30), Ok(1 << 30));
        assert_eq!(run(BinaryOp::Shl, -1, 31), Ok(least));
        assert_eq!(run(BinaryOp::Shl, 1, 31), Err(OVERFLOW));
        assert_eq!(run(BinaryOp::Shr, -3, 1), Ok(-2));
        assert_eq!(
            run(BinaryOp::Shr, 1, -1),
            Err(Fault::Shift { by: -1, bits: 32 })
        );
        assert!(run(BinaryOp::Shl, 0, 32).is_err());
    }
}
