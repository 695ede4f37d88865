//! What can happen in a state: instructions of the processes, and flushes.

use super::code::{Code, position};
use super::eval::{Fault, Scope, eval, fit, indices};
use super::interpreter::{Atomics, Model, Setup, Violation};
use super::program::{Instance, Program};
use super::state::{Pending, State, is_store};
use fencesmith::lang::ast::{Block, Condition, Expr, Member, Name, Place, Stmt, StmtKind};
use fencesmith::program::FenceKind;

/// What can happen in a state.
#[derive(Default)]
pub struct Outcomes {
    pub states: Vec<State>,
    pub violations: Vec<Violation>,
    pub waited_for_room: bool,
}

pub fn steps(program: &Program, setup: &Setup, state: &State) -> Outcomes {
    let mut outcomes = Outcomes::default();
    for p in 0..program.instances.len() {
        process_steps(program, setup, state, p, &mut outcomes);
    }
    outcomes
}

/// What one process can do.
pub fn process_steps(
    program: &Program,
    setup: &Setup,
    state: &State,
    p: usize,
    outcomes: &mut Outcomes,
) {
    let ready = program.ready(state, p);
    for &at in &ready.next {
        execute(program, setup, state, p, at, outcomes);
    }
    if ready.may_end && !ready.next.is_empty() {
        // A choice between going on and being done: being done is a step.
        let mut next = state.clone();
        next.processes[p].at = program.instances[p].code.len() - 1;
        outcomes.states.push(next);
    }
    for item in state.processes[p].flushable(setup.model) {
        let mut next = state.clone();
        let Pending::Store { place, value } = next.processes[p].pending.remove(item) else {
            unreachable!("only stores are flushed")
        };
        next.memory[place] = value;
        outcomes.states.push(next);
    }
    for next in &mut outcomes.states {
        for process in &mut next.processes {
            process.tidy(setup.model);
        }
    }
}

/// Why a statement has no effect now.
enum Trouble {
    /// Not possible in this state.
    Waits,
    /// Not possible because the buffer is full.
    WaitsForRoom,
    Violates(Violation),
}

/// Executes the element `at` of process `p`.
fn execute(
    program: &Program,
    setup: &Setup,
    state: &State,
    p: usize,
    at: usize,
    outcomes: &mut Outcomes,
) {
    let code = &program.instances[p].code;
    let results: Vec<Result<State, Trouble>> = match &code[at] {
        Code::Step(statement) => {
            let mut state = state.clone();
            state.processes[p].at = at + 1;
            let machine = Machine {
                program,
                setup,
                p,
                in_atomic: false,
            };
            machine.run(statement, state)
        }
        Code::Test {
            start,
            condition,
            yes,
            no,
        } => {
            let ways = match condition {
                Condition::Any(_) => vec![Ok(yes), Ok(no)],
                Condition::Expr(expr) => {
                    let scope = ProcessScope {
                        program,
                        instance: &program.instances[p],
                        locals: &state.processes[p].locals,
                    };
                    vec![eval(expr, &scope).map(|value| if value != 0 { yes } else { no })]
                }
            };
            let go = |way: Result<_, Fault>| match way {
                Err(Fault) => Err(Trouble::Violates(Violation::Runtime(*start))),
                Ok(mark) => {
                    let mut next = state.clone();
                    next.processes[p].at = position(code, mark);
                    Ok(next)
                }
            };
            ways.into_iter().map(go).collect()
        }
        other => panic!("{other:?} takes no step"),
    };
    for result in results {
        match result {
            Ok(next) => outcomes.states.push(next),
            Err(Trouble::Waits) => {}
            Err(Trouble::WaitsForRoom) => outcomes.waited_for_room = true,
            Err(Trouble::Violates(violation)) => outcomes.violations.push(violation),
        }
    }
}

/// Runs single statements of one process.
struct Machine<'a> {
    program: &'a Program,
    setup: &'a Setup,
    p: usize,
    /// Inside an `atomic` block everything acts on memory at once.
    in_atomic: bool,
}

impl Machine<'_> {
    /// All results of a statement in `state`.
    fn run(&self, statement: &Stmt, state: State) -> Vec<Result<State, Trouble>> {
        match &statement.kind {
            StmtKind::Labelled { statement, .. } => self.run(statement, state),
            StmtKind::Block(block) | StmtKind::Nofence(block) => self.run_block(block, state),
            StmtKind::Atomic(block) => {
                if !self.in_atomic && !state.processes[self.p].drained() {
                    return vec![Err(Trouble::Waits)];
                }
                let inside = Machine {
                    in_atomic: true,
                    ..*self
                };
                inside.run_block(block, state)
            }
            StmtKind::Havoc { target, range } => {
                let (low, high) = match range {
                    None => self.program.instances[self.p].locals[self.local(target)].range,
                    Some(range) => {
                        let ends = self
                            .eval(&range.low, &state)
                            .and_then(|low| Ok((low, self.eval(&range.high, &state)?)));
                        match ends {
                            Ok(ends) => ends,
                            Err(Fault) => return vec![Err(runtime(statement))],
                        }
                    }
                };
                (low..=high)
                    .map(|value| {
                        let mut next = state.clone();
                        match self.set_local(target, value, &mut next) {
                            Ok(()) => Ok(next),
                            Err(Fault) => Err(runtime(statement)),
                        }
                    })
                    .collect()
            }
            _ => {
                let mut next = state;
                vec![match self.run_simple(statement, &mut next) {
                    Ok(None) => Ok(next),
                    Ok(Some(trouble)) => Err(trouble),
                    Err(Fault) => Err(runtime(statement)),
                }]
            }
        }
    }

    fn run_block(&self, block: &Block, state: State) -> Vec<Result<State, Trouble>> {
        let mut results = vec![Ok(state)];
        for member in &block.members {
            let Member::Statement(statement) = member else {
                continue;
            };
            let mut longer = Vec::new();
            for result in results {
                match result {
                    Ok(state) => longer.extend(self.run(statement, state)),
                    Err(trouble) => longer.push(Err(trouble)),
                }
            }
            results = longer;
        }
        results
    }

    /// Runs a statement that has one result.
    fn run_simple(&self, statement: &Stmt, state: &mut State) -> Result<Option<Trouble>, Fault> {
        match &statement.kind {
            StmtKind::Store { place, value } => {
                let place = self.place(place, state)?;
                let value = self.eval(value, state)?;
                let range = self.program.places[place].range;
                if self.in_atomic || self.setup.model == Model::Sc {
                    state.memory[place] = in_range(value, range)?;
                    return Ok(None);
                }
                let process = &mut state.processes[self.p];
                let used = match self.setup.model {
                    Model::Pso => process.pending_at(place).count(),
                    _ => process.pending.iter().filter(|i| is_store(**i)).count(),
                };
                // Whether the value is one of the place is seen when there is room for it.
                if used >= self.setup.bound {
                    return Ok(Some(Trouble::WaitsForRoom));
                }
                let value = in_range(value, range)?;
                process.pending.push(Pending::Store { place, value });
                Ok(None)
            }
            StmtKind::Load { target, place } => {
                if state.processes[self.p].loads_wait() {
                    return Ok(Some(Trouble::Waits));
                }
                let place = self.place(place, state)?;
                let newest = state.processes[self.p].pending_at(place).next_back();
                let value = newest.unwrap_or(state.memory[place]);
                self.set_local(target, value, state)?;
                Ok(None)
            }
            StmtKind::Cas {
                target,
                old,
                place,
                expected,
                new,
            } => self.atomically(place, state, |place, state| {
                let expected = self.eval(expected, state)?;
                let new = self.eval(new, state)?;
                let found = state.memory[place];
                let success = found == expected;
                if success {
                    state.memory[place] = in_range(new, self.program.places[place].range)?;
                }
                if let Some(old) = old {
                    self.set_local(old, found, state)?;
                }
                self.set_local(target, success as i64, state)
            }),
            StmtKind::Swap {
                target,
                place,
                value,
            } => self.atomically(place, state, |place, state| {
                let value = self.eval(value, state)?;
                let old = state.memory[place];
                state.memory[place] = in_range(value, self.program.places[place].range)?;
                self.set_local(target, old, state)
            }),
            StmtKind::Add {
                target,
                place,
                value,
            } => self.atomically(place, state, |place, state| {
                let value = self.eval(value, state)?;
                let old = state.memory[place];
                let sum = fit(old + value)?;
                state.memory[place] = in_range(sum, self.program.places[place].range)?;
                self.set_local(target, old, state)
            }),
            StmtKind::Fence(kind) => {
                let process = &mut state.processes[self.p];
                match (kind, self.setup.model) {
                    (FenceKind::Full, _) if !process.drained() => return Ok(Some(Trouble::Waits)),
                    (FenceKind::Full, _) | (_, Model::Sc) => {}
                    (FenceKind::StoreStore, Model::Tso) => {}
                    (FenceKind::StoreStore, Model::Pso) => {
                        process.pending.push(Pending::StoreStore);
                    }
                    (FenceKind::StoreLoad, _) => process.pending.push(Pending::StoreLoad),
                }
                if self.in_atomic {
                    process.pending.clear();
                }
                Ok(None)
            }
            StmtKind::Assign { target, value } => {
                let value = self.eval(value, state)?;
                self.set_local(target, value, state)?;
                Ok(None)
            }
            StmtKind::Skip => Ok(None),
            StmtKind::Assume(expr) => {
                let holds = self.eval(expr, state)? != 0;
                Ok((!holds).then_some(Trouble::Waits))
            }
            StmtKind::Assert(expr) => {
                let holds = self.eval(expr, state)? != 0;
                let violation = Violation::Assertion(statement.span.start);
                Ok((!holds).then_some(Trouble::Violates(violation)))
            }
            other => panic!("{other:?} is not a single step"),
        }
    }

    /// Runs `cas`, `swap` or `add` on memory once nothing keeps it waiting.
    fn atomically(
        &self,
        place: &Place,
        state: &mut State,
        effect: impl FnOnce(usize, &mut State) -> Result<(), Fault>,
    ) -> Result<Option<Trouble>, Fault> {
        let process = &state.processes[self.p];
        let drain_all = self.setup.model == Model::Tso || self.setup.atomics == Atomics::DrainAll;
        if process.loads_wait() || process.atomic_stores_wait() {
            return Ok(Some(Trouble::Waits));
        }
        if drain_all && !process.drained() {
            return Ok(Some(Trouble::Waits));
        }
        let place = self.place(place, state)?;
        if state.processes[self.p].pending_at(place).next().is_some() {
            return Ok(Some(Trouble::Waits));
        }
        effect(place, state)?;
        Ok(None)
    }

    fn eval(&self, expr: &Expr, state: &State) -> Result<i64, Fault> {
        let scope = ProcessScope {
            program: self.program,
            instance: &self.program.instances[self.p],
            locals: &state.processes[self.p].locals,
        };
        eval(expr, &scope)
    }

    fn place(&self, place: &Place, state: &State) -> Result<usize, Fault> {
        let scope = ProcessScope {
            program: self.program,
            instance: &self.program.instances[self.p],
            locals: &state.processes[self.p].locals,
        };
        let cell = match &place.index {
            None => Vec::new(),
            Some(index) => indices(index, &scope)?,
        };
        self.program.place(&place.name.text, &cell)
    }

    fn local(&self, name: &Name) -> usize {
        let locals = &self.program.instances[self.p].locals;
        let found = locals.iter().position(|local| local.name == name.text);
        found.expect("a local of that name")
    }

    fn set_local(&self, name: &Name, value: i64, state: &mut State) -> Result<(), Fault> {
        let local = self.local(name);
        let range = self.program.instances[self.p].locals[local].range;
        state.processes[self.p].locals[local] = in_range(value, range)?;
        Ok(())
    }
}

fn in_range(value: i64, (low, high): (i64, i64)) -> Result<i64, Fault> {
    if low <= value && value <= high {
        Ok(value)
    } else {
        Err(Fault)
    }
}

fn runtime(statement: &Stmt) -> Trouble {
    Trouble::Violates(Violation::Runtime(statement.span.start))
}

struct ProcessScope<'a> {
    program: &'a Program,
    instance: &'a Instance,
    locals: &'a [i64],
}

impl Scope for ProcessScope<'_> {
    fn name(&self, name: &str) -> i64 {
        if let Some(local) = self.instance.locals.iter().position(|l| l.name == name) {
            return self.locals[local];
        }
        match &self.instance.parameter {
            Some((parameter, value)) if parameter == name => *value,
            _ => self.program.consts.name(name),
        }
    }
}
