//! Explores every state of a program, one instruction at a time, in the plainest way.

use super::code::{Code, Ready, flatten, position, ready};
use super::eval::{Fault, Scope, eval, fit};
use fencesmith::lang::ast::{
    Ast, Block, Condition, Declaration, Expr, FenceKind, Init, Item, Member, Name, Place, Process,
    ProcessRef, Property, PropertyKind, Range, Stmt, StmtKind, Type,
};
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
    pub violations: BTreeSet<Violation>,
    /// Some store had to wait because its buffer was full.
    pub waited_for_room: bool,
    /// In some state nothing can move and some process has not stopped.
    pub deadlock: bool,
    /// Everything was explored.
    pub complete: bool,
}

/// What can be seen of a state: everything but the buffers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Observation {
    /// By place: `x`, `a[0]`.
    pub memory: BTreeMap<String, i32>,
    /// Name (`p` or `p[0]`), locals in source order, and where the statements begin that
    /// may be executed next (`None`: it has stopped).
    pub processes: Vec<Seen>,
}

pub type Seen = (String, Vec<(String, i32)>, Option<BTreeSet<u32>>);

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
        violations: BTreeSet::new(),
        waited_for_room: false,
        deadlock: false,
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
            answer.states.insert(program.observe(&state));
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
        for violation in outcomes.violations {
            answer.violations.insert(violation);
            nearest = nearest.or(Some(depth));
        }
        arrivals = outcomes.states;
    }
}

// ---------------------------------------------------------------- the program

struct Program {
    consts: BTreeMap<String, i32>,
    places: Vec<PlaceInfo>,
    instances: Vec<Instance>,
    properties: Vec<Property>,
}

/// A shared scalar, or one cell of an array.
struct PlaceInfo {
    variable: String,
    cell: Option<i32>,
    range: (i32, i32),
    initial: Vec<i32>,
}

struct Instance {
    template: String,
    parameter: Option<(String, i32)>,
    locals: Vec<LocalInfo>,
    code: Vec<Code>,
    /// For every element of the code.
    ready: Vec<Ready>,
}

struct LocalInfo {
    name: String,
    range: (i32, i32),
    initial: Vec<i32>,
}

impl Program {
    fn new(ast: &Ast) -> Program {
        let mut program = Program {
            consts: BTreeMap::new(),
            places: Vec::new(),
            instances: Vec::new(),
            properties: Vec::new(),
        };
        for item in &ast.items {
            if let Item::Const { name, value } = item {
                let value = constant(value, &program.consts);
                program.consts.insert(name.text.clone(), value);
            }
        }
        for item in &ast.items {
            match item {
                Item::Const { .. } => {}
                Item::Shared(declaration) => program.add_places(declaration),
                Item::Process(process) => program.add_instances(process),
                Item::Property(property) => program.properties.push(property.clone()),
            }
        }
        program
    }

    fn add_places(&mut self, declaration: &Declaration) {
        let range = range_of_type(&declaration.ty, &self.consts);
        for variable in &declaration.variables {
            let cells = match &variable.len {
                None => vec![None],
                Some(len) => (0..constant(len, &self.consts)).map(Some).collect(),
            };
            for cell in cells {
                let initial = match &variable.init {
                    Some(Init::Cells(values, _)) => {
                        let at = cell.expect("cells in an array") as usize;
                        vec![constant(&values[at], &self.consts)]
                    }
                    init => initial_values(init.as_ref(), range, &self.consts),
                };
                self.places.push(PlaceInfo {
                    variable: variable.name.text.clone(),
                    cell,
                    range,
                    initial,
                });
            }
        }
    }

    fn add_instances(&mut self, process: &Process) {
        let parameters = match &process.parameter {
            None => vec![None],
            Some(parameter) => {
                let (low, high) = constant_range(&parameter.range, &self.consts);
                (low..=high)
                    .map(|value| Some((parameter.name.text.clone(), value)))
                    .collect()
            }
        };
        let code = flatten(&process.body);
        for parameter in parameters {
            let mut names = self.consts.clone();
            names.extend(parameter.clone());
            let mut locals = Vec::new();
            block_locals(&process.body, &names, &mut locals);
            self.instances.push(Instance {
                template: process.name.text.clone(),
                parameter,
                locals,
                code: code.clone(),
                ready: (0..code.len()).map(|at| ready(&code, at)).collect(),
            });
        }
    }

    /// The place that a variable name and a value of its index stand for.
    fn place(&self, variable: &str, cell: Option<i32>) -> Result<usize, Fault> {
        self.places
            .iter()
            .position(|place| place.variable == variable && place.cell == cell)
            .ok_or(Fault)
    }

    fn initial_states(&self) -> Vec<State> {
        let places: Vec<&[i32]> = self.places.iter().map(|p| &p.initial[..]).collect();
        let memories = combinations(&places);
        let mut states: Vec<State> = memories
            .into_iter()
            .map(|memory| State {
                memory,
                processes: Vec::new(),
            })
            .collect();
        for instance in &self.instances {
            let locals: Vec<&[i32]> = instance.locals.iter().map(|l| &l.initial[..]).collect();
            let mut longer = Vec::new();
            for state in &states {
                for locals in combinations(&locals) {
                    let mut state = state.clone();
                    state.processes.push(ProcessState {
                        at: 0,
                        locals,
                        pending: Vec::new(),
                    });
                    longer.push(state);
                }
            }
            states = longer;
        }
        states
    }

    fn ready(&self, state: &State, process: usize) -> &Ready {
        &self.instances[process].ready[state.processes[process].at]
    }

    fn all_stopped(&self, state: &State) -> bool {
        (0..self.instances.len()).all(|process| self.ready(state, process).has_stopped())
    }

    fn observe(&self, state: &State) -> Observation {
        let mut memory = BTreeMap::new();
        for (place, value) in self.places.iter().zip(&state.memory) {
            let name = match place.cell {
                None => place.variable.clone(),
                Some(cell) => format!("{}[{cell}]", place.variable),
            };
            memory.insert(name, *value);
        }
        let mut processes = Vec::new();
        for (p, instance) in self.instances.iter().enumerate() {
            let name = match instance.parameter {
                None => instance.template.clone(),
                Some((_, value)) => format!("{}[{value}]", instance.template),
            };
            let names = instance.locals.iter().map(|local| local.name.clone());
            let locals = names.zip(state.processes[p].locals.clone()).collect();
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
            let violated = match &property.kind {
                PropertyKind::Mutex(label) => {
                    let there = (0..self.instances.len())
                        .filter(|&process| self.ready(state, process).at.contains(&label.text));
                    there.count() >= 2
                }
                PropertyKind::Forbid(expr) => holds(expr) != Ok(false),
                PropertyKind::Invariant(expr) => holds(expr) != Ok(true),
                PropertyKind::Final(expr) => {
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

fn constant(expr: &Expr, names: &BTreeMap<String, i32>) -> i32 {
    eval(expr, names).expect("a constant expression without a fault")
}

fn constant_range(range: &Range, names: &BTreeMap<String, i32>) -> (i32, i32) {
    (constant(&range.low, names), constant(&range.high, names))
}

fn range_of_type(ty: &Type, names: &BTreeMap<String, i32>) -> (i32, i32) {
    match ty {
        Type::Bool => (0, 1),
        Type::Int => (i32::MIN, i32::MAX),
        Type::Ranged(range) => constant_range(range, names),
    }
}

fn initial_values(
    init: Option<&Init>,
    (low, high): (i32, i32),
    names: &BTreeMap<String, i32>,
) -> Vec<i32> {
    match init {
        None => vec![0],
        Some(Init::Value(value)) => vec![constant(value, names)],
        Some(Init::Any(_)) => (low..=high).collect(),
        Some(Init::Cells(..)) => panic!("several values for a scalar"),
    }
}

/// The locals declared anywhere in a block, in source order.
fn block_locals(block: &Block, names: &BTreeMap<String, i32>, locals: &mut Vec<LocalInfo>) {
    for member in &block.members {
        match member {
            Member::Statement(statement) => statement_locals(statement, names, locals),
            Member::Locals(declaration) => {
                let range = range_of_type(&declaration.ty, names);
                for variable in &declaration.variables {
                    locals.push(LocalInfo {
                        name: variable.name.text.clone(),
                        range,
                        initial: initial_values(variable.init.as_ref(), range, names),
                    });
                }
            }
        }
    }
}

fn statement_locals(stmt: &Stmt, names: &BTreeMap<String, i32>, locals: &mut Vec<LocalInfo>) {
    match &stmt.kind {
        StmtKind::Labelled { statement, .. } => statement_locals(statement, names, locals),
        StmtKind::If {
            then, otherwise, ..
        } => {
            statement_locals(then, names, locals);
            if let Some(otherwise) = otherwise {
                statement_locals(otherwise, names, locals);
            }
        }
        StmtKind::While { body, .. } | StmtKind::DoWhile { body, .. } => {
            statement_locals(body, names, locals);
        }
        StmtKind::Either(branches) => {
            for branch in branches {
                block_locals(branch, names, locals);
            }
        }
        StmtKind::Nofence(block) | StmtKind::Atomic(block) | StmtKind::Block(block) => {
            block_locals(block, names, locals);
        }
        _ => {}
    }
}

/// Every way to take one value from each list.
fn combinations(lists: &[&[i32]]) -> Vec<Vec<i32>> {
    let mut all = vec![Vec::new()];
    for list in lists {
        let mut longer = Vec::new();
        for start in &all {
            for value in *list {
                let mut next: Vec<i32> = start.clone();
                next.push(*value);
                longer.push(next);
            }
        }
        all = longer;
    }
    all
}

// ---------------------------------------------------------------- states

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    memory: Vec<i32>,
    processes: Vec<ProcessState>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct ProcessState {
    /// The element of the code that control has reached.
    at: usize,
    locals: Vec<i32>,
    /// Stores that are not in memory yet and the fences between them, in program order.
    pending: Vec<Pending>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Pending {
    Store { place: usize, value: i32 },
    StoreStore,
    StoreLoad,
}

impl ProcessState {
    fn drained(&self) -> bool {
        !self.pending.iter().any(|item| is_store(*item))
    }

    /// Some store before a store-load fence is still pending.
    fn loads_wait(&self) -> bool {
        self.pending.contains(&Pending::StoreLoad)
    }

    /// Some store before a store-store fence is still pending.
    fn atomic_stores_wait(&self) -> bool {
        self.pending.contains(&Pending::StoreStore)
    }

    fn pending_at(&self, place: usize) -> impl DoubleEndedIterator<Item = i32> + '_ {
        self.pending.iter().filter_map(move |item| match item {
            Pending::Store { place: p, value } if *p == place => Some(*value),
            _ => None,
        })
    }

    /// Drops the fences that hold nothing back any more and gives states that behave
    /// alike one form, so that there are finitely many:
    /// a fence with no store before it; a store-store fence that follows another without
    /// a store between; all store-load fences but the last. Under PSO the order of stores
    /// to different places does not matter between two fences.
    fn tidy(&mut self, model: Model) {
        let mut tidied: Vec<Pending> = Vec::new();
        for (at, item) in self.pending.iter().enumerate() {
            let later = &self.pending[at + 1..];
            let keep = match item {
                Pending::Store { .. } => true,
                Pending::StoreStore => {
                    let last = tidied.iter().rfind(|item| **item != Pending::StoreLoad);
                    last.is_some_and(|last| is_store(*last))
                }
                Pending::StoreLoad => !tidied.is_empty() && !later.contains(item),
            };
            if keep {
                tidied.push(*item);
            }
        }
        if model == Model::Pso {
            for segment in tidied.split_mut(|item| !is_store(*item)) {
                segment.sort_by_key(|item| match item {
                    Pending::Store { place, .. } => *place,
                    _ => unreachable!("a fence within a segment"),
                });
            }
        }
        self.pending = tidied;
    }

    /// The pending stores, by their index, that may reach memory now.
    fn flushable(&self, model: Model) -> Vec<usize> {
        let mut flushable = Vec::new();
        let mut places = BTreeSet::new();
        for (at, item) in self.pending.iter().enumerate() {
            match item {
                Pending::StoreLoad => {}
                // There are stores before it, and all of them go first.
                Pending::StoreStore => break,
                Pending::Store { place, .. } => {
                    if places.insert(*place) {
                        flushable.push(at);
                    }
                    if model == Model::Tso {
                        break;
                    }
                }
            }
        }
        flushable
    }
}

fn is_store(item: Pending) -> bool {
    matches!(item, Pending::Store { .. })
}

struct ProcessScope<'a> {
    program: &'a Program,
    instance: &'a Instance,
    locals: &'a [i32],
}

impl Scope for ProcessScope<'_> {
    fn name(&self, name: &str) -> i32 {
        if let Some(local) = self.instance.locals.iter().position(|l| l.name == name) {
            return self.locals[local];
        }
        match &self.instance.parameter {
            Some((parameter, value)) if parameter == name => *value,
            _ => self.program.consts.name(name),
        }
    }
}

struct PropertyScope<'a> {
    program: &'a Program,
    state: &'a State,
}

impl PropertyScope<'_> {
    /// The processes that `p` or `p[index]` stands for.
    fn instances(&self, process: &ProcessRef, index: Option<i32>) -> Result<Vec<usize>, Fault> {
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
    fn name(&self, name: &str) -> i32 {
        match self.program.place(name, None) {
            Ok(place) => self.state.memory[place],
            Err(Fault) => self.program.consts.name(name),
        }
    }

    fn cell(&self, name: &Name, index: i32) -> Result<i32, Fault> {
        let place = self.program.place(&name.text, Some(index))?;
        Ok(self.state.memory[place])
    }

    fn at(&self, process: &ProcessRef, index: Option<i32>, label: &Name) -> Result<bool, Fault> {
        let instances = self.instances(process, index)?;
        Ok(instances.into_iter().any(|p| {
            let ready = self.program.ready(self.state, p);
            ready.at.contains(&label.text)
        }))
    }

    fn local(&self, process: &ProcessRef, index: Option<i32>, local: &Name) -> Result<i32, Fault> {
        let p = self.instances(process, index)?[0];
        let locals = &self.program.instances[p].locals;
        let at = locals.iter().position(|l| l.name == local.text);
        Ok(self.state.processes[p].locals[at.expect("a local of that name")])
    }
}

// ---------------------------------------------------------------- steps

/// What can happen in a state.
#[derive(Default)]
struct Outcomes {
    states: Vec<State>,
    violations: Vec<Violation>,
    waited_for_room: bool,
}

fn steps(program: &Program, setup: &Setup, state: &State) -> Outcomes {
    let mut outcomes = Outcomes::default();
    for p in 0..program.instances.len() {
        let ready = program.ready(state, p);
        for &at in &ready.next {
            execute(program, setup, state, p, at, &mut outcomes);
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
    }
    for next in &mut outcomes.states {
        for process in &mut next.processes {
            process.tidy(setup.model);
        }
    }
    outcomes
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
                let value = in_range(value, self.program.places[place].range)?;
                if self.in_atomic || self.setup.model == Model::Sc {
                    state.memory[place] = value;
                    return Ok(None);
                }
                let process = &mut state.processes[self.p];
                let used = match self.setup.model {
                    Model::Pso => process.pending_at(place).count(),
                    _ => process.pending.iter().filter(|i| is_store(**i)).count(),
                };
                if used >= self.setup.bound {
                    return Ok(Some(Trouble::WaitsForRoom));
                }
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
                place,
                expected,
                new,
            } => self.atomically(place, state, |place, state| {
                let expected = self.eval(expected, state)?;
                let new = self.eval(new, state)?;
                let success = state.memory[place] == expected;
                if success {
                    state.memory[place] = in_range(new, self.program.places[place].range)?;
                }
                self.set_local(target, success as i32, state)
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
                let sum = fit(old as i64 + value as i64)?;
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

    fn eval(&self, expr: &Expr, state: &State) -> Result<i32, Fault> {
        let scope = ProcessScope {
            program: self.program,
            instance: &self.program.instances[self.p],
            locals: &state.processes[self.p].locals,
        };
        eval(expr, &scope)
    }

    fn place(&self, place: &Place, state: &State) -> Result<usize, Fault> {
        let cell = match &place.index {
            None => None,
            Some(index) => Some(self.eval(index, state)?),
        };
        self.program.place(&place.name.text, cell)
    }

    fn local(&self, name: &Name) -> usize {
        let locals = &self.program.instances[self.p].locals;
        let found = locals.iter().position(|local| local.name == name.text);
        found.expect("a local of that name")
    }

    fn set_local(&self, name: &Name, value: i32, state: &mut State) -> Result<(), Fault> {
        let local = self.local(name);
        let range = self.program.instances[self.p].locals[local].range;
        state.processes[self.p].locals[local] = in_range(value, range)?;
        Ok(())
    }
}

fn in_range(value: i32, (low, high): (i32, i32)) -> Result<i32, Fault> {
    if low <= value && value <= high {
        Ok(value)
    } else {
        Err(Fault)
    }
}

fn runtime(statement: &Stmt) -> Trouble {
    Trouble::Violates(Violation::Runtime(statement.span.start))
}
