//! Programs whose `int`s without a range are integers without bound.

use super::ast::{Ast, Block, Declaration, Item, Member, Stmt, StmtKind, Type};

/// The same program with `integer` wherever it says `int` without a range.
pub fn unbounded(mut ast: Ast) -> Ast {
    for item in &mut ast.items {
        match item {
            Item::Shared(declaration) => declared(declaration),
            Item::Process(process) => block(&mut process.body),
            Item::Const { .. } | Item::Property(_) => {}
        }
    }
    ast
}

fn declared(declaration: &mut Declaration) {
    if declaration.ty == Type::Int {
        declaration.ty = Type::Integer;
    }
}

fn block(of: &mut Block) {
    for member in &mut of.members {
        match member {
            Member::Locals(declaration) => declared(declaration),
            Member::Statement(inner) => statement(inner),
        }
    }
}

fn statement(of: &mut Stmt) {
    match &mut of.kind {
        StmtKind::Labelled {
            statement: body, ..
        }
        | StmtKind::While { body, .. }
        | StmtKind::DoWhile { body, .. }
        | StmtKind::For { body, .. }
        | StmtKind::Repeat { body, .. } => statement(body),
        StmtKind::If {
            then, otherwise, ..
        } => {
            statement(then);
            otherwise.iter_mut().for_each(|body| statement(body));
        }
        StmtKind::Either(branches) => branches.iter_mut().for_each(block),
        StmtKind::Expanded(body)
        | StmtKind::Nofence(body)
        | StmtKind::Atomic(body)
        | StmtKind::Block(body) => block(body),
        _ => {}
    }
}
