//! Names and ranges: checks a syntax tree and tells what each name stands for.

use super::value::{Domain, Value};
use crate::source::Span;
use std::collections::HashMap;

/// What the names of a checked program stand for.
#[derive(Debug, Clone)]
pub struct Symbols {
    pub consts: HashMap<String, Value>,
    /// Shared variables in source order.
    pub shared: Vec<SharedVariable>,
    /// Processes in source order.
    pub templates: Vec<Template>,
}

#[derive(Debug, Clone)]
pub struct SharedVariable {
    pub name: String,
    pub span: Span,
    pub domain: Domain,
    /// The number of cells of an array; `None` for a scalar.
    pub len: Option<u32>,
    /// One per cell.
    pub initial: Vec<Initial>,
}

/// A `process` item and the processes it stands for.
#[derive(Debug, Clone)]
pub struct Template {
    /// The index of the item in the syntax tree.
    pub item: usize,
    pub name: String,
    pub parameter: Option<String>,
    /// Labels in source order, with the span of the name at its definition.
    pub labels: Vec<(String, Span)>,
    pub instances: Vec<Instance>,
}

/// One process: ranges and initial values may depend on the parameter.
#[derive(Debug, Clone)]
pub struct Instance {
    pub parameter: Option<Value>,
    /// Locals in source order, the same ones in every instance.
    pub locals: Vec<LocalVariable>,
}

#[derive(Debug, Clone)]
pub struct LocalVariable {
    pub name: String,
    pub span: Span,
    pub domain: Domain,
    pub initial: Initial,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Initial {
    Value(Value),
    /// Any value of the domain.
    Any,
}
