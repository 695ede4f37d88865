//! Which bounds become booleans.

use super::effect::{effect, values};
use super::{Home, Homes};
use crate::diagnostic::Diagnostic;
use crate::export::sequential::Slots;
use crate::lang::ast::{self, Ast, Item, Predicate};
use crate::lang::resolve::resolve;
use crate::lower::lower;
use crate::program::{Atom, Condition, EdgeId, Expr, PlaceId, Program, PropertyKind, cases};
use crate::space::{Fact, Frame, Node, Term, Thresholds, at_most_zero};
use indexmap::IndexSet;

/// A bound, or what follows if it does not hold: the one of both that a boolean stands for.
fn canonical(fact: Fact) -> Fact {
    let refuted = fact.refuted();
    let same = [fact, fact.negated(), refuted, refuted.negated()];
    let without_negations = |fact: &&Fact| {
        let plus = |node: Node| node == Node::of(node.integer());
        plus(fact.left) && plus(fact.right)
    };
    let best = same.iter().filter(without_negations).min();
    *best.or(same.iter().min()).expect("there are four of them")
}

/// The bounds that predicates are made of, with a copy for each slot of a buffer that may hold
/// what they speak of.
pub fn given(
    ast: &Ast,
    predicates: &[ast::Expr],
    homes: &Homes,
    slots: &[Slots],
) -> Result<Vec<Fact>, Vec<Diagnostic>> {
    let mut with = ast.clone();
    let properties = predicates.iter().map(|predicate| {
        Item::Property(ast::Property {
            kind: PropertyKind::Forbid,
            predicate: Predicate::Expr(predicate.clone()),
            span: predicate.span,
        })
    });
    with.items.extend(properties);
    let program = lower(&with, &resolve(&with)?);
    let properties = &program.properties[program.properties.len() - predicates.len()..];
    let mut facts = IndexSet::new();
    let mut errors = Vec::new();
    for property in properties {
        let predicate = with_places(&property.predicate);
        let before = facts.len();
        for condition in cases(&predicate, &|atom| program.is_integer(atom))
            .into_iter()
            .flat_map(|case| case.when)
        {
            if let Condition::AtMostZero(sum) = condition
                && let Some(rest) = sum.rest.constant()
                && let Some(terms) = terms(&sum.integers, homes)
            {
                let fact = halved(at_most_zero(&terms, rest));
                facts.extend((fact.left != fact.right).then(|| canonical(fact)));
            }
        }
        if facts.len() == before {
            let message = "this says nothing about integers that are kept";
            let help = "a predicate compares integers: `next - serving <= 1`, `p[0].mine < next`";
            errors.push(Diagnostic::error(property.span, message).help(help));
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    for fact in facts.clone() {
        for left in copies(fact.left, &program, homes, slots) {
            for right in copies(fact.right, &program, homes, slots) {
                if left.integer() != right.integer() {
                    facts.insert(canonical(Fact {
                        left,
                        right,
                        ..fact
                    }));
                }
            }
        }
    }
    Ok(facts.into_iter().collect())
}

/// The terms of a sum in a property, where all of its integers are kept.
pub fn terms(integers: &[(Atom, i64)], homes: &Homes) -> Option<Vec<Term>> {
    let mut terms = Vec::new();
    for (atom, factor) in integers {
        let home = match atom {
            Atom::Place(place) => Home::Place(*place),
            Atom::Local(process, local) => Home::Local(*process, *local),
            _ => return None,
        };
        let term = Term::node(homes.node(home)?);
        let term = if *factor < 0 { term.negated() } else { term };
        (0..factor.abs()).for_each(|_| terms.push(term));
    }
    Some(terms)
}

/// A bound on v − (−v) as one on v.
pub fn halved(fact: Fact) -> Fact {
    match fact.left != Node::ZERO && fact.left == fact.right.negated() {
        true => Fact::new(fact.left, Node::ZERO, fact.most.div_euclid(2)),
        false => fact,
    }
}

/// The same expression with cells whose index is a number as places.
pub fn with_places(predicate: &Expr<Atom>) -> Expr<Atom> {
    predicate.map(&|atom| match atom {
        Atom::Cell { first, len, index } => match index.constant().map(u32::try_from) {
            Some(Ok(at)) if at < *len => Atom::Place(PlaceId(first.0 + at)),
            _ => atom.clone(),
        },
        _ => atom.clone(),
    })
}

/// A node, and those of the slots that may hold a store to its place.
fn copies(node: Node, program: &Program, homes: &Homes, slots: &[Slots]) -> Vec<Node> {
    let mut all = vec![node];
    let Some(Home::Place(place)) = homes.of(node) else {
        return all;
    };
    let array = |place: PlaceId| {
        let name = &program.places[place.index()].name;
        name.split('[').next().unwrap_or_default().to_string()
    };
    let variable = array(place);
    let negated = node != Node::of(node.integer());
    for slot in slots.iter().filter(|slot| slot.variable == variable) {
        for &cell in &homes.slots {
            if array(cell) == slot.array
                && let Some(copy) = homes.node(Home::Place(cell))
            {
                all.push(if negated { copy.negated() } else { copy });
            }
        }
    }
    all
}

/// All bounds by thresholds, on integers that have to do with each other.
pub fn thresholds(program: &Program, homes: &Homes, thresholds: &Thresholds) -> Vec<Fact> {
    let frame = Frame::new(program);
    let classes = classes(program, &frame, homes);
    let mut facts = IndexSet::new();
    let nodes: Vec<Node> = (1..=homes.all.len() as u32).map(Node::of).collect();
    for (at, &left) in nodes.iter().enumerate() {
        for &most in &thresholds.single {
            facts.insert(canonical(Fact::new(left, Node::ZERO, most)));
            facts.insert(canonical(Fact::new(Node::ZERO, left, most)));
        }
        let related = |right: &&Node| classes[at] == classes[right.integer() as usize - 1];
        for &right in nodes[at + 1..].iter().filter(related) {
            for &most in &thresholds.differences {
                facts.insert(canonical(Fact::new(left, right, most)));
                facts.insert(canonical(Fact::new(right, left, most)));
                if frame.octagon {
                    facts.insert(canonical(Fact::new(left, right.negated(), most)));
                    facts.insert(canonical(Fact::new(right.negated(), left, most)));
                }
            }
        }
    }
    facts.into_iter().collect()
}

/// Integers that take each other's values or are compared are in one class.
fn classes(program: &Program, frame: &Frame, homes: &Homes) -> Vec<usize> {
    let mut class: Vec<usize> = (0..homes.all.len()).collect();
    let mut join = |a: Node, b: Node| {
        let at = |node: Node| (node.integer() as usize).checked_sub(1);
        if let (Some(a), Some(b)) = (at(a), at(b))
            && let (Some(&a), Some(&b)) = (class.get(a), class.get(b))
        {
            class
                .iter_mut()
                .filter(|known| **known == a)
                .for_each(|known| *known = b);
        }
    };
    for (id, process) in program.process_ids().zip(&frame.program.processes) {
        for edge in process.edges.iter().enumerate().map(|(at, _)| at) {
            let data = &frame.edge(id, EdgeId(edge as u32)).data;
            for values in values(data, process).unwrap_or_default() {
                let Some(effect) = effect(data, &values, (id, process), homes) else {
                    continue;
                };
                for (_, fact) in &effect.constraints {
                    join(fact.left, fact.right);
                }
                for (home, term) in &effect.targets {
                    if let (Some(node), Some(term)) = (homes.node(*home), term) {
                        join(node, term.node);
                    }
                }
            }
        }
    }
    for property in &program.properties {
        let predicate = with_places(&property.predicate);
        for case in cases(&predicate, &|atom| program.is_integer(atom)) {
            for condition in case.when {
                if let Condition::AtMostZero(sum) = condition
                    && let Some(terms) = terms(&sum.integers, homes)
                    && let [one, other] = terms[..]
                {
                    join(one.node, other.node);
                }
            }
        }
    }
    class
}
