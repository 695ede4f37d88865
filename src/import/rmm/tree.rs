//! The syntax tree of a machine. Expressions are native ones over foreign names.

use crate::lang::ast::Expr;
use crate::program::{Domain, FenceKind};
use crate::source::Span;

pub struct Machine {
    pub forbidden: Vec<Tuple>,
    pub globals: Vec<Variable>,
    pub processes: Vec<Process>,
}

/// For each process, the label it must not be at together with the others; `*` is none.
pub struct Tuple {
    pub labels: Vec<Option<(String, Span)>>,
    pub span: Span,
}

pub struct Variable {
    pub name: String,
    pub span: Span,
    /// None: any value of the domain.
    pub initial: Option<i64>,
    pub domain: Domain,
}

pub struct Process {
    pub copies: u32,
    pub data: Vec<Variable>,
    pub registers: Vec<Variable>,
    pub body: Vec<Statement>,
    pub span: Span,
}

pub struct Statement {
    pub label: Option<(String, Span)>,
    pub kind: Kind,
    /// Without the label.
    pub span: Span,
}

pub enum Kind {
    Nop,
    Read {
        register: (String, Span),
        from: Location,
        how: How,
    },
    /// Waits until it reads this value.
    Await {
        from: Location,
        value: Expr,
        how: How,
    },
    Write {
        to: Location,
        value: Expr,
        how: How,
    },
    Cas {
        at: Location,
        old: Expr,
        new: Expr,
    },
    Locked(Vec<Vec<Statement>>),
    /// None for a fence that orders nothing which the models reorder.
    Fence(Option<FenceKind>),
    Assign {
        register: (String, Span),
        value: Expr,
    },
    Assume(Expr),
    If {
        condition: Expr,
        then: Box<Statement>,
        otherwise: Option<Box<Statement>>,
    },
    While {
        condition: Expr,
        body: Box<Statement>,
    },
    Goto(String, Span),
    Either(Vec<Vec<Statement>>),
    Block(Vec<Statement>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum How {
    Plain,
    /// All pending stores of the process first, and at once.
    Locked,
    /// Behind all stores before it and ahead of all stores after it.
    StoreStore,
    /// On memory itself, and waiting for pending stores like a read-modify-write.
    Synchronised,
}

pub struct Location {
    pub kind: Owner,
    pub span: Span,
}

pub enum Owner {
    Global(String),
    /// `x[my]`
    Own(String),
    /// `x[k]`: of the k-th other process.
    Other(String, u32),
    /// `[e]`: the e-th global variable.
    Pointer(Expr),
}
