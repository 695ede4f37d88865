//! What the steps of a program do to its integers.
//!
//! The frame runs on the ordinary step relation. Before a step is taken, each integer in the
//! buffers of its process is marked with its number, and the frame stores 0, so that what the
//! step leaves behind tells where everything went: a mark that has moved to another place in
//! the buffers is an assignment, one in a local was loaded, one that reached memory was flushed.
//! The rules of the memory models are thus stated once, in `memory`, for values of all kinds.

use super::frame::{Datum, Frame};
use super::matrix::{Fact, Node};
use super::zone::{Assigned, Move, Term};
use crate::limits::{StopReason, Watch};
use crate::memory::step::{At, Config, Effect, Step, Stepper};
use crate::memory::{Buffers, Semantics, Spot};
use crate::program::{
    Expr, Fault, Instr, LocalId, PlaceId, PlaceRef, ProcessId, Program, Sum, Value,
};
use ahash::AHashMap;
use indexmap::IndexSet;

/// Where an integer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Home {
    Place(PlaceId),
    Local(ProcessId, LocalId),
    /// Among the pending stores of a process to a place.
    Pending(ProcessId, PlaceId, Spot),
    /// Chosen in a step, and not kept anywhere yet.
    Chosen(usize),
}

/// A step of one process with what it does to integers.
pub struct Ruled {
    /// The step of the frame; every integer is 0.
    pub step: Step,
    /// What it does to integers.
    pub data: Move,
}

/// The steps of a frame. Homes get numbers when they are first met.
pub struct Rules<'a> {
    pub frame: &'a Frame,
    pub stepper: Stepper<'a>,
    pub homes: IndexSet<Home>,
}

impl<'a> Rules<'a> {
    /// The steps of a frame under some semantics. Edges that are the same to the frame may do
    /// different things to integers, so no way is left out for another one.
    pub fn new(frame: &'a Frame, semantics: Semantics) -> Rules<'a> {
        Rules {
            frame,
            stepper: Stepper {
                all_ways: true,
                ..semantics.stepper(&frame.program)
            },
            homes: IndexSet::new(),
        }
    }

    fn program(&self) -> &'a Program {
        &self.frame.program
    }

    /// The node of an integer.
    pub fn node(&mut self, home: Home) -> Node {
        Node::of(self.homes.insert_full(home).0 as u32 + 1)
    }

    /// The home of an integer.
    pub fn home(&self, integer: u32) -> Home {
        self.homes[integer as usize - 1]
    }

    /// All steps of a process.
    pub fn steps(
        &mut self,
        process: ProcessId,
        config: &Config,
        memory: &dyn Fn(PlaceId) -> Value,
        watch: &Watch,
    ) -> Result<Vec<Ruled>, StopReason> {
        let marked = Config {
            buffers: self.marked(process, &config.buffers),
            ..config.clone()
        };
        let automaton = self.program().process(process);
        let steps = self.stepper.steps(automaton, &marked, memory, watch)?;
        let ruled = |step| self.ruled(process, config, &marked, step);
        Ok(steps.into_iter().map(ruled).collect())
    }

    /// The buffers with the number of each integer as its value.
    pub fn marked(&mut self, process: ProcessId, buffers: &Buffers) -> Buffers {
        buffers.with_values(
            &mut |spot, entry| match self.is_integer_place(entry.place) {
                true => self
                    .node(Home::Pending(process, entry.place, spot))
                    .integer()
                    .into(),
                false => entry.value,
            },
        )
    }

    /// What a step does to integers, given the configuration before it without and with marks.
    fn ruled(&mut self, id: ProcessId, before: &Config, marked: &Config, mut step: Step) -> Ruled {
        let mut walk = Walk {
            rules: self,
            process: id,
            locals: before.locals.clone(),
            integers: AHashMap::new(),
            memory: Vec::new(),
            stored: Term::number(0),
            chosen: 0,
            constraints: Vec::new(),
        };
        walk.along(&step);
        let Walk {
            integers,
            mut memory,
            stored,
            chosen,
            constraints,
            ..
        } = walk;
        let mut targets = Targets::default();
        if let Effect::Flush(entry) = step.effect
            && self.is_integer_place(entry.place)
        {
            memory.push((entry.place, self.flushed(marked, &step, entry.value)));
        }
        for (place, value) in memory {
            // A store that waits in a buffer is found there.
            if step.writes.iter().any(|(written, _)| *written == place) {
                targets.set(self.node(Home::Place(place)), value);
            }
        }
        self.new_locals(id, before, &step, &integers, &mut targets);
        self.new_buffers(
            id,
            &before.buffers,
            &step.next.buffers,
            stored,
            &mut targets,
        );
        for choice in 0..chosen {
            targets.set(self.node(Home::Chosen(choice)), Assigned::Gone);
        }
        self.without_integers(id, &mut step);
        Ruled {
            step,
            data: Move {
                constraints,
                targets: targets.0,
            },
        }
    }

    /// What reaches memory in a flush: an ordered store, the last of a set, or one of a set.
    fn flushed(&mut self, marked: &Config, step: &Step, mark: Value) -> Assigned {
        let node = Node::of(mark as u32);
        match self.home(node.integer()) {
            Home::Pending(process, place, Spot::Set(segment)) => {
                if step.next.buffers == marked.buffers {
                    return Assigned::OneOf(node);
                }
                let latest = Home::Pending(process, place, Spot::Latest(segment));
                Assigned::Term(Term::node(self.node(latest)))
            }
            _ => Assigned::Term(Term::node(node)),
        }
    }

    /// Locals that changed, and those that are not read any more.
    fn new_locals(
        &mut self,
        process: ProcessId,
        before: &Config,
        step: &Step,
        integers: &AHashMap<LocalId, Term>,
        targets: &mut Targets,
    ) {
        let automaton = self.program().process(process);
        let live = |at: At, local: LocalId| match at {
            At::Loc(at) => automaton.location(at).live[local.index()],
            At::Failed(_) => false,
        };
        for (index, local) in automaton.locals.iter().enumerate() {
            if !local.domain.is_unbounded() {
                continue;
            }
            let local = LocalId(index as u32);
            let node = self.node(Home::Local(process, local));
            let keeps = live(step.next.at, local) || !self.stepper.semantics.reset_dead;
            match integers.get(&local) {
                Some(value) if keeps => targets.set(node, Assigned::Term(*value)),
                _ if !keeps && live(before.at, local) => targets.set(node, Assigned::Gone),
                _ => {}
            }
        }
    }

    /// Where the marks in the buffers have gone.
    fn new_buffers(
        &mut self,
        process: ProcessId,
        before: &Buffers,
        after: &Buffers,
        stored: Term,
        targets: &mut Targets,
    ) {
        let term = |mark: Value| match mark {
            0 => stored,
            mark => Term::node(Node::of(mark as u32)),
        };
        let mut pending: Vec<(Home, Vec<Term>)> = Vec::new();
        after.with_values(&mut |spot, entry| {
            if self.is_integer_place(entry.place) {
                let home = Home::Pending(process, entry.place, spot);
                let value = term(entry.value);
                match pending.iter_mut().find(|(known, _)| *known == home) {
                    Some((_, values)) => values.push(value),
                    None => pending.push((home, vec![value])),
                }
            }
            entry.value
        });
        let mut gone = Vec::new();
        before.with_values(&mut |spot, entry| {
            let home = Home::Pending(process, entry.place, spot);
            let stays = pending.iter().any(|(known, _)| *known == home);
            if self.is_integer_place(entry.place) && !stays && !gone.contains(&home) {
                gone.push(home);
            }
            entry.value
        });
        for (home, values) in pending {
            let node = self.node(home);
            match values[..] {
                [value] => targets.set(node, Assigned::Term(value)),
                _ => targets.set(node, Assigned::Either(values)),
            }
        }
        for home in gone {
            targets.set(self.node(home), Assigned::Gone);
        }
    }

    /// Takes all marks out of a step.
    fn without_integers(&self, process: ProcessId, step: &mut Step) {
        let locals = &self.program().process(process).locals;
        for (value, local) in step.next.locals.iter_mut().zip(locals) {
            if local.domain.is_unbounded() {
                *value = 0;
            }
        }
        let buffers = step.next.buffers.with_values(&mut |_, entry| match self
            .is_integer_place(entry.place)
        {
            true => 0,
            false => entry.value,
        });
        step.next.buffers = buffers;
        for (place, value) in &mut step.writes {
            if self.is_integer_place(*place) {
                *value = 0;
            }
        }
    }

    pub fn is_integer_place(&self, place: PlaceId) -> bool {
        self.program().places[place.index()].domain.is_unbounded()
    }
}

/// The targets of a move, without those that keep their value.
#[derive(Default)]
struct Targets(Vec<(u32, Assigned)>);

impl Targets {
    fn set(&mut self, node: Node, value: Assigned) {
        if value != Assigned::Term(Term::node(node)) {
            self.0.push((node.integer(), value));
        }
    }
}

/// The way of a step through the frame, in terms of the integers before it.
struct Walk<'w, 'a> {
    rules: &'w mut Rules<'a>,
    process: ProcessId,
    /// The locals with bounds.
    locals: Vec<Value>,
    /// The integers in locals that were set on the way.
    integers: AHashMap<LocalId, Term>,
    /// What was stored, each place once.
    memory: Vec<(PlaceId, Assigned)>,
    /// The value of the last store.
    stored: Term,
    chosen: usize,
    constraints: Vec<Fact>,
}

impl Walk<'_, '_> {
    fn along(&mut self, step: &Step) {
        let frame = self.rules.frame;
        let automaton = self.rules.program().process(self.process);
        let failed = match step.next.at {
            At::Failed(failure) => Some(failure.span),
            At::Loc(_) => None,
        };
        let mut running = None;
        for &edge in &step.path {
            for datum in &frame.edge(self.process, edge).data {
                if let Datum::Begin(span) = datum {
                    // Behind an instruction of a block that failed, nothing was done.
                    if running.is_some() && running == failed {
                        return;
                    }
                    running = Some(*span);
                }
                if self.datum(datum, step).is_err() {
                    assert!(failed.is_some(), "the frame fails where a value is missing");
                    return;
                }
            }
            if let Instr::Assign { local, value } = &automaton.edge(edge).instr
                && let Ok(value) = self.eval(value)
            {
                self.locals[local.index()] = value;
            }
        }
    }

    fn datum(&mut self, datum: &Datum, step: &Step) -> Result<(), Fault> {
        match datum {
            Datum::Begin(_) => {}
            Datum::AtMostZero(sum) => {
                let fact = self.fact(sum)?;
                self.constraints.push(fact);
            }
            Datum::Assign(local, sum) => {
                let value = self.term(sum)?;
                self.integers.insert(*local, value);
            }
            Datum::Any(local) => {
                let value = Term::node(self.rules.node(Home::Chosen(self.chosen)));
                self.chosen += 1;
                self.integers.insert(*local, value);
            }
            Datum::Load(local, place) => {
                let value = self.loaded(place, step)?;
                self.integers.insert(*local, value);
            }
            Datum::Store(place, sum) => {
                let (place, value) = (self.resolve(place)?, self.term(sum)?);
                self.stored = value;
                self.memory.retain(|(known, _)| *known != place);
                self.memory.push((place, Assigned::Term(value)));
            }
        }
        Ok(())
    }

    /// What a load finds: a mark in a buffer, or what is in memory by now.
    fn loaded(&mut self, place: &PlaceRef, step: &Step) -> Result<Term, Fault> {
        let place = self.resolve(place)?;
        if let Effect::Load(_, mark) = step.effect
            && mark != 0
        {
            return Ok(Term::node(Node::of(mark as u32)));
        }
        let stored = self.memory.iter().find(|(known, _)| *known == place);
        Ok(match stored {
            Some((_, Assigned::Term(term))) => *term,
            _ => Term::node(self.rules.node(Home::Place(place))),
        })
    }

    /// That a sum is at most zero.
    fn fact(&mut self, sum: &Sum<LocalId>) -> Result<Fact, Fault> {
        let rest = self.eval(&sum.rest)?;
        let mut terms = Vec::new();
        for (local, factor) in &sum.integers {
            let term = self.local(*local);
            let term = if *factor < 0 { term.negated() } else { term };
            (0..factor.abs()).for_each(|_| terms.push(term));
        }
        Ok(at_most_zero(&terms, rest))
    }

    fn term(&mut self, sum: &Sum<LocalId>) -> Result<Term, Fault> {
        let rest = self.eval(&sum.rest)?;
        let term = match sum.integers[..] {
            [] => Term::number(0),
            [(local, 1)] => self.local(local),
            [(local, _)] => self.local(local).negated(),
            _ => unreachable!("a value has at most one integer"),
        };
        let plus = term.plus.saturating_add(rest);
        Ok(Term { plus, ..term })
    }

    fn local(&mut self, local: LocalId) -> Term {
        match self.integers.get(&local) {
            Some(term) => *term,
            None => Term::node(self.rules.node(Home::Local(self.process, local))),
        }
    }

    fn resolve(&self, place: &PlaceRef) -> Result<PlaceId, Fault> {
        match place {
            PlaceRef::Cell { first, len, index } => {
                let index = self.eval(index)?;
                let offset = u32::try_from(index).ok().filter(|offset| offset < len);
                let offset = offset.ok_or(Fault::OutOfBounds { index, len: *len })?;
                Ok(PlaceId(first.0 + offset))
            }
            PlaceRef::Scalar(place) => Ok(*place),
            PlaceRef::Computed { .. } => unreachable!("programs with pointers have no integers"),
        }
    }

    fn eval(&self, expr: &Expr<LocalId>) -> Result<Value, Fault> {
        expr.eval(&|local| Ok(self.locals[local.index()]))
    }
}

/// That the sum of at most two terms and of a number is at most zero.
pub fn at_most_zero(terms: &[Term], rest: Value) -> Fact {
    // Integers with a minus go to the other side, as far as that says it without negations.
    let is_plus = |node: Node| node == Node::of(node.integer());
    let plus: Value = terms.iter().map(|term| term.plus).sum();
    let most = -(rest.saturating_add(plus));
    let nodes: Vec<Node> = terms.iter().map(|term| term.node).collect();
    let nodes: Vec<Node> = nodes
        .into_iter()
        .filter(|node| *node != Node::ZERO)
        .collect();
    match nodes[..] {
        [] => Fact::new(Node::ZERO, Node::ZERO, most),
        [one] if is_plus(one) => Fact::new(one, Node::ZERO, most),
        [one] => Fact::new(Node::ZERO, one.negated(), most),
        [one, other] if is_plus(one) => Fact::new(one, other.negated(), most),
        [one, other] => Fact::new(other, one.negated(), most),
        _ => unreachable!("a comparison has at most two integers"),
    }
}
