//! What memory operations do to the variables that hold buffers, as straight-line code.

use super::queues::{Buffer, Group, Target, cell};
use super::{Encoding, NOWHERE, Overflow, conditional, named as local, number, op};
use crate::import::build::{assign, assume, expr, load, stmt, store};
use crate::lang::ast::{Expr, ExprKind, Place, Stmt, StmtKind};
use crate::memory::Atomics;
use crate::program::{BinaryOp, FenceKind};

/// Straight-line code, one step long; of several, one is possible.
pub type Ways = Vec<Vec<Stmt>>;

impl Buffer {
    /// A store into the buffer. An integer without bound goes to a slot that is known where it is
    /// stored, so that there is a way for each.
    pub fn store(&self, place: &Place, value: &Expr, at: usize, target: &Target) -> Ways {
        let of = &self.temporaries;
        let stored = self.value(target.domain);
        self.at_cells(place, target, &|mut code, index| {
            let group = self.group_of(at);
            code.push(set(stored, value.clone()));
            let index = index.map(|index| match target.is_integer() {
                true => index,
                false => {
                    // A local of the range of indices makes a fault of an index outside.
                    code.push(set(&of.cell, index));
                    local(&of.cell)
                }
            });
            let queue = self.queue(group, index.clone().filter(|_| !self.is_tso()));
            code.extend(self.next_slot(group, &queue));
            let no_room = match self.overflow {
                Overflow::Abort => stmt(StmtKind::Assert(self.room()), NOWHERE),
                Overflow::Wait => assume(self.room(), NOWHERE),
            };
            let put = |slot: Expr| self.put(target, group, &queue, slot, index.clone());
            if !target.is_integer() {
                code.push(no_room);
                code.extend(put(local(&of.pending)));
                return vec![code];
            }
            let slots = (0..self.bound).map(|slot| number(slot as i64));
            let mut ways: Ways = slots
                .map(|slot| self.way(&code, &slot, put(slot.clone())))
                .collect();
            if self.overflow == Overflow::Abort {
                let full = number(self.bound as i64);
                ways.push(self.way(&code, &full, vec![no_room]));
            }
            ways
        })
    }

    /// The code, if `pending` has this value, and then more.
    fn way(&self, code: &[Stmt], pending: &Expr, more: Vec<Stmt>) -> Vec<Stmt> {
        let known = op(
            BinaryOp::Equal,
            local(&self.temporaries.pending),
            pending.clone(),
        );
        let mut code = code.to_vec();
        code.push(assume(known, NOWHERE));
        code.extend(more);
        code
    }

    /// Puts the stored value into a slot of a queue.
    fn put(
        &self,
        target: &Target,
        group: &Group,
        queue: &Expr,
        at: Expr,
        index: Option<Expr>,
    ) -> Vec<Stmt> {
        let of = &self.temporaries;
        let slot = self.slot(queue, at);
        let mut code = Vec::new();
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
        let stored = local(self.value(target.domain));
        code.push(put(group.array(target), slot.clone(), stored));
        if let Some(newest) = &self.segment {
            code.push(get(&of.other, newest, self.own()));
            code.push(put(&group.segment, slot, local(&of.other)));
        }
        if self.encoding == Encoding::Direct {
            let more = op(BinaryOp::Add, local(&of.pending), number(1));
            code.push(put(&group.count, queue.clone(), more));
        }
        code
    }

    /// What is done at a place whose index may be an integer without bound: then there are ways
    /// for each cell.
    fn at_cells(
        &self,
        place: &Place,
        target: &Target,
        ways: &dyn Fn(Vec<Stmt>, Option<Expr>) -> Ways,
    ) -> Ways {
        let Some(index) = self.index(place, target) else {
            return ways(Vec::new(), None);
        };
        if !self.mentions_integers(&index) {
            return ways(Vec::new(), Some(index));
        }
        let low = op(BinaryOp::LessEqual, number(0), index.clone());
        let high = op(BinaryOp::Less, index.clone(), number(target.cells()));
        let inside = stmt(StmtKind::Assert(op(BinaryOp::And, low, high)), NOWHERE);
        let cells = (0..target.cells()).flat_map(|cell| {
            let here = op(BinaryOp::Equal, index.clone(), number(cell));
            let code = vec![inside.clone(), assume(here, NOWHERE)];
            ways(code, Some(number(cell)))
        });
        cells.collect()
    }

    /// The index of a cell among all cells of an array. Where there are rows and columns, a
    /// column that is none gives an index that is none.
    fn index(&self, place: &Place, target: &Target) -> Option<Expr> {
        let index = place.index.as_deref()?;
        let (ExprKind::Pair { row, column }, Some(columns)) = (&index.kind, target.columns) else {
            return Some(index.clone());
        };
        let columns = i64::from(columns);
        let before = op(BinaryOp::Mul, (**row).clone(), number(columns));
        let flat = op(BinaryOp::Add, before, (**column).clone());
        let low = op(BinaryOp::LessEqual, number(0), (**column).clone());
        let high = op(BinaryOp::Less, (**column).clone(), number(columns));
        Some(conditional(op(BinaryOp::And, low, high), flat, number(-1)))
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

    /// A load of a place that the process may have stored to.
    pub fn load(&self, into: &str, place: &Place, at: usize, target: &Target) -> Ways {
        self.at_cells(place, target, &|mut code, index| {
            let group = self.group_of(at);
            let queue = self.queue(group, index.clone().filter(|_| !self.is_tso()));
            code.extend(self.may_load());
            let place = match &place.index {
                Some(whole) if self.mentions_integers(whole) => {
                    let cell = index.clone().expect("it has an index");
                    self.cell_of(target, cell)
                }
                _ => place.clone(),
            };
            match target.is_integer() {
                false => {
                    code.extend(self.load_bounded(into, &place, (group, target), &queue, index));
                    vec![code]
                }
                true => {
                    code.extend(self.newest_slot(group, target, &queue, index));
                    let slots = (0..self.bound).map(|slot| {
                        let found = self.slot(&queue, number(slot as i64));
                        let found = get(into, &group.integer, found);
                        self.way(&code, &number(slot as i64 + 1), vec![found])
                    });
                    let memory = vec![load(into, place.clone(), NOWHERE)];
                    let mut ways = vec![self.way(&code, &number(0), memory)];
                    ways.extend(slots);
                    ways
                }
            }
        })
    }

    /// Leaves in `pending` 1 more than the newest slot with a store to a place, or else 0.
    fn newest_slot(
        &self,
        group: &Group,
        target: &Target,
        queue: &Expr,
        index: Option<Expr>,
    ) -> Vec<Stmt> {
        let of = &self.temporaries;
        if !self.is_tso() && self.encoding == Encoding::Direct {
            return vec![get(&of.pending, &group.count, queue.clone())];
        }
        let mut code = vec![set(&of.pending, number(0))];
        for slot in 0..self.bound {
            code.push(self.occupied(group, queue, slot));
            let above = number(slot as i64 + 1);
            let holds = self.holds(target, index.as_ref());
            code.push(set(
                &of.pending,
                conditional(holds, above, local(&of.pending)),
            ));
        }
        code
    }

    /// Whether `place` says that a slot has a store to a place.
    fn holds(&self, target: &Target, index: Option<&Expr>) -> Expr {
        let place = local(&self.temporaries.place);
        match (self.is_tso(), index) {
            (false, _) => op(BinaryOp::NotEqual, place, number(0)),
            (true, None) => op(BinaryOp::Equal, place, number(target.first)),
            (true, Some(index)) => {
                let wanted = op(BinaryOp::Add, number(target.first), index.clone());
                op(BinaryOp::Equal, place, wanted)
            }
        }
    }

    /// A load of a value with bounds: memory, unless a slot has it; a newer slot comes later.
    fn load_bounded(
        &self,
        into: &str,
        place: &Place,
        (group, target): (&Group, &Target),
        queue: &Expr,
        index: Option<Expr>,
    ) -> Vec<Stmt> {
        let of = &self.temporaries;
        let value = self.value(group.domain.expect("it holds values with bounds"));
        let mut code = vec![load(&of.found, place.clone(), NOWHERE)];
        let mut look = |occupied: Stmt, slot: Expr, holds: Expr| {
            let found = conditional(holds, local(value), local(&of.found));
            code.push(occupied);
            code.push(get(value, &group.value, self.slot(queue, slot)));
            code.push(set(&of.found, found));
        };
        if !self.is_tso() && self.encoding == Encoding::Direct {
            let any = op(BinaryOp::Greater, local(&of.pending), number(0));
            let newest = op(BinaryOp::Sub, local(&of.pending), number(1));
            let newest = conditional(any.clone(), newest, number(0));
            look(get(&of.pending, &group.count, queue.clone()), newest, any);
        } else {
            for slot in 0..self.bound {
                let holds = self.holds(target, index.as_ref());
                let occupied = self.occupied(group, queue, slot);
                look(occupied, number(slot as i64), holds);
            }
        }
        code.push(set(into, local(&of.found)));
        code
    }

    /// The cell of a target with an index among all of its cells.
    pub fn cell_of(&self, target: &Target, index: Expr) -> Place {
        let index = match target.columns {
            None => index,
            Some(columns) => {
                let columns = || number(columns.into());
                let row = Box::new(op(BinaryOp::Div, index.clone(), columns()));
                let column = Box::new(op(BinaryOp::Rem, index, columns()));
                expr(ExprKind::Pair { row, column }, NOWHERE)
            }
        };
        cell(&target.name, index)
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
    pub fn may_update(&self, place: &Place) -> Ways {
        if self.is_tso() || self.atomics == Atomics::DrainAll {
            return vec![self.drained()];
        }
        let mut code = self.may_load();
        if let Some(newest) = &self.segment {
            let other = &self.temporaries.other;
            code.push(get(other, newest, self.own()));
            let first = op(BinaryOp::Equal, local(other), number(1));
            code.push(assume(first, NOWHERE));
        }
        let Some((at, target)) = self.target(&place.name.text) else {
            return vec![code];
        };
        self.at_cells(place, target, &|mut ways, index| {
            let group = self.group_of(at);
            ways.extend(code.iter().cloned());
            ways.extend(self.empty(group, &self.queue(group, index)));
            vec![ways]
        })
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
