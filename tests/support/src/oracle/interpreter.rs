//! Explores every state of a program, one instruction at a time, in the plainest way.

use super::code::Code;
use super::eval::{Fault, Scope, eval};
use super::program::Program;
use super::state::State;
use super::step::steps;
use super::stuck::is_stuck;
use fencesmith::lang::ast::{Ast, Expr, Name, Predicate, ProcessRef};
use fencesmith::program::PropertyKind;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Model {
    Sc,
    Tso,
    Pso,
}

/// What `cas`, `swap` and `add` wait for under PSO.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Atomics {
    DrainPlace,
    DrainAll,
}

#[derive(Debug, Clone, Copy)]
pub struct Setup {
    pub model: Model,
    /// Entries per process (TSO) or per process and place (PSO).
    pub bound: usize,
    pub atomics: Atomics,
    pub max_states: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Violation {
    /// A property, counted from zero in source order.
    Property(usize),
    /// An assertion, by the offset at which the `assert` begins.
    Assertion(u32),
    /// A fault, by the offset at which the statement that ran into it begins.
    Runtime(u32),
}

#[derive(Debug, Clone)]
pub struct Answer {
    pub states: BTreeSet<Observation>,
    /// Those of them in which no store is pending.
    pub quiescent: BTreeSet<Observation>,
    pub violations: BTreeSet<Violation>,
    /// Some store had to wait because its buffer was full.
    pub waited_for_room: bool,
    /// In some state nothing can move and some process has not stopped.
    pub deadlock: bool,
    /// Some state is stuck.
    pub stuck: bool,
    /// Everything was explored.
    pub complete: bool,
}

/// What can be seen of a state: everything but the buffers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Observation {
    /// By place: `x`, `a[0]`.
    pub memory: BTreeMap<String, i64>,
    /// Name (`p` or `p[0]`), locals in source order, and where the statements begin that
    /// may be executed next (`None`: it has stopped).
    pub processes: Vec<Seen>,
}

pub type Seen = (String, Vec<(String, i64)>, Option<BTreeSet<u32>>);

/// All reachable states. Violated properties do not end a run, failed assertions and
/// faults do.
pub fn explore(ast: &Ast, setup: &Setup) -> Answer {
    search(ast, setup, false).0
}

/// The number of steps, flushes included, to the nearest violation. A step that fails an
/// assertion or runs into a fault counts as a step.
pub fn shortest_violation(ast: &Ast, setup: &Setup) -> Option<usize> {
    search(ast, setup, true).1
}

fn search(ast: &Ast, setup: &Setup, only_nearest: bool) -> (Answer, Option<usize>) {
    let program = Program::new(ast);
    let mut answer = Answer {
        states: BTreeSet::new(),
        quiescent: BTreeSet::new(),
        violations: BTreeSet::new(),
        waited_for_room: false,
        deadlock: false,
        stuck: false,
        complete: true,
    };
    let mut nearest = None;
    let mut seen: BTreeSet<State> = BTreeSet::new();
    let mut open: VecDeque<(State, usize)> = VecDeque::new();
    let mut arrivals: Vec<State> = program.initial_states();
    let mut depth = 0;
    loop {
        for state in arrivals {
            if !seen.insert(state.clone()) {
                continue;
            }
            let observed = program.observe(&state);
            if state.processes.iter().all(|process| process.drained()) {
                answer.quiescent.insert(observed.clone());
            }
            answer.states.insert(observed);
            for violation in program.violated_properties(&state) {
                answer.violations.insert(violation);
                nearest = nearest.or(Some(depth));
            }
            open.push_back((state, depth));
        }
        if only_nearest && nearest.is_some() {
            return (answer, nearest);
        }
        if seen.len() > setup.max_states {
            answer.complete = false;
            return (answer, nearest);
        }
        let Some((state, level)) = open.pop_front() else {
            return (answer, nearest);
        };
        depth = level + 1;
        let outcomes = steps(&program, setup, &state);
        answer.waited_for_room |= outcomes.waited_for_room;
        answer.deadlock |= outcomes.states.is_empty()
            && outcomes.violations.is_empty()
            && !program.all_stopped(&state);
        answer.stuck = answer.stuck || is_stuck(&program, setup, &state);
        for violation in outcomes.violations {
            answer.violations.insert(violation);
            nearest = nearest.or(Some(depth));
        }
        arrivals = outcomes.states;
    }
}

impl Program {
    fn observe(&self, state: &State) -> Observation {
        let mut memory = BTreeMap::new();
        for (place, value) in self.places.iter().zip(&state.memory) {
            let cell: Vec<String> = place.cell.iter().map(|at| format!("[{at}]")).collect();
            memory.insert(format!("{}{}", place.variable, cell.concat()), *value);
        }
        let mut processes = Vec::new();
        for (p, instance) in self.instances.iter().enumerate() {
            let name = match instance.parameter {
                None => instance.template.clone(),
                Some((_, value)) => format!("{}[{value}]", instance.template),
            };
            let names = instance.locals.iter().map(|local| local.name.clone());
            let locals = names.zip(state.processes[p].locals.clone());
            let named = |(name, _): &(String, i64)| !name.starts_with('%');
            let locals = locals.filter(named).collect();
            let ready = self.ready(state, p);
            let starts = ready.next.iter().map(|&at| match &instance.code[at] {
                Code::Step(statement) => statement.span.start,
                Code::Test { start, .. } => *start,
                other => panic!("{other:?} takes no step"),
            });
            let next = (!ready.has_stopped()).then(|| starts.collect());
            processes.push((name, locals, next));
        }
        Observation { memory, processes }
    }

    fn violated_properties(&self, state: &State) -> Vec<Violation> {
        let scope = PropertyScope {
            program: self,
            state,
        };
        let holds = |expr: &Expr| eval(expr, &scope).map(|value| value != 0);
        let mut violations = Vec::new();
        for (index, property) in self.properties.iter().enumerate() {
            let violated = match (property.kind, &property.predicate) {
                (_, Predicate::TwoAt(label)) => {
                    let there = (0..self.instances.len())
                        .filter(|&process| self.ready(state, process).at.contains(&label.text));
                    there.count() >= 2
                }
                (PropertyKind::Mutex | PropertyKind::Forbid, Predicate::Expr(expr)) => {
                    holds(expr) != Ok(false)
                }
                (PropertyKind::Invariant, Predicate::Expr(expr)) => holds(expr) != Ok(true),
                (PropertyKind::Final, Predicate::Expr(expr)) => {
                    let drained = state.processes.iter().all(|process| process.drained());
                    self.all_stopped(state) && drained && holds(expr) != Ok(true)
                }
            };
            if violated {
                violations.push(Violation::Property(index));
            }
        }
        violations
    }
}

struct PropertyScope<'a> {
    program: &'a Program,
    state: &'a State,
}

impl PropertyScope<'_> {
    /// The processes that `p` or `p[index]` stands for.
    fn instances(&self, process: &ProcessRef, index: Option<i64>) -> Result<Vec<usize>, Fault> {
        let mut found = Vec::new();
        for (at, instance) in self.program.instances.iter().enumerate() {
            let value = instance.parameter.as_ref().map(|(_, value)| *value);
            if instance.template == process.name.text && (index.is_none() || index == value) {
                found.push(at);
            }
        }
        if found.is_empty() {
            Err(Fault)
        } else {
            Ok(found)
        }
    }
}

impl Scope for PropertyScope<'_> {
    fn name(&self, name: &str) -> i64 {
        match self.program.place(name, &[]) {
            Ok(place) => self.state.memory[place],
            Err(Fault) => self.program.consts.name(name),
        }
    }

    fn numbers(&self, template: &Name) -> Vec<i64> {
        let instances = self.program.instances.iter();
        let instances = instances.filter(|instance| instance.template == template.text);
        instances
            .filter_map(|instance| instance.parameter.as_ref().map(|(_, value)| *value))
            .collect()
    }

    fn cell(&self, name: &Name, index: &[i64]) -> Result<i64, Fault> {
        let place = self.program.place(&name.text, index)?;
        Ok(self.state.memory[place])
    }

    fn at(&self, process: &ProcessRef, index: Option<i64>, label: &Name) -> Result<bool, Fault> {
        let instances = self.instances(process, index)?;
        Ok(instances.into_iter().any(|p| {
            let ready = self.program.ready(self.state, p);
            ready.at.contains(&label.text)
        }))
    }

    fn local(&self, process: &ProcessRef, index: Option<i64>, local: &Name) -> Result<i64, Fault> {
        let p = self.instances(process, index)?[0];
        let locals = &self.program.instances[p].locals;
        let at = locals.iter().position(|l| l.name == local.text);
        Ok(self.state.processes[p].locals[at.expect("a local of that name")])
    }
}
