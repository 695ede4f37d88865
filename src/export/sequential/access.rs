//! What memory operations do to the variables that hold buffers, as straight-line code.

use super::queues::{Buffer, Group, Target, cell};
use super::{Encoding, NOWHERE, Overflow, conditional, named as local, number, op};
use crate::import::build::{assign, assume, load, stmt, store};
use crate::lang::ast::{Expr, Place, Stmt, StmtKind};
use crate::memory::Atomics;
use crate::program::{BinaryOp, FenceKind};

impl Buffer {
    /// A store into the buffer.
    pub fn store(&self, place: &Place, value: &Expr, at: usize, target: &Target) -> Vec<Stmt> {
        let of = &self.temporaries;
        let group = self.group_of(at);
        let stored = self.value(target.domain);
        let mut code = vec![set(stored, value.clone())];
        // A local of the range of indices makes a fault of an index outside.
        let index = place.index.as_ref().map(|index| {
            code.push(set(&of.cell, (**index).clone()));
            local(&of.cell)
        });
        let queue = self.queue(group, index.clone().filter(|_| !self.is_tso()));
        code.extend(self.next_slot(group, &queue));
        code.push(match self.overflow {
            Overflow::Abort => stmt(StmtKind::Assert(self.room()), NOWHERE),
            Overflow::Wait => assume(self.room(), NOWHERE),
        });
        let slot = self.slot(&queue, local(&of.pending));
        if self.is_tso() {
            let number = match index {
                None => number(target.first),
                Some(index) => op(BinaryOp::Add, number(target.first), index),
            };
            code.push(put(&group.place, slot.clone(), number));
        }
        if self.has_flags() {
            code.push(put(&group.used, slot.clone(), number(1)));
        }
        code.push(put(&group.value, slot.clone(), local(stored)));
        if let Some(newest) = &self.segment {
            code.push(get(&of.other, newest, self.own()));
            code.push(put(&group.segment, slot, local(&of.other)));
        }
        if self.encoding == Encoding::Direct {
            let more = op(BinaryOp::Add, local(&of.pending), number(1));
            code.push(put(&group.count, queue, more));
        }
        code
    }

    /// Leaves in `pending` the slot that the next store to a queue goes to.
    fn next_slot(&self, group: &Group, queue: &Expr) -> Vec<Stmt> {
        let of = &self.temporaries;
        if self.encoding == Encoding::Direct {
            return vec![get(&of.pending, &group.count, queue.clone())];
        }
        let mut code = vec![set(&of.pending, number(0))];
        for slot in 0..self.bound {
            code.push(self.occupied(group, queue, slot));
            let above = number(slot as i64 + 1);
            let occupied = op(BinaryOp::NotEqual, local(&of.place), number(0));
            let next = conditional(occupied, above, local(&of.pending));
            code.push(set(&of.pending, next));
        }
        code
    }

    /// `rba`: leaves in `place` something other than 0 if a slot is occupied.
    pub fn occupied(&self, group: &Group, queue: &Expr, slot: usize) -> Stmt {
        let array = match self.is_tso() {
            true => &group.place,
            false => &group.used,
        };
        let slot = self.slot(queue, number(slot as i64));
        get(&self.temporaries.place, array, slot)
    }

    /// A load of a place that the process may have stored to: memory, unless a slot has it; a
    /// newer slot comes later.
    pub fn load(&self, into: &str, place: &Place, at: usize, target: &Target) -> Vec<Stmt> {
        let of = &self.temporaries;
        let group = self.group_of(at);
        let value = self.value(group.domain);
        let index = place.index.as_ref().map(|index| (**index).clone());
        let queue = self.queue(group, index.clone().filter(|_| !self.is_tso()));
        let mut code = self.may_load();
        code.push(load(&of.found, place.clone(), NOWHERE));
        let mut look = |occupied: Stmt, slot: Expr, holds: Expr| {
            let found = conditional(holds, local(value), local(&of.found));
            code.push(occupied);
            code.push(get(value, &group.value, self.slot(&queue, slot)));
            code.push(set(&of.found, found));
        };
        if !self.is_tso() && self.encoding == Encoding::Direct {
            let any = op(BinaryOp::Greater, local(&of.pending), number(0));
            let newest = op(BinaryOp::Sub, local(&of.pending), number(1));
            let newest = conditional(any.clone(), newest, number(0));
            look(get(&of.pending, &group.count, queue.clone()), newest, any);
        } else {
            for slot in 0..self.bound {
                let holds = match (self.is_tso(), &index) {
                    (false, _) => op(BinaryOp::NotEqual, local(&of.place), number(0)),
                    (true, None) => op(BinaryOp::Equal, local(&of.place), number(target.first)),
                    (true, Some(index)) => {
                        let wanted = op(BinaryOp::Add, number(target.first), index.clone());
                        op(BinaryOp::Equal, local(&of.place), wanted)
                    }
                };
                let occupied = self.occupied(group, &queue, slot);
                look(occupied, number(slot as i64), holds);
            }
        }
        code.push(set(into, local(&of.found)));
        code
    }

    /// What a load waits for: the stores before a store-load fence.
    pub fn may_load(&self) -> Vec<Stmt> {
        if !self.store_load {
            return Vec::new();
        }
        self.for_each_queue(|group, queue| {
            let none = op(BinaryOp::Equal, local(&self.temporaries.other), number(0));
            vec![
                get(&self.temporaries.other, &group.waiting, queue.clone()),
                assume(none, NOWHERE),
            ]
        })
    }

    /// Waits until all own queues are empty.
    pub fn drained(&self) -> Vec<Stmt> {
        self.for_each_queue(|group, queue| self.empty(group, queue))
    }

    /// Waits until a queue is empty.
    fn empty(&self, group: &Group, queue: &Expr) -> Vec<Stmt> {
        let of = &self.temporaries;
        let none = |of: &str| assume(op(BinaryOp::Equal, local(of), number(0)), NOWHERE);
        if self.encoding == Encoding::Direct {
            return vec![
                get(&of.pending, &group.count, queue.clone()),
                none(&of.pending),
            ];
        }
        let slots = 0..self.bound;
        let slots = slots.flat_map(|slot| [self.occupied(group, queue, slot), none(&of.place)]);
        slots.collect()
    }

    /// Waits for what a read-modify-write of a place waits for.
    pub fn may_update(&self, place: &Place) -> Vec<Stmt> {
        if self.is_tso() || self.atomics == Atomics::DrainAll {
            return self.drained();
        }
        let mut code = self.may_load();
        if let Some(newest) = &self.segment {
            let other = &self.temporaries.other;
            code.push(get(other, newest, self.own()));
            let first = op(BinaryOp::Equal, local(other), number(1));
            code.push(assume(first, NOWHERE));
        }
        if let Some((at, _)) = self.target(&place.name.text) {
            let group = self.group_of(at);
            let index = place.index.as_ref().map(|index| (**index).clone());
            code.extend(self.empty(group, &self.queue(group, index)));
        }
        code
    }

    /// A fence of any kind.
    pub fn fence(&self, kind: FenceKind) -> Vec<Stmt> {
        match kind {
            FenceKind::Full => self.drained(),
            FenceKind::StoreLoad => self.for_each_queue(|group, queue| {
                let mut code = self.length(group, queue);
                let pending = local(&self.temporaries.pending);
                code.push(put(&group.waiting, queue.clone(), pending));
                code
            }),
            FenceKind::StoreStore => self.new_segment(),
        }
    }

    /// Leaves the number of pending stores of a queue in `pending`.
    fn length(&self, group: &Group, queue: &Expr) -> Vec<Stmt> {
        let of = &self.temporaries;
        if self.encoding == Encoding::Direct {
            return vec![get(&of.pending, &group.count, queue.clone())];
        }
        let mut code = vec![set(&of.pending, number(0))];
        for slot in 0..self.bound {
            code.push(self.occupied(group, queue, slot));
            let occupied = op(BinaryOp::NotEqual, local(&of.place), number(0));
            let more = op(BinaryOp::Add, local(&of.pending), occupied);
            code.push(set(&of.pending, more));
        }
        code
    }

    /// A store-store fence: later stores belong to a new segment, if the newest one holds any.
    fn new_segment(&self) -> Vec<Stmt> {
        let of = &self.temporaries;
        let Some(newest) = &self.segment else {
            return Vec::new();
        };
        let mut code = vec![
            get(&of.other, newest, self.own()),
            set(&of.least, local(&of.other)),
        ];
        // `least` becomes the next number as soon as a slot of the newest segment is found.
        code.extend(self.for_each_slot(|group, slot| {
            let same = op(BinaryOp::Equal, local(&of.segment), local(&of.other));
            let next = op(BinaryOp::Add, local(&of.other), number(1));
            vec![
                get(&of.segment, &group.segment, slot),
                set(&of.least, conditional(same, next, local(&of.least))),
            ]
        }));
        code.push(put(newest, self.own(), local(&of.least)));
        code
    }

    /// Code for each own slot.
    pub fn for_each_slot(&self, code: impl Fn(&Group, Expr) -> Vec<Stmt>) -> Vec<Stmt> {
        self.for_each_queue(|group, queue| {
            let slots = (0..self.bound).map(|slot| self.slot(queue, number(slot as i64)));
            slots.flat_map(|slot| code(group, slot)).collect()
        })
    }

    /// Code for each own queue.
    pub fn for_each_queue(&self, code: impl Fn(&Group, &Expr) -> Vec<Stmt>) -> Vec<Stmt> {
        let mut all = Vec::new();
        for group in &self.groups {
            for at in 0..group.cells {
                let at = (group.cells > 1).then(|| number(at as i64));
                all.extend(code(group, &self.queue(group, at)));
            }
        }
        all
    }
}

/// A local assignment.
pub fn set(target: &str, value: Expr) -> Stmt {
    assign(target, value, NOWHERE)
}

/// A load of a cell.
pub fn get(target: &str, array: &str, index: Expr) -> Stmt {
    load(target, cell(array, index), NOWHERE)
}

/// A store to a cell.
pub fn put(array: &str, index: Expr, value: Expr) -> Stmt {
    store(cell(array, index), value, NOWHERE)
}
