//! Properties to predicates on states.

use super::Scope;
use super::process::Labels;
use super::sugar::flat_index;
use crate::lang::ast::{self, ExprKind, Predicate, ProcessRef};
use crate::lang::resolve::Symbols;
use crate::program::{Atom, Expr, Loc, LocalId, PlaceId, Process, ProcessId, Property};
use std::collections::HashSet;

/// A property without quantifiers.
pub fn unquantified(property: &ast::Property, symbols: &Symbols) -> ast::Property {
    let predicate = match &property.predicate {
        Predicate::TwoAt(_) => property.predicate.clone(),
        Predicate::Expr(expr) => Predicate::Expr(symbols.unquantified(expr)),
    };
    ast::Property {
        predicate,
        ..property.clone()
    }
}

/// The labels of one template that properties name.
pub fn named_labels(properties: &[ast::Property], template: &str) -> HashSet<String> {
    let mut named = HashSet::new();
    for property in properties {
        match &property.predicate {
            Predicate::TwoAt(label) => {
                named.insert(label.text.clone());
            }
            Predicate::Expr(expr) => observations(expr, &mut |kind| {
                if let ExprKind::At { process, label } = kind
                    && process.name.text == template
                {
                    named.insert(label.text.clone());
                }
            }),
        }
    }
    named
}

/// Visits the leaves of an expression.
fn observations(expr: &ast::Expr, visit: &mut dyn FnMut(&ExprKind)) {
    match &expr.kind {
        ExprKind::Unary { operand, .. } => observations(operand, visit),
        ExprKind::Binary { left, right, .. } => {
            observations(left, visit);
            observations(right, visit);
        }
        ExprKind::Conditional {
            condition,
            then,
            otherwise,
        } => {
            observations(condition, visit);
            observations(then, visit);
            observations(otherwise, visit);
        }
        ExprKind::Cell { index, .. } => observations(index, visit),
        ExprKind::Pair { row, column } => {
            observations(row, visit);
            observations(column, visit);
        }
        leaf => visit(leaf),
    }
}

/// Lowers all properties and marks the locals they name as visible.
pub fn lower(
    properties: &[ast::Property],
    scope: &Scope,
    processes: &mut [Process],
    located: &[Labels],
) -> Vec<Property> {
    let mut lowered = Vec::new();
    for property in properties {
        let names = PropertyScope {
            scope,
            processes,
            located,
        };
        let predicate = match &property.predicate {
            Predicate::TwoAt(label) => {
                Expr::Atom(Atom::TwoAt(names.positions(|_| true, &label.text)))
            }
            Predicate::Expr(expr) => names.expr(expr),
        };
        let labels = names.labels(&property.predicate);
        predicate.atoms(&mut |atom| mark_visible(atom, processes));
        lowered.push(Property {
            kind: property.kind,
            predicate,
            span: property.span,
            labels,
        });
    }
    lowered
}

fn mark_visible(atom: &Atom, processes: &mut [Process]) {
    match atom {
        Atom::Local(process, local) => {
            processes[process.index()].locals[local.index()].visible = true;
        }
        Atom::Cell { index, .. } => index.atoms(&mut |atom| mark_visible(atom, processes)),
        Atom::Place(_) | Atom::At(_) | Atom::TwoAt(_) => {}
    }
}

/// What the names in a property mean.
struct PropertyScope<'a> {
    scope: &'a Scope<'a>,
    processes: &'a [Process],
    located: &'a [Labels],
}

impl PropertyScope<'_> {
    fn expr(&self, expr: &ast::Expr) -> Expr<Atom> {
        let lowered = expr.lowered(&|kind| match kind {
            ExprKind::Name(name) => match self.scope.constant(name) {
                Some(value) => Expr::Const(value),
                None => Expr::Atom(Atom::Place(self.scope.shared(name).0)),
            },
            ExprKind::Cell { name, index } => {
                let (first, variable) = self.scope.shared(&name.text);
                Expr::Atom(Atom::Cell {
                    first,
                    len: variable.len.expect("arrays were checked"),
                    index: Box::new(flat_index(index, variable, &|part| self.expr(part))),
                })
            }
            ExprKind::At { process, label } => {
                let chosen = self.chosen(process);
                let positions = self.positions(|id| chosen.contains(&id), &label.text);
                Expr::Atom(Atom::At(positions))
            }
            ExprKind::Local { process, local } => {
                let id = self.chosen(process)[0];
                let mut locals = self.processes[id.index()].locals.iter();
                let index = locals.position(|l| l.name == local.text);
                let local = LocalId(index.expect("locals were checked") as u32);
                Expr::Atom(Atom::Local(id, local))
            }
            _ => unreachable!("operators are translated by the caller"),
        });
        lowered.over_integers(&|atom| match atom {
            Atom::Place(place) | Atom::Cell { first: place, .. } => self.is_integer(*place),
            Atom::Local(process, local) => {
                let locals = &self.processes[process.index()].locals;
                locals[local.index()].domain.is_unbounded()
            }
            Atom::At(_) | Atom::TwoAt(_) => false,
        })
    }

    fn is_integer(&self, place: PlaceId) -> bool {
        let mut shared = self.scope.shared.0.values();
        shared.any(|(first, variable)| {
            let cells = first.0..first.0 + variable.initial.len() as u32;
            cells.contains(&place.0) && variable.domain.is_unbounded()
        })
    }

    /// The processes that a reference without or with an index stands for.
    fn chosen(&self, process: &ProcessRef) -> Vec<ProcessId> {
        let name = match &process.index {
            None => process.name.text.clone(),
            Some(index) => {
                let unobservable = |_: &Atom| unreachable!("an index was checked to be constant");
                let value = self.expr(index).eval(&unobservable);
                let value = value.expect("constant expressions were checked");
                format!("{}[{value}]", process.name.text)
            }
        };
        let template = format!("{name}[");
        let matching = |p: &Process| p.name == name || p.name.starts_with(&template);
        let ids = (0..self.processes.len()).filter(|&id| matching(&self.processes[id]));
        ids.map(|id| ProcessId(id as u32)).collect()
    }

    fn positions(&self, of: impl Fn(ProcessId) -> bool, label: &str) -> Vec<(ProcessId, Loc)> {
        let everywhere = self.located.iter().enumerate();
        let found = everywhere.filter_map(|(id, labels)| {
            let id = ProcessId(id as u32);
            Some((id, *labels.get(label)?))
        });
        found.filter(|&(id, _)| of(id)).collect()
    }

    /// The labels a property names and where they stand, for the check that something
    /// reaches them.
    fn labels(&self, predicate: &Predicate) -> Vec<(String, Vec<(ProcessId, Loc)>)> {
        let mut labels = Vec::new();
        match predicate {
            Predicate::TwoAt(label) => {
                labels.push((label.text.clone(), self.positions(|_| true, &label.text)));
            }
            Predicate::Expr(expr) => observations(expr, &mut |kind| {
                if let ExprKind::At { process, label } = kind {
                    let chosen = self.chosen(process);
                    let positions = self.positions(|id| chosen.contains(&id), &label.text);
                    labels.push((label.text.clone(), positions));
                }
            }),
        }
        labels
    }
}
