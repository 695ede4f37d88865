//! Locals that have no name in the text: what loops count with and waits read into.

use super::constant::constant;
use super::{Checker, GlobalKind, HIDDEN, LocalVariable, Scope, Template};
use crate::diagnostic::Diagnostic;
use crate::lang::ast::{Expr, ExprKind, Name, Stmt, StmtKind};
use crate::program::{Domain, Initial};
use crate::source::Span;

/// What a hidden local is for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Purpose<'a> {
    /// How often a loop has still to run.
    Rounds(&'a Expr),
    /// What a wait has read.
    Read(&'a Expr),
    /// What `cas` compares with, since the old value may overwrite it.
    Expected,
    /// Which cell of an array is assigned.
    Index,
    /// What a cell of this array is assigned.
    Value(&'a Name),
}

/// The hidden locals that a statement itself needs. Lowering takes them in this order.
pub(super) fn needed<'a>(statement: &'a Stmt) -> Vec<Purpose<'a>> {
    match &statement.kind {
        StmtKind::Repeat { count, .. } => vec![Purpose::Rounds(count)],
        StmtKind::Await(condition) => vec![Purpose::Read(condition)],
        StmtKind::Cas { old: Some(_), .. } => vec![Purpose::Expected],
        StmtKind::AssignCell { target, .. } => vec![Purpose::Index, Purpose::Value(target)],
        _ => Vec::new(),
    }
}

impl Checker<'_> {
    /// Gives every instance its hidden locals.
    pub(super) fn declare_hidden(&mut self, all: &[Purpose], scope: &Scope, to: &mut Template) {
        for (number, purpose) in all.iter().enumerate() {
            for index in 0..to.instances.len() {
                let (domain, span) = self.hidden_domain(purpose, index, scope, to);
                to.instances[index].locals.push(LocalVariable {
                    name: format!("{HIDDEN}{number}"),
                    span,
                    domain,
                    initial: Initial::Value(match domain.is_unbounded() {
                        true => 0,
                        false => domain.low,
                    }),
                });
            }
        }
    }

    fn hidden_domain(
        &mut self,
        purpose: &Purpose,
        instance: usize,
        scope: &Scope,
        template: &Template,
    ) -> (Domain, Span) {
        let none = Span::new(0, 0);
        match purpose {
            Purpose::Expected | Purpose::Index => (Domain::INT, none),
            Purpose::Value(array) => {
                let first = template.arrays.get(&array.text).map(|(first, _)| *first);
                let locals = &template.instances[instance].locals;
                let cell = first.and_then(|first| locals.get(first));
                (cell.map_or(Domain::INT, |cell| cell.domain), array.span)
            }
            Purpose::Read(condition) => {
                let mut domain = Domain::INT;
                self.each_name(condition, &mut |checker, leaf| {
                    if let Some(variable) = checker.shared_leaf(leaf)
                        && let Some(shared) = checker.shared.get(variable)
                    {
                        domain = shared.domain;
                    }
                });
                (domain, condition.span)
            }
            Purpose::Rounds(count) => {
                if !self.check_constant(count, Some(scope)) {
                    return (Domain::BOOL, count.span);
                }
                let parameter = template.instances[instance].parameter;
                let value = constant(count, &|name| match parameter {
                    Some(value) if scope.is_parameter(name) => Some(value),
                    _ => self.const_value(name),
                });
                let rounds = self.accept(value).unwrap_or(0);
                if rounds < 0 {
                    let message = format!("nothing can be repeated {rounds} times");
                    let diagnostic = Diagnostic::error(count.span, message);
                    self.diagnostics.push(diagnostic);
                }
                let high = rounds.max(0);
                (Domain { low: 0, high }, count.span)
            }
        }
    }

    /// The shared variable that a part of an expression reads.
    pub(super) fn shared_leaf(&self, leaf: &Expr) -> Option<usize> {
        let name = match &leaf.kind {
            ExprKind::Name(name) => name,
            ExprKind::Cell { name, .. } => &name.text,
            _ => return None,
        };
        match self.global(name)? {
            GlobalKind::Shared(variable) => Some(variable),
            _ => None,
        }
    }
}
