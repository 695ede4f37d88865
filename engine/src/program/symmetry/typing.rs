//! Which values are numbers to calculate with, and which only names: stored, compared for
//! equality and used as indices.
//!
//! Every local, the contents of every variable and the index of every array has a type.
//! What is assigned, stored, loaded or compared to something has its type; what is added,
//! ordered, tested or negated is a number. The constants of a process are noted in the order
//! in which they stand in its code, each with its type.

use crate::program::{
    Atom, BinaryOp, Expr, Initial, Instr, LocalId, PlaceId, PlaceRef, ProcessId, Program, Update,
    Value,
};

/// A type, which may be another one's; follow [`Types::root`].
pub type TypeId = usize;

/// The type of numbers.
pub const NUMBER: TypeId = 0;

/// The types of a program.
#[derive(Clone)]
pub struct Types {
    /// By type: one that it is the same as; itself if it is a root.
    same: Vec<TypeId>,
    /// By process: the type of its first local.
    locals: Vec<TypeId>,
    /// By place: the variable it belongs to.
    variables: Vec<Variable>,
    /// By process: what its code names.
    pub named: Vec<Named>,
}

/// A scalar or an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable {
    pub first: PlaceId,
    /// The number of cells of an array.
    pub len: Option<u32>,
}

/// What a process names, in the order in which it does.
#[derive(Clone, Default)]
pub struct Named {
    pub constants: Vec<(TypeId, Value)>,
    pub variables: Vec<Variable>,
}

impl Types {
    pub fn of(program: &Program) -> Types {
        let mut types = Types {
            same: vec![NUMBER],
            locals: Vec::new(),
            variables: (0..program.places.len() as u32)
                .map(|place| Variable {
                    first: PlaceId(place),
                    len: None,
                })
                .collect(),
            named: Vec::new(),
        };
        // The contents of all places, then the indices of all arrays.
        types.add(2 * program.places.len());
        for process in &program.processes {
            types.locals.push(types.same.len());
            types.add(process.locals.len());
        }
        for id in program.process_ids() {
            let mut named = Named::default();
            types.initial(program, id, &mut named);
            for edge in &program.process(id).edges {
                types.instr(id, &edge.instr, &mut named);
            }
            types.named.push(named);
        }
        // Cells may be named before the array that they belong to: the second time, all
        // arrays are known.
        for property in program.properties.iter().chain(&program.properties) {
            types.predicate(&property.predicate, NUMBER);
        }
        types
    }

    /// Adds new types.
    fn add(&mut self, count: usize) {
        let len = self.same.len();
        self.same.extend(len..len + count);
    }

    /// The one that stands for all types that are the same.
    pub fn root(&self, mut id: TypeId) -> TypeId {
        while self.same[id] != id {
            id = self.same[id];
        }
        id
    }

    /// Makes two types the same.
    pub fn unite(&mut self, one: TypeId, other: TypeId) {
        let (one, other) = (self.root(one), self.root(other));
        self.same[one.max(other)] = one.min(other);
    }

    pub fn local(&self, process: ProcessId, local: LocalId) -> TypeId {
        self.locals[process.index()] + local.index()
    }

    /// The variable that a place belongs to.
    pub fn variable(&self, place: PlaceId) -> Variable {
        self.variables[place.index()]
    }

    /// The type of what a variable holds.
    pub fn content(&self, variable: Variable) -> TypeId {
        1 + variable.first.index()
    }

    /// The type of the indices of an array.
    pub fn index(&self, array: Variable) -> TypeId {
        1 + self.variables.len() + array.first.index()
    }

    /// Notes what the locals are at the start, as far as it is ever read.
    fn initial(&mut self, program: &Program, process: ProcessId, named: &mut Named) {
        let code = program.process(process);
        let live = code.locals.iter().zip(&code.location(code.entry).live);
        for ((local, live), at) in live.zip(0..) {
            if let (Initial::Value(value), true) = (local.initial, *live) {
                let own = self.local(process, LocalId(at));
                named.constants.push((own, value));
            }
        }
    }

    fn instr(&mut self, process: ProcessId, instr: &Instr, named: &mut Named) {
        match instr {
            Instr::Pass | Instr::Skip | Instr::Fence(_) => {}
            Instr::Assign { local, value } => {
                let own = self.local(process, *local);
                self.expr(process, value, own, named);
            }
            Instr::Havoc { local, low, high } => {
                self.unite(self.local(process, *local), NUMBER);
                self.expr(process, low, NUMBER, named);
                self.expr(process, high, NUMBER, named);
            }
            Instr::Guard { condition, .. } | Instr::Assert { condition, .. } => {
                self.expr(process, condition, NUMBER, named);
            }
            Instr::Store { place, value, .. } => {
                let content = self.place(process, place, named);
                self.expr(process, value, content, named);
            }
            Instr::Load { local, place } => {
                let content = self.place(process, place, named);
                self.unite(self.local(process, *local), content);
            }
            Instr::Update {
                local, place, op, ..
            } => {
                let content = self.place(process, place, named);
                let own = self.local(process, *local);
                match op {
                    Update::Cas { expected, new } => {
                        self.unite(own, NUMBER);
                        self.expr(process, expected, content, named);
                        self.expr(process, new, content, named);
                    }
                    Update::Swap(value) => {
                        self.unite(own, content);
                        self.expr(process, value, content, named);
                    }
                    Update::CasOld { expected, new } => {
                        self.unite(own, content);
                        self.expr(process, expected, content, named);
                        self.expr(process, new, content, named);
                    }
                    Update::Apply(_, value) => {
                        self.unite(own, content);
                        self.unite(content, NUMBER);
                        self.expr(process, value, NUMBER, named);
                    }
                }
            }
            Instr::Atomic(body) => {
                for (instr, _) in body {
                    self.instr(process, instr, named);
                }
            }
        }
    }

    /// The type of what a place holds.
    fn place(&mut self, process: ProcessId, place: &PlaceRef, named: &mut Named) -> TypeId {
        let (first, len) = match place {
            PlaceRef::Scalar(place) => (*place, None),
            PlaceRef::Cell { first, len, .. } => (*first, Some(*len)),
            PlaceRef::Computed { .. } => unreachable!("addresses are not exchanged"),
        };
        let variable = self.declare(first, len);
        named.variables.push(variable);
        if let Some(index) = place.computed() {
            self.expr(process, index, self.index(variable), named);
        }
        self.content(variable)
    }

    fn declare(&mut self, first: PlaceId, len: Option<u32>) -> Variable {
        let variable = Variable { first, len };
        for cell in 0..len.unwrap_or(0) {
            self.variables[first.index() + cell as usize] = variable;
        }
        variable
    }

    fn expr(
        &mut self,
        process: ProcessId,
        expr: &Expr<LocalId>,
        wanted: TypeId,
        named: &mut Named,
    ) {
        if let Some(value) = expr.constant() {
            named.constants.push((wanted, value));
            return;
        }
        self.operator(expr, wanted, &mut |types, part, wanted| match part {
            Expr::Atom(local) => types.unite(types.local(process, *local), wanted),
            part => types.expr(process, part, wanted, named),
        });
    }

    /// The types in the predicate of a property. Its constants are not noted: whether they
    /// stay what they are is checked when properties are compared.
    fn predicate(&mut self, predicate: &Expr<Atom>, wanted: TypeId) {
        self.operator(predicate, wanted, &mut |types, part, wanted| match part {
            Expr::Atom(Atom::Place(place)) => {
                types.unite(types.content(types.variable(*place)), wanted);
            }
            Expr::Atom(Atom::Cell { first, len, index }) => {
                let variable = types.declare(*first, Some(*len));
                types.unite(types.content(variable), wanted);
                types.predicate(index, types.index(variable));
            }
            Expr::Atom(Atom::Local(process, local)) => {
                types.unite(types.local(*process, *local), wanted);
            }
            Expr::Atom(Atom::At(_) | Atom::TwoAt(_)) => types.unite(wanted, NUMBER),
            part => types.predicate(part, wanted),
        });
    }

    /// Hands the parts of an expression on, each with its type; an atom is its own part.
    fn operator<A>(
        &mut self,
        expr: &Expr<A>,
        wanted: TypeId,
        part: &mut dyn FnMut(&mut Types, &Expr<A>, TypeId),
    ) {
        match expr {
            Expr::Const(_) => {}
            Expr::Atom(_) => part(self, expr, wanted),
            Expr::Unary(_, operand) => {
                self.unite(wanted, NUMBER);
                part(self, operand, NUMBER);
            }
            Expr::Binary(op, left, right) => {
                self.unite(wanted, NUMBER);
                let both = match op {
                    BinaryOp::Equal | BinaryOp::NotEqual => {
                        self.add(1);
                        self.same.len() - 1
                    }
                    _ => NUMBER,
                };
                part(self, left, both);
                part(self, right, both);
            }
            Expr::Conditional(condition, then, otherwise) => {
                part(self, condition, NUMBER);
                part(self, then, wanted);
                part(self, otherwise, wanted);
            }
        }
    }
}
