//! Litmus tests: which final states a memory model allows.
//!
//! All states of the exact model are explored. Without loops the buffers can hold no more
//! stores than the program has, so nothing is left out; with loops they are bounded, and a
//! store that had to wait for room is reported.

use crate::import::litmus::{Observed, Quantifier, Test};
use crate::limits::{Limits, Monitor, StopReason};
use crate::lower::lower;
use crate::memory::{Abstraction, Atomics, Model, Semantics};
use crate::program::{PlaceId, Program, Value};
use crate::property::Violation;
use crate::space::{End, Goal, Search, Snapshot, Standstill, explore};
use crate::{diagnostic::Diagnostic, lang::resolve::resolve};
use std::collections::BTreeSet;
use std::fmt;

/// A test that is ready to run.
pub struct Runnable {
    test: Test,
    program: Program,
    /// Where to find what is shown of a state.
    places: Vec<Seen>,
}

/// Where a value is found in a state.
#[derive(Debug, Clone, Copy)]
enum Seen {
    Place(usize),
    Local(usize, usize),
}

/// How to run a test.
#[derive(Debug, Clone)]
pub struct LitmusOptions {
    pub model: Model,
    pub atomics: Atomics,
    /// The longest buffer of a test with loops.
    pub bound: usize,
    pub limits: Limits,
}

/// What a test showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finals {
    pub verdict: LitmusVerdict,
    /// The values of what is shown, one row per final state, sorted.
    pub states: Vec<Vec<Value>>,
    /// Why there may be more.
    pub incomplete: Option<Incomplete>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LitmusVerdict {
    /// Some final state satisfies the condition.
    Allowed,
    /// None does.
    Forbidden,
    /// Every final state satisfies the condition.
    Holds,
    /// Some does not.
    Violated,
    /// The states that were found do not decide it.
    Unknown,
}

/// Why some final states may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Incomplete {
    /// A store had to wait for room in a buffer of this length.
    Bound(usize),
    Limit(StopReason),
    /// An arithmetic result left 32 bits.
    Overflow,
}

impl Runnable {
    /// Prepares a test.
    pub fn new(test: Test) -> Result<Runnable, Vec<Diagnostic>> {
        let symbols = resolve(&test.ast)?;
        let mut program = lower(&test.ast, &symbols).fenced(&Default::default());
        let places = test.shown.iter();
        let places: Vec<Seen> = places.map(|observed| find(&program, observed)).collect();
        // What is shown must survive to the end.
        for seen in &places {
            if let Seen::Local(process, local) = *seen {
                program.processes[process].locals[local].visible = true;
            }
        }
        // The condition is judged here, on final states alone.
        program.properties.clear();
        program.finish();
        Ok(Runnable {
            test,
            program,
            places,
        })
    }

    pub fn name(&self) -> &str {
        &self.test.name
    }

    /// All final states under a memory model.
    pub fn run(&self, options: &LitmusOptions, monitor: &Monitor) -> Finals {
        let bound = match self.test.loops {
            true => options.bound,
            false => usize::MAX,
        };
        let semantics = Semantics {
            atomics: options.atomics,
            ..Semantics::new(options.model, Abstraction::Exact { bound })
        };
        let found = explore(&Search {
            stepper: &semantics.stepper(&self.program),
            goal: Goal::Snapshots,
            standstill: Standstill::Ignored,
            limits: &options.limits,
            monitor,
            threads: 1,
        });
        let incomplete = match (found.end, &found.violation) {
            (End::Limit(reason), _) => Some(Incomplete::Limit(reason)),
            (_, Some((Violation::Failure(..), _))) => Some(Incomplete::Overflow),
            _ if found.no_room => Some(Incomplete::Bound(bound)),
            _ => None,
        };
        let finals = found.snapshots.iter();
        let finals = finals.filter(|state| state.all_done(&self.program));
        let states: BTreeSet<Vec<Value>> = finals
            .map(|state| self.values(state))
            .filter(|values| self.kept(values))
            .collect();
        Finals {
            verdict: self.verdict(&states, incomplete.is_none()),
            states: states.into_iter().collect(),
            incomplete,
        }
    }

    /// A final state in the words of a test: `0:EAX=1; [x]=2;`.
    pub fn describe(&self, values: &[Value]) -> String {
        let both = self.test.shown.iter().zip(values);
        let words: Vec<String> = both
            .map(|(what, value)| format!("{what}={value};"))
            .collect();
        words.join(" ")
    }

    fn values(&self, state: &Snapshot) -> Vec<Value> {
        let seen = self.places.iter();
        seen.map(|seen| match *seen {
            Seen::Place(place) => state.memory[place],
            Seen::Local(process, local) => state.configs[process].locals[local],
        })
        .collect()
    }

    fn value(&self, values: &[Value], observed: &Observed) -> Value {
        let mut shown = self.test.shown.iter();
        let index = shown.position(|other| other == observed);
        values[index.expect("what a condition speaks of is shown")]
    }

    /// Whether the filter lets a state pass.
    fn kept(&self, values: &[Value]) -> bool {
        let filter = self.test.filter.as_ref();
        filter.is_none_or(|filter| filter.holds(&|observed| self.value(values, observed)))
    }

    fn verdict(&self, states: &BTreeSet<Vec<Value>>, complete: bool) -> LitmusVerdict {
        let condition = &self.test.condition;
        let mut holds = states
            .iter()
            .map(|values| condition.holds(&|observed| self.value(values, observed)));
        match self.test.quantifier {
            Quantifier::Exists if holds.any(|holds| holds) => LitmusVerdict::Allowed,
            Quantifier::Forall if holds.any(|holds| !holds) => LitmusVerdict::Violated,
            _ if !complete => LitmusVerdict::Unknown,
            Quantifier::Exists => LitmusVerdict::Forbidden,
            Quantifier::Forall => LitmusVerdict::Holds,
        }
    }
}

fn find(program: &Program, observed: &Observed) -> Seen {
    match observed {
        Observed::Location { native, .. } => {
            let PlaceId(place) = program.place_named(native).expect("locations are declared");
            Seen::Place(place as usize)
        }
        Observed::Register {
            process, native, ..
        } => {
            let mut locals = program.processes[*process].locals.iter();
            let local = locals.position(|local| local.name == *native);
            Seen::Local(*process, local.expect("registers are declared"))
        }
    }
}

impl fmt::Display for LitmusVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LitmusVerdict::Allowed => "Allowed",
            LitmusVerdict::Forbidden => "Forbidden",
            LitmusVerdict::Holds => "Holds",
            LitmusVerdict::Violated => "Violated",
            LitmusVerdict::Unknown => "Unknown",
        })
    }
}

impl fmt::Display for Incomplete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Incomplete::Bound(bound) => write!(
                f,
                "buffers were bounded by {bound}, there may be more states; try a larger --bound"
            ),
            Incomplete::Limit(reason) => write!(f, "{reason}, there may be more states"),
            Incomplete::Overflow => write!(f, "a result does not fit 32 bits"),
        }
    }
}
