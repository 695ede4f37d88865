//! Names and ranges: checks a syntax tree and tells what each name stands for.
//!
//! Names first, then constants, shared variables and the processes' own names, then the
//! code, then the properties, so that every check finds what it refers to wherever that
//! stands. Something declared wrongly is still known by name and gets values that give no
//! further errors.

mod code;
mod constant;
mod declare;
mod hidden;
mod integers;
mod names;
mod place;
mod process;
mod property;
mod quantified;

use super::ast::{Ast, Item, Process};
use super::diagnostics::Diagnostics;
use crate::diagnostic::Diagnostic;
use crate::program::{Domain, Initial, Value};
use crate::source::Span;
use std::collections::HashMap;

pub use constant::evaluate;

/// What the names of a checked program stand for.
#[derive(Debug, Clone)]
pub struct Symbols {
    pub consts: HashMap<String, Value>,
    /// Shared variables in source order.
    pub shared: Vec<SharedVariable>,
    /// Processes in source order.
    pub templates: Vec<Template>,
}

#[derive(Debug, Clone)]
pub struct SharedVariable {
    pub name: String,
    pub span: Span,
    pub domain: Domain,
    /// The number of cells of an array; `None` for a scalar.
    pub len: Option<u32>,
    /// The number of columns of an array with rows and columns; its cells stand row by row.
    pub columns: Option<u32>,
    /// One per cell.
    pub initial: Vec<Initial>,
}

/// A `process` item and the processes it stands for.
#[derive(Debug, Clone)]
pub struct Template {
    /// The index of the item in the syntax tree.
    pub item: usize,
    pub name: String,
    pub parameter: Option<String>,
    /// Labels in source order, with the span of the name at its definition.
    pub labels: Vec<(String, Span)>,
    /// The arrays among the locals: the index of the first cell, and the number of cells.
    pub arrays: HashMap<String, (usize, u32)>,
    /// There are so many ways to start that values for `*` are chosen in first steps.
    pub chooses: bool,
    pub instances: Vec<Instance>,
}

/// One process: ranges and initial values may depend on the parameter.
#[derive(Debug, Clone)]
pub struct Instance {
    pub parameter: Option<Value>,
    /// Locals in source order, the same ones in every instance, and then those without a name in
    /// the text ([`HIDDEN`]), in the order of the statements that need them.
    pub locals: Vec<LocalVariable>,
}

#[derive(Debug, Clone)]
pub struct LocalVariable {
    pub name: String,
    pub span: Span,
    pub domain: Domain,
    pub initial: Initial,
}

/// What the names of locals begin with that have none in the text.
pub const HIDDEN: char = '%';

/// More errors than this are only counted.
const MOST_ERRORS: usize = 50;

/// The most processes that one `process` item may stand for.
pub const MOST_INSTANCES: u32 = 64;
/// The most processes of a program.
pub const MOST_PROCESSES: usize = 256;
/// The most locals of one process.
pub const MOST_LOCALS: usize = 1000;
/// The most cells of one array.
pub const LONGEST_ARRAY: u32 = 4096;
/// The most cells of an array of one process.
pub const LONGEST_LOCAL_ARRAY: u32 = 64;
/// The most shared variables and array cells of a program.
pub const MOST_PLACES: usize = 65536;
/// The most values that `havoc` or the `*` initialisers of one process may choose from.
pub const MOST_CHOICES: u64 = 65536;

/// Checks a program, or says everything that is wrong with it.
pub fn resolve(ast: &Ast) -> Result<Symbols, Vec<Diagnostic>> {
    let mut checker = Checker {
        diagnostics: Diagnostics::new(MOST_ERRORS),
        suggestions: 0,
        globals: HashMap::new(),
        shared: Vec::new(),
        templates: Vec::new(),
        scopes: Vec::new(),
    };
    checker.collect_globals(ast);
    checker.declare_consts(ast);
    checker.declare_shared(ast);
    checker.declare_processes(ast);
    checker.check_code();
    checker.check_properties(ast);
    checker.check_integers(ast);
    if !checker.diagnostics.is_empty() {
        return Err(checker.diagnostics.finish());
    }
    let consts = checker.globals.iter();
    let consts = consts.filter_map(|(name, global)| match global.kind {
        GlobalKind::Const(value) => Some((name.to_string(), value?)),
        _ => None,
    });
    Ok(Symbols {
        consts: consts.collect(),
        shared: checker.shared,
        templates: checker.templates,
    })
}

/// What is known so far of the program `'a`.
struct Checker<'a> {
    diagnostics: Diagnostics,
    /// How many unknown names have been compared with all known ones.
    suggestions: u32,
    globals: HashMap<&'a str, Global>,
    shared: Vec<SharedVariable>,
    templates: Vec<Template>,
    /// One per template.
    scopes: Vec<Scope<'a>>,
}

/// A name of the top level.
#[derive(Debug, Clone, Copy)]
struct Global {
    kind: GlobalKind,
    span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GlobalKind {
    /// No value: not evaluated yet, or wrong.
    Const(Option<Value>),
    /// An index into the shared variables.
    Shared(usize),
    /// An index into the templates.
    Process(usize),
}

/// The names of a template.
struct Scope<'a> {
    process: &'a Process,
    locals: HashMap<&'a str, Local>,
    labels: HashMap<&'a str, Span>,
    /// Whether its instances are unknown because of an error.
    broken: bool,
}

#[derive(Debug, Clone, Copy)]
struct Local {
    /// The index into an instance's locals.
    index: usize,
    span: Span,
    /// Whether it has a range, so that it can take any value.
    ranged: bool,
    /// The number of cells of an array.
    len: Option<u32>,
}

impl<'a> Checker<'a> {
    /// Enters every top-level name, and reports those that are there twice.
    fn collect_globals(&mut self, ast: &'a Ast) {
        let (mut shared, mut processes) = (0, 0);
        for item in &ast.items {
            match item {
                Item::Const { name, .. } => self.add_global(name, GlobalKind::Const(None)),
                Item::Shared(declaration) => {
                    for variable in &declaration.variables {
                        self.add_global(&variable.name, GlobalKind::Shared(shared));
                        shared += 1;
                    }
                }
                Item::Process(process) => {
                    self.add_global(&process.name, GlobalKind::Process(processes));
                    processes += 1;
                }
                Item::Property(_) => {}
            }
        }
        if processes == 0 {
            let start = Span::new(0, 0);
            let diagnostic = Diagnostic::error(start, "the program has no process");
            self.diagnostics
                .push(diagnostic.help("add one: `process p { … }`"));
        }
    }
}

#[cfg(test)]
mod tests;
