//! Programs with integers without bound: random ones against the oracle, those under
//! `algorithms/integers` against their headers, and what people see.

mod buffers;
mod generate;
mod messages;
mod random;
mod suite;
mod translated;
mod z3;
