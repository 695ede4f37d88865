//! x86 litmus tests, as herd and its relatives read them.
//!
//! A test becomes a program with one process per column, in which registers are locals
//! and one instruction is one statement (or a block without room for fences inside). The
//! final condition becomes a `final` property. What only the test knows, its condition
//! and what to show of a final state, is kept beside the program in [`Test`].
//!
//! Registers and locations are 32-bit integers: leaving them is a runtime error of the
//! program, never a silent wrap.

mod condition;
mod instruction;
mod operand;
mod sections;
mod translate;

pub use condition::{Condition, Observed, Quantifier};

use super::build;
use super::names::Names;
use super::scan::{Read, hinted};
use crate::diagnostic::Diagnostic;
use crate::lang::ast::{Ast, Expr, Item, Predicate, Property};
use crate::lang::diagnostics::Diagnostics;
use crate::program::{BinaryOp, PropertyKind};
use crate::source::{Source, Span};
use instruction::Code;
use sections::{Sections, Target};
use std::collections::{BTreeMap, BTreeSet};

/// A litmus test: a program, and what is asked about its final states.
#[derive(Debug, Clone)]
pub struct Test {
    pub name: String,
    pub ast: Ast,
    pub quantifier: Quantifier,
    pub condition: Condition,
    /// Final states that do not satisfy it are left out.
    pub filter: Option<Condition>,
    /// What tells final states apart: registers by process, then locations.
    pub shown: Vec<Observed>,
    /// Some jump leads backwards.
    pub loops: bool,
}

/// Reads a test, or says what is wrong with it.
pub fn read(source: &Source) -> Result<Test, Vec<Diagnostic>> {
    let mut diagnostics = Diagnostics::new(20);
    let sections = match sections::read(source, &mut diagnostics) {
        Ok(sections) => sections,
        Err(error) => {
            diagnostics.push(*error);
            return Err(diagnostics.finish());
        }
    };
    let test = Translation::new(&sections).test(&mut diagnostics);
    test.ok_or_else(|| diagnostics.finish())
}

/// The names of the program that comes from a test.
struct Translation<'s> {
    sections: &'s Sections,
    names: Names,
    /// The shared variable of each location.
    locations: BTreeMap<String, (String, Span)>,
    processes: Vec<Code>,
}

impl<'s> Translation<'s> {
    fn new(sections: &'s Sections) -> Translation<'s> {
        Translation {
            sections,
            names: Names::native(),
            locations: BTreeMap::new(),
            processes: Vec::new(),
        }
    }

    /// The test, unless something is wrong with it, which goes to the diagnostics.
    fn test(mut self, diagnostics: &mut Diagnostics) -> Option<Test> {
        let sections = self.sections;
        for (column, &(_, span)) in sections.processes.iter().enumerate() {
            let name = self.names.fresh(&format!("P{column}"));
            self.processes.push(Code::new(name, span, sections.arch));
        }
        for row in &sections.rows {
            for (code, cell) in self.processes.iter_mut().zip(row) {
                if let Err(error) = instruction::read(&sections.text, *cell, code) {
                    diagnostics.push(*error);
                }
            }
        }
        for code in &self.processes {
            code.check_labels(diagnostics);
        }
        let mut mentioned: Vec<(Observed, Span)> = Vec::new();
        for condition in sections.filter.iter().chain([&sections.condition]) {
            condition.observed(&mut |observed, span| mentioned.push((observed.clone(), span)));
        }
        mentioned.extend(sections.shown.iter().cloned());
        let shown: BTreeSet<Observed> = mentioned.iter().map(|(o, _)| o.clone()).collect();
        let initial = sections.initial.iter();
        mentioned.extend(initial.map(|(target, _, span)| (target.clone(), *span)));
        for (observed, span) in &mentioned {
            if let Err(error) = self.mention(observed, *span) {
                diagnostics.push(*error);
            }
        }
        self.check_initial(diagnostics);
        if !diagnostics.is_empty() {
            return None;
        }
        let code = std::mem::take(&mut self.processes);
        for accessed in code.iter().flat_map(|code| &code.locations) {
            self.location(accessed.0, *accessed.1);
        }
        self.processes = code;
        let locals: Vec<BTreeMap<String, String>> = self
            .processes
            .iter()
            .map(|code| code.name_locals(&self.names))
            .collect();
        let ast = self.ast(&locals);
        let rename = |observed: &Observed| self.native(observed, &locals);
        Some(Test {
            name: sections.name.clone(),
            ast,
            quantifier: sections.quantifier,
            condition: sections.condition.renamed(&rename),
            filter: sections.filter.as_ref().map(|f| f.renamed(&rename)),
            shown: shown.iter().map(rename).collect(),
            loops: self.processes.iter().any(Code::loops),
        })
    }

    /// Makes sure that a register or location exists.
    fn mention(&mut self, observed: &Observed, span: Span) -> Read<()> {
        match observed {
            Observed::Location { name, .. } => self.location(name, span),
            Observed::Register { process, name, .. } => {
                let known = self.processes.len();
                let Some(code) = self.processes.get_mut(*process) else {
                    let message = format!("there is no process {process}");
                    let help = format!("the processes are 0 to {}", known - 1);
                    return Err(hinted(span, message, help));
                };
                code.registers.insert(name.clone());
            }
        }
        Ok(())
    }

    fn location(&mut self, name: &str, span: Span) {
        if !self.locations.contains_key(name) {
            let native = self.names.fresh(name);
            self.locations.insert(name.to_string(), (native, span));
        }
    }

    /// What a register or location is called in the program.
    fn native(&self, observed: &Observed, locals: &[BTreeMap<String, String>]) -> Observed {
        let mut named = observed.clone();
        match &mut named {
            Observed::Location { name, native } => {
                native.clone_from(&self.locations[name.as_str()].0);
            }
            Observed::Register {
                process,
                name,
                native,
            } => native.clone_from(&locals[*process][name.as_str()]),
        }
        named
    }

    /// Reports what is initialised twice, and differently.
    fn check_initial(&self, diagnostics: &mut Diagnostics) {
        let mut seen: BTreeMap<&Target, i64> = BTreeMap::new();
        for (target, value, span) in &self.sections.initial {
            let Some(value) = *value else { continue };
            if *seen.entry(target).or_insert(value) != value {
                let message = format!("{target} has two initial values");
                diagnostics.push(Diagnostic::error(*span, message));
            }
        }
    }

    fn ast(&self, locals: &[BTreeMap<String, String>]) -> Ast {
        let sections = self.sections;
        let initial = sections.initial.iter();
        let values = initial.filter_map(|(target, value, _)| Some((target, (*value)?)));
        let start: BTreeMap<&Target, i64> = values.collect();
        let mut items = Vec::new();
        let variables = self.locations.iter().map(|(name, (native, span))| {
            let location = Observed::location(name);
            let initial = start.get(&location).copied().unwrap_or(0);
            build::variable(native, initial, *span)
        });
        let variables: Vec<_> = variables.collect();
        if let Some(span) = variables.first().map(|v| v.name.span) {
            let ty = crate::lang::ast::Type::Int;
            items.push(Item::Shared(build::declare(ty, variables, span)));
        }
        for (index, code) in self.processes.iter().enumerate() {
            let initial = |register: &str| {
                let register = Observed::register(index, register);
                start.get(&register).copied().unwrap_or(0)
            };
            let places = |location: &str| self.locations[location].0.clone();
            items.push(Item::Process(code.process(
                &locals[index],
                &initial,
                &places,
            )));
        }
        items.push(Item::Property(Property {
            kind: PropertyKind::Final,
            predicate: Predicate::Expr(self.claim(locals)),
            span: sections.claim,
        }));
        Ast { items }
    }

    /// What must hold in every final state: not the outcome that is asked about, or the
    /// condition of a `forall`; states outside the filter do not matter.
    fn claim(&self, locals: &[BTreeMap<String, String>]) -> Expr {
        let expr = |condition: &Condition| {
            let process = |index: usize| self.processes[index].name.clone();
            condition.expr(&|observed| self.native(observed, locals), &process)
        };
        let condition = expr(&self.sections.condition);
        let filter = self.sections.filter.as_ref().map(expr);
        match (self.sections.quantifier, filter) {
            (Quantifier::Exists, None) => build::not(condition),
            (Quantifier::Exists, Some(filter)) => {
                build::not(build::binary(BinaryOp::And, filter, condition))
            }
            (Quantifier::Forall, None) => condition,
            (Quantifier::Forall, Some(filter)) => {
                build::binary(BinaryOp::Or, build::not(filter), condition)
            }
        }
    }
}
