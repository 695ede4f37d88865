//! What is known of integers at the start.

use super::matrix::{Fact, Node};
use super::rules::{Home, Rules};
use super::zone::{Move, Rounding, Zone};
use crate::program::{Initial, LocalId, PlaceId, Program, Value};

/// What is known of integers at the start.
pub fn start(rules: &mut Rules, program: &Program, rounding: Rounding) -> Zone {
    let mut data = Move::default();
    for (home, value) in initial_integers(program) {
        if let Some(value) = value {
            let node = rules.node(home);
            let zero = Node::ZERO;
            data.constraints.push(Fact::new(node, zero, value));
            data.constraints.push(Fact::new(zero, node, -value));
        }
    }
    let start = Zone::anything().after(&data, rules.frame.octagon, rounding);
    start.expect("initial values do not exclude each other")
}

/// All integers of a program that are there at the start, with their values.
pub fn initial_integers(program: &Program) -> Vec<(Home, Option<Value>)> {
    let value = |initial: Initial| match initial {
        Initial::Value(value) => Some(value),
        Initial::Any => None,
    };
    let mut all = Vec::new();
    for (index, place) in program.places.iter().enumerate() {
        if place.domain.is_unbounded() {
            all.push((Home::Place(PlaceId(index as u32)), value(place.initial)));
        }
    }
    for (id, process) in program.process_ids().zip(&program.processes) {
        for (index, local) in process.locals.iter().enumerate() {
            let live = process.location(process.entry).live[index];
            if local.domain.is_unbounded() && live {
                let home = Home::Local(id, LocalId(index as u32));
                all.push((home, value(local.initial)));
            }
        }
    }
    all
}
