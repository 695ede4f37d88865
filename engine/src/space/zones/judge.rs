//! What may be wrong with a state of the frame, and which facts about integers make it so.

use super::matrix::Fact;
use super::rules::{Home, Rules, at_most_zero};
use super::zone::Term;
use crate::memory::step::Config;
use crate::program::{
    Atom, Case, Condition, Fault, PlaceId, Program, PropertyId, PropertyKind, Sum, Value, cases,
};
use crate::property::{self, View, Violation};

/// The properties of a program, case by case.
pub struct Judge<'a> {
    pub program: &'a Program,
    properties: Vec<Vec<Case<Atom>>>,
}

impl<'a> Judge<'a> {
    pub fn new(program: &'a Program) -> Judge<'a> {
        let unbounded = |atom: &Atom| program.is_integer(atom);
        let properties = program.properties.iter();
        let properties = properties.map(|property| cases(&property.predicate, &unbounded));
        Judge {
            program,
            properties: properties.collect(),
        }
    }

    /// Every process has stopped and every buffer is empty.
    pub fn all_done(&self, configs: &[&Config], memory: &[Value]) -> bool {
        self.with_view(configs, memory, |view| view.all_done())
    }

    /// What is wrong with a state if all of some facts hold.
    pub fn wrong(
        &self,
        rules: &mut Rules,
        configs: &[&Config],
        memory: &[Value],
    ) -> Vec<(Violation, Vec<Fact>)> {
        self.with_view(configs, memory, |view| {
            if let Some(failure) = property::failure(view) {
                return vec![(failure, Vec::new())];
            }
            let all = self.program.property_ids().zip(&self.properties);
            let wrong = all.flat_map(|(id, cases)| violations(view, rules, id, cases));
            wrong.collect()
        })
    }

    fn with_view<T>(
        &self,
        configs: &[&Config],
        memory: &[Value],
        look: impl FnOnce(&View) -> T,
    ) -> T {
        look(&View {
            program: self.program,
            configs,
            memory: &|place| memory[place.index()],
        })
    }
}

/// When a property is violated.
fn violations(
    view: &View,
    rules: &mut Rules,
    id: PropertyId,
    cases: &[Case<Atom>],
) -> Vec<(Violation, Vec<Fact>)> {
    let kind = view.program.property(id).kind;
    if kind == PropertyKind::Final && !view.all_done() {
        return Vec::new();
    }
    let bad = matches!(kind, PropertyKind::Mutex | PropertyKind::Forbid);
    let mut wrong = Vec::new();
    for case in cases {
        let mut facts = Vec::new();
        match holds(view, rules, case, bad, &mut facts) {
            Ok(true) => wrong.push((Violation::Property(id), facts)),
            Ok(false) => {}
            Err(fault) => wrong.push((Violation::Undefined(id, fault), facts)),
        }
    }
    wrong
}

/// Whether the conditions with bounds of a case hold and its value is bad; the other conditions
/// are added to the facts.
fn holds(
    view: &View,
    rules: &mut Rules,
    case: &Case<Atom>,
    bad: bool,
    facts: &mut Vec<Fact>,
) -> Result<bool, Fault> {
    for condition in &case.when {
        match condition {
            Condition::Finite { condition, wanted } => {
                if (view.eval(condition)? != 0) != *wanted {
                    return Ok(false);
                }
            }
            Condition::AtMostZero(sum) => facts.push(fact(view, rules, sum)?),
        }
    }
    Ok((view.eval(&case.value.rest)? != 0) == bad)
}

fn fact(view: &View, rules: &mut Rules, sum: &Sum<Atom>) -> Result<Fact, Fault> {
    let rest: Value = view.eval(&sum.rest)?;
    let mut terms = Vec::new();
    for (atom, factor) in &sum.integers {
        let home = match atom {
            Atom::Place(place) => Home::Place(*place),
            Atom::Cell { first, len, index } => {
                let index = view.eval(index)?;
                let offset = u32::try_from(index).ok().filter(|offset| offset < len);
                let offset = offset.ok_or(Fault::OutOfBounds { index, len: *len })?;
                Home::Place(PlaceId(first.0 + offset))
            }
            Atom::Local(process, local) => Home::Local(*process, *local),
            Atom::At(_) | Atom::TwoAt(_) => unreachable!("positions are no integers"),
        };
        let term = Term::node(rules.node(home));
        let term = if *factor < 0 { term.negated() } else { term };
        (0..factor.abs()).for_each(|_| terms.push(term));
    }
    Ok(at_most_zero(&terms, rest))
}
