//! Intervals: all values that an expression can have, without evaluating it.

use super::value::SHIFTS;
use super::{BinaryOp, Domain, UnaryOp, Value};

/// All numbers from `low` to `high`. The ends are wide enough for the result of one
/// operation on values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    pub low: i128,
    pub high: i128,
}

impl Interval {
    /// The values of conditions.
    pub const TRUTH: Interval = Interval { low: 0, high: 1 };

    /// The values as a range, if all of them fit 32 bits.
    pub fn domain(self) -> Option<Domain> {
        self.wide_domain()
            .filter(|domain| Domain::INT.contains(domain.low) && Domain::INT.contains(domain.high))
    }

    /// The values as a range, if all of them are values.
    pub fn wide_domain(self) -> Option<Domain> {
        Some(Domain {
            low: Value::try_from(self.low).ok()?,
            high: Value::try_from(self.high).ok()?,
        })
    }

    pub fn contains(self, value: i128) -> bool {
        self.low <= value && value <= self.high
    }

    /// The smallest interval that holds both.
    pub fn join(self, other: Interval) -> Interval {
        Interval {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }

    /// The results of an operator on values of an interval.
    pub fn unary(op: UnaryOp, operand: Interval) -> Interval {
        match op {
            UnaryOp::Not => Interval::TRUTH,
            UnaryOp::Negate => Interval {
                low: -operand.high,
                high: -operand.low,
            },
            UnaryOp::NegateInteger => Domain::INTEGERS.into(),
            UnaryOp::Complement => Interval {
                low: -1 - operand.high,
                high: -1 - operand.low,
            },
            UnaryOp::Convert(to) => to.interval(operand).into(),
        }
    }

    /// The results of an operator on values of two intervals, where it has one: nothing is
    /// divided by zero or shifted too far. Both must fit 32 bits.
    pub fn binary(op: BinaryOp, left: Interval, right: Interval) -> Interval {
        match op {
            BinaryOp::Add => Interval {
                low: left.low + right.low,
                high: left.high + right.high,
            },
            BinaryOp::Sub => Interval {
                low: left.low - right.high,
                high: left.high - right.low,
            },
            BinaryOp::Mul => {
                let corner = |a: i128, b: i128| Interval {
                    low: a * b,
                    high: a * b,
                };
                let low = corner(left.low, right.low).join(corner(left.low, right.high));
                let high = corner(left.high, right.low).join(corner(left.high, right.high));
                low.join(high)
            }
            BinaryOp::Div => {
                let most = left.magnitude();
                let positive = left.low >= 0 && right.low >= 0;
                Interval {
                    low: if positive { 0 } else { -most },
                    high: most,
                }
            }
            BinaryOp::Rem => Interval {
                low: 0,
                high: (right.magnitude() - 1).max(0),
            },
            BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual
            | BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::And
            | BinaryOp::Or => Interval::TRUTH,
            BinaryOp::AddIntegers | BinaryOp::SubIntegers => Domain::INTEGERS.into(),
            BinaryOp::BitAnd if left.low >= 0 || right.low >= 0 => {
                let bounds = [left, right].into_iter().filter(|side| side.low >= 0);
                let high = bounds.map(|side| side.high).min().unwrap_or(0);
                Interval { low: 0, high }
            }
            BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => {
                let all = left.join(right);
                let above = all.bits();
                let positive = left.low >= 0 && right.low >= 0;
                Interval {
                    low: if positive { 0 } else { -above },
                    high: above - 1,
                }
            }
            BinaryOp::Shl => {
                let by = right.shifts();
                let factor = Interval {
                    low: 1 << by.low,
                    high: 1 << by.high,
                };
                Interval::binary(BinaryOp::Mul, left, factor)
            }
            BinaryOp::Shr => {
                let by = right.shifts();
                let corner = |a: i128, by: i128| Interval {
                    low: a >> by,
                    high: a >> by,
                };
                let low = corner(left.low, by.low).join(corner(left.low, by.high));
                low.join(corner(left.high, by.low).join(corner(left.high, by.high)))
            }
            BinaryOp::Machine(op, int) => op.results(int).into(),
        }
    }

    /// The numbers of bits in it by which one can shift.
    fn shifts(self) -> Interval {
        let all = Interval::from(SHIFTS);
        Interval {
            low: self.low.clamp(all.low, all.high),
            high: self.high.clamp(all.low, all.high),
        }
    }

    /// The least power of two that is more than every value and not less than the opposite of one.
    fn bits(self) -> i128 {
        let most = self.high.max(-1 - self.low);
        let powers = (0..127).map(|bit| 1i128 << bit);
        let mut powers = powers.filter(|&power| power > most);
        powers.next().unwrap_or(i128::MAX)
    }

    /// The largest absolute value.
    fn magnitude(self) -> i128 {
        self.low.abs().max(self.high.abs())
    }
}

impl From<Domain> for Interval {
    fn from(domain: Domain) -> Interval {
        Interval {
            low: domain.low.into(),
            high: domain.high.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::value::{binary, unary};

    const OPERATORS: [BinaryOp; 18] = [
        BinaryOp::Mul,
        BinaryOp::Div,
        BinaryOp::Rem,
        BinaryOp::Add,
        BinaryOp::Sub,
        BinaryOp::Less,
        BinaryOp::LessEqual,
        BinaryOp::Greater,
        BinaryOp::GreaterEqual,
        BinaryOp::Equal,
        BinaryOp::NotEqual,
        BinaryOp::And,
        BinaryOp::Or,
        BinaryOp::BitAnd,
        BinaryOp::BitOr,
        BinaryOp::BitXor,
        BinaryOp::Shl,
        BinaryOp::Shr,
    ];

    fn domains() -> Vec<Domain> {
        let ends = [-9, -3, -1, 0, 2, 6];
        let pairs = ends
            .into_iter()
            .flat_map(|low| ends.map(|high| (low, high)));
        let ordered = pairs.filter(|(low, high)| low <= high);
        ordered.map(|(low, high)| Domain { low, high }).collect()
    }

    #[test]
    fn every_result_is_inside() {
        for a in domains() {
            for op in [UnaryOp::Not, UnaryOp::Negate, UnaryOp::Complement] {
                let all = Interval::unary(op, a.into());
                for value in a.low..=a.high {
                    let value = unary(op, value).expect("it fits");
                    assert!(all.contains(value.into()), "{op:?} {a}");
                }
            }
            for (b, op) in domains().iter().flat_map(|b| OPERATORS.map(|op| (*b, op))) {
                let all = Interval::binary(op, a.into(), b.into());
                let pairs = (a.low..=a.high).flat_map(|x| (b.low..=b.high).map(move |y| (x, y)));
                for value in pairs.filter_map(|(x, y)| binary(op, x, || Ok(y)).ok()) {
                    assert!(all.contains(value.into()), "{a} {op:?} {b}: {value}");
                }
            }
        }
    }

    #[test]
    fn results_that_leave_32_bits_are_no_range() {
        let int = Interval::from(Domain::INT);
        assert_eq!(Interval::unary(UnaryOp::Negate, int).domain(), None);
        assert_eq!(Interval::binary(BinaryOp::Mul, int, int).domain(), None);
        assert_eq!(
            Interval::binary(BinaryOp::Add, int, Interval::TRUTH).domain(),
            None
        );
        assert_eq!(int.domain(), Some(Domain::INT));
    }
}
