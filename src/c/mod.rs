//! C programs: from a preprocessed text to the program form.
//!
//! The text is parsed (lang-c) and then *lowered*: each thread becomes a process whose
//! automaton is the body of its function, with all calls copied in. Scalars that nobody points
//! to are locals; everything else consists of places in memory, and pointers are addresses of
//! places. `main` runs alone until it has created its threads: what it does up to there is
//! worked out here, and gives the initial state.
//!
//! Which variables need an address, and what a pointer may point to, is known only when
//! everything has been read. So the program is read again with what was found out, until
//! nothing new is found ([`Knowledge`]).

mod access;
mod aggregate;
mod assemble;
mod assumed;
mod atomics;
mod call;
mod code;
mod condition;
mod declare;
mod expr;
pub mod headers;
mod heap;
mod initialise;
mod insert_fences;
mod known;
mod literal;
mod lowering;
mod macros;
mod object;
mod objects;
mod operand;
pub mod positions;
mod processes;
mod section;
mod simplify;
mod stmt;
mod threading;
pub mod tokens;
mod types;

pub use insert_fences::{FencedFile, insert_fences};

use crate::diagnostic::Diagnostic;
use crate::names::named_enum;
use crate::program::{Program, Value};
use crate::source::Span;
use lang_c::ast::TranslationUnit;
use lang_c::driver::{Config, Flavor, parse_preprocessed};
use objects::Knowledge;
use positions::Preprocessed;

/// How a program is read.
#[derive(Debug, Clone)]
pub struct Options {
    /// Blocks for each place that allocates in a loop, and each thread.
    pub heap: u32,
    /// The values of `__VERIFIER_nondet_int` and its like.
    pub choice: Option<(Value, Value)>,
    /// The largest object, in scalars.
    pub max_scalars: u32,
    /// What may be changed to mend the program.
    pub repair: Repair,
}

named_enum! {
    /// What may be changed to mend a C program.
    pub enum Repair: "repair" {
        /// Fences may be typed between statements
        Fences = "fences",
        /// The memory orders of atomic stores may become stronger
        Orders = "orders",
        /// Both
        Any = "any",
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            heap: 4,
            choice: None,
            max_scalars: 4096,
            repair: Repair::Fences,
        }
    }
}

/// The program may be read so many times until nothing new is found out.
const READINGS: usize = 50;

/// Stack for the parser and for deep expressions.
const STACK: usize = 256 << 20;

/// From a preprocessed text to the program form, or everything that is wrong with it.
pub fn compile(text: &Preprocessed, options: &Options) -> Result<Program, Vec<Diagnostic>> {
    let compiled = std::thread::scope(|scope| {
        let work = || parse(text).and_then(|unit| lower(text, &unit, options));
        let thread = std::thread::Builder::new().stack_size(STACK);
        let thread = thread
            .spawn_scoped(scope, work)
            .expect("a thread can be started");
        thread.join()
    });
    match compiled {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

fn parse(text: &Preprocessed) -> Result<TranslationUnit, Vec<Diagnostic>> {
    let config = Config {
        cpp_command: String::new(),
        cpp_options: Vec::new(),
        flavor: Flavor::GnuC11,
    };
    match parse_preprocessed(&config, text.text().to_string()) {
        Ok(parsed) => Ok(parsed.unit),
        Err(error) => {
            let at = error.offset.min(text.text().len());
            let span = text
                .locate(Span::new(at, (at + 1).min(text.text().len())))
                .span;
            let mut expected: Vec<&str> = error.expected.into_iter().collect();
            expected.sort_unstable();
            let help = match expected.len() {
                1..=8 => format!("expected {}", expected.join(", ")),
                _ => "C11 with the usual extensions of GNU C is read".to_string(),
            };
            let diagnostic = Diagnostic::error(span, "this is not C as it is read here");
            Err(vec![diagnostic.help(help)])
        }
    }
}

fn lower(
    text: &Preprocessed,
    unit: &TranslationUnit,
    options: &Options,
) -> Result<Program, Vec<Diagnostic>> {
    let mut known = Knowledge::default();
    for _ in 0..READINGS {
        let read = processes::program(text, unit, options, &known);
        let (program, found) = read.map_err(|diagnostic| vec![*diagnostic])?;
        if found == known {
            return program.map_err(|diagnostic| vec![*diagnostic]);
        }
        known = found;
    }
    let span = Span::new(0, 0);
    Err(vec![Diagnostic::error(
        span,
        "this program is too intricate to be read",
    )])
}
