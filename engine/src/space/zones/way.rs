//! Ways to perform an instruction, while a frame is made.

use super::frame::Datum;
use crate::program::{BinaryOp, Case, Condition, Expr, Fault, Instr, LocalId, Sum, UnaryOp};
use crate::source::Span;

/// One way to perform an instruction.
#[derive(Clone)]
pub struct Way {
    /// Conditions with bounds.
    pub when: Expr<LocalId>,
    pub data: Vec<Datum>,
    pub instr: Instr,
}

/// A way through the beginning of an atomic block.
#[derive(Clone, Default)]
pub struct Part {
    pub data: Vec<Datum>,
    pub done: Vec<(Instr, Span)>,
    /// It ends in a failure.
    pub failed: bool,
}

impl Part {
    pub fn and(mut self, way: &Way, span: Span) -> Part {
        self.data.push(Datum::Begin(span));
        self.data.extend(way.data.iter().cloned());
        if !is_true(&way.when) {
            let guard = Instr::Guard {
                condition: way.when.clone(),
                wanted: true,
            };
            self.done.push((guard, span));
        }
        self.done.push((way.instr.clone(), span));
        self.failed = matches!(&way.instr, Instr::Assert { condition, .. }
            if condition.constant() == Some(0));
        self
    }
}

impl Way {
    pub fn plain(instr: Instr) -> Way {
        Way {
            when: Expr::Const(1),
            data: Vec::new(),
            instr,
        }
    }

    pub fn skip() -> Way {
        Way::plain(Instr::Skip)
    }

    pub fn and(mut self, datum: Datum) -> Way {
        self.data.push(datum);
        self
    }

    pub fn with(self, instr: Instr) -> Way {
        Way { instr, ..self }
    }

    /// The conditions and data of this one, and then another.
    pub fn then(mut self, other: Way) -> Way {
        self.data.extend(other.data);
        Way {
            when: conjunction(self.when, other.when),
            data: self.data,
            instr: other.instr,
        }
    }
}

impl Case<LocalId> {
    /// What must hold for the case, without an instruction.
    pub fn way(&self) -> Way {
        let mut way = Way::skip();
        for condition in &self.when {
            match condition {
                Condition::Finite { condition, wanted } => {
                    let condition = truth(condition.clone(), *wanted);
                    way.when = conjunction(way.when, condition);
                }
                Condition::AtMostZero(sum) => way = way.and_sum(sum.clone()),
            }
        }
        way
    }

    /// The same for a value that an integer takes or is compared with. The frame leaves it out,
    /// and must fail where it has no value.
    pub fn kept(&self) -> Way {
        self.way().evaluating(&self.value.rest)
    }

    /// The way on which a condition is true, or false if that is wanted; none if it never is.
    pub fn guard(self, wanted: bool) -> Option<Way> {
        let way = self.way();
        match self.value.rest.constant() {
            Some(value) if (value != 0) != wanted => None,
            Some(_) => Some(way),
            None => {
                let condition = truth(self.value.rest, wanted);
                Some(Way {
                    when: conjunction(way.when, condition),
                    ..way
                })
            }
        }
    }
}

impl Way {
    pub fn and_sum(self, sum: Sum<LocalId>) -> Way {
        let way = self.evaluating(&sum.rest);
        way.and(Datum::AtMostZero(sum))
    }

    /// Fails where an expression with bounds has no value.
    pub fn evaluating(mut self, rest: &Expr<LocalId>) -> Way {
        if !matches!(rest, Expr::Const(_) | Expr::Atom(_)) {
            let rest = Box::new(rest.clone());
            let defined = Expr::Binary(BinaryOp::Equal, rest.clone(), rest);
            self.when = conjunction(self.when, defined);
        }
        self
    }
}

pub fn integer(local: LocalId) -> Sum<LocalId> {
    Sum {
        integers: vec![(local, 1)],
        rest: Expr::Const(0),
    }
}

pub fn failing(fault: Option<Fault>) -> Instr {
    Instr::Assert {
        condition: Expr::Const(0),
        fault,
    }
}

pub fn is_true(condition: &Expr<LocalId>) -> bool {
    *condition == Expr::Const(1)
}

pub fn conjunction(left: Expr<LocalId>, right: Expr<LocalId>) -> Expr<LocalId> {
    match (is_true(&left), is_true(&right)) {
        (true, _) => right,
        (_, true) => left,
        _ => Expr::Binary(BinaryOp::And, Box::new(left), Box::new(right)),
    }
}

pub fn truth(condition: Expr<LocalId>, wanted: bool) -> Expr<LocalId> {
    match wanted {
        true => condition,
        false => Expr::Unary(UnaryOp::Not, Box::new(condition)),
    }
}
