//! What people read: answers in words, tables, and the records that say the same to programs.

pub mod infer;
pub mod target;
pub mod text;
pub mod verify;
