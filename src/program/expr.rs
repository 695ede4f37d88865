//! Expressions over atoms: locals in process code, observations in properties.
use crate::program::{BinaryOp, Domain, Fault, UnaryOp, Value, value};

/// An expression whose leaves are constants and atoms of type `A`.
#[derive(Debug, Clone)]
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

    /// An interval that holds every value of the expression, given one for each atom;
    /// `None` if an evaluation might fail.
    pub fn interval(&self, domain: &dyn Fn(&A) -> Domain) -> Option<Domain> {
        match self {
            Expr::Const(value) => fits(*value as i64, *value as i64),
            Expr::Atom(a) => Some(domain(a)),
            Expr::Unary(UnaryOp::Not, operand) => operand.interval(domain).and(Some(Domain::BOOL)),
            Expr::Unary(UnaryOp::Negate, operand) => {
                let d = operand.interval(domain)?;
                fits(-(d.high as i64), -(d.low as i64))
            }
            Expr::Binary(op, left, right) => {
                interval_of(*op, left.interval(domain)?, right.interval(domain)?)
            }
            Expr::Conditional(condition, then, otherwise) => {
                condition.interval(domain)?;
                let (a, b) = (then.interval(domain)?, otherwise.interval(domain)?);
                fits(a.low.min(b.low) as i64, a.high.max(b.high) as i64)
            }
        }
    }
}

fn interval_of(op: BinaryOp, a: Domain, b: Domain) -> Option<Domain> {
    let [al, ah, bl, bh] = [a.low, a.high, b.low, b.high].map(i64::from);
    match op {
        BinaryOp::Add => fits(al + bl, ah + bh),
        BinaryOp::Sub => fits(al - bh, ah - bl),
        BinaryOp::Mul => {
            let corners = [al * bl, al * bh, ah * bl, ah * bh];
            fits(*corners.iter().min()?, *corners.iter().max()?)
        }
        BinaryOp::Div | BinaryOp::Rem if b.contains(0) => None,
        BinaryOp::Div => {
            let most = al.abs().max(ah.abs());
            fits(-most, most)
        }
        BinaryOp::Rem => fits(0, bl.abs().max(bh.abs()) - 1),
        _ => Some(Domain::BOOL),
    }
}

fn fits(low: i64, high: i64) -> Option<Domain> {
    Some(Domain {
        low: Value::try_from(low).ok()?,
        high: Value::try_from(high).ok()?,
    })
}
