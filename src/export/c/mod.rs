//! A program as a C program with pthreads and `assert`, for compilers, bounded checkers and
//! testing tools.
//!
//! *Plain* programs use C11 atomics: loads and stores are relaxed, a fence is one of sequential
//! consistency, a store-store fence one of release. What they mean is up to whoever runs them.
//! *Sequential* programs are those of [`super::sequential`], or programs under SC: every memory
//! operation is an atomic section in the manner of SV-COMP (`__VERIFIER_atomic_begin` and
//! `__VERIFIER_atomic_end`), which is a lock where the program is compiled and run.
//!
//! Properties are checked by a thread that looks once, at any time. For a property about labels,
//! a process sets a variable when it is about to run the labelled statement and takes it back
//! right before: others can come between. So `p at L` is seen in every state that has it, and
//! never elsewhere, but may be missed for a moment; a property that is violated by a process
//! *not* being at a label is refused. `final` is checked when all threads have been joined, and
//! `mutex` in a plain program by the processes themselves: who is at the label says so in
//! memory and looks whether others do. With store buffers per place (PSO) that may find more
//! than there is, since a process may be seen at its label when it has left.

mod expr;
mod observed;
mod operations;
mod statements;
mod text;

use super::desugar::desugared;
use super::plain;
use crate::diagnostic::Diagnostic;
use crate::import::names::Names;
use crate::lang::ast::{Ast, Expr, Item, Predicate, Process, Property};
use crate::lang::resolve::{SharedVariable, Symbols, Template, resolve};
use crate::program::{Domain, Initial, PropertyKind, Value};
use crate::source::Span;
use observed::{monotone, named, observes};
use statements::Code;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

/// What is printed.
#[derive(Debug, Clone, Default)]
pub struct COptions {
    /// Memory operations are sections under SC, not atomics.
    pub sequential: bool,
    /// Processes that run for ever beside the others.
    pub servants: Vec<String>,
    /// The first lines, as a comment.
    pub head: String,
}

/// The program in C, or what in it cannot be said.
pub fn print(ast: &Ast, symbols: &Symbols, options: &COptions) -> Result<String, Vec<Diagnostic>> {
    let mut ast = desugared(ast, symbols);
    for item in &mut ast.items {
        if let Item::Property(property) = item
            && let Predicate::Expr(predicate) = &mut property.predicate
        {
            *predicate = symbols.unquantified(predicate);
        }
    }
    let ast = &ast;
    let symbols = &resolve(ast)?;
    plain::check(ast)?;
    let printer = Printer::new(ast, symbols, options);
    let mut errors = Vec::new();
    let text = printer.text(ast, &mut errors);
    match errors.is_empty() {
        true => Ok(text),
        false => Err(errors),
    }
}

/// What cannot be said.
fn refuse(span: Span, reason: &str, help: &str) -> Diagnostic {
    let message = format!("this cannot be said in C: {reason}");
    Diagnostic::error(span, message).help(help)
}

struct Printer<'a> {
    /// There are integers without bound.
    wide: bool,
    symbols: &'a Symbols,
    options: &'a COptions,
    /// The names in C of constants, shared variables and processes.
    globals: HashMap<String, String>,
    /// Words that locals must not be called.
    names: Names,
    properties: Vec<&'a Property>,
    /// By process: labels that properties name, with their variables.
    labels: Vec<Vec<(String, String)>>,
    /// By process: locals that properties name, with their variables.
    observed: Vec<Vec<(String, String)>>,
}

impl<'a> Printer<'a> {
    fn new(ast: &'a Ast, symbols: &'a Symbols, options: &'a COptions) -> Printer<'a> {
        let mut names = Names::avoiding(text::RESERVED);
        let mut globals = HashMap::new();
        let consts = ast.items.iter().filter_map(|item| match item {
            Item::Const { name, .. } => Some(&name.text),
            _ => None,
        });
        let shared = symbols.shared.iter().map(|variable| &variable.name);
        let processes = symbols.templates.iter().map(|template| &template.name);
        for name in consts.chain(shared).chain(processes) {
            globals.insert(name.clone(), names.fresh(name));
        }
        let properties: Vec<&Property> = ast
            .items
            .iter()
            .filter_map(|item| match item {
                Item::Property(property) => Some(property),
                _ => None,
            })
            .collect();
        let (mut labels, mut observed) = (Vec::new(), Vec::new());
        for template in &symbols.templates {
            let (mut at, mut seen) = (BTreeSet::new(), BTreeSet::new());
            for property in &properties {
                match &property.predicate {
                    Predicate::TwoAt(label) => {
                        let known = template.labels.iter().any(|(own, _)| *own == label.text);
                        at.extend(known.then(|| label.text.clone()));
                    }
                    Predicate::Expr(predicate) => {
                        named(predicate, &template.name, &mut at, &mut seen);
                    }
                }
            }
            let mut variable = |kind: &str, name: String| {
                let wanted = format!("{}{kind}{name}", template.name);
                let variable = names.fresh(&wanted);
                (name, variable)
            };
            labels.push(at.into_iter().map(|l| variable("_at_", l)).collect());
            observed.push(seen.into_iter().map(|l| variable("_", l)).collect());
        }
        let locals = symbols
            .templates
            .iter()
            .flat_map(|template| &template.instances);
        let mut locals = locals.flat_map(|instance| &instance.locals);
        let mut shared = symbols.shared.iter();
        Printer {
            wide: shared.any(|shared| shared.domain.is_unbounded())
                || locals.any(|local| local.domain.is_unbounded()),
            symbols,
            options,
            globals,
            names,
            properties,
            labels,
            observed,
        }
    }

    fn text(&self, ast: &Ast, errors: &mut Vec<Diagnostic>) -> String {
        let mut out = format!(
            "{}\n{}",
            self.options.head,
            text::head(self.options.sequential, self.wide)
        );
        out.push_str(&self.declarations(ast));
        for (at, template) in self.symbols.templates.iter().enumerate() {
            if let Item::Process(process) = &ast.items[template.item] {
                out.push_str(&self.process(at, template, process, errors));
            }
        }
        let monitored = self.monitor(errors);
        out.push_str(&monitored);
        out.push_str(&self.main(!monitored.is_empty(), errors));
        out
    }

    /// Constants and all variables of the file.
    fn declarations(&self, ast: &Ast) -> String {
        let mut out = String::new();
        for item in &ast.items {
            if let Item::Const { name, .. } = item {
                let value = self.symbols.consts.get(&name.text).copied().unwrap_or(0);
                let _ = writeln!(out, "enum {{ {} = {value} }};", self.globals[&name.text]);
            }
        }
        for variable in &self.symbols.shared {
            let ty = self.shared_type(variable.domain);
            let name = &self.globals[&variable.name];
            let _ = match variable.len {
                None => writeln!(
                    out,
                    "static {ty} {name} = {};",
                    first(variable.initial[0], variable.domain)
                ),
                Some(len) => {
                    let cells = variable.initial.iter();
                    let cells = cells.map(|cell| first(*cell, variable.domain).to_string());
                    let cells = cells.collect::<Vec<_>>().join(", ");
                    writeln!(out, "static {ty} {name}[{len}] = {{{cells}}};")
                }
            };
        }
        for (at, template) in self.symbols.templates.iter().enumerate() {
            let count = template.instances.len();
            let ty = self.shared_type(Domain::BOOL);
            for (_, variable) in self.labels[at].iter() {
                let _ = writeln!(out, "static {ty} {variable}[{count}];");
            }
            for (local, variable) in &self.observed[at] {
                let initial = template.instances.iter().map(|instance| {
                    let mut locals = instance.locals.iter();
                    let known = locals.find(|known| known.name == *local);
                    let initial = known.map(|local| first(local.initial, local.domain));
                    initial.unwrap_or(0).to_string()
                });
                let initial = initial.collect::<Vec<_>>().join(", ");
                let ty = self.working_type();
                let _ = writeln!(out, "static {ty} {variable}[{count}] = {{{initial}}};");
            }
        }
        out
    }

    /// The type of a shared variable.
    fn shared_type(&self, domain: Domain) -> &'static str {
        match (self.options.sequential, domain.is_unbounded()) {
            (true, false) => "int",
            (true, true) => "long long",
            (false, false) => "atomic_int",
            (false, true) => "atomic_llong",
        }
    }

    /// The type of what any value fits.
    fn working_type(&self) -> &'static str {
        if self.wide { "long long" } else { "int" }
    }

    /// A variable with the value of an expression, by a further line.
    fn declared(&self, value: String, lines: &mut Vec<String>) -> String {
        let name = format!("seen_{}", lines.len());
        lines.push(format!("{} {name} = {value};", self.working_type()));
        name
    }

    /// The function of a process, and one for each thread that runs it.
    fn process(
        &self,
        at: usize,
        template: &Template,
        process: &Process,
        errors: &mut Vec<Diagnostic>,
    ) -> String {
        let mut code = Code::new(self, at, template);
        code.body(process, errors);
        let name = &self.globals[&template.name];
        let mut out = format!("\nstatic void {name}({})\n{{\n", code.parameters());
        out.push_str(&code.finish());
        out.push_str("}\n\n");
        for (number, instance) in template.instances.iter().enumerate() {
            let own = number.to_string();
            let arguments = match instance.parameter {
                None => own,
                Some(value) => format!("{own}, {value}"),
            };
            let thread = thread(name, number);
            let _ = writeln!(
                out,
                "static void *{thread}(void *unused)\n{{\n    (void)unused;\n    {name}({arguments});\n    return NULL;\n}}"
            );
        }
        out
    }

    /// The thread that looks whether properties hold; empty if there is nothing to look at.
    fn monitor(&self, errors: &mut Vec<Diagnostic>) -> String {
        let mut checks = String::new();
        for property in &self.properties {
            let by_processes = !self.options.sequential && property.kind == PropertyKind::Mutex;
            if by_processes || property.kind == PropertyKind::Final {
                continue;
            }
            match self.holds(property) {
                Ok((loads, holds)) => {
                    checks.push_str("    {\n        __VERIFIER_atomic_begin();\n");
                    for line in loads {
                        let _ = writeln!(checks, "        {line}");
                    }
                    let end = "        __VERIFIER_atomic_end();\n    }";
                    let _ = writeln!(checks, "        assert({holds});\n{end}");
                }
                Err(error) => errors.push(error),
            }
        }
        match checks.is_empty() {
            true => String::new(),
            false => format!(
                "\nstatic void check(void)\n{{\n{checks}}}\n\nstatic void *monitor(void *unused)\n{{\n    (void)unused;\n    do {{\n        check();\n    }} while (AGAIN);\n    return NULL;\n}}\n"
            ),
        }
    }

    /// What must hold, over variables that the first lines load.
    fn holds(&self, property: &Property) -> Result<(Vec<String>, String), Diagnostic> {
        let mut loads = Vec::new();
        let text = match &property.predicate {
            Predicate::TwoAt(label) => {
                let mut flags = Vec::new();
                for (at, template) in self.symbols.templates.iter().enumerate() {
                    let own = self.labels[at].iter().filter(|(own, _)| *own == label.text);
                    for (_, variable) in own {
                        for number in 0..template.instances.len() {
                            flags.push(self.loaded(&format!("{variable}[{number}]"), &mut loads));
                        }
                    }
                }
                format!("{} < 2", flags.join(" + "))
            }
            Predicate::Expr(predicate) => {
                let wrong = property.kind == PropertyKind::Forbid;
                self.check_polarity(predicate, wrong)?;
                let text = self.predicate(predicate, &mut loads)?;
                match wrong {
                    true => format!("!({text})"),
                    false => text,
                }
            }
        };
        Ok((loads, text))
    }

    /// Two processes must not be at this label.
    fn excludes(&self, label: &str) -> bool {
        let is = |named: &Predicate| matches!(named, Predicate::TwoAt(own) if own.text == label);
        let mut properties = self.properties.iter();
        properties.any(|property| is(&property.predicate))
    }

    /// A variable with the value of a place.
    fn loaded(&self, place: &str, loads: &mut Vec<String>) -> String {
        self.declared(self.read(place), loads)
    }

    /// The value of a place.
    fn read(&self, place: &str) -> String {
        match self.options.sequential {
            true => place.to_string(),
            false => format!("atomic_load_explicit(&{place}, memory_order_relaxed)"),
        }
    }

    /// Refuses what would be seen wrongly.
    fn check_polarity(&self, predicate: &Expr, wrong: bool) -> Result<(), Diagnostic> {
        if !self.options.sequential && observes(predicate) {
            let reason = "labels and locals cannot be seen beside memory that is not sequential";
            return Err(refuse(
                predicate.span,
                reason,
                "give a --model: the printed program then has its buffers in variables",
            ));
        }
        match monotone(predicate, wrong) {
            true => Ok(()),
            false => Err(refuse(
                predicate.span,
                "the property is violated by a process not being at a label",
                "say it by an assertion",
            )),
        }
    }

    /// `main`: chooses initial values, runs all threads, and looks once more at the end.
    fn main(&self, monitored: bool, errors: &mut Vec<Diagnostic>) -> String {
        let ty = self.working_type();
        let mut out = format!("\nint main(void)\n{{\n    {ty} chosen = 0;\n    (void)chosen;\n");
        let any = |variable: &&SharedVariable| variable.initial.contains(&Initial::Any);
        for variable in self.symbols.shared.iter().filter(any) {
            let name = &self.globals[&variable.name];
            for (at, initial) in variable.initial.iter().enumerate() {
                let place = match variable.len {
                    None => name.clone(),
                    Some(_) => format!("{name}[{at}]"),
                };
                if *initial == Initial::Any {
                    let choose = choose("chosen", variable.domain);
                    let _ = writeln!(out, "    {choose}\n    {place} = chosen;");
                }
            }
        }
        let mut threads = Vec::new();
        for (at, template) in self.symbols.templates.iter().enumerate() {
            let servant = self.options.servants.contains(&template.name);
            for number in 0..template.instances.len() {
                for (local, variable) in &self.observed[at] {
                    let known = template.instances[number].locals.iter();
                    let known = known.filter(|known| known.name == *local);
                    for known in known.filter(|known| known.initial == Initial::Any) {
                        let choose = choose("chosen", known.domain);
                        let _ = writeln!(out, "    {choose}\n    {variable}[{number}] = chosen;");
                    }
                }
                threads.push((thread(&self.globals[&template.name], number), servant));
            }
        }
        if monitored {
            threads.push(("monitor".to_string(), true));
        }
        let _ = writeln!(out, "    pthread_t t[{}];", threads.len().max(1));
        for (number, (thread, _)) in threads.iter().enumerate() {
            let _ = writeln!(
                out,
                "    pthread_create(&t[{number}], NULL, {thread}, NULL);"
            );
        }
        for (number, (_, servant)) in threads.iter().enumerate() {
            if !servant {
                let _ = writeln!(out, "    pthread_join(t[{number}], NULL);");
            }
        }
        let servants = threads
            .iter()
            .enumerate()
            .filter(|(_, (_, servant))| *servant);
        let joins: Vec<String> = servants
            .map(|(number, _)| format!("pthread_join(t[{number}], NULL);"))
            .collect();
        let check = if monitored { " check();" } else { "" };
        let _ = writeln!(out, "    FINISH({}{check});", joins.join(" "));
        for property in &self.properties {
            let (PropertyKind::Final, Predicate::Expr(predicate)) =
                (property.kind, &property.predicate)
            else {
                continue;
            };
            let mut loads = Vec::new();
            match self.predicate(predicate, &mut loads) {
                Ok(text) => {
                    out.push_str("    {\n");
                    for line in &loads {
                        let _ = writeln!(out, "        {line}");
                    }
                    let _ = writeln!(out, "        FINAL({text});\n    }}");
                }
                Err(error) => errors.push(error),
            }
        }
        out.push_str("    return 0;\n}\n");
        out
    }
}

/// The function of a thread.
fn thread(process: &str, number: usize) -> String {
    format!("thread_{process}_{number}")
}

/// A value to start with.
fn first(initial: Initial, domain: Domain) -> Value {
    match initial {
        Initial::Value(value) => value,
        Initial::Any if domain.is_unbounded() => 0,
        Initial::Any => domain.low,
    }
}

/// Chooses any value of a range.
fn choose(name: &str, domain: Domain) -> String {
    let Domain { low, high } = domain;
    match domain.is_unbounded() {
        true => format!("CHOOSE_ANY({name});"),
        false => format!("CHOOSE({name}, {low}, {high});"),
    }
}
