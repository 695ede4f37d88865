//! The engine of fencesmith: what a program means under a store-buffer memory model, which
//! states it can reach, whether it is correct, and where fences must go.
//!
//! It knows no input language and prints nothing; both are in the crate `fencesmith`, which
//! shows these modules as its own. It is a crate by itself because it alone is worth
//! optimising: everything that takes long is here.

mod ids;

// Enumerations whose values people name.
pub mod names;

// Numbers in words, as messages and tables show them.
pub mod words;

// Texts, and positions in them.
pub mod source;

// When to give up, and how a run is watched and ended.
pub mod limits;

// The program form: one automaton per process, places, fence points, properties.
pub mod program;

// What a program means: memory models, abstractions, and the step relation.
pub mod memory;

// Properties as predicates on states.
pub mod property;

// Formulas as interned decision diagrams.
pub mod formula;

// Which states a program can reach, and how.
pub mod space;

// States, steps and violations in words.
pub mod describe;

// Is an abstract counterexample real?
pub mod concretise;

// Is a program correct?
pub mod verify;

// Where must the fewest fences go?
pub mod infer;
