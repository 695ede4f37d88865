//! What can be said of integers without bound: sums with a number, and comparisons of two.
//!
//! An expression is a sum of integers, each with a factor, and of a part that has bounds. A
//! value that is kept has at most one integer in it, plus or minus; a comparison has at most
//! two, which is what an octagon can say. Everything else is refused here, with what to write
//! instead, one message for each place.

mod block;

use super::{Checker, Scope};
use crate::diagnostic::Diagnostic;
use crate::lang::ast::{
    Ast, Block, Condition, Expr, ExprKind, Item, Member, Name, Place, Predicate, Stmt, StmtKind,
};
use crate::program::{BinaryOp, UnaryOp};
use crate::source::Span;
use std::collections::BTreeMap;

/// The integers of a sum with their factors. No integers: the value has bounds.
type Sum = BTreeMap<String, i64>;

/// The sums that an expression may be, depending on the conditions in it; none if something in
/// it was refused.
type Sums = Vec<Sum>;

/// An expression with more alternatives than this is refused.
const MOST_SUMS: usize = 64;

impl Checker<'_> {
    /// Checks how integers are used, in a program that is fine otherwise.
    pub(super) fn check_integers(&mut self, ast: &Ast) {
        let locals = self.templates.iter().flat_map(|t| t.instances.first());
        let mut locals = locals.flat_map(|instance| &instance.locals);
        let any = locals.any(|local| local.domain.is_unbounded())
            || self
                .shared
                .iter()
                .any(|shared| shared.domain.is_unbounded());
        if !any || !self.diagnostics.is_empty() {
            return;
        }
        let mut found = Vec::new();
        for template in &self.templates {
            let locals = template.instances.first().map(|first| &first.locals);
            for (first, _) in template.arrays.values() {
                let local = locals.and_then(|locals| locals.get(*first));
                if let Some(local) = local.filter(|local| local.domain.is_unbounded()) {
                    let message = "an array of a process has bounds";
                    let help = "declare it as `int[low..=high]`, or share it";
                    found.push(Diagnostic::error(local.span, message).help(help));
                }
            }
        }
        for (index, scope) in self.scopes.iter().enumerate() {
            let mut check = Integers {
                checker: self,
                scope: Some((index, scope)),
                found: &mut found,
            };
            check.block(&scope.process.body);
        }
        let mut check = Integers {
            checker: self,
            scope: None,
            found: &mut found,
        };
        for item in &ast.items {
            if let Item::Property(property) = item
                && let Predicate::Expr(predicate) = &property.predicate
            {
                check.finite(predicate, "a property");
            }
        }
        for diagnostic in found {
            self.diagnostics.push(diagnostic);
        }
    }
}

/// The code of one process, or the properties.
struct Integers<'c, 'a> {
    checker: &'c Checker<'a>,
    /// The process: which template it is, and its names.
    scope: Option<(usize, &'c Scope<'a>)>,
    found: &'c mut Vec<Diagnostic>,
}

impl Integers<'_, '_> {
    fn block(&mut self, block: &Block) {
        for member in &block.members {
            if let Member::Statement(statement) = member {
                self.statement(statement);
            }
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Labelled { statement, .. } => self.statement(statement),
            StmtKind::Store { place, value } => {
                self.index(place);
                self.given(value, place);
            }
            StmtKind::Load { target, place } => {
                self.index(place);
                self.takes(target, place);
            }
            StmtKind::Cas {
                target,
                old,
                place,
                expected,
                new,
            } => {
                self.index(place);
                if self.is_integer_local(&target.text) {
                    let help = "declare it as `bool`: `cas` says whether it succeeded";
                    self.refuse(target.span, "'cas' gives a truth value", help);
                }
                if let Some(old) = old {
                    match self.is_integer_place(place) {
                        true => {
                            let message = "`cas` of an integer does not give the old value";
                            self.refuse(old.span, message, "use `swap`, or load it again");
                        }
                        false => self.takes_bounded(old, &place.name),
                    }
                }
                self.given(expected, place);
                self.given(new, place);
            }
            StmtKind::Swap {
                target,
                place,
                value,
            } => {
                self.index(place);
                self.takes(target, place);
                self.given(value, place);
            }
            StmtKind::Add {
                target,
                place,
                value,
            } => {
                self.index(place);
                self.takes(target, place);
                self.finite(value, "what `add` adds");
            }
            StmtKind::Assign { target, value } => match self.is_integer_local(&target.text) {
                true => self.kept(value),
                false => self.finite_for(value, target),
            },
            StmtKind::Havoc { target, range } => {
                for end in range.iter().flat_map(|range| [&range.low, &range.high]) {
                    match self.is_integer_local(&target.text) {
                        true => self.kept(end),
                        false => self.finite_for(end, target),
                    }
                }
            }
            StmtKind::Assume(condition) | StmtKind::Assert(condition) => self.truth(condition),
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => {
                self.condition(condition);
                self.statement(then);
                if let Some(otherwise) = otherwise {
                    self.statement(otherwise);
                }
            }
            StmtKind::While { condition, body } | StmtKind::DoWhile { body, condition } => {
                self.condition(condition);
                self.statement(body);
            }
            StmtKind::AssignCell { index, value, .. } => {
                self.finite(index, "the index of an array of a process");
                self.finite(value, "a cell of an array of a process");
            }
            StmtKind::Await(condition) => self.truth(condition),
            StmtKind::For {
                variable,
                range,
                body,
                ..
            } => {
                if self.is_integer_local(&variable.text) {
                    let help = "declare it as `int`, or write a `while` loop";
                    self.refuse(variable.span, "what `for` counts with has bounds", help);
                }
                self.finite(&range.low, "what `for` counts from");
                self.finite(&range.high, "what `for` counts to");
                self.statement(body);
            }
            StmtKind::Repeat { count, body, .. } => {
                self.finite(count, "the number of rounds");
                self.statement(body);
            }
            StmtKind::Expanded(block) => self.block(block),
            StmtKind::Either(branches) => branches.iter().for_each(|branch| self.block(branch)),
            StmtKind::Atomic(block) => {
                self.read_again(block);
                self.block(block);
            }
            StmtKind::Nofence(block) | StmtKind::Block(block) => self.block(block),
            StmtKind::Fence(_)
            | StmtKind::Skip
            | StmtKind::Goto(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Stop => {}
        }
    }

    fn condition(&mut self, condition: &Condition) {
        if let Condition::Expr(expr) = condition {
            self.truth(expr);
        }
    }

    fn index(&mut self, place: &Place) {
        if let Some(index) = &place.index {
            self.kept(index);
        }
    }

    /// A value that a place takes.
    fn given(&mut self, value: &Expr, place: &Place) {
        match self.is_integer_place(place) {
            true => self.kept(value),
            false => self.finite_for(value, &place.name),
        }
    }

    /// What a local takes from a place.
    fn takes(&mut self, target: &Name, place: &Place) {
        match self.is_integer_place(place) {
            true => self.takes_integer(target, &place.name),
            false => self.takes_bounded(target, &place.name),
        }
    }

    /// A value with at most one integer in it.
    fn kept(&mut self, expr: &Expr) {
        let fits = |sum: &Sum| sum.len() <= 1 && sum.values().all(|factor| factor.abs() == 1);
        if !self.sums(expr).iter().all(fits) {
            let message = "a value can be one integer and a number, not more";
            let help = "keep what you need of the sum in an integer of its own, \
                        and change it where its parts change";
            self.refuse(expr.span, message, help);
        }
    }

    /// A value with bounds that goes into a variable with bounds.
    fn finite_for(&mut self, expr: &Expr, target: &Name) {
        if self.sums(expr).iter().any(|sum| !sum.is_empty()) {
            let message = format!("'{}' has bounds and cannot take an integer", target.text);
            let help = format!(
                "declare '{}' as `integer`, or keep a comparison in it",
                target.text
            );
            self.refuse(expr.span, &message, &help);
        }
    }

    /// A value with bounds.
    fn finite(&mut self, expr: &Expr, what: &str) {
        if self.sums(expr).iter().any(|sum| !sum.is_empty()) {
            let message = format!("{what} has bounds, and this is an integer without");
            self.refuse(expr.span, &message, "compare it with something");
        }
    }

    /// An operand that is only true or false.
    fn truth(&mut self, expr: &Expr) {
        if self.sums(expr).iter().any(|sum| !sum.is_empty()) {
            let help = "write what you mean, for example `… != 0`";
            self.refuse(expr.span, "an integer is not a condition", help);
        }
    }

    fn takes_integer(&mut self, target: &Name, from: &Name) {
        if !self.is_integer_local(&target.text) {
            let message = format!(
                "'{}' has bounds and cannot take '{}', which is an integer",
                target.text, from.text
            );
            let help = format!("declare '{}' as `integer`", target.text);
            self.refuse(target.span, &message, &help);
        }
    }

    fn takes_bounded(&mut self, target: &Name, from: &Name) {
        if self.is_integer_local(&target.text) {
            let message = format!(
                "'{}' is an integer, and '{}' has bounds",
                target.text, from.text
            );
            let help = "take it into a local with bounds, and assign that";
            self.refuse(target.span, &message, help);
        }
    }

    /// What sums of integers an expression may be. What cannot be expressed is reported.
    fn sums(&mut self, expr: &Expr) -> Sums {
        let finite = || vec![Sum::new()];
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::At { .. } => finite(),
            ExprKind::Name(_) | ExprKind::Cell { .. } | ExprKind::Local { .. } => {
                if let ExprKind::Cell { index, .. } = &expr.kind {
                    self.finite(index, "the index of a cell that is read here");
                }
                match self.integer(expr) {
                    Some(name) => vec![Sum::from([(name, 1)])],
                    None => finite(),
                }
            }
            ExprKind::Unary { op, operand } => {
                if *op == UnaryOp::Not {
                    self.truth(operand);
                    return finite();
                }
                if *op != UnaryOp::Negate {
                    self.finite(operand, "an operand of bits");
                    return finite();
                }
                let sums = self.sums(operand);
                sums.iter().map(|sum| added(&Sum::new(), sum, -1)).collect()
            }
            ExprKind::Pair { row, column } => {
                self.finite(row, "the row of a cell");
                self.finite(column, "the column of a cell");
                finite()
            }
            ExprKind::Quantified { body, .. } => {
                self.truth(body);
                finite()
            }
            ExprKind::Binary { op, left, right } => self.binary(*op, left, right, expr.span),
            ExprKind::Conditional {
                condition,
                then,
                otherwise,
            } => {
                self.truth(condition);
                let mut sums = self.sums(then);
                sums.extend(self.sums(otherwise));
                self.few(sums, expr.span)
            }
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr, span: Span) -> Sums {
        match op {
            BinaryOp::And | BinaryOp::Or => {
                self.truth(left);
                self.truth(right);
                return vec![Sum::new()];
            }
            _ => {}
        }
        let (lefts, rights) = (self.sums(left), self.sums(right));
        let integers = |sums: &Sums| sums.iter().any(|sum| !sum.is_empty());
        if !integers(&lefts) && !integers(&rights) {
            return vec![Sum::new()];
        }
        let sign = if op == BinaryOp::Add { 1 } else { -1 };
        let pairs = lefts
            .iter()
            .flat_map(|l| rights.iter().map(move |r| (l, r)));
        let sums: Sums = pairs
            .map(|(left, right)| added(left, right, sign))
            .collect();
        let (message, help) = match op {
            BinaryOp::Add | BinaryOp::Sub => return self.few(sums, span),
            BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual
            | BinaryOp::Equal
            | BinaryOp::NotEqual => {
                let size = |sum: &Sum| sum.values().map(|factor| factor.abs()).sum::<i64>();
                if sums.iter().all(|sum| size(sum) <= 2) {
                    return vec![Sum::new()];
                }
                (
                    "a comparison can be about two integers, not more",
                    "keep the sum or difference of two of them in an integer of its own",
                )
            }
            BinaryOp::Rem | BinaryOp::Div => (
                "integers without bound are not divided",
                "keep the remainder beside it, in an `int[0..=N-1]` that is changed with it",
            ),
            _ => (
                "integers without bound are added and compared, nothing else",
                "keep the result in an integer of its own, and change it where its parts change",
            ),
        };
        self.refuse(span, message, help);
        vec![Sum::new()]
    }

    /// Refuses what has too many alternatives.
    fn few(&mut self, mut sums: Sums, span: Span) -> Sums {
        sums.sort();
        sums.dedup();
        if sums.len() > MOST_SUMS {
            let help = "use `if` and assignments instead of `?:`";
            self.refuse(span, "this can be too many different sums", help);
            return vec![Sum::new()];
        }
        sums
    }

    /// A name for the integer that an expression is, if it is one.
    fn integer(&self, expr: &Expr) -> Option<String> {
        match (&expr.kind, self.scope) {
            // What is shared is read by properties and by `await`.
            (ExprKind::Name(name), _) => {
                let integer = self.is_integer_local(name) || self.is_integer_shared(name);
                integer.then(|| name.clone())
            }
            (ExprKind::Cell { name, index }, _) => {
                let integer = self.is_integer_shared(&name.text);
                integer.then(|| format!("{}[{:?}]", name.text, index.kind))
            }
            (ExprKind::Local { process, local }, _) => {
                let mut templates = self.checker.templates.iter();
                let template = templates.find(|template| template.name == process.name.text)?;
                let locals = &template.instances.first()?.locals;
                let known = locals.iter().find(|known| known.name == local.text)?;
                let integer = known.domain.is_unbounded();
                let index = process.index.as_ref().map(|index| &index.kind);
                integer.then(|| format!("{}{index:?}.{}", template.name, local.text))
            }
            _ => None,
        }
    }

    fn is_integer_local(&self, name: &str) -> bool {
        let Some((template, scope)) = self.scope else {
            return false;
        };
        let local = scope.locals.get(name);
        let first = self.checker.templates[template].instances.first();
        let known = local.and_then(|local| first?.locals.get(local.index));
        known.is_some_and(|local| local.domain.is_unbounded())
    }

    fn is_integer_shared(&self, name: &str) -> bool {
        let mut shared = self.checker.shared.iter();
        let variable = shared.find(|variable| variable.name == name);
        variable.is_some_and(|variable| variable.domain.is_unbounded())
    }

    fn is_integer_place(&self, place: &Place) -> bool {
        self.is_integer_shared(&place.name.text)
    }

    fn refuse(&mut self, span: Span, message: &str, help: &str) {
        let known = self
            .found
            .iter()
            .any(|diagnostic| diagnostic.span == Some(span));
        if !known {
            self.found.push(Diagnostic::error(span, message).help(help));
        }
    }
}

/// One sum and another one, times a sign. What cancels out is gone.
fn added(left: &Sum, right: &Sum, sign: i64) -> Sum {
    let mut sum = left.clone();
    for (name, factor) in right {
        *sum.entry(name.clone()).or_default() += sign * factor;
    }
    sum.retain(|_, factor| *factor != 0);
    sum
}
