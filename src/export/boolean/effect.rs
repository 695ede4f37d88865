//! What a step does to integers, for each value of what it depends on.

use super::{Home, Homes};
use crate::program::{Domain, Expr, LocalId, PlaceId, PlaceRef, Process, ProcessId, Sum, Value};
use crate::source::Span;
use crate::space::{Datum, Fact, Node, Term, at_most_zero};
use std::collections::{BTreeMap, BTreeSet};

/// Expressions with bounds, and their values.
pub type Values = Vec<(Expr<LocalId>, Value)>;

/// More values than this are not told apart.
const MOST_VALUES: u64 = 4096;

/// What happens to integers.
pub struct Effect {
    /// What must hold, by the instruction of an atomic block that it stands before.
    pub constraints: Vec<(Option<Span>, Fact)>,
    /// What integers become; nothing if they are not there afterwards.
    pub targets: BTreeMap<Home, Option<Term>>,
}

/// The expressions with bounds in data that tell what happens to integers.
pub fn expressions(data: &[Datum]) -> Vec<&Expr<LocalId>> {
    let mut exprs = Vec::new();
    let mut add = |expr| match expr {
        &Expr::Const(_) => {}
        expr if exprs.contains(&expr) => {}
        expr => exprs.push(expr),
    };
    for datum in data {
        match datum {
            Datum::AtMostZero(sum) | Datum::Assign(_, sum) => add(&sum.rest),
            Datum::Load(_, place) => place.computed().into_iter().for_each(&mut add),
            Datum::Store(place, sum) => {
                place.computed().into_iter().for_each(&mut add);
                add(&sum.rest);
            }
            Datum::Any(_) | Datum::Begin(_) => {}
        }
    }
    exprs
}

/// All values that the expressions in data can have together; none if there are too many.
pub fn values(data: &[Datum], process: &Process) -> Option<Vec<Values>> {
    let exprs = expressions(data);
    let mut locals = BTreeSet::new();
    for expr in &exprs {
        expr.atoms(&mut |local| {
            locals.insert(*local);
        });
    }
    let domains = locals.iter().map(|local| {
        let domain: Domain = process.locals[local.index()].domain;
        (*local, domain)
    });
    let domains: Vec<(LocalId, Domain)> = domains.collect();
    let sizes = domains.iter().map(|(_, domain)| domain.size());
    let count = sizes.fold(1u64, |all, size| all.saturating_mul(size));
    if count > MOST_VALUES {
        return None;
    }
    let mut all = BTreeSet::new();
    for number in 0..count {
        let mut rest = number;
        let mut of = BTreeMap::new();
        for (local, domain) in &domains {
            of.insert(*local, domain.low + (rest % domain.size()) as Value);
            rest /= domain.size();
        }
        let values = exprs.iter().map(|expr| expr.eval(&|local| Ok(of[local])));
        all.extend(values.collect::<Result<Vec<Value>, _>>());
    }
    let exprs = || exprs.iter().map(|expr| (*expr).clone());
    Some(
        all.into_iter()
            .map(|values| exprs().zip(values).collect())
            .collect(),
    )
}

/// What data do, given the values of their expressions. There is none if an index is outside.
pub fn effect(
    data: &[Datum],
    values: &Values,
    (id, process): (ProcessId, &Process),
    homes: &Homes,
) -> Option<Effect> {
    let mut walk = Walk {
        id,
        values,
        homes,
        integers: BTreeMap::new(),
        memory: BTreeMap::new(),
        constraints: Vec::new(),
        chosen: 0,
    };
    let mut at = None;
    for datum in data {
        match datum {
            Datum::Begin(span) => at = Some(*span),
            Datum::AtMostZero(sum) => {
                let fact = walk.fact(sum);
                walk.constraints.push((at, fact));
            }
            Datum::Assign(local, sum) => {
                let term = walk.term(sum);
                walk.integers.insert(*local, term);
            }
            Datum::Any(local) => {
                let any = Term::node(walk.fresh());
                walk.integers.insert(*local, any);
            }
            Datum::Load(local, place) => {
                let place = walk.place(place)?;
                let found = match walk.memory.get(&place) {
                    Some(stored) => stored.unwrap_or(Term::number(0)),
                    None => walk.read(Home::Place(place)),
                };
                walk.integers.insert(*local, found);
            }
            Datum::Store(place, sum) => {
                let place = walk.place(place)?;
                // A slot becomes free by storing a number itself: a store goes through a local.
                let frees = homes.slots.contains(&place) && sum.integers.is_empty();
                let stored = (!frees).then(|| walk.term(sum));
                walk.memory.insert(place, stored);
            }
        }
    }
    let Walk {
        integers,
        memory,
        constraints,
        ..
    } = walk;
    let locals = integers.into_iter();
    let locals = locals.filter(|(local, _)| local.index() < process.locals.len());
    let locals = locals.map(|(local, term)| (Home::Local(id, local), Some(term)));
    let places = memory.into_iter();
    let places = places.map(|(place, term)| (Home::Place(place), term));
    Some(Effect {
        constraints,
        targets: locals.chain(places).collect(),
    })
}

struct Walk<'w> {
    id: ProcessId,
    values: &'w Values,
    homes: &'w Homes,
    integers: BTreeMap<LocalId, Term>,
    memory: BTreeMap<PlaceId, Option<Term>>,
    constraints: Vec<(Option<Span>, Fact)>,
    chosen: usize,
}

impl Walk<'_> {
    /// The integer at a home. Nothing is known of one that is never kept.
    fn read(&mut self, home: Home) -> Term {
        let node = self.homes.node(home);
        Term::node(node.unwrap_or_else(|| self.fresh()))
    }

    /// An integer of which nothing is known.
    fn fresh(&mut self) -> Node {
        self.chosen += 1;
        self.homes.fresh(self.chosen)
    }

    fn local(&mut self, local: LocalId) -> Term {
        match self.integers.get(&local) {
            Some(term) => *term,
            None => self.read(Home::Local(self.id, local)),
        }
    }

    fn value(&self, expr: &Expr<LocalId>) -> Value {
        if let Expr::Const(value) = expr {
            return *value;
        }
        let mut values = self.values.iter();
        let known = values.find(|(known, _)| known == expr);
        known.expect("all expressions have values").1
    }

    fn place(&self, place: &PlaceRef) -> Option<PlaceId> {
        match place {
            PlaceRef::Scalar(place) => Some(*place),
            PlaceRef::Cell { first, len, index } => {
                let index = u32::try_from(self.value(index)).ok()?;
                (index < *len).then_some(PlaceId(first.0 + index))
            }
            PlaceRef::Computed { .. } => unreachable!("programs with pointers have no integers"),
        }
    }

    fn fact(&mut self, sum: &Sum<LocalId>) -> Fact {
        let mut terms = Vec::new();
        for (local, factor) in &sum.integers {
            let term = self.local(*local);
            let term = if *factor < 0 { term.negated() } else { term };
            (0..factor.abs()).for_each(|_| terms.push(term));
        }
        at_most_zero(&terms, self.value(&sum.rest))
    }

    fn term(&mut self, sum: &Sum<LocalId>) -> Term {
        let term = match sum.integers[..] {
            [] => Term::node(Node::ZERO),
            [(local, 1)] => self.local(local),
            [(local, _)] => self.local(local).negated(),
            _ => unreachable!("a value has at most one integer"),
        };
        let plus = term.plus.saturating_add(self.value(&sum.rest));
        Term { plus, ..term }
    }
}
