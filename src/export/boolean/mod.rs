//! A program with integers as a program over booleans, for SC.
//!
//! Predicate abstraction after Dan, Meshman, Vechev and Yahav (SAS 2013), with the store buffers of
//! [`super::sequential`] as variables. The integers of a program go; what is known of them is
//! kept in one shared boolean for each *predicate*, a bound on the difference (or sum) of two
//! integers. A step that changes integers sets each boolean that speaks of them to
//!
//! ```text
//!   choose(F(wp(φ)), F(wp(¬φ)))     true, or false, or if neither is certain either of them
//! ```
//!
//! where F(ψ) is the disjunction of all *cubes*, conjunctions of at most L literals, that imply ψ
//! (`cover`). Booleans are set one after the other, and those that have been set count among
//! the literals, so that values which exclude each other are not chosen together.
//!
//! - A step that goes on only if ψ holds waits for ¬F(¬ψ). So every execution of the program is one
//!   of the printed program: a proof of the latter is one of the former.
//! - An integer that is not there, the local that nobody reads any more or the free slot of a
//!   buffer, has a flag that says so. Its booleans are false and no literals.
//! - Each edge of a process becomes one step, between labels; expressions with bounds that say
//!   what happens to integers are told apart by their values (`effect`).

mod code;
mod cover;
mod effect;
mod predicates;
mod property;
mod step;

use predicates::{given, thresholds};

use super::sequential::{self, Encoding, Overflow, Sequential, SequentialOptions, Slots};
use crate::diagnostic::Diagnostic;
use crate::import::build::{block, declare, int, name, range};
use crate::import::names::Names;
use crate::lang::ast::{Ast, Expr, Init, Item, Variable};
use crate::lang::resolve::{Symbols, resolve};
use crate::lower::lower;
use crate::memory::{Atomics, Model};
use crate::program::{Domain, Initial, Loc, LocalId, PlaceId, ProcessId, Program, Value};
use crate::source::Span;
use crate::space::{Fact, Frame, Node, Thresholds};
use indexmap::IndexSet;
use std::collections::BTreeSet;

/// Where nothing stands in a text.
const NOWHERE: Span = Span { start: 0, end: 0 };

/// More predicates than this are refused.
pub const MOST_PREDICATES: usize = 300;

/// Where an integer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Home {
    Place(PlaceId),
    Local(ProcessId, LocalId),
}

/// All integers of a program for SC.
#[derive(Debug, Clone)]
struct Homes {
    all: IndexSet<Home>,
    /// The shared arrays that are slots of buffers.
    slots: BTreeSet<PlaceId>,
}

impl Homes {
    /// The integers of a program; the arrays with these names are slots of buffers.
    fn new(program: &Program, slots: &[Slots]) -> Homes {
        let mut all = IndexSet::new();
        let mut free = BTreeSet::new();
        for (index, place) in program.places.iter().enumerate() {
            let id = PlaceId(index as u32);
            if place.domain.is_unbounded() {
                all.insert(Home::Place(id));
                let array = place.name.split('[').next().unwrap_or_default();
                if slots.iter().any(|slot| slot.array == array) {
                    free.insert(id);
                }
            }
        }
        for (id, process) in program.process_ids().zip(&program.processes) {
            for (index, local) in process.locals.iter().enumerate() {
                // What is used within a step only is never kept.
                let kept = process.locations.iter().any(|at| at.live[index]);
                if local.domain.is_unbounded() && kept {
                    all.insert(Home::Local(id, LocalId(index as u32)));
                }
            }
        }
        Homes { all, slots: free }
    }

    fn node(&self, home: Home) -> Option<Node> {
        let at = self.all.get_index_of(&home)?;
        Some(Node::of(at as u32 + 1))
    }

    fn of(&self, node: Node) -> Option<Home> {
        let at = (node.integer() as usize).checked_sub(1)?;
        self.all.get_index(at).copied()
    }

    /// A bound in words.
    fn describe(&self, fact: Fact, program: &Program) -> String {
        let name = |node: Node| {
            let text = match self.of(node)? {
                Home::Place(place) => program.places[place.index()].name.clone(),
                Home::Local(process, local) => {
                    let process = program.process(process);
                    format!("{}.{}", process.name, process.locals[local.index()].name)
                }
            };
            let plus = node == Node::of(node.integer());
            Some(if plus { text } else { format!("-{text}") })
        };
        match (name(fact.left), name(fact.right)) {
            (Some(left), Some(right)) => match right.strip_prefix('-') {
                Some(right) => format!("{left} + {right} <= {}", fact.most),
                None => format!("{left} - {right} <= {}", fact.most),
            },
            (Some(left), None) => format!("{left} <= {}", fact.most),
            (None, Some(right)) => format!("{right} >= {}", -fact.most),
            (None, None) => format!("0 <= {}", fact.most),
        }
    }

    /// A node that is none of them.
    fn fresh(&self, number: usize) -> Node {
        Node::of((self.all.len() + number) as u32 + 1)
    }
}

/// How a program is translated.
#[derive(Debug, Clone)]
pub struct BooleanOptions {
    pub model: Model,
    pub atomics: Atomics,
    /// The slots of a queue.
    pub bound: usize,
    pub predicates: Predicates,
    /// The most literals of a cube.
    pub cube: usize,
}

/// What becomes of predicates.
#[derive(Debug, Clone)]
pub enum Predicates {
    /// These, as properties have them.
    Given(Vec<Expr>),
    /// Bounds by thresholds on all integers that have to do with each other.
    Thresholds(Thresholds),
}

/// A program over booleans.
#[derive(Debug, Clone)]
pub struct Boolean {
    pub ast: Ast,
    /// What each boolean stands for.
    pub meanings: Vec<(String, String)>,
    /// What every store asserts; none if nothing is stored.
    pub room: Option<String>,
}

/// Why there is no such program.
#[derive(Debug, Clone)]
pub enum Refusal {
    /// Something in the program cannot be said.
    Program(Vec<Diagnostic>),
    /// Something is wrong with the predicates that were given.
    Predicates(Vec<Diagnostic>),
    /// There would be so many predicates.
    TooMany(usize),
    /// It would be too large, and in which way.
    TooLarge(String),
}

/// The program over booleans of a program that has passed all checks.
pub fn translate(
    ast: &Ast,
    symbols: &Symbols,
    options: &BooleanOptions,
) -> Result<Boolean, Refusal> {
    let sequential = sequential::translate(
        ast,
        symbols,
        &SequentialOptions {
            model: options.model,
            atomics: options.atomics,
            encoding: Encoding::Direct,
            overflow: Overflow::Abort,
            bound: options.bound,
        },
    );
    let Sequential {
        ast, room, slots, ..
    } = sequential;
    let too_large = |diagnostics: Vec<Diagnostic>| {
        let first = diagnostics.into_iter().next();
        Refusal::TooLarge(first.map_or(String::new(), |first| first.message))
    };
    let symbols = resolve(&ast).map_err(too_large)?;
    let program = lower(&ast, &symbols).fenced(&Default::default());
    let homes = Homes::new(&program, &slots);
    let facts = match &options.predicates {
        Predicates::Given(all) => given(&ast, all, &homes, &slots).map_err(Refusal::Predicates)?,
        Predicates::Thresholds(found) => thresholds(&program, &homes, found),
    };
    if facts.len() > MOST_PREDICATES {
        return Err(Refusal::TooMany(facts.len()));
    }
    let meanings = facts.iter().map(|fact| homes.describe(*fact, &program));
    let meanings: Vec<String> = meanings.collect();
    // The bound is a number in what is printed.
    let room = room.map(|room| match room.split_once(" < ") {
        Some((pending, _)) => format!("{pending} < {}", options.bound),
        None => room,
    });
    let (ast, names) = over_booleans(&program, &symbols, &homes, &facts, options.cube)
        .map_err(Refusal::Program)?;
    resolve(&ast).map_err(too_large)?;
    Ok(Boolean {
        ast,
        meanings: names.into_iter().zip(meanings).collect(),
        room,
    })
}

/// The program over booleans of one for SC, and the names of its booleans.
fn over_booleans(
    program: &Program,
    symbols: &Symbols,
    homes: &Homes,
    facts: &[Fact],
    cube: usize,
) -> Result<(Ast, Vec<String>), Vec<Diagnostic>> {
    let frame = Frame::new(program);
    let mut names = Names::native();
    let variables = variables(symbols, &mut names);
    let mut fresh = |wanted: &str| names.fresh(wanted);
    let processes = program.processes.iter();
    let processes: Vec<String> = processes
        .map(|process| fresh(process.name.trim_end_matches(']')))
        .collect();
    let predicates = facts.iter().enumerate();
    let predicates = predicates.map(|(at, fact)| Predicate {
        fact: *fact,
        name: fresh(&format!("b{at}")),
        old: fresh(&format!("old{at}")),
        new: fresh(&format!("new{at}")),
    });
    let predicates: Vec<Predicate> = predicates.collect();
    let mut flag = || Flag {
        name: fresh("there"),
        old: fresh("was_there"),
    };
    let flags = homes.all.iter().map(|home| match home {
        Home::Place(place) if homes.slots.contains(place) => Some(flag()),
        Home::Place(_) => None,
        Home::Local(process, local) => {
            let locations = &frame.program.process(*process).locations;
            let always = locations.iter().all(|at| at.live[local.index()]);
            (!always).then(&mut flag)
        }
    });
    let flags: Vec<Option<Flag>> = flags.collect();
    let unused = fresh("unused");
    let locals = program.processes.iter().map(|process| {
        let mut names = names.clone();
        let locals = process.locals.iter();
        locals.map(|local| names.fresh(&local.name)).collect()
    });
    let locals: Vec<Vec<String>> = locals.collect();
    let mut label = "at_".to_string();
    while locals
        .iter()
        .flatten()
        .any(|local| local.starts_with(&label))
    {
        label.push('_');
    }
    let abstraction = Abstraction {
        program,
        frame: &frame,
        homes,
        predicates,
        flags,
        processes,
        locals,
        label,
        unused,
        variables,
        cube,
    };
    let mut items = abstraction.declarations();
    let mut errors = Vec::new();
    for id in program.process_ids() {
        let process = abstraction.process(id, &mut errors);
        items.push(Item::Process(process));
    }
    for property in &program.properties {
        match abstraction.property(property) {
            Ok(property) => items.push(Item::Property(property)),
            Err(diagnostic) => errors.push(diagnostic),
        }
    }
    let names = abstraction.predicates.into_iter();
    match errors.is_empty() {
        true => Ok((
            Ast { items },
            names.map(|predicate| predicate.name).collect(),
        )),
        false => Err(errors),
    }
}

/// A bound that is kept in a boolean.
struct Predicate {
    fact: Fact,
    name: String,
    /// The local for its value before a step.
    old: String,
    /// The local for its value after a step.
    new: String,
}

/// A shared variable that says whether an integer is there.
struct Flag {
    name: String,
    /// The local for its value before a step.
    old: String,
}

/// What is known while a program is translated.
struct Abstraction<'a> {
    program: &'a Program,
    frame: &'a Frame,
    homes: &'a Homes,
    predicates: Vec<Predicate>,
    /// By integer: whether it is there, if it may be gone.
    flags: Vec<Option<Flag>>,
    /// The names of the processes.
    processes: Vec<String>,
    /// The names of their locals.
    locals: Vec<Vec<String>>,
    /// What labels begin with.
    label: String,
    /// The local for what an update leaves and nobody wants.
    unused: String,
    /// The shared variables with bounds.
    variables: Vec<SharedName>,
    /// The most literals of a cube.
    cube: usize,
}

/// A shared variable with bounds in the printed program.
struct SharedName {
    name: String,
    first: PlaceId,
    len: Option<u32>,
    domain: Domain,
    initial: Vec<Initial>,
}

/// The variables with bounds, under their names; rows and columns are one array.
fn variables(symbols: &Symbols, names: &mut Names) -> Vec<SharedName> {
    let mut first = 0;
    let mut all = Vec::new();
    for variable in &symbols.shared {
        if !variable.domain.is_unbounded() {
            all.push(SharedName {
                name: names.fresh(&variable.name),
                first: PlaceId(first),
                len: variable.len,
                domain: variable.domain,
                initial: variable.initial.clone(),
            });
        }
        first += variable.initial.len() as u32;
    }
    all
}

impl Abstraction<'_> {
    fn declarations(&self) -> Vec<Item> {
        let shared = |text: &str, domain: Domain, len: Option<u32>, init: Option<Init>| {
            let variable = Variable {
                name: name(text, NOWHERE),
                len: len.map(|len| int(len.into(), NOWHERE)),
                init,
            };
            Item::Shared(declare(range(domain, NOWHERE), vec![variable], NOWHERE))
        };
        let value = |initial: &Initial| match initial {
            Initial::Value(value) => int(*value, NOWHERE),
            Initial::Any => int(0, NOWHERE),
        };
        let mut items = Vec::new();
        for SharedName {
            name,
            len,
            domain,
            initial,
            ..
        } in &self.variables
        {
            let init = match (len, &initial[..]) {
                (_, [Initial::Any, ..]) => Init::Any(NOWHERE),
                (None, [first, ..]) => Init::Value(value(first)),
                _ => Init::Cells(initial.iter().map(value).collect(), NOWHERE),
            };
            items.push(shared(name, *domain, *len, Some(init)));
        }
        for (at, flag) in self.flags.iter().enumerate() {
            if let Some(flag) = flag {
                let there = self.starts(self.homes.all[at]).is_some();
                let init = Init::Value(int(there.into(), NOWHERE));
                items.push(shared(&flag.name, Domain::BOOL, None, Some(init)));
            }
        }
        for Predicate { fact, name, .. } in &self.predicates {
            let init = match self.holds_at_start(*fact) {
                Some(truth) => Init::Value(int(truth.into(), NOWHERE)),
                None => Init::Any(NOWHERE),
            };
            items.push(shared(name, Domain::BOOL, None, Some(init)));
        }
        items
    }

    /// The first value of an integer, if it is there at the start.
    fn starts(&self, home: Home) -> Option<Initial> {
        match home {
            Home::Place(place) if self.homes.slots.contains(&place) => None,
            Home::Place(place) => Some(self.program.places[place.index()].initial),
            Home::Local(process, local) => {
                let process = self.program.process(process);
                let live = process.location(process.entry).live[local.index()];
                live.then(|| process.locals[local.index()].initial)
            }
        }
    }

    /// Whether a bound holds at the start, which is false of what is not there.
    fn holds_at_start(&self, fact: Fact) -> Option<bool> {
        let value = |node: Node| -> Option<Initial> {
            let Some(home) = self.homes.of(node) else {
                return Some(Initial::Value(0));
            };
            match self.starts(home)? {
                Initial::Value(value) if node != Node::of(node.integer()) => {
                    Some(Initial::Value(-value))
                }
                initial => Some(initial),
            }
        };
        match (value(fact.left), value(fact.right)) {
            (Some(Initial::Value(left)), Some(Initial::Value(right))) => {
                Some(left - right <= fact.most)
            }
            (Some(_), Some(_)) => None,
            _ => Some(false),
        }
    }

    /// What a place with bounds is called: its variable, and its cell of an array.
    fn variable(&self, place: PlaceId) -> (&SharedName, Option<Value>) {
        let before = |variable: &&SharedName| variable.first <= place;
        let variable = self.variables.iter().rfind(before);
        let variable = variable.expect("a place with bounds has a variable");
        let cell = Value::from(place.0 - variable.first.0);
        (variable, variable.len.map(|_| cell))
    }

    /// The flag of an integer that may be gone.
    fn flag(&self, node: Node) -> Option<&Flag> {
        let at = (node.integer() as usize).checked_sub(1)?;
        self.flags.get(at)?.as_ref()
    }

    /// The label of a position.
    fn label(&self, at: Loc) -> String {
        format!("{}{}", self.label, at.0)
    }
}

/// An empty body with statements.
fn body(statements: Vec<crate::lang::ast::Stmt>) -> crate::lang::ast::Block {
    block(statements, NOWHERE)
}
