//! `forall` and `exists`: a property for each of a few numbers.

use super::constant::{evaluate, range};
use super::{Checker, GlobalKind, MOST_INSTANCES, Symbols};
use crate::diagnostic::Diagnostic;
use crate::lang::ast::{Among, Expr, ExprKind, Range};
use crate::lang::substitute::substitute;
use crate::program::{BinaryOp, Value};

/// All quantifiers of a property together stand for at most this many copies.
const MOST_COPIES: usize = 4096;

/// The numbers that a quantified name runs over.
type Values<'v> = &'v mut dyn FnMut(&Among) -> Option<Vec<Value>>;

/// The expression with a copy for every number in place of each quantifier; `None` if a range is
/// wrong, or if the copies are too many.
fn expanded(expr: &Expr, values: Values, copies: &mut usize) -> Option<Expr> {
    let mut inside = |expr: &Expr| expanded(expr, values, copies).map(Box::new);
    let kind = match &expr.kind {
        ExprKind::Unary { op, operand } => ExprKind::Unary {
            op: *op,
            operand: inside(operand)?,
        },
        ExprKind::Binary { op, left, right } => ExprKind::Binary {
            op: *op,
            left: inside(left)?,
            right: inside(right)?,
        },
        ExprKind::Conditional {
            condition,
            then,
            otherwise,
        } => ExprKind::Conditional {
            condition: inside(condition)?,
            then: inside(then)?,
            otherwise: inside(otherwise)?,
        },
        ExprKind::Quantified {
            all,
            variable,
            among,
            body,
        } => {
            let mut whole: Option<Expr> = None;
            for value in values(among)? {
                *copies += 1;
                if *copies > MOST_COPIES {
                    return None;
                }
                let number = |part: &ExprKind| match part {
                    ExprKind::Name(name) if *name == variable.text => Some(Expr {
                        kind: ExprKind::Int(value),
                        span: variable.span,
                    }),
                    _ => None,
                };
                let copy = expanded(&substitute(body, &number), values, copies)?;
                let op = if *all { BinaryOp::And } else { BinaryOp::Or };
                whole = Some(match whole {
                    None => copy,
                    Some(left) => Expr {
                        kind: ExprKind::Binary {
                            op,
                            left: Box::new(left),
                            right: Box::new(copy),
                        },
                        span: expr.span,
                    },
                });
            }
            return whole;
        }
        kind => kind.clone(),
    };
    let span = expr.span;
    Some(Expr { kind, span })
}

impl Checker<'_> {
    /// A predicate without quantifiers, or nothing and what is wrong with them reported.
    pub(super) fn unquantified(&mut self, expr: &Expr) -> Option<Expr> {
        let mut copies = 0;
        let whole = expanded(expr, &mut |among| self.values(among), &mut copies);
        if copies > MOST_COPIES {
            let message = format!("the quantifiers stand for more than {MOST_COPIES} copies");
            self.diagnostics.push(Diagnostic::error(expr.span, message));
        }
        whole
    }

    fn values(&mut self, among: &Among) -> Option<Vec<Value>> {
        match among {
            Among::Range(values) => self.range_values(values),
            Among::Processes(name) => {
                let message = match self.global(&name.text) {
                    Some(GlobalKind::Process(index)) => {
                        let template = self.templates.get(index)?;
                        let values = template.instances.iter().filter_map(|i| i.parameter);
                        let values: Vec<Value> = values.collect();
                        if !values.is_empty() {
                            return Some(values);
                        }
                        format!("the process '{}' has no parameter", name.text)
                    }
                    Some(kind) => format!("'{}' is {}, not a process", name.text, kind.describe()),
                    None => {
                        let known = |checker: &Self| checker.globals_that(GlobalKind::is_process);
                        self.unknown("process", &name.text, name.span, known);
                        return None;
                    }
                };
                self.diagnostics.push(Diagnostic::error(name.span, message));
                None
            }
        }
    }

    fn range_values(&mut self, values: &Range) -> Option<Vec<Value>> {
        let low = self.check_constant(&values.low, None);
        if !(self.check_constant(&values.high, None) && low) {
            return None;
        }
        let domain = range(values, &|name| self.const_value(name));
        let domain = self.accept(domain)?;
        if domain.size() <= u64::from(MOST_INSTANCES) {
            return Some((domain.low..=domain.high).collect());
        }
        let message = format!("a quantifier has at most {MOST_INSTANCES} numbers");
        self.diagnostics
            .push(Diagnostic::error(values.span, message));
        None
    }
}

impl Symbols {
    /// A predicate that has been checked, without quantifiers.
    pub fn unquantified(&self, expr: &Expr) -> Expr {
        let constant = |expr: &Expr| {
            let value = evaluate(expr, &|name| self.consts.get(name).copied());
            value.and_then(Result::ok)
        };
        let mut values = |among: &Among| match among {
            Among::Range(range) => {
                let (low, high) = (constant(&range.low)?, constant(&range.high)?);
                Some((low..=high).collect())
            }
            Among::Processes(name) => {
                let template = self.templates.iter().find(|t| t.name == name.text)?;
                let values = template.instances.iter().filter_map(|i| i.parameter);
                Some(values.collect())
            }
        };
        expanded(expr, &mut values, &mut 0).expect("quantifiers were checked")
    }
}
