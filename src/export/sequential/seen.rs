//! What the statements of a process ask of its buffers.

use crate::lang::ast::{Block, ExprKind, Member, Stmt, StmtKind};
use crate::program::FenceKind;

/// What a process does, as far as it matters to its buffers.
#[derive(Default)]
pub struct Seen {
    pub stored: Vec<String>,
    /// What occurs in conditions of waits.
    pub awaited: Vec<String>,
    pub store_store: bool,
    pub store_load: bool,
}

impl Seen {
    pub fn block(&mut self, block: &Block) {
        for member in &block.members {
            if let Member::Statement(statement) = member {
                self.statement(statement);
            }
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Labelled { statement, .. } => self.statement(statement),
            StmtKind::Store { place, .. } => self.stored.push(place.name.text.clone()),
            StmtKind::Await(condition) => condition.visit(&mut |part| match &part.kind {
                ExprKind::Name(name) => self.awaited.push(name.clone()),
                ExprKind::Cell { name, .. } => self.awaited.push(name.text.clone()),
                _ => {}
            }),
            StmtKind::Fence(FenceKind::StoreStore) => self.store_store = true,
            StmtKind::Fence(FenceKind::StoreLoad) => self.store_load = true,
            StmtKind::If {
                then, otherwise, ..
            } => {
                self.statement(then);
                otherwise.iter().for_each(|other| self.statement(other));
            }
            StmtKind::While { body, .. }
            | StmtKind::DoWhile { body, .. }
            | StmtKind::For { body, .. }
            | StmtKind::Repeat { body, .. } => self.statement(body),
            StmtKind::Either(branches) => branches.iter().for_each(|b| self.block(b)),
            StmtKind::Nofence(block) | StmtKind::Expanded(block) | StmtKind::Block(block) => {
                self.block(block);
            }
            // What an atomic block stores goes to memory.
            _ => {}
        }
    }
}
