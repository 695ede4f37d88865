//! The statements of a process in C.

use super::expr::{self, fits};
use super::{Printer, refuse};
use crate::diagnostic::Diagnostic;
use crate::import::names::Names;
use crate::lang::ast::{Block, Condition, Expr, ExprKind, Member, Place, Process, Stmt, StmtKind};
use crate::lang::resolve::{LocalVariable, Template};
use crate::program::{Domain, FenceKind, Initial};
use crate::source::Span;
use std::collections::HashMap;
use std::fmt::Write;

/// The body of a function that is being written.
pub struct Code<'p, 'a> {
    printer: &'p Printer<'a>,
    /// The number of the template.
    at: usize,
    template: &'p Template,
    /// What locals and the parameter are called.
    locals: HashMap<String, String>,
    labels: HashMap<String, String>,
    out: String,
    indent: usize,
    /// Inside an atomic section; a step that must wait is tried again from this label.
    section: Option<String>,
    /// Something was stored in the section.
    stored: bool,
    /// Where the choice of a branch is made, before the first statement of the branch.
    branch: Option<String>,
    retries: usize,
}

type Done = Result<(), Diagnostic>;

impl<'p, 'a> Code<'p, 'a> {
    pub fn new(printer: &'p Printer<'a>, at: usize, template: &'p Template) -> Code<'p, 'a> {
        let mut names: Names = printer.names.clone();
        let mut locals = HashMap::new();
        let own = template.instances[0].locals.iter().map(|local| &local.name);
        for name in template.parameter.iter().chain(own) {
            locals.insert(name.clone(), names.fresh(name));
        }
        for (name, variable) in &printer.observed[at] {
            locals.insert(name.clone(), format!("{variable}[number]"));
        }
        let labels = template.labels.iter();
        let labels = labels.map(|(label, _)| (label.clone(), names.fresh(&format!("at_{label}"))));
        Code {
            printer,
            at,
            template,
            locals,
            labels: labels.collect(),
            out: String::new(),
            indent: 1,
            section: None,
            stored: false,
            branch: None,
            retries: 0,
        }
    }

    /// The parameters of the function: the number of the instance, and its parameter.
    pub fn parameters(&self) -> String {
        match &self.template.parameter {
            None => "int number".to_string(),
            Some(parameter) => format!("int number, int {}", self.locals[parameter]),
        }
    }

    pub fn finish(self) -> String {
        self.out
    }

    pub fn body(&mut self, process: &Process, errors: &mut Vec<Diagnostic>) {
        let result = self.declare().and_then(|()| self.block(&process.body));
        errors.extend(result.err());
    }

    fn declare(&mut self) -> Done {
        self.line("(void)number;");
        if let Some(parameter) = &self.template.parameter {
            let line = format!("(void){};", self.locals[parameter]);
            self.line(&line);
        }
        self.line("int temporary = 0, old = 0, choice = 0;");
        self.line("(void)temporary, (void)old, (void)choice;");
        let instances = &self.template.instances;
        for (at, local) in instances[0].locals.iter().enumerate() {
            let same = |other: &LocalVariable| {
                other.domain == local.domain && other.initial == local.initial
            };
            if !instances.iter().all(|other| same(&other.locals[at])) {
                return Err(refuse(
                    local.span,
                    "a local whose range or initial value depends on the parameter",
                    "give all instances the same, and assign it",
                ));
            }
            if self.observed(&local.name) {
                continue;
            }
            let name = self.locals[&local.name].clone();
            match local.initial {
                Initial::Value(value) => self.line(&format!("int {name} = {value};")),
                Initial::Any => {
                    let Domain { low, high } = local.domain;
                    self.line(&format!("int {name} = {low};"));
                    self.line(&format!("CHOOSE({name}, {low}, {high});"));
                }
            }
            self.line(&format!("(void){name};"));
        }
        Ok(())
    }

    fn observed(&self, local: &str) -> bool {
        let mut observed = self.printer.observed[self.at].iter();
        observed.any(|(name, _)| name == local)
    }

    fn sequential(&self) -> bool {
        self.printer.options.sequential
    }

    fn line(&mut self, text: &str) {
        let indent = "    ".repeat(self.indent);
        let _ = writeln!(self.out, "{indent}{text}");
    }

    fn block(&mut self, block: &Block) -> Done {
        for member in &block.members {
            if let Member::Statement(statement) = member {
                self.statement(statement)?;
                self.branch = None;
            }
        }
        Ok(())
    }

    /// A statement in braces.
    fn braces(&mut self, head: &str, body: &Stmt, tail: &str) -> Done {
        self.line(&format!("{head}{{"));
        self.indent += 1;
        self.statement(body)?;
        self.branch = None;
        self.indent -= 1;
        self.line(&format!("}}{tail}"));
        Ok(())
    }

    fn statement(&mut self, statement: &Stmt) -> Done {
        let mut labels = Vec::new();
        let mut inner = statement;
        while let StmtKind::Labelled { label, statement } = &inner.kind {
            let line = format!("{}:;", self.labels[&label.text]);
            self.line(&line);
            labels.push(label.text.as_str());
            inner = statement;
        }
        let visible = self.printer.labels[self.at].iter();
        let visible = visible.filter(|(label, _)| labels.contains(&label.as_str()));
        let visible: Vec<(String, String)> = visible.cloned().collect();
        // Labels of loops hold each time round.
        let in_loop = matches!(
            inner.kind,
            StmtKind::While { .. } | StmtKind::DoWhile { .. }
        );
        if !in_loop {
            self.branch = if visible.is_empty() {
                self.branch.take()
            } else {
                None
            };
            self.at_labels(&visible, inner);
        }
        match &inner.kind {
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.condition(condition)?;
                self.braces(&format!("if ({condition}) "), then, "")?;
                match otherwise {
                    Some(otherwise) => self.braces("else ", otherwise, ""),
                    None => Ok(()),
                }
            }
            StmtKind::While { condition, body } => {
                self.line("while (1) {");
                self.indent += 1;
                self.at_labels(&visible, inner);
                let condition = self.condition(condition)?;
                self.line(&format!("if (!({condition}))"));
                self.line("    break;");
                self.statement(body)?;
                self.branch = None;
                self.indent -= 1;
                self.line("}");
                Ok(())
            }
            StmtKind::DoWhile { body, condition } => {
                self.do_while(&visible, inner, body, condition)
            }
            StmtKind::Either(branches) => self.either(branches),
            StmtKind::Nofence(block) | StmtKind::Block(block) => self.block(block),
            _ => self.simple(inner),
        }
    }

    /// `continue` in a `do` goes to its condition, which may need a choice before it.
    fn do_while(
        &mut self,
        visible: &[(String, String)],
        own: &Stmt,
        body: &Stmt,
        condition: &Condition,
    ) -> Done {
        self.line("do {");
        self.indent += 1;
        self.at_labels(visible, own);
        self.statement(body)?;
        self.branch = None;
        self.indent -= 1;
        let condition = match condition {
            Condition::Any(span) => {
                return Err(refuse(
                    *span,
                    "a choice behind the body of a loop",
                    "make it a `while (true)` with an `if (*) break;` at its end",
                ));
            }
            Condition::Expr(condition) => self.expr(condition)?,
        };
        self.line(&format!("}} while ({condition});"));
        Ok(())
    }

    fn either(&mut self, branches: &[Block]) -> Done {
        let again = self.retry();
        self.line(&format!("{again}:;"));
        self.line(&format!("CHOOSE(choice, 0, {});", branches.len() - 1));
        for (number, branch) in branches.iter().enumerate() {
            let head = match number {
                0 => "if (choice == 0) {".to_string(),
                _ if number + 1 == branches.len() => "else {".to_string(),
                _ => format!("else if (choice == {number}) {{"),
            };
            self.line(&head);
            self.indent += 1;
            self.branch = Some(again.clone());
            self.block(branch)?;
            self.branch = None;
            self.indent -= 1;
            self.line("}");
        }
        Ok(())
    }

    fn retry(&mut self) -> String {
        self.retries += 1;
        format!("again_{}", self.retries)
    }

    /// Shows that the process is at labels that properties name.
    fn at_labels(&mut self, visible: &[(String, String)], statement: &Stmt) {
        let stays = matches!(&statement.kind, StmtKind::Assume(never)
            if matches!(never.kind, ExprKind::Int(0) | ExprKind::Bool(false)));
        for (label, variable) in visible {
            let own = format!("{variable}[number]");
            if self.sequential() {
                let set = |value: u8| {
                    format!("__VERIFIER_atomic_begin(); {own} = {value}; __VERIFIER_atomic_end();")
                };
                self.line(&set(1));
                if !stays {
                    self.line(&set(0));
                }
                continue;
            }
            self.line(&format!(
                "atomic_store_explicit(&{own}, 1, memory_order_relaxed);"
            ));
            let printer = self.printer;
            for (at, template) in printer.symbols.templates.iter().enumerate() {
                let theirs = printer.labels[at].iter().filter(|(l, _)| l == label);
                for (_, theirs) in theirs {
                    for number in 0..template.instances.len() {
                        let seen = format!(
                            "atomic_load_explicit(&{theirs}[{number}], memory_order_relaxed) == 0"
                        );
                        self.line(&match at == self.at {
                            true => format!("assert(number == {number} || {seen});"),
                            false => format!("assert({seen});"),
                        });
                    }
                }
            }
            self.line(&format!(
                "atomic_store_explicit(&{own}, 0, memory_order_relaxed);"
            ));
        }
    }

    fn condition(&mut self, condition: &Condition) -> Result<String, Diagnostic> {
        match condition {
            Condition::Expr(condition) => self.expr(condition),
            Condition::Any(_) => {
                self.line("CHOOSE(choice, 0, 1);");
                Ok("choice".to_string())
            }
        }
    }

    fn expr(&self, expr: &Expr) -> Result<String, Diagnostic> {
        expr::text(expr, self.section.is_some(), &mut |leaf| match &leaf.kind {
            ExprKind::Name(name) => Ok(match self.locals.get(name) {
                Some(local) => local.clone(),
                None => self.printer.globals[name].clone(),
            }),
            _ => unreachable!("only properties have other leaves"),
        })
    }

    fn domain(&self, name: &str) -> Option<Domain> {
        let locals = &self.template.instances[0].locals;
        let local = locals.iter().find(|local| local.name == name);
        local.map(|local| local.domain)
    }

    /// A place, as it is written, and the range of its values.
    fn place(&self, place: &Place) -> Result<(String, Domain), Diagnostic> {
        let name = &self.printer.globals[&place.name.text];
        let mut shared = self.printer.symbols.shared.iter();
        let shared = shared.find(|shared| shared.name == place.name.text);
        let domain = shared.map_or(Domain::INT, |shared| shared.domain);
        Ok(match &place.index {
            None => (name.clone(), domain),
            Some(index) => (format!("{name}[{}]", self.expr(index)?), domain),
        })
    }

    /// An expression as a value of a range: checked in a variable unless it certainly is one.
    fn value(&mut self, value: &Expr, domain: Domain) -> Result<String, Diagnostic> {
        let text = self.expr(value)?;
        if domain == Domain::INT || fits(value, domain, &|name| self.domain(name)) {
            return Ok(text);
        }
        self.line(&format!("temporary = {text};"));
        self.within("temporary", domain);
        Ok("temporary".to_string())
    }

    fn within(&mut self, name: &str, Domain { low, high }: Domain) {
        self.line(&format!("assert({low} <= {name} && {name} <= {high});"));
    }

    /// Gives a local a value that is in a variable or a place of some range.
    fn give(&mut self, target: &str, value: &str, of: Domain) {
        let own = self.domain(target).unwrap_or(Domain::INT);
        let name = self.locals[target].clone();
        if own.contains(of.low) && own.contains(of.high) {
            return self.line(&format!("{name} = {value};"));
        }
        self.line(&format!("temporary = {value};"));
        self.within("temporary", own);
        self.line(&format!("{name} = temporary;"));
    }

    fn simple(&mut self, statement: &Stmt) -> Done {
        let touches = match &statement.kind {
            StmtKind::Store { .. }
            | StmtKind::Load { .. }
            | StmtKind::Cas { .. }
            | StmtKind::Swap { .. }
            | StmtKind::Add { .. } => true,
            StmtKind::Assign { target, .. } | StmtKind::Havoc { target, .. } => {
                self.observed(&target.text)
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
                let name = self.locals[&target.text].clone();
                self.line(&format!("{name} = {value};"));
            }
            StmtKind::Havoc { target, range } => {
                let own = self.domain(&target.text).unwrap_or(Domain::INT);
                let (low, high) = match range {
                    None => (own.low.to_string(), own.high.to_string()),
                    Some(range) => (self.expr(&range.low)?, self.expr(&range.high)?),
                };
                self.line(&format!("CHOOSE(choice, {low}, {high});"));
                let whole = range.as_ref().map_or(own, |_| Domain::INT);
                self.give(&target.text, "choice", whole);
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
            _ => unreachable!("statements with statements inside have been looked at"),
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
        let Domain { low, high } = domain;
        let relaxed = "memory_order_relaxed";
        match (&statement.kind, expected) {
            (_, Some(expected)) => {
                let expected = self.expr(expected)?;
                if direct {
                    self.line(&format!("old = {place};"));
                    self.line(&format!("temporary = (old == {expected});"));
                    self.line(&format!(
                        "{place} = temporary * {new} + (temporary == 0) * old;"
                    ));
                } else {
                    self.line(&format!("old = {expected};"));
                    self.line(&format!("temporary = atomic_compare_exchange_strong_explicit(&{place}, &old, {new}, {relaxed}, {relaxed});"));
                }
                if domain != Domain::INT {
                    self.line(&format!(
                        "assert(!temporary || ({low} <= {new} && {new} <= {high}));"
                    ));
                }
                self.line("old = temporary;");
                self.give(&target.text, "old", Domain::BOOL);
            }
            (kind, None) => {
                let add = matches!(kind, StmtKind::Add { .. });
                let after = if add {
                    format!("(old + {new})")
                } else {
                    new.clone()
                };
                if direct {
                    self.line(&format!("old = {place};"));
                    self.line(&format!("{place} = {after};"));
                } else {
                    let name = if add { "fetch_add" } else { "exchange" };
                    self.line(&format!(
                        "old = atomic_{name}_explicit(&{place}, {new}, {relaxed});"
                    ));
                }
                if domain != Domain::INT {
                    self.line(&format!("assert({low} <= {after} && {after} <= {high});"));
                }
                self.give(&target.text, "old", domain);
            }
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
