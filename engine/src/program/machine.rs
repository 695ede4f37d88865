//! Integers as C and its machines have them: 8 to 64 bits, with a sign or without. What has no
//! sign wraps around; what has one must not overflow. Shifts are those of compilers: a sign bit
//! may be shifted out, and is shifted in from the left.
//!
//! A value of 64 bits without a sign is held by its bits, as a number that may be negative; all
//! others are held as the numbers they are.

use super::{Domain, Fault, Interval, Value};
use serde::{Deserialize, Serialize};
use std::fmt;

/// An integer type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Int {
    pub bits: u32,
    pub signed: bool,
}

/// An operation on two operands of one type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MachineOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
    Less,
    LessEqual,
    /// Addition that wraps around even with a sign, as atomic operations do.
    WrappingAdd,
    WrappingSub,
}

impl Int {
    pub const I32: Int = Int {
        bits: 32,
        signed: true,
    };

    /// The value of this type with the same low bits.
    pub fn wrap(self, value: Value) -> Value {
        let above = 64 - self.bits;
        match self.signed {
            true => value << above >> above,
            false => ((value as u64) << above >> above) as Value,
        }
    }

    /// The values as they are held.
    pub fn domain(self) -> Domain {
        match (self.bits, self.signed) {
            (64, _) => Domain {
                low: Value::MIN,
                high: Value::MAX,
            },
            (bits, true) => Domain {
                low: -1 << (bits - 1),
                high: (1 << (bits - 1)) - 1,
            },
            (bits, false) => Domain {
                low: 0,
                high: (1 << bits) - 1,
            },
        }
    }

    /// All values that conversion makes of those of an interval.
    pub fn interval(self, values: Interval) -> Domain {
        let domain = self.domain();
        let fits = |end: i128| Interval::from(domain).contains(end);
        match values.wide_domain() {
            Some(same) if fits(values.low) && fits(values.high) => same,
            _ => domain,
        }
    }
}

impl MachineOp {
    /// The values that it can have.
    pub fn results(self, int: Int) -> Domain {
        match self {
            MachineOp::Less | MachineOp::LessEqual => Domain::BOOL,
            _ => int.domain(),
        }
    }
}

/// Applies an operation.
pub fn apply(op: MachineOp, int: Int, left: Value, right: Value) -> Result<Value, Fault> {
    let exact = |value: i128| {
        let fits = Interval::from(int.domain()).contains(value);
        match int.signed && !fits {
            true => Err(Fault::Overflow { bits: int.bits }),
            false => Ok(int.wrap(value as Value)),
        }
    };
    // The operands as the numbers they stand for.
    let number = |value: Value| match int.signed {
        true => i128::from(value),
        false => i128::from(value as u64),
    };
    let (a, b) = (number(left), number(right));
    match op {
        MachineOp::Add => exact(a + b),
        MachineOp::Sub => exact(a - b),
        MachineOp::WrappingAdd => Ok(int.wrap(left.wrapping_add(right))),
        MachineOp::WrappingSub => Ok(int.wrap(left.wrapping_sub(right))),
        MachineOp::Mul if int.signed => exact(a * b),
        MachineOp::Mul => Ok(int.wrap(left.wrapping_mul(right))),
        MachineOp::Div | MachineOp::Rem if b == 0 => Err(Fault::DivisionByZero),
        MachineOp::Div => exact(a / b),
        // The remainder has no value where the quotient has none.
        MachineOp::Rem => exact(a / b).and_then(|_| exact(a % b)),
        MachineOp::BitAnd => Ok(left & right),
        MachineOp::BitOr => Ok(left | right),
        MachineOp::BitXor => Ok(left ^ right),
        MachineOp::Shl | MachineOp::Shr => {
            let by = u32::try_from(right).ok().filter(|&by| by < int.bits);
            let by = by.ok_or(Fault::Shift {
                by: right,
                bits: int.bits,
            })?;
            Ok(match op {
                MachineOp::Shl => int.wrap(((left as u64) << by) as Value),
                _ => int.wrap((a >> by) as Value),
            })
        }
        MachineOp::Less => Ok(Value::from(a < b)),
        MachineOp::LessEqual => Ok(Value::from(a <= b)),
    }
}

/// A range that holds every result, given those of the operands; `None` if there may be none.
pub fn interval(op: MachineOp, int: Int, left: Interval, right: Interval) -> Option<Domain> {
    use super::BinaryOp;
    let all = op.results(int);
    let within = |exact: Interval| {
        let fits = |end| Interval::from(all).contains(end);
        match fits(exact.low) && fits(exact.high) {
            true => exact.wide_domain(),
            false if int.signed => None,
            false => Some(all),
        }
    };
    // What has 64 bits and no sign is not held as the number it is.
    let numbers = int.signed || int.bits < 64;
    match op {
        MachineOp::Add if numbers => within(Interval::binary(BinaryOp::Add, left, right)),
        MachineOp::Sub if numbers => within(Interval::binary(BinaryOp::Sub, left, right)),
        MachineOp::Mul if int.signed => within(Interval::binary(BinaryOp::Mul, left, right)),
        MachineOp::Div | MachineOp::Rem => {
            let least = Interval::from(all).low;
            let fails =
                right.contains(0) || int.signed && left.contains(least) && right.contains(-1);
            (!fails).then_some(all)
        }
        MachineOp::Shl | MachineOp::Shr => {
            let inside = right.low >= 0 && right.high < i128::from(int.bits);
            inside.then_some(all)
        }
        MachineOp::BitAnd if left.low >= 0 && right.low >= 0 => {
            let most = left.high.min(right.high);
            Interval { low: 0, high: most }.wide_domain()
        }
        _ => Some(all),
    }
}

impl fmt::Display for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.signed { "" } else { "unsigned " };
        write!(f, "{sign}{}-bit", self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn types() -> Vec<Int> {
        let both = |bits| [true, false].map(|signed| Int { bits, signed });
        [8, 16, 32, 64].into_iter().flat_map(both).collect()
    }

    const OPERATIONS: [MachineOp; 14] = [
        MachineOp::Add,
        MachineOp::Sub,
        MachineOp::Mul,
        MachineOp::Div,
        MachineOp::Rem,
        MachineOp::BitAnd,
        MachineOp::BitOr,
        MachineOp::BitXor,
        MachineOp::Shl,
        MachineOp::Shr,
        MachineOp::Less,
        MachineOp::LessEqual,
        MachineOp::WrappingAdd,
        MachineOp::WrappingSub,
    ];

    /// The value of an operation, worked out on bits alone.
    fn by_bits(op: MachineOp, int: Int, left: Value, right: Value) -> Option<Value> {
        let (a, b) = (left as u64, right as u64);
        let bits = match op {
            MachineOp::Add | MachineOp::WrappingAdd => a.wrapping_add(b),
            MachineOp::Sub | MachineOp::WrappingSub => a.wrapping_sub(b),
            MachineOp::Mul => a.wrapping_mul(b),
            MachineOp::BitAnd => a & b,
            MachineOp::BitOr => a | b,
            MachineOp::BitXor => a ^ b,
            MachineOp::Shl => a << b,
            _ => return None,
        };
        Some(int.wrap(bits as Value))
    }

    #[test]
    fn results_are_of_the_type_and_inside_the_interval() {
        for int in types() {
            let Domain { low, high } = int.domain();
            let values = [low, low + 1, -2, -1, 0, 1, 2, 7, 100, high - 1, high];
            let values: Vec<Value> = values.into_iter().filter(|v| int.wrap(*v) == *v).collect();
            for (op, (left, right)) in OPERATIONS.into_iter().flat_map(|op| {
                let pairs = values.iter().flat_map(|l| values.iter().map(|r| (*l, *r)));
                pairs.map(move |pair| (op, pair))
            }) {
                let what = format!("{left} {op:?} {right} as {int}");
                let point = |value: Value| Interval {
                    low: value.into(),
                    high: value.into(),
                };
                let range = interval(op, int, point(left), point(right));
                match apply(op, int, left, right) {
                    Err(fault) => assert_eq!(range, None, "{what}: {fault}"),
                    Ok(value) => {
                        assert!(op.results(int).contains(value), "{what}: {value}");
                        assert!(range.is_none_or(|r| r.contains(value)), "{what}: {value}");
                        if let Some(bits) = by_bits(op, int, left, right) {
                            assert_eq!(value, bits, "{what}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn as_c_has_it() {
        let int = |bits, signed| Int { bits, signed };
        let run = |op, int, a, b| apply(op, int, a, b);
        use MachineOp::*;
        assert_eq!(run(Div, Int::I32, -7, 2), Ok(-3));
        assert_eq!(run(Rem, Int::I32, -7, 2), Ok(-1));
        let least = i32::MIN.into();
        let overflow = Err(Fault::Overflow { bits: 32 });
        assert_eq!(run(Div, Int::I32, least, -1), overflow);
        assert_eq!(run(Rem, Int::I32, least, -1), overflow);
        assert_eq!(run(Add, Int::I32, i32::MAX.into(), 1), overflow);
        assert_eq!(run(Add, int(32, false), u32::MAX.into(), 1), Ok(0));
        assert_eq!(run(Sub, int(64, false), 0, 1), Ok(-1));
        assert_eq!(run(Less, int(64, false), -1, 1), Ok(0));
        assert_eq!(run(Div, int(64, false), -1, 2), Ok(i64::MAX));
        assert_eq!(run(Shr, int(64, false), -1, 63), Ok(1));
        assert_eq!(run(Shr, Int::I32, -8, 1), Ok(-4));
        assert_eq!(run(Shl, Int::I32, 1, 31), Ok(i32::MIN.into()));
        assert!(run(Shl, Int::I32, 1, 32).is_err());
        assert_eq!(int(8, true).wrap(255), -1);
        assert_eq!(int(8, false).wrap(-1), 255);
    }
}
