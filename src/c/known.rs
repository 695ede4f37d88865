//! Functions that are known by name: assertions, choices, and what has no effect on memory.
//! Atomic operations are in `atomics`, those about threads in `threading`.

use super::access::Order;
use super::lowering::{Lowering, Read};
use super::operand::{Lvalue, Operand};
use super::types::{Number, Type};
use crate::program::{Domain, Expr, Instr, Value};
use lang_c::ast::{Expression, Identifier};
use lang_c::span::{Node, Span as Piece};

pub type Arguments<'a> = &'a [Node<Expression>];

impl<'a> Lowering<'a> {
    /// A call of a function that the program does not define.
    pub fn known_call(
        &mut self,
        name: &str,
        arguments: Arguments<'a>,
        piece: Piece,
    ) -> Read<Operand> {
        if let Some(result) = self.atomic_call(name, arguments, piece)? {
            return Ok(result);
        }
        if let Some(result) = self.threading_call(name, arguments, piece)? {
            return Ok(result);
        }
        let span = self.span(piece);
        match name {
            "assert" | "__VERIFIER_assert" => {
                let [condition] = self.exactly(arguments, piece)?;
                let condition = self.truth_value(condition)?;
                if condition.constant().is_none_or(|value| value == 0) {
                    let fault = None;
                    self.code.emit(Instr::Assert { condition, fault }, span);
                }
                Ok(Operand::nothing())
            }
            "abort"
            | "reach_error"
            | "__VERIFIER_error"
            | "__assert_fail"
            | "__builtin_unreachable"
            | "__builtin_trap" => {
                let condition = Expr::Const(0);
                let fault = None;
                self.code.emit(Instr::Assert { condition, fault }, span);
                Ok(Operand::nothing())
            }
            "__VERIFIER_assume" | "assume_abort_if_not" | "__builtin_assume" => {
                let [condition] = self.exactly(arguments, piece)?;
                let condition = self.truth_value(condition)?;
                let wanted = true;
                self.code.emit(Instr::Guard { condition, wanted }, span);
                Ok(Operand::nothing())
            }
            "exit" | "_exit" | "quick_exit" | "_Exit" => {
                self.code.jump(self.code.exit, span);
                Ok(Operand::nothing())
            }
            "__VERIFIER_atomic_begin" => {
                self.begin_section(piece)?;
                Ok(Operand::nothing())
            }
            "__VERIFIER_atomic_end" => {
                self.end_section(piece)?;
                Ok(Operand::nothing())
            }
            "__builtin_expect" => {
                let [value, _] = self.exactly(arguments, piece)?;
                self.value(value)
            }
            "__VERIFIER_nondet_bool" => Ok(self.choice(Number::BOOL, Domain::BOOL, span)),
            _ if name.starts_with("__VERIFIER_nondet_") => self.nondeterministic(name, piece),
            "malloc" | "calloc" | "aligned_alloc" | "realloc" => self.refuse(
                piece,
                "what is allocated must be known from what it is assigned to",
                "assign the result to a pointer of its type, or cast it",
            ),
            "free" => {
                let [pointer] = self.exactly(arguments, piece)?;
                let pointer = self.value(pointer)?;
                self.free(pointer, piece)
            }
            "memset" => self.fill(arguments, piece),
            "memcpy" | "memmove" => self.copy_memory(arguments, piece),
            _ if is_silent(name) => {
                for argument in arguments {
                    if super::expr::changes(argument) {
                        self.value(argument)?;
                    }
                }
                Ok(Operand::int(0))
            }
            _ => self.refuse(
                piece,
                format!("'{name}' is not defined here"),
                "define it in the program or in a header that it includes",
            ),
        }
    }

    /// Exactly so many arguments.
    pub fn exactly<const N: usize>(
        &self,
        arguments: Arguments<'a>,
        piece: Piece,
    ) -> Read<[&'a Node<Expression>; N]> {
        let all: Vec<&'a Node<Expression>> = arguments.iter().collect();
        match all.try_into() {
            Ok(all) => Ok(all),
            Err(_) => self.error(piece, format!("{N} arguments are needed here")),
        }
    }

    /// Any value of a range.
    fn choice(&mut self, number: Number, range: Domain, span: crate::source::Span) -> Operand {
        let local = self.code.temporary(number.domain());
        let (low, high) = (Expr::Const(range.low), Expr::Const(range.high));
        self.code.emit(Instr::Havoc { local, low, high }, span);
        Operand::scalar(Type::Int(number), Expr::Atom(local))
    }

    fn nondeterministic(&mut self, name: &str, piece: Piece) -> Read<Operand> {
        let number = match name.trim_start_matches("__VERIFIER_nondet_") {
            "char" => Number::new(8, true),
            "uchar" => Number::new(8, false),
            "short" => Number::new(16, true),
            "ushort" => Number::new(16, false),
            "int" => Number::INT,
            "uint" | "unsigned" | "unsigned_int" => Number::new(32, false),
            "long" | "longlong" => Number::LONG,
            "ulong" | "ulonglong" | "size_t" => Number::UNSIGNED_LONG,
            _ => return self.refuse(piece, format!("'{name}' is not read"), "choose an integer"),
        };
        let Some((low, high)) = self.choice.or(self.options.choice) else {
            return self.refuse(
                piece,
                "any value at all is too many to try",
                "say which values there are, right behind it: __VERIFIER_assume(0 <= x && x <= 3);",
            );
        };
        let domain = number.domain();
        let inside = domain.contains(low) && domain.contains(high);
        let range = match inside {
            true => Domain { low, high },
            // All of them, where they are few: the variable may be of another type.
            false if number.int.bits == 8 => domain,
            false => {
                return self.refuse(
                    piece,
                    format!("not all of {low} to {high} are values of its type"),
                    "assume a range of values that it can have",
                );
            }
        };
        let span = self.span(piece);
        Ok(self.choice(number, range, span))
    }

    /// `memset` of whole objects to zero.
    fn fill(&mut self, arguments: Arguments<'a>, piece: Piece) -> Read<Operand> {
        let [pointer, value, size] = self.exactly(arguments, piece)?;
        let help = "store to each field";
        if self.constant_or_none(value)? != Some(0) {
            return self.refuse(piece, "memset is only read with the value 0", help);
        }
        let Some(size) = self.constant_or_none(size)? else {
            return self.refuse(piece, "the size must be constant", help);
        };
        let pointer = self.value(pointer)?;
        let object = self.follow(pointer.clone(), piece)?;
        let bytes = self
            .structs
            .layout(&object.ty.ty)
            .map(|(bytes, _)| bytes as Value);
        let Some(bytes) = bytes.filter(|bytes| *bytes > 0 && size % bytes == 0) else {
            return self.refuse(piece, "the size is not that of whole objects", help);
        };
        let span = self.span(piece);
        for index in 0..size / bytes {
            let at = self.moved(pointer.clone(), Operand::int(index), false, piece)?;
            let object = self.follow(at, piece)?;
            let leaves = self.structs.leaves(&object.ty);
            for (offset, leaf) in leaves.into_iter().enumerate() {
                let part = self.part(&object, offset as u32, leaf.ty);
                self.store(&part, Expr::Const(0), Order::Relaxed, span);
            }
        }
        Ok(pointer)
    }

    /// `memcpy` of whole objects of one type.
    fn copy_memory(&mut self, arguments: Arguments<'a>, piece: Piece) -> Read<Operand> {
        let [to, from, size] = self.exactly(arguments, piece)?;
        let help = "assign each field";
        let Some(size) = self.constant_or_none(size)? else {
            return self.refuse(piece, "the size must be constant", help);
        };
        let (to, from) = (self.value(to)?, self.value(from)?);
        let object = self.follow(to.clone(), piece)?;
        let same = self.follow(from.clone(), piece)?.ty.ty == object.ty.ty;
        let layout = self.structs.layout(&object.ty.ty);
        let bytes = layout.map(|(bytes, _)| bytes as Value);
        let Some(bytes) = bytes.filter(|bytes| same && *bytes > 0 && size % bytes == 0) else {
            return self.refuse(
                piece,
                "the size is not that of whole objects of one type",
                help,
            );
        };
        for index in 0..size / bytes {
            let index = Operand::int(index);
            let target = self.moved(to.clone(), index.clone(), false, piece)?;
            let source = self.moved(from.clone(), index, false, piece)?;
            let (target, source) = (self.follow(target, piece)?, self.follow(source, piece)?);
            self.copy(&target, &source, piece)?;
        }
        Ok(to)
    }

    /// The object that a pointer argument points to, which must be a scalar.
    pub fn target(&mut self, argument: &'a Node<Expression>) -> Read<Lvalue> {
        let pointer = self.value(argument)?;
        let object = self.follow(pointer, argument.span)?;
        self.scalar_of(object, argument.span)
    }

    /// The scalar that an object is or begins with.
    pub fn scalar_of(&mut self, object: Lvalue, piece: Piece) -> Read<Lvalue> {
        if object.ty.ty.is_scalar() {
            return Ok(object);
        }
        match self.structs.leaves(&object.ty).into_iter().next() {
            Some(leaf) if !matches!(object.ty.ty, Type::Void | Type::Function) => {
                Ok(self.part(&object, 0, leaf.ty))
            }
            _ => self.error(piece, "a pointer to a number or pointer is needed here"),
        }
    }
}

/// Functions without an effect on memory.
fn is_silent(name: &str) -> bool {
    matches!(
        name,
        "printf"
            | "fprintf"
            | "puts"
            | "putchar"
            | "fputs"
            | "fflush"
            | "perror"
            | "srand"
            | "sleep"
            | "usleep"
            | "nanosleep"
            | "sched_yield"
            | "pthread_yield"
            | "thrd_yield"
            | "thrd_sleep"
            | "_mm_pause"
            | "__builtin_ia32_pause"
            | "cpu_relax"
    )
}

/// The name that an expression is, casts and `&` aside.
pub fn name_of(expr: &Node<Expression>) -> Option<&Node<Identifier>> {
    match &expr.node {
        Expression::Identifier(name) => Some(name),
        Expression::Cast(cast) => name_of(&cast.node.expression),
        Expression::UnaryOperator(unary)
            if unary.node.operator.node == lang_c::ast::UnaryOperator::Address =>
        {
            name_of(&unary.node.operand)
        }
        _ => None,
    }
}
