//! What sets do: their closures, their steps, and the successors of rows.

use super::super::sets::SetId;
use super::{Change, OwnSteps, Rows, SetSteps, clear, with};
use crate::space::intern::ConfigId;
use crate::space::layout::{OCCUPIED, Overflow, State};
use crate::space::members::Gathered;
use crate::space::search::Unfinished;
use crate::space::successors::Successors;
use std::sync::Arc;

impl<const N: usize> Rows<'_, N> {
    /// A row with a set, reduced to what decides about the steps of the set.
    #[inline]
    fn question(&self, row: &State<N>, set: SetId) -> Result<State<N>, Overflow> {
        let mut question = std::array::from_fn(|at| row[at] & self.view[at]);
        question[0] |= OCCUPIED;
        self.field.add(&mut question, set.0)?;
        Ok(question)
    }

    /// A set together with all that its members reach without changing memory.
    #[inline]
    pub(super) fn closure(&mut self, row: &State<N>, set: SetId) -> Result<SetId, Unfinished> {
        let question = self.question(row, set)?;
        match self.closures.get(&question) {
            Some(closed) => Ok(closed),
            None => self.close(&question, set),
        }
    }

    #[cold]
    fn close(&mut self, question: &State<N>, set: SetId) -> Result<SetId, Unfinished> {
        let closed = match self.common.closures.get(question) {
            Some(closed) => closed,
            None => {
                let closed = self.closed(question, set)?;
                self.common.closures.insert(*question, closed);
                closed
            }
        };
        self.closures.insert(*question, closed);
        Ok(closed)
    }

    fn closed(&mut self, question: &State<N>, set: SetId) -> Result<SetId, Unfinished> {
        let mut gathered = std::mem::take(&mut self.gathered);
        let members = self.known(set).members.clone();
        members.iter().for_each(|id| gathered.add(id));
        let mut next = 0;
        while let Some(&member) = gathered.members.get(next) {
            next += 1;
            let before = self.own_successors(question, member)?;
            for after in self.scratch.as_slice() {
                if !self.differs(&before, after) {
                    gathered.add(self.field.get(after));
                }
            }
        }
        let closed = self.common.task.sets.id(gathered.set());
        gathered.clear();
        self.gathered = gathered;
        Ok(closed)
    }

    /// Finds the steps of one member; what it was a part of.
    fn own_successors(&mut self, question: &State<N>, member: u32) -> Result<State<N>, Unfinished> {
        let along = self.along;
        let state = with(question, self.field, member);
        match self.facts(along, ConfigId(member)).failed {
            true => self.scratch.clear(),
            false => {
                let found =
                    self.cache
                        .successors_of(|process| process == along, &state, &mut self.scratch);
                self.no_room |= found?;
            }
        }
        Ok(state)
    }

    /// The process along which rows go sees a difference between two states.
    #[inline]
    fn differs(&self, one: &State<N>, other: &State<N>) -> bool {
        (0..N).any(|at| (one[at] ^ other[at]) & self.view[at] != 0)
    }

    /// The steps of the members of a closed set without failures.
    #[inline]
    fn own_steps(&mut self, row: &State<N>, set: SetId) -> Result<OwnSteps, Unfinished> {
        let question = self.question(row, set)?;
        match self.own_steps.get(&question) {
            Some(steps) => Ok(steps),
            None => self.learn_steps(&question, set),
        }
    }

    #[cold]
    fn learn_steps(&mut self, question: &State<N>, set: SetId) -> Result<OwnSteps, Unfinished> {
        let found = match self.common.own_steps.get(question) {
            Some(found) => found,
            None => {
                let found = Arc::new(self.set_steps(question, set)?);
                self.common.own_steps.insert(*question, found.clone());
                found
            }
        };
        let steps = OwnSteps {
            first: self.changes.len() as u32,
            len: found.changes.len() as u32,
            transitions: found.transitions,
        };
        self.changes.extend(&found.changes);
        self.own_steps.insert(*question, steps);
        Ok(steps)
    }

    fn set_steps(&mut self, question: &State<N>, set: SetId) -> Result<SetSteps<N>, Unfinished> {
        let mut by_memory: Vec<(State<N>, Gathered)> = Vec::new();
        let mut transitions = 0;
        let members = self.known(set).members.clone();
        for member in members.iter() {
            let before = self.own_successors(question, member)?;
            for after in self.scratch.as_slice() {
                transitions += 1;
                if self.differs(&before, after) {
                    let memory = std::array::from_fn(|at| after[at] & self.view[at]);
                    let known = by_memory.iter().position(|(known, _)| *known == memory);
                    let at = known.unwrap_or_else(|| {
                        by_memory.push((memory, Gathered::default()));
                        by_memory.len() - 1
                    });
                    by_memory[at].1.add(self.field.get(after));
                }
            }
        }
        let keep = std::array::from_fn(|at| self.others[at] & !self.view[at]);
        let mut changes = Vec::new();
        for (memory, after) in by_memory {
            let after = self.common.task.sets.id(after.set());
            let closed = self.closure(&memory, after)?;
            let mut set = memory;
            self.field.add(&mut set, closed.0)?;
            changes.push(Change { keep, set });
        }
        Ok(SetSteps {
            changes,
            transitions,
        })
    }

    /// Finds the successors of a row, if they are wanted; how many transitions its states have.
    #[inline]
    pub(super) fn expand(
        &mut self,
        row: &State<N>,
        key: &State<N>,
        out: &mut Successors<N>,
        wanted: bool,
    ) -> Result<u64, Unfinished> {
        let along = self.along;
        let set = self.set(row);
        let live = self.known(set).live;
        let count = self.known(live).len;
        if count == 0 {
            out.clear();
            return Ok(0);
        }
        let own = self.own_steps(row, live)?;
        let mut from = *key;
        clear(&mut from, &self.others);
        self.field.add(&mut from, live.0)?;
        let found = self
            .cache
            .successors_of(|process| process != along, &from, out);
        self.no_room |= found?;
        let transitions = out.as_slice().len() as u64 * count + own.transitions;
        if !wanted {
            return Ok(transitions);
        }
        for at in 0..out.as_slice().len() {
            let mut next = out.as_slice()[at];
            let mut key = next;
            clear(&mut key, &self.others);
            // What fails in the row fails in the other as well, after this step.
            let is_open = live != set || self.differs(&from, &next);
            if is_open && !self.has_failed(&next, |field, id| field.get(&from) != id) {
                let closed = self.closure(&next, live)?;
                next = key;
                self.field.add(&mut next, closed.0)?;
            }
            out.replace(at, next, key);
        }
        for change in &self.changes[own.first as usize..(own.first + own.len) as usize] {
            let next: State<N> =
                std::array::from_fn(|at| from[at] & change.keep[at] | change.set[at]);
            let mut key = next;
            clear(&mut key, &self.others);
            out.push(next, key);
        }
        Ok(transitions)
    }
}
