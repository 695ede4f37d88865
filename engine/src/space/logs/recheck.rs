//! Checking a proof by view logs again: no search, only what processes can do.
//!
//! For every state of the invariant: what its members do without changing memory stays within
//! their sets; every change of memory leads to what the state that is named for it holds; no
//! combination of members violates a property. And every initial state is within one.

use super::invariant::{Invariant, get};
use super::process::{Maximal, SetId, ViewId};
use super::states::{LogSearch, StateId};
use crate::limits::{Limits, Monitor, StopReason};
use crate::memory::Model;
use crate::memory::step::Stepper;
use crate::program::{ProcessId, Value};
use crate::space::sets::{Budget, Ended};
use ahash::AHashSet;
use std::rc::Rc;

/// Why an invariant proves nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flaw {
    Wrong(String),
    /// A limit was reached before all of it was checked.
    Limit(StopReason),
}

impl From<Ended> for Flaw {
    fn from(ended: Ended) -> Flaw {
        match ended {
            Ended::Limit(reason) => Flaw::Limit(reason),
            Ended::Paused | Ended::GivenUp => {
                Flaw::Wrong("its properties take too long to judge".to_string())
            }
        }
    }
}

impl From<String> for Flaw {
    fn from(why: String) -> Flaw {
        Flaw::Wrong(why)
    }
}

/// Checks an invariant. The stepper is that of sequential consistency.
pub fn recheck(
    stepper: &Stepper,
    model: Model,
    invariant: &Invariant,
    limits: &Limits,
    monitor: &Monitor,
) -> Result<(), Flaw> {
    let budget = Budget::new(limits, monitor, u64::MAX);
    // Nothing is widened: what is claimed must be there.
    let mut recheck = Recheck {
        logs: LogSearch::new(stepper, model, usize::MAX, budget),
        closed: AHashSet::new(),
    };
    recheck.load(invariant)?;
    recheck.initial()?;
    for (state, claimed) in (0..).map(StateId).zip(&invariant.states) {
        recheck.logs.judge(state)?;
        if recheck.logs.found.is_some() {
            return Err(format!("state {} violates a property", state.0).into());
        }
        recheck.silent(state)?;
        recheck.changes(state, &claimed.next)?;
    }
    Ok(())
}

struct Recheck<'a> {
    logs: LogSearch<'a>,
    /// Sets of a kind that were found to be closed under a view.
    closed: AHashSet<(usize, SetId, ViewId)>,
}

impl Recheck<'_> {
    /// Reads the states, whatever they are.
    fn load(&mut self, invariant: &Invariant) -> Result<(), Flaw> {
        let program = self.logs.stepper.program;
        let kinds = self.logs.kinds().len();
        if invariant.processes.len() != kinds {
            return Err(format!("it has {} kinds of processes", invariant.processes.len()).into());
        }
        let mut sets: Vec<Vec<SetId>> = vec![Vec::new(); kinds];
        for (kind, written) in invariant.processes.iter().enumerate() {
            let (logs, budget) = self.logs.learn_kind(kind);
            for members in written.read(program, &mut logs.rules)? {
                let mut all = Maximal::default();
                for member in members {
                    let id = logs.member_id(member);
                    logs.add(&mut all, id, budget)?;
                }
                sets[kind].push(logs.set_id(all, budget));
            }
        }
        for state in &invariant.states {
            let domains = program.places.iter().map(|place| place.domain);
            let mut both = domains.zip(&state.memory);
            let fits = state.memory.len() == program.places.len()
                && both.all(|(domain, value)| domain.contains(*value));
            if !fits || state.sets.len() != program.processes.len() {
                return Err("a state does not fit the program".to_string().into());
            }
            let numbers = self.logs.processes().zip(&state.sets);
            let own = numbers
                .map(|(process, &set)| get(&sets[self.logs.kind_number(process)], set).copied());
            let own: Vec<SetId> = own.collect::<Result<_, _>>()?;
            let memory = self.logs.memory_id(state.memory.clone().into());
            self.logs.keep(memory, own);
        }
        Ok(())
    }

    /// Every initial state is within one of the states.
    fn initial(&mut self) -> Result<(), Flaw> {
        let mut starts = Vec::new();
        for process in self.logs.processes() {
            let (kind, budget) = self.logs.learn(process);
            starts.push(kind.initial(budget)?);
        }
        let mut memory = self.logs.first_memory();
        loop {
            let states = (0..self.logs.states.len() as u32).map(StateId);
            let mut states = states.filter(|&state| self.memory(state) == &memory[..]);
            let holds = |state: StateId| {
                let mut both = self.logs.processes().zip(&starts);
                both.all(|(process, start)| self.holds(state, process, start))
            };
            if !states.any(holds) {
                return Err(format!("no state holds the start with memory {memory:?}").into());
            }
            if !self.logs.next_memory(&mut memory) {
                return Ok(());
            }
        }
    }

    /// What members do without changing memory stays within their sets.
    fn silent(&mut self, state: StateId) -> Result<(), Flaw> {
        for process in self.logs.processes() {
            let set = self.logs.state(state).sets[process.index()];
            let view = self.logs.view(self.logs.state(state).memory, process);
            let key = (self.logs.kind_number(process), set, view);
            if !self.closed.insert(key) {
                continue;
            }
            let (kind, budget) = self.logs.learn(process);
            for member in kind.member_ids(set).to_vec() {
                let moves = Rc::clone(&kind.moves(member, view, budget)?);
                let mut silent = moves.iter().filter(|(change, _)| change.is_empty());
                if !silent.all(|(_, after)| kind.holds(set, *after)) {
                    return Err(format!("state {} is not closed", state.0).into());
                }
            }
        }
        Ok(())
    }

    /// Every change leads to what is within the state that is named for it.
    fn changes(&mut self, state: StateId, next: &[u32]) -> Result<(), Flaw> {
        let memory = self.logs.state(state).memory;
        let mut next = next.iter();
        let stray = || Flaw::from(format!("state {} leads to what no state holds", state.0));
        for writer in self.logs.processes() {
            let set = self.logs.state(state).sets[writer.index()];
            let view = self.logs.view(memory, writer);
            let (kind, budget) = self.logs.learn(writer);
            for (change, after) in kind.changes(set, view, budget)? {
                let named = *next.next().ok_or_else(stray)?;
                let target = get(&self.logs.states, named).map(|_| StateId(named))?;
                let mut values = self.logs.memory(memory).to_vec();
                for (place, value) in &change {
                    values[place.index()] = *value;
                }
                if self.memory(target) != &values[..] || !self.holds(target, writer, &after) {
                    return Err(stray());
                }
                let written = self.logs.state(target).memory;
                for process in self.logs.processes().filter(|other| *other != writer) {
                    let set = self.logs.state(state).sets[process.index()];
                    let (before, now) = (
                        self.logs.view(memory, process),
                        self.logs.view(written, process),
                    );
                    let holds = match before == now {
                        true => {
                            let theirs = self.logs.state(target).sets[process.index()];
                            self.logs.learn(process).0.is_within(set, theirs)
                        }
                        false => {
                            let (kind, budget) = self.logs.learn(process);
                            let after = kind.observed(set, before, now, budget)?;
                            self.holds(target, process, &after)
                        }
                    };
                    if !holds {
                        return Err(stray());
                    }
                }
            }
        }
        Ok(())
    }

    fn memory(&self, state: StateId) -> &[Value] {
        self.logs.memory(self.logs.state(state).memory)
    }

    /// The set of a process holds all of some members.
    fn holds(&self, state: StateId, process: ProcessId, members: &Maximal) -> bool {
        let set = self.logs.state(state).sets[process.index()];
        let kind = self.logs.kind(process);
        members.iter().all(|member| kind.holds(set, member))
    }
}
