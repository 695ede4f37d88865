//! What each process has: its instances, labels and locals.

use super::code::Code;
use super::constant::{Lookup, Problems, domain, initial, range};
use super::hidden::{Purpose, needed};
use super::{
    Checker, Instance, LONGEST_LOCAL_ARRAY, Local, LocalVariable, MOST_CHOICES, MOST_INSTANCES,
    MOST_LOCALS, MOST_PROCESSES, Scope, Template,
};
use crate::diagnostic::Diagnostic;
use crate::lang::ast::{
    Ast, Block, Declaration, Expr, ExprKind, Init, Item, Member, Name, Predicate, Process, Stmt,
    StmtKind, Type, Variable,
};
use crate::program::{Domain, Initial, Value};
use std::collections::{BTreeSet, HashMap};

impl<'a> Checker<'a> {
    pub(super) fn declare_processes(&mut self, ast: &'a Ast) {
        let mut processes = 0;
        for (item, process) in ast.items.iter().enumerate() {
            let Item::Process(process) = process else {
                continue;
            };
            let parameters = self.parameter_values(process);
            let mut scope = Scope {
                process,
                locals: HashMap::new(),
                labels: HashMap::new(),
                broken: parameters.is_none(),
            };
            let mut template = Template {
                item,
                name: process.name.text.clone(),
                parameter: scope.parameter().map(str::to_string),
                labels: Vec::new(),
                arrays: HashMap::new(),
                chooses: false,
                instances: Vec::new(),
            };
            let before = processes;
            for parameter in parameters.into_iter().flatten() {
                processes += 1;
                template.instances.push(Instance {
                    parameter,
                    locals: Vec::new(),
                });
            }
            if before <= MOST_PROCESSES && processes > MOST_PROCESSES {
                let message = format!("more than {MOST_PROCESSES} processes in all");
                self.diagnostics
                    .push(Diagnostic::error(process.name.span, message));
            }
            if processes > MOST_PROCESSES {
                template.instances.clear();
                scope.broken = true;
            }
            let mut members = Members::default();
            members.collect(&process.body);
            self.declare_labels(&members, &mut scope, &mut template);
            self.declare_locals(&members, &mut scope, &mut template);
            self.declare_hidden(&members.hidden, &scope, &mut template);
            self.check_starts(ast, process, &mut template);
            self.scopes.push(scope);
            self.templates.push(template);
        }
    }

    /// Decides whether a process chooses its first values when it starts or in steps of its own.
    /// The latter is not seen by properties only if they do not name the locals.
    fn check_starts(&mut self, ast: &Ast, process: &Process, template: &mut Template) {
        let ways = |named: &dyn Fn(&LocalVariable) -> bool| {
            let most = template
                .instances
                .iter()
                .map(|instance| starts(instance, named));
            most.max().unwrap_or(0)
        };
        let many = ways(&|_| true) > MOST_CHOICES;
        if !many {
            return;
        }
        let named = named_locals(ast);
        let seen = ways(&|local| named.contains(&local.name));
        let single = |local: &LocalVariable| {
            local.initial == Initial::Any && local.domain.size() > MOST_CHOICES
        };
        let mut locals = template.instances.iter().flat_map(|i| &i.locals);
        if seen > 1 || locals.any(single) {
            let message = format!("process '{}' can start in too many ways", template.name);
            let help = format!("the `*` initialisers may leave at most {MOST_CHOICES} choices");
            let diagnostic = Diagnostic::error(process.name.span, message).help(help);
            self.diagnostics.push(diagnostic);
        }
        template.chooses = true;
    }

    /// The parameter of each instance, or nothing if the range is wrong.
    fn parameter_values(&mut self, process: &Process) -> Option<Vec<Option<Value>>> {
        let Some(parameter) = &process.parameter else {
            return Some(vec![None]);
        };
        let name = &parameter.name;
        if let Some(global) = self.globals.get(name.text.as_str())
            && !global.kind.is_process()
        {
            let what = global.kind.describe();
            let message = format!("'{}' is already the name of {what}", name.text);
            let diagnostic = Diagnostic::error(name.span, message);
            let diagnostic = diagnostic.related(global.span, "first declared here");
            self.diagnostics.push(diagnostic);
        }
        let ends = [&parameter.range.low, &parameter.range.high];
        if !ends
            .map(|end| self.check_constant(end, None))
            .contains(&false)
        {
            let domain = range(&parameter.range, &|name| self.const_value(name));
            let domain = self.accept(domain)?;
            let count = domain.high - domain.low + 1;
            if count <= i64::from(MOST_INSTANCES) {
                return Some((domain.low..=domain.high).map(Some).collect());
            }
            let message = format!("one process stands for at most {MOST_INSTANCES}, not {count}");
            self.diagnostics
                .push(Diagnostic::error(parameter.range.span, message));
        }
        None
    }

    fn declare_labels(&mut self, members: &Members<'a>, scope: &mut Scope<'a>, to: &mut Template) {
        for label in &members.labels {
            if let Some(&first) = scope.labels.get(label.text.as_str()) {
                let message = format!("duplicate label '{}' in process '{}'", label.text, to.name);
                let diagnostic = Diagnostic::error(label.span, message);
                self.diagnostics
                    .push(diagnostic.related(first, "first placed here"));
                continue;
            }
            scope.labels.insert(&label.text, label.span);
            to.labels.push((label.text.clone(), label.span));
        }
    }

    fn declare_locals(&mut self, members: &Members<'a>, scope: &mut Scope<'a>, to: &mut Template) {
        let mut index = 0;
        for declaration in &members.declarations {
            for variable in &declaration.variables {
                let name = &variable.name;
                let clash = self.clash(variable, scope);
                let len = variable.len.as_ref();
                let len = len.map(|len| self.local_array_length(len).unwrap_or(1));
                if let Some(diagnostic) = clash {
                    self.diagnostics.push(diagnostic);
                } else {
                    let local = Local {
                        index,
                        span: name.span,
                        ranged: declaration.ty != Type::Int,
                        len,
                    };
                    scope.locals.insert(&name.text, local);
                    let array = len.map(|len| (name.text.clone(), (index, len)));
                    to.arrays.extend(array);
                }
                let before = index;
                index += len.unwrap_or(1) as usize;
                if before <= MOST_LOCALS && index > MOST_LOCALS {
                    let message = format!("more than {MOST_LOCALS} locals in one process");
                    self.diagnostics.push(Diagnostic::error(name.span, message));
                    to.instances.clear();
                    scope.broken = true;
                }
            }
        }
        for declaration in &members.declarations {
            let typed = self.check_type(&declaration.ty, Some(scope));
            let domains = if typed {
                let mut ends = Vec::new();
                if let Type::Ranged(range) = &declaration.ty {
                    ends.extend([&range.low, &range.high]);
                }
                self.per_instance(scope, to, &ends, |_, lookup| {
                    domain(&declaration.ty, lookup)
                })
            } else {
                None
            };
            for variable in &declaration.variables {
                self.declare_local(declaration, variable, domains.as_deref(), scope, to);
            }
        }
    }

    /// What a local's name cannot be shared with.
    fn clash(&self, variable: &Variable, scope: &Scope) -> Option<Diagnostic> {
        let name = &variable.name;
        let (what, first) = if let Some(local) = scope.locals.get(name.text.as_str()) {
            ("another local of this process", local.span)
        } else if let Some(parameter) = &scope.process.parameter
            && parameter.name.text == name.text
        {
            ("the parameter", parameter.name.span)
        } else {
            let global = self.globals.get(name.text.as_str())?;
            if global.kind.is_process() {
                return None;
            }
            (global.kind.describe(), global.span)
        };
        let message = format!("'{}' is already the name of {what}", name.text);
        Some(Diagnostic::error(name.span, message).related(first, "first declared here"))
    }

    fn declare_local(
        &mut self,
        declaration: &Declaration,
        variable: &Variable,
        domains: Option<&[Domain]>,
        scope: &Scope,
        to: &mut Template,
    ) {
        let name = &variable.name;
        let fine = self.check_initialiser(variable, Some(scope));
        let array = to.arrays.get(&name.text);
        let array = array
            .filter(|_| variable.len.is_some())
            .map(|(_, len)| *len);
        let cells = array.unwrap_or(1);
        let mut used = Vec::new();
        match &variable.init {
            Some(Init::Value(expr)) => used.push(expr),
            Some(Init::Cells(exprs, _)) => used.extend(exprs),
            Some(Init::Any(_)) | None => {}
        }
        if let Type::Ranged(range) = &declaration.ty {
            used.extend([&range.low, &range.high]);
        }
        let initials = match domains {
            Some(domains) if fine => self.per_instance(scope, to, &used, |instance, lookup| {
                let domain = domains.get(instance).copied().unwrap_or(Domain::INT);
                initial(variable, &declaration.ty, domain, cells as usize, lookup)
            }),
            _ => None,
        };
        for (index, instance) in to.instances.iter_mut().enumerate() {
            let initial = initials.as_ref().and_then(|all| all.get(index));
            let domain = domains.and_then(|all| all.get(index));
            instance.locals.extend((0..cells).map(|cell| {
                LocalVariable {
                    name: match array {
                        Some(_) => format!("{}[{cell}]", name.text),
                        None => name.text.clone(),
                    },
                    span: name.span,
                    domain: domain.copied().unwrap_or(Domain::INT),
                    initial: initial
                        .and_then(|all| all.get(cell as usize))
                        .copied()
                        .unwrap_or(Initial::Value(0)),
                }
            }));
        }
    }

    fn local_array_length(&mut self, len: &Expr) -> Option<u32> {
        if let ExprKind::Pair { .. } = len.kind {
            let message = "an array of a process has one index";
            let diagnostic = Diagnostic::error(len.span, message);
            self.diagnostics
                .push(diagnostic.help("only shared arrays have rows and columns"));
            return None;
        }
        self.array_length(len, LONGEST_LOCAL_ARRAY)
    }

    /// Evaluates something in every instance, up to the first where it is wrong; the
    /// message names the instance if one of the expressions `used` depends on it.
    fn per_instance<T>(
        &mut self,
        scope: &Scope,
        template: &Template,
        used: &[&Expr],
        evaluate: impl Fn(usize, Lookup) -> Result<T, Problems>,
    ) -> Option<Vec<T>> {
        let mut values = Vec::new();
        for (index, instance) in template.instances.iter().enumerate() {
            let value = evaluate(index, &|name| match instance.parameter {
                Some(value) if scope.is_parameter(name) => Some(value),
                _ => self.const_value(name),
            });
            let value = value.map_err(|mut problems| {
                let code = Code { scope, template };
                let suffix = code.suffix(index, used);
                for problem in &mut problems {
                    problem.message.push_str(&suffix);
                }
                problems
            });
            values.push(self.accept(value)?);
        }
        Some(values)
    }
}

/// The declarations and labels of a process, in source order, however deep they stand.
#[derive(Default)]
struct Members<'a> {
    declarations: Vec<&'a Declaration>,
    labels: Vec<&'a Name>,
    hidden: Vec<Purpose<'a>>,
}

impl<'a> Members<'a> {
    fn collect(&mut self, block: &'a Block) {
        for member in &block.members {
            match member {
                Member::Locals(declaration) => self.declarations.push(declaration),
                Member::Statement(statement) => self.collect_from(statement),
            }
        }
    }

    fn collect_from(&mut self, statement: &'a Stmt) {
        self.hidden.extend(needed(statement));
        match &statement.kind {
            StmtKind::Labelled { label, statement } => {
                self.labels.push(label);
                self.collect_from(statement);
            }
            StmtKind::If {
                then, otherwise, ..
            } => {
                self.collect_from(then);
                if let Some(otherwise) = otherwise {
                    self.collect_from(otherwise);
                }
            }
            StmtKind::While { body, .. }
            | StmtKind::DoWhile { body, .. }
            | StmtKind::For { body, .. }
            | StmtKind::Repeat { body, .. } => self.collect_from(body),
            StmtKind::Either(branches) => {
                for branch in branches {
                    self.collect(branch);
                }
            }
            StmtKind::Expanded(block)
            | StmtKind::Nofence(block)
            | StmtKind::Atomic(block)
            | StmtKind::Block(block) => self.collect(block),
            _ => {}
        }
    }
}

/// The number of ways in which some locals of a process can be initialised.
fn starts(instance: &Instance, counts: &dyn Fn(&LocalVariable) -> bool) -> u64 {
    let free = instance.locals.iter();
    let counted = |l: &&LocalVariable| l.initial == Initial::Any && !l.domain.is_unbounded();
    let free = free.filter(counted).filter(|local| counts(local));
    free.fold(1, |ways: u64, local| {
        ways.saturating_mul(local.domain.size())
    })
}

/// The names of all locals that properties name, of whichever process.
fn named_locals(ast: &Ast) -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    for item in &ast.items {
        if let Item::Property(property) = item
            && let Predicate::Expr(predicate) = &property.predicate
        {
            predicate.visit(&mut |part| {
                if let ExprKind::Local { local, .. } = &part.kind {
                    named.insert(local.text.clone());
                }
            });
        }
    }
    named
}
