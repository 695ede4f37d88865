//! Placements against every set of fences, and the certificates that come with them.

mod certificate;
mod exhaustive;
