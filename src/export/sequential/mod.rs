//! A program under TSO or PSO as a program under SC, with its store buffers as variables.
//!
//! After Dan, Meshman, Vechev and Yahav (SAS 2013 and VMCAI 2015). Memory keeps its names, so
//! properties stay as they are. A process stores into the slots of its buffers and loads from
//! them; one more process per template flushes them at any time, also when the process has
//! stopped. Every memory operation is one atomic block, so that a label on it means what it did.
//!
//! - *direct*: a counter and B slots per queue; a flush takes slot 0 and shifts the others.
//! - *rba*: slots that never shift, each of them free or occupied; a store goes above the highest
//!   occupied slot, a flush takes the lowest. Slots become free again only from below, so that
//!   there may be no room with fewer than B stores pending.
//!
//! Integers without bound are kept in slots of their own. What is done to them is told by what is
//! known before a block, so that an operation on them has a block for each slot that it may be
//! about.
//!
//! A store without room fails the assertion `pending < buffer_bound`, or waits. If no execution
//! fails it, the two programs have the same executions.
//!
//! `final` is about states in which every process has stopped and every buffer is empty. The
//! flushing processes never stop, so it becomes a `forbid` about labels at the end of all others.

mod access;
mod flush;
mod located;
mod queues;
mod seen;
mod statements;

use crate::import::build::{binary, block, chain, expr, int, name, not, stmt, var};
use crate::lang::ast::{
    Ast, Expr, ExprKind, Item, Predicate, Process, ProcessRef, Property, Stmt, StmtKind,
};
use crate::lang::expression_text;
use crate::lang::resolve::{Symbols, Template};
use crate::memory::{Atomics, Model};
use crate::names::named_enum;
use crate::program::{BinaryOp, PropertyKind};
use crate::source::Span;
use queues::Buffer;
use statements::Translation;

named_enum! {
    /// How buffers are kept in variables.
    pub enum Encoding: "encoding" {
        /// A counter and slots that shift on a flush
        Direct = "direct",
        /// Slots that never shift, each free or occupied
        Rba = "rba",
    }
}

named_enum! {
    /// What a store does that finds no room.
    pub enum Overflow: "overflow" {
        /// It fails an assertion
        Abort = "abort",
        /// It waits for a flush
        Wait = "wait",
    }
}

/// How a program is translated.
#[derive(Debug, Clone, Copy)]
pub struct SequentialOptions {
    /// TSO or PSO; under SC there is nothing to do.
    pub model: Model,
    pub atomics: Atomics,
    pub encoding: Encoding,
    pub overflow: Overflow,
    /// The slots of a queue.
    pub bound: usize,
}

/// Where nothing stands in a text.
const NOWHERE: Span = Span { start: 0, end: 0 };

/// The bound of buffers.
const BOUND: &str = "buffer_bound";

/// A program with its buffers as variables.
#[derive(Debug, Clone)]
pub struct Sequential {
    pub ast: Ast,
    /// What every store asserts or waits for; none if nothing is stored.
    pub room: Option<String>,
    /// The processes that flush.
    pub flushers: Vec<String>,
    /// The slots for integers without bound.
    pub slots: Vec<Slots>,
    /// The number of pending stores of each queue, in `direct`.
    pub counters: Vec<Counter>,
}

/// Where the number of pending stores of a queue is kept, in `direct`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counter {
    /// The process, as a person writes it.
    pub process: String,
    /// The place whose stores it holds; none if it holds all stores of the process.
    pub place: Option<String>,
    /// The array and the cell of it.
    pub array: String,
    pub cell: usize,
}

/// Slots of buffers for the stores to a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slots {
    pub variable: String,
    /// An array of integers without bound; each cell may hold a store to each cell of the variable.
    pub array: String,
}

/// The program with its buffers as variables.
pub fn translate(ast: &Ast, symbols: &Symbols, options: &SequentialOptions) -> Sequential {
    if options.model == Model::Sc {
        return Sequential {
            ast: ast.clone(),
            room: None,
            flushers: Vec::new(),
            slots: Vec::new(),
            counters: Vec::new(),
        };
    }
    let mut names = super::taken(ast, symbols);
    let bound = names.fresh(BOUND);
    let finals = ast.items.iter().any(
        |item| matches!(item, Item::Property(property) if property.kind == PropertyKind::Final),
    );
    let stopped = finals.then(|| names.fresh("stopped"));
    let mut buffers: Vec<Option<Buffer>> = symbols
        .templates
        .iter()
        .map(|template| {
            let process = process(ast, template);
            Buffer::new(process, template, symbols, options, &bound, &mut names)
        })
        .collect();
    for buffer in buffers.iter_mut().flatten() {
        buffer.name_locals(&names);
    }
    let mut items = vec![Item::Const {
        name: name(&bound, NOWHERE),
        value: int(options.bound as i64, NOWHERE),
    }];
    let own = |at: usize| {
        let mut templates = symbols.templates.iter();
        templates.position(|template| template.item == at)
    };
    let all_done = || all_done(symbols, &buffers, stopped.as_deref().unwrap_or_default());
    let mut declared = false;
    for (at, item) in ast.items.iter().enumerate() {
        match item {
            Item::Process(process) => {
                if !std::mem::replace(&mut declared, true) {
                    let variables = buffers.iter().flatten().flat_map(Buffer::declarations);
                    items.extend(variables.map(Item::Shared));
                }
                let template = own(at).expect("a process item is a template");
                let translation = Translation {
                    buffer: buffers[template].as_ref(),
                    stopped: stopped.as_deref(),
                };
                items.push(Item::Process(translation.process(process)));
                if let Some(buffer) = &buffers[template] {
                    items.push(Item::Process(buffer.flusher(process)));
                }
            }
            Item::Property(property) if property.kind == PropertyKind::Final => {
                items.push(Item::Property(at_the_end(property, all_done())));
            }
            other => items.push(other.clone()),
        }
    }
    let room = buffers.iter().flatten().next().map(Buffer::room);
    Sequential {
        ast: Ast { items },
        room: room.map(|room| expression_text(&room)),
        flushers: buffers
            .iter()
            .flatten()
            .map(|buffer| buffer.flusher.clone())
            .collect(),
        slots: buffers.iter().flatten().flat_map(Buffer::slots).collect(),
        counters: symbols
            .templates
            .iter()
            .zip(&buffers)
            .filter_map(|(template, buffer)| Some(buffer.as_ref()?.counters(template)))
            .flatten()
            .collect(),
    }
}

/// The process that a template stands for.
fn process<'a>(ast: &'a Ast, template: &Template) -> &'a Process {
    match &ast.items[template.item] {
        Item::Process(process) => process,
        _ => unreachable!("a template names a process item"),
    }
}

/// Every process has stopped and every buffer is empty.
fn all_done(symbols: &Symbols, buffers: &[Option<Buffer>], stopped: &str) -> Vec<Expr> {
    let mut parts = Vec::new();
    for (template, buffer) in symbols.templates.iter().zip(buffers) {
        for instance in &template.instances {
            let index = instance
                .parameter
                .map(|value| Box::new(int(value, NOWHERE)));
            let process = ProcessRef {
                name: name(&template.name, NOWHERE),
                index,
                span: NOWHERE,
            };
            let label = name(stopped, NOWHERE);
            parts.push(expr(ExprKind::At { process, label }, NOWHERE));
        }
        parts.extend(buffer.iter().flat_map(Buffer::all_empty));
    }
    parts
}

/// A property of final states as one of all states.
fn at_the_end(property: &Property, mut done: Vec<Expr>) -> Property {
    if let Predicate::Expr(holds) = &property.predicate {
        done.push(not(holds.clone()));
    }
    let wrong = chain(BinaryOp::And, done).unwrap_or_else(|| int(0, NOWHERE));
    Property {
        kind: PropertyKind::Forbid,
        predicate: Predicate::Expr(wrong),
        span: property.span,
    }
}

/// `left op right`.
fn op(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    binary(op, left, right)
}

fn number(value: i64) -> Expr {
    int(value, NOWHERE)
}

fn named(text: &str) -> Expr {
    var(text, NOWHERE)
}

fn conditional(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    let [condition, then, otherwise] = [condition, then, otherwise].map(Box::new);
    let kind = ExprKind::Conditional {
        condition,
        then,
        otherwise,
    };
    expr(kind, NOWHERE)
}

/// Straight-line code as one step.
fn atomic(mut code: Vec<Stmt>) -> Stmt {
    match code.len() {
        0 => stmt(StmtKind::Skip, NOWHERE),
        1 => code.remove(0),
        _ => stmt(StmtKind::Atomic(block(code, NOWHERE)), NOWHERE),
    }
}

/// One of several steps.
fn either(ways: impl IntoIterator<Item = Vec<Stmt>>) -> Stmt {
    let mut steps: Vec<Stmt> = ways.into_iter().map(atomic).collect();
    if steps.len() == 1 {
        return steps.remove(0);
    }
    let branches = steps.into_iter().map(|step| block(vec![step], NOWHERE));
    stmt(StmtKind::Either(branches.collect()), NOWHERE)
}
