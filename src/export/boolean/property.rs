//! Properties, as far as booleans can tell.

use super::cover::{Cover, Known, Literal};
use super::predicates::{halved, terms, with_places};
use super::{Abstraction, NOWHERE};
use crate::diagnostic::Diagnostic;
use crate::import::build::{binary, chain, expr, int, name, not, var};
use crate::lang::ast::{self, ExprKind, Predicate, ProcessRef};
use crate::program::{
    Atom, BinaryOp, Condition, Expr, Loc, ProcessId, Property, PropertyKind, Sum, UnaryOp, Value,
    cases,
};
use crate::space::Fact;

/// A part with more values than this is refused.
const MOST_VALUES: Value = 256;

impl Abstraction<'_> {
    /// The property that holds only if the original one does.
    pub fn property(&self, property: &Property) -> Result<ast::Property, Diagnostic> {
        let predicate = with_places(&property.predicate);
        let bad = matches!(property.kind, PropertyKind::Mutex | PropertyKind::Forbid);
        let literals = self.shared_literals();
        let mut wrong = Vec::new();
        for case in cases(&predicate, &|atom| self.program.is_integer(atom)) {
            let mut parts = Vec::new();
            for condition in &case.when {
                parts.push(match condition {
                    Condition::Finite { condition, wanted } => {
                        truth(self.observed(condition), *wanted)
                    }
                    Condition::AtMostZero(sum) => self.may_hold(sum, property, &literals)?,
                });
            }
            parts.push(truth(self.observed(&case.value.rest), bad));
            wrong.extend(chain(BinaryOp::And, parts));
        }
        let wrong = chain(BinaryOp::Or, wrong).unwrap_or_else(|| int(0, NOWHERE));
        let (kind, predicate) = match property.kind {
            PropertyKind::Final => (PropertyKind::Final, not(wrong)),
            _ => (PropertyKind::Forbid, wrong),
        };
        Ok(ast::Property {
            kind,
            predicate: Predicate::Expr(predicate),
            span: NOWHERE,
        })
    }

    /// The literals as properties read them: from memory.
    fn shared_literals(&self) -> Vec<Literal> {
        let predicates = self.predicates.iter();
        let both = predicates.flat_map(|predicate| {
            [true, false].map(|truth| Literal {
                fact: match truth {
                    true => predicate.fact,
                    false => predicate.fact.refuted(),
                },
                name: predicate.name.clone(),
                truth,
                there: [predicate.fact.left, predicate.fact.right]
                    .into_iter()
                    .filter_map(|node| Some(self.flag(node)?.name.clone()))
                    .collect(),
            })
        });
        both.collect()
    }

    /// That a sum may be at most zero.
    fn may_hold(
        &self,
        sum: &Sum<Atom>,
        property: &Property,
        literals: &[Literal],
    ) -> Result<ast::Expr, Diagnostic> {
        let refuse = || {
            let message = "what a property says of integers here cannot be said by booleans";
            let help = "use numbers, constants and cells whose index is a number";
            Diagnostic::error(property.span, message).help(help)
        };
        let terms = terms(&sum.integers, self.homes).ok_or_else(refuse)?;
        let fact = |rest| halved(crate::space::at_most_zero(&terms, rest));
        if let Some(rest) = sum.rest.constant() {
            return Ok(self.may(fact(rest), literals));
        }
        let domain = |atom: &Atom| match atom {
            Atom::Place(place) => self.program.places[place.index()].domain,
            Atom::Cell { first, .. } => self.program.places[first.index()].domain,
            Atom::Local(process, local) => {
                self.program.process(*process).locals[local.index()].domain
            }
            Atom::At(_) | Atom::TwoAt(_) => crate::program::Domain::BOOL,
        };
        let values = sum.rest.interval(&domain).ok_or_else(refuse)?;
        if values.high - values.low >= MOST_VALUES {
            return Err(refuse());
        }
        let rest = self.observed(&sum.rest);
        let each = (values.low..=values.high).map(|value| {
            let here = binary(BinaryOp::Equal, rest.clone(), int(value, NOWHERE));
            binary(BinaryOp::And, here, self.may(fact(value), literals))
        });
        Ok(chain(BinaryOp::Or, each.collect()).expect("there is a value"))
    }

    fn may(&self, fact: Fact, literals: &[Literal]) -> ast::Expr {
        let known = Known {
            literals,
            facts: &[],
            octagon: self.frame.octagon,
            most: self.cube,
        };
        not(covered(&known.cover(fact.refuted()), literals))
    }

    /// An expression without integers, as properties write it.
    fn observed(&self, expression: &Expr<Atom>) -> ast::Expr {
        let of = |expr: &Expr<Atom>| self.observed(expr);
        let at = |(process, at): &(ProcessId, Loc)| {
            let process = ProcessRef {
                name: name(&self.processes[process.index()], NOWHERE),
                index: None,
                span: NOWHERE,
            };
            let label = name(&self.label(*at), NOWHERE);
            expr(ExprKind::At { process, label }, NOWHERE)
        };
        let none = || int(0, NOWHERE);
        match expression {
            Expr::Const(value) => int(*value, NOWHERE),
            Expr::Unary(op, operand) => unary(*op, of(operand)),
            Expr::Binary(op, left, right) => operation(*op, of(left), of(right)),
            Expr::Conditional(condition, then, otherwise) => {
                conditional(of(condition), of(then), of(otherwise))
            }
            Expr::Atom(Atom::Place(place)) => {
                let (variable, cell) = self.variable(*place);
                match cell {
                    None => var(&variable.name, NOWHERE),
                    Some(cell) => indexed(&variable.name, int(cell, NOWHERE)),
                }
            }
            Expr::Atom(Atom::Cell { first, index, .. }) => {
                indexed(&self.variable(*first).0.name, of(index))
            }
            Expr::Atom(Atom::Local(process, local)) => {
                let local = &self.locals[process.index()][local.index()];
                let process = ProcessRef {
                    name: name(&self.processes[process.index()], NOWHERE),
                    index: None,
                    span: NOWHERE,
                };
                let local = name(local, NOWHERE);
                expr(ExprKind::Local { process, local }, NOWHERE)
            }
            Expr::Atom(Atom::At(positions)) => {
                chain(BinaryOp::Or, positions.iter().map(at).collect()).unwrap_or_else(none)
            }
            Expr::Atom(Atom::TwoAt(positions)) => {
                let pairs = positions.iter().enumerate().flat_map(|(index, one)| {
                    let others = positions[index + 1..].iter();
                    let others = others.filter(|other| other.0 != one.0);
                    others.map(|other| binary(BinaryOp::And, at(one), at(other)))
                });
                chain(BinaryOp::Or, pairs.collect()).unwrap_or_else(none)
            }
        }
    }
}

/// That one of the cubes holds.
pub fn covered(cover: &Cover, literals: &[Literal]) -> ast::Expr {
    let cubes = match cover {
        Cover::Always => return int(1, NOWHERE),
        Cover::Cubes(cubes) => cubes,
    };
    let cube = |cube: &Vec<usize>| {
        let mut parts = Vec::new();
        let mut there: Vec<&String> = cube.iter().flat_map(|&at| &literals[at].there).collect();
        there.sort();
        there.dedup();
        parts.extend(there.into_iter().map(|flag| var(flag, NOWHERE)));
        for &at in cube {
            let Literal {
                name,
                truth: wanted,
                ..
            } = &literals[at];
            parts.push(truth(var(name, NOWHERE), *wanted));
        }
        chain(BinaryOp::And, parts)
    };
    let cubes = cubes.iter().filter_map(cube).collect();
    chain(BinaryOp::Or, cubes).unwrap_or_else(|| int(0, NOWHERE))
}

pub fn truth(expr: ast::Expr, wanted: bool) -> ast::Expr {
    match wanted {
        true => expr,
        false => not(expr),
    }
}

pub fn unary(op: UnaryOp, operand: ast::Expr) -> ast::Expr {
    let op = match op {
        UnaryOp::NegateInteger => UnaryOp::Negate,
        other => other,
    };
    crate::import::build::unary(op, operand, NOWHERE)
}

pub fn operation(op: BinaryOp, left: ast::Expr, right: ast::Expr) -> ast::Expr {
    let op = match op {
        BinaryOp::AddIntegers => BinaryOp::Add,
        BinaryOp::SubIntegers => BinaryOp::Sub,
        other => other,
    };
    binary(op, left, right)
}

pub fn conditional(condition: ast::Expr, then: ast::Expr, otherwise: ast::Expr) -> ast::Expr {
    let [condition, then, otherwise] = [condition, then, otherwise].map(Box::new);
    let kind = ExprKind::Conditional {
        condition,
        then,
        otherwise,
    };
    expr(kind, NOWHERE)
}

fn indexed(array: &str, index: ast::Expr) -> ast::Expr {
    let kind = ExprKind::Cell {
        name: name(array, NOWHERE),
        index: Box::new(index),
    };
    expr(kind, NOWHERE)
}
