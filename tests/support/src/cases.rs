//! Random programs and plain explorations.

use crate::oracle::generate::{self, Options};
use crate::templates;
use fencesmith::lang::ast::Ast;
use fencesmith::lang::parser::parse;
use fencesmith::lang::resolve::resolve;
use fencesmith::limits::{Limits, Monitor};
use fencesmith::lower::lower;
use fencesmith::memory::{Abstraction, Atomics, Model, Semantics};
use fencesmith::program::Program;
use fencesmith::source::Source;
use fencesmith::space::{Exploration, Goal, Search, Standstill, explore};

pub struct Case {
    pub text: String,
    pub ast: Ast,
    pub program: Program,
}

/// The random program of a seed.
pub fn case(seed: u64, options: &Options) -> Case {
    compiled(generate::program(seed, options))
}

/// The random program of a seed whose processes are instances of one template.
pub fn template_case(seed: u64) -> Case {
    compiled(templates::program(seed))
}

fn compiled(text: String) -> Case {
    let source = Source::new("random.fen", text.clone());
    let ast = parse(&source).expect("generated programs parse");
    let symbols = resolve(&ast).expect("generated programs resolve");
    let program = lower(&ast, &symbols);
    Case { text, ast, program }
}

/// Kinds of random programs.
pub fn families() -> [Options; 4] {
    let default = Options::default();
    [
        default.clone(),
        Options {
            straight_line: true,
            with_ss_sl: true,
            ..default.clone()
        },
        Options {
            with_loops: false,
            max_processes: 2,
            ..default.clone()
        },
        Options {
            with_ss_sl: true,
            with_atomics: true,
            max_processes: 2,
            ..default
        },
    ]
}

/// How to explore.
#[derive(Clone, Copy)]
pub struct Mode {
    pub fuse: bool,
    pub reset_dead: bool,
    pub full: bool,
    pub threads: usize,
    pub labelled: bool,
    pub max_states: Option<u64>,
}

/// Explores a program; a full exploration also collects its states.
pub fn run(
    program: &Program,
    (model, abstraction): (Model, Abstraction),
    atomics: Atomics,
    mode: &Mode,
) -> Exploration {
    let semantics = Semantics {
        model,
        abstraction,
        atomics,
        fuse: mode.fuse,
        reset_dead: mode.reset_dead,
    };
    let mut stepper = semantics.stepper(program);
    stepper.labelled = mode.labelled;
    explore(&Search {
        stepper: &stepper,
        goal: match mode.full {
            true => Goal::Snapshots,
            false => Goal::FirstViolation,
        },
        standstill: Standstill::Ignored,
        limits: &Limits {
            max_states: mode.max_states,
            ..Limits::default()
        },
        monitor: &Monitor::default(),
        threads: mode.threads,
    })
}
