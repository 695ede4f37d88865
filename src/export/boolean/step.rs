//! What one step does to booleans.

use super::cover::{Cover, Known, Literal};
use super::effect::Effect;
use super::predicates::halved;
use super::property::{covered, truth};
use super::{Abstraction, Home, NOWHERE};
use crate::import::build::{assign, assume, chain, int, name, scalar, stmt, store, var};
use crate::lang::ast::{self, Range, Stmt, StmtKind};
use crate::program::{BinaryOp, Edge, Instr, Loc, ProcessId};
use crate::source::Span;
use crate::space::{Fact, Node, Term};

/// A step while it is made.
pub struct Step<'s, 'a> {
    abstraction: &'s Abstraction<'a>,
    id: ProcessId,
    from: Loc,
    literals: Vec<Literal>,
    /// What holds if the step goes on.
    facts: Vec<Fact>,
}

impl<'s, 'a> Step<'s, 'a> {
    /// A step from a position. The booleans before it are literals, as far as they speak of what
    /// is there.
    pub fn new(abstraction: &'s Abstraction<'a>, id: ProcessId, from: Loc) -> Step<'s, 'a> {
        let mut step = Step {
            abstraction,
            id,
            from,
            literals: Vec::new(),
            facts: Vec::new(),
        };
        for predicate in &abstraction.predicates {
            let gone = |node: Node| step.is_live(node, from) == Some(false);
            if gone(predicate.fact.left) || gone(predicate.fact.right) {
                continue;
            }
            let there = step.conditions([predicate.fact.left, predicate.fact.right]);
            step.add_literals(predicate.fact, &predicate.old, there);
        }
        step
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
    pub fn guarded(&mut self, edge: &Edge, effect: &Effect) -> Vec<Stmt> {
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
    pub fn new_values(&mut self, to: Loc, effect: &Effect) -> Vec<Stmt> {
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
