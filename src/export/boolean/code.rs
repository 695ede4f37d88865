//! The processes of the printed program: a labelled step for each way to take an edge.

use super::cover::{Cover, Known, Literal};
use super::effect::{self, Effect, Values, effect, values};
use super::predicates::halved;
use super::property::{conditional, covered, operation, truth, unary};
use super::{Abstraction, Home, NOWHERE, body};
use crate::diagnostic::Diagnostic;
use crate::import::build::{
    assign, assume, binary, block, chain, declare, goto, int, labelled, load, name, range, scalar,
    stmt, store, var,
};
use crate::lang::ast::{
    self, Declaration, ExprKind, Init, Member, Place, Range, Stmt, StmtKind, Variable,
};
use crate::program::{
    BinaryOp, Domain, Edge, EdgeId, Expr, Initial, Instr, Loc, LocalId, PlaceRef, ProcessId,
    Update, Value,
};
use crate::source::Span;
use crate::space::{Datum, Fact, Node, Term};
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
        let mut step = Step {
            abstraction: self,
            id,
            from,
            literals: Vec::new(),
            facts: Vec::new(),
        };
        step.read_literals();
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
        let first = place.places()[0];
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
    fn instr(&self, process: ProcessId, instr: &Instr) -> Vec<Stmt> {
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

/// A step while it is made.
struct Step<'s, 'a> {
    abstraction: &'s Abstraction<'a>,
    id: ProcessId,
    from: Loc,
    literals: Vec<Literal>,
    /// What holds if the step goes on.
    facts: Vec<Fact>,
}

impl Step<'_, '_> {
    /// The booleans before the step, as far as they speak of what is there.
    fn read_literals(&mut self) {
        let abstraction = self.abstraction;
        for predicate in &abstraction.predicates {
            let gone = |node: Node| self.is_live(node, self.from) == Some(false);
            if gone(predicate.fact.left) || gone(predicate.fact.right) {
                continue;
            }
            let there = self.conditions([predicate.fact.left, predicate.fact.right]);
            self.add_literals(predicate.fact, &predicate.old, there);
        }
    }

    fn add_literals(&mut self, fact: Fact, name: &str, there: Vec<String>) {
        for (truth, fact) in [(true, fact), (false, fact.refuted())] {
            self.literals.push(Literal {
                fact,
                name: name.to_string(),
                truth,
                there: there.clone(),
            });
        }
    }

    /// Whether an integer is there at a position of the own process, where that alone tells.
    fn is_live(&self, node: Node, at: Loc) -> Option<bool> {
        match self.abstraction.homes.of(node)? {
            Home::Local(process, local) if process == self.id => {
                let process = self.abstraction.frame.program.process(process);
                Some(process.location(at).live[local.index()])
            }
            _ => None,
        }
    }

    /// The flags to look at before a bound on some nodes is used.
    fn conditions(&self, nodes: impl IntoIterator<Item = Node>) -> Vec<String> {
        let open = |node: &Node| self.is_live(*node, self.from).is_none();
        let nodes = nodes.into_iter().filter(open);
        let flags = nodes.filter_map(|node| self.abstraction.flag(node));
        flags.map(|flag| flag.old.clone()).collect()
    }

    fn cover(&self, goal: Fact) -> Cover {
        let known = Known {
            literals: &self.literals,
            facts: &self.facts,
            octagon: self.abstraction.frame.octagon,
            most: self.abstraction.cube,
        };
        known.cover(goal)
    }

    /// Goes on only if a bound may hold, which holds from then on.
    fn may(&mut self, fact: Fact) -> Option<Stmt> {
        let fact = halved(fact);
        let never = self.cover(fact.refuted());
        if fact.left != fact.right {
            self.facts.push(fact);
        }
        let condition = match &never {
            never if never.is_never() => return None,
            Cover::Always => int(0, NOWHERE),
            cubes => truth(covered(cubes, &self.literals), false),
        };
        Some(assume(condition, NOWHERE))
    }

    /// An edge with what must hold of integers. In an atomic block, that stands before the last
    /// instruction of the statement that asks for it, so that a failure before it is found.
    fn guarded(&mut self, edge: &Edge, effect: &Effect) -> Vec<Stmt> {
        let abstraction = self.abstraction;
        let of = |span: Option<Span>| {
            let constraints = effect.constraints.iter();
            let own = constraints.filter(move |(at, _)| *at == span);
            own.map(|(_, fact)| *fact)
        };
        let mut code = Vec::new();
        let Instr::Atomic(body) = &edge.instr else {
            let guard = matches!(edge.instr, Instr::Guard { .. });
            let finite = abstraction.instr(self.id, &edge.instr);
            code.extend(guard.then(|| finite.clone()).into_iter().flatten());
            code.extend(of(None).filter_map(|fact| self.may(fact)));
            code.extend((!guard).then_some(finite).into_iter().flatten());
            return code;
        };
        for part in body.chunk_by(|(_, one), (_, other)| one == other) {
            let (last, before) = part.split_last().expect("a chunk is not empty");
            for (instr, _) in before {
                code.extend(abstraction.instr(self.id, instr));
            }
            code.extend(of(Some(last.1)).filter_map(|fact| self.may(fact)));
            code.extend(abstraction.instr(self.id, &last.0));
        }
        code
    }

    /// New values of booleans and flags.
    fn new_values(&mut self, to: Loc, effect: &Effect) -> Vec<Stmt> {
        let abstraction = self.abstraction;
        let (mut code, mut stores) = (Vec::new(), Vec::new());
        for (home, flag) in abstraction.homes.all.iter().zip(&abstraction.flags) {
            let there = self.becomes(*home, to, effect);
            if let (Some(flag), Some(there)) = (flag, there) {
                let there = int(there.into(), NOWHERE);
                stores.push(store(scalar(&flag.name, NOWHERE), there, NOWHERE));
            }
        }
        for predicate in &abstraction.predicates {
            let nodes = [predicate.fact.left, predicate.fact.right];
            let homes = nodes.map(|node| abstraction.homes.of(node));
            let changes = homes.map(|home| home.and_then(|home| self.becomes(home, to, effect)));
            if changes == [None, None] {
                continue;
            }
            let shared = || scalar(&predicate.name, NOWHERE);
            if changes.contains(&Some(false)) {
                stores.push(store(shared(), int(0, NOWHERE), NOWHERE));
                continue;
            }
            let goal = self.before(predicate.fact, effect);
            // Another integer may not be there.
            let kept = nodes.into_iter().zip(changes);
            let kept = kept.filter(|(_, change)| change.is_none());
            let there = self.conditions(kept.map(|(node, _)| node));
            let new = &predicate.new;
            code.push(self.choose(new, goal, &there));
            self.add_literals(goal, new, there);
            stores.push(store(shared(), var(new, NOWHERE), NOWHERE));
        }
        code.extend(stores);
        code
    }

    /// Whether an integer is there after it was changed; nothing if it stays as it is.
    fn becomes(&self, home: Home, to: Loc, effect: &Effect) -> Option<bool> {
        let node = self.abstraction.homes.node(home)?;
        let target = effect.targets.get(&home);
        match self.is_live(node, to) {
            Some(false) => {
                let was = self.is_live(node, self.from) == Some(true);
                (was || target.is_some()).then_some(false)
            }
            _ => match target? {
                None => Some(false),
                Some(term) if *term == Term::node(node) => None,
                Some(_) => Some(true),
            },
        }
    }

    /// What must hold before the step so that a bound holds after it.
    fn before(&self, fact: Fact, effect: &Effect) -> Fact {
        let term = |node: Node| {
            let home = self.abstraction.homes.of(node);
            let target = home.and_then(|home| effect.targets.get(&home).copied().flatten());
            match target {
                None => Term::node(node),
                Some(term) if node == Node::of(node.integer()) => term,
                Some(term) => term.negated(),
            }
        };
        let (left, right) = (term(fact.left), term(fact.right));
        let most = fact.most - left.plus + right.plus;
        halved(Fact::new(left.node, right.node, most))
    }

    /// Sets a local to whether a bound holds, or to either value if that is not certain.
    fn choose(&self, new: &str, goal: Fact, there: &[String]) -> Stmt {
        let (holds, fails) = (self.cover(goal), self.cover(goal.refuted()));
        let flags = || there.iter().map(|flag| var(flag, NOWHERE)).collect();
        let value = |truth: ast::Expr| {
            let mut parts: Vec<ast::Expr> = flags();
            parts.push(truth);
            let value = chain(BinaryOp::And, parts).expect("there is a part");
            assign(new, value, NOWHERE)
        };
        match (&holds, &fails) {
            (Cover::Always, _) => return value(int(1, NOWHERE)),
            (_, Cover::Always) => return assign(new, int(0, NOWHERE), NOWHERE),
            (Cover::Cubes(one), Cover::Cubes(other)) => {
                if let ([one], [other]) = (&one[..], &other[..])
                    && let ([one], [other]) = (&one[..], &other[..])
                {
                    let (one, other) = (&self.literals[*one], &self.literals[*other]);
                    if one.name == other.name {
                        return value(truth(var(&one.name, NOWHERE), one.truth));
                    }
                }
            }
        }
        let low = covered(&holds, &self.literals);
        let mut high: Vec<ast::Expr> = flags();
        if !fails.is_never() {
            high.push(truth(covered(&fails, &self.literals), false));
        }
        let high = chain(BinaryOp::And, high).unwrap_or_else(|| int(1, NOWHERE));
        let range = Range {
            low,
            high,
            span: NOWHERE,
        };
        let kind = StmtKind::Havoc {
            target: name(new, NOWHERE),
            range: Some(range),
        };
        stmt(kind, NOWHERE)
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
