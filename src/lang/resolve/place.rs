//! What statements read from and write to: shared places and locals.

use super::code::{Code, Flow};
use super::constant::{fold, mentions};
use super::{Checker, GlobalKind, Local};
use crate::diagnostic::Diagnostic;
use crate::lang::ast::{Expr, ExprKind, Name, Place};

impl Checker<'_> {
    /// Checks that a statement refers to a shared variable, or to a cell of its array.
    pub(super) fn check_place(&mut self, place: &Place, code: Code, flow: Flow, written: bool) {
        let name = &place.name;
        if let Some(index) = &place.index {
            self.check_expr(index, code.scope);
        }
        let what = match self.global(&name.text) {
            Some(GlobalKind::Shared(variable)) => {
                let shape = self.shape(variable);
                if self.check_indexing(name, place.index.as_deref(), shape)
                    && let Some(index) = &place.index
                {
                    for (index, len) in shape.bounds(index) {
                        self.check_bounds(name, index, len, code, flow);
                    }
                }
                return;
            }
            _ if code.scope.locals.contains_key(name.text.as_str()) => "a local",
            _ if code.scope.is_parameter(&name.text) => "the parameter",
            Some(kind) => kind.describe(),
            None => {
                let known = |checker: &Self| checker.globals_that(GlobalKind::is_shared);
                return self.unknown("shared variable", &name.text, name.span, known);
            }
        };
        let message = format!("'{}' is {what}, not a shared variable", name.text);
        let mut diagnostic = Diagnostic::error(name.span, message);
        if what == "a local" && written {
            diagnostic = diagnostic.help(format!("assign to it: `{} = …;`", name.text));
        } else if what == "a local" {
            diagnostic = diagnostic.help(format!("use it in an expression: `… = {};`", name.text));
        }
        self.diagnostics.push(diagnostic);
    }

    /// The cells of a shared variable.
    pub(super) fn shape(&self, variable: usize) -> Shape {
        let shared = self.shared.get(variable);
        Shape {
            len: shared.and_then(|shared| shared.len),
            columns: shared.and_then(|shared| shared.columns),
        }
    }

    /// Checks that arrays have an index, those with columns two, and scalars none.
    pub(super) fn check_indexing(
        &mut self,
        name: &Name,
        index: Option<&Expr>,
        shape: Shape,
    ) -> bool {
        let pair = index.is_some_and(|index| matches!(index.kind, ExprKind::Pair { .. }));
        let diagnostic = match (index, shape.len) {
            (None, Some(_)) => {
                let message = format!("'{}' is an array and needs an index", name.text);
                let help = match shape.columns {
                    None => format!("name one of its cells: `{}[0]`", name.text),
                    Some(_) => format!("name one of its cells: `{}[0][0]`", name.text),
                };
                Diagnostic::error(name.span, message).help(help)
            }
            (Some(index), Some(_)) if pair != shape.columns.is_some() => {
                let has = if pair { "one index" } else { "two indices" };
                let message = format!("the array '{}' has {has}", name.text);
                Diagnostic::error(index.span, message)
            }
            (Some(index), None) => {
                let message = format!("'{}' is not an array", name.text);
                let diagnostic = Diagnostic::error(index.span, message);
                diagnostic.help(format!("write `{}` without an index", name.text))
            }
            _ => return true,
        };
        self.diagnostics.push(diagnostic);
        false
    }

    /// Checks an index in every instance for which it is constant.
    fn check_bounds(&mut self, name: &Name, index: &Expr, len: u32, code: Code, flow: Flow) {
        for bit in 0..code.template.instances.len() {
            if flow.live & (1 << bit) == 0 {
                continue;
            }
            let value = fold(index, &|name| self.constant_in(name, code, bit));
            let suffix = || code.suffix(bit, &[index]);
            let diagnostic = match value {
                Some(Err((fault, span))) => Diagnostic::error(span, fault.to_string() + &suffix()),
                Some(Ok(value)) if !in_bounds(value, len) => {
                    out_of_bounds(name, index, value, len, &suffix())
                }
                _ => continue,
            };
            self.diagnostics.push(diagnostic);
            return;
        }
    }

    /// Checks the use of an array of the process.
    pub(super) fn check_cell(&mut self, leaf: &Expr, len: u32) {
        let diagnostic = match &leaf.kind {
            ExprKind::Cell { name, index } => match (&index.kind, fold(index, &|_| None)) {
                (ExprKind::Pair { .. }, _) => {
                    let message = format!("the array '{}' has one index", name.text);
                    Diagnostic::error(index.span, message)
                }
                (_, Some(Ok(value))) if !in_bounds(value, len) => {
                    out_of_bounds(name, index, value, len, "")
                }
                _ => return,
            },
            ExprKind::Name(name) => {
                let message = format!("'{name}' is an array and needs an index");
                let help = format!("name one of its cells: `{name}[0]`");
                Diagnostic::error(leaf.span, message).help(help)
            }
            _ => return,
        };
        self.diagnostics.push(diagnostic);
    }

    /// Checks `a[index] = …;`.
    pub(super) fn check_cell_target(&mut self, target: &Name, index: &Expr, code: Code) {
        let name = &target.text;
        match code.scope.locals.get(name.as_str()) {
            Some(Local { len: Some(_), .. }) => {
                let kind = ExprKind::Cell {
                    name: target.clone(),
                    index: Box::new(index.clone()),
                };
                let span = target.span;
                self.check_expr(&Expr { kind, span }, code.scope);
            }
            Some(_) => {
                let message = format!("'{name}' is not an array");
                let help = format!("write `{name}` without an index");
                let diagnostic = Diagnostic::error(index.span, message).help(help);
                self.diagnostics.push(diagnostic);
            }
            None => {
                let message = format!("'{name}' is not an array of this process");
                let mut diagnostic = Diagnostic::error(target.span, message);
                if let Some(GlobalKind::Shared(_)) = self.global(name) {
                    let help = "cells of a shared array are written with `store`";
                    diagnostic = diagnostic.help(help);
                }
                self.diagnostics.push(diagnostic);
            }
        }
    }

    /// Checks that what a statement assigns to is a local.
    pub(super) fn check_target(&mut self, target: &Name, code: Code, keyword: &str) -> bool {
        let name = &target.text;
        if let Some(local) = code.scope.locals.get(name.as_str()) {
            if local.len.is_some() {
                let message = format!("'{name}' is an array; only its cells are assigned");
                let help = format!("use a local, and then `{name}[0] = …;`");
                let diagnostic = Diagnostic::error(target.span, message).help(help);
                self.diagnostics.push(diagnostic);
            }
            return local.len.is_none();
        }
        let diagnostic = match self.global(name) {
            _ if code.scope.is_parameter(name) => {
                let message = format!("'{name}' is the parameter and cannot be assigned");
                Diagnostic::error(target.span, message)
            }
            Some(GlobalKind::Shared(_)) => {
                let message = format!("'{name}' is a shared variable, not a local");
                let help = match keyword {
                    "" => format!("write to it with `store {name} = …;`"),
                    "havoc" => format!("`havoc` a local and `store {name}` its value"),
                    _ => format!("`{keyword}` puts its result into a local; declare one"),
                };
                Diagnostic::error(target.span, message).help(help)
            }
            Some(kind) => {
                let message = format!("'{name}' is {} and cannot be assigned", kind.describe());
                Diagnostic::error(target.span, message)
            }
            None => {
                let known = |_: &Self| code.scope.locals.keys().copied().collect();
                self.unknown("local", name, target.span, known);
                return false;
            }
        };
        self.diagnostics.push(diagnostic);
        false
    }
}

impl Code<'_, '_> {
    /// Names the instance in a message, if one of the expressions depends on it.
    pub(super) fn suffix(self, instance: usize, used: &[&Expr]) -> String {
        let instance = self.template.instances.get(instance);
        let parameter = instance.and_then(|instance| instance.parameter);
        match (self.scope.parameter(), parameter) {
            (Some(name), Some(value)) if used.iter().any(|expr| mentions(expr, name)) => {
                format!(" (in {}[{value}])", self.template.name)
            }
            _ => String::new(),
        }
    }
}

/// How many cells something shared has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    len: Option<u32>,
    columns: Option<u32>,
}

impl Shape {
    /// The parts of an index that fits, each with the number of values that it may have.
    pub(super) fn bounds(self, index: &Expr) -> Vec<(&Expr, u32)> {
        match (&index.kind, self.len, self.columns) {
            (ExprKind::Pair { row, column }, Some(len), Some(columns)) => {
                vec![(&**row, len / columns.max(1)), (&**column, columns)]
            }
            (_, Some(len), _) => vec![(index, len)],
            _ => Vec::new(),
        }
    }
}

pub(super) fn in_bounds(index: i64, len: u32) -> bool {
    u32::try_from(index).is_ok_and(|index| index < len)
}

pub(super) fn out_of_bounds(
    name: &Name,
    index: &Expr,
    value: i64,
    len: u32,
    suffix: &str,
) -> Diagnostic {
    let cells = if len == 1 { "cell" } else { "cells" };
    let message = format!(
        "the index {value} is outside '{}', which has {len} {cells}{suffix}",
        name.text
    );
    let last = len.saturating_sub(1);
    Diagnostic::error(index.span, message).help(format!("its cells are numbered 0 to {last}"))
}
