//! Is something wrong in one of the states that a product of sets stands for?
//!
//! The members of the sets are independent of one another, so every combination of what
//! properties see of them occurs. For each property the processes that it names are gone
//! through, one observation after the other, and the predicate is evaluated as soon as what
//! is known decides it.

use super::Ended;
use super::moves::Class;
use super::process::Summary;
use super::states::{SetSearch, StateId};
use crate::memory::step::At;
use crate::program::value::{binary, unary};
use crate::program::{
    Atom, BinaryOp, Expr, Loc, LocalId, PlaceId, ProcessId, Program, Property, PropertyKind, Value,
};
use ahash::AHashSet;

/// Evaluations of one predicate before the search by sets is given up.
const MOST_EVALUATIONS: usize = 1 << 20;

/// What the properties of a program are judged by.
#[derive(Default)]
pub struct Check<'a> {
    watched: Vec<Watched<'a>>,
    /// What was judged before and is not wrong: a property, the values of the places that it
    /// names, the classes of the processes that it names.
    fine: AHashSet<Box<[u32]>>,
    key: Vec<u32>,
}

/// A property and what it looks at.
struct Watched<'a> {
    property: &'a Property,
    /// The processes that it names, in the order in which it evaluates them.
    processes: Vec<ProcessId>,
    /// The positions and locals that it names, by process.
    seen: Vec<(Vec<Loc>, Vec<LocalId>)>,
    places: Vec<PlaceId>,
}

/// A state that stands for many: some memory, and any of some configurations for each process.
pub trait Observed {
    /// The number of processes.
    fn width(&self) -> usize;

    fn memory(&self) -> &[Value];

    /// What properties see of the configurations of a process.
    fn classes(&self, process: ProcessId) -> impl Iterator<Item = &Class>;

    /// A number that equal classes share.
    fn class_set(&self, process: ProcessId) -> u32;

    /// Some configuration of the process has failed.
    fn has_failed(&self, process: ProcessId) -> bool;
}

/// A state of a search.
pub struct OneState<'s, 'a> {
    pub sets: &'s SetSearch<'a>,
    pub state: StateId,
}

impl Observed for OneState<'_, '_> {
    fn width(&self) -> usize {
        self.sets.width()
    }

    fn memory(&self) -> &[Value] {
        self.sets.memory(self.sets.head(self.state).memory)
    }

    fn classes(&self, process: ProcessId) -> impl Iterator<Item = &Class> {
        self.sets
            .kind(process)
            .classes(self.summary(process).classes)
    }

    fn class_set(&self, process: ProcessId) -> u32 {
        self.summary(process).classes.0
    }

    fn has_failed(&self, process: ProcessId) -> bool {
        self.summary(process).failed
    }
}

impl OneState<'_, '_> {
    fn summary(&self, process: ProcessId) -> &Summary {
        let set = self.sets.sets(self.state)[process.index()];
        self.sets.kind(process).summary(set)
    }
}

/// What a predicate is worth with some processes left open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Partial {
    Value(Value),
    Fault,
    Unknown,
}

/// For each process that was decided, what is seen of it.
type Chosen<'c> = Vec<Option<&'c Class>>;

impl<'a> Check<'a> {
    pub fn new(program: &'a Program) -> Check<'a> {
        Check {
            watched: program.properties.iter().map(Watched::new).collect(),
            ..Check::default()
        }
    }

    /// A combination of classes that violates a property, each process having one if it
    /// matters which; `None` if nothing is wrong. `done` says whether all processes may have
    /// stopped.
    pub fn violation(
        &mut self,
        state: &impl Observed,
        done: bool,
    ) -> Result<Option<Vec<Option<Class>>>, Ended> {
        let mut processes = (0..state.width() as u32).map(ProcessId);
        if let Some(process) = processes.find(|&process| state.has_failed(process)) {
            let failed = |class: &&Class| matches!(class.at, Some(At::Failed(_)));
            let mut found = vec![None; state.width()];
            found[process.index()] = state.classes(process).find(failed).cloned();
            return Ok(Some(found));
        }
        let memory = state.memory();
        for (index, watched) in self.watched.iter().enumerate() {
            let is_final = watched.property.kind == PropertyKind::Final;
            if is_final && !done {
                continue;
            }
            self.key.clear();
            self.key.push(index as u32);
            let values = watched
                .places
                .iter()
                .map(|place| memory[place.index()] as u32);
            self.key.extend(values);
            let processes = watched.processes.iter();
            self.key
                .extend(processes.map(|&process| state.class_set(process)));
            if self.fine.contains(&self.key[..]) {
                continue;
            }
            let Some(mut found) = watched.search(state)? else {
                self.fine.insert(self.key[..].into());
                continue;
            };
            for (process, class) in (0..).map(ProcessId).zip(&mut found) {
                if is_final && class.is_none() {
                    *class = state.classes(process).find(|class| class.done).cloned();
                }
            }
            return Ok(Some(found));
        }
        Ok(None)
    }
}

impl<'a> Watched<'a> {
    fn new(property: &'a Property) -> Watched<'a> {
        let mut watched = Watched {
            property,
            processes: Vec::new(),
            seen: Vec::new(),
            places: Vec::new(),
        };
        watched.watch(&property.predicate);
        watched.places.sort();
        watched.places.dedup();
        watched
    }

    fn watch(&mut self, predicate: &Expr<Atom>) {
        predicate.atoms(&mut |atom| match atom {
            Atom::Place(place) => self.places.push(*place),
            Atom::Cell { first, len, index } => {
                let cells = (0..*len).map(|cell| PlaceId(first.0 + cell));
                self.places.extend(cells);
                self.watch(index);
            }
            Atom::Local(process, local) => self.seen_of(*process).1.push(*local),
            Atom::At(positions) | Atom::TwoAt(positions) => {
                for (process, at) in positions {
                    self.seen_of(*process).0.push(*at);
                }
            }
        });
    }

    fn seen_of(&mut self, process: ProcessId) -> &mut (Vec<Loc>, Vec<LocalId>) {
        let known = self.processes.iter().position(|other| *other == process);
        let at = known.unwrap_or_else(|| {
            self.processes.push(process);
            self.seen.push(Default::default());
            self.processes.len() - 1
        });
        &mut self.seen[at]
    }

    /// What is seen of a class.
    fn look(&self, level: usize, class: &Class) -> (Option<usize>, Vec<Option<Value>>) {
        let (positions, locals) = &self.seen[level];
        let here = match class.at {
            Some(At::Loc(here)) => positions.iter().position(|named| *named == here),
            _ => None,
        };
        let values = locals.iter().map(|local| class.locals.get(local.index()));
        (here, values.map(|value| value.copied()).collect())
    }

    /// Combinations of what is seen, until one is wrong.
    fn search(&self, state: &impl Observed) -> Result<Option<Vec<Option<Class>>>, Ended> {
        let is_final = self.property.kind == PropertyKind::Final;
        let options = self.processes.iter().enumerate().map(|(level, &process)| {
            let mut options: Vec<&Class> = Vec::new();
            for class in state
                .classes(process)
                .filter(|class| class.done || !is_final)
            {
                let look = self.look(level, class);
                if !options.iter().any(|known| self.look(level, known) == look) {
                    options.push(class);
                }
            }
            options
        });
        let options: Vec<Vec<&Class>> = options.collect();
        let bad = matches!(
            self.property.kind,
            PropertyKind::Mutex | PropertyKind::Forbid
        );
        let mut chosen: Chosen = vec![None; state.width()];
        let mut evaluations = 0;
        let mut picks = vec![0];
        loop {
            evaluations += 1;
            if evaluations > MOST_EVALUATIONS {
                return Err(Ended::GivenUp);
            }
            let worth = evaluate(&self.property.predicate, &chosen, state.memory());
            let wrong = match worth {
                Partial::Value(value) => Some((value != 0) == bad),
                Partial::Fault => Some(true),
                Partial::Unknown => None,
            };
            if wrong == Some(true) {
                return Ok(Some(chosen.iter().map(|class| class.cloned()).collect()));
            }
            // Decide one more process, or go on with the next observation of one before.
            let mut level = picks.len() - 1;
            if wrong.is_some() {
                let Some(before) = level.checked_sub(1) else {
                    return Ok(None);
                };
                picks.pop();
                chosen[self.processes[before].index()] = None;
                level = before;
            }
            loop {
                let process = self.processes[level].index();
                if let Some(class) = options[level].get(picks[level]) {
                    chosen[process] = Some(class);
                    picks[level] += 1;
                    picks.push(0);
                    break;
                }
                let Some(before) = level.checked_sub(1) else {
                    return Ok(None);
                };
                picks.pop();
                chosen[self.processes[before].index()] = None;
                level = before;
            }
        }
    }
}

/// A predicate as far as it is decided. Like the evaluation of a state it goes from left to
/// right, so that a fault counts exactly where it would there.
fn evaluate(predicate: &Expr<Atom>, chosen: &Chosen, memory: &[Value]) -> Partial {
    let truth = |value: bool| Partial::Value(Value::from(value));
    match predicate {
        Expr::Const(value) => Partial::Value(*value),
        Expr::Atom(Atom::Place(place)) => Partial::Value(memory[place.index()]),
        Expr::Atom(Atom::Cell { first, len, index }) => match evaluate(index, chosen, memory) {
            Partial::Value(index) => match u32::try_from(index) {
                Ok(cell) if cell < *len => Partial::Value(memory[(first.0 + cell) as usize]),
                _ => Partial::Fault,
            },
            other => other,
        },
        Expr::Atom(Atom::Local(process, local)) => match chosen[process.index()] {
            Some(class) => match class.locals.get(local.index()) {
                Some(value) => Partial::Value(*value),
                // It has failed, which is a violation of its own.
                None => Partial::Value(0),
            },
            None => Partial::Unknown,
        },
        Expr::Atom(Atom::At(positions)) => {
            present(positions, chosen, 1).map_or(Partial::Unknown, truth)
        }
        Expr::Atom(Atom::TwoAt(positions)) => {
            present(positions, chosen, 2).map_or(Partial::Unknown, truth)
        }
        Expr::Unary(op, operand) => match evaluate(operand, chosen, memory) {
            Partial::Value(value) => unary(*op, value).map_or(Partial::Fault, Partial::Value),
            other => other,
        },
        Expr::Binary(op, left, right) => match evaluate(left, chosen, memory) {
            Partial::Value(left) => {
                let decided = match op {
                    BinaryOp::And => left == 0,
                    BinaryOp::Or => left != 0,
                    _ => false,
                };
                if decided {
                    return truth(*op == BinaryOp::Or);
                }
                match evaluate(right, chosen, memory) {
                    Partial::Value(right) => {
                        binary(*op, left, || Ok(right)).map_or(Partial::Fault, Partial::Value)
                    }
                    other => other,
                }
            }
            other => other,
        },
        Expr::Conditional(condition, then, otherwise) => {
            match evaluate(condition, chosen, memory) {
                Partial::Value(0) => evaluate(otherwise, chosen, memory),
                Partial::Value(_) => evaluate(then, chosen, memory),
                other => other,
            }
        }
    }
}

/// Whether at least `wanted` processes are at these positions, if that is decided.
fn present(positions: &[(ProcessId, Loc)], chosen: &Chosen, wanted: usize) -> Option<bool> {
    let (mut there, mut open) = (0, 0);
    for (process, at) in positions {
        match chosen[process.index()] {
            None => open += 1,
            Some(class) => there += usize::from(class.at == Some(At::Loc(*at))),
        }
    }
    match there >= wanted {
        true => Some(true),
        false if there + open < wanted => Some(false),
        false => None,
    }
}
