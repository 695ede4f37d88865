//! What a name stands for, and what to say when it stands for nothing that fits.

use super::{Checker, Global, GlobalKind, Local, Scope};
use crate::diagnostic::Diagnostic;
use crate::lang::ast::{Expr, ExprKind, Name};
use crate::source::Span;

/// Unknown names beyond this many are not compared with all known ones.
const MOST_SUGGESTIONS: u32 = 100;

impl<'a> Checker<'a> {
    pub(super) fn add_global(&mut self, name: &'a Name, kind: GlobalKind) {
        let span = name.span;
        match self.globals.get(name.text.as_str()) {
            None => {
                self.globals.insert(&name.text, Global { kind, span });
            }
            Some(&first) => {
                let what = first.kind.describe();
                let message = format!("'{}' is already the name of {what}", name.text);
                let diagnostic = Diagnostic::error(span, message);
                self.diagnostics
                    .push(diagnostic.related(first.span, "first declared here"));
            }
        }
    }

    pub(super) fn global(&self, name: &str) -> Option<GlobalKind> {
        self.globals.get(name).map(|global| global.kind)
    }

    /// The top-level names of some kind.
    pub(super) fn globals_that(&self, keep: impl Fn(GlobalKind) -> bool) -> Vec<&'a str> {
        let kept = self.globals.iter().filter(|(_, global)| keep(global.kind));
        kept.map(|(name, _)| *name).collect()
    }

    /// Reports a name that stands for nothing, with the nearest name that stands for
    /// something.
    pub(super) fn unknown<'c>(
        &mut self,
        what: &str,
        name: &str,
        span: Span,
        known: impl FnOnce(&Self) -> Vec<&'c str>,
    ) {
        let diagnostic = Diagnostic::error(span, format!("unknown {what} '{name}'"));
        self.suggest(diagnostic, name, known);
    }

    /// Reports `diagnostic` with the nearest known name as its help. The known names are
    /// only collected while there are few errors.
    pub(super) fn suggest<'c>(
        &mut self,
        mut diagnostic: Diagnostic,
        name: &str,
        known: impl FnOnce(&Self) -> Vec<&'c str>,
    ) {
        if self.suggesting() {
            self.suggestions += 1;
            if let Some(nearest) = nearest(name, known(self)) {
                diagnostic = diagnostic.help(format!("did you mean '{nearest}'?"));
            }
        }
        self.diagnostics.push(diagnostic);
    }

    /// Whether there are few enough errors to look for the nearest name.
    pub(super) fn suggesting(&self) -> bool {
        self.suggestions < MOST_SUGGESTIONS
    }

    /// Checks that an expression is made of constants and the parameter, if there is one.
    pub(super) fn check_constant(&mut self, expr: &Expr, scope: Option<&Scope>) -> bool {
        let mut fine = true;
        self.each_name(expr, &mut |checker, leaf| {
            fine &= checker.check_constant_leaf(leaf, scope);
        });
        fine
    }

    pub(super) fn check_constant_leaf(&mut self, leaf: &Expr, scope: Option<&Scope>) -> bool {
        let name = match &leaf.kind {
            ExprKind::Name(name) => name,
            ExprKind::Cell { name, .. } => &name.text,
            _ => {
                let message = "this must be a constant";
                self.diagnostics.push(Diagnostic::error(leaf.span, message));
                return false;
            }
        };
        let is_name = matches!(leaf.kind, ExprKind::Name(_));
        let what = match self.global(name) {
            _ if is_name && scope.is_some_and(|scope| scope.is_parameter(name)) => return true,
            Some(GlobalKind::Const(_)) if is_name => return true,
            Some(kind) => kind.describe(),
            None if scope.is_some_and(|scope| scope.locals.contains_key(name.as_str())) => {
                "a local"
            }
            None => {
                let parameter = scope.and_then(Scope::parameter);
                self.unknown("constant", name, leaf.span, |checker| {
                    let mut known: Vec<&str> = checker.globals_that(GlobalKind::is_const);
                    known.extend(parameter);
                    known
                });
                return false;
            }
        };
        let message = format!("this must be a constant, and '{name}' is {what}");
        self.diagnostics.push(Diagnostic::error(leaf.span, message));
        false
    }

    /// Checks an expression of a process: locals, the parameter and constants.
    pub(super) fn check_expr(&mut self, expr: &Expr, scope: &Scope) {
        self.each_name(expr, &mut |checker, leaf| {
            checker.check_code_leaf(leaf, scope);
        });
    }

    /// Checks a part of an expression of a process that names something.
    pub(super) fn check_code_leaf(&mut self, leaf: &Expr, scope: &Scope) {
        let (name, indexed) = match &leaf.kind {
            ExprKind::Name(name) => (name, false),
            ExprKind::Cell { name, .. } => (&name.text, true),
            ExprKind::Quantified { .. } => {
                let message = "`forall` and `exists` belong to properties";
                self.diagnostics.push(Diagnostic::error(leaf.span, message));
                return;
            }
            ExprKind::At { .. } => {
                let message = "`at` belongs to properties; a process cannot see where others are";
                self.diagnostics.push(Diagnostic::error(leaf.span, message));
                return;
            }
            _ => {
                let message = "a process cannot read the locals of a process by its name";
                let diagnostic = Diagnostic::error(leaf.span, message);
                self.diagnostics
                    .push(diagnostic.help("share the value through a shared variable"));
                return;
            }
        };
        let known = scope.is_parameter(name) || scope.locals.contains_key(name.as_str());
        if let Some(Local { len: Some(len), .. }) = scope.locals.get(name.as_str()).copied() {
            return self.check_cell(leaf, len);
        }
        let kind = self.global(name);
        let message = match kind {
            Some(GlobalKind::Shared(_)) => {
                let message =
                    format!("'{name}' is a shared variable, and expressions cannot read it");
                let place = if indexed {
                    format!("{name}[…]")
                } else {
                    name.clone()
                };
                let help = format!("load it into a local first: `load r = {place};`");
                self.diagnostics
                    .push(Diagnostic::error(leaf.span, message).help(help));
                return;
            }
            Some(GlobalKind::Process(_)) if !known => format!("'{name}' is a process, not a value"),
            _ if indexed && (known || kind.is_some()) => format!("'{name}' is not an array"),
            _ if known || kind.is_some() => return,
            _ => {
                return self.unknown("variable", name, leaf.span, |checker| {
                    let mut known: Vec<&str> = checker.globals_that(GlobalKind::is_value);
                    known.extend(scope.locals.keys().copied().chain(scope.parameter()));
                    known
                });
            }
        };
        self.diagnostics.push(Diagnostic::error(leaf.span, message));
    }

    /// Calls `visit` for every part of `expr` that names something, left to right.
    pub(super) fn each_name(&mut self, expr: &Expr, visit: &mut dyn FnMut(&mut Self, &Expr)) {
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Bool(_) => {}
            ExprKind::Name(_) => visit(self, expr),
            ExprKind::Unary { operand, .. } => self.each_name(operand, visit),
            ExprKind::Binary { left, right, .. } => {
                self.each_name(left, visit);
                self.each_name(right, visit);
            }
            ExprKind::Conditional {
                condition,
                then,
                otherwise,
            } => {
                self.each_name(condition, visit);
                self.each_name(then, visit);
                self.each_name(otherwise, visit);
            }
            ExprKind::Cell { index, .. } => {
                visit(self, expr);
                self.each_name(index, visit);
            }
            ExprKind::Pair { row, column } => {
                self.each_name(row, visit);
                self.each_name(column, visit);
            }
            // The index of a process is checked together with the process, and quantifiers are
            // gone before properties are checked.
            ExprKind::At { .. } | ExprKind::Local { .. } | ExprKind::Quantified { .. } => {
                visit(self, expr);
            }
        }
    }
}

impl GlobalKind {
    pub(super) fn describe(self) -> &'static str {
        match self {
            GlobalKind::Const(_) => "a constant",
            GlobalKind::Shared(_) => "a shared variable",
            GlobalKind::Process(_) => "a process",
        }
    }

    pub(super) fn is_const(self) -> bool {
        matches!(self, GlobalKind::Const(_))
    }

    pub(super) fn is_shared(self) -> bool {
        matches!(self, GlobalKind::Shared(_))
    }

    pub(super) fn is_value(self) -> bool {
        !self.is_process()
    }

    pub(super) fn is_process(self) -> bool {
        matches!(self, GlobalKind::Process(_))
    }
}

impl<'a> Scope<'a> {
    pub(super) fn parameter(&self) -> Option<&'a str> {
        let parameter = self.process.parameter.as_ref()?;
        Some(&parameter.name.text)
    }

    pub(super) fn is_parameter(&self, name: &str) -> bool {
        self.parameter() == Some(name)
    }
}

/// The known name that `word` may be a misspelling of.
fn nearest<'c>(word: &str, known: Vec<&'c str>) -> Option<&'c str> {
    let farthest = (word.len() / 3).clamp(1, 3);
    known
        .into_iter()
        .filter(|name| name.len().abs_diff(word.len()) <= farthest)
        .map(|name| (strsim::osa_distance(word, name), name))
        .filter(|(distance, name)| *distance <= farthest && *distance < name.len())
        .min()
        .map(|(_, name)| name)
}
