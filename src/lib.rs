//! fencesmith

pub mod diagnostic;
pub mod lang;
pub mod source;
pub mod program;
pub mod lower;
pub mod memory;
pub mod property;
pub mod space;
pub mod verify;
