//! Declarations at the top level: constants and shared variables.

use super::constant::{Problems, constant, domain, initial};
use super::{Checker, Global, GlobalKind, LONGEST_ARRAY, MOST_PLACES, Scope, SharedVariable};
use crate::diagnostic::Diagnostic;
use crate::lang::ast::{Ast, Expr, ExprKind, Init, Item, Type, Variable};
use crate::program::{Domain, Value};

impl<'a> Checker<'a> {
    /// The value of a constant; nothing if it is unknown or wrong.
    pub(super) fn const_value(&self, name: &str) -> Option<Value> {
        match self.global(name)? {
            GlobalKind::Const(value) => value,
            _ => None,
        }
    }

    /// Evaluates the constants; each may use those before it.
    pub(super) fn declare_consts(&mut self, ast: &'a Ast) {
        for item in &ast.items {
            let Item::Const { name, value: expr } = item else {
                continue;
            };
            let mut fine = true;
            self.each_name(expr, &mut |checker, leaf| {
                fine &= checker.check_constant_leaf(leaf, None)
                    && checker.check_order(leaf, name.span.start);
            });
            if !fine {
                continue;
            }
            let value = constant(expr, &|name| self.const_value(name));
            let value = self.accept(value);
            if let Some(global) = self.globals.get_mut(name.text.as_str())
                && global.span == name.span
            {
                global.kind = GlobalKind::Const(value);
            }
        }
    }

    /// Reports the use of a constant that is not defined before `offset`.
    fn check_order(&mut self, leaf: &Expr, offset: u32) -> bool {
        let ExprKind::Name(name) = &leaf.kind else {
            return true;
        };
        match self.globals.get(name.as_str()) {
            Some(Global { span, .. }) if span.start == offset => {
                let message = format!("the constant '{name}' is defined by itself");
                self.diagnostics.push(Diagnostic::error(leaf.span, message));
                false
            }
            Some(Global { span, .. }) if span.start > offset => {
                let message = format!("the constant '{name}' is not defined yet");
                let diagnostic = Diagnostic::error(leaf.span, message)
                    .related(*span, "defined here")
                    .help("a constant can use those above it: move the definition up");
                self.diagnostics.push(diagnostic);
                false
            }
            _ => true,
        }
    }

    pub(super) fn declare_shared(&mut self, ast: &'a Ast) {
        let mut places = 0;
        for item in &ast.items {
            let Item::Shared(declaration) = item else {
                continue;
            };
            let ty = &declaration.ty;
            let fine = self.check_type(ty, None);
            let domain = fine.then(|| domain(ty, &|name| self.const_value(name)));
            let domain = domain.and_then(|domain| self.accept(domain));
            for variable in &declaration.variables {
                let before = places;
                let declared = self.declare_variable(variable, ty, domain);
                places += declared.initial.len();
                self.shared.push(declared);
                if before <= MOST_PLACES && places > MOST_PLACES {
                    let message =
                        format!("more than {MOST_PLACES} shared variables and array cells in all");
                    self.diagnostics
                        .push(Diagnostic::error(variable.name.span, message));
                }
            }
        }
    }

    /// A shared variable; one that is wrong gets a shape that gives no further errors.
    fn declare_variable(
        &mut self,
        variable: &Variable,
        ty: &Type,
        domain: Option<Domain>,
    ) -> SharedVariable {
        let mut declared = SharedVariable {
            name: variable.name.text.clone(),
            span: variable.name.span,
            domain: domain.unwrap_or(Domain::INT),
            len: None,
            columns: None,
            initial: Vec::new(),
        };
        let mut fine = self.check_initialiser(variable, None);
        if let Some(expr) = &variable.len {
            let (len, columns) = match &expr.kind {
                ExprKind::Pair { row, column } => {
                    let rows = self.array_length(row, LONGEST_ARRAY);
                    let columns = self.array_length(column, LONGEST_ARRAY / rows.unwrap_or(1));
                    (
                        rows.zip(columns).map(|(rows, columns)| rows * columns),
                        columns,
                    )
                }
                _ => (self.array_length(expr, LONGEST_ARRAY), None),
            };
            fine &= len.is_some();
            declared.len = Some(len.unwrap_or(u32::MAX));
            declared.columns = columns;
        }
        if let (true, Some(domain)) = (fine, domain) {
            let cells = declared.len.unwrap_or(1) as usize;
            let values = initial(variable, ty, domain, cells, &|name| self.const_value(name));
            declared.initial = self.accept(values).unwrap_or_default();
        }
        declared
    }

    /// The number of cells of an array, or of its rows or columns.
    pub(super) fn array_length(&mut self, expr: &Expr, most: u32) -> Option<u32> {
        if !self.check_constant(expr, None) {
            return None;
        }
        let value = constant(expr, &|name| self.const_value(name));
        let value = self.accept(value)?;
        let message = match u32::try_from(value) {
            Ok(0) | Err(_) => format!("an array has at least one cell, not {value}"),
            Ok(len) if len > most => {
                format!("an array has at most {most} cells here, not {len}")
            }
            Ok(len) => return Some(len),
        };
        self.diagnostics.push(Diagnostic::error(expr.span, message));
        None
    }

    pub(super) fn check_type(&mut self, ty: &Type, scope: Option<&Scope>) -> bool {
        match ty {
            Type::Bool | Type::Int | Type::Integer => true,
            Type::Ranged(range) => {
                let low = self.check_constant(&range.low, scope);
                self.check_constant(&range.high, scope) && low
            }
        }
    }

    pub(super) fn check_initialiser(&mut self, variable: &Variable, scope: Option<&Scope>) -> bool {
        match &variable.init {
            None | Some(Init::Any(_)) => true,
            Some(Init::Value(expr)) => self.check_constant(expr, scope),
            Some(Init::Cells(exprs, _)) => {
                let mut fine = true;
                for expr in exprs {
                    fine &= self.check_constant(expr, scope);
                }
                fine
            }
        }
    }

    /// The value, or nothing and its problems reported.
    pub(super) fn accept<T>(&mut self, value: Result<T, Problems>) -> Option<T> {
        match value {
            Ok(value) => Some(value),
            Err(problems) => {
                for problem in problems {
                    self.diagnostics.push(problem);
                }
                None
            }
        }
    }
}
