//! What C programs are made of: the statements that stand for one step each, and no integers
//! without bound.

use crate::diagnostic::Diagnostic;
use crate::lang::ast::{
    Ast, Block, Condition, Expr, ExprKind, Item, Member, Place, Predicate, Stmt, StmtKind, Type,
};
use crate::lang::resolve::Symbols;
use crate::program::{BinaryOp, UnaryOp};
use crate::source::Span;

/// Refuses a program that has more than that, with what to write instead.
pub fn check(ast: &Ast, symbols: &Symbols) -> Result<(), Vec<Diagnostic>> {
    let mut check = Check(Vec::new());
    for template in &symbols.templates {
        let locals = template.instances.first().map(|first| &first.locals);
        for (first, _) in template.arrays.values() {
            if let Some(local) = locals.and_then(|locals| locals.get(*first)) {
                check.refuse(
                    local.span,
                    "an array of a process",
                    "use a local for each cell",
                );
            }
        }
    }
    for item in &ast.items {
        match item {
            Item::Const { .. } => {}
            Item::Shared(declaration) => {
                check.declared(&declaration.ty, declaration.span);
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

    fn declared(&mut self, ty: &Type, span: Span) {
        if *ty == Type::Integer {
            let help = "C's integers overflow: give the variables ranges, `int[low..=high]`";
            self.refuse(span, "integers without bound", help);
        }
    }

    fn block(&mut self, block: &Block) {
        for member in &block.members {
            match member {
                Member::Locals(declaration) => self.declared(&declaration.ty, declaration.span),
                Member::Statement(statement) => self.statement(statement),
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
        let span = statement.span;
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
                old,
                place,
                expected,
                new,
                ..
            } => {
                if old.is_some() {
                    let help = "leave it out, and load the place where the old value matters";
                    self.refuse(span, "`cas` with the old value", help);
                }
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
            StmtKind::AssignCell { .. } => {
                self.refuse(span, "a cell of an array of a process", "use locals");
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
            use BinaryOp::{BitAnd, BitOr, BitXor, Shl, Shr};
            let bits = "use `/`, `%` and sums instead of bits";
            let (what, help) = match &part.kind {
                ExprKind::Pair { .. } => ("rows and columns", "use an array of one index"),
                ExprKind::Quantified { .. } => ("a quantifier", "write out what it stands for"),
                ExprKind::Binary {
                    op: BitAnd | BitOr | BitXor | Shl | Shr,
                    ..
                } => ("an operator on bits", bits),
                ExprKind::Unary {
                    op: UnaryOp::Complement,
                    ..
                } => ("an operator on bits", bits),
                _ => return,
            };
            self.refuse(part.span, what, help);
        });
    }
}
