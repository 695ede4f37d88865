//! Statements that take several steps, as steps of other statements.

use super::code::Flattener;
use fencesmith::lang::ast::{Condition, Expr, ExprKind, Name, Place, Range, Stmt, StmtKind};
use fencesmith::program::BinaryOp;

fn read(name: &Name) -> Expr {
    Expr {
        kind: ExprKind::Name(name.text.clone()),
        span: name.span,
    }
}

fn int(value: i64, like: &Expr) -> Expr {
    Expr {
        kind: ExprKind::Int(value),
        span: like.span,
    }
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr {
        span: left.span,
        kind: ExprKind::Binary {
            op,
            left: Box::new(left),
            right: Box::new(right),
        },
    }
}

fn assign(target: &Name, value: Expr) -> StmtKind {
    StmtKind::Assign {
        target: target.clone(),
        value,
    }
}

impl Flattener {
    /// `i = low`, and as long as `i` is less than `high`, one more; nothing if `low` is more.
    pub fn count(&mut self, statement: &Stmt, variable: &Name, range: &Range, body: &Stmt) {
        let [start, head, test, more, exit] = [(); 5].map(|()| self.fresh());
        let some = binary(BinaryOp::LessEqual, range.low.clone(), range.high.clone());
        self.test(statement, &Condition::Expr(some), &start, &exit);
        self.mark(&start);
        self.step(statement, assign(variable, range.low.clone()));
        self.mark(&head);
        self.round(body, &test, &exit);
        self.jump(&test);
        self.mark(&test);
        let less = binary(BinaryOp::Less, read(variable), range.high.clone());
        self.test(statement, &Condition::Expr(less), &more, &exit);
        self.mark(&more);
        let next = binary(BinaryOp::Add, read(variable), int(1, &range.high));
        self.step(statement, assign(variable, next));
        self.jump(&head);
        self.mark(&exit);
    }

    /// Counts down to zero.
    pub fn repeat(&mut self, statement: &Stmt, count: &Expr, body: &Stmt) {
        let [head, inside, behind, exit] = [(); 4].map(|()| self.fresh());
        let left = self.hidden();
        self.step(statement, assign(&left, count.clone()));
        self.mark(&head);
        let more = binary(BinaryOp::Less, int(0, count), read(&left));
        self.test(statement, &Condition::Expr(more), &inside, &exit);
        self.mark(&inside);
        self.round(body, &behind, &exit);
        self.jump(&behind);
        self.mark(&behind);
        let less = binary(BinaryOp::Sub, read(&left), int(1, count));
        self.step(statement, assign(&left, less));
        self.jump(&head);
        self.mark(&exit);
    }

    /// Loads and tests, again and again.
    pub fn wait(&mut self, statement: &Stmt, condition: &Expr) {
        let target = self.hidden();
        let mut place = None;
        let tested = with_load(condition, &target, &mut place);
        let [head, exit] = [(); 2].map(|()| self.fresh());
        self.mark(&head);
        let place = place.expect("a shared place");
        self.step(statement, StmtKind::Load { target, place });
        self.test(statement, &Condition::Expr(tested), &exit, &head);
        self.mark(&exit);
    }

    /// Remembers what is compared with, swaps, and says whether it was that.
    pub fn compare_and_swap(&mut self, statement: &Stmt) {
        let StmtKind::Cas {
            target,
            old: Some(old),
            place,
            expected,
            new,
        } = &statement.kind
        else {
            panic!("not a cas with two results");
        };
        let (compared, unused) = (self.hidden(), self.hidden());
        self.step(statement, assign(&compared, expected.clone()));
        let swap = StmtKind::Cas {
            target: unused,
            old: Some(old.clone()),
            place: place.clone(),
            expected: read(&compared),
            new: new.clone(),
        };
        self.step(statement, swap);
        let success = binary(BinaryOp::Equal, read(old), read(&compared));
        self.step(statement, assign(target, success));
    }
}

/// The condition with a local in place of `x`, `y` or `z` and their cells, which is how random
/// programs call what is shared.
fn with_load(expr: &Expr, local: &Name, place: &mut Option<Place>) -> Expr {
    let shared = |name: &str| ["x", "y", "z"].contains(&name);
    let mut inside = |expr: &Expr| Box::new(with_load(expr, local, place));
    let kind = match &expr.kind {
        ExprKind::Unary { op, operand } => ExprKind::Unary {
            op: *op,
            operand: inside(operand),
        },
        ExprKind::Binary { op, left, right } => ExprKind::Binary {
            op: *op,
            left: inside(left),
            right: inside(right),
        },
        ExprKind::Name(name) if shared(name) => {
            *place = Some(Place {
                name: Name {
                    text: name.clone(),
                    span: expr.span,
                },
                index: None,
                span: expr.span,
            });
            return read(local);
        }
        ExprKind::Cell { name, index } if shared(&name.text) => {
            *place = Some(Place {
                name: name.clone(),
                index: Some(index.clone()),
                span: expr.span,
            });
            return read(local);
        }
        kind => kind.clone(),
    };
    Expr {
        kind,
        span: expr.span,
    }
}
