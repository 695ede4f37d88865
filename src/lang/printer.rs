//! The source text again, with fences typed in.

use crate::source::Span;

/// A place in the source text where `fence;` can be typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Spot {
    pub side: Side,
    /// The statement it stands next to (for `Inside`: the empty block, braces included).
    pub statement: Span,
    /// The brace-less body of an `if` or loop that holds the statement: it gets braces
    /// together with the fence.
    pub body: Option<Span>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    Before,
    After,
    Inside,
}
