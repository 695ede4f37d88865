//! Placements against every set of fences, what a larger k adds, and the certificates that come
//! with them.

mod bounds;
mod certificate;
mod correctness;
mod exhaustive;
mod labelling;
mod refinement;
