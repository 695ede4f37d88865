//! Expressions over atoms: locals in process code, observations in properties.

use super::{BinaryOp, Domain, Fault, Interval, UnaryOp, Value, machine, value};
use serde::{Deserialize, Serialize};

/// An expression whose leaves are constants and atoms of type `A`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Expr<A> {
    Const(Value),
    Atom(A),
    Unary(UnaryOp, Box<Expr<A>>),
    Binary(BinaryOp, Box<Expr<A>>, Box<Expr<A>>),
    Conditional(Box<Expr<A>>, Box<Expr<A>>, Box<Expr<A>>),
}

impl<A> Expr<A> {
    /// The value, given the values of the atoms.
    pub fn eval(&self, atom: &dyn Fn(&A) -> Result<Value, Fault>) -> Result<Value, Fault> {
        match self {
            Expr::Const(value) => Ok(*value),
            Expr::Atom(a) => atom(a),
            Expr::Unary(op, operand) => value::unary(*op, operand.eval(atom)?),
            Expr::Binary(op, left, right) => {
                value::binary(*op, left.eval(atom)?, || right.eval(atom))
            }
            Expr::Conditional(condition, then, otherwise) => match condition.eval(atom)? {
                0 => otherwise.eval(atom),
                _ => then.eval(atom),
            },
        }
    }

    /// The value, if it is the same whatever the atoms are.
    pub fn constant(&self) -> Option<Value> {
        let unknown = |_: &A| Err(Fault::Overflow { bits: 32 });
        self.eval(&unknown).ok()
    }

    /// Visits every atom.
    pub fn for_each_atom(&mut self, visit: &mut dyn FnMut(&mut A)) {
        match self {
            Expr::Const(_) => {}
            Expr::Atom(a) => visit(a),
            Expr::Unary(_, operand) => operand.for_each_atom(visit),
            Expr::Binary(_, left, right) => {
                left.for_each_atom(visit);
                right.for_each_atom(visit);
            }
            Expr::Conditional(condition, then, otherwise) => {
                condition.for_each_atom(visit);
                then.for_each_atom(visit);
                otherwise.for_each_atom(visit);
            }
        }
    }

    /// The same expression over other atoms.
    pub fn map<B>(&self, atom: &dyn Fn(&A) -> B) -> Expr<B> {
        let mapped = |expr: &Expr<A>| Box::new(expr.map(atom));
        match self {
            Expr::Const(value) => Expr::Const(*value),
            Expr::Atom(a) => Expr::Atom(atom(a)),
            Expr::Unary(op, operand) => Expr::Unary(*op, mapped(operand)),
            Expr::Binary(op, left, right) => Expr::Binary(*op, mapped(left), mapped(right)),
            Expr::Conditional(condition, then, otherwise) => {
                Expr::Conditional(mapped(condition), mapped(then), mapped(otherwise))
            }
        }
    }

    /// Calls `visit` on every atom without changing it.
    pub fn atoms(&self, visit: &mut dyn FnMut(&A)) {
        match self {
            Expr::Const(_) => {}
            Expr::Atom(a) => visit(a),
            Expr::Unary(_, operand) => operand.atoms(visit),
            Expr::Binary(_, left, right) => {
                left.atoms(visit);
                right.atoms(visit);
            }
            Expr::Conditional(condition, then, otherwise) => {
                condition.atoms(visit);
                then.atoms(visit);
                otherwise.atoms(visit);
            }
        }
    }

    /// The same with the operators of integers without bound wherever one of these is an
    /// operand; `unbounded` tells which atoms they are.
    pub fn over_integers(self, unbounded: &dyn Fn(&A) -> bool) -> Expr<A> {
        self.typed(unbounded).0
    }

    /// The same, and whether it is an integer without bound.
    fn typed(self, unbounded: &dyn Fn(&A) -> bool) -> (Expr<A>, bool) {
        match self {
            Expr::Const(_) => (self, false),
            Expr::Atom(ref atom) => {
                let integer = unbounded(atom);
                (self, integer)
            }
            Expr::Unary(op, operand) => {
                let (operand, integer) = operand.typed(unbounded);
                let integer = integer && op == UnaryOp::Negate;
                let op = if integer { UnaryOp::NegateInteger } else { op };
                (Expr::Unary(op, Box::new(operand)), integer)
            }
            Expr::Binary(op, left, right) => {
                let (left, left_integer) = left.typed(unbounded);
                let (right, right_integer) = right.typed(unbounded);
                let (op, integer) = match op {
                    BinaryOp::Add if left_integer || right_integer => (BinaryOp::AddIntegers, true),
                    BinaryOp::Sub if left_integer || right_integer => (BinaryOp::SubIntegers, true),
                    other => (other, false),
                };
                (Expr::Binary(op, Box::new(left), Box::new(right)), integer)
            }
            Expr::Conditional(condition, then, otherwise) => {
                let condition = condition.typed(unbounded).0;
                let (then, then_integer) = then.typed(unbounded);
                let (otherwise, otherwise_integer) = otherwise.typed(unbounded);
                let parts = [condition, then, otherwise].map(Box::new);
                let [condition, then, otherwise] = parts;
                let integer = then_integer || otherwise_integer;
                (Expr::Conditional(condition, then, otherwise), integer)
            }
        }
    }

    /// A range that holds every value of the expression, given one for each atom; `None` if
    /// an evaluation might fail.
    pub fn interval(&self, domain: &dyn Fn(&A) -> Domain) -> Option<Domain> {
        let values = |expr: &Expr<A>| expr.interval(domain).map(Interval::from);
        let all = match self {
            Expr::Const(value) => {
                return Some(Domain {
                    low: *value,
                    high: *value,
                });
            }
            Expr::Atom(a) => return Some(domain(a)),
            Expr::Unary(UnaryOp::Convert(to), operand) => {
                return Some(to.interval(values(operand)?));
            }
            Expr::Unary(UnaryOp::NegateInteger, operand) => {
                values(operand)?;
                return Some(Domain::INTEGERS);
            }
            Expr::Unary(op, operand) => Interval::unary(*op, values(operand)?),
            Expr::Binary(BinaryOp::Machine(op, int), left, right) => {
                return machine::interval(*op, *int, values(left)?, values(right)?);
            }
            Expr::Binary(BinaryOp::AddIntegers | BinaryOp::SubIntegers, left, right) => {
                values(left)?;
                values(right)?;
                return Some(Domain::INTEGERS);
            }
            Expr::Binary(op, left, right) => {
                let (left, right) = (values(left)?, values(right)?);
                let divides = matches!(op, BinaryOp::Div | BinaryOp::Rem);
                if divides && right.contains(0) {
                    return None;
                }
                let shifts = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
                let possible = Interval::from(value::SHIFTS);
                if shifts && !(possible.contains(right.low) && possible.contains(right.high)) {
                    return None;
                }
                Interval::binary(*op, left, right)
            }
            Expr::Conditional(condition, then, otherwise) => {
                values(condition)?;
                let either = values(then)?.join(values(otherwise)?);
                return either.wide_domain();
            }
        };
        all.domain()
    }
}
