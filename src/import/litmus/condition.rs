//! Conditions on final states.

use crate::import::build;
use crate::import::scan::{Cursor, Read, TokenKind};
use crate::lang::ast::{Expr, ExprKind, ProcessRef};
use crate::program::{BinaryOp, Value};
use crate::source::Span;
use std::fmt;

/// Which question a test asks about its condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantifier {
    /// `exists` and `~exists`: can it be observed?
    Exists,
    /// `forall`: is it always observed?
    Forall,
}

/// What is observed of a final state, with its name in the program.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Observed {
    Register {
        process: usize,
        name: String,
        native: String,
    },
    Location {
        name: String,
        native: String,
    },
}

/// A condition on a final state.
#[derive(Debug, Clone)]
pub enum Condition {
    Constant(bool, Span),
    Equal(Observed, Value, Span),
    Not(Box<Condition>),
    All(Vec<Condition>),
    Any(Vec<Condition>),
}

impl Observed {
    pub fn register(process: usize, name: &str) -> Observed {
        Observed::Register {
            process,
            name: name.to_string(),
            native: String::new(),
        }
    }

    pub fn location(name: &str) -> Observed {
        Observed::Location {
            name: name.to_string(),
            native: String::new(),
        }
    }
}

impl fmt::Display for Observed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Observed::Register { process, name, .. } => write!(f, "{process}:{name}"),
            Observed::Location { name, .. } => write!(f, "[{name}]"),
        }
    }
}

impl Condition {
    /// Whether it holds, given what is observed.
    pub fn holds(&self, value: &dyn Fn(&Observed) -> Value) -> bool {
        match self {
            Condition::Constant(constant, _) => *constant,
            Condition::Equal(observed, wanted, _) => value(observed) == *wanted,
            Condition::Not(inner) => !inner.holds(value),
            Condition::All(parts) => parts.iter().all(|part| part.holds(value)),
            Condition::Any(parts) => parts.iter().any(|part| part.holds(value)),
        }
    }

    /// Visits everything it speaks of.
    pub fn observed(&self, visit: &mut dyn FnMut(&Observed, Span)) {
        match self {
            Condition::Constant(..) => {}
            Condition::Equal(observed, _, span) => visit(observed, *span),
            Condition::Not(inner) => inner.observed(visit),
            Condition::All(parts) | Condition::Any(parts) => {
                parts.iter().for_each(|part| part.observed(visit));
            }
        }
    }

    /// The same condition with other names.
    pub fn renamed(&self, rename: &dyn Fn(&Observed) -> Observed) -> Condition {
        let all = |parts: &[Condition]| parts.iter().map(|part| part.renamed(rename)).collect();
        match self {
            Condition::Constant(..) => self.clone(),
            Condition::Equal(observed, value, span) => {
                Condition::Equal(rename(observed), *value, *span)
            }
            Condition::Not(inner) => Condition::Not(Box::new(inner.renamed(rename))),
            Condition::All(parts) => Condition::All(all(parts)),
            Condition::Any(parts) => Condition::Any(all(parts)),
        }
    }

    /// The condition in the native language, given native names and those of processes.
    pub fn expr(
        &self,
        native: &dyn Fn(&Observed) -> Observed,
        process: &dyn Fn(usize) -> String,
    ) -> Expr {
        let joined = |op, parts: &[Condition]| {
            let parts = parts.iter().map(|part| part.expr(native, process));
            build::chain(op, parts.collect()).expect("a chain has operands")
        };
        match self {
            Condition::Constant(constant, span) => build::expr(ExprKind::Bool(*constant), *span),
            Condition::Equal(observed, value, span) => {
                let seen = match native(observed) {
                    Observed::Location { native, .. } => build::var(&native, *span),
                    Observed::Register {
                        process: index,
                        native,
                        ..
                    } => {
                        let owner = ProcessRef {
                            name: build::name(&process(index), *span),
                            index: None,
                            span: *span,
                        };
                        let local = build::name(&native, *span);
                        let kind = ExprKind::Local {
                            process: owner,
                            local,
                        };
                        build::expr(kind, *span)
                    }
                };
                build::binary(BinaryOp::Equal, seen, build::int(*value, *span))
            }
            Condition::Not(inner) => build::not(inner.expr(native, process)),
            Condition::All(parts) => joined(BinaryOp::And, parts),
            Condition::Any(parts) => joined(BinaryOp::Or, parts),
        }
    }
}

/// How the registers of the architecture are called.
pub type Register<'r> = &'r dyn Fn(&str) -> Option<String>;

/// Reads a condition: `\/` binds weakest, then `/\`, then `not` and `~`.
pub fn read(cursor: &mut Cursor, register: Register) -> Read<Condition> {
    let mut parts = vec![conjunction(cursor, register)?];
    while cursor.eat("\\/") {
        parts.push(conjunction(cursor, register)?);
    }
    Ok(several(parts, Condition::Any))
}

fn conjunction(cursor: &mut Cursor, register: Register) -> Read<Condition> {
    let mut parts = vec![unit(cursor, register)?];
    while cursor.eat("/\\") {
        parts.push(unit(cursor, register)?);
    }
    Ok(several(parts, Condition::All))
}

fn several(mut parts: Vec<Condition>, join: fn(Vec<Condition>) -> Condition) -> Condition {
    match parts.len() {
        1 => parts.remove(0),
        _ => join(parts),
    }
}

fn unit(cursor: &mut Cursor, register: Register) -> Read<Condition> {
    let first = cursor.token().span;
    if cursor.eat("not") || cursor.eat("~") {
        let inner = cursor.nested(|cursor| unit(cursor, register))?;
        return Ok(Condition::Not(Box::new(inner)));
    }
    if cursor.eat("(") {
        let inner = cursor.nested(|cursor| read(cursor, register))?;
        cursor.expect(")")?;
        return Ok(inner);
    }
    for (word, constant) in [("true", true), ("false", false)] {
        if cursor.at(word) && cursor.peek(1).text != "=" {
            return Ok(Condition::Constant(constant, cursor.bump().span));
        }
    }
    let observed = target(cursor, register)?;
    cursor.expect("=")?;
    if cursor.at_word() {
        let message = format!("'{}' is not a number", cursor.token().text);
        let help = "addresses cannot be compared, only values";
        return Err(cursor.hinted(message, help));
    }
    let value = cursor.int("a number")?;
    Ok(Condition::Equal(observed, value, cursor.since(first)))
}

/// Reads `0:EAX`, `P0:EAX`, `x` or `[x]`.
pub fn target(cursor: &mut Cursor, register: Register) -> Read<Observed> {
    let token = cursor.token();
    if cursor.eat("[") {
        let name = cursor.word("a location")?.text;
        cursor.expect("]")?;
        return Ok(Observed::location(name));
    }
    if cursor.peek(1).text == ":" {
        let digits = token.text.strip_prefix(['P', 'p']).unwrap_or(token.text);
        let Ok(process) = digits.parse::<usize>() else {
            return Err(cursor.expected("a process such as `0`"));
        };
        cursor.bump();
        cursor.bump();
        cursor.eat("%");
        let word = cursor.token();
        let name = (word.kind == TokenKind::Word).then(|| register(word.text));
        let Some(Some(name)) = name else {
            return Err(cursor.expected("a register"));
        };
        cursor.bump();
        return Ok(Observed::register(process, &name));
    }
    if token.kind == TokenKind::Word {
        if register(token.text).is_some() {
            let message = format!("whose register is '{}'?", token.text);
            let help = format!("name the process: `0:{}`", token.text);
            return Err(cursor.hinted(message, help));
        }
        return Ok(Observed::location(cursor.bump().text));
    }
    Err(cursor.expected("a register such as `0:EAX` or a location such as `x`"))
}
