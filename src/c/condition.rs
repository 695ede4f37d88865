//! Conditions: truth values, jumps by them, and choices between values.

use super::lowering::{Entity, Lowering, Read, Storage};
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
                // What needs code of its own must run only if it is asked for.
                if self.is_immediate(&operation.node.rhs) {
                    let right = self.truth_value(&operation.node.rhs)?;
                    return Ok(binary(op, left, right));
                }
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
        if let Expression::StringLiteral(_) = expr.node {
            return Ok(Expr::Const(1));
        }
        let value = self.value(expr)?;
        if let Val::ToLocal(_) = value.value {
            return Ok(Expr::Const(1));
        }
        Ok(truth(self.scalar(value, piece)?))
    }

    /// Whether the value of an expression is one over locals, which needs no code.
    fn is_immediate(&self, expr: &Node<Expression>) -> bool {
        match &expr.node {
            Expression::Constant(_) | Expression::StringLiteral(_) => true,
            Expression::Identifier(name) => match self.lookup(&name.node.name) {
                Some(Entity::Constant(_)) => true,
                Some(Entity::Variable(variable)) => {
                    variable.ty.ty.is_scalar() && !matches!(variable.storage, Storage::Memory(_))
                }
                _ => false,
            },
            Expression::UnaryOperator(unary) => {
                let plain = matches!(
                    unary.node.operator.node,
                    UnaryOperator::Plus
                        | UnaryOperator::Minus
                        | UnaryOperator::Complement
                        | UnaryOperator::Negate
                );
                plain && self.is_immediate(&unary.node.operand)
            }
            Expression::BinaryOperator(operation) => {
                let plain = matches!(
                    operation.node.operator.node,
                    BinaryOperator::Multiply
                        | BinaryOperator::Divide
                        | BinaryOperator::Modulo
                        | BinaryOperator::ShiftLeft
                        | BinaryOperator::ShiftRight
                        | BinaryOperator::Less
                        | BinaryOperator::Greater
                        | BinaryOperator::LessOrEqual
                        | BinaryOperator::GreaterOrEqual
                        | BinaryOperator::Equals
                        | BinaryOperator::NotEquals
                        | BinaryOperator::BitwiseAnd
                        | BinaryOperator::BitwiseXor
                        | BinaryOperator::BitwiseOr
                        | BinaryOperator::LogicalAnd
                        | BinaryOperator::LogicalOr
                );
                // Pointers are checked when they are moved, numbers are not.
                let sum = matches!(
                    operation.node.operator.node,
                    BinaryOperator::Plus | BinaryOperator::Minus
                );
                let numbers = |expr| self.is_number(expr);
                let both = [&operation.node.lhs, &operation.node.rhs];
                (plain || sum && both.iter().all(|expr| numbers(expr)))
                    && both.iter().all(|expr| self.is_immediate(expr))
            }
            _ => false,
        }
    }

    /// Whether an immediate expression is no pointer.
    fn is_number(&self, expr: &Node<Expression>) -> bool {
        match &expr.node {
            Expression::Identifier(name) => match self.lookup(&name.node.name) {
                Some(Entity::Variable(variable)) => matches!(variable.ty.ty, Type::Int(_)),
                _ => true,
            },
            Expression::BinaryOperator(operation) => {
                self.is_number(&operation.node.lhs) && self.is_number(&operation.node.rhs)
            }
            _ => true,
        }
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
