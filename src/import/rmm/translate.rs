//! Machines in the native language: names, declarations and the property.

use super::sequence::Body;
use super::tree::{Kind, Machine, Process, Statement, Tuple, Variable};
use crate::diagnostic::Diagnostic;
use crate::import::build;
use crate::import::names::Names;
use crate::lang::ast::{
    self, Ast, Declaration, Expr, ExprKind, Init, Item, Name, Parameter, Predicate, ProcessRef,
    Property, Range,
};
use crate::lang::diagnostics::Diagnostics;
use crate::program::{BinaryOp, Domain, PropertyKind};
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// What the names of a machine stand for.
pub struct World<'m> {
    pub globals: Vec<(&'m Variable, String)>,
    /// Data that processes own, by name.
    pub owned: BTreeMap<&'m str, Owned<'m>>,
    /// The number of processes, copies included.
    pub processes: u32,
}

/// A variable of which each owner has one.
pub struct Owned<'m> {
    pub native: String,
    pub domain: Domain,
    /// By process.
    pub owners: BTreeMap<u32, &'m Variable>,
}

impl Owned<'_> {
    /// It takes a cell for each process.
    pub fn is_array(&self) -> bool {
        self.owners.len() > 1
    }
}

/// A machine as a program; what is wrong goes to the diagnostics.
pub fn machine(machine: &Machine, diagnostics: &mut Diagnostics) -> Ast {
    let mut names = Names::native();
    let world = world(machine, &mut names, diagnostics);
    let mut items: Vec<Item> = Vec::new();
    for (variable, native) in &world.globals {
        let init = initial(variable, variable.span);
        items.push(shared(variable.domain, native, None, init, variable.span));
    }
    for owned in world.owned.values() {
        items.extend(owned_item(owned, world.processes, diagnostics));
    }
    let mut labels = Vec::new();
    let mut first = 0;
    for process in &machine.processes {
        let name = names.fresh(&format!("P{first}"));
        let text = Text::new(process, name, first, &names, diagnostics);
        items.push(Item::Process(text.process(process, &world, diagnostics)));
        first += process.copies;
        labels.push(text);
    }
    for tuple in &machine.forbidden {
        items.extend(property(tuple, &labels, diagnostics).map(Item::Property));
    }
    Ast { items }
}

fn world<'m>(machine: &'m Machine, names: &mut Names, diagnostics: &mut Diagnostics) -> World<'m> {
    let globals = machine.globals.iter();
    let globals = globals.map(|global| (global, names.fresh(&global.name)));
    let globals = globals.collect();
    let mut owned: BTreeMap<&str, Owned> = BTreeMap::new();
    let mut first = 0;
    for process in &machine.processes {
        for variable in &process.data {
            let entry = owned.entry(&variable.name).or_insert_with(|| Owned {
                native: names.fresh(&variable.name),
                domain: variable.domain,
                owners: BTreeMap::new(),
            });
            if entry.domain != variable.domain {
                let message = format!(
                    "'{}' has the domain {} here and {} in another process",
                    variable.name, variable.domain, entry.domain
                );
                let help = "give it one domain in all processes, or other names";
                diagnostics.push(Diagnostic::error(variable.span, message).help(help));
            }
            let copies = first..first + process.copies;
            entry.owners.extend(copies.map(|copy| (copy, variable)));
        }
        first += process.copies;
    }
    World {
        globals,
        owned,
        processes: first,
    }
}

fn initial(variable: &Variable, span: Span) -> Option<Init> {
    match variable.initial {
        None => Some(Init::Any(span)),
        Some(0) => None,
        Some(value) => Some(Init::Value(build::int(value, span))),
    }
}

fn shared(domain: Domain, name: &str, len: Option<Expr>, init: Option<Init>, span: Span) -> Item {
    let variable = ast::Variable {
        name: build::name(name, span),
        len,
        init,
    };
    let ty = build::range(domain, span);
    Item::Shared(build::declare(ty, vec![variable], span))
}

fn owned_item(owned: &Owned, processes: u32, diagnostics: &mut Diagnostics) -> Option<Item> {
    let first = owned.owners.values().next()?;
    let span = first.span;
    if !owned.is_array() {
        let init = initial(first, span);
        return Some(shared(owned.domain, &owned.native, None, init, span));
    }
    let values: BTreeSet<Option<i64>> = owned.owners.values().map(|v| v.initial).collect();
    let init = if values.len() == 1 {
        initial(first, span)
    } else {
        let cells = (0..processes).map(|cell| {
            let owner = owned.owners.get(&cell).unwrap_or(first);
            owner.initial.map(|value| build::int(value, span))
        });
        let cells: Option<Vec<Expr>> = cells.collect();
        if cells.is_none() {
            let message = format!("'{}' starts as `*` in some processes only", first.name);
            let help = "let it start as `*` in all processes or in none";
            diagnostics.push(Diagnostic::error(span, message).help(help));
        }
        cells.map(|cells| Init::Cells(cells, span))
    };
    let len = build::int(processes.into(), span);
    Some(shared(owned.domain, &owned.native, Some(len), init, span))
}

/// The names of one process text.
pub struct Text<'m> {
    name: String,
    /// The number of the first copy, and how many there are.
    pub first: u32,
    pub copies: u32,
    pub parameter: Option<String>,
    pub registers: BTreeMap<&'m str, (String, Domain)>,
    pub labels: BTreeMap<&'m str, (String, Span)>,
    /// A local for values on their way, if one is needed.
    pub scratch: String,
}

impl<'m> Text<'m> {
    fn new(
        process: &'m Process,
        name: String,
        first: u32,
        globals: &Names,
        diagnostics: &mut Diagnostics,
    ) -> Text<'m> {
        let mut names = globals.clone();
        let registers = process.registers.iter();
        let registers = registers.map(|r| (r.name.as_str(), (names.fresh(&r.name), r.domain)));
        let registers = registers.collect();
        let parameter = (process.copies > 1).then(|| names.fresh("i"));
        let mut text = Text {
            name,
            first,
            copies: process.copies,
            parameter,
            registers,
            labels: BTreeMap::new(),
            scratch: names.fresh("tmp"),
        };
        text.collect(&process.body, &mut Names::native(), diagnostics);
        text
    }

    /// Enters the labels of statements, however deep they stand.
    fn collect(&mut self, body: &'m [Statement], names: &mut Names, diagnostics: &mut Diagnostics) {
        for statement in body {
            if let Some((label, span)) = &statement.label {
                let native = names.fresh(label);
                if let Some((_, first)) = self.labels.insert(label, (native, *span)) {
                    let error = Diagnostic::error(*span, format!("duplicate label '{label}'"));
                    diagnostics.push(error.related(first, "first placed here"));
                }
            }
            match &statement.kind {
                Kind::If {
                    then, otherwise, ..
                } => {
                    self.collect(std::slice::from_ref(then), names, diagnostics);
                    if let Some(otherwise) = otherwise {
                        self.collect(std::slice::from_ref(otherwise), names, diagnostics);
                    }
                }
                Kind::While { body, .. } => {
                    self.collect(std::slice::from_ref(body), names, diagnostics);
                }
                Kind::Either(branches) | Kind::Locked(branches) => {
                    for branch in branches {
                        self.collect(branch, names, diagnostics);
                    }
                }
                Kind::Block(body) => self.collect(body, names, diagnostics),
                _ => {}
            }
        }
    }

    fn process(
        &self,
        process: &Process,
        world: &World,
        diagnostics: &mut Diagnostics,
    ) -> ast::Process {
        let mut body = Body::new(self, world, diagnostics);
        let statements = body.statements(&process.body);
        let scratch = body.scratch_domain();
        let mut locals: Vec<(Domain, Declaration)> = Vec::new();
        let mut declare = |domain: Domain, variable: ast::Variable| match locals.last_mut() {
            Some((same, declaration)) if *same == domain => declaration.variables.push(variable),
            _ => {
                let span = variable.name.span;
                let ty = build::range(domain, span);
                locals.push((domain, build::declare(ty, vec![variable], span)));
            }
        };
        for register in &process.registers {
            let (native, domain) = &self.registers[register.name.as_str()];
            let span = register.span;
            let variable = ast::Variable {
                name: build::name(native, span),
                len: None,
                init: initial(register, span),
            };
            declare(*domain, variable);
        }
        if let Some(domain) = scratch {
            declare(domain, build::variable(&self.scratch, 0, process.span));
        }
        let locals = locals.into_iter().map(|(_, declaration)| declaration);
        let locals = locals.collect();
        let mut native = build::process(&self.name, locals, statements, process.span);
        native.parameter = self.parameter.as_ref().map(|parameter| {
            let end = |value: u32| build::int(value.into(), process.span);
            Parameter {
                name: build::name(parameter, process.span),
                range: Range {
                    low: end(self.first),
                    high: end(self.first + self.copies - 1),
                    span: process.span,
                },
            }
        });
        native
    }
}

/// No reachable state has every process at the labels of a tuple.
fn property(tuple: &Tuple, texts: &[Text], diagnostics: &mut Diagnostics) -> Option<Property> {
    let processes: u32 = texts.iter().map(|text| text.copies).sum();
    if tuple.labels.len() != processes as usize {
        let message = format!(
            "this names {} labels, and there are {processes} processes",
            tuple.labels.len()
        );
        let help = "a tuple has one label or `*` for each process; tuples are separated by `;`";
        diagnostics.push(Diagnostic::error(tuple.span, message).help(help));
        return None;
    }
    let mut positions = Vec::new();
    let copies = texts
        .iter()
        .flat_map(|t| (t.first..t.first + t.copies).map(move |c| (t, c)));
    for ((text, copy), label) in copies.zip(&tuple.labels) {
        let Some((label, span)) = label else {
            continue;
        };
        let Some((native, _)) = text.labels.get(label.as_str()) else {
            let message = format!("process {copy} has no label '{label}'");
            diagnostics.push(Diagnostic::error(*span, message));
            continue;
        };
        let index = text.parameter.as_ref().map(|_| {
            let copy = i64::from(copy);
            Box::new(build::int(copy, *span))
        });
        let process = ProcessRef {
            name: build::name(&text.name, *span),
            index,
            span: *span,
        };
        let label: Name = build::name(native, *span);
        positions.push(build::expr(ExprKind::At { process, label }, *span));
    }
    let everywhere = build::expr(ExprKind::Bool(true), tuple.span);
    let predicate = build::chain(BinaryOp::And, positions).unwrap_or(everywhere);
    Some(Property {
        kind: PropertyKind::Forbid,
        predicate: Predicate::Expr(predicate),
        span: tuple.span,
    })
}
