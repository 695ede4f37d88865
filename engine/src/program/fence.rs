//! Fences: their kinds, and the places in the text where one can be typed.

use crate::names::named_enum;
use crate::source::Span;
use serde::{Deserialize, Serialize};

named_enum! {
    /// Which orders a fence enforces.
    pub enum FenceKind: "kind of fence" {
        Full = "full",
        StoreStore = "ss",
        StoreLoad = "sl",
    }
}

/// A place in the source text where `fence;` can be typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FenceSite {
    pub side: Side,
    /// The statement it stands next to; for `Inside`, the empty block, braces included.
    pub statement: Span,
    /// The body of an `if` or loop that holds the statement and has no braces: it gets
    /// them together with the fence.
    pub body: Option<Span>,
}

/// A control position at which `fence;` can be typed, in every instance of its template.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FencePoint {
    pub template: usize,
    /// The one process it belongs to, if points are not shared by instances.
    pub process: Option<String>,
    /// Every place in the text that means this position, the one to show first.
    pub sites: Vec<FenceSite>,
    /// The number of loops around it.
    pub depth: u32,
}

named_enum! {
    /// On which side of a statement a fence stands, or which memory order stands for it.
    pub enum Side: "side of a statement" {
        Before = "before",
        After = "after",
        /// Between the braces of an empty block
        Inside = "inside",
        /// In the memory order of a store, which becomes release
        Release = "release",
        /// In the memory order of a store, which becomes sequentially consistent
        SeqCst = "seq_cst",
    }
}

impl FenceSite {
    /// Where the text of a fence at this site would begin.
    pub fn offset(&self) -> u32 {
        match self.side {
            Side::Before | Side::Release | Side::SeqCst => self.statement.start,
            Side::After => self.statement.end,
            Side::Inside => self.statement.end - 1,
        }
    }

    /// Of several sites for one position, the one after the shortest statement is shown: that
    /// is how fences are spoken of ("after the store to turn").
    pub fn preference(&self) -> (u8, u32, FenceSite) {
        let side = match self.side {
            Side::After => 0,
            Side::Before => 1,
            Side::Inside => 2,
            Side::Release | Side::SeqCst => 3,
        };
        (side, self.statement.end - self.statement.start, *self)
    }
}
