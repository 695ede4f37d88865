//! Expressions in C.

use super::{Printer, refuse};
use crate::diagnostic::Diagnostic;
use crate::lang::ast::{Expr, ExprKind, ProcessRef};
use crate::lang::resolve::evaluate;
use crate::program::{BinaryOp, Domain, UnaryOp, Value};

/// The expressions right inside an expression.
pub fn parts(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Unary { operand, .. } => vec![operand],
        ExprKind::Binary { left, right, .. } => vec![left, right],
        ExprKind::Conditional {
            condition,
            then,
            otherwise,
        } => vec![condition, then, otherwise],
        ExprKind::Cell { index, .. } => vec![index],
        _ => Vec::new(),
    }
}

/// What an expression inside another one is called.
type Leaf<'l> = dyn FnMut(&Expr) -> Result<String, Diagnostic> + 'l;

/// An expression; `leaf` says names and observations. In straight-line code there is no `?:`,
/// which jumps: the two values are weighed by the condition.
pub fn text(expr: &Expr, straight: bool, leaf: &mut Leaf) -> Result<String, Diagnostic> {
    Ok(match &expr.kind {
        ExprKind::Int(value) if *value == i64::from(i32::MIN) => "(-2147483647 - 1)".to_string(),
        ExprKind::Int(value) if *value < 0 => format!("({value})"),
        ExprKind::Int(value) => value.to_string(),
        ExprKind::Bool(value) => u8::from(*value).to_string(),
        ExprKind::Unary { op, operand } => {
            let sign = match op {
                UnaryOp::Not => "!",
                UnaryOp::Negate => "-",
                UnaryOp::Complement => "~",
                UnaryOp::NegateInteger | UnaryOp::Convert(_) => {
                    unreachable!("the text has no such operators")
                }
            };
            format!("{sign}({})", text(operand, straight, leaf)?)
        }
        ExprKind::Binary { op, left, right } => {
            let (left, right) = (text(left, straight, leaf)?, text(right, straight, leaf)?);
            let sign = match op {
                BinaryOp::Or => "||",
                BinaryOp::And => "&&",
                BinaryOp::Equal => "==",
                BinaryOp::NotEqual => "!=",
                BinaryOp::Less => "<",
                BinaryOp::LessEqual => "<=",
                BinaryOp::Greater => ">",
                BinaryOp::GreaterEqual => ">=",
                BinaryOp::Add => "+",
                BinaryOp::Sub => "-",
                BinaryOp::Mul => "*",
                BinaryOp::Div => return Ok(format!("DIV({left}, {right})")),
                BinaryOp::Rem => return Ok(format!("REM({left}, {right})")),
                BinaryOp::BitAnd => "&",
                BinaryOp::BitOr => "|",
                BinaryOp::BitXor => "^",
                // A product, which is out of range where the shifted bits are.
                BinaryOp::Shl => return Ok(format!("SHL({left}, {right})")),
                BinaryOp::Shr => ">>",
                BinaryOp::AddIntegers | BinaryOp::SubIntegers | BinaryOp::Machine(..) => {
                    unreachable!("the text has no such operators")
                }
            };
            format!("({left} {sign} {right})")
        }
        ExprKind::Conditional {
            condition,
            then,
            otherwise,
        } => {
            if straight && (may_fault(then) || may_fault(otherwise)) {
                return Err(refuse(
                    expr.span,
                    "a choice between values that may be faults, in an atomic block",
                    "make the choice before the block",
                ));
            }
            let condition = text(condition, straight, leaf)?;
            let (then, otherwise) = (
                text(then, straight, leaf)?,
                text(otherwise, straight, leaf)?,
            );
            match straight {
                true => format!("(({condition} != 0) * {then} + ({condition} == 0) * {otherwise})"),
                false => format!("({condition} ? {then} : {otherwise})"),
            }
        }
        _ => leaf(expr)?,
    })
}

/// Its value may be none.
fn may_fault(expr: &Expr) -> bool {
    let faults = |op: &BinaryOp| {
        use BinaryOp::{Div, Mul, Rem, Shl, Shr};
        matches!(op, Div | Rem | Mul | Shl | Shr)
    };
    let own = matches!(&expr.kind, ExprKind::Binary { op, .. } if faults(op))
        || matches!(expr.kind, ExprKind::Cell { .. });
    own || parts(expr).into_iter().any(may_fault)
}

/// The value is certainly in a range, given those of names.
pub fn fits(expr: &Expr, within: Domain, of: &dyn Fn(&str) -> Option<Domain>) -> bool {
    let inside = |domain: Domain| within.contains(domain.low) && within.contains(domain.high);
    match &expr.kind {
        ExprKind::Int(value) => within.contains(*value),
        ExprKind::Bool(value) => within.contains(Value::from(*value)),
        ExprKind::Name(name) => of(name).is_some_and(inside),
        ExprKind::Unary {
            op: UnaryOp::Not, ..
        } => inside(Domain::BOOL),
        ExprKind::Binary { op, .. } => {
            use BinaryOp::{And, Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual, Or};
            let truth = [
                And,
                Or,
                Equal,
                NotEqual,
                Less,
                LessEqual,
                Greater,
                GreaterEqual,
            ];
            truth.contains(op) && inside(Domain::BOOL)
        }
        ExprKind::Conditional {
            then, otherwise, ..
        } => fits(then, within, of) && fits(otherwise, within, of),
        _ => false,
    }
}

impl Printer<'_> {
    /// A predicate of a property, over variables that are loaded first.
    pub fn predicate(&self, expr: &Expr, loads: &mut Vec<String>) -> Result<String, Diagnostic> {
        text(expr, true, &mut |leaf| match &leaf.kind {
            ExprKind::Name(name) if self.symbols.consts.contains_key(name) => {
                Ok(self.globals[name].clone())
            }
            ExprKind::Name(name) => Ok(self.loaded(&self.globals[name], loads)),
            ExprKind::Cell { name, index } => {
                let Some(index) = self.constant(index) else {
                    let reason = "a cell whose index is not constant, in a property";
                    return Err(refuse(leaf.span, reason, "name each cell by its index"));
                };
                let place = format!("{}[{index}]", self.globals[&name.text]);
                Ok(self.loaded(&place, loads))
            }
            ExprKind::At { process, label } => {
                let flags = self.instances(process, |at, number| {
                    let own = self.labels[at].iter().find(|(own, _)| *own == label.text);
                    own.map(|(_, variable)| self.loaded(&format!("{variable}[{number}]"), loads))
                });
                Ok(format!("({} > 0)", sum(&flags)))
            }
            ExprKind::Local { process, local } => {
                let found = self.instances(process, |at, number| {
                    let own = self.observed[at].iter().find(|(own, _)| *own == local.text);
                    let (_, variable) = own?;
                    Some(self.declared(format!("{variable}[{number}]"), loads))
                });
                Ok(sum(&found))
            }
            _ => unreachable!("all other kinds have been looked at"),
        })
    }

    /// Something for each instance that a reference means.
    fn instances(
        &self,
        process: &ProcessRef,
        mut of: impl FnMut(usize, usize) -> Option<String>,
    ) -> Vec<String> {
        let index = process
            .index
            .as_ref()
            .and_then(|index| self.constant(index));
        let mut all = Vec::new();
        for (at, template) in self.symbols.templates.iter().enumerate() {
            if template.name != process.name.text {
                continue;
            }
            for (number, instance) in template.instances.iter().enumerate() {
                if index.is_none() || instance.parameter == index {
                    all.extend(of(at, number));
                }
            }
        }
        all
    }

    /// The value of an expression over constants.
    pub fn constant(&self, expr: &Expr) -> Option<Value> {
        evaluate(expr, &|name| self.symbols.consts.get(name).copied())?.ok()
    }
}

fn sum(terms: &[String]) -> String {
    match terms.is_empty() {
        true => "0".to_string(),
        false => format!("({})", terms.join(" + ")),
    }
}
