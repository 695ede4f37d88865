//! Whether two processes can take each other's parts.
//!
//! Their automata must be the same but for constants and variables. Whatever the one names
//! where the other names something else must be exchanged with it, in the whole program:
//! this gives, for each type, what becomes of its values, and which variables change parts.
//! Numbers stay as they are. The exchange is one if it maps everything else to itself: the
//! other processes, ranges, initial values and properties.

use super::typing::{NUMBER, TypeId, Types, Variable};
use super::{Exchange, ValueMap, map};
use crate::program::{
    Atom, BinaryOp, Domain, Expr, Initial, Instr, LocalId, PlaceId, PlaceRef, Process, ProcessId,
    Program, Property, UnaryOp, Update, Value,
};
use std::collections::BTreeMap;

/// The exchange of two processes, if there is one.
pub fn exchange(
    program: &Program,
    types: &Types,
    (one, other): (ProcessId, ProcessId),
    reset_dead: bool,
) -> Option<Exchange> {
    if skeleton(program.process(one)) != skeleton(program.process(other)) {
        return None;
    }
    let mut types = types.clone();
    for local in 0..program.process(one).locals.len() as u32 {
        let [own, theirs] = [one, other].map(|process| types.local(process, LocalId(local)));
        types.unite(own, theirs);
    }
    let both = [one, other].map(|process| types.named[process.index()].clone());
    let constants = || both[0].constants.iter().zip(&both[1].constants);
    for (own, theirs) in constants() {
        types.unite(own.0, theirs.0);
    }
    let mut variables: BTreeMap<PlaceId, Variable> = BTreeMap::new();
    for (&own, &theirs) in both[0].variables.iter().zip(&both[1].variables) {
        types.unite(types.content(own), types.content(theirs));
        types.unite(types.index(own), types.index(theirs));
        insert(&mut variables, own.first, theirs)?;
        insert(&mut variables, theirs.first, own)?;
    }
    let others = || {
        program
            .process_ids()
            .filter(|id| *id != one && *id != other)
    };
    for id in others() {
        for &variable in &types.named[id.index()].variables {
            insert(&mut variables, variable.first, variable)?;
        }
    }
    let mut values: BTreeMap<(TypeId, Value), Value> = BTreeMap::new();
    for (own, theirs) in constants() {
        let root = types.root(own.0);
        insert(&mut values, (root, own.1), theirs.1)?;
        insert(&mut values, (root, theirs.1), own.1)?;
    }
    for id in others() {
        for &(constant, value) in &types.named[id.index()].constants {
            insert(&mut values, (types.root(constant), value), value)?;
        }
    }
    let value_map = |id: TypeId| -> ValueMap {
        let root = types.root(id);
        let known = values.range((root, Value::MIN)..=(root, Value::MAX));
        let known = known.map(|((_, from), to)| (*from, *to));
        known.filter(|(from, to)| from != to).collect()
    };
    if !value_map(NUMBER).is_empty() {
        return None;
    }
    let place = |place: PlaceId| {
        let variable = types.variable(place);
        let cell = (place.0 - variable.first.0) as Value;
        let cell = match variable.len {
            Some(_) => map(&value_map(types.index(variable)), cell),
            None => cell,
        };
        let target = variables.get(&variable.first).unwrap_or(&variable);
        PlaceId(target.first.0 + cell as u32)
    };
    for array in (0..program.places.len() as u32).map(|place| types.variable(PlaceId(place))) {
        let len = array.len.unwrap_or(0) as Value;
        let target = variables.get(&array.first).unwrap_or(&array);
        let cells = Domain {
            low: 0,
            high: len - 1,
        };
        if target.len != array.len || !keeps(cells, &value_map(types.index(array))) {
            return None;
        }
    }
    let places = (0..program.places.len() as u32).map(PlaceId);
    let exchange = Exchange {
        processes: (one, other),
        places: places.clone().map(place).collect(),
        contents: places
            .map(|place| value_map(types.content(types.variable(place))))
            .collect(),
        locals: program
            .process_ids()
            .map(|process| {
                let locals = (0..program.process(process).locals.len() as u32).map(LocalId);
                let maps = locals.map(|local| value_map(types.local(process, local)));
                maps.collect()
            })
            .collect(),
    };
    exchange
        .keeps_the_program(program, reset_dead)
        .then_some(exchange)
}

/// Adds what something becomes, unless it was to become something else.
fn insert<K: Ord, V: PartialEq>(map: &mut BTreeMap<K, V>, from: K, to: V) -> Option<()> {
    let known = map.entry(from);
    match known {
        std::collections::btree_map::Entry::Occupied(known) => (*known.get() == to).then_some(()),
        std::collections::btree_map::Entry::Vacant(new) => {
            new.insert(to);
            Some(())
        }
    }
}

/// Whether values of a range stay in it, and others outside.
fn keeps(domain: Domain, map: &ValueMap) -> bool {
    let mut moved = map.iter();
    moved.all(|(from, to)| domain.contains(*from) == domain.contains(*to))
}

impl Exchange {
    /// Whether ranges, initial values and properties are mapped to themselves.
    fn keeps_the_program(&self, program: &Program, reset_dead: bool) -> bool {
        let becomes = |initial: Initial, values: &ValueMap| match initial {
            Initial::Value(value) => Initial::Value(map(values, value)),
            Initial::Any => Initial::Any,
        };
        let mut places = program.places.iter().enumerate();
        let places = places.all(|(at, place)| {
            let (target, values) = (&program.places[self.places[at].index()], &self.contents[at]);
            target.domain == place.domain
                && keeps(place.domain, values)
                && target.initial == becomes(place.initial, values)
        });
        let mut processes = program.process_ids();
        let locals = processes.all(|id| {
            let process = program.process(id);
            let target = program.process(self.process(id));
            let entry = process.location(process.entry);
            let mut locals = process.locals.iter().zip(&target.locals).enumerate();
            locals.all(|(at, (local, target))| {
                let values = &self.locals[id.index()][at];
                let starts = !reset_dead || entry.live[at];
                keeps(local.domain, values)
                    && (!starts || target.initial == becomes(local.initial, values))
            })
        });
        let kept = |property: &Property| {
            let mut others = program.properties.iter();
            others.any(|other| {
                other.kind == property.kind
                    && self.maps(&property.predicate, &other.predicate, &|value| value)
            })
        };
        places && locals && program.properties.iter().all(kept)
    }

    /// Whether a predicate becomes another one. `value` says what becomes of constants.
    fn maps(&self, from: &Expr<Atom>, to: &Expr<Atom>, value: &dyn Fn(Value) -> Value) -> bool {
        let number = |value: Value| value;
        let swapped = |positions: &[(ProcessId, _)]| {
            let all = positions.iter().map(|&(id, at)| (self.process(id), at));
            let mut all: Vec<_> = all.collect();
            all.sort();
            all
        };
        let sorted = |positions: &[(ProcessId, _)]| {
            let mut all = positions.to_vec();
            all.sort();
            all
        };
        match (from, to) {
            (Expr::Const(from), Expr::Const(to)) => value(*from) == *to,
            (Expr::Atom(from), Expr::Atom(to)) => match (from, to) {
                (Atom::Place(from), Atom::Place(to)) => self.place(*from) == *to,
                (Atom::Local(from, local), Atom::Local(to, other)) => {
                    self.process(*from) == *to && local == other
                }
                (
                    Atom::Cell { first, len, index },
                    Atom::Cell {
                        first: array,
                        index: to,
                        ..
                    },
                ) => {
                    let cells = (0..*len).map(|cell| PlaceId(first.0 + cell));
                    let mut cells = cells.map(|cell| self.place(cell) == cell);
                    array == first && cells.all(|stays| stays) && self.maps(index, to, &number)
                }
                (Atom::At(from), Atom::At(to)) | (Atom::TwoAt(from), Atom::TwoAt(to)) => {
                    swapped(from) == sorted(to)
                }
                _ => false,
            },
            (Expr::Unary(op, from), Expr::Unary(other, to)) => {
                op == other && self.maps(from, to, &number)
            }
            (Expr::Binary(op, left, right), Expr::Binary(other, other_left, other_right)) => {
                let becomes = |value: Value| match op {
                    BinaryOp::Equal | BinaryOp::NotEqual => {
                        let side = [left, right].into_iter().find_map(|side| match &**side {
                            Expr::Atom(Atom::Place(place)) => Some(self.content(*place, value)),
                            Expr::Atom(Atom::Cell { first, .. }) => {
                                Some(self.content(*first, value))
                            }
                            Expr::Atom(Atom::Local(process, local)) => {
                                Some(self.local(*process, *local, value))
                            }
                            _ => None,
                        });
                        side.unwrap_or(value)
                    }
                    _ => value,
                };
                let both =
                    |one, two| self.maps(left, one, &becomes) && self.maps(right, two, &becomes);
                use BinaryOp::{And, Equal, NotEqual, Or};
                let symmetric = matches!(op, And | Or | Equal | NotEqual);
                // The order does not matter where neither side can fail.
                let total = || symmetric && cannot_fail(from);
                op == other
                    && (both(other_left, other_right) || total() && both(other_right, other_left))
            }
            _ => false,
        }
    }
}

/// Whether a predicate has a value in every state.
fn cannot_fail(predicate: &Expr<Atom>) -> bool {
    match predicate {
        Expr::Const(_) => true,
        Expr::Atom(atom) => !matches!(atom, Atom::Cell { .. }),
        Expr::Unary(op, operand) => *op == UnaryOp::Not && cannot_fail(operand),
        Expr::Binary(op, left, right) => {
            use BinaryOp::{And, BitAnd, BitOr, BitXor, Or};
            let total = op.compares() || matches!(op, And | Or | BitAnd | BitOr | BitXor);
            total && cannot_fail(left) && cannot_fail(right)
        }
        Expr::Conditional(..) => false,
    }
}

/// The automaton without the constants and variables that it names.
fn skeleton(process: &Process) -> Process {
    let mut skeleton = process.bare();
    for local in &mut skeleton.locals {
        local.initial = Initial::Any;
    }
    for edge in &mut skeleton.edges {
        strip(&mut edge.instr);
    }
    skeleton
}

fn strip(instr: &mut Instr) {
    match instr {
        Instr::Pass | Instr::Skip | Instr::Fence(_) => {}
        Instr::Assign { value, .. } => strip_expr(value),
        Instr::Havoc { low, high, .. } => {
            strip_expr(low);
            strip_expr(high);
        }
        Instr::Guard { condition, .. } | Instr::Assert { condition, .. } => strip_expr(condition),
        Instr::Store { place, value, .. } => {
            strip_place(place);
            strip_expr(value);
        }
        Instr::Load { place, .. } => strip_place(place),
        Instr::Update { place, op, .. } => {
            strip_place(place);
            match op {
                Update::Cas { expected, new } | Update::CasOld { expected, new } => {
                    strip_expr(expected);
                    strip_expr(new);
                }
                Update::Swap(value) | Update::Apply(_, value) => strip_expr(value),
            }
        }
        Instr::Atomic(body) => body.iter_mut().for_each(|(instr, _)| strip(instr)),
    }
}

fn strip_place(place: &mut PlaceRef) {
    match place {
        PlaceRef::Scalar(place) => *place = PlaceId(0),
        PlaceRef::Cell { first, index, .. } => {
            *first = PlaceId(0);
            strip_expr(index);
        }
        PlaceRef::Computed { address, .. } => strip_expr(address),
    }
}

fn strip_expr(expr: &mut Expr<LocalId>) {
    if expr.constant().is_some() {
        *expr = Expr::Const(0);
        return;
    }
    match expr {
        Expr::Const(_) | Expr::Atom(_) => {}
        Expr::Unary(_, operand) => strip_expr(operand),
        Expr::Binary(_, left, right) => {
            strip_expr(left);
            strip_expr(right);
        }
        Expr::Conditional(condition, then, otherwise) => {
            strip_expr(condition);
            strip_expr(then);
            strip_expr(otherwise);
        }
    }
}
