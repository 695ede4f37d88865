//! The tables of a program: places, processes with their locals and code, properties.

use super::code::{Code, Ready, flatten, hidden_name, ready};
use super::eval::{Fault, eval, indices};
use super::state::{ProcessState, State};
use fencesmith::lang::ast::{
    Ast, Block, Declaration, Expr, Init, Item, Member, Process, Property, Range, Stmt, StmtKind,
    Type,
};
use std::collections::BTreeMap;

pub struct Program {
    pub consts: BTreeMap<String, i64>,
    pub places: Vec<PlaceInfo>,
    pub instances: Vec<Instance>,
    pub properties: Vec<Property>,
}

/// A shared scalar, or one cell of an array.
pub struct PlaceInfo {
    pub variable: String,
    /// Its index, or its indices; none for a scalar.
    pub cell: Vec<i64>,
    pub range: (i64, i64),
    pub initial: Vec<i64>,
}

pub struct Instance {
    pub template: String,
    pub parameter: Option<(String, i64)>,
    pub locals: Vec<LocalInfo>,
    pub code: Vec<Code>,
    /// For every element of the code.
    pub ready: Vec<Ready>,
}

pub struct LocalInfo {
    pub name: String,
    pub range: (i64, i64),
    pub initial: Vec<i64>,
}

impl Program {
    pub fn new(ast: &Ast) -> Program {
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

    pub fn add_places(&mut self, declaration: &Declaration) {
        let range = range_of_type(&declaration.ty, &self.consts);
        for variable in &declaration.variables {
            let cells: Vec<Vec<i64>> = match &variable.len {
                None => vec![Vec::new()],
                Some(len) => {
                    let lens = indices(len, &self.consts).expect("constant lengths");
                    let all: Vec<Vec<i64>> = lens.iter().map(|len| (0..*len).collect()).collect();
                    let all: Vec<&[i64]> = all.iter().map(Vec::as_slice).collect();
                    combinations(&all)
                }
            };
            for (at, cell) in cells.into_iter().enumerate() {
                let initial = match &variable.init {
                    Some(Init::Cells(values, _)) => {
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

    pub fn add_instances(&mut self, process: &Process) {
        let parameters = match &process.parameter {
            None => vec![None],
            Some(parameter) => {
                let (low, high) = constant_range(&parameter.range, &self.consts);
                (low..=high)
                    .map(|value| Some((parameter.name.text.clone(), value)))
                    .collect()
            }
        };
        let (code, hidden) = flatten(&process.body);
        for parameter in parameters {
            let mut names = self.consts.clone();
            names.extend(parameter.clone());
            let mut locals = Vec::new();
            block_locals(&process.body, &names, &mut locals);
            locals.extend((0..hidden).map(|number| LocalInfo {
                name: hidden_name(number),
                range: (i64::MIN, i64::MAX),
                initial: vec![0],
            }));
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
    pub fn place(&self, variable: &str, cell: &[i64]) -> Result<usize, Fault> {
        self.places
            .iter()
            .position(|place| place.variable == variable && place.cell == cell)
            .ok_or(Fault)
    }

    pub fn initial_states(&self) -> Vec<State> {
        let places: Vec<&[i64]> = self.places.iter().map(|p| &p.initial[..]).collect();
        let memories = combinations(&places);
        let mut states: Vec<State> = memories
            .into_iter()
            .map(|memory| State {
                memory,
                processes: Vec::new(),
            })
            .collect();
        for instance in &self.instances {
            let locals: Vec<&[i64]> = instance.locals.iter().map(|l| &l.initial[..]).collect();
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

    pub fn ready(&self, state: &State, process: usize) -> &Ready {
        &self.instances[process].ready[state.processes[process].at]
    }

    pub fn all_stopped(&self, state: &State) -> bool {
        (0..self.instances.len()).all(|process| self.ready(state, process).has_stopped())
    }
}

pub fn constant(expr: &Expr, names: &BTreeMap<String, i64>) -> i64 {
    eval(expr, names).expect("a constant expression without a fault")
}

pub fn constant_range(range: &Range, names: &BTreeMap<String, i64>) -> (i64, i64) {
    (constant(&range.low, names), constant(&range.high, names))
}

pub fn range_of_type(ty: &Type, names: &BTreeMap<String, i64>) -> (i64, i64) {
    match ty {
        Type::Bool => (0, 1),
        Type::Int | Type::Integer => (i64::MIN, i64::MAX),
        Type::Ranged(range) => constant_range(range, names),
    }
}

pub fn initial_values(
    init: Option<&Init>,
    (low, high): (i64, i64),
    names: &BTreeMap<String, i64>,
) -> Vec<i64> {
    match init {
        None => vec![0],
        Some(Init::Value(value)) => vec![constant(value, names)],
        Some(Init::Any(_)) => (low..=high).collect(),
        Some(Init::Cells(..)) => panic!("several values for a scalar"),
    }
}

/// The locals declared anywhere in a block, in source order.
pub fn block_locals(block: &Block, names: &BTreeMap<String, i64>, locals: &mut Vec<LocalInfo>) {
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

pub fn statement_locals(stmt: &Stmt, names: &BTreeMap<String, i64>, locals: &mut Vec<LocalInfo>) {
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
        StmtKind::While { body, .. }
        | StmtKind::DoWhile { body, .. }
        | StmtKind::For { body, .. }
        | StmtKind::Repeat { body, .. } => statement_locals(body, names, locals),
        StmtKind::Either(branches) => {
            for branch in branches {
                block_locals(branch, names, locals);
            }
        }
        StmtKind::Nofence(block)
        | StmtKind::Atomic(block)
        | StmtKind::Block(block)
        | StmtKind::Expanded(block) => block_locals(block, names, locals),
        _ => {}
    }
}

/// Every way to take one value from each list.
pub fn combinations(lists: &[&[i64]]) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for list in lists {
        let mut longer = Vec::new();
        for start in &all {
            for value in *list {
                let mut next: Vec<i64> = start.clone();
                next.push(*value);
                longer.push(next);
            }
        }
        all = longer;
    }
    all
}
