//! Where writes lead, as far as it is known.
//!
//! Everything that is found out about sets and memories is kept. So whoever asks where a write
//! leads puts together what is known, which changes nothing and can be done by several threads at
//! a time ([`foresight`](super::foresight)). If something is missing, it is found out by one
//! thread, and the question is asked again.

use super::Ended;
use super::moves::{ChangeId, PlaceMask, ViewId};
use super::process::{SetId, StepsId};
use super::states::{MemoryId, Parent, SetSearch, StateId};
use super::symmetry::{ExchangeId, Product};
use crate::program::ProcessId;

/// Something that nobody has found out yet.
pub enum Missing {
    /// What members of a set of a process do.
    Steps(ProcessId, SetId, ViewId),
    /// What members of a set of a process reach without changing memory.
    Closure(ProcessId, SetId, ViewId),
    /// The memory after a change by a process.
    Written(MemoryId, ProcessId, ChangeId),
    /// A memory with the initial values of some places.
    Reset(MemoryId, PlaceMask),
    ExchangedMemory(ExchangeId, MemoryId),
    ExchangedSet(ExchangeId, ProcessId, SetId),
}

impl SetSearch<'_> {
    /// The answer to a question; what is missing is found out.
    pub fn find<T>(
        &mut self,
        question: impl Fn(&Self) -> Result<T, Missing>,
    ) -> Result<T, Ended> {
        loop {
            match question(self) {
                Ok(answer) => return Ok(answer),
                Err(missing) => self.find_out(missing)?,
            }
        }
    }

    fn find_out(&mut self, missing: Missing) -> Result<(), Ended> {
        match missing {
            Missing::Steps(process, set, view) => {
                let (kind, budget) = self.learn(process);
                kind.find_steps(set, view, budget)
            }
            Missing::Closure(process, set, view) => {
                let (kind, budget) = self.learn(process);
                kind.close(set, view, budget)
            }
            Missing::Written(memory, writer, change) => {
                self.write(memory, writer, change);
                Ok(())
            }
            Missing::Reset(memory, places) => {
                self.reset(memory, places);
                Ok(())
            }
            Missing::ExchangedMemory(exchange, memory) => {
                self.exchange_memory(exchange, memory);
                Ok(())
            }
            Missing::ExchangedSet(exchange, process, set) => {
                self.exchange_set(exchange, process, set)
            }
        }
    }

    /// The changes that a process can make in a state.
    pub fn steps(&self, state: StateId, process: ProcessId) -> Result<StepsId, Missing> {
        let set = self.sets(state)[process.index()];
        let view = self.view(self.head(state).memory, process);
        let known = self.kind(process).known_steps(set, view);
        known.ok_or(Missing::Steps(process, set, view))
    }

    /// The state that stands for what a write leads to, its writer to what is in a set.
    pub fn next(&self, write: Parent, set: SetId) -> Result<Product, Missing> {
        Ok(self.representative(self.after(write, set)?)?.0)
    }

    /// The memory and the sets after a write that leads its writer to what is in a set.
    pub fn after(&self, write: Parent, set: SetId) -> Result<Product, Missing> {
        let before = self.head(write.state).memory;
        let memory = self.written(before, write.writer, write.change)?;
        let changed = self.kind(write.writer).moves.changed(write.change);
        let mut sets = self.sets(write.state).to_vec();
        sets[write.writer.index()] = set;
        self.close(&mut sets, memory, changed, Some(write.writer))?;
        self.without_dead(Product { sets, memory })
    }

    /// Closes sets under a memory that differs in some places from the one under which they
    /// are closed; that of the writer is not closed at all.
    pub fn close(
        &self,
        sets: &mut [SetId],
        memory: MemoryId,
        changed: PlaceMask,
        writer: Option<ProcessId>,
    ) -> Result<(), Missing> {
        for (process, set) in self.processes().zip(sets) {
            // Whom it does not concern goes on as before.
            let concerned = self.kind(process).summary(*set).concerns & changed != 0;
            if concerned || Some(process) == writer {
                let view = self.view(memory, process);
                let known = self.kind(process).known_closure(*set, view);
                *set = known.ok_or(Missing::Closure(process, *set, view))?;
            }
        }
        Ok(())
    }
}
