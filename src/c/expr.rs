//! Expressions: what they stand for, and the code that works it out.

use super::lowering::{Entity, Lowering, Read, Storage};
use super::objects::{STRIDE, class};
use super::operand::{Operand, Val, Where, binary, convert, equal, less, machine, not, truth};
use super::types::{Number, Type};
use crate::program::{BinaryOp, Expr, Instr, LocalId, MachineOp, Value};
use lang_c::ast::*;
use lang_c::span::{Node, Span as Piece};

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
                let Some((last, others)) = parts.split_last() else {
                    return Ok(Operand::nothing());
                };
                for part in others {
                    self.effect(part)?;
                }
                self.value(last)
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
    pub fn unevaluated<T>(&mut self, inside: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        let code = self.code.clone();
        let objects = self.objects.clone();
        let blocks = (self.blocks.clone(), self.block_names.clone());
        let thread_locals = self.thread_locals.clone();
        let statics = self.statics.clone();
        let creations = (self.creations.clone(), self.threads);
        let found = self.found.clone();
        let addressed = self.addressed.clone();
        let result = inside(self);
        self.code = code;
        self.objects = objects;
        (self.blocks, self.block_names) = blocks;
        self.thread_locals = thread_locals;
        self.statics = statics;
        (self.creations, self.threads) = creations;
        self.found = found;
        self.addressed = addressed;
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
            (Type::Pointer(from), Type::Pointer(target)) => {
                let other = class(&self.structs, &from.ty) != class(&self.structs, &target.ty);
                if other && target.ty != Type::Void {
                    self.pointer_converted(&operand, &target.ty);
                }
                Ok(Operand {
                    ty: to.clone(),
                    value: operand.value,
                })
            }
            (Type::Struct(a), Type::Struct(b)) if a == b => Ok(operand),
            (from, to) => {
                let (Some(old), Some(new)) = (from.number(), to.number()) else {
                    let (from, to) = (self.structs.name(from), self.structs.name(to));
                    return self.error(piece, format!("'{from}' where '{to}' is needed"));
                };
                if let (Val::ToLocal(_), true) = (&operand.value, new.boolean) {
                    return Ok(Operand::scalar(to.clone(), Expr::Const(1)));
                }
                if let (Type::Int(_), Type::Pointer(target)) = (from, to)
                    && target.ty != Type::Void
                    && operand.constant() != Some(0)
                {
                    self.pointer_converted(&operand, &target.ty);
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

    /// Evaluates an expression whose value is not used.
    pub fn effect(&mut self, expr: &'a Node<Expression>) -> Read<()> {
        let value = self.value(expr)?;
        self.discard(value, expr.span);
        Ok(())
    }

    /// A value that is not used is undefined behaviour all the same where it has none.
    fn discard(&mut self, value: Operand, piece: Piece) {
        let domain = |local: &LocalId| self.code.locals[local.index()].domain;
        if let Val::Scalar(value, _) = value.value
            && value.interval(&domain).is_none()
        {
            let condition = binary(BinaryOp::Or, truth(value), Expr::Const(1));
            let fault = None;
            let span = self.span(piece);
            self.code.emit(Instr::Assert { condition, fault }, span);
        }
    }

    fn cast(&mut self, value: Operand, to: Type, piece: Piece) -> Read<Operand> {
        match to {
            Type::Void => {
                self.discard(value, piece);
                Ok(Operand::nothing())
            }
            to => self.converted(value, &to, piece),
        }
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
