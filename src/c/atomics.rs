//! Atomic operations of C11 and of GNU C.

use super::access::Order;
use super::known::Arguments;
use super::lowering::{Lowering, Read};
use super::operand::{Operand, Where, equal, truth};
use super::types::{Number, Type};
use crate::program::{Domain, Expr, FenceKind, Instr, LocalId, MachineOp, Side, Update};
use lang_c::ast::Expression;
use lang_c::span::{Node, Span as Piece};

/// An operation on an atomic object that has a name.
struct Fetch {
    op: MachineOp,
    /// It gives the old value, not the new one.
    old: bool,
    /// The position of the memory order, if it is given.
    order: Option<usize>,
}

impl<'a> Lowering<'a> {
    /// An atomic operation of C11 or of GNU C, if the name is that of one.
    pub fn atomic_call(
        &mut self,
        name: &str,
        arguments: Arguments<'a>,
        piece: Piece,
    ) -> Read<Option<Operand>> {
        let span = self.span(piece);
        let explicit = name.ends_with("_explicit");
        let plain = name.trim_end_matches("_explicit");
        if let Some(fetch) = fetch(name) {
            let object = match arguments.first() {
                Some(pointer) => self.target(pointer)?,
                None => return self.error(piece, "2 arguments are needed here"),
            };
            let Some(by) = arguments.get(1) else {
                return self.error(piece, "2 arguments are needed here");
            };
            if let Type::Pointer(_) = object.ty.ty {
                return self.refuse(
                    piece,
                    "compilers disagree on what this adds to a pointer",
                    "use an index, or a loop with atomic_compare_exchange_weak",
                );
            }
            let by = self.value(by)?;
            let order = self.order(arguments, fetch.order)?;
            let (before, operand) = self.fetch(&object, fetch.op, by, order, piece)?;
            let ty = object.ty.ty.clone();
            let result = match fetch.old {
                true => before,
                false => self.combined(&ty, fetch.op, before, operand),
            };
            return Ok(Some(Operand::scalar(ty, result)));
        }
        let result = match (plain, arguments.len()) {
            ("atomic_load" | "__atomic_load_n", 1 | 2) => {
                self.order(arguments, Some(1))?;
                let object = self.target(&arguments[0])?;
                let value = self.load(&object, span);
                Operand::scalar(object.ty.ty, value)
            }
            ("atomic_store" | "__atomic_store_n", 2 | 3) => {
                let object = self.target(&arguments[0])?;
                let value = self.value(&arguments[1])?;
                let order = self.order(arguments, Some(2))?;
                let typed = arguments.get(2).map(|order| order.span);
                if let (Order::Relaxed, Some(typed)) = (order, typed) {
                    self.order_site(Side::Release, typed);
                }
                self.assign(&object, value, order, piece)?;
                if let (Order::Relaxed | Order::Release, Some(typed)) = (order, typed) {
                    self.order_site(Side::SeqCst, typed);
                }
                Operand::nothing()
            }
            ("atomic_init", 2) => {
                let object = self.target(&arguments[0])?;
                let value = self.value(&arguments[1])?;
                self.assign(&object, value, Order::Relaxed, piece)?;
                Operand::nothing()
            }
            ("atomic_exchange" | "__atomic_exchange_n", 2 | 3) => {
                let order = self.order(arguments, Some(2))?;
                self.exchange(&arguments[0], &arguments[1], order, piece)?
            }
            ("__sync_lock_test_and_set", 2) => {
                // GNU C promises no more than acquire; machines do what they do for any update.
                self.exchange(&arguments[0], &arguments[1], Order::Relaxed, piece)?
            }
            ("__sync_lock_release", 1) => {
                let object = self.target(&arguments[0])?;
                self.store(&object, Expr::Const(0), Order::Release, span);
                Operand::nothing()
            }
            ("atomic_flag_test_and_set" | "__atomic_test_and_set", 1 | 2) => {
                let order = self.order(arguments, Some(1))?;
                let object = self.target(&arguments[0])?;
                let one = Update::Swap(Expr::Const(1));
                let old = self.update(&object, one, order, span);
                Operand::scalar(Type::Int(Number::BOOL), truth(old))
            }
            ("atomic_flag_clear" | "__atomic_clear", 1 | 2) => {
                let order = self.order(arguments, Some(1))?;
                let object = self.target(&arguments[0])?;
                self.store(&object, Expr::Const(0), order, span);
                Operand::nothing()
            }
            ("atomic_compare_exchange_strong" | "atomic_compare_exchange_weak", 3 | 5) => {
                let order = self.order(arguments, Some(3))?;
                self.compare_exchange(arguments, 2, order, piece)?
            }
            ("__atomic_compare_exchange_n", 6) => {
                let order = self.order(arguments, Some(4))?;
                self.compare_exchange(arguments, 2, order, piece)?
            }
            ("__sync_bool_compare_and_swap" | "__sync_val_compare_and_swap", 3) => {
                let object = self.target(&arguments[0])?;
                let ty = object.ty.ty.clone();
                let expected = self.value(&arguments[1])?;
                let new = self.value(&arguments[2])?;
                let expected = self.as_type(expected, &ty, piece)?;
                let new = self.as_type(new, &ty, piece)?;
                let swap = Update::CasOld {
                    expected: expected.clone(),
                    new,
                };
                let order = Order::SequentiallyConsistent;
                let old = self.update(&object, swap, order, span);
                match name == "__sync_val_compare_and_swap" {
                    true => Operand::scalar(ty, old),
                    false => Operand::scalar(Type::Int(Number::BOOL), equal(old, expected)),
                }
            }
            ("atomic_thread_fence" | "__atomic_thread_fence", 1) => {
                let order = self.order(arguments, Some(0))?;
                match order {
                    Order::Relaxed => {}
                    Order::Release => {
                        self.code.emit(Instr::Fence(FenceKind::StoreStore), span);
                    }
                    Order::SequentiallyConsistent => {
                        self.code.emit(Instr::Fence(FenceKind::Full), span);
                    }
                }
                Operand::nothing()
            }
            ("__sync_synchronize", 0) | ("_mm_mfence" | "__builtin_ia32_mfence", 0) => {
                self.code.emit(Instr::Fence(FenceKind::Full), span);
                Operand::nothing()
            }
            ("atomic_signal_fence" | "__atomic_signal_fence", 1) => Operand::nothing(),
            ("atomic_is_lock_free" | "__atomic_is_lock_free", _) => Operand::int(1),
            ("kill_dependency", 1) => self.value(&arguments[0])?,
            _ if explicit || plain.starts_with("atomic_") || plain.starts_with("__atomic_") => {
                let known = self.functions.contains_key(name);
                if known {
                    return Ok(None);
                }
                return self.refuse(
                    piece,
                    format!("'{name}' is not read with {} arguments", arguments.len()),
                    "the operations of <stdatomic.h> and the __atomic_…_n builtins are",
                );
            }
            _ => return Ok(None),
        };
        Ok(Some(result))
    }

    fn as_type(&mut self, value: Operand, ty: &Type, piece: Piece) -> Read<Expr<LocalId>> {
        let value = self.converted(value, ty, piece)?;
        self.scalar(value, piece)
    }

    fn exchange(
        &mut self,
        pointer: &'a Node<Expression>,
        value: &'a Node<Expression>,
        order: Order,
        piece: Piece,
    ) -> Read<Operand> {
        let object = self.target(pointer)?;
        let ty = object.ty.ty.clone();
        let value = self.value(value)?;
        let value = self.as_type(value, &ty, piece)?;
        let span = self.span(piece);
        let old = self.update(&object, Update::Swap(value), order, span);
        Ok(Operand::scalar(ty, old))
    }

    /// Compare and exchange: the expected value becomes the one that was found.
    fn compare_exchange(
        &mut self,
        arguments: Arguments<'a>,
        new: usize,
        order: Order,
        piece: Piece,
    ) -> Read<Operand> {
        let span = self.span(piece);
        let object = self.target(&arguments[0])?;
        let ty = object.ty.ty.clone();
        let expected = self.target(&arguments[1])?;
        let new = self.value(&arguments[new])?;
        let new = self.as_type(new, &ty, piece)?;
        let wanted = self.load(&expected, span);
        let swap = Update::CasOld {
            expected: wanted.clone(),
            new,
        };
        let old = self.update(&object, swap, order, span);
        let success = self.code.temporary(Domain::BOOL);
        self.code.assign(success, equal(old.clone(), wanted), span);
        let result = Operand::scalar(Type::Int(Number::BOOL), Expr::Atom(success));
        if let Where::Locals { .. } = expected.at {
            // Where it succeeds, this changes nothing.
            self.store(&expected, old, Order::Relaxed, span);
            return Ok(result);
        }
        let (failed, end) = (self.code.location(), self.code.location());
        self.code.branch(Expr::Atom(success), end, failed, span);
        self.code.at = failed;
        self.store(&expected, old, Order::Relaxed, span);
        self.code.pass_to(end, span);
        Ok(result)
    }

    /// The memory order at a position among the arguments; the strongest if none is given.
    fn order(&mut self, arguments: Arguments<'a>, at: Option<usize>) -> Read<Order> {
        let Some(argument) = at.and_then(|at| arguments.get(at)) else {
            return Ok(Order::SequentiallyConsistent);
        };
        let number = self.constant(argument)?;
        match Order::numbered(number) {
            Some(order) => Ok(order),
            None => self.error(argument.span, "this is no memory order"),
        }
    }
}

/// What an operation with this name does.
fn fetch(name: &str) -> Option<Fetch> {
    let operation = |word: &str| {
        Some(match word {
            "add" => MachineOp::WrappingAdd,
            "sub" => MachineOp::WrappingSub,
            "and" => MachineOp::BitAnd,
            "or" => MachineOp::BitOr,
            "xor" => MachineOp::BitXor,
            _ => return None,
        })
    };
    let made = |word: &str, old, order| {
        let op = operation(word)?;
        Some(Fetch { op, old, order })
    };
    if let Some(rest) = name.strip_prefix("atomic_fetch_") {
        return match rest.strip_suffix("_explicit") {
            Some(word) => made(word, true, Some(2)),
            None => made(rest, true, None),
        };
    }
    if let Some(word) = name.strip_prefix("__atomic_fetch_") {
        return made(word, true, Some(2));
    }
    if let Some(word) = name.strip_prefix("__sync_fetch_and_") {
        return made(word, true, None);
    }
    if let Some(rest) = name.strip_prefix("__atomic_") {
        return made(rest.strip_suffix("_fetch")?, false, Some(2));
    }
    if let Some(rest) = name.strip_prefix("__sync_") {
        return made(rest.strip_suffix("_and_fetch")?, false, None);
    }
    None
}
