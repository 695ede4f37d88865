//! What people and programs read: text, and JSON whose names are a contract.

pub mod certificate;
pub mod describe;
pub mod html;
pub mod inference;
pub mod json;
pub mod target;
pub mod text;
pub mod trace;
pub mod verdict;
