//! Objects and their parts, and pointers to them.

use super::lowering::{Entity, Lowering, Read, Storage, Variable};
use super::objects::STRIDE;
use super::operand::{Lvalue, Operand, Region, Val, Where, binary, convert, less, machine};
use super::types::{Number, Qualified, Type};
use crate::program::{BinaryOp, Expr, Fault, LocalId, MachineOp, Value};
use lang_c::ast::*;
use lang_c::span::{Node, Span as Piece};
use std::rc::Rc;

impl<'a> Lowering<'a> {
    /// Whether an expression names an object.
    pub fn is_object(&self, expr: &Node<Expression>) -> bool {
        match &expr.node {
            Expression::Identifier(name) => {
                matches!(self.lookup(&name.node.name), Some(Entity::Variable(variable))
                    if !matches!(variable.storage, Storage::Value(_)))
            }
            Expression::Member(_) | Expression::CompoundLiteral(_) => true,
            Expression::UnaryOperator(unary) => {
                unary.node.operator.node == UnaryOperator::Indirection
            }
            Expression::BinaryOperator(operation) => {
                operation.node.operator.node == BinaryOperator::Index
            }
            _ => false,
        }
    }

    /// The object that an expression names.
    pub fn object(&mut self, expr: &'a Node<Expression>) -> Read<Lvalue> {
        let piece = expr.span;
        match &expr.node {
            Expression::Identifier(name) => {
                let name = &name.node.name;
                match self.lookup(name).cloned() {
                    Some(Entity::Variable(variable)) => match variable.storage {
                        Storage::Value(_) => self.error(piece, "this parameter has no place"),
                        _ => Ok(self.variable(&variable)),
                    },
                    Some(_) => self.error(piece, format!("'{name}' is no variable")),
                    None => self.error(piece, format!("'{name}' is not declared")),
                }
            }
            Expression::Member(member) => {
                let member = &member.node;
                let whole = match member.operator.node {
                    MemberOperator::Indirect => {
                        let pointer = self.value(&member.expression)?;
                        self.follow(pointer, piece)?
                    }
                    MemberOperator::Direct if self.is_object(&member.expression) => {
                        self.object(&member.expression)?
                    }
                    MemberOperator::Direct => match self.value(&member.expression)?.value {
                        Val::Object(object) => *object,
                        _ => return self.error(piece, "this is no structure"),
                    },
                };
                let name = &member.identifier.node.name;
                let field = match whole.ty.ty {
                    Type::Struct(id) => self.structs.field(id, name),
                    _ => None,
                };
                let Some((offset, ty)) = field else {
                    let ty = self.structs.name(&whole.ty.ty);
                    return self.error(
                        member.identifier.span,
                        format!("'{ty}' has no field '{name}'"),
                    );
                };
                Ok(self.part(&whole, offset, ty))
            }
            Expression::BinaryOperator(operation)
                if operation.node.operator.node == BinaryOperator::Index =>
            {
                let (array, index) = (&operation.node.lhs, &operation.node.rhs);
                self.indexed(array, index, piece, true)
            }
            Expression::UnaryOperator(unary)
                if unary.node.operator.node == UnaryOperator::Indirection =>
            {
                let pointer = self.value(&unary.node.operand)?;
                self.follow(pointer, piece)
            }
            Expression::CompoundLiteral(literal) => {
                let ty = self.type_name(&literal.node.type_name)?;
                let storage = self.automatic(piece, "literal", &ty)?;
                let variable = Variable { ty, storage };
                let object = self.variable(&variable);
                self.list_initializer(&object, &literal.node.initializer_list, piece)?;
                Ok(object)
            }
            Expression::Call(_) | Expression::Conditional(_) | Expression::Statement(_) => {
                match self.value(expr)?.value {
                    Val::Object(object) => Ok(*object),
                    _ => self.error(piece, "this is no object"),
                }
            }
            Expression::Cast(_) => self.error(piece, "the result of a cast is no object"),
            _ => self.error(piece, "this is no object"),
        }
    }

    /// An element of an array, or what a pointer and an index lead to.
    fn indexed(
        &mut self,
        array: &'a Node<Expression>,
        index: &'a Node<Expression>,
        piece: Piece,
        checked: bool,
    ) -> Read<Lvalue> {
        if self.is_object(array) {
            let whole = self.object(array)?;
            if let Type::Array(element, len) = whole.ty.ty.clone() {
                let index = self.value(index)?;
                return self.element(&whole, &element, len, index, piece, checked);
            }
            let pointer = self.read(whole, array.span)?;
            let index = self.value(index)?;
            let moved = self.moved(pointer, index, false, piece)?;
            return self.follow(moved, piece);
        }
        let (pointer, index) = (self.value(array)?, self.value(index)?);
        let moved = match pointer.ty {
            Type::Int(_) => self.moved(index, pointer, false, piece)?,
            _ => self.moved(pointer, index, false, piece)?,
        };
        self.follow(moved, piece)
    }

    /// A part of an object that has so many scalars before it.
    pub fn part(&mut self, whole: &Lvalue, offset: u32, ty: Qualified) -> Lvalue {
        let offset = Value::from(offset);
        let at = match &whole.at {
            Where::Locals {
                first,
                offset: before,
                offsets,
                declared,
            } => Where::Locals {
                first: *first,
                offset: binary(BinaryOp::Add, before.clone(), Expr::Const(offset)),
                offsets: shifted(offsets, offset),
                declared: *declared,
            },
            Where::Memory { address, region } => Where::Memory {
                address: add_address(address.clone(), Expr::Const(offset * STRIDE)),
                region: shifted(region, offset * STRIDE),
            },
        };
        Lvalue { ty, at }
    }

    fn element(
        &mut self,
        array: &Lvalue,
        element: &Qualified,
        len: u32,
        index: Operand,
        piece: Piece,
        checked: bool,
    ) -> Read<Lvalue> {
        let span = self.span(piece);
        let places = Value::from(self.places(piece, &element.ty)?);
        let Some(number) = index.ty.number() else {
            return self.error(piece, "an index is a number");
        };
        let index = self.scalar(index, piece)?;
        let index = convert(index, number, Number::LONG);
        let ty = Qualified {
            ty: element.ty.clone(),
            atomic: element.atomic || array.ty.atomic,
        };
        let last = Value::from(len) - i64::from(checked);
        let inside = match index.constant() {
            Some(index) => (0..=last).contains(&index),
            None => false,
        };
        // In locals, and where a wrong index might lead to another row of the same array,
        // nothing else would notice.
        let bounds = binary(
            BinaryOp::And,
            less(Number::LONG, true, Expr::Const(0), index.clone()),
            less(Number::LONG, true, index.clone(), Expr::Const(last)),
        );
        let fault = Fault::OutsideArray { len };
        let at = match &array.at {
            Where::Locals {
                first,
                offset,
                offsets,
                declared,
            } => {
                if !inside {
                    self.code.require(bounds, fault, span);
                }
                let scaled = machine(MachineOp::Mul, Number::LONG, index, Expr::Const(places));
                Where::Locals {
                    first: *first,
                    offset: machine(MachineOp::Add, Number::LONG, offset.clone(), scaled),
                    offsets: spread(offsets, places, len),
                    declared: *declared,
                }
            }
            Where::Memory { address, region } => {
                let alone = {
                    let mut objects: Vec<_> = region.iter().map(|a| self.objects.at(*a)).collect();
                    objects.dedup();
                    objects.len() == region.len()
                };
                if !inside && (!alone || index.constant().is_some()) {
                    self.code.require(bounds, fault, span);
                }
                let scale = Expr::Const(places * STRIDE);
                let scaled = machine(MachineOp::Mul, Number::UNSIGNED_LONG, index, scale);
                Where::Memory {
                    address: add_address(address.clone(), scaled),
                    region: spread(region, places * STRIDE, len + u32::from(!checked)),
                }
            }
        };
        Ok(Lvalue { ty, at })
    }

    /// What a pointer points to.
    pub fn follow(&mut self, pointer: Operand, piece: Piece) -> Read<Lvalue> {
        let Type::Pointer(to) = pointer.ty.clone() else {
            let ty = self.structs.name(&pointer.ty);
            return self.error(piece, format!("a value of type '{ty}' is no pointer"));
        };
        match pointer.value {
            Val::ToLocal(object) if object.ty.ty == to.ty => Ok(*object),
            Val::Scalar(address, Some(region)) => Ok(Lvalue {
                ty: (*to).clone(),
                at: Where::Memory { address, region },
            }),
            value => {
                let pointer = Operand {
                    ty: pointer.ty,
                    value,
                };
                let address = self.scalar(pointer, piece)?;
                let region = match address.constant() {
                    Some(address) => Rc::new(vec![address]),
                    None => self.addressed_objects(&to.ty),
                };
                Ok(Lvalue {
                    ty: (*to).clone(),
                    at: Where::Memory { address, region },
                })
            }
        }
    }

    /// A pointer to an object.
    pub fn address_of(&mut self, object: Lvalue) -> Operand {
        let ty = Type::pointer(object.ty.clone());
        match object.at {
            Where::Memory { address, region } => {
                self.address_taken(&object.ty.ty, &region);
                Operand {
                    ty,
                    value: Val::Scalar(address, Some(region)),
                }
            }
            Where::Locals { .. } => Operand {
                ty,
                value: Val::ToLocal(Box::new(object)),
            },
        }
    }

    /// A pointer and a number of elements behind it, or before it.
    pub fn moved(
        &mut self,
        pointer: Operand,
        by: Operand,
        back: bool,
        piece: Piece,
    ) -> Read<Operand> {
        let Type::Pointer(to) = pointer.ty.clone() else {
            return self.error(piece, "this is no pointer");
        };
        let Some(number) = by.ty.number() else {
            return self.error(piece, "a pointer is moved by a number");
        };
        let by = self.scalar(by, piece)?;
        if by.constant() == Some(0) {
            return Ok(pointer);
        }
        let places = match to.ty {
            Type::Void => 1,
            ref ty => Value::from(self.places(piece, ty)?),
        };
        let array = match &pointer.value {
            Val::Scalar(_, Some(region)) => self.array_around(region, places * STRIDE),
            _ => None,
        };
        let address = self.scalar(
            Operand {
                ty: pointer.ty.clone(),
                value: pointer.value,
            },
            piece,
        )?;
        let by = convert(by, number, Number::UNSIGNED_LONG);
        let scale = Expr::Const(places * STRIDE);
        let by = machine(MachineOp::Mul, Number::UNSIGNED_LONG, by, scale);
        let op = if back { MachineOp::Sub } else { MachineOp::Add };
        let moved = machine(op, Number::UNSIGNED_LONG, address, by);
        if let Some(array) = array {
            // A pointer may come to lie in its array or just behind it, and nowhere else.
            let (low, high) = (array[0], array[array.len() - 1] + places * STRIDE);
            let long = Number::UNSIGNED_LONG;
            let above = less(long, true, Expr::Const(low), moved.clone());
            let below = less(long, true, moved.clone(), Expr::Const(high));
            let len = array.len() as u32;
            let fault = Fault::OutsideArray { len };
            let span = self.span(piece);
            self.code
                .require(binary(BinaryOp::And, above, below), fault, span);
            return Ok(Operand {
                ty: pointer.ty,
                value: Val::Scalar(moved, Some(Rc::new(array))),
            });
        }
        Ok(Operand::scalar(pointer.ty, moved))
    }

    /// The elements of the array that an address lies in, if it lies in one.
    fn array_around(&self, region: &[Value], distance: Value) -> Option<Vec<Value>> {
        let (first, last) = (*region.first()?, *region.last()?);
        let id = self.objects.at(first)?;
        if self.objects.at(last) != Some(id) {
            return None;
        }
        let base = self.objects.address(id);
        let object = self.objects.get(id);
        let mut around = None;
        self.structs.inside(&object.ty.ty, 0, &mut |ty, offset| {
            let Type::Array(element, len) = ty else {
                return;
            };
            let start = base + STRIDE * Value::from(offset);
            let places = self.structs.places(&element.ty).unwrap_or(0);
            let end = start + distance * Value::from(*len);
            if STRIDE * Value::from(places) == distance && start <= first && last <= end && *len > 0
            {
                let all = (0..Value::from(*len)).map(|index| start + index * distance);
                around = Some(all.collect());
            }
        });
        around
    }

    pub fn address(&mut self, operand: &'a Node<Expression>, piece: Piece) -> Read<Operand> {
        // `&*p` is p, and `&a[i]` may be just behind the array.
        match &operand.node {
            Expression::UnaryOperator(inner)
                if inner.node.operator.node == UnaryOperator::Indirection =>
            {
                return self.value(&inner.node.operand);
            }
            Expression::BinaryOperator(inner)
                if inner.node.operator.node == BinaryOperator::Index =>
            {
                let object = self.indexed(&inner.node.lhs, &inner.node.rhs, piece, false)?;
                return Ok(self.address_of(object));
            }
            Expression::Identifier(name)
                if matches!(self.lookup(&name.node.name), Some(Entity::Function)) =>
            {
                return self.value(operand);
            }
            _ => {}
        }
        let object = self.object(operand)?;
        Ok(self.address_of(object))
    }
}

fn shifted(region: &Region, by: Value) -> Region {
    match by {
        0 => region.clone(),
        by => Rc::new(region.iter().map(|address| address + by).collect()),
    }
}

/// All multiples of a distance behind all addresses.
pub fn spread(region: &Region, distance: Value, count: u32) -> Region {
    let all = region
        .iter()
        .flat_map(|address| (0..Value::from(count)).map(move |index| address + index * distance));
    let mut all: Vec<Value> = all.collect();
    all.sort_unstable();
    all.dedup();
    Rc::new(all)
}

pub fn add_address(address: Expr<LocalId>, offset: Expr<LocalId>) -> Expr<LocalId> {
    match offset.constant() {
        Some(0) => address,
        _ => machine(MachineOp::Add, Number::UNSIGNED_LONG, address, offset),
    }
}
