//! The variables that hold the buffers of one template's processes.
//!
//! A queue has a number within its group: under TSO that of the process; under PSO a group is
//! a variable that is stored to, and a queue that of the process times its cells plus the cell.
//! Slots of a queue follow one another. A free slot holds 0 as its place and a fixed value, so
//! that equal buffers are equal states.

use super::seen::Seen;
use super::{Encoding, NOWHERE, Overflow, SequentialOptions, named, number, op};
use crate::import::build::{declare, name, range};
use crate::import::names::Names;
use crate::lang::ast::{Declaration, Expr, ExprKind, Init, Place, Process, Variable};
use crate::lang::resolve::{SharedVariable, Symbols, Template};
use crate::memory::{Atomics, Model};
use crate::program::{BinaryOp, Domain, Value};

/// The buffers of the processes of a template that stores anything.
pub struct Buffer {
    pub model: Model,
    pub atomics: Atomics,
    pub encoding: Encoding,
    pub overflow: Overflow,
    pub bound: usize,
    /// The name of the constant.
    pub bound_name: String,
    /// The name of the process that flushes.
    pub flusher: String,
    pub instances: usize,
    /// The number of the process, by its parameter.
    own: Expr,
    /// The variables that are stored to.
    pub targets: Vec<Target>,
    /// One for each target under PSO, else one.
    pub groups: Vec<Group>,
    /// A range that holds all values that are stored, integers without bound aside.
    all: Option<Domain>,
    /// The integers without bound among the locals.
    integers: Vec<String>,
    /// The variables that are waited for.
    awaited: Vec<(String, Domain)>,
    pub temporaries: Temporaries,
    /// There are store-load fences: each group counts the stores that loads wait for.
    pub store_load: bool,
    /// There are store-store fences: slots are numbered by segment; the name of the newest
    /// segment's number.
    pub segment: Option<String>,
}

/// A variable that is stored to.
pub struct Target {
    pub name: String,
    pub domain: Domain,
    pub len: Option<u32>,
    /// The number of columns of an array with rows and columns.
    pub columns: Option<u32>,
    /// The number of its first place, from 1 on.
    pub first: Value,
}

impl Target {
    /// It holds integers without bound.
    pub fn is_integer(&self) -> bool {
        self.domain.is_unbounded()
    }

    /// The name of one of its places.
    pub fn place(&self, cell: u32) -> String {
        match (self.len, self.columns) {
            (None, _) => self.name.clone(),
            (Some(_), None) => format!("{}[{cell}]", self.name),
            (Some(_), Some(columns)) => {
                format!("{}[{}][{}]", self.name, cell / columns, cell % columns)
            }
        }
    }

    /// The number of its places.
    pub fn cells(&self) -> Value {
        self.len.unwrap_or(1).into()
    }
}

/// Queues whose slots are in the same arrays.
pub struct Group {
    /// The cells that have a queue each; one under TSO and for scalars.
    pub cells: usize,
    /// The values with bounds that its slots hold.
    pub domain: Option<Domain>,
    /// Its slots hold integers without bound.
    pub unbounded: bool,
    /// `direct`: how many slots are occupied.
    pub count: String,
    /// TSO: which place a slot is for, 0 if it is free.
    pub place: String,
    /// PSO and `rba`: whether a slot is occupied.
    pub used: String,
    /// The values with bounds.
    pub value: String,
    /// The integers without bound.
    pub integer: String,
    /// How many stores loads wait for.
    pub waiting: String,
    /// The number of the segment of each slot; 0 if it is free.
    pub segment: String,
}

impl Group {
    /// The array for the values of a target.
    pub fn array(&self, target: &Target) -> &str {
        match target.is_integer() {
            true => &self.integer,
            false => &self.value,
        }
    }
}

/// Locals that are used within one step.
#[derive(Default)]
pub struct Temporaries {
    pub pending: String,
    pub place: String,
    pub cell: String,
    /// What a load finds.
    pub found: String,
    pub other: String,
    pub least: String,
    pub segment: String,
    /// For values of each range.
    values: Vec<(Domain, String)>,
}

impl Buffer {
    /// The buffers of a template; none if it does not store.
    pub fn new(
        process: &Process,
        template: &Template,
        symbols: &Symbols,
        options: &SequentialOptions,
        bound_name: &str,
        names: &mut Names,
    ) -> Option<Buffer> {
        let mut seen = Seen::default();
        seen.block(&process.body);
        let stored = |variable: &&SharedVariable| seen.stored.contains(&variable.name);
        let mut first = 1;
        let mut targets = Vec::new();
        for variable in symbols.shared.iter().filter(stored) {
            targets.push(Target {
                name: variable.name.clone(),
                domain: variable.domain,
                len: variable.len,
                columns: variable.columns,
                first,
            });
            first += Value::from(variable.len.unwrap_or(1));
        }
        if targets.is_empty() {
            return None;
        }
        let bounded = targets.iter().filter(|target| !target.is_integer());
        let all = bounded.map(|target| target.domain).reduce(|a, b| Domain {
            low: a.low.min(b.low),
            high: a.high.max(b.high),
        });
        let mut group = |of: &str, cells: usize, domain: Option<Domain>, unbounded: bool| {
            let mut fresh = |what: &str| names.fresh(&format!("{of}_{what}"));
            Group {
                cells,
                domain,
                unbounded,
                count: fresh("count"),
                place: fresh("place"),
                used: fresh("used"),
                value: fresh("value"),
                integer: fresh("integer"),
                waiting: fresh("waiting"),
                segment: fresh("segment"),
            }
        };
        let own_name = &template.name;
        let groups: Vec<Group> = match options.model {
            Model::Pso => targets
                .iter()
                .map(|target| {
                    let of = format!("{own_name}_{}", target.name);
                    let unbounded = target.is_integer();
                    let domain = (!unbounded).then_some(target.domain);
                    group(&of, target.cells() as usize, domain, unbounded)
                })
                .collect(),
            Model::Tso | Model::Sc => {
                let unbounded = targets.iter().any(Target::is_integer);
                vec![group(own_name, 1, all, unbounded)]
            }
        };
        let low = template.instances.iter().filter_map(|i| i.parameter).min();
        let own = match (&template.parameter, low) {
            (Some(parameter), Some(0)) => named(parameter),
            (Some(parameter), Some(low)) => op(BinaryOp::Sub, named(parameter), number(low)),
            _ => number(0),
        };
        let locals = template.instances.first().map(|first| &first.locals);
        let locals = locals.into_iter().flatten();
        let integers = locals.filter(|local| local.domain.is_unbounded());
        let segment = seen.store_store && options.model == Model::Pso;
        Some(Buffer {
            model: options.model,
            atomics: options.atomics,
            encoding: options.encoding,
            overflow: options.overflow,
            bound: options.bound,
            bound_name: bound_name.to_string(),
            flusher: names.fresh(&format!("flush_{own_name}")),
            instances: template.instances.len(),
            own,
            targets,
            groups,
            all,
            integers: integers.map(|local| local.name.clone()).collect(),
            awaited: symbols
                .shared
                .iter()
                .filter(|variable| seen.awaited.contains(&variable.name))
                .map(|variable| (variable.name.clone(), variable.domain))
                .collect(),
            temporaries: Temporaries::default(),
            store_load: seen.store_load,
            segment: segment.then(|| names.fresh(&format!("{own_name}_newest"))),
        })
    }

    /// Names the locals, when all other names are known. They are the same in all processes.
    pub fn name_locals(&mut self, names: &Names) {
        let mut names = names.clone();
        self.temporaries = Temporaries {
            pending: names.fresh("pending"),
            place: names.fresh("slot_place"),
            cell: names.fresh("cell"),
            found: names.fresh("found"),
            other: names.fresh("other"),
            least: names.fresh("least"),
            segment: names.fresh("slot_segment"),
            values: Vec::new(),
        };
        let values = &mut self.temporaries.values;
        for domain in self
            .targets
            .iter()
            .map(|target| target.domain)
            .chain(self.awaited.iter().map(|(_, domain)| *domain))
            .chain(self.all)
        {
            if values.iter().all(|(known, _)| *known != domain) {
                values.push((domain, names.fresh("value")));
            }
        }
    }

    /// There is room for one more store, when `pending` says where it goes.
    pub fn room(&self) -> Expr {
        let pending = named(&self.temporaries.pending);
        op(BinaryOp::Less, pending, named(&self.bound_name))
    }

    pub fn is_tso(&self) -> bool {
        self.model == Model::Tso
    }

    /// Slots have flags of their own.
    pub fn has_flags(&self) -> bool {
        !self.is_tso() && self.encoding == Encoding::Rba
    }

    pub fn target(&self, variable: &str) -> Option<(usize, &Target)> {
        let mut targets = self.targets.iter().enumerate();
        targets.find(|(_, target)| target.name == variable)
    }

    /// The group whose queues a target's stores go to.
    pub fn group_of(&self, target: usize) -> &Group {
        &self.groups[if self.is_tso() { 0 } else { target }]
    }

    /// The local for values of a range.
    pub fn value(&self, domain: Domain) -> &str {
        let mut values = self.temporaries.values.iter();
        let known = values.find(|(known, _)| *known == domain);
        &known.expect("there is one for each target").1
    }

    /// The local that a wait reads a variable into.
    pub fn awaited(&self, variable: &str) -> Option<&str> {
        let mut awaited = self.awaited.iter();
        let (_, domain) = awaited.find(|(known, _)| known == variable)?;
        Some(self.value(*domain))
    }

    /// The number of the own process.
    pub fn own(&self) -> Expr {
        self.own.clone()
    }

    /// The number of the own queue for a cell.
    pub fn queue(&self, group: &Group, cell: Option<Expr>) -> Expr {
        let first = scaled(self.own(), group.cells);
        match cell {
            None => first,
            Some(cell) => sum(first, cell),
        }
    }

    /// The position of a slot of a queue.
    pub fn slot(&self, queue: &Expr, slot: Expr) -> Expr {
        sum(scaled(queue.clone(), self.bound), slot)
    }

    /// The largest number of a segment: all are counted from 1, and only the newest is empty.
    fn segments(&self) -> Value {
        let queues: usize = self.groups.iter().map(|group| group.cells).sum();
        (queues * self.bound) as Value + 1
    }

    /// Whether the value of an expression may depend on integers without bound.
    pub fn mentions_integers(&self, expr: &Expr) -> bool {
        let mut found = false;
        expr.visit(&mut |part| {
            if let ExprKind::Name(name) = &part.kind {
                found |= self.integers.contains(name);
            }
        });
        found
    }

    /// All shared variables.
    pub fn declarations(&self) -> Vec<Declaration> {
        let mut all = Vec::new();
        for group in &self.groups {
            let queues = self.instances * group.cells;
            let slots = queues * self.bound;
            let mut add = |name: &str, domain: Domain, len: usize, initial: Value| {
                all.push(shared(name, domain, len, initial));
            };
            let counts = upto(self.bound as Value);
            if self.encoding == Encoding::Direct {
                add(&group.count, counts, queues, 0);
            }
            if self.is_tso() {
                add(&group.place, upto(self.places()), slots, 0);
            }
            if self.has_flags() {
                add(&group.used, Domain::BOOL, slots, 0);
            }
            if let Some(domain) = group.domain {
                add(&group.value, domain, slots, free_value(domain));
            }
            if group.unbounded {
                add(&group.integer, Domain::INTEGERS, slots, 0);
            }
            if self.store_load {
                add(&group.waiting, counts, queues, 0);
            }
            if self.segment.is_some() {
                add(&group.segment, upto(self.segments()), slots, 0);
            }
        }
        if let Some(newest) = &self.segment {
            all.push(shared(newest, upto(self.segments()), self.instances, 1));
        }
        all
    }

    /// The declarations of the locals of a process, or of the one that flushes its buffers.
    pub fn locals(&self, flushes: bool) -> Vec<Declaration> {
        let of = &self.temporaries;
        let local = |text: &str, domain: Domain| {
            let initial = free_value(domain);
            let init = (initial != 0).then(|| Init::Value(number(initial)));
            let variable = Variable {
                name: name(text, NOWHERE),
                len: None,
                init,
            };
            declare(range(domain, NOWHERE), vec![variable], NOWHERE)
        };
        let mut all = vec![local(&of.pending, upto(self.bound as Value))];
        if self.is_tso() || self.encoding == Encoding::Rba {
            all.push(local(&of.place, upto(self.places())));
        }
        let cells = self.targets.iter().filter_map(|target| target.len).max();
        all.extend(cells.map(|cells| local(&of.cell, upto(i64::from(cells) - 1))));
        let most = self.segments().max(self.bound as Value);
        if self.store_load || self.segment.is_some() {
            all.push(local(&of.other, upto(most)));
        }
        if self.segment.is_some() {
            all.push(local(&of.least, upto(most)));
            all.push(local(&of.segment, upto(most)));
        }
        let found = self.all.filter(|_| !flushes);
        all.extend(found.map(|domain| local(&of.found, domain)));
        let moved = |domain: &Domain| {
            let mut groups = self.groups.iter();
            groups.any(|group| {
                group.domain == Some(*domain) || group.unbounded && domain.is_unbounded()
            })
        };
        let values = of.values.iter();
        let values = values.filter(|(domain, _)| !flushes || moved(domain));
        all.extend(values.map(|(domain, text)| local(text, *domain)));
        all
    }

    /// The number of places that are stored to.
    fn places(&self) -> Value {
        self.targets.iter().map(Target::cells).sum()
    }

    /// For each queue, that it is empty, as properties say it.
    pub fn all_empty(&self) -> Vec<Expr> {
        let mut parts = Vec::new();
        for group in &self.groups {
            let queues = self.instances * group.cells;
            let (array, cells) = match self.encoding {
                Encoding::Direct => (&group.count, queues),
                Encoding::Rba if self.is_tso() => (&group.place, queues * self.bound),
                Encoding::Rba => (&group.used, queues * self.bound),
            };
            parts.extend((0..cells).map(|at| {
                let cell = ExprKind::Cell {
                    name: name(array, NOWHERE),
                    index: Box::new(number(at as i64)),
                };
                let cell = Expr {
                    kind: cell,
                    span: NOWHERE,
                };
                op(BinaryOp::Equal, cell, number(0))
            }));
        }
        parts
    }
}

/// A cell of an array.
pub fn cell(array: &str, index: Expr) -> Place {
    Place {
        name: name(array, NOWHERE),
        index: Some(Box::new(index)),
        span: NOWHERE,
    }
}

/// What a free slot holds.
pub fn free_value(domain: Domain) -> Value {
    match domain.contains(0) {
        true => 0,
        false => domain.low,
    }
}

fn upto(high: Value) -> Domain {
    Domain { low: 0, high }
}

fn shared(text: &str, domain: Domain, len: usize, initial: Value) -> Declaration {
    let variable = Variable {
        name: name(text, NOWHERE),
        len: Some(number(len as i64)),
        init: (initial != 0).then(|| Init::Value(number(initial))),
    };
    declare(range(domain, NOWHERE), vec![variable], NOWHERE)
}

/// `by * value`, where that is something else.
fn scaled(value: Expr, by: usize) -> Expr {
    match (&value.kind, by) {
        (_, 1) => value,
        (ExprKind::Int(known), _) => number(known * by as i64),
        _ => op(BinaryOp::Mul, value, number(by as i64)),
    }
}

/// `left + right`, where that is something else.
fn sum(left: Expr, right: Expr) -> Expr {
    match (&left.kind, &right.kind) {
        (ExprKind::Int(0), _) => right,
        (_, ExprKind::Int(0)) => left,
        (ExprKind::Int(a), ExprKind::Int(b)) => number(a + b),
        _ => op(BinaryOp::Add, left, right),
    }
}
