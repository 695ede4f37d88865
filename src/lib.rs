//! fencesmith

pub mod diagnostic;
pub mod lang;
pub mod source;
