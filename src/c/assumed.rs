//! Which values a nondeterministic choice can have: those that the assumption behind it allows.

use super::call::called;
use super::lowering::{Lowering, Read};
use crate::program::Value;
use lang_c::ast::*;
use lang_c::span::Node;

impl<'a> Lowering<'a> {
    /// The range that `next` assumes for the variable that `item` gives any value to.
    pub fn assumed(
        &mut self,
        item: &'a Node<BlockItem>,
        next: &'a Node<BlockItem>,
    ) -> Read<Option<(Value, Value)>> {
        let (Some(name), Some(condition)) = (chosen(item), assumption(next)) else {
            return Ok(None);
        };
        let mut range = (None, None);
        self.bounds(name, condition, &mut range)?;
        Ok(range.0.zip(range.1))
    }

    /// Narrows a range by comparisons of a variable with constants.
    fn bounds(
        &mut self,
        name: &str,
        condition: &'a Node<Expression>,
        range: &mut (Option<Value>, Option<Value>),
    ) -> Read<()> {
        let Expression::BinaryOperator(operation) = &condition.node else {
            return Ok(());
        };
        let (left, right) = (&operation.node.lhs, &operation.node.rhs);
        let op = &operation.node.operator.node;
        if *op == BinaryOperator::LogicalAnd {
            self.bounds(name, left, range)?;
            return self.bounds(name, right, range);
        }
        let is_name = |expr: &Node<Expression>| matches!(&expr.node, Expression::Identifier(own) if own.node.name == name);
        let (value, flipped) = match (is_name(left), is_name(right)) {
            (true, false) => (self.constant_or_none(right)?, false),
            (false, true) => (self.constant_or_none(left)?, true),
            _ => return Ok(()),
        };
        let Some(value) = value else { return Ok(()) };
        let (mut low, mut high) = (None, None);
        match (op, flipped) {
            (BinaryOperator::Less, false) | (BinaryOperator::Greater, true) => {
                high = value.checked_sub(1);
            }
            (BinaryOperator::LessOrEqual, false) | (BinaryOperator::GreaterOrEqual, true) => {
                high = Some(value);
            }
            (BinaryOperator::Greater, false) | (BinaryOperator::Less, true) => {
                low = value.checked_add(1);
            }
            (BinaryOperator::GreaterOrEqual, false) | (BinaryOperator::LessOrEqual, true) => {
                low = Some(value);
            }
            (BinaryOperator::Equals, _) => (low, high) = (Some(value), Some(value)),
            _ => {}
        }
        range.0 = range.0.max(low);
        range.1 = match (range.1, high) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Ok(())
    }
}

/// The variable that an item gives any value to.
fn chosen(item: &Node<BlockItem>) -> Option<&str> {
    let is_choice = |expr: &Node<Expression>| match &expr.node {
        Expression::Call(call) => {
            called(&call.node.callee).is_some_and(|name| name.starts_with("__VERIFIER_nondet_"))
        }
        _ => false,
    };
    match &item.node {
        BlockItem::Declaration(declaration) => {
            let [declared] = &declaration.node.declarators[..] else {
                return None;
            };
            let initializer = declared.node.initializer.as_ref()?;
            let Initializer::Expression(value) = &initializer.node else {
                return None;
            };
            match &declared.node.declarator.node.kind.node {
                DeclaratorKind::Identifier(name) if is_choice(value) => Some(&name.node.name),
                _ => None,
            }
        }
        BlockItem::Statement(statement) => {
            let Statement::Expression(Some(expr)) = &statement.node else {
                return None;
            };
            let Expression::BinaryOperator(operation) = &expr.node else {
                return None;
            };
            let assigns = operation.node.operator.node == BinaryOperator::Assign;
            match &operation.node.lhs.node {
                Expression::Identifier(name) if assigns && is_choice(&operation.node.rhs) => {
                    Some(&name.node.name)
                }
                _ => None,
            }
        }
        BlockItem::StaticAssert(_) => None,
    }
}

/// The condition that an item assumes.
fn assumption(item: &Node<BlockItem>) -> Option<&Node<Expression>> {
    let BlockItem::Statement(statement) = &item.node else {
        return None;
    };
    let Statement::Expression(Some(expr)) = &statement.node else {
        return None;
    };
    let Expression::Call(call) = &expr.node else {
        return None;
    };
    match (called(&call.node.callee)?, &call.node.arguments[..]) {
        ("__VERIFIER_assume" | "assume_abort_if_not", [condition]) => Some(condition),
        _ => None,
    }
}
