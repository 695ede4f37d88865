//! The statements of the processes.

use super::constant::fold;
use super::{Checker, LocalVariable, MOST_CHOICES, Scope, Template};
use crate::diagnostic::Diagnostic;
use crate::lang::ast::{
    Block, Condition, Expr, ExprKind, Member, Name, Place, Range, Stmt, StmtKind,
};
use crate::lang::unparse;
use crate::program::{Domain, Value};
use crate::source::Span;

/// What is known about the place of a statement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flow {
    in_loop: bool,
    in_atomic: bool,
    /// A bit per instance: whether the tests of its parameter on the way let it pass.
    pub(super) live: u64,
}

/// A process whose code is being checked.
#[derive(Clone, Copy)]
pub(super) struct Code<'c, 'a> {
    pub(super) scope: &'c Scope<'a>,
    pub(super) template: &'c Template,
}

impl Checker<'_> {
    /// Checks the body of every process.
    pub(super) fn check_code(&mut self) {
        let scopes = std::mem::take(&mut self.scopes);
        let templates = std::mem::take(&mut self.templates);
        for (scope, template) in scopes.iter().zip(&templates) {
            let flow = Flow {
                in_loop: false,
                in_atomic: false,
                live: u64::MAX,
            };
            self.check_block(&scope.process.body, Code { scope, template }, flow);
        }
        self.scopes = scopes;
        self.templates = templates;
    }

    fn check_block(&mut self, block: &Block, code: Code, flow: Flow) {
        for member in &block.members {
            if let Member::Statement(statement) = member {
                self.check_statement(statement, code, flow);
            }
        }
    }

    fn check_statement(&mut self, statement: &Stmt, code: Code, flow: Flow) {
        if flow.in_atomic && self.not_atomic(statement) {
            return self.check_parts(statement, code, flow);
        }
        match &statement.kind {
            StmtKind::Break | StmtKind::Continue if !flow.in_loop => {
                let word = keyword(&statement.kind);
                let message = format!("`{word}` outside a loop");
                self.diagnostics
                    .push(Diagnostic::error(statement.span, message));
            }
            StmtKind::Goto(label) if !code.scope.labels.contains_key(label.text.as_str()) => {
                let known = |_: &Self| code.scope.labels.keys().copied().collect();
                self.unknown("label", &label.text, label.span, known);
            }
            _ => self.check_parts(statement, code, flow),
        }
    }

    /// Checks the names and statements inside a statement.
    fn check_parts(&mut self, statement: &Stmt, code: Code, flow: Flow) {
        let scope = code.scope;
        match &statement.kind {
            StmtKind::Labelled { statement, .. } => self.check_statement(statement, code, flow),
            StmtKind::Store { place, value } => {
                self.check_place(place, code, flow, true);
                self.check_expr(value, scope);
            }
            StmtKind::Load { target, place } => {
                self.check_target(target, code, "load");
                self.check_place(place, code, flow, false);
            }
            StmtKind::Cas {
                target,
                old,
                place,
                expected,
                new,
            } => {
                self.check_target(target, code, "cas");
                if let Some(old) = old {
                    self.check_target(old, code, "cas");
                    if old.text == target.text {
                        let message = "one local cannot take both results of `cas`";
                        self.diagnostics.push(Diagnostic::error(old.span, message));
                    }
                }
                self.check_place(place, code, flow, false);
                self.check_expr(expected, scope);
                self.check_expr(new, scope);
            }
            StmtKind::Swap {
                target,
                place,
                value,
            }
            | StmtKind::Add {
                target,
                place,
                value,
            } => {
                self.check_target(target, code, keyword(&statement.kind));
                self.check_place(place, code, flow, false);
                self.check_expr(value, scope);
            }
            StmtKind::Assign { target, value } => {
                self.check_target(target, code, "");
                self.check_expr(value, scope);
            }
            StmtKind::AssignCell {
                target,
                index,
                value,
            } => {
                self.check_cell_target(target, index, code);
                self.check_expr(value, scope);
            }
            StmtKind::Await(condition) => self.check_await(condition, code, flow),
            StmtKind::Havoc { target, range } => {
                if self.check_target(target, code, "havoc") {
                    self.check_havoc(target, range.as_ref(), code, flow);
                }
                for end in range.iter().flat_map(|range| [&range.low, &range.high]) {
                    self.check_expr(end, scope);
                }
            }
            StmtKind::Assume(expr) | StmtKind::Assert(expr) => self.check_expr(expr, scope),
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => {
                let (yes, no) = self.check_condition(condition, code, flow);
                self.check_statement(then, code, yes);
                if let Some(otherwise) = otherwise {
                    self.check_statement(otherwise, code, no);
                }
            }
            StmtKind::While { condition, body } => {
                let (yes, _) = self.check_condition(condition, code, flow);
                let in_loop = true;
                self.check_statement(body, code, Flow { in_loop, ..yes });
            }
            StmtKind::DoWhile { body, condition } => {
                let in_loop = true;
                self.check_statement(body, code, Flow { in_loop, ..flow });
                self.check_condition(condition, code, flow);
            }
            StmtKind::For {
                variable,
                range,
                body,
                ..
            } => {
                self.check_target(variable, code, "for");
                self.check_expr(&range.low, scope);
                self.check_expr(&range.high, scope);
                let in_loop = true;
                self.check_statement(body, code, Flow { in_loop, ..flow });
            }
            StmtKind::Repeat { body, .. } => {
                let in_loop = true;
                self.check_statement(body, code, Flow { in_loop, ..flow });
            }
            StmtKind::Expanded(block) => {
                let in_loop = false;
                self.check_block(block, code, Flow { in_loop, ..flow });
            }
            StmtKind::Either(branches) => {
                for branch in branches {
                    self.check_block(branch, code, flow);
                }
            }
            StmtKind::Nofence(block) | StmtKind::Block(block) => {
                self.check_block(block, code, flow);
            }
            StmtKind::Atomic(block) => {
                let in_atomic = true;
                self.check_block(block, code, Flow { in_atomic, ..flow });
            }
            StmtKind::Fence(_)
            | StmtKind::Skip
            | StmtKind::Goto(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Stop => {}
        }
    }

    /// Reports a statement that cannot stand in an atomic block.
    fn not_atomic(&mut self, statement: &Stmt) -> bool {
        let (message, span) = match &statement.kind {
            StmtKind::Store { .. }
            | StmtKind::Load { .. }
            | StmtKind::Cas { .. }
            | StmtKind::Swap { .. }
            | StmtKind::Add { .. }
            | StmtKind::Assign { .. }
            | StmtKind::AssignCell { .. }
            | StmtKind::Havoc { .. }
            | StmtKind::Skip
            | StmtKind::Assume(_)
            | StmtKind::Assert(_) => return false,
            StmtKind::Labelled { label, .. } => {
                let message = format!("the label '{}' cannot stand in an atomic block", label.text);
                (message, label.span)
            }
            StmtKind::Block(_) => {
                let message = "a block cannot stand in an atomic block".to_string();
                (message, first_token(statement))
            }
            StmtKind::Expanded(_) => {
                let message = "a macro cannot be called in an atomic block".to_string();
                (message, statement.span)
            }
            kind => {
                let message = format!("`{}` cannot stand in an atomic block", keyword(kind));
                (message, first_token(statement))
            }
        };
        let diagnostic = Diagnostic::error(span, message)
            .help("an atomic block is straight-line code without fences; `assume` is allowed");
        self.diagnostics.push(diagnostic);
        true
    }

    /// Checks `await (condition)`: it reads one place, and otherwise what expressions may read.
    fn check_await(&mut self, condition: &Expr, code: Code, flow: Flow) {
        let mut read: Vec<Place> = Vec::new();
        self.each_name(condition, &mut |checker, leaf| {
            if checker.shared_leaf(leaf).is_none() {
                return checker.check_code_leaf(leaf, code.scope);
            }
            let span = leaf.span;
            let (name, index) = match &leaf.kind {
                ExprKind::Cell { name, index } => (name.text.clone(), Some(index.clone())),
                ExprKind::Name(name) => (name.clone(), None),
                _ => return,
            };
            let name = Name { text: name, span };
            read.push(Place { name, index, span });
        });
        let Some(first) = read.first() else {
            let message = "nothing shared is read here, so that nothing can change";
            let diagnostic = Diagnostic::error(condition.span, message).help(
                "`await (x != 0);` waits for a shared variable; `assume(c);` for a condition",
            );
            return self.diagnostics.push(diagnostic);
        };
        self.check_place(first, code, flow, false);
        if let Some(other) = read.iter().find(|other| !same_place(first, other)) {
            let message = "`await` reads one place, and this is another one";
            let diagnostic = Diagnostic::error(other.span, message)
                .related(first.span, "the first one")
                .help("a loop can read several: `do { load r = x; load s = y; } while (…);`");
            self.diagnostics.push(diagnostic);
        }
    }

    /// Checks a condition; gives the instances that can pass it and those that can fail it.
    fn check_condition(&mut self, condition: &Condition, code: Code, flow: Flow) -> (Flow, Flow) {
        let (mut yes, mut no) = (flow, flow);
        if let Condition::Expr(expr) = condition {
            self.check_expr(expr, code.scope);
            for (bit, _) in code.template.instances.iter().enumerate() {
                match self.value_in(expr, code, bit) {
                    Some(0) => yes.live &= !(1 << bit),
                    Some(_) => no.live &= !(1 << bit),
                    None => {}
                }
            }
        }
        (yes, no)
    }

    /// The value of an expression in an instance, if it is constant there.
    fn value_in(&self, expr: &Expr, code: Code, instance: usize) -> Option<Value> {
        fold(expr, &|name| self.constant_in(name, code, instance))?.ok()
    }

    /// The value of a parameter or constant in an instance.
    pub(super) fn constant_in(&self, name: &str, code: Code, instance: usize) -> Option<Value> {
        let instance = code.template.instances.get(instance)?;
        match instance.parameter {
            Some(value) if code.scope.is_parameter(name) => Some(value),
            _ => self.const_value(name),
        }
    }

    /// Checks that a havoc has a range, and that it fits the local's where both are known.
    fn check_havoc(&mut self, target: &Name, range: Option<&Range>, code: Code, flow: Flow) {
        let Some(local) = code.scope.locals.get(target.text.as_str()).copied() else {
            return;
        };
        let constant = range.is_some_and(|range| {
            let value = |end| self.value_in(end, code, 0);
            value(&range.low).is_some() && value(&range.high).is_some()
        });
        let domains = code.template.instances.iter();
        let mut domains = domains.filter_map(|instance| instance.locals.get(local.index));
        let unbounded = |local: &LocalVariable| local.domain.is_unbounded();
        if domains.clone().any(unbounded) {
            return;
        }
        if !constant && local.ranged && domains.any(|l| l.domain.size() > MOST_CHOICES) {
            let message = format!("'{}' has too many values to choose from", target.text);
            let help = format!(
                "choose from at most {MOST_CHOICES}: `havoc {} in low..=high;`",
                target.text
            );
            self.diagnostics
                .push(Diagnostic::error(target.span, message).help(help));
            return;
        }
        let Some(range) = range else {
            if !local.ranged {
                let message = format!("`havoc` needs a range, and '{}' has none", target.text);
                let help = format!("write `havoc {} in low..=high;`", target.text);
                let diagnostic = Diagnostic::error(target.span, message).help(help);
                self.diagnostics.push(diagnostic);
            }
            return;
        };
        for (bit, instance) in code.template.instances.iter().enumerate() {
            let low = self.value_in(&range.low, code, bit);
            let high = self.value_in(&range.high, code, bit);
            let (Some(low), Some(high)) = (low, high) else {
                if !local.ranged {
                    let message = format!(
                        "the range must be constant, since '{}' has none",
                        target.text
                    );
                    let help = format!("declare '{}' as `int[low..=high]`", target.text);
                    self.diagnostics
                        .push(Diagnostic::error(range.span, message).help(help));
                    return;
                }
                continue;
            };
            let values = Domain { low, high };
            let declared = instance.locals.get(local.index).map(|l| l.domain);
            let message = match declared {
                _ if flow.live & (1 << bit) == 0 => continue,
                _ if low > high => format!("the range {values} is empty"),
                _ if values.size() > MOST_CHOICES => {
                    format!("the range {values} has more than {MOST_CHOICES} values")
                }
                Some(d) if low < d.low || high > d.high => {
                    format!(
                        "the range {values} leaves the range {d} of '{}'",
                        target.text
                    )
                }
                _ => continue,
            };
            let message = message + &code.suffix(bit, &[&range.low, &range.high]);
            self.diagnostics
                .push(Diagnostic::error(range.span, message));
            return;
        }
    }
}

/// Whether two places are written alike.
fn same_place(one: &Place, two: &Place) -> bool {
    let text = |place: &Place| place.index.as_ref().map(|index| unparse::expr(index));
    one.name.text == two.name.text && text(one) == text(two)
}

/// The word a statement begins with.
fn keyword(kind: &StmtKind) -> &'static str {
    match kind {
        StmtKind::Labelled { .. }
        | StmtKind::Assign { .. }
        | StmtKind::AssignCell { .. }
        | StmtKind::Expanded(_) => "",
        StmtKind::Store { .. } => "store",
        StmtKind::Load { .. } => "load",
        StmtKind::Cas { .. } => "cas",
        StmtKind::Swap { .. } => "swap",
        StmtKind::Add { .. } => "add",
        StmtKind::Fence(_) => "fence",
        StmtKind::Havoc { .. } => "havoc",
        StmtKind::Skip => "skip",
        StmtKind::Goto(_) => "goto",
        StmtKind::Break => "break",
        StmtKind::Continue => "continue",
        StmtKind::Stop => "stop",
        StmtKind::Assume(_) => "assume",
        StmtKind::Assert(_) => "assert",
        StmtKind::If { .. } => "if",
        StmtKind::While { .. } => "while",
        StmtKind::DoWhile { .. } => "do",
        StmtKind::For { .. } => "for",
        StmtKind::Repeat { .. } => "repeat",
        StmtKind::Await(_) => "await",
        StmtKind::Either(_) => "either",
        StmtKind::Nofence(_) => "nofence",
        StmtKind::Atomic(_) => "atomic",
        StmtKind::Block(_) => "{",
    }
}

fn first_token(statement: &Stmt) -> Span {
    let Span { start, end } = statement.span;
    let length = keyword(&statement.kind).len() as u32;
    Span {
        start,
        end: end.min(start + length),
    }
}
