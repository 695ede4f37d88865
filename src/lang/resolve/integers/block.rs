//! Atomic blocks: what they do to integers is told by the locals with bounds before them.

use super::Integers;
use crate::lang::ast::{Block, Expr, ExprKind, Member, Place, Stmt, StmtKind};

/// What a simple statement does.
#[derive(Default)]
struct Parts<'s> {
    /// The locals that it changes.
    targets: Vec<&'s str>,
    place: Option<&'s Place>,
    /// The expressions that it reads.
    read: Vec<&'s Expr>,
}

impl Integers<'_, '_> {
    /// Refuses locals with bounds that an atomic block changes and that tell afterwards what it
    /// does to integers.
    pub(super) fn read_again(&mut self, block: &Block) {
        let mut changed: Vec<&str> = Vec::new();
        for member in &block.members {
            let Member::Statement(statement) = member else {
                continue;
            };
            let parts = parts(statement);
            if self.is_about_integers(&parts) {
                for expr in &parts.read {
                    expr.visit(&mut |part| self.refuse_changed(part, &changed));
                }
            }
            let targets = parts.targets.into_iter();
            changed.extend(targets.filter(|name| !self.is_integer_local(name)));
        }
    }

    fn is_about_integers(&self, parts: &Parts) -> bool {
        let mut found = parts.targets.iter().any(|name| self.is_integer_local(name))
            || parts
                .place
                .is_some_and(|place| self.is_integer_place(place));
        for expr in &parts.read {
            expr.visit(&mut |part| found |= self.integer(part).is_some());
        }
        found
    }

    fn refuse_changed(&mut self, part: &Expr, changed: &[&str]) {
        let name = match &part.kind {
            ExprKind::Name(name) => name,
            ExprKind::Cell { name, .. } => &name.text,
            _ => return,
        };
        if changed.contains(&name.as_str()) {
            let message = format!("'{name}' was changed in this atomic block");
            let help = "what is said of integers here is told by the locals before the block: \
                        change it before the block";
            self.refuse(part.span, &message, help);
        }
    }
}

fn parts(statement: &Stmt) -> Parts<'_> {
    let mut parts = Parts::default();
    match &statement.kind {
        StmtKind::Store { place, value } => {
            parts.place = Some(place);
            parts.read.push(value);
        }
        StmtKind::Load { target, place } => {
            parts.targets.push(&target.text);
            parts.place = Some(place);
        }
        StmtKind::Cas {
            target,
            old,
            place,
            expected,
            new,
        } => {
            parts.targets.push(&target.text);
            parts
                .targets
                .extend(old.iter().map(|old| old.text.as_str()));
            parts.place = Some(place);
            parts.read.extend([expected, new]);
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
            parts.targets.push(&target.text);
            parts.place = Some(place);
            parts.read.push(value);
        }
        StmtKind::Assign { target, value } => {
            parts.targets.push(&target.text);
            parts.read.push(value);
        }
        StmtKind::AssignCell {
            target,
            index,
            value,
        } => {
            parts.targets.push(&target.text);
            parts.read.extend([index, value]);
        }
        StmtKind::Havoc { target, range } => {
            parts.targets.push(&target.text);
            let ends = range.iter().flat_map(|range| [&range.low, &range.high]);
            parts.read.extend(ends);
        }
        StmtKind::Assume(expr) | StmtKind::Assert(expr) => parts.read.push(expr),
        _ => {}
    }
    parts
        .read
        .extend(parts.place.and_then(|place| place.index.as_deref()));
    parts
}
