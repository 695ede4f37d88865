//! Conditions: truth values, jumps by them, and choices between values.

use super::lowering::{Lowering, Read};
use super::operand::{Operand, Val, binary, not, truth};
use super::types::Type;
use crate::program::{BinaryOp, Domain, Expr, Loc, LocalId, Value};
use lang_c::ast::*;
use lang_c::span::{Node, Span as Piece};

impl<'a> Lowering<'a> {
    /// Whether an expression is true, as 0 or 1.
    pub fn truth_value(&mut self, expr: &'a Node<Expression>) -> Read<Expr<LocalId>> {
        let piece = expr.span;
        let span = self.span(piece);
        if let Expression::BinaryOperator(operation) = &expr.node {
            let op = match operation.node.operator.node {
                BinaryOperator::LogicalAnd => Some(BinaryOp::And),
                BinaryOperator::LogicalOr => Some(BinaryOp::Or),
                _ => None,
            };
            if let Some(op) = op {
                let left = self.truth_value(&operation.node.lhs)?;
                if left.constant() == Some(Value::from(op == BinaryOp::Or)) {
                    return Ok(left);
                }
                // Where the right side needs code of its own, it must run only if it is asked.
                let before = self.code.edges.len();
                let kept = self.code.clone();
                let right = self.truth_value(&operation.node.rhs)?;
                if self.code.edges.len() == before {
                    return Ok(binary(op, left, right));
                }
                self.code = kept;
                let (more, end) = (self.code.location(), self.code.location());
                let result = self.code.temporary(Domain::BOOL);
                self.code.assign(result, left, span);
                let (yes, no) = match op {
                    BinaryOp::And => (more, end),
                    _ => (end, more),
                };
                self.code.branch(Expr::Atom(result), yes, no, span);
                self.code.at = more;
                let right = self.truth_value(&operation.node.rhs)?;
                self.code.assign(result, right, span);
                self.code.pass_to(end, span);
                return Ok(Expr::Atom(result));
            }
        }
        if let Expression::UnaryOperator(unary) = &expr.node
            && unary.node.operator.node == UnaryOperator::Negate
        {
            return Ok(not(self.truth_value(&unary.node.operand)?));
        }
        let value = self.value(expr)?;
        if let Val::ToLocal(_) = value.value {
            return Ok(Expr::Const(1));
        }
        Ok(truth(self.scalar(value, piece)?))
    }

    /// Evaluates a condition and goes on at one of two locations.
    pub fn condition(&mut self, expr: &'a Node<Expression>, yes: Loc, no: Loc) -> Read<()> {
        let span = self.span(expr.span);
        if let Expression::BinaryOperator(operation) = &expr.node {
            let more = match operation.node.operator.node {
                BinaryOperator::LogicalAnd => Some(true),
                BinaryOperator::LogicalOr => Some(false),
                _ => None,
            };
            if let Some(and) = more {
                let more = self.code.location();
                match and {
                    true => self.condition(&operation.node.lhs, more, no)?,
                    false => self.condition(&operation.node.lhs, yes, more)?,
                }
                self.code.at = more;
                return self.condition(&operation.node.rhs, yes, no);
            }
        }
        if let Expression::UnaryOperator(unary) = &expr.node
            && unary.node.operator.node == UnaryOperator::Negate
        {
            return self.condition(&unary.node.operand, no, yes);
        }
        let value = self.truth_value(expr)?;
        self.code.branch(value, yes, no, span);
        Ok(())
    }

    pub fn conditional(
        &mut self,
        choice: &'a ConditionalExpression,
        piece: Piece,
    ) -> Read<Operand> {
        let span = self.span(piece);
        let (then, otherwise) = (&choice.then_expression, &choice.else_expression);
        let one = self.unevaluated(|this| this.value(then))?.ty;
        let other = self.unevaluated(|this| this.value(otherwise))?.ty;
        let ty = match (&one, &other) {
            (Type::Int(a), Type::Int(b)) => Type::Int(a.common(*b)),
            (Type::Pointer(to), Type::Pointer(_)) if to.ty == Type::Void => other.clone(),
            (Type::Pointer(_), _) => one.clone(),
            (_, Type::Pointer(_)) => other.clone(),
            _ => one.clone(),
        };
        let (yes, no, end) = (
            self.code.location(),
            self.code.location(),
            self.code.location(),
        );
        self.condition(&choice.condition, yes, no)?;
        let result = match ty.number() {
            Some(number) if ty.is_scalar() => Some(self.code.temporary(number.domain())),
            _ if ty == Type::Void => None,
            _ => return self.error(piece, "the choice of a structure is not read"),
        };
        for (at, branch) in [(yes, then), (no, otherwise)] {
            self.code.at = at;
            let value = self.value(branch)?;
            if let Some(result) = result {
                let value = self.converted(value, &ty, branch.span)?;
                let value = self.scalar(value, branch.span)?;
                self.code.assign(result, value, span);
            }
            self.code.pass_to(end, span);
        }
        Ok(match result {
            Some(result) => Operand::scalar(ty, Expr::Atom(result)),
            None => Operand::nothing(),
        })
    }
}
