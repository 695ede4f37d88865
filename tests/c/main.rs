//! Programs in C.

mod positions;
