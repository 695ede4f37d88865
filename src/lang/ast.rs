//! The syntax tree of a `.fen` program. Every node knows where it stands in the source.

use crate::program::{self, BinaryOp, FenceKind, PropertyKind, UnaryOp, Value};
use crate::source::Span;

/// A whole program, items in source order.
#[derive(Debug, Clone, PartialEq)]
pub struct Ast {
    pub items: Vec<Item>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    Const { name: Name, value: Expr },
    Shared(Declaration),
    Process(Process),
    Property(Property),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    pub text: String,
    pub span: Span,
}

/// `bool a, b = true;` or `int[0..=3] x[2] = {1, 2};`
#[derive(Debug, Clone, PartialEq)]
pub struct Declaration {
    pub ty: Type,
    pub variables: Vec<Variable>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    pub name: Name,
    /// The number of cells; of rows and columns, if it is a [`ExprKind::Pair`].
    pub len: Option<Expr>,
    pub init: Option<Init>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    Bool,
    Int,
    /// Mathematical integers.
    Integer,
    Ranged(Range),
}

/// `low ..= high`, both ends included.
#[derive(Debug, Clone, PartialEq)]
pub struct Range {
    pub low: Expr,
    pub high: Expr,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Init {
    Value(Expr),
    Cells(Vec<Expr>, Span),
    /// `*`: any value of the declared range.
    Any(Span),
}

/// A process, or a template that gives one process per value of its parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Process {
    pub name: Name,
    pub parameter: Option<Parameter>,
    pub body: Block,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    pub name: Name,
    pub range: Range,
}

/// `{ … }`; the span covers the braces.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    pub members: Vec<Member>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Member {
    Locals(Declaration),
    Statement(Stmt),
}

/// A statement; the span runs from its first token to its last, semicolon included.
#[derive(Debug, Clone, PartialEq)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum StmtKind {
    Labelled {
        label: Name,
        statement: Box<Stmt>,
    },
    Store {
        place: Place,
        value: Expr,
    },
    Load {
        target: Name,
        place: Place,
    },
    /// `cas ok = x, e, n;` or `cas ok, old = x, e, n;`
    Cas {
        target: Name,
        /// Where the old value goes, if it is asked for.
        old: Option<Name>,
        place: Place,
        expected: Expr,
        new: Expr,
    },
    Swap {
        target: Name,
        place: Place,
        value: Expr,
    },
    Add {
        target: Name,
        place: Place,
        value: Expr,
    },
    Fence(FenceKind),
    Assign {
        target: Name,
        value: Expr,
    },
    /// `a[i] = e;` for an array of the process.
    AssignCell {
        target: Name,
        index: Expr,
        value: Expr,
    },
    Havoc {
        target: Name,
        range: Option<Range>,
    },
    /// Reads a place again and again until a condition on it holds.
    Await(Expr),
    Skip,
    Goto(Name),
    Break,
    Continue,
    Stop,
    Assume(Expr),
    Assert(Expr),
    If {
        condition: Condition,
        then: Box<Stmt>,
        otherwise: Option<Box<Stmt>>,
    },
    While {
        condition: Condition,
        body: Box<Stmt>,
    },
    DoWhile {
        body: Box<Stmt>,
        condition: Condition,
    },
    /// `for (i in low..=high) body`
    For {
        variable: Name,
        range: Range,
        /// Everything before the body.
        head: Span,
        body: Box<Stmt>,
    },
    /// `repeat (n) body`
    Repeat {
        count: Expr,
        head: Span,
        body: Box<Stmt>,
    },
    Either(Vec<Block>),
    /// What a call of a macro stands for: a copy of its body, whose parts stand where they were
    /// typed. The statement itself stands where the call is.
    Expanded(Block),
    Nofence(Block),
    Atomic(Block),
    Block(Block),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    Expr(Expr),
    /// `*`: either way.
    Any(Span),
}

/// A shared variable or array cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    pub name: Name,
    pub index: Option<Box<Expr>>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Property {
    pub kind: PropertyKind,
    pub predicate: Predicate,
    pub span: Span,
}

/// What a property speaks of.
#[derive(Debug, Clone, PartialEq)]
pub enum Predicate {
    /// Of `mutex`: two processes are at this label.
    TwoAt(Name),
    /// Of all other properties.
    Expr(Expr),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

/// Expressions of processes and of properties; `At`, `Local` and `Quantified` occur in properties
/// only.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    Int(i64),
    Bool(bool),
    /// A local, a parameter or a constant; in a property, a shared variable or a constant.
    Name(String),
    Unary {
        op: UnaryOp,
        operand: Box<Expr>,
    },
    Binary {
        op: BinaryOp,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    Conditional {
        condition: Box<Expr>,
        then: Box<Expr>,
        otherwise: Box<Expr>,
    },
    /// `x[e]`: a cell of an array of the process; in a property, of a shared one.
    Cell {
        name: Name,
        index: Box<Expr>,
    },
    /// The index of `x[row][column]`.
    Pair {
        row: Box<Expr>,
        column: Box<Expr>,
    },
    /// `p[e] at L`
    At {
        process: ProcessRef,
        label: Name,
    },
    /// `p[e].r`
    Local {
        process: ProcessRef,
        local: Name,
    },
    /// `forall (i in low..=high) body` or `exists …`
    Quantified {
        all: bool,
        variable: Name,
        among: Among,
        body: Box<Expr>,
    },
}

/// What a quantified name runs over.
#[derive(Debug, Clone, PartialEq)]
pub enum Among {
    Range(Box<Range>),
    /// The numbers of the processes of a template.
    Processes(Name),
}

#[derive(Debug, Clone, PartialEq)]
pub struct ProcessRef {
    pub name: Name,
    pub index: Option<Box<Expr>>,
    pub span: Span,
}

impl Block {
    /// Calls one function on all declarations inside, at any depth, and another on all statements,
    /// outer ones first.
    pub fn visit_mut(
        &mut self,
        declaration: &mut dyn FnMut(&mut Declaration),
        statement: &mut dyn FnMut(&mut Stmt),
    ) {
        for member in &mut self.members {
            match member {
                Member::Locals(locals) => declaration(locals),
                Member::Statement(inner) => inner.visit_mut(declaration, statement),
            }
        }
    }
}

impl Stmt {
    fn visit_mut(
        &mut self,
        declaration: &mut dyn FnMut(&mut Declaration),
        statement: &mut dyn FnMut(&mut Stmt),
    ) {
        statement(self);
        match &mut self.kind {
            StmtKind::Labelled {
                statement: body, ..
            }
            | StmtKind::While { body, .. }
            | StmtKind::DoWhile { body, .. }
            | StmtKind::For { body, .. }
            | StmtKind::Repeat { body, .. } => body.visit_mut(declaration, statement),
            StmtKind::If {
                then, otherwise, ..
            } => {
                let parts = [Some(then), otherwise.as_mut()];
                for body in parts.into_iter().flatten() {
                    body.visit_mut(declaration, statement);
                }
            }
            StmtKind::Either(branches) => {
                for branch in branches {
                    branch.visit_mut(declaration, statement);
                }
            }
            StmtKind::Expanded(body)
            | StmtKind::Nofence(body)
            | StmtKind::Atomic(body)
            | StmtKind::Block(body) => body.visit_mut(declaration, statement),
            _ => {}
        }
    }
}

impl Expr {
    /// Calls `visit` on the expression and on its parts, left to right.
    pub fn visit(&self, visit: &mut dyn FnMut(&Expr)) {
        visit(self);
        match &self.kind {
            ExprKind::Unary { operand: inner, .. }
            | ExprKind::Cell { index: inner, .. }
            | ExprKind::Quantified { body: inner, .. } => inner.visit(visit),
            ExprKind::Binary { left, right, .. }
            | ExprKind::Pair {
                row: left,
                column: right,
            } => {
                left.visit(visit);
                right.visit(visit);
            }
            ExprKind::Conditional {
                condition,
                then,
                otherwise,
            } => {
                condition.visit(visit);
                then.visit(visit);
                otherwise.visit(visit);
            }
            ExprKind::Int(_)
            | ExprKind::Bool(_)
            | ExprKind::Name(_)
            | ExprKind::At { .. }
            | ExprKind::Local { .. } => {}
        }
    }

    /// Translates the operators; `leaf` takes care of names and observations.
    pub fn lowered<A>(&self, leaf: &dyn Fn(&ExprKind) -> program::Expr<A>) -> program::Expr<A> {
        let boxed = |expr: &Expr| Box::new(expr.lowered(leaf));
        match &self.kind {
            ExprKind::Int(value) => program::Expr::Const(*value),
            ExprKind::Bool(value) => program::Expr::Const(Value::from(*value)),
            ExprKind::Unary { op, operand } => program::Expr::Unary(*op, boxed(operand)),
            ExprKind::Binary { op, left, right } => {
                program::Expr::Binary(*op, boxed(left), boxed(right))
            }
            ExprKind::Conditional {
                condition,
                then,
                otherwise,
            } => program::Expr::Conditional(boxed(condition), boxed(then), boxed(otherwise)),
            kind => leaf(kind),
        }
    }
}
