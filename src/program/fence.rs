//! Fences: their kinds, and the places in the text where one can be typed.

use crate::source::Span;

/// Which orders a fence enforces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FenceKind {
    Full,
    StoreStore,
    StoreLoad,
}

/// A place in the source text where `fence;` can be typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FenceSite {
    pub side: Side,
    /// The statement it stands next to; for `Inside`, the empty block, braces included.
    pub statement: Span,
    /// The body of an `if` or loop that holds the statement and has no braces: it gets
    /// them together with the fence.
    pub body: Option<Span>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    Before,
    After,
    Inside,
}
