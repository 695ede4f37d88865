//! States in which every process that has not stopped can only spin.

use super::code::Code;
use super::interpreter::Setup;
use super::program::Program;
use super::state::State;
use super::step::{Outcomes, process_steps};
use fencesmith::lang::ast::{Expr, ExprKind, Predicate, StmtKind};
use std::collections::BTreeSet;

/// No store is pending, some process has not stopped, and all that have not can only spin.
pub fn is_stuck(program: &Program, setup: &Setup, state: &State) -> bool {
    let drained = state.processes.iter().all(|process| process.drained());
    let mut waiting =
        (0..program.instances.len()).filter(|&p| !program.ready(state, p).has_stopped());
    drained
        && !program.all_stopped(state)
        && waiting.all(|process| only_spins(program, setup, state, process))
}

/// Nothing that a process can do, while memory stays as it is, stores, changes memory, fails,
/// stops or leads to a label that a property names.
fn only_spins(program: &Program, setup: &Setup, state: &State, process: usize) -> bool {
    let named = named_labels(program, process);
    let mut seen = BTreeSet::from([state.clone()]);
    let mut open = vec![state.clone()];
    while let Some(state) = open.pop() {
        let next = &program.ready(&state, process).next;
        let mut statements = next.iter().map(|&at| &program.instances[process].code[at]);
        let stores = |code: &Code| matches!(code, Code::Step(statement) if matches!(statement.kind, StmtKind::Store { .. }));
        if statements.any(stores) {
            return false;
        }
        let mut outcomes = Outcomes::default();
        process_steps(program, setup, &state, process, &mut outcomes);
        if !outcomes.violations.is_empty() {
            return false;
        }
        for next in outcomes.states {
            let ready = program.ready(&next, process);
            let arrives = ready.has_stopped() || !ready.at.is_disjoint(&named);
            if arrives || next.memory != state.memory {
                return false;
            }
            if seen.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    true
}

/// The labels of a process that properties name.
fn named_labels(program: &Program, process: usize) -> BTreeSet<String> {
    let template = &program.instances[process].template;
    let mut named = BTreeSet::new();
    for property in &program.properties {
        match &property.predicate {
            Predicate::TwoAt(label) => {
                named.insert(label.text.clone());
            }
            Predicate::Expr(expr) => add_named(expr, template, &mut named),
        }
    }
    named
}

fn add_named(expr: &Expr, template: &str, named: &mut BTreeSet<String>) {
    let mut add = |expr: &Expr| add_named(expr, template, named);
    match &expr.kind {
        ExprKind::At { process, label } => {
            if process.name.text == template {
                named.insert(label.text.clone());
            }
        }
        ExprKind::Unary { operand, .. } => add(operand),
        ExprKind::Binary { left, right, .. } => {
            add(left);
            add(right);
        }
        ExprKind::Conditional {
            condition,
            then,
            otherwise,
        } => {
            add(condition);
            add(then);
            add(otherwise);
        }
        ExprKind::Cell { index, .. } => add(index),
        ExprKind::Pair { row, column } => {
            add(row);
            add(column);
        }
        ExprKind::Quantified { body, .. } => add(body),
        ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::Name(_) | ExprKind::Local { .. } => {}
    }
}
