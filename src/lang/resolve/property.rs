//! Properties: what they say about processes and shared memory.

use super::constant::{constant, fold};
use super::place::{in_bounds, out_of_bounds};
use super::{Checker, GlobalKind};
use crate::diagnostic::Diagnostic;
use crate::lang::ast::{Ast, Expr, ExprKind, Item, Name, Predicate, ProcessRef};
use crate::program::Value;
use crate::source::Span;
use std::collections::HashMap;

/// Where a label stands first, and how many processes have it; a process item whose
/// instances are unknown counts for two.
struct Labelled {
    processes: usize,
    placed: Span,
}

impl<'a> Checker<'a> {
    pub(super) fn check_properties(&mut self, ast: &'a Ast) {
        let labels = self.labels();
        for item in &ast.items {
            let Item::Property(property) = item else {
                continue;
            };
            match &property.predicate {
                Predicate::TwoAt(label) => self.check_mutex(label, &labels),
                Predicate::Expr(expr) => {
                    if let Some(expr) = self.unquantified(expr) {
                        self.check_predicate(&expr);
                    }
                }
            }
        }
    }

    /// The labels of all processes together.
    fn labels(&self) -> HashMap<&'a str, Labelled> {
        let mut labels = HashMap::new();
        for (scope, template) in self.scopes.iter().zip(&self.templates) {
            for (label, span) in &scope.labels {
                let labelled = labels.entry(*label).or_insert(Labelled {
                    processes: 0,
                    placed: *span,
                });
                labelled.processes += match scope.broken {
                    true => 2,
                    false => template.instances.len(),
                };
            }
        }
        labels
    }

    fn check_mutex(&mut self, label: &Name, labels: &HashMap<&'a str, Labelled>) {
        let text = label.text.as_str();
        let Some(labelled) = labels.get(text) else {
            let known = |_: &Self| labels.keys().copied().collect();
            return self.unknown("label", text, label.span, known);
        };
        if labelled.processes < 2 {
            let message = format!("only one process has the label '{text}'");
            let diagnostic = Diagnostic::error(label.span, message)
                .related(labelled.placed, "placed here")
                .help("`mutex` is about two processes or more");
            self.diagnostics.push(diagnostic);
        }
    }

    fn check_predicate(&mut self, expr: &Expr) {
        let before = self.diagnostics.len();
        self.each_name(expr, &mut |checker, leaf| checker.check_property_leaf(leaf));
        if self.diagnostics.len() == before {
            self.check_faults(expr);
        }
    }

    fn check_property_leaf(&mut self, leaf: &Expr) {
        match &leaf.kind {
            ExprKind::Name(text) => {
                let name = Name {
                    text: text.clone(),
                    span: leaf.span,
                };
                self.check_value(&name, None);
            }
            ExprKind::Cell { name, index } => self.check_value(name, Some(index)),
            ExprKind::At { process, label } => self.check_at(process, label),
            ExprKind::Local { process, local } => self.check_local(process, local),
            _ => {}
        }
    }

    /// Checks `x` or `x[e]`.
    fn check_value(&mut self, name: &Name, index: Option<&Expr>) {
        let text = name.text.as_str();
        let message = match self.global(text) {
            Some(GlobalKind::Shared(variable)) => {
                let shape = self.shape(variable);
                if self.check_indexing(name, index, shape)
                    && let Some(index) = index
                {
                    for (index, len) in shape.bounds(index) {
                        if let Some(Ok(value)) = fold(index, &|name| self.const_value(name))
                            && !in_bounds(value, len)
                        {
                            let diagnostic = out_of_bounds(name, index, value, len, "");
                            self.diagnostics.push(diagnostic);
                        }
                    }
                }
                return;
            }
            Some(GlobalKind::Const(_)) if index.is_none() => return,
            Some(GlobalKind::Const(_)) => format!("'{text}' is a constant, not an array"),
            Some(GlobalKind::Process(_)) => format!("'{text}' is a process, not a value"),
            None => return self.unknown_in_property(name),
        };
        let mut diagnostic = Diagnostic::error(name.span, message);
        if let Some(GlobalKind::Process(_)) = self.global(text) {
            diagnostic = diagnostic.help(format!("write `{text} at …` or `{text}.…`"));
        }
        self.diagnostics.push(diagnostic);
    }

    /// Reports an unknown name; a process may have a local or label of that name.
    fn unknown_in_property(&mut self, name: &Name) {
        let text = name.text.as_str();
        let message = format!("unknown variable '{text}'");
        let searched = if self.suggesting() {
            self.scopes.len()
        } else {
            0
        };
        for (scope, template) in self.scopes.iter().zip(&self.templates).take(searched) {
            let process = match template.instances.first().map(|first| first.parameter) {
                Some(Some(value)) => format!("{}[{value}]", template.name),
                _ => template.name.clone(),
            };
            let help = if scope.locals.contains_key(text) {
                format!(
                    "it is a local of '{}': write `{process}.{text}`",
                    template.name
                )
            } else if scope.labels.contains_key(text) {
                format!(
                    "it is a label of '{}': write `{process} at {text}`",
                    template.name
                )
            } else {
                continue;
            };
            let diagnostic = Diagnostic::error(name.span, message).help(help);
            self.suggestions += 1;
            return self.diagnostics.push(diagnostic);
        }
        let known = |checker: &Self| checker.globals_that(GlobalKind::is_value);
        self.unknown("variable", text, name.span, known);
    }

    fn check_at(&mut self, process: &ProcessRef, label: &Name) {
        let Some(template) = self.check_process(process) else {
            return;
        };
        let Some(scope) = self.scopes.get(template) else {
            return;
        };
        if !scope.labels.contains_key(label.text.as_str()) {
            let message = format!(
                "process '{}' has no label '{}'",
                process.name.text, label.text
            );
            let diagnostic = Diagnostic::error(label.span, message);
            self.suggest(diagnostic, &label.text, |checker| {
                let scope = checker.scopes.get(template);
                let known = scope.into_iter().flat_map(|scope| scope.labels.keys());
                known.copied().collect()
            });
        }
    }

    fn check_local(&mut self, process: &ProcessRef, local: &Name) {
        let Some(index) = self.check_process(process) else {
            return;
        };
        let (Some(scope), Some(template)) = (self.scopes.get(index), self.templates.get(index))
        else {
            return;
        };
        let several = template.instances.len() > 1 && process.index.is_none();
        let first = template.instances.first().and_then(|first| first.parameter);
        let found = scope.locals.get(local.text.as_str());
        if found.is_some_and(|local| local.len.is_some()) {
            let message = format!(
                "'{}' is an array, and properties cannot see its cells",
                local.text
            );
            let help = "assign the cell to a local, and name that";
            let diagnostic = Diagnostic::error(local.span, message).help(help);
            return self.diagnostics.push(diagnostic);
        }
        if found.is_none() {
            let message = format!(
                "process '{}' has no local '{}'",
                process.name.text, local.text
            );
            let diagnostic = Diagnostic::error(local.span, message);
            self.suggest(diagnostic, &local.text, |checker| {
                let scope = checker.scopes.get(index);
                let known = scope.into_iter().flat_map(|scope| scope.locals.keys());
                known.copied().collect()
            });
        }
        if several {
            let name = &process.name.text;
            let message = format!("'{name}' stands for several processes; say whose local");
            let first = first.unwrap_or(0);
            let help = format!("write `{name}[{first}].{}`", local.text);
            let diagnostic = Diagnostic::error(process.span, message).help(help);
            self.diagnostics.push(diagnostic);
        }
    }

    /// Checks that a process is there and that its index selects an instance; gives the
    /// index of its template.
    fn check_process(&mut self, process: &ProcessRef) -> Option<usize> {
        let name = &process.name;
        let index = match self.global(&name.text) {
            Some(GlobalKind::Process(index)) => index,
            Some(kind) => {
                let message = format!("'{}' is {}, not a process", name.text, kind.describe());
                self.diagnostics.push(Diagnostic::error(name.span, message));
                return None;
            }
            None => {
                let known = |checker: &Self| checker.globals_that(GlobalKind::is_process);
                self.unknown("process", &name.text, name.span, known);
                return None;
            }
        };
        if let Some(expr) = &process.index {
            self.check_instance(expr, name, index);
        }
        Some(index)
    }

    fn check_instance(&mut self, expr: &Expr, name: &Name, template: usize) {
        if !self.check_constant(expr, None) {
            return;
        }
        let value = constant(expr, &|name| self.const_value(name));
        let Some(value) = self.accept(value) else {
            return;
        };
        let broken = self.scopes.get(template).is_none_or(|scope| scope.broken);
        let instances = self.templates.get(template).map(|t| &t.instances[..]);
        let instances = instances.unwrap_or_default();
        let values: Vec<Value> = instances.iter().filter_map(|i| i.parameter).collect();
        if broken || values.contains(&value) {
            return;
        }
        let diagnostic = match (values.first(), values.last()) {
            (Some(first), Some(last)) => {
                let message = format!("there is no process {}[{value}]", name.text);
                let help = format!("'{}' has the instances {first} to {last}", name.text);
                Diagnostic::error(expr.span, message).help(help)
            }
            _ => {
                let message = format!("the process '{}' has no parameter", name.text);
                let help = format!("write `{}` without an index", name.text);
                Diagnostic::error(expr.span, message).help(help)
            }
        };
        self.diagnostics.push(diagnostic);
    }

    /// Reports constant parts that have no value.
    fn check_faults(&mut self, expr: &Expr) {
        match fold(expr, &|name| self.const_value(name)) {
            Some(Ok(_)) => return,
            Some(Err((fault, span))) => {
                let diagnostic = Diagnostic::error(span, fault.to_string());
                return self.diagnostics.push(diagnostic);
            }
            None => {}
        }
        match &expr.kind {
            ExprKind::Unary { operand, .. } => self.check_faults(operand),
            ExprKind::Binary { left, right, .. } => {
                self.check_faults(left);
                self.check_faults(right);
            }
            ExprKind::Conditional {
                condition,
                then,
                otherwise,
            } => {
                self.check_faults(condition);
                self.check_faults(then);
                self.check_faults(otherwise);
            }
            ExprKind::Cell { index, .. } => self.check_faults(index),
            ExprKind::Pair { row, column } => {
                self.check_faults(row);
                self.check_faults(column);
            }
            _ => {}
        }
    }
}
