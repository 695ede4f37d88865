//! The statements of a process in C.

use super::expr::{self, fits};
use super::{Printer, choose, first, refuse};
use crate::diagnostic::Diagnostic;
use crate::import::names::Names;
use crate::lang::ast::{Block, Condition, Expr, ExprKind, Member, Place, Process, Stmt, StmtKind};
use crate::lang::resolve::{HIDDEN, LocalVariable, Template};
use crate::program::{Domain, Initial};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

/// The body of a function that is being written.
pub struct Code<'p, 'a> {
    pub(super) printer: &'p Printer<'a>,
    /// The number of the template.
    at: usize,
    template: &'p Template,
    /// What locals and the parameter are called.
    pub(super) locals: HashMap<String, String>,
    pub(super) labels: HashMap<String, String>,
    out: String,
    indent: usize,
    /// Inside an atomic section; a step that must wait is tried again from this label.
    pub(super) section: Option<String>,
    /// Something was stored in the section.
    pub(super) stored: bool,
    /// Where the choice of a branch is made, before the first statement of the branch.
    pub(super) branch: Option<String>,
    retries: usize,
}

pub type Done = Result<(), Diagnostic>;

impl<'p, 'a> Code<'p, 'a> {
    pub fn new(printer: &'p Printer<'a>, at: usize, template: &'p Template) -> Code<'p, 'a> {
        let mut names: Names = printer.names.clone();
        let mut locals = HashMap::new();
        let own = named(template).map(|(_, local)| &local.name);
        let arrays = template.arrays.keys().collect::<BTreeSet<_>>();
        for name in template.parameter.iter().chain(own).chain(arrays) {
            locals.insert(name.clone(), names.fresh(name));
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
        let working = self.printer.working_type();
        self.line(&format!("{working} temporary = 0, old = 0, choice = 0;"));
        self.line("(void)temporary, (void)old, (void)choice;");
        self.declare_arrays()?;
        for (at, local) in named(self.template) {
            let instances = &self.template.instances;
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
            let name = self.locals[&local.name].clone();
            let ty = local_type(local.domain);
            match (local.initial, self.observed(&local.name)) {
                (Initial::Value(value), _) => self.line(&format!("{ty} {name} = {value};")),
                // Chosen by `main`.
                (Initial::Any, Some(variable)) => {
                    self.line(&format!("{ty} {name} = {variable};"));
                }
                (Initial::Any, None) => {
                    let start = first(local.initial, local.domain);
                    self.line(&format!("{ty} {name} = {start};"));
                    self.line(&choose(&name, local.domain));
                }
            }
            self.line(&format!("(void){name};"));
        }
        Ok(())
    }

    fn declare_arrays(&mut self) -> Done {
        let arrays = self.template.arrays.iter();
        let mut arrays: Vec<(&String, (usize, u32))> =
            arrays.map(|(name, at)| (name, *at)).collect();
        arrays.sort_by_key(|(_, (first, _))| *first);
        for (name, (start, len)) in arrays {
            let cells = start..start + len as usize;
            let instances = &self.template.instances;
            let cell = &instances[0].locals[start];
            let (span, domain) = (cell.span, cell.domain);
            let alike = |at: usize| {
                let known = &instances[0].locals[at];
                let mut others = instances.iter().map(|instance| &instance.locals[at]);
                others.all(|other| other.domain == known.domain && other.initial == known.initial)
            };
            if !cells.clone().all(alike) || self.observed(name).is_some() {
                return Err(refuse(
                    span,
                    "an array whose cells properties name, or that depends on the parameter",
                    "use a local for each cell",
                ));
            }
            let initial: Vec<Initial> = cells.map(|at| instances[0].locals[at].initial).collect();
            let values = initial.iter().map(|cell| first(*cell, domain).to_string());
            let values = values.collect::<Vec<_>>().join(", ");
            let (ty, name) = (local_type(domain), self.locals[name].clone());
            self.line(&format!("{ty} {name}[{len}] = {{{values}}};"));
            for (at, initial) in initial.iter().enumerate() {
                if *initial == Initial::Any {
                    self.line(&choose("choice", domain));
                    self.line(&format!("{name}[{at}] = choice;"));
                }
            }
            self.line(&format!("(void){name};"));
        }
        Ok(())
    }

    /// The variable in which properties see a local, if they do.
    pub(super) fn observed(&self, local: &str) -> Option<String> {
        let mut observed = self.printer.observed[self.at].iter();
        let (_, variable) = observed.find(|(name, _)| name == local)?;
        Some(format!("{variable}[number]"))
    }

    pub(super) fn sequential(&self) -> bool {
        self.printer.options.sequential
    }

    pub(super) fn line(&mut self, text: &str) {
        let indent = "    ".repeat(self.indent);
        let _ = writeln!(self.out, "{indent}{text}");
    }

    pub(super) fn block(&mut self, block: &Block) -> Done {
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

    pub(super) fn retry(&mut self) -> String {
        self.retries += 1;
        format!("again_{}", self.retries)
    }

    /// Shows that the process is at labels that properties name.
    fn at_labels(&mut self, visible: &[(String, String)], statement: &Stmt) {
        let stays = matches!(&statement.kind, StmtKind::Assume(never)
            if matches!(never.kind, ExprKind::Int(0) | ExprKind::Bool(false)));
        for (label, variable) in visible {
            // In a plain program only processes look at labels, for `mutex`.
            if !self.sequential() && !self.printer.excludes(label) {
                continue;
            }
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

    pub(super) fn expr(&self, expr: &Expr) -> Result<String, Diagnostic> {
        expr::text(expr, self.section.is_some(), &mut |leaf| match &leaf.kind {
            ExprKind::Name(name) => Ok(match self.locals.get(name) {
                Some(local) => local.clone(),
                None => self.printer.globals[name].clone(),
            }),
            ExprKind::Cell { name, index } => {
                let index = self.expr(index)?;
                Ok(format!("{}[{index}]", self.locals[&name.text]))
            }
            _ => unreachable!("only properties have other leaves"),
        })
    }

    pub(super) fn domain(&self, name: &str) -> Option<Domain> {
        let locals = &self.template.instances[0].locals;
        let local = locals.iter().find(|local| local.name == name);
        local.map(|local| local.domain)
    }

    /// The range of the cells of an array of the process.
    pub(super) fn cells(&self, array: &str) -> Domain {
        let (first, _) = self.template.arrays[array];
        self.template.instances[0].locals[first].domain
    }

    /// A place, as it is written, and the range of its values.
    pub(super) fn place(&self, place: &Place) -> Result<(String, Domain), Diagnostic> {
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
    pub(super) fn value(&mut self, value: &Expr, domain: Domain) -> Result<String, Diagnostic> {
        let text = self.expr(value)?;
        let any = domain == Domain::INT || domain.is_unbounded();
        if any || fits(value, domain, &|name| self.domain(name)) {
            return Ok(text);
        }
        self.line(&format!("temporary = {text};"));
        self.within("temporary", domain);
        Ok("temporary".to_string())
    }

    pub(super) fn within(&mut self, name: &str, Domain { low, high }: Domain) {
        self.line(&format!("assert({low} <= {name} && {name} <= {high});"));
    }

    /// Gives a local a value that is in a variable or a place of some range.
    pub(super) fn give(&mut self, target: &str, value: &str, of: Domain) {
        let own = self.domain(target).unwrap_or(Domain::INT);
        if own.contains(of.low) && own.contains(of.high) {
            return self.set(target, value);
        }
        self.line(&format!("temporary = {value};"));
        self.within("temporary", own);
        self.set(target, "temporary");
    }

    /// Assigns to a local, where properties see it, too.
    pub(super) fn set(&mut self, target: &str, value: &str) {
        let name = self.locals[target].clone();
        self.line(&format!("{name} = {value};"));
        if let Some(variable) = self.observed(target) {
            self.line(&format!("{variable} = {name};"));
        }
    }
}

/// The locals that are no cells and have names, with their numbers.
fn named(template: &Template) -> impl Iterator<Item = (usize, &LocalVariable)> {
    let arrays = template.arrays.values().copied();
    let arrays: Vec<(usize, u32)> = arrays.collect();
    let is_cell = move |at: usize| {
        let mut arrays = arrays.iter();
        arrays.any(|(first, len)| (*first..first + *len as usize).contains(&at))
    };
    let locals = template.instances[0].locals.iter().enumerate();
    locals.filter(move |(at, local)| !is_cell(*at) && !local.name.starts_with(HIDDEN))
}

/// The type of a local.
fn local_type(domain: Domain) -> &'static str {
    if domain.is_unbounded() {
        "long long"
    } else {
        "int"
    }
}
