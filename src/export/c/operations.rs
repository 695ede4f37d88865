//! Statements without statements inside, in C.

use super::statements::{Code, Done};
use super::{choose, refuse};
use crate::lang::ast::{Stmt, StmtKind};
use crate::program::{Domain, FenceKind};
use crate::source::Span;

impl Code<'_, '_> {
    pub(super) fn simple(&mut self, statement: &Stmt) -> Done {
        let touches = match &statement.kind {
            StmtKind::Store { .. }
            | StmtKind::Load { .. }
            | StmtKind::Cas { .. }
            | StmtKind::Swap { .. }
            | StmtKind::Add { .. } => true,
            StmtKind::Assign { target, .. } | StmtKind::Havoc { target, .. } => {
                self.observed(&target.text).is_some()
            }
            _ => false,
        };
        if let StmtKind::Atomic(block) = &statement.kind {
            return self.in_section(|code| code.block(block));
        }
        match touches && self.sequential() && self.section.is_none() {
            true => self.in_section(|code| code.operation(statement)),
            false => self.operation(statement),
        }
    }

    fn in_section(&mut self, inside: impl FnOnce(&mut Self) -> Done) -> Done {
        let again = self.branch.take().unwrap_or_else(|| {
            let again = self.retry();
            self.line(&format!("{again}:;"));
            again
        });
        self.line("__VERIFIER_atomic_begin();");
        (self.section, self.stored) = (Some(again), false);
        inside(self)?;
        self.section = None;
        self.line("__VERIFIER_atomic_end();");
        Ok(())
    }

    /// A statement without statements inside.
    fn operation(&mut self, statement: &Stmt) -> Done {
        // Atomic sections work on memory directly.
        let direct = self.sequential() || self.section.is_some();
        match &statement.kind {
            StmtKind::Store { place, value } => {
                let (place, domain) = self.place(place)?;
                let value = self.value(value, domain)?;
                self.stored = true;
                self.line(&match direct {
                    true => format!("{place} = {value};"),
                    false => {
                        format!("atomic_store_explicit(&{place}, {value}, memory_order_relaxed);")
                    }
                });
            }
            StmtKind::Load { target, place } => {
                let (place, domain) = self.place(place)?;
                let value = match direct {
                    true => place,
                    false => self.printer.read(&place),
                };
                self.give(&target.text, &value, domain);
            }
            StmtKind::Cas { .. } | StmtKind::Swap { .. } | StmtKind::Add { .. } => {
                self.update(statement, direct)?;
            }
            StmtKind::Fence(kind) => self.fence(*kind, statement.span)?,
            StmtKind::Assign { target, value } => {
                let own = self.domain(&target.text).unwrap_or(Domain::INT);
                let value = self.value(value, own)?;
                self.set(&target.text, &value);
            }
            StmtKind::Havoc { target, range } => {
                let own = self.domain(&target.text).unwrap_or(Domain::INT);
                let line = match range {
                    None => choose("choice", own),
                    Some(range) => {
                        let (low, high) = (self.expr(&range.low)?, self.expr(&range.high)?);
                        format!("CHOOSE(choice, {low}, {high});")
                    }
                };
                self.line(&line);
                let whole = range.as_ref().map_or(own, |_| Domain::INT);
                self.give(&target.text, "choice", whole);
            }
            StmtKind::AssignCell {
                target,
                index,
                value,
            } => {
                let index = self.expr(index)?;
                let value = self.value(value, self.cells(&target.text))?;
                let name = self.locals[&target.text].clone();
                self.line(&format!("{name}[{index}] = {value};"));
            }
            StmtKind::Skip => {}
            StmtKind::Goto(label) => {
                let line = format!("goto {};", self.labels[&label.text]);
                self.line(&line);
            }
            StmtKind::Break => self.line("break;"),
            StmtKind::Continue => self.line("continue;"),
            StmtKind::Stop => self.line("return;"),
            StmtKind::Assume(condition) => {
                let text = self.expr(condition)?;
                match &self.section {
                    None => self.line(&format!("ASSUME({text});")),
                    Some(_) if self.stored => {
                        return Err(refuse(
                            statement.span,
                            "an assumption behind a store in an atomic block",
                            "put the assumption first",
                        ));
                    }
                    Some(again) => {
                        let line = format!("WAIT_FOR({text}, {again});");
                        self.line(&line);
                    }
                }
            }
            StmtKind::Assert(condition) => {
                let text = self.expr(condition)?;
                self.line(&format!("assert({text});"));
            }
            _ => unreachable!("other statements have been looked at or refused"),
        }
        Ok(())
    }

    /// A read-modify-write.
    fn update(&mut self, statement: &Stmt, direct: bool) -> Done {
        let (target, place, expected, new) = match &statement.kind {
            StmtKind::Cas {
                target,
                place,
                expected,
                new,
                ..
            } => (target, place, Some(expected), new),
            StmtKind::Swap {
                target,
                place,
                value,
            }
            | StmtKind::Add {
                target,
                place,
                value,
            } => (target, place, None, value),
            _ => unreachable!("only updates come here"),
        };
        let (place, domain) = self.place(place)?;
        let new = self.expr(new)?;
        self.line(&format!("choice = {new};"));
        let Domain { low, high } = domain;
        let relaxed = "memory_order_relaxed";
        if let Some(expected) = expected {
            let expected = self.expr(expected)?;
            if direct {
                self.line(&format!("old = {place};"));
                self.line(&format!("temporary = (old == {expected});"));
                let after = "temporary * choice + (temporary == 0) * old";
                self.line(&format!("{place} = {after};"));
            } else {
                self.line(&format!("old = {expected};"));
                self.line(&format!("temporary = atomic_compare_exchange_strong_explicit(&{place}, &old, choice, {relaxed}, {relaxed});"));
            }
            if domain != Domain::INT && !domain.is_unbounded() {
                self.line(&format!(
                    "assert(!temporary || ({low} <= choice && choice <= {high}));"
                ));
            }
            if let StmtKind::Cas {
                old: Some(kept), ..
            } = &statement.kind
            {
                self.line("choice = temporary;");
                self.give(&kept.text, "old", domain);
                self.give(&target.text, "choice", Domain::BOOL);
            } else {
                self.line("old = temporary;");
                self.give(&target.text, "old", Domain::BOOL);
            }
        } else {
            let add = matches!(statement.kind, StmtKind::Add { .. });
            if direct {
                self.line(&format!("old = {place};"));
            } else {
                let name = if add { "fetch_add" } else { "exchange" };
                let line = format!("old = atomic_{name}_explicit(&{place}, choice, {relaxed});");
                self.line(&line);
            }
            self.line(&format!(
                "temporary = {};",
                if add { "old + choice" } else { "choice" }
            ));
            if domain != Domain::INT && !domain.is_unbounded() {
                self.within("temporary", domain);
            }
            if direct {
                self.line(&format!("{place} = temporary;"));
            }
            self.give(&target.text, "old", domain);
        }
        self.stored = true;
        Ok(())
    }

    fn fence(&mut self, kind: FenceKind, span: Span) -> Done {
        if self.sequential() {
            return Ok(());
        }
        match kind {
            FenceKind::Full => self.line("atomic_thread_fence(memory_order_seq_cst);"),
            FenceKind::StoreStore => self.line("atomic_thread_fence(memory_order_release);"),
            FenceKind::StoreLoad => {
                return Err(refuse(
                    span,
                    "a store-load fence that lets later stores pass",
                    "use a full fence, or give a --model",
                ));
            }
        }
        Ok(())
    }
}
