//! fencesmith
pub mod cli;
pub mod concretise;
pub mod diagnostic;
pub mod fences;
pub mod lang;
pub mod lower;
pub mod memory;
pub mod program;
pub mod property;
pub mod replay;
pub mod report;
pub mod source;
pub mod space;
pub mod verify;
