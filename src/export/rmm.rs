//! A program as a Memorax machine, where it fits.
//!
//! Every instance becomes a process of its own, every cell of an array a variable, and
//! every control position a label. The two languages part where a value leaves its range
//! (a runtime error here, a blocked step there), where a read-modify-write waits for one
//! buffer only, and in what a property can say: such programs are refused, with the place
//! and the reason.

use super::last_edges;
use crate::diagnostic::Diagnostic;
use crate::import::names::Names;
use crate::import::rmm::RESERVED;
use crate::program::{
    Atom, BinaryOp, Domain, Edge, Expr, Fault, FenceKind, Initial, Instr, Loc, LocalId, PlaceRef,
    Process, ProcessId, Program, Property, PropertyKind, UnaryOp, Value,
};
use crate::source::{Source, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The machine, or what in the program it cannot say.
pub fn print(program: &Program, source: &Source) -> Result<String, Vec<Diagnostic>> {
    let program = program.fenced(&Default::default());
    let mut errors = Vec::new();
    let text = Machine::new(&program).text(source, &mut errors);
    match errors.is_empty() {
        true => Ok(text),
        false => Err(errors
            .into_iter()
            .map(|(span, reason)| {
                let message = format!("this cannot be said in the language of Memorax: {reason}");
                Diagnostic::error(span, message)
            })
            .collect()),
    }
}

type Refused = String;
type Errors = Vec<(Span, Refused)>;

/// The most tuples of forbidden labels.
const MOST_TUPLES: usize = 256;

/// The most values that a choice may have.
const MOST_CHOICES: u64 = 64;

struct Machine<'p> {
    program: &'p Program,
    places: Vec<String>,
    processes: Vec<Text>,
}

/// The names of one process.
struct Text {
    registers: Vec<String>,
    labels: Vec<String>,
    /// The label of failed assertions, if there are any.
    error: Option<String>,
}

/// Which processes are where, in one tuple.
type Tuple = BTreeMap<ProcessId, String>;

impl<'p> Machine<'p> {
    fn new(program: &'p Program) -> Machine<'p> {
        let mut names = Names::avoiding(&RESERVED);
        let places = program.places.iter().map(|place| {
            let name = place.name.replace('[', "_").replace(']', "");
            names.fresh(&name)
        });
        let places = places.collect();
        let mut named: BTreeMap<(ProcessId, Loc), &str> = BTreeMap::new();
        for (label, positions) in program.properties.iter().flat_map(|p| &p.labels) {
            for position in positions {
                named.entry(*position).or_insert(label);
            }
        }
        let processes = program
            .processes
            .iter()
            .enumerate()
            .map(|(index, process)| {
                let mut labels = Names::avoiding(&RESERVED);
                let mut registers = Names::avoiding(&RESERVED);
                let id = ProcessId(index as u32);
                let at = |at: usize| named.get(&(id, Loc(at as u32))).copied();
                let mut label = |wanted: &str| labels.fresh(wanted);
                // Names of the program first, so that they are kept.
                let all = 0..process.locations.len();
                let mut given: Vec<Option<String>> = all.map(|l| at(l).map(&mut label)).collect();
                for (at, given) in given.iter_mut().enumerate() {
                    given.get_or_insert_with(|| label(&format!("L{at}")));
                }
                let asserts = process
                    .edges
                    .iter()
                    .any(|e| matches!(e.instr, Instr::Assert { .. }));
                Text {
                    registers: process
                        .locals
                        .iter()
                        .map(|l| registers.fresh(&l.name))
                        .collect(),
                    labels: given.into_iter().flatten().collect(),
                    error: asserts.then(|| label("error")),
                }
            });
        Machine {
            program,
            places,
            processes: processes.collect(),
        }
    }

    fn text(&self, source: &Source, errors: &mut Errors) -> String {
        let name = source
            .name()
            .replace("*/", "* /")
            .replace(['\n', '\r'], " ");
        let mut out = format!("/* From {name}. */\n\nforbidden\n");
        let tuples = self.forbidden(errors);
        for (index, tuple) in tuples.iter().enumerate() {
            let ids = (0..self.processes.len()).map(|id| ProcessId(id as u32));
            let words = ids.map(|id| tuple.get(&id).map_or("*", String::as_str));
            let words: Vec<&str> = words.collect();
            let end = if index + 1 < tuples.len() { ";" } else { "" };
            let _ = writeln!(out, "  {}{end}", words.join(" "));
        }
        if !self.places.is_empty() {
            out.push_str("\ndata\n");
        }
        for (place, name) in self.program.places.iter().zip(&self.places) {
            out.push_str(&declaration(name, place.initial, place.domain));
        }
        for (process, text) in self.program.processes.iter().zip(&self.processes) {
            let _ = write!(out, "\n/* {} */\nprocess\n", process.name);
            if !process.locals.is_empty() {
                out.push_str("registers\n");
            }
            for (local, name) in process.locals.iter().zip(&text.registers) {
                out.push_str(&declaration(
                    &format!("${name}"),
                    local.initial,
                    local.domain,
                ));
            }
            out.push_str("text\n");
            out.push_str(&self.code(process, text, errors));
        }
        out
    }

    /// The statements of a process, one position after the other.
    fn code(&self, process: &Process, text: &Text, errors: &mut Errors) -> String {
        let order = order(process);
        let mut lines = Vec::new();
        for (index, at) in order.iter().enumerate() {
            let next = order.get(index + 1);
            let label = &text.labels[at.index()];
            let mut branches: Vec<(Vec<String>, String)> = Vec::new();
            for edge in last_edges(process, *at) {
                match self.edge(process, text, edge) {
                    Ok(more) => branches.extend(more),
                    Err(refused) => errors.push((edge.span, refused)),
                }
            }
            match &branches[..] {
                [] => lines.push(format!("{label}: nop")),
                [(statements, to)] => {
                    let mut statements = statements.clone();
                    if next.is_none_or(|next| text.labels[next.index()] != *to) {
                        statements.push(format!("goto {to}"));
                    }
                    lines.push(format!("{label}: {}", statements.join(";\n  ")));
                }
                branches => {
                    let branches = branches.iter();
                    let branches =
                        branches.map(|(words, to)| format!("{}; goto {to}", words.join("; ")));
                    let branches: Vec<String> = branches.collect();
                    let choice = branches.join("\n  or ");
                    lines.push(format!("{label}: either{{\n     {choice}\n  }}"));
                }
            }
        }
        if let Some(error) = &text.error {
            lines.push(format!("{error}: nop"));
        }
        format!("  {}\n", lines.join(";\n  "))
    }

    /// The ways to take an edge, each with the label behind it.
    fn edge(
        &self,
        process: &Process,
        text: &Text,
        edge: &Edge,
    ) -> Result<Vec<(Vec<String>, String)>, Refused> {
        let to = text.labels[edge.to.index()].clone();
        let one = |statement: String| Ok(vec![(vec![statement], to.clone())]);
        match &edge.instr {
            Instr::Fence(FenceKind::Full) => one("fence".to_string()),
            Instr::Fence(FenceKind::StoreStore) => one("ssfence".to_string()),
            Instr::Fence(FenceKind::StoreLoad) => {
                Err("it has no store-load fence".to_string())
            }
            Instr::Assert { condition, .. } => {
                let holds = self.condition(text, condition)?;
                let error = text.error.clone().unwrap_or_default();
                Ok(vec![
                    (vec![format!("assume: {holds}")], to),
                    (vec![format!("assume: not [{holds}]")], error),
                ])
            }
            Instr::Havoc { local, low, high } => {
                let value = |e: &Expr<LocalId>| {
                    constant(e).ok_or("a choice between values that are not constant")
                };
                let values = Domain {
                    low: value(low)?,
                    high: value(high)?,
                };
                let domain = process.locals[local.index()].domain;
                fits(Some(values), domain)?;
                if values.size() > MOST_CHOICES {
                    return Err(format!("a choice from {} values", values.size()));
                }
                let register = &text.registers[local.index()];
                let choices = (values.low..=values.high)
                    .map(|value| (vec![format!("${register} := {value}")], to.clone()));
                Ok(choices.collect())
            }
            Instr::Update { .. } => Err(
                "`cas`, `swap` and `add` wait for the buffer of their place, `locked` for all; write an atomic block"
                    .to_string(),
            ),
            Instr::Atomic(body) => {
                if !body.iter().any(|(instr, _)| matches!(instr, Instr::Store { .. })) {
                    return Err("a locked block has to write something".to_string());
                }
                let inside = body.iter().map(|(instr, _)| self.simple(process, text, instr));
                let inside: Result<Vec<String>, Refused> = inside.collect();
                one(format!("locked{{ {} }}", inside?.join("; ")))
            }
            instr => one(self.simple(process, text, instr)?),
        }
    }

    /// An instruction that is one statement, in a locked block or outside.
    fn simple(&self, process: &Process, text: &Text, instr: &Instr) -> Result<String, Refused> {
        let domain_of = |local: LocalId| process.locals[local.index()].domain;
        let interval = |e: &Expr<LocalId>| e.interval(&|local| domain_of(*local));
        Ok(match instr {
            Instr::Pass | Instr::Skip => "nop".to_string(),
            Instr::Assign { local, value } => {
                fits(interval(value), domain_of(*local))?;
                let register = &text.registers[local.index()];
                format!("${register} := {}", self.arithmetic(text, value)?)
            }
            Instr::Guard { condition, wanted } => {
                interval(condition).ok_or("evaluating this may be a runtime error")?;
                let condition = self.condition(text, condition)?;
                match wanted {
                    true => format!("assume: {condition}"),
                    false => format!("assume: not [{condition}]"),
                }
            }
            Instr::Store { place, value, .. } => {
                let place = self.place(place)?;
                fits(interval(value), self.program.places[place].domain)?;
                let value = self.arithmetic(text, value)?;
                format!("write: {} := {value}", self.places[place])
            }
            Instr::Load { local, place } => {
                let place = self.place(place)?;
                let found = self.program.places[place].domain;
                fits(Some(found), domain_of(*local))?;
                let register = &text.registers[local.index()];
                format!("read: ${register} := {}", self.places[place])
            }
            _ => return Err("this cannot stand in a locked block".to_string()),
        })
    }

    fn place(&self, place: &PlaceRef) -> Result<usize, Refused> {
        match place {
            PlaceRef::Scalar(place) => Ok(place.index()),
            PlaceRef::Cell { first, len, index } => {
                let index = constant(index).ok_or("the index of an array is not constant")?;
                let index = u32::try_from(index).ok().filter(|index| index < len);
                let index = index.ok_or("the index lies outside the array")?;
                Ok(first.index() + index as usize)
            }
            PlaceRef::Computed { .. } => Err("it has no pointers".to_string()),
        }
    }

    /// An expression with a value: only `+` and `-`.
    fn arithmetic(&self, text: &Text, expr: &Expr<LocalId>) -> Result<String, Refused> {
        if let Some(value) = constant(expr) {
            return Ok(value.to_string());
        }
        Ok(match expr {
            Expr::Atom(local) => format!("${}", text.registers[local.index()]),
            Expr::Unary(UnaryOp::Negate | UnaryOp::NegateInteger, operand) => {
                format!("-({})", self.arithmetic(text, operand)?)
            }
            Expr::Binary(
                op
                @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::AddIntegers | BinaryOp::SubIntegers),
                left,
                right,
            ) => {
                let adds = matches!(op, BinaryOp::Add | BinaryOp::AddIntegers);
                let sign = if adds { "+" } else { "-" };
                let (left, right) = (self.arithmetic(text, left)?, self.arithmetic(text, right)?);
                format!("({left} {sign} {right})")
            }
            _ => return Err("expressions have no operators but + and -".to_string()),
        })
    }

    fn condition(&self, text: &Text, expr: &Expr<LocalId>) -> Result<String, Refused> {
        if let Some(value) = constant(expr) {
            return Ok(if value != 0 { "0 = 0" } else { "0 = 1" }.to_string());
        }
        if let Expr::Unary(UnaryOp::Not, operand) = expr {
            return Ok(format!("not [{}]", self.condition(text, operand)?));
        }
        let Expr::Binary(op, left, right) = expr else {
            return Ok(format!("{} != 0", self.arithmetic(text, expr)?));
        };
        let sign = match op {
            BinaryOp::Equal => "=",
            BinaryOp::NotEqual => "!=",
            BinaryOp::Less => "<",
            BinaryOp::LessEqual => "<=",
            BinaryOp::Greater => ">",
            BinaryOp::GreaterEqual => ">=",
            BinaryOp::And | BinaryOp::Or => {
                let sign = if *op == BinaryOp::And { "&&" } else { "||" };
                let (left, right) = (self.condition(text, left)?, self.condition(text, right)?);
                return Ok(format!("[{left}] {sign} [{right}]"));
            }
            _ => return Ok(format!("{} != 0", self.arithmetic(text, expr)?)),
        };
        let (left, right) = (self.arithmetic(text, left)?, self.arithmetic(text, right)?);
        Ok(format!("{left} {sign} {right}"))
    }

    /// The tuples of labels that no state may have.
    fn forbidden(&self, errors: &mut Errors) -> BTreeSet<Tuple> {
        let mut tuples = BTreeSet::new();
        for property in &self.program.properties {
            match self.property(property) {
                Ok(more) => tuples.extend(more),
                Err(refused) => errors.push((property.span, refused)),
            }
        }
        for (index, text) in self.processes.iter().enumerate() {
            let error = text.error.iter().cloned();
            tuples.extend(error.map(|label| Tuple::from([(ProcessId(index as u32), label)])));
        }
        if tuples.is_empty() && errors.is_empty() {
            let nothing = "there is nothing to forbid".to_string();
            errors.push((Span::new(0, 0), nothing));
        }
        tuples
    }

    fn property(&self, property: &Property) -> Result<Vec<Tuple>, Refused> {
        match (property.kind, &property.predicate) {
            (PropertyKind::Mutex, Expr::Atom(Atom::TwoAt(positions))) => {
                let mut tuples = Vec::new();
                for (index, first) in positions.iter().enumerate() {
                    for second in &positions[index + 1..] {
                        tuples.push(Tuple::from([self.at(first), self.at(second)]));
                    }
                }
                Ok(tuples)
            }
            (PropertyKind::Forbid, predicate) => self.tuples(predicate),
            (PropertyKind::Invariant, Expr::Unary(UnaryOp::Not, predicate)) => {
                self.tuples(predicate)
            }
            (kind, _) => Err(format!("a property of the kind `{kind}`")),
        }
    }

    fn at(&self, (process, at): &(ProcessId, Loc)) -> (ProcessId, String) {
        let label = &self.processes[process.index()].labels[at.index()];
        (*process, label.clone())
    }

    /// A predicate on positions as a disjunction of conjunctions.
    fn tuples(&self, predicate: &Expr<Atom>) -> Result<Vec<Tuple>, Refused> {
        let tuples = match predicate {
            Expr::Const(0) => Vec::new(),
            Expr::Const(_) => vec![Tuple::new()],
            Expr::Atom(Atom::At(positions)) => {
                let tuples = positions
                    .iter()
                    .map(|position| Tuple::from([self.at(position)]));
                tuples.collect()
            }
            Expr::Binary(BinaryOp::Or, left, right) => {
                let mut tuples = self.tuples(left)?;
                tuples.extend(self.tuples(right)?);
                tuples
            }
            Expr::Binary(BinaryOp::And, left, right) => {
                let right = self.tuples(right)?;
                let mut tuples = Vec::new();
                for left in self.tuples(left)? {
                    tuples.extend(right.iter().filter_map(|right| joined(&left, right)));
                }
                tuples
            }
            _ => return Err("a property can only name labels".to_string()),
        };
        match tuples.len() > MOST_TUPLES {
            true => Err("the property names too many combinations of labels".to_string()),
            false => Ok(tuples),
        }
    }
}

/// Both tuples at once, unless a process would have to be in two places.
fn joined(left: &Tuple, right: &Tuple) -> Option<Tuple> {
    let mut both = left.clone();
    for (process, label) in right {
        if both
            .insert(*process, label.clone())
            .is_some_and(|other| other != *label)
        {
            return None;
        }
    }
    Some(both)
}

/// The value of an expression without atoms.
fn constant<A>(expr: &Expr<A>) -> Option<Value> {
    let mut atoms = 0;
    expr.atoms(&mut |_| atoms += 1);
    let value = expr.eval(&|_| Err(Fault::Overflow { bits: 32 })).ok();
    value.filter(|_| atoms == 0)
}

/// Refuses values that may lie outside their domain.
fn fits(values: Option<Domain>, domain: Domain) -> Result<(), Refused> {
    match values {
        Some(values) if domain.contains(values.low) && domain.contains(values.high) => Ok(()),
        _ => Err("a value may leave its range, which would block instead of being an error".into()),
    }
}

fn declaration(name: &str, initial: Initial, domain: Domain) -> String {
    let initial = match initial {
        Initial::Any => "*".to_string(),
        Initial::Value(value) => value.to_string(),
    };
    match domain {
        Domain::INT | Domain::INTEGERS => format!("  {name} = {initial} : Z\n"),
        Domain { low, high } => format!("  {name} = {initial} : [{low}:{high}]\n"),
    }
}

/// The positions in the order in which a reader follows them, beginning with the entry.
fn order(process: &Process) -> Vec<Loc> {
    let mut order = Vec::new();
    let mut seen = BTreeSet::new();
    let mut work = vec![process.entry];
    while let Some(at) = work.pop() {
        if seen.insert(at) {
            order.push(at);
            let edges = last_edges(process, at);
            work.extend(edges.iter().rev().map(|edge| edge.to));
        }
    }
    order
}
