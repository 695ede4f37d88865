//! The search by view logs: complete for TSO and PSO.
//!
//! FD(k) forgets the order of all but the first k stores, so that no k proves a program in which
//! a writer never waits and a reader relies on the order of what it wrote. Reachability of
//! control states is decidable all the same (Atig, Bouajjani, Burckhardt and Musuvathi, POPL
//! 2010), and best seen from the other end, as by Abdulla, Atig, Bouajjani and Ngo (LMCS 2018):
//! a store is run at the moment it reaches memory, and its process *lags behind*. What it
//! loads afterwards it finds in memory as it was at an earlier moment. The state of a process
//! is its control, its locals and its *view log*: what it can still see of the past.
//!
//! ```text
//!   memory      m0 ─────▶ m1 ─────▶ m2 ─────▶ m3     stores land, one after the other
//!   process p        └──── log ────┘           │     what p may still look at
//!                    ▲                         └───  the present, where p's stores land
//!                    p's loads look here, and move to the right
//! ```
//!
//! The rules ([`rules`]):
//! - *load*: the value of the present, or of a moment of the log if a store of the process
//!   landed later than that: in an execution the load was issued while the store was in the
//!   buffer. Earlier moments are gone then;
//! - *store*, TSO: memory changes; at all moments of its log the process finds its own value,
//!   which is what it would find in its buffer until the store has left it; for every other
//!   process the moment before becomes one of the past;
//! - *fence*, *update*, *atomic*: at the present; the log is empty then;
//! - PSO: stores wait in a queue for each place, as in the exact model, since those to
//!   different places may pass each other. A store-store fence waits for the queues; the
//!   loads behind it may still look at the past.
//!
//! Why this is exact. Take an execution and run each instruction at the time at which it
//! happens in it, but not before all earlier stores of its process have landed, and a store when
//! it lands. A load, a fence or an update that is not put off by this finds the present. A load
//! that is put off is behind a store that lands after it was issued, and looks at a moment before
//! that. Fences and updates wait for earlier stores in the execution as well, so they are
//! never put off. Conversely, issue each instruction at the moment that its process looks at, and
//! let stores leave the buffer when they land. Joint control states are the same, because a
//! process may always wait; properties that look at memory need more ([`ahead`]). A moment
//! matters only if something behind the next store may look at it, so a process that is
//! about to load, or that passes a fence next, keeps none. A fence that is one step with the
//! store behind it is passed earlier than the store lands: moments count from there.
//!
//! Moments may be skipped, and stores of a queue may land unseen right before the next one:
//! logs and queues are *lossy*, so what they may hold is a downward-closed set of words, and a
//! word of letters and stars stands for such a set ([`word`]). Loads, fences and local steps
//! touch nothing that others see: as in the search by sets, only changes of memory are steps,
//! and a state is a memory and a set for each process ([`process`], [`states`]).
//!
//! Words are *widened*: where r factors with the same letters follow one another, any word over
//! these letters takes their place. For every r this leaves finitely many words, so the search
//! ends. It covers every execution, so that a program without a violation in it is correct. What
//! a program can reach is a finite union of ideals; once r exceeds the number of their atoms,
//! widening adds nothing to it, and every correct program is proved for some r. A violation may
//! be due to widening: it counts if the changes that lead to it can be followed without
//! ([`path`]).

mod ahead;
mod invariant;
mod member;
mod moments;
mod path;
mod process;
mod recheck;
mod relevant;
mod rules;
mod states;
mod walk;
mod word;

use super::search::{Coverage, End, Search, Statistics};
use super::sets::{Budget, Ended};
use crate::memory::Model;
use crate::memory::step::At;
use crate::program::{Loc, ProcessId};
use states::LogSearch;

/// How to search by view logs.
#[derive(Debug, Clone, Copy)]
pub struct LogOptions {
    /// So many factors with the same letters in a row become a star; at least 1.
    pub widening: usize,
    /// Steps of single members and comparisons after which it is given up.
    pub most_work: u64,
    /// States that differ in who of identical processes is who are one, unless what was found is
    /// to be told.
    pub symmetry: bool,
    /// Tell what was found, so that it can be checked again.
    pub invariant: bool,
}

pub use invariant::{
    Invariant, InvariantAtom, InvariantChannel, InvariantMember, InvariantProcess, InvariantQueue,
    InvariantState,
};
pub use path::{Execution, OwnStep, OwnSteps};
pub use recheck::{Flaw, recheck};

/// What a search by view logs found.
#[derive(Debug)]
pub struct LogExploration {
    pub end: End,
    pub statistics: Statistics,
    pub coverage: Coverage,
    /// The execution that leads to a violation, if there is one.
    pub violation: Option<Execution>,
    /// The proof, if everything was found and it was asked for.
    pub invariant: Option<Invariant>,
}

/// Searches until nothing new is found, there is a violation, or a limit is reached; `None` if it
/// was given up. The steps of the search are those of sequential consistency.
pub fn explore(search: &Search, model: Model, options: LogOptions) -> Option<LogExploration> {
    let budget = Budget::new(search.limits, search.monitor, options.most_work);
    let mut logs = LogSearch::new(search.stepper, model, options.widening, budget);
    if options.symmetry && !options.invariant {
        logs.exchange_identical();
    }
    let mut end = match logs.run() {
        Ok(()) if logs.found.is_some() => End::FirstViolation,
        Ok(()) => End::Exhausted,
        Err(Ended::Limit(reason)) => End::Limit(reason),
        Err(Ended::Paused | Ended::GivenUp) => return None,
    };
    let violation = logs.found.is_some().then(|| match logs.own_steps() {
        Ok(execution) => execution,
        Err(Ended::Limit(reason)) => {
            end = End::Limit(reason);
            Execution::GivenUp
        }
        Err(Ended::Paused | Ended::GivenUp) => {
            unreachable!("a trace may take all the work it needs")
        }
    });
    Some(LogExploration {
        end,
        statistics: Statistics {
            states: logs.kept,
            transitions: logs.transitions,
            depth: Some(logs.depth),
            configurations: logs.configurations(),
            table_bytes: logs.budget.bytes,
            bytes: logs.budget.bytes,
        },
        coverage: Coverage {
            reached_final: logs.reached_final,
            unreached: unreached(&logs),
        },
        violation,
        invariant: (options.invariant && end == End::Exhausted).then(|| logs.invariant()),
    })
}

/// For each property, the labels it names that no process has reached.
fn unreached(logs: &LogSearch) -> Vec<Vec<String>> {
    let reached = |(process, at): &(ProcessId, Loc)| {
        let mut configs = logs.kind(*process).rules.configs();
        configs.any(|config| config.at == At::Loc(*at))
    };
    let properties = logs.stepper.program.properties.iter();
    let properties = properties.map(|property| {
        let labels = property.labels.iter();
        let labels = labels.filter(|(_, positions)| !positions.iter().any(reached));
        labels.map(|(label, _)| label.clone()).collect()
    });
    properties.collect()
}
