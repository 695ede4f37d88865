//! The instructions of one process, said in the native language.

use super::instruction::{Code, Instruction, LESS, Operation, SCRATCH, SUCCESS, When, ZERO};
use super::operand::Operand;
use crate::diagnostic::Diagnostic;
use crate::import::build;
use crate::import::names::Names;
use crate::lang::ast::{Condition, Expr, Place, Process, Stmt, StmtKind, Type};
use crate::lang::diagnostics::Diagnostics;
use crate::program::{BinaryOp, Domain, UnaryOp};
use crate::source::Span;
use std::collections::BTreeMap;

impl Code {
    /// Reports jumps to nowhere.
    pub fn check_labels(&self, diagnostics: &mut Diagnostics) {
        for (label, at, _) in self.jumps() {
            if !self.labels.contains_key(label) {
                let message = format!("unknown label '{label}'");
                diagnostics.push(Diagnostic::error(at, message));
            }
        }
    }

    /// Some jump leads backwards.
    pub fn loops(&self) -> bool {
        self.jumps().any(|(label, _, from)| {
            let target = self.labels.get(label);
            target.is_some_and(|&(_, to)| to <= from)
        })
    }

    fn jumps(&self) -> impl Iterator<Item = (&str, Span, usize)> {
        let all = self.instructions.iter().enumerate();
        all.filter_map(|(index, instruction)| match &instruction.operation {
            Some(Operation::Jump { label, at, .. }) => Some((label.as_str(), *at, index)),
            _ => None,
        })
    }

    /// What the registers and scratch locals are called in the program.
    pub fn name_locals(&self, globals: &Names) -> BTreeMap<String, String> {
        let mut names = globals.clone();
        let mut registers = self.registers.clone();
        let adds = |instruction: &Instruction| {
            matches!(instruction.operation, Some(Operation::ExchangeAdd { .. }))
        };
        let flags = registers.contains(ZERO) || registers.contains(LESS);
        if flags && self.instructions.iter().any(adds) {
            registers.insert(SCRATCH.to_string());
        }
        registers
            .iter()
            .map(|register| (register.clone(), names.fresh(register)))
            .collect()
    }

    /// The process, given the names of its locals, their initial values and the names of
    /// locations.
    pub fn process(
        &self,
        locals: &BTreeMap<String, String>,
        initial: &dyn Fn(&str) -> i64,
        locations: &dyn Fn(&str) -> String,
    ) -> Process {
        let flag = |register: &str| [ZERO, LESS, SUCCESS].contains(&register);
        let declare = |ty, flags| {
            let wanted = locals
                .iter()
                .filter(|(register, _)| flag(register) == flags);
            let variables =
                wanted.map(|(register, name)| build::variable(name, initial(register), self.span));
            build::declare(ty, variables.collect(), self.span)
        };
        let declarations = vec![declare(Type::Int, false), declare(Type::Bool, true)];
        let mut names = Names::native();
        let labels = self.labels.keys();
        let labels = labels.map(|label| (label.as_str(), names.fresh(label)));
        let native = Native {
            code: self,
            locals,
            locations,
            labels: labels.collect(),
        };
        build::process(&self.name, declarations, native.statements(), self.span)
    }
}

/// The names of the program in which a process is said.
struct Native<'c> {
    code: &'c Code,
    locals: &'c BTreeMap<String, String>,
    locations: &'c dyn Fn(&str) -> String,
    labels: BTreeMap<&'c str, String>,
}

impl Native<'_> {
    fn statements(&self) -> Vec<Stmt> {
        let mut statements = Vec::new();
        for instruction in &self.code.instructions {
            let span = instruction.span;
            let statement = match &instruction.operation {
                Some(operation) => build::one(self.operation(operation, span), span),
                None => build::stmt(StmtKind::Skip, span),
            };
            let lone = instruction.operation.is_none();
            statements.push(match &instruction.label {
                None => statement,
                // A fence can stand before or behind a label by itself, not inside it.
                Some((label, at)) if lone => {
                    let labelled = build::labelled(&self.labels[label.as_str()], *at, statement);
                    let block = build::block(vec![labelled], span);
                    build::stmt(StmtKind::Nofence(block), span)
                }
                Some((label, at)) => build::labelled(&self.labels[label.as_str()], *at, statement),
            });
        }
        statements
    }

    fn local(&self, register: &str) -> &str {
        &self.locals[register]
    }

    fn register(&self, register: &str, span: Span) -> Expr {
        build::var(self.local(register), span)
    }

    fn place(&self, location: &str, span: Span) -> Place {
        build::scalar(&(self.locations)(location), span)
    }

    /// Sets the flags for two numbers that are compared, where some jump reads them.
    fn flags(&self, left: &Expr, right: &Expr, span: Span) -> Vec<Stmt> {
        let flags = [(ZERO, BinaryOp::Equal), (LESS, BinaryOp::Less)];
        let set = flags.into_iter().filter_map(|(flag, op)| {
            let flag = self.locals.get(flag)?;
            let value = build::binary(op, left.clone(), right.clone());
            Some(build::assign(flag, value, span))
        });
        set.collect()
    }

    /// The same for a result, which is compared with 0.
    fn result_flags(&self, result: &Expr, span: Span) -> Vec<Stmt> {
        self.flags(result, &build::int(0, span), span)
    }

    /// The value of a register or number.
    fn value(&self, operand: &Operand, span: Span) -> Expr {
        match operand {
            Operand::Immediate(value) => build::int(*value, span),
            Operand::Register(register) | Operand::Location(register) => {
                self.register(register, span)
            }
        }
    }

    fn operation(&self, operation: &Operation, span: Span) -> Vec<Stmt> {
        match operation {
            Operation::Move(Operand::Location(to), from) => {
                vec![build::store(
                    self.place(to, span),
                    self.value(from, span),
                    span,
                )]
            }
            Operation::Move(to, Operand::Location(from)) => {
                let Operand::Register(to) = to else {
                    unreachable!("a MOV from memory goes to a register");
                };
                vec![build::load(self.local(to), self.place(from, span), span)]
            }
            Operation::Move(to, from) => {
                let Operand::Register(to) = to else {
                    unreachable!("a MOV goes to a register or to memory");
                };
                vec![build::assign(self.local(to), self.value(from, span), span)]
            }
            Operation::Fence(Some(kind)) => vec![build::stmt(StmtKind::Fence(*kind), span)],
            Operation::Fence(None) => vec![build::stmt(StmtKind::Skip, span)],
            Operation::Exchange { location, register } => vec![build::stmt(
                StmtKind::Swap {
                    target: build::name(self.local(register), span),
                    place: self.place(location, span),
                    value: self.register(register, span),
                },
                span,
            )],
            Operation::Add {
                to,
                what,
                negative,
                locked,
            } => {
                let what = self.value(what, span);
                let op = match negative {
                    true => BinaryOp::Sub,
                    false => BinaryOp::Add,
                };
                let sum =
                    |register: &str| build::binary(op, self.register(register, span), what.clone());
                let (mut statements, result) = match to {
                    Operand::Location(location) if *locked => {
                        let place = self.place(location, span);
                        let amount = if *negative {
                            negated(what.clone())
                        } else {
                            what.clone()
                        };
                        (vec![self.add(SCRATCH, place, amount, span)], sum(SCRATCH))
                    }
                    Operand::Location(location) => {
                        let place = self.place(location, span);
                        let read = build::load(self.local(SCRATCH), place.clone(), span);
                        (
                            vec![read, build::store(place, sum(SCRATCH), span)],
                            sum(SCRATCH),
                        )
                    }
                    Operand::Register(register) => {
                        let local = self.local(register);
                        let value = self.register(register, span);
                        (vec![build::assign(local, sum(register), span)], value)
                    }
                    Operand::Immediate(_) => unreachable!("a number is no target"),
                };
                statements.extend(self.result_flags(&result, span));
                statements
            }
            Operation::ExchangeAdd { location, register } => {
                let place = self.place(location, span);
                let added = self.register(register, span);
                let exchange = self.add(register, place, added.clone(), span);
                if !self.locals.contains_key(ZERO) && !self.locals.contains_key(LESS) {
                    return vec![exchange];
                }
                let keep = build::assign(self.local(SCRATCH), added.clone(), span);
                let kept = self.register(SCRATCH, span);
                let sum = build::binary(BinaryOp::Add, added, kept);
                let mut statements = vec![keep, exchange];
                statements.extend(self.result_flags(&sum, span));
                statements
            }
            Operation::CompareExchange { location, register } => {
                vec![self.compare_exchange(location, register, span)]
            }
            Operation::Compare(left, right) => self.compare(left, right, span),
            Operation::Test(register) => {
                let flags = self.result_flags(&self.register(register, span), span);
                match flags.is_empty() {
                    true => vec![build::stmt(StmtKind::Skip, span)],
                    false => flags,
                }
            }
            Operation::Return => vec![build::stmt(StmtKind::Stop, span)],
            Operation::Jump { when, label, at } => {
                let label = build::name(&self.labels[label.as_str()], *at);
                let jump = build::stmt(StmtKind::Goto(label), span);
                let Some(when) = when else {
                    return vec![jump];
                };
                let (condition, wanted) = match *when {
                    When::Equal(wanted) => (self.register(ZERO, span), wanted),
                    When::Less(wanted) => (self.register(LESS, span), wanted),
                    When::LessOrEqual(wanted) => {
                        let flags = [ZERO, LESS].map(|flag| self.register(flag, span));
                        let [zero, less] = flags;
                        (build::binary(BinaryOp::Or, zero, less), wanted)
                    }
                };
                let condition = if wanted {
                    condition
                } else {
                    build::not(condition)
                };
                let kind = StmtKind::If {
                    condition: Condition::Expr(condition),
                    then: Box::new(jump),
                    otherwise: None,
                };
                // Nothing can stand between a jump and the test of its flag.
                let block = build::block(vec![build::stmt(kind, span)], span);
                vec![build::stmt(StmtKind::Nofence(block), span)]
            }
        }
    }

    fn add(&self, target: &str, place: Place, value: Expr, span: Span) -> Stmt {
        let kind = StmtKind::Add {
            target: build::name(self.local(target), span),
            place,
            value,
        };
        build::stmt(kind, span)
    }

    /// `CMP`: only the flags matter. A location is read even if nobody looks.
    fn compare(&self, left: &Operand, right: &Operand, span: Span) -> Vec<Stmt> {
        let mut statements = Vec::new();
        let mut value = |operand: &Operand| match operand {
            Operand::Location(location) => {
                let place = self.place(location, span);
                statements.push(build::load(self.local(SCRATCH), place, span));
                self.register(SCRATCH, span)
            }
            other => self.value(other, span),
        };
        let (left, right) = (value(left), value(right));
        statements.extend(self.flags(&left, &right, span));
        if statements.is_empty() {
            statements.push(build::stmt(StmtKind::Skip, span));
        }
        statements
    }

    /// A compare-and-exchange leaves the old value behind when it fails, which `cas` does
    /// not tell: either the `cas` succeeds, or another value is found, also by an access
    /// that locks the location. A process that guesses wrongly goes no further.
    fn compare_exchange(&self, location: &str, register: &str, span: Span) -> Stmt {
        let accumulator = self.code.arch.accumulator();
        let place = self.place(location, span);
        let succeed = build::stmt(
            StmtKind::Cas {
                old: None,
                target: build::name(self.local(SUCCESS), span),
                place: place.clone(),
                expected: self.register(&accumulator, span),
                new: self.register(register, span),
            },
            span,
        );
        let mut success = vec![succeed, build::assume(self.register(SUCCESS, span), span)];
        let differs = build::binary(
            BinaryOp::NotEqual,
            self.register(SCRATCH, span),
            self.register(&accumulator, span),
        );
        let found = self.register(SCRATCH, span);
        let mut failure = vec![
            self.add(SCRATCH, place, build::int(0, span), span),
            build::assume(differs, span),
        ];
        // The accumulator is compared with what was found.
        let compared = self.register(&accumulator, span);
        success.extend(self.flags(&compared, &compared, span));
        failure.extend(self.flags(&compared, &found, span));
        failure.push(build::assign(self.local(&accumulator), found, span));
        let branches = [success, failure].map(|branch| build::block(branch, span));
        let either = build::stmt(StmtKind::Either(branches.into()), span);
        build::stmt(StmtKind::Nofence(build::block(vec![either], span)), span)
    }
}

fn negated(value: Expr) -> Expr {
    let span = value.span;
    match value.kind {
        crate::lang::ast::ExprKind::Int(value) if value != Domain::INT.low => {
            build::int(-value, span)
        }
        _ => build::unary(UnaryOp::Negate, value, span),
    }
}
