//! Programs whose `int`s without a range are integers without bound.

use super::ast::{Ast, Declaration, Item, Type};

/// The same program with `integer` wherever it says `int` without a range.
pub fn unbounded(mut ast: Ast) -> Ast {
    for item in &mut ast.items {
        match item {
            Item::Shared(declaration) => declared(declaration),
            Item::Process(process) => process.body.visit_mut(&mut declared, &mut |_| {}),
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
