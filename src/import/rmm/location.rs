//! What the locations of machines are in the native language.

use super::sequence::Body;
use super::tree::{Location, Owner};
use crate::import::build;
use crate::lang::ast::{Expr, ExprKind, Place};
use crate::program::{BinaryOp, Domain};
use crate::source::Span;

/// A location that is known, its domain, and what must hold for it to be meant.
pub struct Known {
    pub place: Place,
    pub domain: Domain,
    pub guard: Option<Expr>,
}

impl Body<'_, '_> {
    /// The location that is meant, where only one can be.
    pub(super) fn only(&mut self, location: &Location) -> Option<Known> {
        let mut all = self.locations(location);
        if all.len() > 1 {
            let message = "a pointer with more than one target cannot stand in a locked block";
            self.wrong(location.span, message.to_string());
        }
        all.pop()
    }

    /// Every location that may be meant; none if it is unknown, which is reported.
    pub(super) fn locations(&mut self, location: &Location) -> Vec<Known> {
        let span = location.span;
        let known = match &location.kind {
            Owner::Global(name) => {
                let globals = self.world.globals.iter();
                let found = globals
                    .enumerate()
                    .find(|(_, (global, _))| global.name == *name);
                match found {
                    Some((index, _)) => Ok(vec![self.global(index, None, span)]),
                    None if self.world.owned.contains_key(name.as_str()) => Err(format!(
                        "'{name}' belongs to processes: write `{name}[my]` or `{name}[0]`"
                    )),
                    None => Err(format!("unknown variable '{name}'")),
                }
            }
            Owner::Own(name) => self.owned(name, span, Some),
            Owner::Other(name, other) => {
                let (other, processes) = (*other, self.world.processes);
                self.owned(name, span, |process| {
                    let other = if other < process {
                        other
                    } else {
                        other.checked_add(1)?
                    };
                    (other < processes).then_some(other)
                })
            }
            Owner::Pointer(pointer) => self.pointed(pointer, span),
        };
        known.unwrap_or_else(|message| {
            self.wrong(span, message);
            Vec::new()
        })
    }

    fn global(&self, index: usize, guard: Option<Expr>, span: Span) -> Known {
        let (variable, native) = &self.world.globals[index];
        Known {
            place: build::scalar(native, span),
            domain: variable.domain,
            guard,
        }
    }

    /// The variable of another process, or the own one; `whose` gives its owner.
    fn owned(
        &self,
        name: &str,
        span: Span,
        whose: impl Fn(u32) -> Option<u32>,
    ) -> Result<Vec<Known>, String> {
        let Some(owned) = self.world.owned.get(name) else {
            return Err(format!("no process has a variable '{name}'"));
        };
        let copies = self.text.first..self.text.first + self.text.copies;
        let mut owners = Vec::new();
        for copy in copies {
            match whose(copy) {
                Some(owner) if owned.owners.contains_key(&owner) => owners.push((copy, owner)),
                Some(owner) => return Err(format!("process {owner} has no variable '{name}'")),
                None => return Err(format!("process {copy} has no such other process")),
            }
        }
        let number = |n: u32| build::int(n.into(), span);
        let (_, first) = owners[0];
        let index = match &self.text.parameter {
            None => number(first),
            Some(_) if owners.iter().all(|(_, owner)| *owner == first) => number(first),
            Some(i) if owners.iter().all(|(copy, owner)| copy == owner) => build::var(i, span),
            Some(i) => {
                // Copies up to the other's number skip themselves.
                let (_, last) = owners[owners.len() - 1];
                let upto = build::binary(BinaryOp::LessEqual, build::var(i, span), number(last));
                let kind = ExprKind::Conditional {
                    condition: Box::new(upto),
                    then: Box::new(number(first)),
                    otherwise: Box::new(number(last)),
                };
                build::expr(kind, span)
            }
        };
        Ok(vec![Known {
            place: Place {
                name: build::name(&owned.native, span),
                index: owned.is_array().then(|| Box::new(index)),
                span,
            },
            domain: owned.domain,
            guard: None,
        }])
    }

    /// The globals that a pointer can point to.
    fn pointed(&mut self, pointer: &Expr, span: Span) -> Result<Vec<Known>, String> {
        let pointer = self.expr(pointer);
        let globals = self.world.globals.len();
        if let ExprKind::Int(index) = pointer.kind {
            return match usize::try_from(index) {
                Ok(index) if index < globals => Ok(vec![self.global(index, None, span)]),
                _ => Err(format!(
                    "the pointer [{index}] points to none of the {globals} variables"
                )),
            };
        }
        let values = self.interval(&pointer).unwrap_or(Domain::INT);
        let mut known = Vec::new();
        for index in 0..globals {
            let number = i64::try_from(index).unwrap_or(i64::MAX);
            if values.contains(number) {
                let equal =
                    build::binary(BinaryOp::Equal, pointer.clone(), build::int(number, span));
                known.push(self.global(index, Some(equal), span));
            }
        }
        match known.is_empty() {
            true => Err("this pointer can point to no variable".to_string()),
            false => Ok(known),
        }
    }
}
