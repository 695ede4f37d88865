//! The code of a process, with its memory operations on buffers.

use super::access::Ways;
use super::queues::Buffer;
use super::{NOWHERE, either, number};
use crate::import::build::{self, assume, block, goto, labelled, load, not, stmt, var};
use crate::lang::ast::{Block, Condition, Expr, ExprKind, Member, Place, Process, Stmt, StmtKind};
use crate::lang::substitute;

/// How a process is translated.
pub struct Translation<'a> {
    /// None if it stores nothing.
    pub buffer: Option<&'a Buffer>,
    /// The label at its end, if one is needed.
    pub stopped: Option<&'a str>,
}

impl Translation<'_> {
    pub fn process(&self, process: &Process) -> Process {
        let mut body = self.block(&process.body);
        if let Some(buffer) = self.buffer {
            let locals = buffer.locals(false).into_iter().map(Member::Locals);
            body.members.splice(0..0, locals);
        }
        if let Some(stopped) = self.stopped {
            // It stays there.
            let end = labelled(stopped, NOWHERE, assume(number(0), NOWHERE));
            body.members.push(Member::Statement(end));
        }
        Process {
            name: process.name.clone(),
            parameter: process.parameter.clone(),
            body,
        }
    }

    fn block(&self, block: &Block) -> Block {
        let member = |member: &Member| match member {
            Member::Locals(declared) => Member::Locals(declared.clone()),
            Member::Statement(statement) => Member::Statement(self.statement(statement)),
        };
        Block {
            members: block.members.iter().map(member).collect(),
            span: block.span,
        }
    }

    fn boxed(&self, statement: &Stmt) -> Box<Stmt> {
        Box::new(self.statement(statement))
    }

    fn statement(&self, statement: &Stmt) -> Stmt {
        let kind = match &statement.kind {
            StmtKind::Labelled { label, statement } => StmtKind::Labelled {
                label: label.clone(),
                statement: self.boxed(statement),
            },
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => StmtKind::If {
                condition: condition.clone(),
                then: self.boxed(then),
                otherwise: otherwise.as_ref().map(|other| self.boxed(other)),
            },
            StmtKind::While { condition, body } => StmtKind::While {
                condition: condition.clone(),
                body: self.boxed(body),
            },
            StmtKind::DoWhile { body, condition } => StmtKind::DoWhile {
                body: self.boxed(body),
                condition: condition.clone(),
            },
            StmtKind::For {
                variable,
                range,
                head,
                body,
            } => StmtKind::For {
                variable: variable.clone(),
                range: range.clone(),
                head: *head,
                body: self.boxed(body),
            },
            StmtKind::Repeat { count, head, body } => StmtKind::Repeat {
                count: count.clone(),
                head: *head,
                body: self.boxed(body),
            },
            StmtKind::Expanded(block) => StmtKind::Block(self.block(block)),
            StmtKind::Either(branches) => {
                StmtKind::Either(branches.iter().map(|branch| self.block(branch)).collect())
            }
            StmtKind::Nofence(block) => StmtKind::Nofence(self.block(block)),
            StmtKind::Block(block) => StmtKind::Block(self.block(block)),
            StmtKind::Stop => match self.stopped {
                Some(stopped) => return goto(stopped, statement.span),
                None => StmtKind::Stop,
            },
            _ => return self.operation(statement),
        };
        stmt(kind, statement.span)
    }

    /// A statement without statements inside.
    fn operation(&self, statement: &Stmt) -> Stmt {
        let Some(buffer) = self.buffer else {
            return statement.clone();
        };
        let behind = |ways: Ways| {
            let last = |mut code: Vec<Stmt>| {
                code.push(statement.clone());
                code
            };
            ways.into_iter().map(last).collect()
        };
        let target = |place: &Place| buffer.target(&place.name.text);
        either(match &statement.kind {
            StmtKind::Store { place, value } => {
                let (at, target) = target(place).expect("what is stored to is a target");
                buffer.store(place, value, at, target)
            }
            StmtKind::Load {
                target: into,
                place,
            } => match target(place) {
                Some((at, target)) => buffer.load(&into.text, place, at, target),
                None => behind(vec![buffer.may_load()]),
            },
            StmtKind::Await(condition) => return self.wait(buffer, condition, statement),
            StmtKind::Cas { place, .. }
            | StmtKind::Swap { place, .. }
            | StmtKind::Add { place, .. } => behind(buffer.may_update(place)),
            StmtKind::Fence(kind) => vec![buffer.fence(*kind)],
            StmtKind::Atomic(block) => {
                let own = block.members.iter().filter_map(|member| match member {
                    Member::Statement(statement) => Some(statement.clone()),
                    Member::Locals(_) => None,
                });
                let mut code = buffer.drained();
                code.extend(own);
                vec![code]
            }
            _ => return statement.clone(),
        })
    }

    /// A wait: a loop that loads the place.
    fn wait(&self, buffer: &Buffer, condition: &Expr, statement: &Stmt) -> Stmt {
        let span = statement.span;
        let read = |part: &ExprKind| {
            let (name, index) = match part {
                ExprKind::Name(name) => (name, None),
                ExprKind::Cell { name, index } => (&name.text, Some(index.clone())),
                _ => return None,
            };
            let into = buffer.awaited(name)?;
            Some((build::name(name, span), index, into))
        };
        let mut found = None;
        condition.visit(&mut |part| found = found.take().or_else(|| read(&part.kind)));
        let (name, index, into) = found.expect("a wait reads a place");
        let place = Place { name, index, span };
        let tested = substitute(condition, &|part| {
            read(part).map(|(_, _, into)| var(into, span))
        });
        let load = self.operation(&load(into, place, span));
        stmt(
            StmtKind::DoWhile {
                body: Box::new(stmt(StmtKind::Block(block(vec![load], span)), span)),
                condition: Condition::Expr(not(tested)),
            },
            span,
        )
    }
}
