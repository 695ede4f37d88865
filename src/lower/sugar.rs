//! Statements that stand for several edges: counting loops, waits, `cas` with two results, and
//! arrays of a process.
//!
//! What they keep between these edges is in hidden locals, which are declared in the order of the
//! statements that need them and taken in the same order here. No fence can be typed between the
//! edges of one statement, so their positions are no fence points.

use super::process::Builder;
use crate::lang::ast::{self, Condition, ExprKind, Stmt, StmtKind};
use crate::lang::resolve::{HIDDEN, LocalVariable, SharedVariable};
use crate::program::{BinaryOp, Expr, Fault, Initial, Instr, Loc, LocalId, UnaryOp, Update};
use crate::source::Span;

type LocalExpr = Expr<LocalId>;

fn binary<A>(op: BinaryOp, left: Expr<A>, right: Expr<A>) -> Expr<A> {
    Expr::Binary(op, Box::new(left), Box::new(right))
}

/// Whether an index is one of an array.
fn within<A: Clone>(index: &Expr<A>, len: u32) -> Expr<A> {
    let low = binary(BinaryOp::LessEqual, Expr::Const(0), index.clone());
    let high = binary(BinaryOp::Less, index.clone(), Expr::Const(len.into()));
    binary(BinaryOp::And, low, high)
}

/// The index of a cell among all cells of a shared array. Where there are rows and columns, a
/// column that is none gives an index that is none.
pub fn flat_index<A: Clone>(
    index: &ast::Expr,
    variable: &SharedVariable,
    lower: &dyn Fn(&ast::Expr) -> Expr<A>,
) -> Expr<A> {
    let (ExprKind::Pair { row, column }, Some(columns)) = (&index.kind, variable.columns) else {
        return lower(index);
    };
    let (row, column) = (lower(row), lower(column));
    let before = binary(BinaryOp::Mul, row, Expr::Const(columns.into()));
    let flat = binary(BinaryOp::Add, before, column.clone());
    let flat = Expr::Conditional(
        Box::new(within(&column, columns)),
        Box::new(flat),
        Box::new(Expr::Const(-1)),
    );
    match flat.constant() {
        Some(value) => Expr::Const(value),
        None => flat,
    }
}

/// The value of a cell of an array of the process, whose index is known to be one.
pub fn cell((first, len): (LocalId, u32), index: LocalExpr) -> LocalExpr {
    let local = |cell: u32| Expr::Atom(LocalId(first.0 + cell));
    if let Some(at) = index.constant().and_then(|at| u32::try_from(at).ok())
        && at < len
    {
        return local(at);
    }
    (0..len - 1).rev().fold(local(len - 1), |others, at| {
        let here = binary(BinaryOp::Equal, index.clone(), Expr::Const(at.into()));
        Expr::Conditional(Box::new(here), Box::new(local(at)), Box::new(others))
    })
}

impl Builder<'_> {
    /// The next hidden local.
    fn hidden(&mut self) -> LocalId {
        let name = format!("{HIDDEN}{}", self.hidden);
        self.hidden += 1;
        self.local(&name)
    }

    /// Steps that choose the first values of locals, one after the other.
    pub(super) fn choices(&mut self, locals: &[LocalVariable], from: Loc, span: Span) -> Loc {
        let mut at = from;
        for (index, local) in locals.iter().enumerate() {
            if local.initial == Initial::Any {
                let instr = Instr::Havoc {
                    local: LocalId(index as u32),
                    low: Expr::Const(local.domain.low),
                    high: Expr::Const(local.domain.high),
                };
                at = self.passing(vec![instr], at, span);
            }
        }
        at
    }

    fn guard(&mut self, condition: LocalExpr, from: Loc, [yes, no]: [Loc; 2], span: Span) {
        for (wanted, to) in [(true, yes), (false, no)] {
            let condition = condition.clone();
            self.edge(from, to, Instr::Guard { condition, wanted }, span);
        }
    }

    /// `for (i in low..=high) body`: nothing if the range is empty; the last value is `high`, which
    /// is looked at again before each round.
    pub(super) fn count(
        &mut self,
        (variable, range): (&ast::Name, &ast::Range),
        body: &Stmt,
        span: Span,
        from: Loc,
        to: Loc,
    ) {
        let local = self.local(&variable.text);
        let (low, high) = (self.scope.expr(&range.low), self.scope.expr(&range.high));
        let (start, head, test) = (self.location(), self.location(), self.location());
        let from = self.checked(&[&range.low, &range.high], from, span);
        let some = binary(BinaryOp::LessEqual, low.clone(), high.clone());
        self.guard(some, from, [start, to], span);
        self.edge(start, head, Instr::Assign { local, value: low }, span);
        self.loops.push((to, test));
        self.body(body, head, test);
        self.loops.pop();
        let again = self.location();
        let test = self.checked(&[&range.high], test, span);
        let more = binary(BinaryOp::Less, Expr::Atom(local), high);
        self.guard(more, test, [again, to], span);
        let value = binary(BinaryOp::Add, Expr::Atom(local), Expr::Const(1));
        self.edge(again, head, Instr::Assign { local, value }, span);
    }

    /// `repeat (n) body`: a hidden local counts down.
    pub(super) fn repeat(
        &mut self,
        count: &ast::Expr,
        body: &Stmt,
        span: Span,
        from: Loc,
        to: Loc,
    ) {
        let local = self.hidden();
        let value = self.scope.expr(count);
        let (head, inside, behind) = (self.location(), self.location(), self.location());
        self.edge(from, head, Instr::Assign { local, value }, span);
        let more = binary(BinaryOp::Less, Expr::Const(0), Expr::Atom(local));
        self.guard(more, head, [inside, to], span);
        self.loops.push((to, behind));
        self.body(body, inside, behind);
        self.loops.pop();
        let value = binary(BinaryOp::Sub, Expr::Atom(local), Expr::Const(1));
        self.edge(behind, head, Instr::Assign { local, value }, span);
    }

    /// `await (condition)`: a loop that reads the place into a hidden local.
    pub(super) fn wait(&mut self, condition: &ast::Expr, span: Span, from: Loc, to: Loc) {
        let local = self.hidden();
        let head = self.head(from, span);
        let mut place = None;
        condition.visit(&mut |part| {
            let name = match &part.kind {
                ExprKind::Name(text) => text,
                ExprKind::Cell { name, .. } => &name.text,
                _ => return,
            };
            let shared = self.scope.shared.0.contains_key(name.as_str());
            if let (None, true) = (&place, shared) {
                place = Some(ast::Place {
                    name: ast::Name {
                        text: name.clone(),
                        span: part.span,
                    },
                    index: match &part.kind {
                        ExprKind::Cell { index, .. } => Some(index.clone()),
                        _ => None,
                    },
                    span: part.span,
                });
            }
        });
        let read_from = place.expect("checked to read a place");
        let place = self.place(&read_from);
        let indices: Vec<&ast::Expr> = read_from.index.as_deref().into_iter().collect();
        let head = self.checked(&indices, head, span);
        let read = self.location();
        self.edge(head, read, Instr::Load { local, place }, span);
        let read = self.passing(self.bounds(&[condition], Some(local)), read, span);
        let tested = self.scope.lowered(condition, Some(local));
        self.guard(tested, read, [to, head], span);
    }

    /// Passes on only if all indices of the process's arrays in these expressions are in bounds.
    pub(super) fn checked(&mut self, exprs: &[&ast::Expr], from: Loc, span: Span) -> Loc {
        self.passing(self.bounds(exprs, None), from, span)
    }

    /// Instructions one after the other; where they end.
    fn passing(&mut self, instrs: Vec<Instr>, from: Loc, span: Span) -> Loc {
        let mut at = from;
        for instr in instrs {
            let next = self.location();
            self.edge(at, next, instr, span);
            at = next;
        }
        at
    }

    /// As [`Builder::checked`], for a test.
    pub(super) fn checked_test(&mut self, condition: &Condition, from: Loc) -> Loc {
        match condition {
            Condition::Any(_) => from,
            Condition::Expr(expr) => self.checked(&[expr], from, expr.span),
        }
    }

    /// The instructions of a simple statement.
    pub(super) fn instrs(&mut self, statement: &Stmt) -> Vec<Instr> {
        let mut instrs = self.bounds(&parts(statement), None);
        match &statement.kind {
            StmtKind::Cas {
                target,
                old: Some(old),
                place,
                expected,
                new,
            } => {
                let compared = self.hidden();
                let value = self.scope.expr(expected);
                let swap = Update::CasOld {
                    expected: Expr::Atom(compared),
                    new: self.scope.expr(new),
                };
                let found = Expr::Atom(self.local(&old.text));
                let local = self.local(&target.text);
                let success = binary(BinaryOp::Equal, found, Expr::Atom(compared));
                instrs.push(Instr::Assign {
                    local: compared,
                    value,
                });
                instrs.push(self.update(old, place, swap));
                instrs.push(Instr::Assign {
                    local,
                    value: success,
                });
            }
            StmtKind::AssignCell {
                target,
                index,
                value,
            } => {
                let array = self.scope.array(&target.text);
                let (first, len) = array.expect("arrays were checked");
                instrs.extend(self.bound(index, len, None, None));
                let (at, new) = (self.hidden(), self.hidden());
                let assign = |local, value| Instr::Assign { local, value };
                instrs.push(assign(at, self.scope.expr(index)));
                instrs.push(assign(new, self.scope.expr(value)));
                for cell in 0..len {
                    let local = LocalId(first.0 + cell);
                    let here = binary(BinaryOp::Equal, Expr::Atom(at), Expr::Const(cell.into()));
                    let value = Expr::Conditional(
                        Box::new(here),
                        Box::new(Expr::Atom(new)),
                        Box::new(Expr::Atom(local)),
                    );
                    instrs.push(assign(local, value));
                }
            }
            _ => instrs.push(self.instr(statement)),
        }
        instrs
    }

    /// Assertions that all indices of the process's arrays are in bounds, in the order of
    /// evaluation.
    fn bounds(&self, exprs: &[&ast::Expr], read: Option<LocalId>) -> Vec<Instr> {
        let mut instrs = Vec::new();
        for expr in exprs {
            self.add_bounds(expr, None, read, &mut instrs);
        }
        instrs
    }

    /// `when` is the condition under which the expression is evaluated at all; `read` holds the
    /// value of what is shared.
    fn add_bounds(
        &self,
        expr: &ast::Expr,
        when: Option<&LocalExpr>,
        read: Option<LocalId>,
        to: &mut Vec<Instr>,
    ) {
        let and = |condition: LocalExpr| match when {
            None => condition,
            Some(when) => binary(BinaryOp::And, when.clone(), condition),
        };
        let not = |expr| Expr::Unary(UnaryOp::Not, Box::new(expr));
        match &expr.kind {
            ExprKind::Cell { name, index } => {
                self.add_bounds(index, when, read, to);
                if let Some((_, len)) = self.scope.array(&name.text) {
                    to.extend(self.bound(index, len, when, read));
                }
            }
            ExprKind::Pair { row, column } => {
                self.add_bounds(row, when, read, to);
                self.add_bounds(column, when, read, to);
            }
            ExprKind::Unary { operand, .. } => self.add_bounds(operand, when, read, to),
            ExprKind::Binary { op, left, right } => {
                self.add_bounds(left, when, read, to);
                let needed = self.reads_array(right) && matches!(op, BinaryOp::And | BinaryOp::Or);
                match needed {
                    false => self.add_bounds(right, when, read, to),
                    true => {
                        let left = self.scope.lowered(left, read);
                        let goes_on = if *op == BinaryOp::And {
                            left
                        } else {
                            not(left)
                        };
                        self.add_bounds(right, Some(&and(goes_on)), read, to);
                    }
                }
            }
            ExprKind::Conditional {
                condition,
                then,
                otherwise,
            } => {
                self.add_bounds(condition, when, read, to);
                if self.reads_array(then) || self.reads_array(otherwise) {
                    let holds = self.scope.lowered(condition, read);
                    self.add_bounds(then, Some(&and(holds.clone())), read, to);
                    self.add_bounds(otherwise, Some(&and(not(holds))), read, to);
                }
            }
            _ => {}
        }
    }

    /// Whether a cell of an array of the process occurs in an expression.
    fn reads_array(&self, expr: &ast::Expr) -> bool {
        let mut found = false;
        expr.visit(&mut |part| {
            if let ExprKind::Cell { name, .. } = &part.kind {
                found |= self.scope.array(&name.text).is_some();
            }
        });
        found
    }

    /// Fails if an index is none of an array; nothing if it is a number that is one.
    fn bound(
        &self,
        index: &ast::Expr,
        len: u32,
        when: Option<&LocalExpr>,
        read: Option<LocalId>,
    ) -> Option<Instr> {
        if let ExprKind::Int(at) = index.kind
            && (0..i64::from(len)).contains(&at)
        {
            return None;
        }
        let inside = within(&self.scope.lowered(index, read), len);
        let condition = match when {
            None => inside,
            Some(when) => {
                let skipped = Expr::Unary(UnaryOp::Not, Box::new(when.clone()));
                binary(BinaryOp::Or, skipped, inside)
            }
        };
        let fault = Some(Fault::OutsideArray { len });
        Some(Instr::Assert { condition, fault })
    }
}

/// The expressions of a simple statement, in the order of evaluation.
fn parts(statement: &Stmt) -> Vec<&ast::Expr> {
    fn index(place: &ast::Place) -> impl Iterator<Item = &ast::Expr> {
        place.index.as_deref().into_iter()
    }
    match &statement.kind {
        StmtKind::Store { place, value }
        | StmtKind::Swap { place, value, .. }
        | StmtKind::Add { place, value, .. } => index(place).chain([value]).collect(),
        StmtKind::Load { place, .. } => index(place).collect(),
        StmtKind::Cas {
            place,
            expected,
            new,
            ..
        } => index(place).chain([expected, new]).collect(),
        StmtKind::Assign { value, .. } => vec![value],
        StmtKind::AssignCell { index, value, .. } => vec![index, value],
        StmtKind::Havoc { range, .. } => {
            let ends = range.iter().flat_map(|range| [&range.low, &range.high]);
            ends.collect()
        }
        StmtKind::Assume(condition) | StmtKind::Assert(condition) => vec![condition],
        _ => Vec::new(),
    }
}
