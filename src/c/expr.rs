//! Expressions: what they stand for, and the code that works it out.

use super::lowering::{Entity, Lowering, Read, Storage};
use super::objects::STRIDE;
use super::operand::{
    Lvalue, Operand, Region, Val, Where, binary, convert, equal, less, machine, not, truth,
};
use super::types::{Number, Qualified, Type};
use crate::program::{BinaryOp, Expr, LocalId, MachineOp, Value};
use lang_c::ast::*;
use lang_c::span::{Node, Span as Piece};
use std::rc::Rc;

impl<'a> Lowering<'a> {
    /// The value of an expression. Arrays become pointers, as they do in C.
    pub fn value(&mut self, expr: &'a Node<Expression>) -> Read<Operand> {
        let piece = expr.span;
        match &expr.node {
            Expression::Identifier(name) => self.identifier(&name.node.name, piece),
            Expression::Constant(constant) => self.literal(constant),
            Expression::StringLiteral(_) => self.refuse(
                piece,
                "strings are only read as arguments of printing functions",
                "use an array of characters",
            ),
            Expression::Member(_) | Expression::CompoundLiteral(_) => {
                let object = self.object(expr)?;
                self.read(object, piece)
            }
            Expression::Call(call) => self.call(call, piece),
            Expression::SizeOfTy(ty) => {
                let ty = self.type_name(&ty.node.0)?;
                self.size_of(&ty.ty, piece)
            }
            Expression::SizeOfVal(value) => {
                let ty = self.object_type(&value.node.0)?;
                self.size_of(&ty, piece)
            }
            Expression::AlignOf(ty) => {
                let ty = self.type_name(&ty.node.0)?;
                let align = self.structs.layout(&ty.ty).map_or(1, |(_, align)| align);
                Ok(Operand::scalar(
                    Type::UNSIGNED_LONG,
                    Expr::Const(align as Value),
                ))
            }
            Expression::UnaryOperator(unary) => self.unary(&unary.node, expr),
            Expression::Cast(cast) => {
                let ty = self.type_name(&cast.node.type_name)?;
                let value = self.value(&cast.node.expression)?;
                self.cast(value, ty.ty, piece)
            }
            Expression::BinaryOperator(operation) => self.operation(&operation.node, expr),
            Expression::Conditional(choice) => self.conditional(&choice.node, piece),
            Expression::Comma(parts) => {
                let mut last = Operand::nothing();
                for part in parts.iter() {
                    last = self.value(part)?;
                }
                Ok(last)
            }
            Expression::Statement(body) => self.statement_value(body),
            Expression::GenericSelection(_) => self.refuse(
                piece,
                "_Generic is not read",
                "call the function that is meant",
            ),
            Expression::OffsetOf(_) => self.refuse(
                piece,
                "offsetof is not read",
                "use a pointer to the structure",
            ),
            Expression::VaArg(_) => {
                self.refuse(piece, "variadic functions are not read", "pass an array")
            }
        }
    }

    fn size_of(&mut self, ty: &Type, piece: Piece) -> Read<Operand> {
        let Some((size, _)) = self.structs.layout(ty) else {
            return self.error(piece, "the size of this type is not known here");
        };
        Ok(Operand::scalar(
            Type::UNSIGNED_LONG,
            Expr::Const(size as Value),
        ))
    }

    /// The type of an expression, which is not evaluated; arrays stay arrays.
    fn object_type(&mut self, expr: &'a Node<Expression>) -> Read<Type> {
        self.unevaluated(|this| match this.is_object(expr) {
            true => Ok(this.object(expr)?.ty.ty),
            false => Ok(this.value(expr)?.ty),
        })
    }

    pub fn type_of(&mut self, expr: &'a Node<Expression>) -> Read<Type> {
        self.object_type(expr)
    }

    /// Runs `inside` without keeping the code that it makes.
    fn unevaluated<T>(&mut self, inside: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        let kept = self.code.clone();
        let result = inside(self);
        self.code = kept;
        result
    }

    /// The value of an expression that must be constant.
    pub fn constant(&mut self, expr: &'a Node<Expression>) -> Read<Value> {
        match self.constant_or_none(expr)? {
            Some(value) => Ok(value),
            None => self.error(expr.span, "a constant is needed here"),
        }
    }

    pub fn constant_or_none(&mut self, expr: &'a Node<Expression>) -> Read<Option<Value>> {
        let value = self.unevaluated(|this| this.value(expr))?;
        Ok(value.constant())
    }

    fn literal(&mut self, constant: &'a Node<Constant>) -> Read<Operand> {
        match &constant.node {
            Constant::Integer(integer) => {
                let base = match integer.base {
                    IntegerBase::Decimal => 10,
                    IntegerBase::Octal => 8,
                    IntegerBase::Hexadecimal => 16,
                    IntegerBase::Binary => 2,
                };
                // The digits of an octal number may be given with their leading zero or not.
                let digits = match integer.number.as_ref() {
                    "" => "0",
                    digits => digits,
                };
                let Ok(value) = u64::from_str_radix(digits, base) else {
                    return self.error(constant.span, "this number does not fit 64 bits");
                };
                let long = integer.suffix.size != IntegerSize::Int;
                let unsigned = integer.suffix.unsigned;
                let decimal = integer.base == IntegerBase::Decimal;
                let candidates = [(32, true), (32, false), (64, true), (64, false)];
                let fits = |&(bits, signed): &(u32, bool)| {
                    let room = bits - u32::from(signed);
                    let within = room == 64 || value >> room == 0;
                    within
                        && (bits == 64 || !long)
                        && !(unsigned && signed)
                        && (signed || unsigned || !decimal || bits == 64)
                };
                let (bits, signed) = candidates.into_iter().find(fits).unwrap_or((64, false));
                let number = Number::new(bits, signed);
                Ok(Operand::scalar(
                    Type::Int(number),
                    Expr::Const(value as Value),
                ))
            }
            Constant::Character(text) => match character(text) {
                Some(value) => Ok(Operand::int(value)),
                None => self.error(constant.span, "this character is not read"),
            },
            Constant::Float(_) => self.refuse(
                constant.span,
                "floating-point numbers are not read",
                "use integers; scaled ones if need be",
            ),
        }
    }

    fn identifier(&mut self, name: &str, piece: Piece) -> Read<Operand> {
        match self.lookup(name).cloned() {
            Some(Entity::Constant(value)) => Ok(value),
            Some(Entity::Variable(variable)) => match variable.storage {
                Storage::Value(value) => Ok(value),
                _ => {
                    let object = self.variable(&variable);
                    self.read(object, piece)
                }
            },
            Some(Entity::Function) => Ok(Operand {
                ty: Type::Function,
                value: Val::Nothing,
            }),
            Some(Entity::Typedef(_)) => self.error(piece, format!("'{name}' is a type")),
            None => self.error(piece, format!("'{name}' is not declared")),
        }
    }

    /// Whether an expression names an object.
    fn is_object(&self, expr: &Node<Expression>) -> bool {
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
                let variable = super::lowering::Variable { ty, storage };
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
        let fault = crate::program::Fault::OutsideArray { len };
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
                self.address_taken(&region);
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

    /// The value of a scalar operand as an expression.
    pub fn scalar(&mut self, operand: Operand, piece: Piece) -> Read<Expr<LocalId>> {
        match operand.value {
            Val::Scalar(value, _) => Ok(value),
            Val::ToLocal(object) => {
                // Somebody asks for the address: next time, the variable lives in memory.
                if let Where::Locals { declared, .. } = object.at {
                    self.found.in_memory.insert(declared);
                }
                Ok(Expr::Const(0))
            }
            Val::Object(_) => self.error(piece, "a number or pointer is needed here"),
            Val::Nothing if operand.ty == Type::Function => self.refuse(
                piece,
                "functions are only read where they are called or start a thread",
                "call the function by its name",
            ),
            Val::Nothing => self.error(piece, "this has no value"),
        }
    }

    /// A scalar converted to a type, as assignment does it.
    pub fn converted(&mut self, operand: Operand, to: &Type, piece: Piece) -> Read<Operand> {
        match (&operand.ty, to) {
            (Type::Pointer(_), Type::Pointer(_)) => Ok(Operand {
                ty: to.clone(),
                value: operand.value,
            }),
            (Type::Struct(a), Type::Struct(b)) if a == b => Ok(operand),
            (from, to) => {
                let (Some(old), Some(new)) = (from.number(), to.number()) else {
                    let (from, to) = (self.structs.name(from), self.structs.name(to));
                    return self.error(piece, format!("'{from}' where '{to}' is needed"));
                };
                if let (Val::ToLocal(_), true) = (&operand.value, new.boolean) {
                    return Ok(Operand::scalar(to.clone(), Expr::Const(1)));
                }
                let region = match &operand.value {
                    Val::Scalar(_, region) if new.int.bits == 64 => region.clone(),
                    _ => None,
                };
                let value = self.scalar(operand, piece)?;
                Ok(Operand {
                    ty: to.clone(),
                    value: Val::Scalar(convert(value, old, new), region),
                })
            }
        }
    }

    fn cast(&mut self, value: Operand, to: Type, piece: Piece) -> Read<Operand> {
        match to {
            Type::Void => Ok(Operand::nothing()),
            to => self.converted(value, &to, piece),
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
        Ok(Operand::scalar(pointer.ty, moved))
    }

    fn unary(
        &mut self,
        unary: &'a UnaryOperatorExpression,
        expr: &'a Node<Expression>,
    ) -> Read<Operand> {
        let piece = expr.span;
        let operand = &unary.operand;
        match unary.operator.node {
            UnaryOperator::Address => self.address(operand, piece),
            UnaryOperator::Indirection => {
                let object = self.object(expr)?;
                self.read(object, piece)
            }
            UnaryOperator::PostIncrement => self.step(operand, MachineOp::Add, true, piece),
            UnaryOperator::PostDecrement => self.step(operand, MachineOp::Sub, true, piece),
            UnaryOperator::PreIncrement => self.step(operand, MachineOp::Add, false, piece),
            UnaryOperator::PreDecrement => self.step(operand, MachineOp::Sub, false, piece),
            UnaryOperator::Negate => {
                let value = self.truth_value(operand)?;
                Ok(Operand::scalar(Type::INT, not(value)))
            }
            UnaryOperator::Plus | UnaryOperator::Minus | UnaryOperator::Complement => {
                let value = self.value(operand)?;
                let Type::Int(number) = value.ty else {
                    return self.error(piece, "a number is needed here");
                };
                let wide = number.promoted();
                let value = self.scalar(value, piece)?;
                let value = convert(value, number, wide);
                let result = match unary.operator.node {
                    UnaryOperator::Plus => value,
                    UnaryOperator::Minus => machine(MachineOp::Sub, wide, Expr::Const(0), value),
                    _ => {
                        let ones = Expr::Const(wide.int.wrap(-1));
                        machine(MachineOp::BitXor, wide, value, ones)
                    }
                };
                Ok(Operand::scalar(Type::Int(wide), result))
            }
        }
    }

    fn address(&mut self, operand: &'a Node<Expression>, piece: Piece) -> Read<Operand> {
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

    fn operation(
        &mut self,
        operation: &'a BinaryOperatorExpression,
        expr: &'a Node<Expression>,
    ) -> Read<Operand> {
        let piece = expr.span;
        let (left, right) = (&operation.lhs, &operation.rhs);
        let op = &operation.operator.node;
        match op {
            BinaryOperator::Index => {
                let object = self.object(expr)?;
                return self.read(object, piece);
            }
            BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr => {
                let value = self.truth_value(expr)?;
                return Ok(Operand::scalar(Type::INT, value));
            }
            BinaryOperator::Assign => return self.assignment(left, right, piece),
            _ => {}
        }
        if let Some(op) = compound(op) {
            return self.compound(left, op, right, piece);
        }
        let left = self.value(left)?;
        let left = self.held(left, right, piece)?;
        let right = self.value(right)?;
        self.arithmetic(op, left, right, piece)
    }

    /// An operation on two values.
    pub fn arithmetic(
        &mut self,
        op: &BinaryOperator,
        left: Operand,
        right: Operand,
        piece: Piece,
    ) -> Read<Operand> {
        let pointers = [&left, &right].map(|o| matches!(o.ty, Type::Pointer(_)));
        match (op, pointers) {
            (BinaryOperator::Plus, [true, false]) => return self.moved(left, right, false, piece),
            (BinaryOperator::Plus, [false, true]) => return self.moved(right, left, false, piece),
            (BinaryOperator::Minus, [true, false]) => return self.moved(left, right, true, piece),
            (BinaryOperator::Minus, [true, true]) => {
                let Type::Pointer(to) = left.ty.clone() else {
                    unreachable!("it is a pointer");
                };
                let places = Value::from(self.places(piece, &to.ty)?);
                let (left, right) = (self.scalar(left, piece)?, self.scalar(right, piece)?);
                let distance = machine(MachineOp::Sub, Number::LONG, left, right);
                let scale = Expr::Const(places * STRIDE);
                let elements = machine(MachineOp::Div, Number::LONG, distance, scale);
                return Ok(Operand::scalar(Type::Int(Number::LONG), elements));
            }
            _ => {}
        }
        let (Some(a), Some(b)) = (left.ty.number(), right.ty.number()) else {
            return self.error(piece, "numbers are needed here");
        };
        let (left, right) = (self.scalar(left, piece)?, self.scalar(right, piece)?);
        if matches!(op, BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight) {
            let wide = a.promoted();
            let op = match op {
                BinaryOperator::ShiftLeft => MachineOp::Shl,
                _ => MachineOp::Shr,
            };
            let value = machine(op, wide, convert(left, a, wide), right);
            return Ok(Operand::scalar(Type::Int(wide), value));
        }
        let wide = a.common(b);
        let (left, right) = (convert(left, a, wide), convert(right, b, wide));
        let calculated = |op| {
            (
                Type::Int(wide),
                machine(op, wide, left.clone(), right.clone()),
            )
        };
        let (ty, value) = match op {
            BinaryOperator::Multiply => calculated(MachineOp::Mul),
            BinaryOperator::Divide => calculated(MachineOp::Div),
            BinaryOperator::Modulo => calculated(MachineOp::Rem),
            BinaryOperator::Plus => calculated(MachineOp::Add),
            BinaryOperator::Minus => calculated(MachineOp::Sub),
            BinaryOperator::BitwiseAnd => calculated(MachineOp::BitAnd),
            BinaryOperator::BitwiseXor => calculated(MachineOp::BitXor),
            BinaryOperator::BitwiseOr => calculated(MachineOp::BitOr),
            BinaryOperator::Less => (Type::INT, less(wide, false, left, right)),
            BinaryOperator::Greater => (Type::INT, less(wide, false, right, left)),
            BinaryOperator::LessOrEqual => (Type::INT, less(wide, true, left, right)),
            BinaryOperator::GreaterOrEqual => (Type::INT, less(wide, true, right, left)),
            BinaryOperator::Equals => (Type::INT, equal(left, right)),
            BinaryOperator::NotEquals => (Type::INT, not(equal(left, right))),
            _ => return self.error(piece, "this operator is not read here"),
        };
        Ok(Operand::scalar(ty, value))
    }

    /// The operand, in a temporary if what is evaluated next may change what it is made of.
    fn held(
        &mut self,
        operand: Operand,
        next: &'a Node<Expression>,
        piece: Piece,
    ) -> Read<Operand> {
        match &operand.value {
            Val::Scalar(value, _) if value.constant().is_none() && changes(next) => {
                let ty = operand.ty.clone();
                let number = ty.number().expect("a scalar has a number");
                let local = self.code.temporary(number.domain());
                let Val::Scalar(value, region) = operand.value else {
                    unreachable!("it is a scalar");
                };
                let span = self.span(piece);
                self.code.assign(local, value, span);
                Ok(Operand {
                    ty,
                    value: Val::Scalar(Expr::Atom(local), region),
                })
            }
            _ => Ok(operand),
        }
    }

    /// Whether an expression is true, as 0 or 1.
    pub fn truth_value(&mut self, expr: &'a Node<Expression>) -> Read<Expr<LocalId>> {
        let piece = expr.span;
        let span = self.span(piece);
        if let Expression::BinaryOperator(operation) = &expr.node {
            let op = match operation.node.operator.node {
                BinaryOperator::LogicalAnd => Some(BinaryOp::And),
                BinaryOperator::LogicalOr => Some(BinaryOp::Or),
                _ => None,
            };
            if let Some(op) = op {
                let left = self.truth_value(&operation.node.lhs)?;
                if left.constant() == Some(Value::from(op == BinaryOp::Or)) {
                    return Ok(left);
                }
                // Where the right side needs code of its own, it must run only if it is asked.
                let before = self.code.edges.len();
                let kept = self.code.clone();
                let right = self.truth_value(&operation.node.rhs)?;
                if self.code.edges.len() == before {
                    return Ok(binary(op, left, right));
                }
                self.code = kept;
                let (more, end) = (self.code.location(), self.code.location());
                let result = self.code.temporary(crate::program::Domain::BOOL);
                self.code.assign(result, left, span);
                let (yes, no) = match op {
                    BinaryOp::And => (more, end),
                    _ => (end, more),
                };
                self.code.branch(Expr::Atom(result), yes, no, span);
                self.code.at = more;
                let right = self.truth_value(&operation.node.rhs)?;
                self.code.assign(result, right, span);
                self.code.pass_to(end, span);
                return Ok(Expr::Atom(result));
            }
        }
        if let Expression::UnaryOperator(unary) = &expr.node
            && unary.node.operator.node == UnaryOperator::Negate
        {
            return Ok(not(self.truth_value(&unary.node.operand)?));
        }
        let value = self.value(expr)?;
        if let Val::ToLocal(_) = value.value {
            return Ok(Expr::Const(1));
        }
        Ok(truth(self.scalar(value, piece)?))
    }

    /// Evaluates a condition and goes on at one of two locations.
    pub fn condition(
        &mut self,
        expr: &'a Node<Expression>,
        yes: crate::program::Loc,
        no: crate::program::Loc,
    ) -> Read<()> {
        let span = self.span(expr.span);
        if let Expression::BinaryOperator(operation) = &expr.node {
            let more = match operation.node.operator.node {
                BinaryOperator::LogicalAnd => Some(true),
                BinaryOperator::LogicalOr => Some(false),
                _ => None,
            };
            if let Some(and) = more {
                let more = self.code.location();
                match and {
                    true => self.condition(&operation.node.lhs, more, no)?,
                    false => self.condition(&operation.node.lhs, yes, more)?,
                }
                self.code.at = more;
                return self.condition(&operation.node.rhs, yes, no);
            }
        }
        if let Expression::UnaryOperator(unary) = &expr.node
            && unary.node.operator.node == UnaryOperator::Negate
        {
            return self.condition(&unary.node.operand, no, yes);
        }
        let value = self.truth_value(expr)?;
        self.code.branch(value, yes, no, span);
        Ok(())
    }

    fn conditional(&mut self, choice: &'a ConditionalExpression, piece: Piece) -> Read<Operand> {
        let span = self.span(piece);
        let (then, otherwise) = (&choice.then_expression, &choice.else_expression);
        let one = self.unevaluated(|this| this.value(then))?.ty;
        let other = self.unevaluated(|this| this.value(otherwise))?.ty;
        let ty = match (&one, &other) {
            (Type::Int(a), Type::Int(b)) => Type::Int(a.common(*b)),
            (Type::Pointer(to), Type::Pointer(_)) if to.ty == Type::Void => other.clone(),
            (Type::Pointer(_), _) => one.clone(),
            (_, Type::Pointer(_)) => other.clone(),
            _ => one.clone(),
        };
        let (yes, no, end) = (
            self.code.location(),
            self.code.location(),
            self.code.location(),
        );
        self.condition(&choice.condition, yes, no)?;
        let result = match ty.number() {
            Some(number) if ty.is_scalar() => Some(self.code.temporary(number.domain())),
            _ if ty == Type::Void => None,
            _ => return self.error(piece, "the choice of a structure is not read"),
        };
        for (at, branch) in [(yes, then), (no, otherwise)] {
            self.code.at = at;
            let value = self.value(branch)?;
            if let Some(result) = result {
                let value = self.converted(value, &ty, branch.span)?;
                let value = self.scalar(value, branch.span)?;
                self.code.assign(result, value, span);
            }
            self.code.pass_to(end, span);
        }
        Ok(match result {
            Some(result) => Operand::scalar(ty, Expr::Atom(result)),
            None => Operand::nothing(),
        })
    }
}

/// The value of a character constant, quotes included.
fn character(text: &str) -> Option<Value> {
    let inside = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let mut chars = inside.chars();
    let value = match chars.next()? {
        '\\' => {
            let escape = chars.next()?;
            let rest: String = chars.by_ref().collect();
            return match escape {
                'x' => i64::from_str_radix(&rest, 16).ok(),
                '0'..='7' => i64::from_str_radix(&format!("{escape}{rest}"), 8).ok(),
                _ if !rest.is_empty() => None,
                'n' => Some(10),
                't' => Some(9),
                'r' => Some(13),
                'a' => Some(7),
                'b' => Some(8),
                'f' => Some(12),
                'v' => Some(11),
                '\\' | '\'' | '"' | '?' => Some(escape as Value),
                _ => None,
            };
        }
        plain => plain as Value,
    };
    chars.next().is_none().then_some(value).filter(|v| *v < 128)
}

/// The operation of a compound assignment.
fn compound(op: &BinaryOperator) -> Option<BinaryOperator> {
    Some(match op {
        BinaryOperator::AssignMultiply => BinaryOperator::Multiply,
        BinaryOperator::AssignDivide => BinaryOperator::Divide,
        BinaryOperator::AssignModulo => BinaryOperator::Modulo,
        BinaryOperator::AssignPlus => BinaryOperator::Plus,
        BinaryOperator::AssignMinus => BinaryOperator::Minus,
        BinaryOperator::AssignShiftLeft => BinaryOperator::ShiftLeft,
        BinaryOperator::AssignShiftRight => BinaryOperator::ShiftRight,
        BinaryOperator::AssignBitwiseAnd => BinaryOperator::BitwiseAnd,
        BinaryOperator::AssignBitwiseXor => BinaryOperator::BitwiseXor,
        BinaryOperator::AssignBitwiseOr => BinaryOperator::BitwiseOr,
        _ => return None,
    })
}

/// Whether evaluating an expression may change a variable.
pub fn changes(expr: &Node<Expression>) -> bool {
    struct Finder(bool);
    impl<'ast> lang_c::visit::Visit<'ast> for Finder {
        fn visit_call_expression(&mut self, _: &'ast CallExpression, _: &'ast Piece) {
            self.0 = true;
        }
        fn visit_unary_operator(&mut self, op: &'ast UnaryOperator, _: &'ast Piece) {
            self.0 |= matches!(
                op,
                UnaryOperator::PostIncrement
                    | UnaryOperator::PostDecrement
                    | UnaryOperator::PreIncrement
                    | UnaryOperator::PreDecrement
            );
        }
        fn visit_binary_operator(&mut self, op: &'ast BinaryOperator, _: &'ast Piece) {
            self.0 |= *op == BinaryOperator::Assign || compound(op).is_some();
        }
    }
    let mut finder = Finder(false);
    lang_c::visit::Visit::visit_expression(&mut finder, &expr.node, &expr.span);
    finder.0
}

fn shifted(region: &Region, by: Value) -> Region {
    match by {
        0 => region.clone(),
        by => Rc::new(region.iter().map(|address| address + by).collect()),
    }
}

/// All multiples of a distance behind all addresses.
fn spread(region: &Region, distance: Value, count: u32) -> Region {
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
