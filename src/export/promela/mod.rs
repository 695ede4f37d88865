//! A program as a Promela model with store buffers, for Spin.
//!
//! The model has the states of the exact memory model with buffers up to a length, one
//! instruction per step: a store into a full buffer waits. Every process is a loop over
//! guarded steps; a step is a `d_step` that begins with the position it starts from.
//! Flushes are steps of the process whose buffer it is. A monitor that can move exactly
//! in the states that violate a property fails an assertion there; assertions and runtime
//! errors of the program are assertions, too. Spin finds an error if and only if the
//! exact search with the same bound finds a violation.

mod buffers;
mod expr;
mod step;

use crate::describe::one_line;
use crate::diagnostic::Diagnostic;
use crate::memory::{Atomics, Model};
use crate::program::{
    Atom, Domain, Expr, Initial, PlaceId, ProcessId, Program, PropertyKind, Value,
};
use crate::source::{Source, Span};
use buffers::Buffers;
use expr::{Piece, Refused, number, piece};
use std::collections::HashSet;
use std::fmt::Write;

/// What the model describes.
#[derive(Debug, Clone, Copy)]
pub struct PromelaOptions {
    pub model: Model,
    pub atomics: Atomics,
    /// The longest buffer.
    pub bound: usize,
}

/// The largest range from which a value may be chosen.
const MOST_CHOICES: u64 = 256;

/// The model, or what in the program it cannot say.
pub fn print(
    program: &Program,
    source: &Source,
    options: &PromelaOptions,
) -> Result<String, Vec<Diagnostic>> {
    let program = program.fenced(&Default::default());
    let model = Promela::new(&program, source, options);
    let mut errors = Vec::new();
    if program.has_integers() {
        errors.push((Span::new(0, 0), Refused::unbounded()));
    }
    let text = model.text(&mut errors);
    match errors.is_empty() {
        true => Ok(text),
        false => Err(errors
            .into_iter()
            .map(|(span, reason): (Span, Refused)| {
                let message = format!("this cannot be said in Promela: {}", reason.message);
                Diagnostic::error(span, message).help(reason.help)
            })
            .collect()),
    }
}

/// What could not be said, and where.
type Errors = Vec<(Span, Refused)>;

struct Promela<'p> {
    program: &'p Program,
    source: &'p Source,
    options: &'p PromelaOptions,
    /// The name of each place's number.
    places: Vec<String>,
    processes: Vec<Names>,
    buffers: Vec<Buffers>,
}

/// How a process and its locals are called.
struct Names {
    name: String,
    locals: Vec<String>,
}

impl<'p> Promela<'p> {
    fn new(program: &'p Program, source: &'p Source, options: &'p PromelaOptions) -> Promela<'p> {
        let mut taken = HashSet::new();
        let mut fresh = |wanted: String| {
            let fitting = |c: char| c.is_ascii_alphanumeric();
            let name = wanted.replace(|c| !fitting(c), "_");
            let mut unique = name.trim_end_matches('_').to_string();
            while !taken.insert(unique.clone()) {
                unique.push('_');
            }
            unique
        };
        let places = program.places.iter();
        let places = places.map(|place| fresh(format!("v_{}", place.name)));
        let places: Vec<String> = places.collect();
        let mut processes = Vec::new();
        for process in &program.processes {
            let name = fresh(format!("p_{}", process.name));
            let locals = process.locals.iter();
            let locals = locals.map(|local| fresh(format!("r_{}_{}", process.name, local.name)));
            let locals = locals.collect();
            processes.push(Names { name, locals });
        }
        let buffers = program.processes.iter().zip(&processes);
        let buffers =
            buffers.map(|(process, names)| Buffers::new(process, &names.name, program, options));
        Promela {
            program,
            source,
            options,
            buffers: buffers.collect(),
            places,
            processes,
        }
    }

    fn text(&self, errors: &mut Errors) -> String {
        let mut out = self.head();
        for index in 0..self.program.processes.len() {
            out.push_str(&self.process(index, errors));
        }
        out.push_str(&self.monitor(errors));
        out.push_str(&self.init(errors));
        out
    }

    /// Declarations.
    fn head(&self) -> String {
        let name = self
            .source
            .name()
            .replace("*/", "* /")
            .replace(['\n', '\r'], " ");
        let model = self.options.model.to_string().to_uppercase();
        let mut out = match self.options.model {
            Model::Sc => format!("/* {name} under SC. */\n\n"),
            _ => format!(
                "/* {name} under {model}, with store buffers of length {}. */\n\n",
                self.options.bound
            ),
        };
        for (number, place) in self.places.iter().enumerate() {
            let _ = writeln!(out, "#define {place} {number}");
        }
        let domains = self.program.places.iter().map(|place| place.domain);
        let values = ty(domains);
        let _ = writeln!(out, "\n{values} mem[{}];", self.places.len().max(1));
        let _ = writeln!(out, "int tmp;    /* inside a step only; else 0 */");
        if step::has_atomic(self.program) {
            let _ = writeln!(out, "{values} saved[{}];", self.places.len().max(1));
            let locals = self.processes.iter().map(|names| names.locals.len());
            let _ = writeln!(out, "int kept[{}];", locals.max().unwrap_or(0).max(1));
            let _ = writeln!(out, "bool ok;");
        }
        for ((process, names), buffers) in self
            .program
            .processes
            .iter()
            .zip(&self.processes)
            .zip(&self.buffers)
        {
            let positions = process.locations.len() as Value;
            let _ = writeln!(
                out,
                "\n{} pc_{} = {};",
                ty([Domain {
                    low: 0,
                    high: positions
                }]
                .into_iter()),
                names.name,
                process.entry.0
            );
            for (local, name) in process.locals.iter().zip(&names.locals) {
                // A local may also hold 0 after its range was left behind.
                let zero = Domain { low: 0, high: 0 };
                let ty = ty([local.domain, zero].into_iter());
                let initial = match local.initial {
                    Initial::Value(0) | Initial::Any => String::new(),
                    Initial::Value(value) => format!(" = {}", number(value)),
                };
                let _ = writeln!(out, "{ty} {name}{initial};");
            }
            out.push_str(&buffers.declarations(values));
        }
        out
    }

    /// The loop of one process.
    fn process(&self, index: usize, errors: &mut Errors) -> String {
        let process = &self.program.processes[index];
        let mut steps = self.steps(index, errors);
        steps.extend(self.buffers[index].flushes());
        let name = &self.processes[index].name;
        let mut out = format!("\nproctype {name}()\n{{\nend:    do\n");
        if steps.is_empty() {
            out.push_str("        :: false\n");
        }
        for step in steps {
            out.push_str(&step);
        }
        out.push_str("        od\n}\n");
        let exit = process.exit.0;
        let _ = writeln!(out, "#define DONE_{name} (pc_{name} == {exit})");
        out
    }

    /// A process that can move where something is wrong.
    fn monitor(&self, errors: &mut Errors) -> String {
        let mut out = "\nproctype monitor()\n{\nend:    do\n        :: false\n".to_string();
        for property in &self.program.properties {
            let predicate = match self.predicate(&property.predicate) {
                Ok(predicate) => predicate,
                Err(refused) => {
                    errors.push((property.span, refused));
                    continue;
                }
            };
            let bad = match property.kind {
                PropertyKind::Mutex | PropertyKind::Forbid => {
                    format!("{} != 0", predicate.text)
                }
                PropertyKind::Invariant | PropertyKind::Final => {
                    format!("{} == 0", predicate.text)
                }
            };
            let bad = match predicate.defined {
                None => bad,
                Some(defined) => format!("(!{defined} || {bad})"),
            };
            let bad = match property.kind {
                PropertyKind::Final => format!("{} && {bad}", self.all_done()),
                _ => bad,
            };
            let text = self.comment(property.span);
            let _ = writeln!(
                out,
                "        {text}\n        :: d_step {{ {bad}; assert(false) }}"
            );
        }
        out.push_str("        od\n}\n");
        out
    }

    /// Every process has stopped and every buffer is empty.
    fn all_done(&self) -> String {
        let parts = self.processes.iter().zip(&self.buffers);
        let parts: Vec<String> = parts
            .map(|(names, buffers)| format!("DONE_{} && {}", names.name, buffers.empty()))
            .collect();
        parts.join(" && ")
    }

    fn predicate(&self, predicate: &Expr<Atom>) -> Result<Piece, Refused> {
        let at = |positions: &[(ProcessId, crate::program::Loc)]| {
            let taken: Vec<String> = positions
                .iter()
                .map(|(process, at)| {
                    let name = &self.processes[process.index()].name;
                    format!("(pc_{name} == {})", at.0)
                })
                .collect();
            match taken.is_empty() {
                true => "0".to_string(),
                false => taken.join(" + "),
            }
        };
        piece(predicate, &|atom| {
            Ok(match atom {
                Atom::Place(place) => Piece::plain(self.memory(*place), self.domain(*place)),
                Atom::Cell { first, len, index } => {
                    let index = self.predicate(index)?;
                    let domain = self.program.places[first.index()].domain;
                    let first = &self.places[first.index()];
                    index.cell(*len, domain, |index| format!("mem[{first} + {index}]"))
                }
                Atom::Local(process, local) => {
                    let domain = self.program.process(*process).locals[local.index()].domain;
                    let name = &self.processes[process.index()].locals[local.index()];
                    Piece::plain(name.clone(), domain)
                }
                Atom::At(positions) => {
                    Piece::plain(format!("(({}) >= 1)", at(positions)), Domain::BOOL)
                }
                Atom::TwoAt(positions) => {
                    Piece::plain(format!("(({}) >= 2)", at(positions)), Domain::BOOL)
                }
            })
        })
    }

    fn memory(&self, place: PlaceId) -> String {
        format!("mem[{}]", self.places[place.index()])
    }

    fn domain(&self, place: PlaceId) -> Domain {
        self.program.places[place.index()].domain
    }

    /// Chooses initial values and starts everything.
    fn init(&self, errors: &mut Errors) -> String {
        let mut out = "\ninit\n{\n        atomic {\n".to_string();
        let nowhere = Span::new(0, 0);
        for (index, place) in self.program.places.iter().enumerate() {
            let name = format!("mem[{}]", self.places[index]);
            match place.initial {
                Initial::Value(0) => {}
                Initial::Value(value) => {
                    let _ = writeln!(out, "                {name} = {};", number(value));
                }
                Initial::Any => match choose(&name, place.domain) {
                    Ok(text) => out.push_str(&text),
                    Err(refused) => errors.push((nowhere, refused)),
                },
            }
        }
        for (process, names) in self.program.processes.iter().zip(&self.processes) {
            for (local, name) in process.locals.iter().zip(&names.locals) {
                if local.initial == Initial::Any {
                    match choose(name, local.domain) {
                        Ok(text) => out.push_str(&text),
                        Err(refused) => errors.push((nowhere, refused)),
                    }
                }
            }
        }
        for names in &self.processes {
            let _ = writeln!(out, "                run {}();", names.name);
        }
        out.push_str("                run monitor()\n        }\n}\n");
        out
    }

    /// A piece of the source as a comment.
    fn comment(&self, span: Span) -> String {
        let line = self.source.location(span.start).line();
        let text = one_line(self.source, span);
        format!(
            "/* line {line}: {} */",
            text.replace("*/", "* /").replace("/*", "/ *")
        )
    }
}

/// The smallest type for some ranges.
fn ty(domains: impl Iterator<Item = Domain>) -> &'static str {
    let (mut low, mut high) = (0, 0);
    for domain in domains {
        low = low.min(domain.low);
        high = high.max(domain.high);
    }
    match (low, high) {
        (0.., ..=255) => "byte",
        (-32768.., ..=32767) => "short",
        _ => "int",
    }
}

/// Any value of a range.
fn choose(name: &str, domain: Domain) -> Result<String, Refused> {
    if domain.size() > MOST_CHOICES {
        return Err(Refused::choices(domain));
    }
    let values = domain.low..=domain.high;
    let branches: Vec<String> = values
        .map(|value| format!(":: {name} = {}", number(value)))
        .collect();
    Ok(format!("                if {} fi;\n", branches.join(" ")))
}
