//! What C programs are made of: the statements that stand for one step each, and arrays of one
//! index.

use crate::diagnostic::Diagnostic;
use crate::lang::ast::{
    Ast, Block, Condition, Expr, ExprKind, Item, Member, Place, Predicate, Stmt, StmtKind,
};
use crate::source::Span;

/// Refuses a program that has more than that, with what to write instead.
pub fn check(ast: &Ast) -> Result<(), Vec<Diagnostic>> {
    let mut check = Check(Vec::new());
    for item in &ast.items {
        match item {
            Item::Const { .. } => {}
            Item::Shared(declaration) => {
                for variable in &declaration.variables {
                    let columns = variable.len.as_ref().filter(|len| is_pair(len));
                    if let Some(len) = columns {
                        check.refuse(len.span, "rows and columns", "use an array of one index");
                    }
                }
            }
            Item::Process(process) => check.block(&process.body),
            Item::Property(property) => {
                if let Predicate::Expr(predicate) = &property.predicate {
                    check.expr(predicate);
                }
            }
        }
    }
    match check.0.is_empty() {
        true => Ok(()),
        false => Err(check.0),
    }
}

fn is_pair(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Pair { .. })
}

struct Check(Vec<Diagnostic>);

impl Check {
    fn refuse(&mut self, span: Span, what: &str, help: &str) {
        let message = format!("this cannot be translated: {what}");
        self.0.push(Diagnostic::error(span, message).help(help));
    }

    fn block(&mut self, block: &Block) {
        for member in &block.members {
            if let Member::Statement(statement) = member {
                self.statement(statement);
            }
        }
    }

    fn place(&mut self, place: &Place) {
        if let Some(index) = &place.index {
            self.expr(index);
        }
    }

    fn condition(&mut self, condition: &Condition) {
        if let Condition::Expr(expr) = condition {
            self.expr(expr);
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Labelled { statement, .. } => self.statement(statement),
            StmtKind::Store { place, value }
            | StmtKind::Swap { place, value, .. }
            | StmtKind::Add { place, value, .. } => {
                self.place(place);
                self.expr(value);
            }
            StmtKind::Load { place, .. } => self.place(place),
            StmtKind::Cas {
                place,
                expected,
                new,
                ..
            } => {
                self.place(place);
                self.expr(expected);
                self.expr(new);
            }
            StmtKind::Assign { value, .. } => self.expr(value),
            StmtKind::Havoc { range, .. } => {
                for end in range.iter().flat_map(|range| [&range.low, &range.high]) {
                    self.expr(end);
                }
            }
            StmtKind::Assume(expr) | StmtKind::Assert(expr) => self.expr(expr),
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => {
                self.condition(condition);
                self.statement(then);
                otherwise.iter().for_each(|other| self.statement(other));
            }
            StmtKind::While { condition, body } | StmtKind::DoWhile { body, condition } => {
                self.condition(condition);
                self.statement(body);
            }
            StmtKind::Either(branches) => branches.iter().for_each(|branch| self.block(branch)),
            StmtKind::Nofence(block) | StmtKind::Atomic(block) | StmtKind::Block(block) => {
                self.block(block);
            }
            StmtKind::AssignCell { index, value, .. } => {
                self.expr(index);
                self.expr(value);
            }
            StmtKind::For { .. }
            | StmtKind::Repeat { .. }
            | StmtKind::Await(_)
            | StmtKind::Expanded(_) => unreachable!("these are written out"),
            StmtKind::Fence(_)
            | StmtKind::Skip
            | StmtKind::Goto(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Stop => {}
        }
    }

    fn expr(&mut self, expr: &Expr) {
        expr.visit(&mut |part| {
            if is_pair(part) {
                self.refuse(part.span, "rows and columns", "use an array of one index");
            }
        });
    }
}
