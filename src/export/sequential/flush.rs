//! The process that flushes the buffers of a template's processes.

use super::access::{Ways, get, put, set};
use super::queues::{Buffer, Group, Target, free_value};
use super::{Encoding, NOWHERE, conditional, either, named as local, number, op};
use crate::import::build::{assume, block, expr, name, scalar, stmt, store};
use crate::lang::ast::{Condition, Expr, ExprKind, Member, Process, Range, Stmt, StmtKind};
use crate::program::{BinaryOp, Domain};

impl Buffer {
    /// A process for each process of the template; it flushes any of its queues at any time.
    pub fn flusher(&self, process: &Process) -> Process {
        let targets = self.targets.iter().enumerate();
        let step = either(targets.flat_map(|(at, target)| self.flushes(at, target)));
        let body = stmt(StmtKind::Block(block(vec![step], NOWHERE)), NOWHERE);
        let for_ever = StmtKind::While {
            condition: Condition::Expr(expr(ExprKind::Bool(true), NOWHERE)),
            body: Box::new(body),
        };
        let mut body = block(vec![stmt(for_ever, NOWHERE)], NOWHERE);
        let locals = self.locals(true).into_iter().map(Member::Locals);
        body.members.splice(0..0, locals);
        Process {
            name: name(&self.flusher, NOWHERE),
            parameter: process.parameter.clone(),
            body,
        }
    }

    /// The oldest store of a queue goes to memory, if it is one to this target. For integers
    /// without bound there is a way for each cell and slot.
    fn flushes(&self, at: usize, target: &Target) -> Ways {
        if !target.is_integer() {
            return vec![self.flush(at, target, None, None)];
        }
        let slots = match self.encoding {
            Encoding::Direct => 1,
            Encoding::Rba => self.bound,
        };
        let cells = (0..target.cells()).map(|cell| target.len.map(|_| number(cell)));
        let both = cells.flat_map(|cell| (0..slots).map(move |slot| (cell.clone(), slot)));
        both.map(|(cell, slot)| self.flush(at, target, cell, Some(slot)))
            .collect()
    }

    /// A flush of any cell, or of one; from the oldest slot, or only if that is this one.
    fn flush(
        &self,
        at: usize,
        target: &Target,
        known_cell: Option<Expr>,
        known_slot: Option<usize>,
    ) -> Vec<Stmt> {
        let of = &self.temporaries;
        let group = self.group_of(at);
        let mut code = Vec::new();
        let queue = match (group.cells, &known_cell) {
            (1, _) => self.queue(group, None),
            (_, Some(cell)) => self.queue(group, Some(cell.clone())),
            (cells, None) => {
                let range = Range {
                    low: number(0),
                    high: number(cells as i64 - 1),
                    span: NOWHERE,
                };
                let target = name(&of.cell, NOWHERE);
                let range = Some(range);
                code.push(stmt(StmtKind::Havoc { target, range }, NOWHERE));
                self.queue(group, Some(local(&of.cell)))
            }
        };
        let mut oldest = self.oldest(group, &queue, &mut code);
        if let (Some(slot), Encoding::Rba) = (known_slot, self.encoding) {
            let slot = number(slot as i64);
            let this = op(BinaryOp::Equal, local(&of.pending), slot.clone());
            code.push(assume(this, NOWHERE));
            oldest = self.slot(&queue, slot);
        }
        let index = self.slot_of(target, group, &oldest, &mut code);
        if let Some(index) = index {
            code.push(match &known_cell {
                None => set(&of.cell, index),
                Some(cell) => assume(op(BinaryOp::Equal, index, cell.clone()), NOWHERE),
            });
        }
        if self.segment.is_some() {
            code.push(get(&of.segment, &group.segment, oldest.clone()));
            let first = op(BinaryOp::Equal, local(&of.segment), number(1));
            code.push(assume(first, NOWHERE));
        }
        let value = match (target.is_integer(), group.domain) {
            (false, Some(domain)) => self.value(domain),
            _ => self.value(Domain::INTEGERS),
        };
        code.push(get(value, group.array(target), oldest.clone()));
        let index = target
            .len
            .map(|_| known_cell.unwrap_or_else(|| local(&of.cell)));
        let place = match index {
            Some(index) => self.cell_of(target, index),
            None => scalar(&target.name, NOWHERE),
        };
        code.push(store(place, local(value), NOWHERE));
        match self.encoding {
            Encoding::Direct => self.shift(group, &queue, &mut code),
            Encoding::Rba => {
                self.free(group, &oldest, &mut code);
                self.forget(group, target.is_integer(), &oldest, &mut code);
            }
        }
        if self.store_load {
            let some = op(BinaryOp::Greater, local(&of.other), number(0));
            let fewer = op(BinaryOp::Sub, local(&of.other), number(1));
            code.push(get(&of.other, &group.waiting, queue.clone()));
            let fewer = conditional(some, fewer, number(0));
            code.push(put(&group.waiting, queue, fewer));
        }
        self.renumber(&mut code);
        code
    }

    /// Finds the oldest store of a queue, or waits for one.
    fn oldest(&self, group: &Group, queue: &Expr, code: &mut Vec<Stmt>) -> Expr {
        let of = &self.temporaries;
        let pending = || local(&of.pending);
        if self.encoding == Encoding::Direct {
            code.push(get(&of.pending, &group.count, queue.clone()));
            let any = op(BinaryOp::Greater, pending(), number(0));
            code.push(assume(any, NOWHERE));
            return self.slot(queue, number(0));
        }
        let none = self.bound as i64;
        code.push(set(&of.pending, number(none)));
        for slot in (0..self.bound).rev() {
            code.push(self.occupied(group, queue, slot));
            let occupied = op(BinaryOp::NotEqual, local(&of.place), number(0));
            let oldest = conditional(occupied, number(slot as i64), pending());
            code.push(set(&of.pending, oldest));
        }
        let any = op(BinaryOp::Less, pending(), number(none));
        code.push(assume(any, NOWHERE));
        self.slot(queue, pending())
    }

    /// Under TSO: goes on only if a slot is for this target; the index of its cell.
    fn slot_of(
        &self,
        target: &Target,
        group: &Group,
        slot: &Expr,
        code: &mut Vec<Stmt>,
    ) -> Option<Expr> {
        if !self.is_tso() {
            return None;
        }
        let place = &self.temporaries.place;
        code.push(get(place, &group.place, slot.clone()));
        let first = number(target.first);
        let Some(len) = target.len else {
            let wanted = op(BinaryOp::Equal, local(place), first);
            code.push(assume(wanted, NOWHERE));
            return None;
        };
        let last = number(target.first + i64::from(len) - 1);
        let wanted = op(
            BinaryOp::And,
            op(BinaryOp::LessEqual, first.clone(), local(place)),
            op(BinaryOp::LessEqual, local(place), last),
        );
        code.push(assume(wanted, NOWHERE));
        Some(op(BinaryOp::Sub, local(place), first))
    }

    /// Moves all slots of a queue down by one.
    fn shift(&self, group: &Group, queue: &Expr, code: &mut Vec<Stmt>) {
        let of = &self.temporaries;
        let at = |slot: usize| self.slot(queue, number(slot as i64));
        let mut arrays = Vec::new();
        let bounded = group.domain.map(|domain| self.value(domain));
        arrays.extend(bounded.map(|value| (&group.value, value)));
        if group.unbounded {
            arrays.push((&group.integer, self.value(Domain::INTEGERS)));
        }
        if self.is_tso() {
            arrays.push((&group.place, &of.place));
        }
        if self.segment.is_some() {
            arrays.push((&group.segment, &of.segment));
        }
        for slot in 1..self.bound {
            for (array, through) in &arrays {
                code.push(get(through, array, at(slot)));
                code.push(put(array, at(slot - 1), local(through)));
            }
        }
        let last = at(self.bound - 1);
        self.free(group, &last, code);
        if group.domain.is_some() {
            self.forget(group, false, &last, code);
        }
        if group.unbounded {
            self.forget(group, true, &last, code);
        }
        let fewer = op(BinaryOp::Sub, local(&of.pending), number(1));
        code.push(put(&group.count, queue.clone(), fewer));
    }

    /// Makes a slot free.
    fn free(&self, group: &Group, slot: &Expr, code: &mut Vec<Stmt>) {
        if self.is_tso() {
            code.push(put(&group.place, slot.clone(), number(0)));
        }
        if self.has_flags() {
            code.push(put(&group.used, slot.clone(), number(0)));
        }
        if self.segment.is_some() {
            code.push(put(&group.segment, slot.clone(), number(0)));
        }
    }

    /// Takes the value out of a free slot.
    fn forget(&self, group: &Group, integer: bool, slot: &Expr, code: &mut Vec<Stmt>) {
        code.push(match group.domain {
            Some(domain) if !integer => put(&group.value, slot.clone(), number(free_value(domain))),
            _ => put(&group.integer, slot.clone(), number(0)),
        });
    }

    /// Counts segments from the oldest one that is left.
    fn renumber(&self, code: &mut Vec<Stmt>) {
        let of = &self.temporaries;
        let Some(newest) = &self.segment else {
            return;
        };
        let segment = || local(&of.segment);
        let occupied = || op(BinaryOp::Greater, segment(), number(0));
        let moved = |from: Expr| {
            let by = op(BinaryOp::Sub, local(&of.least), number(1));
            op(BinaryOp::Sub, from, by)
        };
        code.push(get(&of.other, newest, self.own()));
        code.push(set(&of.least, local(&of.other)));
        code.extend(self.for_each_slot(|group, slot| {
            let older = op(BinaryOp::Less, segment(), local(&of.least));
            let older = op(BinaryOp::And, occupied(), older);
            vec![
                get(&of.segment, &group.segment, slot),
                set(&of.least, conditional(older, segment(), local(&of.least))),
            ]
        }));
        code.extend(self.for_each_slot(|group, slot| {
            let number = conditional(occupied(), moved(segment()), number(0));
            vec![
                get(&of.segment, &group.segment, slot.clone()),
                put(&group.segment, slot, number),
            ]
        }));
        code.push(put(newest, self.own(), moved(local(&of.other))));
    }
}
