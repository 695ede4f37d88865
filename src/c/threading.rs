//! Threads, locks and barriers, of pthreads and of C11.
//!
//! A lock is taken by an update and given back by a store behind a full fence. Waiting is
//! spinning. Creating and joining a thread are full fences on both sides.

use super::access::Order;
use super::known::{Arguments, name_of};
use super::lowering::{Creation, Lowering, Read};
use super::objects::{ObjectId, STRIDE};
use super::operand::{Lvalue, Operand, Val, binary, equal, machine, not};
use super::types::{Number, Type};
use crate::program::{
    BinaryOp, Domain, Expr, FenceKind, Instr, Label, LocalId, MachineOp, PlaceRef, Update, Value,
};
use crate::source::Span;
use lang_c::ast::Expression;
use lang_c::span::{Node, Span as Piece};

/// What a failed attempt gives: `EBUSY`, `thrd_busy`.
const BUSY: Value = 16;
const THRD_BUSY: Value = 1;

/// What a reader/writer lock holds while a writer has it; otherwise it counts readers.
const WRITER: Value = -1;

impl<'a> Lowering<'a> {
    pub fn threading_call(
        &mut self,
        name: &str,
        arguments: Arguments<'a>,
        piece: Piece,
    ) -> Read<Option<Operand>> {
        let span = self.span(piece);
        let done = Ok(Some(Operand::int(0)));
        match (name, arguments) {
            ("pthread_create", [handle, _, function, argument]) => {
                self.create(handle, function, Some(argument), piece)?;
                done
            }
            ("thrd_create", [handle, function, argument]) => {
                self.create(handle, function, Some(argument), piece)?;
                done
            }
            ("pthread_join" | "thrd_join", [handle, result]) => {
                let handle = self.value(handle)?;
                let handle = self.scalar(handle, piece)?;
                self.join(handle.clone(), piece);
                if self.constant_or_none(result)? != Some(0) {
                    self.found.results = true;
                    let object = self.target(result)?;
                    if let Some(place) = self.numbered(self.results, handle) {
                        let local = self.code.temporary(Number::UNSIGNED_LONG.domain());
                        self.code.emit(Instr::Load { local, place }, span);
                        let value = Operand::scalar(Type::UNSIGNED_LONG, Expr::Atom(local));
                        self.assign(&object, value, Order::Relaxed, piece)?;
                    }
                }
                done
            }
            ("pthread_exit" | "thrd_exit", [value]) => {
                let value = self.value(value)?;
                let root = self.frames.first().expect("code belongs to a function");
                let (end, result) = (root.returns, root.result.clone());
                if let Some(result) = result {
                    self.assign(&result, value, Order::Relaxed, piece)?;
                }
                self.code.jump(end, span);
                done
            }
            ("pthread_detach" | "thrd_detach", [_]) => done,
            (
                "pthread_mutex_init" | "mtx_init" | "pthread_spin_init" | "pthread_rwlock_init",
                [lock, kind, ..],
            ) => {
                if self.constant_or_none(kind)? != Some(0) && name != "pthread_spin_init" {
                    return self.refuse(
                        kind.span,
                        "only plain locks are read",
                        "pass NULL for attributes, or mtx_plain",
                    );
                }
                let lock = self.target(lock)?;
                self.store(&lock, Expr::Const(0), Order::Relaxed, span);
                done
            }
            (
                "pthread_mutex_destroy"
                | "mtx_destroy"
                | "pthread_spin_destroy"
                | "pthread_cond_destroy"
                | "cnd_destroy"
                | "pthread_cond_init"
                | "cnd_init"
                | "pthread_attr_init"
                | "pthread_attr_destroy"
                | "pthread_barrier_destroy"
                | "pthread_mutexattr_init"
                | "pthread_mutexattr_destroy"
                | "pthread_rwlock_destroy"
                | "sem_destroy"
                | "pthread_cond_signal"
                | "pthread_cond_broadcast"
                | "cnd_signal"
                | "cnd_broadcast",
                _,
            ) => done,
            ("pthread_mutex_lock" | "mtx_lock" | "pthread_spin_lock", [lock]) => {
                let lock = self.target(lock)?;
                self.lock(&lock, span);
                done
            }
            ("pthread_mutex_trylock" | "pthread_spin_trylock" | "mtx_trylock", [lock]) => {
                let lock = self.target(lock)?;
                let old = self.try_lock(&lock, 1, span);
                let busy = if name == "mtx_trylock" {
                    THRD_BUSY
                } else {
                    BUSY
                };
                let result = Expr::Conditional(
                    Box::new(old),
                    Box::new(Expr::Const(busy)),
                    Box::new(Expr::Const(0)),
                );
                Ok(Some(Operand::scalar(Type::INT, result)))
            }
            ("pthread_mutex_unlock" | "mtx_unlock" | "pthread_spin_unlock", [lock]) => {
                let lock = self.target(lock)?;
                self.unlock(&lock, span);
                done
            }
            ("pthread_rwlock_rdlock", [lock]) => {
                let lock = self.target(lock)?;
                self.read_lock(&lock, span);
                done
            }
            ("pthread_rwlock_wrlock", [lock]) => {
                let lock = self.target(lock)?;
                self.spin(&lock, WRITER, span);
                done
            }
            ("pthread_rwlock_unlock", [lock]) => {
                let lock = self.target(lock)?;
                self.read_write_unlock(&lock, span);
                done
            }
            // A wait may end at any time: it gives the lock back and takes it again.
            ("pthread_cond_wait" | "cnd_wait", [_, lock]) => {
                let lock = self.target(lock)?;
                self.unlock(&lock, span);
                self.lock(&lock, span);
                done
            }
            ("pthread_barrier_init", [barrier, _, count]) => {
                let barrier = self.target(barrier)?;
                let count = self.value(count)?;
                let count = self.converted(count, &Type::INT, piece)?;
                let count = self.scalar(count, piece)?;
                for (offset, value) in [(0, count), (1, Expr::Const(0)), (2, Expr::Const(0))] {
                    let field = self.part(&barrier, offset, Type::INT.plain());
                    self.store(&field, value, Order::Relaxed, span);
                }
                done
            }
            ("pthread_barrier_wait", [barrier]) => {
                let barrier = self.target(barrier)?;
                Ok(Some(self.barrier(&barrier, piece)))
            }
            ("sem_init", [semaphore, _, count]) => {
                let semaphore = self.target(semaphore)?;
                let count = self.value(count)?;
                self.assign(&semaphore, count, Order::Relaxed, piece)?;
                done
            }
            ("sem_post", [semaphore]) => {
                let semaphore = self.target(semaphore)?;
                let order = Order::SequentiallyConsistent;
                let one = Operand::int(1);
                self.fetch(&semaphore, MachineOp::WrappingAdd, one, order, piece)?;
                done
            }
            ("sem_wait", [semaphore]) => {
                let semaphore = self.target(semaphore)?;
                let (op, order) = (MachineOp::WrappingSub, Order::SequentiallyConsistent);
                self.count_when(&semaphore, Expr::clone, op, order, span);
                done
            }
            _ => Ok(None),
        }
    }

    fn try_lock(&mut self, lock: &Lvalue, taken: Value, span: Span) -> Expr<LocalId> {
        let take = Update::CasOld {
            expected: Expr::Const(0),
            new: Expr::Const(taken),
        };
        self.update(lock, take, Order::Relaxed, span)
    }

    fn lock(&mut self, lock: &Lvalue, span: Span) {
        self.spin(lock, 1, span);
    }

    /// Waits until a lock is free, and takes it.
    fn spin(&mut self, lock: &Lvalue, taken: Value, span: Span) {
        let (head, end) = (self.code.location(), self.code.location());
        self.code.pass_to(head, span);
        let mark = self.code.mark();
        let old = self.try_lock(lock, taken, span);
        self.code.branch(old, head, end, span);
        self.code.release(mark);
        self.code.at = end;
    }

    /// Waits until there is no writer, and counts one more reader.
    fn read_lock(&mut self, lock: &Lvalue, span: Span) {
        let free = |readers: &Expr<LocalId>| not(equal(readers.clone(), Expr::Const(WRITER)));
        self.count_when(lock, free, MachineOp::WrappingAdd, Order::Relaxed, span);
    }

    /// Waits until a counter satisfies a condition, and adds 1 to it or takes 1 away.
    fn count_when(
        &mut self,
        counter: &Lvalue,
        condition: impl Fn(&Expr<LocalId>) -> Expr<LocalId>,
        op: MachineOp,
        order: Order,
        span: Span,
    ) {
        let (head, take, end) = (
            self.code.location(),
            self.code.location(),
            self.code.location(),
        );
        self.code.pass_to(head, span);
        let mark = self.code.mark();
        let count = self.load(counter, span);
        self.code.branch(condition(&count), take, head, span);
        self.code.at = take;
        let swap = Update::CasOld {
            expected: count.clone(),
            new: machine(op, Number::INT, count.clone(), Expr::Const(1)),
        };
        let old = self.update(counter, swap, order, span);
        self.code.branch(equal(old, count), end, head, span);
        self.code.release(mark);
        self.code.at = end;
    }

    /// Gives back what the writer has, or counts one reader less.
    fn read_write_unlock(&mut self, lock: &Lvalue, span: Span) {
        self.implied_fence(span);
        let (writer, reader, end) = (
            self.code.location(),
            self.code.location(),
            self.code.location(),
        );
        let held = self.load(lock, span);
        let by_writer = equal(held, Expr::Const(WRITER));
        self.code.branch(by_writer, writer, reader, span);
        self.code.at = writer;
        self.store(lock, Expr::Const(0), Order::Relaxed, span);
        self.code.pass_to(end, span);
        self.code.at = reader;
        let less = Update::Apply(
            BinaryOp::Machine(MachineOp::WrappingSub, Number::INT.int),
            Expr::Const(1),
        );
        self.update(lock, less, Order::Relaxed, span);
        self.code.pass_to(end, span);
    }

    fn unlock(&mut self, lock: &Lvalue, span: Span) {
        self.implied_fence(span);
        self.store(lock, Expr::Const(0), Order::Relaxed, span);
    }

    /// A full fence that is part of a call.
    fn implied_fence(&mut self, span: Span) {
        self.ordered.insert(span);
        self.code.emit(Instr::Fence(FenceKind::Full), span);
    }

    /// The last one to arrive lets the others go on, by changing the phase.
    fn barrier(&mut self, barrier: &Lvalue, piece: Piece) -> Operand {
        let span = self.span(piece);
        let [count, arrived, phase] =
            [0, 1, 2].map(|offset| self.part(barrier, offset, Type::INT.plain()));
        let result = self.code.temporary(Number::INT.domain());
        let before = self.load(&phase, span);
        let count = self.load(&count, span);
        let one = Update::Apply(
            BinaryOp::Machine(MachineOp::WrappingAdd, Number::INT.int),
            Expr::Const(1),
        );
        let order = Order::SequentiallyConsistent;
        let old = self.update(&arrived, one, order, span);
        let now = machine(MachineOp::WrappingAdd, Number::INT, old, Expr::Const(1));
        let (last, wait, end) = (
            self.code.location(),
            self.code.location(),
            self.code.location(),
        );
        self.code.branch(equal(now, count), last, wait, span);
        self.code.at = last;
        self.store(&arrived, Expr::Const(0), Order::Relaxed, span);
        self.implied_fence(span);
        let next = binary(BinaryOp::Sub, Expr::Const(1), before.clone());
        self.store(&phase, next, order, span);
        self.code.assign(result, Expr::Const(-1), span);
        self.code.pass_to(end, span);
        self.code.at = wait;
        let mark = self.code.mark();
        let seen = self.load(&phase, span);
        let left = self.code.location();
        self.code.branch(equal(seen, before), wait, left, span);
        self.code.release(mark);
        self.code.at = left;
        self.code.assign(result, Expr::Const(0), span);
        self.code.pass_to(end, span);
        Operand::scalar(Type::INT, Expr::Atom(result))
    }

    fn create(
        &mut self,
        handle: &'a Node<Expression>,
        function: &'a Node<Expression>,
        argument: Option<&'a Node<Expression>>,
        piece: Piece,
    ) -> Read<()> {
        let span = self.span(piece);
        if !self.is_main {
            return self.refuse(
                piece,
                "only main may create threads",
                "create all threads in main",
            );
        }
        let named = name_of(function).map(|name| name.node.name.clone());
        let Some(name) = named.filter(|name| self.functions.contains_key(name)) else {
            return self.refuse(
                function.span,
                "a thread starts with a function of the program",
                "name the function here",
            );
        };
        let argument = match argument {
            None => Expr::Const(0),
            Some(argument) => {
                let value = self.value(argument)?;
                self.scalar(value, argument.span)?
            }
        };
        let handle = self.target(handle)?;
        let counter = match self.threads {
            Some(counter) => counter,
            None => {
                let most = Domain {
                    low: 0,
                    high: Value::from(u8::MAX),
                };
                let counter = self.code.local("threads", most, 0);
                self.threads = Some(counter);
                counter
            }
        };
        let next = binary(BinaryOp::Add, Expr::Atom(counter), Expr::Const(1));
        let assign = Instr::Assign {
            local: counter,
            value: next,
        };
        let count = self.code.emit(assign, span);
        let edge = self.code.emit(Instr::Skip, span);
        self.creations.push(Creation {
            edge,
            count,
            function: name,
            argument,
            span,
        });
        let number = Operand::scalar(Type::UNSIGNED_LONG, Expr::Atom(counter));
        self.assign(&handle, number, Order::Relaxed, piece)?;
        Ok(())
    }

    /// Waits until a thread has ended.
    fn join(&mut self, handle: Expr<LocalId>, piece: Piece) {
        let span = self.span(piece);
        self.found.joined = true;
        let ended = self.code.temporary(Domain::BOOL);
        let Some(place) = self.numbered(self.ends, handle) else {
            return;
        };
        let load = Instr::Load {
            local: ended,
            place,
        };
        let wait = Instr::Guard {
            condition: Expr::Atom(ended),
            wanted: true,
        };
        self.ordered.insert(span);
        let atomic = Instr::Atomic(vec![(load, span), (wait, span)]);
        self.code.emit(atomic, span);
    }

    /// The element of an array that belongs to a thread; threads are counted from 1.
    fn numbered(&self, array: Option<ObjectId>, thread: Expr<LocalId>) -> Option<PlaceRef> {
        let base = self.objects.address(array?);
        let targets = (0..Value::from(self.known.threads)).filter_map(|index| {
            let (place, _) = self.objects.place(base + index * STRIDE)?;
            Some((index + 1, place))
        });
        let targets: Vec<_> = targets.collect();
        match thread.constant() {
            Some(thread) => {
                let found = targets.iter().find(|(number, _)| *number == thread)?;
                Some(PlaceRef::Scalar(found.1))
            }
            None => Some(PlaceRef::Computed {
                address: thread,
                targets: targets.into(),
            }),
        }
    }

    /// What a thread does when it has ended.
    pub fn end_thread(&mut self, number: u32, result: Operand, span: Span) {
        let number = Expr::Const(number.into());
        let store = |place, value| Instr::Store {
            place,
            value,
            label: Label(0),
        };
        let mut body = Vec::new();
        let result = match result.value {
            Val::Scalar(value, _) => Some(value),
            _ => None,
        };
        let place = self.numbered(self.results, number.clone());
        if let (Some(place), Some(value)) = (place, result) {
            body.push((store(place, value), span));
        }
        let place = self.numbered(self.ends, number);
        if let (Some(place), true) = (place, self.known.joined) {
            body.push((store(place, Expr::Const(1)), span));
        }
        if !body.is_empty() {
            self.code.emit(Instr::Atomic(body), span);
        }
    }

    /// Waits until a thread that is created later has been created.
    pub fn await_creation(&mut self, number: u32, span: Span) {
        let Some(place) = self.start_place(number) else {
            return;
        };
        let started = self.code.temporary(Domain::BOOL);
        let load = Instr::Load {
            local: started,
            place,
        };
        let wait = Instr::Guard {
            condition: Expr::Atom(started),
            wanted: true,
        };
        let atomic = Instr::Atomic(vec![(load, span), (wait, span)]);
        self.code.emit(atomic, span);
    }

    /// The place that says whether a thread has been created.
    pub fn start_place(&self, number: u32) -> Option<PlaceRef> {
        self.numbered(self.starts, Expr::Const(number.into()))
    }
}
