//! Reading and writing objects, and memory orders.
//!
//! What an order costs is what compilers emit for these machines: a release store comes behind
//! a store-store fence, a sequentially consistent one has a full fence behind it as well, and a
//! sequentially consistent update one on both sides. Loads cost nothing, and under TSO neither
//! do store-store fences.

use super::lowering::{Lowering, Read};
use super::object::spread;
use super::objects::{STRIDE, bits};
use super::operand::{Lvalue, Operand, Val, Where, equal};
use super::types::{Number, Type};
use crate::program::{
    BinaryOp, Expr, Fault, FenceKind, Instr, Label, LocalId, MachineOp, PlaceRef, Update, Value,
};
use crate::source::Span;
use lang_c::ast::{BinaryOperator, Expression};
use lang_c::span::{Node, Span as Piece};

/// The memory order of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
    /// Relaxed, consume or acquire: nothing is waited for.
    Relaxed,
    Release,
    SequentiallyConsistent,
}

impl Order {
    /// The order with this number in `<stdatomic.h>`.
    pub fn numbered(number: Value) -> Option<Order> {
        match number {
            0..=2 => Some(Order::Relaxed),
            3 | 4 => Some(Order::Release),
            5 => Some(Order::SequentiallyConsistent),
            _ => None,
        }
    }

    /// The order of accesses by plain operators.
    pub fn of(atomic: bool) -> Order {
        match atomic {
            true => Order::SequentiallyConsistent,
            false => Order::Relaxed,
        }
    }
}

impl<'a> Lowering<'a> {
    /// The value of an object; an array becomes a pointer to its first element.
    pub fn read(&mut self, object: Lvalue, piece: Piece) -> Read<Operand> {
        match object.ty.ty.clone() {
            Type::Array(element, len) => {
                if let Where::Memory { region, .. } = &object.at {
                    // A pointer to the first element may go on to all others.
                    let places = Value::from(self.places(piece, &element.ty)?);
                    let all = spread(region, places * STRIDE, len);
                    self.address_taken(&element.ty, &all);
                }
                let mut first = object;
                first.ty = (*element).clone();
                Ok(self.address_of(first))
            }
            Type::Struct(_) => Ok(Operand {
                ty: object.ty.ty.clone(),
                value: Val::Object(Box::new(object)),
            }),
            Type::Void | Type::Function => self.error(piece, "this has no value"),
            ty => {
                let span = self.span(piece);
                let value = self.load(&object, span);
                Ok(Operand::scalar(ty, value))
            }
        }
    }

    /// Loads a scalar.
    pub fn load(&mut self, object: &Lvalue, span: Span) -> Expr<LocalId> {
        let number = object.ty.ty.number().expect("a scalar is loaded");
        match &object.at {
            Where::Locals {
                first,
                offset,
                offsets,
                ..
            } => {
                let local = |at: &Value| Expr::Atom(LocalId(first.0 + *at as u32));
                if let Some(at) = offset.constant() {
                    return local(&at);
                }
                let mut all = offsets.iter().rev();
                let last = all.next().map_or(Expr::Const(0), local);
                all.fold(last, |otherwise, at| {
                    let here = equal(offset.clone(), Expr::Const(*at));
                    Expr::Conditional(Box::new(here), Box::new(local(at)), Box::new(otherwise))
                })
            }
            Where::Memory { .. } => match self.checked_place(object, span) {
                None => Expr::Const(0),
                Some(place) => {
                    let local = self.code.temporary(number.domain());
                    self.code.emit(Instr::Load { local, place }, span);
                    Expr::Atom(local)
                }
            },
        }
    }

    /// Stores a scalar of the object's type.
    pub fn store(&mut self, object: &Lvalue, value: Expr<LocalId>, order: Order, span: Span) {
        match &object.at {
            Where::Locals {
                first,
                offset,
                offsets,
                ..
            } => {
                let local = |at: Value| LocalId(first.0 + at as u32);
                if let Some(at) = offset.constant() {
                    self.code.assign(local(at), value, span);
                    return;
                }
                for at in offsets.iter() {
                    let here = equal(offset.clone(), Expr::Const(*at));
                    let same = Expr::Atom(local(*at));
                    let chosen =
                        Expr::Conditional(Box::new(here), Box::new(value.clone()), Box::new(same));
                    self.code.assign(local(*at), chosen, span);
                }
            }
            Where::Memory { .. } => {
                let Some(place) = self.checked_place(object, span) else {
                    return;
                };
                if order >= Order::Release {
                    self.fence(FenceKind::StoreStore, span);
                }
                let label = Label(0);
                let store = Instr::Store {
                    place,
                    value,
                    label,
                };
                self.code.emit(store, span);
                if order == Order::SequentiallyConsistent {
                    self.fence(FenceKind::Full, span);
                }
            }
        }
    }

    /// A fence that a memory order implies.
    fn fence(&mut self, kind: FenceKind, span: Span) {
        self.ordered.insert(span);
        self.code.emit(Instr::Fence(kind), span);
    }

    /// The place of a scalar in memory, which must not have been freed.
    fn checked_place(&mut self, object: &Lvalue, span: Span) -> Option<PlaceRef> {
        if let Where::Memory { address, region } = &object.at {
            let (address, region) = (address.clone(), region.clone());
            self.check_use(&address, &region, span);
        }
        self.place(object, span)
    }

    /// The place of a scalar in memory; if there is none, the process fails here.
    fn place(&mut self, object: &Lvalue, span: Span) -> Option<PlaceRef> {
        let Where::Memory { address, region } = &object.at else {
            unreachable!("only objects in memory have places");
        };
        let wanted = bits(&object.ty.ty);
        // What other processes have is known from the reading before.
        let find = |address: Value| {
            let own = self.objects.place(address);
            let own = own.map(|(place, leaf)| (place, bits(&leaf.ty.ty)));
            let found = own.or_else(|| self.known.scalars.get(&address).copied());
            found.and_then(|(place, bits)| (bits == wanted).then_some(place))
        };
        if let Some(known) = address.constant() {
            if let Some(place) = find(known) {
                return Some(PlaceRef::Scalar(place));
            }
            let fault = match known {
                0 => Fault::NullPointer,
                _ => Fault::WildPointer,
            };
            self.code.require(Expr::Const(0), fault, span);
            return None;
        }
        let targets = region
            .iter()
            .filter_map(|address| Some((*address, find(*address)?)));
        Some(PlaceRef::Computed {
            address: address.clone(),
            targets: targets.collect(),
        })
    }

    /// A read-modify-write; gives the old value.
    pub fn update(
        &mut self,
        object: &Lvalue,
        op: Update,
        order: Order,
        span: Span,
    ) -> Expr<LocalId> {
        let number = object.ty.ty.number().expect("a scalar is updated");
        if let Where::Locals { .. } = object.at {
            let old = self.code.temporary(number.domain());
            let value = self.load(object, span);
            self.code.assign(old, value, span);
            let before = Expr::Atom(old);
            let new = match op {
                Update::Cas { expected, new } | Update::CasOld { expected, new } => {
                    let hit = equal(before.clone(), expected);
                    Expr::Conditional(Box::new(hit), Box::new(new), Box::new(before.clone()))
                }
                Update::Swap(value) => value,
                Update::Apply(op, value) => {
                    Expr::Binary(op, Box::new(before.clone()), Box::new(value))
                }
            };
            self.store(object, new, Order::Relaxed, span);
            return before;
        }
        let Some(place) = self.checked_place(object, span) else {
            return Expr::Const(0);
        };
        match order {
            Order::Relaxed => {}
            Order::Release => self.fence(FenceKind::StoreStore, span),
            Order::SequentiallyConsistent => self.fence(FenceKind::Full, span),
        }
        let local = self.code.temporary(number.domain());
        let update = Instr::Update {
            local,
            place,
            op,
            waits: true,
        };
        self.code.emit(update, span);
        if order == Order::SequentiallyConsistent {
            self.fence(FenceKind::Full, span);
        }
        Expr::Atom(local)
    }

    /// `left = right`
    pub fn assignment(
        &mut self,
        left: &'a Node<Expression>,
        right: &'a Node<Expression>,
        piece: Piece,
    ) -> Read<Operand> {
        let value = self.value_for(right, left)?;
        let object = self.object(left)?;
        self.assign(&object, value, Order::of(object.ty.atomic), piece)
    }

    /// The value of the right side of an assignment; what `malloc` gives is known by what it is
    /// assigned to.
    fn value_for(
        &mut self,
        right: &'a Node<Expression>,
        left: &'a Node<Expression>,
    ) -> Read<Operand> {
        if super::heap::is_allocation(right) {
            let wanted = self.type_of(left)?;
            return self.allocated(right, &wanted);
        }
        self.value(right)
    }

    /// Gives an object a value; the result is the new value.
    pub fn assign(
        &mut self,
        object: &Lvalue,
        value: Operand,
        order: Order,
        piece: Piece,
    ) -> Read<Operand> {
        let span = self.span(piece);
        if let Type::Struct(_) = object.ty.ty {
            let Val::Object(from) = value.value else {
                return self.error(piece, "a structure is needed here");
            };
            return self.copy(object, &from, piece);
        }
        let value = self.converted(value, &object.ty.ty, piece)?;
        if let (Val::ToLocal(_), Where::Locals { .. }) = (&value.value, &object.at) {
            // The pointer is stored in a variable: its target needs an address.
            let value = self.scalar(value.clone(), piece)?;
            self.store(object, value, order, span);
            return Ok(Operand::scalar(object.ty.ty.clone(), Expr::Const(0)));
        }
        let value = self.scalar(value, piece)?;
        match &object.at {
            Where::Locals { first, offset, .. } => {
                self.store(object, value, order, span);
                let result = match offset.constant() {
                    Some(at) => Expr::Atom(LocalId(first.0 + at as u32)),
                    None => self.load(object, span),
                };
                Ok(Operand::scalar(object.ty.ty.clone(), result))
            }
            Where::Memory { .. } => {
                self.store(object, value.clone(), order, span);
                Ok(Operand::scalar(object.ty.ty.clone(), value))
            }
        }
    }

    /// Copies a structure, scalar by scalar.
    pub fn copy(&mut self, to: &Lvalue, from: &Lvalue, piece: Piece) -> Read<Operand> {
        if to.ty.ty != from.ty.ty {
            return self.error(piece, "structures of different types");
        }
        let span = self.span(piece);
        let leaves = self.structs.leaves(&to.ty);
        for (offset, leaf) in leaves.into_iter().enumerate() {
            let source = self.part(from, offset as u32, leaf.ty.clone());
            let target = self.part(to, offset as u32, leaf.ty.clone());
            let value = self.load(&source, span);
            self.store(&target, value, Order::Relaxed, span);
        }
        Ok(Operand {
            ty: to.ty.ty.clone(),
            value: Val::Object(Box::new(to.clone())),
        })
    }

    /// `left op= right`
    pub fn compound(
        &mut self,
        left: &'a Node<Expression>,
        op: BinaryOperator,
        right: &'a Node<Expression>,
        piece: Piece,
    ) -> Read<Operand> {
        let object = self.object(left)?;
        let right = self.value(right)?;
        self.modify(&object, &op, right, piece, false)
    }

    /// `++` and `--`
    pub fn step(
        &mut self,
        operand: &'a Node<Expression>,
        op: MachineOp,
        old: bool,
        piece: Piece,
    ) -> Read<Operand> {
        let object = self.object(operand)?;
        let op = match op {
            MachineOp::Add => BinaryOperator::Plus,
            _ => BinaryOperator::Minus,
        };
        self.modify(&object, &op, Operand::int(1), piece, old)
    }

    /// Combines an object with a value; gives the old or the new value.
    fn modify(
        &mut self,
        object: &Lvalue,
        op: &BinaryOperator,
        by: Operand,
        piece: Piece,
        old: bool,
    ) -> Read<Operand> {
        let span = self.span(piece);
        let ty = object.ty.ty.clone();
        if object.ty.atomic && matches!(object.at, Where::Memory { .. }) {
            let Some(machine) = wrapping(op) else {
                return self.modify_in_a_loop(object, op, by, piece, old);
            };
            let order = Order::SequentiallyConsistent;
            let (before, operand) = self.fetch(object, machine, by, order, piece)?;
            let result = match old {
                true => before,
                false => self.combined(&ty, machine, before, operand),
            };
            return Ok(Operand::scalar(ty, result));
        }
        let number = match ty.number() {
            Some(number) if ty.is_scalar() => number,
            _ => return self.error(piece, "a number or pointer is needed here"),
        };
        let before = self.load(object, span);
        let before = match old {
            false => before,
            true => {
                let kept = self.code.temporary(number.domain());
                self.code.assign(kept, before, span);
                Expr::Atom(kept)
            }
        };
        let value = Operand::scalar(ty.clone(), before.clone());
        let new = self.arithmetic(op, value, by, piece)?;
        let result = self.assign(object, new, Order::Relaxed, piece)?;
        Ok(match old {
            true => Operand::scalar(ty, before),
            false => result,
        })
    }

    /// What no machine does in one step is tried until nobody comes between.
    fn modify_in_a_loop(
        &mut self,
        object: &Lvalue,
        op: &BinaryOperator,
        by: Operand,
        piece: Piece,
        old: bool,
    ) -> Read<Operand> {
        let span = self.span(piece);
        let ty = object.ty.ty.clone();
        let by = self.kept(by, piece)?;
        let (head, end) = (self.code.location(), self.code.location());
        self.code.pass_to(head, span);
        let before = self.load(object, span);
        let value = Operand::scalar(ty.clone(), before.clone());
        let new = self.arithmetic(op, value, by, piece)?;
        let new = self.converted(new, &ty, piece)?;
        let new = self.kept(new, piece)?;
        let new = self.scalar(new, piece)?;
        let swap = Update::CasOld {
            expected: before.clone(),
            new: new.clone(),
        };
        let found = self.update(object, swap, Order::SequentiallyConsistent, span);
        self.code
            .branch(equal(found, before.clone()), end, head, span);
        self.code.at = end;
        Ok(Operand::scalar(ty, if old { before } else { new }))
    }

    /// An atomic operation; gives the old value and the operand as they are combined.
    pub fn fetch(
        &mut self,
        object: &Lvalue,
        op: MachineOp,
        by: Operand,
        order: Order,
        piece: Piece,
    ) -> Read<(Expr<LocalId>, Expr<LocalId>)> {
        let span = self.span(piece);
        let ty = object.ty.ty.clone();
        let operand = match &ty {
            // A pointer moves by whole elements.
            Type::Pointer(to) => {
                let places = Value::from(self.places(piece, &to.ty)?);
                let by = self.converted(by, &Type::UNSIGNED_LONG, piece)?;
                let by = self.scalar(by, piece)?;
                let scale = Expr::Const(places * STRIDE);
                super::operand::machine(MachineOp::Mul, Number::UNSIGNED_LONG, by, scale)
            }
            Type::Int(_) => {
                let by = self.converted(by, &ty, piece)?;
                self.scalar(by, piece)?
            }
            _ => return self.error(piece, "a number or pointer is needed here"),
        };
        let number = ty.number().expect("a scalar");
        let apply = Update::Apply(BinaryOp::Machine(op, number.int), operand.clone());
        let old = self.update(object, apply, order, span);
        Ok((old, operand))
    }

    /// What an atomic operation leaves.
    pub fn combined(
        &self,
        ty: &Type,
        op: MachineOp,
        old: Expr<LocalId>,
        operand: Expr<LocalId>,
    ) -> Expr<LocalId> {
        let number = ty.number().expect("a scalar");
        super::operand::machine(op, number, old, operand)
    }
}

/// The operation that an atomic object makes of an operator: it wraps around.
pub fn wrapping(op: &BinaryOperator) -> Option<MachineOp> {
    Some(match op {
        BinaryOperator::Plus => MachineOp::WrappingAdd,
        BinaryOperator::Minus => MachineOp::WrappingSub,
        BinaryOperator::BitwiseAnd => MachineOp::BitAnd,
        BinaryOperator::BitwiseOr => MachineOp::BitOr,
        BinaryOperator::BitwiseXor => MachineOp::BitXor,
        _ => return None,
    })
}
