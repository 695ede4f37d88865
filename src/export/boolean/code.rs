//! The processes of the printed program: a labelled step for each way to take an edge.

use super::effect::{self, Values, effect, values};
use super::property::{conditional, operation, truth, unary};
use super::step::Step;
use super::{Abstraction, NOWHERE, body};
use crate::diagnostic::Diagnostic;
use crate::import::build::{
    assume, binary, block, declare, goto, int, labelled, load, name, range, scalar, stmt, var,
};
use crate::lang::ast::{
    self, Declaration, ExprKind, Init, Member, Place, Range, Stmt, StmtKind, Variable,
};
use crate::program::{
    BinaryOp, Domain, Edge, EdgeId, Expr, Initial, Instr, Loc, LocalId, PlaceRef, ProcessId,
    Update, Value,
};
use crate::space::Datum;
use std::collections::BTreeSet;

/// One way to take an edge.
struct Way<'e> {
    edges: Vec<(EdgeId, &'e Edge)>,
    values: Values,
}

impl Abstraction<'_> {
    pub fn process(&self, id: ProcessId, errors: &mut Vec<Diagnostic>) -> ast::Process {
        let process = self.frame.program.process(id);
        let mut statements = Vec::new();
        for at in self.reached(id) {
            let mut branches = Vec::new();
            for edges in self.paths(id, at) {
                match self.ways(id, &edges) {
                    Ok(ways) => branches.extend(ways),
                    Err(diagnostic) => errors.push(diagnostic),
                }
            }
            let mut code = match branches.len() {
                0 if at == process.exit => vec![stmt(StmtKind::Stop, NOWHERE)],
                0 => vec![assume(int(0, NOWHERE), NOWHERE)],
                1 => branches.remove(0),
                _ => {
                    let branches = branches.into_iter().map(body).collect();
                    vec![stmt(StmtKind::Either(branches), NOWHERE)]
                }
            };
            let first = code.remove(0);
            statements.push(labelled(&self.label(at), NOWHERE, first));
            statements.extend(code);
        }
        let mut members = self.locals(id, &statements);
        members.extend(statements.into_iter().map(Member::Statement));
        ast::Process {
            name: name(&self.processes[id.index()], NOWHERE),
            parameter: None,
            body: ast::Block {
                members,
                span: NOWHERE,
            },
        }
    }

    /// The locals with bounds, and those for the booleans that occur.
    fn locals(&self, id: ProcessId, statements: &[Stmt]) -> Vec<Member> {
        let mut all: Vec<Declaration> = Vec::new();
        let mut add = |text: &str, domain: Domain, init: Option<Init>| {
            let variable = Variable {
                name: name(text, NOWHERE),
                len: None,
                init,
            };
            all.push(declare(range(domain, NOWHERE), vec![variable], NOWHERE));
        };
        let locals = &self.frame.program.process(id).locals;
        for (local, text) in locals.iter().zip(&self.locals[id.index()]) {
            let init = match local.initial {
                _ if local.domain.is_unbounded() => continue,
                Initial::Any => Init::Any(NOWHERE),
                Initial::Value(value) => Init::Value(int(value, NOWHERE)),
            };
            add(text, local.domain, Some(init));
        }
        let mut changed = BTreeSet::new();
        statements.iter().for_each(|s| targets(s, &mut changed));
        let flags = self.flags.iter().flatten().map(|flag| &flag.old);
        let predicates = self.predicates.iter();
        let predicates = predicates.flat_map(|predicate| [&predicate.old, &predicate.new]);
        for text in flags.chain(predicates).chain([&self.unused]) {
            if changed.contains(text.as_str()) {
                add(text, Domain::BOOL, None);
            }
        }
        all.into_iter().map(Member::Locals).collect()
    }

    /// The positions of the program that are reached, the first one first.
    fn reached(&self, id: ProcessId) -> Vec<Loc> {
        let mut all = vec![self.frame.program.process(id).entry];
        let mut next = 0;
        while let Some(&at) = all.get(next) {
            next += 1;
            for edges in self.paths(id, at) {
                let to = edges[edges.len() - 1].1.to;
                if !all.contains(&to) {
                    all.push(to);
                }
            }
        }
        all
    }

    /// The edges out of a position of the program, each with the guard in front of it.
    fn paths(&self, id: ProcessId, at: Loc) -> Vec<Vec<(EdgeId, &Edge)>> {
        let process = self.frame.program.process(id);
        let own = self.program.process(id).locations.len();
        let mut all = Vec::new();
        for first in process.edges_from(at) {
            match first.1.to.index() < own {
                true => all.push(vec![first]),
                false => {
                    let behind = process.edges_from(first.1.to);
                    all.extend(behind.map(|second| vec![first, second]));
                }
            }
        }
        all
    }

    /// All ways to take edges, each as a step and a jump.
    fn ways(&self, id: ProcessId, edges: &[(EdgeId, &Edge)]) -> Result<Vec<Vec<Stmt>>, Diagnostic> {
        let process = self.frame.program.process(id);
        let to = edges[edges.len() - 1].1.to;
        let jump = || goto(&self.label(to), NOWHERE);
        if let [(_, edge)] = edges
            && matches!(edge.instr, Instr::Pass)
            && self.data(id, edges).is_empty()
        {
            return Ok(vec![vec![jump()]]);
        }
        let data = self.data(id, edges);
        let Some(mut all) = values(&data, process) else {
            let message = "what happens to integers here depends on too many values";
            let help = "give the variables with bounds smaller ranges";
            let span = edges[edges.len() - 1].1.span;
            return Err(Diagnostic::error(span, message).help(help));
        };
        if all.is_empty() {
            // Nothing has a value: the step fails where it is evaluated.
            all.push(Vec::new());
        }
        let step = |values: Values| {
            let edges = edges.to_vec();
            let step = self.step(id, &data, Way { edges, values });
            vec![step, jump()]
        };
        Ok(all.into_iter().map(step).collect())
    }

    fn data(&self, id: ProcessId, edges: &[(EdgeId, &Edge)]) -> Vec<Datum> {
        let data = edges
            .iter()
            .map(|(edge, _)| &self.frame.edge(id, *edge).data);
        data.flatten().cloned().collect()
    }

    fn step(&self, id: ProcessId, data: &[Datum], way: Way) -> Stmt {
        let process = self.frame.program.process(id);
        let (from, to) = (way.edges[0].1.from, way.edges[way.edges.len() - 1].1.to);
        let mut code = Vec::new();
        for (expr, value) in &way.values {
            let known = self.expr(id, expr);
            let known = binary(BinaryOp::Equal, known, int(*value, NOWHERE));
            code.push(assume(known, NOWHERE));
        }
        let known = way.values.len() == effect::expressions(data).len();
        let effect = known.then(|| effect(data, &way.values, (id, process), self.homes));
        let Some(effect) = effect.flatten() else {
            // There is no such value or no such place.
            for (_, edge) in &way.edges[..way.edges.len() - 1] {
                code.extend(self.instr(id, &edge.instr));
            }
            code.push(stmt(StmtKind::Assert(int(0, NOWHERE)), NOWHERE));
            return one(code);
        };
        let mut step = Step::new(self, id, from);
        for (_, edge) in &way.edges {
            code.extend(step.guarded(edge, &effect));
        }
        code.extend(step.new_values(to, &effect));
        let loads = self.loads(&code);
        code.splice(0..0, loads);
        one(code)
    }

    /// Loads of all shared booleans that are read in code.
    fn loads(&self, code: &[Stmt]) -> Vec<Stmt> {
        let mut names = BTreeSet::new();
        for statement in code {
            for expr in expressions(statement) {
                expr.visit(&mut |part| {
                    if let ExprKind::Name(name) = &part.kind {
                        names.insert(name.clone());
                    }
                });
            }
        }
        let flags = self.flags.iter().flatten();
        let flags = flags.map(|flag| (&flag.name, &flag.old));
        let predicates = self.predicates.iter();
        let predicates = predicates.map(|predicate| (&predicate.name, &predicate.old));
        flags
            .chain(predicates)
            .filter(|(_, old)| names.contains(*old))
            .map(|(shared, old)| load(old, scalar(shared, NOWHERE), NOWHERE))
            .collect()
    }

    fn expr(&self, process: ProcessId, expr: &Expr<LocalId>) -> ast::Expr {
        let of = |expr: &Expr<LocalId>| self.expr(process, expr);
        match expr {
            Expr::Const(value) => int(*value, NOWHERE),
            Expr::Atom(atom) => var(&self.locals[process.index()][atom.index()], NOWHERE),
            Expr::Unary(op, operand) => unary(*op, of(operand)),
            Expr::Binary(op, left, right) => operation(*op, of(left), of(right)),
            Expr::Conditional(condition, then, otherwise) => {
                conditional(of(condition), of(then), of(otherwise))
            }
        }
    }

    /// The place with bounds that an instruction accesses.
    fn place(&self, process: ProcessId, place: &PlaceRef) -> Option<Place> {
        let first = match place {
            PlaceRef::Scalar(place) | PlaceRef::Cell { first: place, .. } => *place,
            PlaceRef::Computed { targets, .. } => targets[0].1,
        };
        if self.program.places[first.index()].domain.is_unbounded() {
            return None;
        }
        let (variable, cell) = self.variable(first);
        let index = match place {
            PlaceRef::Cell { index, .. } => Some(self.expr(process, index)),
            _ => cell.map(|cell| int(cell, NOWHERE)),
        };
        Some(Place {
            name: name(&variable.name, NOWHERE),
            index: index.map(Box::new),
            span: NOWHERE,
        })
    }

    /// What an instruction does apart from integers, under SC.
    pub fn instr(&self, process: ProcessId, instr: &Instr) -> Vec<Stmt> {
        let of = |expr: &Expr<LocalId>| self.expr(process, expr);
        let named = |id: LocalId| name(&self.locals[process.index()][id.index()], NOWHERE);
        let kind = match instr {
            Instr::Pass | Instr::Skip | Instr::Fence(_) => return Vec::new(),
            Instr::Atomic(body) => {
                let parts = body.iter();
                return parts
                    .flat_map(|(instr, _)| self.instr(process, instr))
                    .collect();
            }
            Instr::Assign { local, value } => StmtKind::Assign {
                target: named(*local),
                value: of(value),
            },
            Instr::Havoc { local, low, high } => StmtKind::Havoc {
                target: named(*local),
                range: Some(Range {
                    low: of(low),
                    high: of(high),
                    span: NOWHERE,
                }),
            },
            Instr::Guard { condition, wanted } => StmtKind::Assume(truth(of(condition), *wanted)),
            Instr::Assert { condition, .. } => StmtKind::Assert(of(condition)),
            Instr::Store { place, value, .. } => match self.place(process, place) {
                None => return Vec::new(),
                Some(place) => StmtKind::Store {
                    place,
                    value: of(value),
                },
            },
            Instr::Load { local, place } => match self.place(process, place) {
                None => return Vec::new(),
                Some(place) => StmtKind::Load {
                    target: named(*local),
                    place,
                },
            },
            Instr::Update {
                local, place, op, ..
            } => match (self.place(process, place), op) {
                (None, Update::Cas { expected, .. }) => StmtKind::Assign {
                    // The frame's integers are 0, and what is expected says how it goes.
                    target: named(*local),
                    value: int(Value::from(expected.constant() == Some(0)), NOWHERE),
                },
                (None, _) => return Vec::new(),
                (Some(place), Update::Cas { expected, new }) => StmtKind::Cas {
                    target: named(*local),
                    old: None,
                    place,
                    expected: of(expected),
                    new: of(new),
                },
                (Some(place), Update::CasOld { expected, new }) => StmtKind::Cas {
                    target: name(&self.unused, NOWHERE),
                    old: Some(named(*local)),
                    place,
                    expected: of(expected),
                    new: of(new),
                },
                (Some(place), Update::Swap(value)) => StmtKind::Swap {
                    target: named(*local),
                    place,
                    value: of(value),
                },
                (Some(place), Update::Apply(_, value)) => StmtKind::Add {
                    target: named(*local),
                    place,
                    value: of(value),
                },
            },
        };
        vec![stmt(kind, NOWHERE)]
    }
}

/// The locals that a statement changes.
fn targets<'s>(statement: &'s Stmt, to: &mut BTreeSet<&'s str>) {
    match &statement.kind {
        StmtKind::Labelled { statement, .. } => targets(statement, to),
        StmtKind::Atomic(block) => in_block(block).for_each(|inner| targets(inner, to)),
        StmtKind::Either(branches) => {
            let inside = branches.iter().flat_map(in_block);
            inside.for_each(|inner| targets(inner, to));
        }
        StmtKind::Load { target, .. }
        | StmtKind::Assign { target, .. }
        | StmtKind::Havoc { target, .. }
        | StmtKind::Cas { target, .. } => drop(to.insert(&target.text)),
        _ => {}
    }
}

fn in_block(block: &ast::Block) -> impl Iterator<Item = &Stmt> {
    block.members.iter().filter_map(|member| match member {
        Member::Statement(statement) => Some(statement),
        Member::Locals(_) => None,
    })
}

/// The expressions of a statement that may speak of booleans.
fn expressions(statement: &Stmt) -> Vec<&ast::Expr> {
    match &statement.kind {
        StmtKind::Assume(expr) | StmtKind::Assign { value: expr, .. } => vec![expr],
        StmtKind::Havoc {
            range: Some(range), ..
        } => vec![&range.low, &range.high],
        _ => Vec::new(),
    }
}

/// Code as one step.
fn one(mut code: Vec<Stmt>) -> Stmt {
    match code.len() {
        0 => stmt(StmtKind::Skip, NOWHERE),
        1 => code.remove(0),
        _ => stmt(StmtKind::Atomic(block(code, NOWHERE)), NOWHERE),
    }
}
