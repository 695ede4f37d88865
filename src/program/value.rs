//! Values are 32-bit integers; this is their arithmetic, their operators and their declared
//! ranges.

use std::fmt;

pub type Value = i32;

/// The values a variable may hold, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Domain {
    pub low: Value,
    pub high: Value,
}

/// Why an evaluation has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fault {
    /// A result that does not fit 32 bits.
    Overflow,
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
}

/// What a variable holds at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Initial {
    Value(Value),
    /// Any value of the domain.
    Any,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    Not,
    Negate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
}

impl Domain {
    pub const BOOL: Domain = Domain { low: 0, high: 1 };
    pub const INT: Domain = Domain {
        low: Value::MIN,
        high: Value::MAX,
    };

    /// The number of values.
    pub fn size(self) -> u64 {
        (i64::from(self.high) - i64::from(self.low) + 1).max(0) as u64
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
        UnaryOp::Negate => operand.checked_neg().ok_or(Fault::Overflow),
    }
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
        _ => f(left, right).ok_or(Fault::Overflow),
    };
    match op {
        BinaryOp::Mul => left.checked_mul(right).ok_or(Fault::Overflow),
        BinaryOp::Div => divide(Value::checked_div_euclid),
        BinaryOp::Rem => divide(|a, b| Some(a.wrapping_rem_euclid(b))),
        BinaryOp::Add => left.checked_add(right).ok_or(Fault::Overflow),
        BinaryOp::Sub => left.checked_sub(right).ok_or(Fault::Overflow),
        BinaryOp::Less => truth(left < right),
        BinaryOp::LessEqual => truth(left <= right),
        BinaryOp::Greater => truth(left > right),
        BinaryOp::GreaterEqual => truth(left >= right),
        BinaryOp::Equal => truth(left == right),
        BinaryOp::NotEqual => truth(left != right),
        BinaryOp::And | BinaryOp::Or => truth(right != 0),
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..={}", self.low, self.high)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Overflow => write!(f, "a result does not fit 32 bits"),
            Fault::DivisionByZero => write!(f, "division by zero"),
            Fault::OutOfRange { value, domain } => {
                write!(f, "the value {value} is outside the range {domain}")
            }
            Fault::OutOfBounds { index, len } => {
                write!(f, "the index {index} is outside the array of {len} cells")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic() {
        let run = |op, a, b| binary(op, a, || Ok(b));
        assert_eq!(run(BinaryOp::Rem, -1, 3), Ok(2));
        assert_eq!(run(BinaryOp::Div, -1, 3), Ok(-1));
        assert_eq!(run(BinaryOp::Div, 1, 0), Err(Fault::DivisionByZero));
        assert_eq!(run(BinaryOp::Div, Value::MIN, -1), Err(Fault::Overflow));
        assert_eq!(run(BinaryOp::Rem, Value::MIN, -1), Ok(0));
        assert_eq!(run(BinaryOp::Add, Value::MAX, 1), Err(Fault::Overflow));
        assert_eq!(unary(UnaryOp::Negate, Value::MIN), Err(Fault::Overflow));
        assert_eq!(binary(BinaryOp::And, 0, || Err(Fault::Overflow)), Ok(0));
        assert_eq!(binary(BinaryOp::Or, 7, || Err(Fault::Overflow)), Ok(1));
        assert_eq!(run(BinaryOp::And, 2, 2), Ok(1));
    }
}
