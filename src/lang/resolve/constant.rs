//! Constant expressions, ranges and initial values.

use crate::diagnostic::Diagnostic;
use crate::lang::ast::{Expr, ExprKind, Init, Range, Type, Variable};
use crate::program::{BinaryOp, Domain, Fault, Initial, Value, value::binary, value::unary};
use crate::source::Span;

/// The value of `expr` if it depends on nothing but names that `lookup` knows; `None`
/// if it is not constant. `&&`, `||` and `?:` look only at what they need.
pub fn evaluate(
    expr: &Expr,
    lookup: &dyn Fn(&str) -> Option<Value>,
) -> Option<Result<Value, Fault>> {
    fold(expr, lookup).map(|folded| folded.map_err(|(fault, _)| fault))
}

/// What is wrong with something constant; empty if that has been reported already.
pub(super) type Problems = Vec<Diagnostic>;

pub(super) type Lookup<'l> = &'l dyn Fn(&str) -> Option<Value>;

/// As [`evaluate`], with the operation that a fault comes from.
pub(super) fn fold(expr: &Expr, lookup: Lookup) -> Option<Result<Value, (Fault, Span)>> {
    let at = |fault| (fault, expr.span);
    match &expr.kind {
        ExprKind::Int(value) => Some(Ok(*value)),
        ExprKind::Bool(value) => Some(Ok(Value::from(*value))),
        ExprKind::Name(name) => lookup(name).map(Ok),
        ExprKind::Unary { op, operand } => {
            let operand = fold(operand, lookup)?;
            Some(operand.and_then(|value| unary(*op, value).map_err(at)))
        }
        ExprKind::Binary { op, left, right } => {
            let left = match fold(left, lookup)? {
                Ok(left) => left,
                fault => return Some(fault),
            };
            match op {
                BinaryOp::And if left == 0 => return Some(Ok(0)),
                BinaryOp::Or if left != 0 => return Some(Ok(1)),
                _ => {}
            }
            let right = fold(right, lookup)?;
            Some(right.and_then(|right| binary(*op, left, || Ok(right)).map_err(at)))
        }
        ExprKind::Conditional {
            condition,
            then,
            otherwise,
        } => match fold(condition, lookup)? {
            Ok(0) => fold(otherwise, lookup),
            Ok(_) => fold(then, lookup),
            fault => Some(fault),
        },
        ExprKind::Cell { .. }
        | ExprKind::Pair { .. }
        | ExprKind::At { .. }
        | ExprKind::Local { .. }
        | ExprKind::Quantified { .. } => None,
    }
}

/// Whether `name` occurs in `expr`.
pub(super) fn mentions(expr: &Expr, name: &str) -> bool {
    match &expr.kind {
        ExprKind::Int(_) | ExprKind::Bool(_) => false,
        ExprKind::Name(other) => other == name,
        ExprKind::Unary { operand, .. } => mentions(operand, name),
        ExprKind::Binary { left, right, .. } => mentions(left, name) || mentions(right, name),
        ExprKind::Conditional {
            condition,
            then,
            otherwise,
        } => [condition, then, otherwise]
            .into_iter()
            .any(|part| mentions(part, name)),
        ExprKind::Cell { name: array, index } => array.text == name || mentions(index, name),
        ExprKind::Pair { row, column } => mentions(row, name) || mentions(column, name),
        ExprKind::Quantified { body, .. } => mentions(body, name),
        ExprKind::At { process, .. } | ExprKind::Local { process, .. } => {
            process.index.as_ref().is_some_and(|i| mentions(i, name))
        }
    }
}

/// The value of an expression whose names have been checked.
pub(super) fn constant(expr: &Expr, lookup: Lookup) -> Result<Value, Problems> {
    match fold(expr, lookup) {
        Some(Ok(value)) => Ok(value),
        Some(Err((fault, span))) => Err(vec![Diagnostic::error(span, fault.to_string())]),
        None => Err(Problems::new()),
    }
}

/// The values between the ends of a range, of which there must be one.
pub(super) fn range(range: &Range, lookup: Lookup) -> Result<Domain, Problems> {
    let low = constant(&range.low, lookup);
    let high = constant(&range.high, lookup);
    let (low, high) = match (low, high) {
        (Ok(low), Ok(high)) => (low, high),
        (low, high) => {
            let problems = low.err().into_iter().chain(high.err());
            return Err(problems.flatten().collect());
        }
    };
    let domain = Domain { low, high };
    if low > high {
        let message = format!("the range {domain} is empty");
        return Err(vec![Diagnostic::error(range.span, message)]);
    }
    Ok(domain)
}

pub(super) fn domain(ty: &Type, lookup: Lookup) -> Result<Domain, Problems> {
    match ty {
        Type::Bool => Ok(Domain::BOOL),
        Type::Int => Ok(Domain::INT),
        Type::Integer => Ok(Domain::INTEGERS),
        Type::Ranged(declared) => range(declared, lookup),
    }
}

/// The initial values of a variable, one per cell.
pub(super) fn initial(
    variable: &Variable,
    ty: &Type,
    domain: Domain,
    cells: usize,
    lookup: Lookup,
) -> Result<Vec<Initial>, Problems> {
    let name = &variable.name;
    match &variable.init {
        None if domain.contains(0) => Ok(vec![Initial::Value(0); cells]),
        None => {
            let message = format!(
                "'{}' starts as 0, which is outside its range {domain}",
                name.text
            );
            let help = format!("give it an initial value: `{} = {}`", name.text, domain.low);
            Err(vec![Diagnostic::error(name.span, message).help(help)])
        }
        Some(Init::Any(_)) if *ty != Type::Int => Ok(vec![Initial::Any; cells]),
        Some(Init::Any(span)) => {
            let message = format!("`*` needs a range, and '{}' has none", name.text);
            let help = "give it one, or declare it as `integer`, as which --integers unbounded \
                        reads every `int` without a range";
            Err(vec![Diagnostic::error(*span, message).help(help)])
        }
        Some(Init::Value(expr)) => {
            let value = initial_value(expr, &name.text, domain, lookup)?;
            Ok(vec![Initial::Value(value); cells])
        }
        Some(Init::Cells(_, span)) if variable.len.is_none() => {
            let message = format!("'{}' is not an array and takes one value", name.text);
            Err(vec![Diagnostic::error(*span, message)])
        }
        Some(Init::Cells(exprs, span)) if exprs.len() != cells => {
            let many = if exprs.len() > cells { "many" } else { "few" };
            let message = format!(
                "too {many} initial values: '{}' has {cells} cell{}, here are {}",
                name.text,
                if cells == 1 { "" } else { "s" },
                exprs.len()
            );
            Err(vec![Diagnostic::error(*span, message)])
        }
        Some(Init::Cells(exprs, _)) => {
            let mut values = Vec::new();
            let mut problems = Problems::new();
            for expr in exprs {
                match initial_value(expr, &name.text, domain, lookup) {
                    Ok(value) => values.push(Initial::Value(value)),
                    Err(more) => problems.extend(more),
                }
            }
            let complete = values.len() == exprs.len();
            if complete { Ok(values) } else { Err(problems) }
        }
    }
}

fn initial_value(
    expr: &Expr,
    name: &str,
    domain: Domain,
    lookup: Lookup,
) -> Result<Value, Problems> {
    let value = constant(expr, lookup)?;
    if domain.contains(value) {
        return Ok(value);
    }
    let message = format!("the initial value {value} is outside the range {domain} of '{name}'");
    Err(vec![Diagnostic::error(expr.span, message)])
}
