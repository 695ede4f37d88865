//! Expressions with integers without bound, case by case.
//!
//! Whatever such an expression says is a question of a few comparisons: in each *case* its
//! value is a sum of integers and of a part with bounds, and the case holds if its conditions
//! do. The cases of an expression exclude each other, and one of them holds.

use super::{BinaryOp, Expr, UnaryOp, Value};

/// A value, and when it is this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case<A> {
    pub when: Vec<Condition<A>>,
    pub value: Sum<A>,
}

/// Integers with their factors, and a part with bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sum<A> {
    pub integers: Vec<(A, i64)>,
    pub rest: Expr<A>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition<A> {
    /// The expression, which has no integers in it, is true (or false, if not `wanted`).
    Finite { condition: Expr<A>, wanted: bool },
    /// The sum is at most zero.
    AtMostZero(Sum<A>),
}

impl<A> Sum<A> {
    /// A number.
    pub fn constant(value: Value) -> Sum<A> {
        Sum {
            integers: Vec::new(),
            rest: Expr::Const(value),
        }
    }
}

impl<A> Sum<A> {
    /// The part with bounds, of a sum that has nothing else.
    pub fn bounded(&self) -> &Expr<A> {
        assert!(self.integers.is_empty(), "what has bounds takes no integer");
        &self.rest
    }
}

impl<A: Clone + PartialEq> Sum<A> {
    /// This and the other one, times a sign.
    pub fn plus(&self, other: &Sum<A>, sign: i64) -> Sum<A> {
        let mut integers = self.integers.clone();
        for (atom, factor) in &other.integers {
            match integers.iter_mut().find(|(known, _)| known == atom) {
                Some((_, known)) => *known += sign * factor,
                None => integers.push((atom.clone(), sign * factor)),
            }
        }
        integers.retain(|(_, factor)| *factor != 0);
        let op = match sign {
            1 => BinaryOp::AddIntegers,
            _ => BinaryOp::SubIntegers,
        };
        Sum {
            integers,
            rest: joined(op, self.rest.clone(), other.rest.clone()),
        }
    }
}

/// The cases of an expression; `unbounded` tells which atoms are integers.
pub fn cases<A: Clone + PartialEq>(expr: &Expr<A>, unbounded: &dyn Fn(&A) -> bool) -> Vec<Case<A>> {
    let mut integers = false;
    expr.atoms(&mut |atom| integers |= unbounded(atom));
    if !integers {
        return vec![Case::finite(expr.clone())];
    }
    let of = |expr: &Expr<A>| cases(expr, unbounded);
    match expr {
        Expr::Const(_) => vec![Case::finite(expr.clone())],
        Expr::Atom(atom) => vec![Case {
            when: Vec::new(),
            value: Sum {
                integers: vec![(atom.clone(), 1)],
                rest: Expr::Const(0),
            },
        }],
        Expr::Unary(UnaryOp::NegateInteger, operand) => {
            let negated = |case: Case<A>| Case {
                value: Sum::constant(0).plus(&case.value, -1),
                ..case
            };
            of(operand).into_iter().map(negated).collect()
        }
        Expr::Unary(op, operand) => {
            let applied = |case: Case<A>| Case {
                value: Sum {
                    rest: folded(Expr::Unary(*op, Box::new(case.value.rest))),
                    ..case.value
                },
                ..case
            };
            of(operand).into_iter().map(applied).collect()
        }
        Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
            let decided = *op == BinaryOp::Or;
            let mut all = Vec::new();
            for case in of(left) {
                for (truth, case) in case.split() {
                    if truth == decided {
                        all.push(case.with(Sum::constant(truth.into())));
                        continue;
                    }
                    for right in of(right) {
                        let truth = Expr::Unary(UnaryOp::Not, Box::new(right.value.rest.clone()));
                        let truth = folded(Expr::Unary(UnaryOp::Not, Box::new(folded(truth))));
                        let value = Sum {
                            integers: Vec::new(),
                            rest: truth,
                        };
                        all.push(case.and(right).with(value));
                    }
                }
            }
            all
        }
        Expr::Binary(op, left, right) => {
            let rights = of(right);
            let mut all = Vec::new();
            for left in of(left) {
                for right in &rights {
                    let (a, b) = (&left.value, &right.value);
                    let both = left.and(right.clone());
                    match op {
                        BinaryOp::AddIntegers => all.push(both.with(a.plus(b, 1))),
                        BinaryOp::SubIntegers => all.push(both.with(a.plus(b, -1))),
                        _ if a.plus(b, -1).integers.is_empty() => {
                            let (a, b) = (a.rest.clone(), b.rest.clone());
                            let value = joined(*op, a, b);
                            all.push(both.with(Case::finite(value).value));
                        }
                        _ => all.extend(compared(*op, a, b).into_iter().map(|case| {
                            let value = case.value.clone();
                            both.and(case).with(value)
                        })),
                    }
                }
            }
            all
        }
        Expr::Conditional(condition, then, otherwise) => {
            let mut all = Vec::new();
            for case in of(condition) {
                for (truth, case) in case.split() {
                    let chosen = if truth { then } else { otherwise };
                    all.extend(of(chosen).into_iter().map(|chosen| {
                        let value = chosen.value.clone();
                        case.and(chosen).with(value)
                    }));
                }
            }
            all
        }
    }
}

impl<A: Clone + PartialEq> Case<A> {
    fn finite(rest: Expr<A>) -> Case<A> {
        Case {
            when: Vec::new(),
            value: Sum {
                integers: Vec::new(),
                rest,
            },
        }
    }

    fn with(&self, value: Sum<A>) -> Case<A> {
        Case {
            when: self.when.clone(),
            value,
        }
    }

    /// Both of two cases hold; the value is open.
    fn and(&self, other: Case<A>) -> Case<A> {
        let mut when = self.when.clone();
        when.extend(other.when);
        Case {
            when,
            value: Sum::constant(0),
        }
    }

    /// A truth value: when it is true, and when it is false.
    fn split(self) -> Vec<(bool, Case<A>)> {
        if let Some(value) = self.value.rest.constant() {
            return vec![(value != 0, self)];
        }
        let condition = self.value.rest.clone();
        let way = |wanted| {
            let mut case = self.clone();
            let condition = condition.clone();
            case.when.push(Condition::Finite { condition, wanted });
            (wanted, case)
        };
        vec![way(true), way(false)]
    }
}

/// When a comparison of two sums is true, and when it is false.
fn compared<A: Clone + PartialEq>(op: BinaryOp, a: &Sum<A>, b: &Sum<A>) -> Vec<Case<A>> {
    let one = Sum::constant(1);
    let at_most = || Condition::AtMostZero(a.plus(b, -1));
    let at_least = || Condition::AtMostZero(b.plus(a, -1));
    let less = || Condition::AtMostZero(a.plus(b, -1).plus(&one, 1));
    let greater = || Condition::AtMostZero(b.plus(a, -1).plus(&one, 1));
    let case = |truth: bool, when| Case {
        when,
        value: Sum::constant(truth.into()),
    };
    let either =
        |truth: bool, when, otherwise| vec![case(truth, vec![when]), case(!truth, vec![otherwise])];
    match op {
        BinaryOp::Less => either(true, less(), at_least()),
        BinaryOp::LessEqual => either(true, at_most(), greater()),
        BinaryOp::Greater => either(true, greater(), at_most()),
        BinaryOp::GreaterEqual => either(true, at_least(), less()),
        BinaryOp::Equal | BinaryOp::NotEqual => {
            let equal = op == BinaryOp::Equal;
            vec![
                case(equal, vec![at_most(), at_least()]),
                case(!equal, vec![less()]),
                case(!equal, vec![greater()]),
            ]
        }
        other => unreachable!("{other:?} of integers was refused"),
    }
}

/// An operator applied to parts with bounds.
fn joined<A>(op: BinaryOp, left: Expr<A>, right: Expr<A>) -> Expr<A> {
    match (op, &left, &right) {
        (BinaryOp::AddIntegers, Expr::Const(0), _) => right,
        (BinaryOp::AddIntegers | BinaryOp::SubIntegers, _, Expr::Const(0)) => left,
        _ => folded(Expr::Binary(op, Box::new(left), Box::new(right))),
    }
}

/// The same expression, or its value if that is known.
fn folded<A>(expr: Expr<A>) -> Expr<A> {
    match expr.constant() {
        Some(value) => Expr::Const(value),
        None => expr,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x and y are integers, b is not.
    fn value(case: &Case<char>, of: &dyn Fn(char) -> Value) -> Option<Value> {
        let finite = |expr: &Expr<char>| expr.eval(&|atom| Ok(of(*atom))).expect("it has a value");
        let sum = |sum: &Sum<char>| {
            let integers = sum.integers.iter();
            integers
                .map(|(atom, factor)| of(*atom) * factor)
                .sum::<Value>()
                + finite(&sum.rest)
        };
        let holds = |condition: &Condition<char>| match condition {
            Condition::Finite { condition, wanted } => (finite(condition) != 0) == *wanted,
            Condition::AtMostZero(of) => sum(of) <= 0,
        };
        case.when.iter().all(holds).then(|| sum(&case.value))
    }

    #[test]
    fn one_case_holds_and_has_the_value() {
        let atom = |name: char| Box::new(Expr::Atom(name));
        let op = |op, left, right| Box::new(Expr::Binary(op, left, right));
        let sum = op(BinaryOp::AddIntegers, atom('x'), atom('b'));
        let less = op(BinaryOp::Less, sum.clone(), atom('y'));
        let differ = op(BinaryOp::NotEqual, atom('x'), atom('y'));
        let all = [
            *sum.clone(),
            *less.clone(),
            *op(BinaryOp::And, less.clone(), atom('b')),
            *op(BinaryOp::Or, atom('b'), less.clone()),
            *op(BinaryOp::Or, differ.clone(), less.clone()),
            Expr::Unary(UnaryOp::Not, differ.clone()),
            Expr::Conditional(differ.clone(), sum.clone(), atom('y')),
            Expr::Unary(UnaryOp::NegateInteger, sum.clone()),
            *op(
                BinaryOp::Equal,
                op(BinaryOp::SubIntegers, atom('x'), atom('x')),
                atom('b'),
            ),
            *op(BinaryOp::GreaterEqual, Box::new(Expr::Const(2)), differ),
        ];
        for expr in all {
            let cases = cases(&expr, &|atom| *atom != 'b');
            for (x, y, b) in (0..125).map(|n| (n % 5 - 2, n / 5 % 5 - 2, n / 25 - 2)) {
                let of = |atom| match atom {
                    'x' => x,
                    'y' => y,
                    _ => b,
                };
                let values: Vec<Value> = cases.iter().filter_map(|c| value(c, &of)).collect();
                let wanted = expr.eval(&|atom| Ok(of(*atom))).expect("it has a value");
                assert_eq!(values, [wanted], "{expr:?} at {x}, {y}, {b}");
            }
        }
    }
}
