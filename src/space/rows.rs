//! Successors by table look-up.
//!
//! The steps of a process depend on its configuration and on the values of the places its
//! next instruction reads. For each configuration, and each value of such a place, the
//! steps are worked out once and kept as *rows* of masks: a successor is the state with a
//! few fields replaced. Every thread has its own rows, so looking them up takes no lock.

use super::intern::Interner;
use super::layout::{Field, Layout, Overflow, State};
use crate::lang::value::Value;
use crate::memory::step::{Step, Stepper};
use crate::program::PlaceId;
use ahash::AHashMap;

/// The rows that one thread has worked out so far, for one layout.
pub struct Rows<'a, const N: usize> {
    stepper: &'a Stepper<'a>,
    interner: &'a Interner<'a>,
    layout: &'a Layout,
    /// Per process, by configuration id.
    entries: Vec<Vec<Option<Entry>>>,
    reads: Vec<Read>,
    /// By `Read::base` and value code.
    by_code: Vec<Option<Row>>,
    /// Rows of atomic blocks, which may read all of memory.
    by_memory: AHashMap<(u32, u32, State<N>), Row>,
    /// Everything but the configuration fields and the occupied bit.
    memory_mask: State<N>,
    changes: Vec<Change<N>>,
}

/// What is known of one configuration.
#[derive(Clone, Copy)]
struct Entry {
    /// Steps that do not read memory.
    fixed: Row,
    /// Its places that steps read: a range of `Rows::reads`.
    first_read: u32,
    reads: u16,
    atomic: bool,
    no_room: bool,
}

/// A place that some steps of a configuration read.
#[derive(Clone, Copy)]
struct Read {
    place: PlaceId,
    field: Field,
    base: u32,
    codes: u32,
}

/// A range of `Rows::changes`.
#[derive(Clone, Copy)]
struct Row {
    start: u32,
    len: u32,
}

/// A step: the successor is `state & keep | set`.
#[derive(Clone, Copy)]
struct Change<const N: usize> {
    keep: State<N>,
    set: State<N>,
}

impl<'a, const N: usize> Rows<'a, N> {
    pub fn new(
        stepper: &'a Stepper<'a>,
        interner: &'a Interner<'a>,
        layout: &'a Layout,
    ) -> Rows<'a, N> {
        let mut memory_mask = [0; N];
        for field in &layout.places {
            field.fill(&mut memory_mask);
        }
        Rows {
            stepper,
            interner,
            layout,
            entries: vec![Vec::new(); layout.configs.len()],
            reads: Vec::new(),
            by_code: Vec::new(),
            by_memory: AHashMap::new(),
            memory_mask,
            changes: Vec::new(),
        }
    }

    /// Adds all successors of a state; whether some store had to wait for room.
    #[inline]
    pub fn successors(
        &mut self,
        state: &State<N>,
        out: &mut Vec<State<N>>,
    ) -> Result<bool, Overflow> {
        let mut no_room = false;
        for process in 0..self.entries.len() {
            let id = self.layout.configs[process].get(state);
            let entry = match self.entries[process].get(id as usize) {
                Some(Some(entry)) => *entry,
                _ => self.add_entry(process, id)?,
            };
            no_room |= entry.no_room;
            self.apply(entry.fixed, state, out);
            for at in entry.first_read..entry.first_read + u32::from(entry.reads) {
                let read = self.reads[at as usize];
                let code = read.field.get(state);
                let row = match self.by_code.get((read.base + code) as usize) {
                    Some(Some(row)) if code < read.codes => *row,
                    _ => self.add_row(process, id, at, code)?,
                };
                self.apply(row, state, out);
            }
            if entry.atomic {
                let row = self.atomic_row(process, id, state)?;
                self.apply(row, state, out);
            }
        }
        Ok(no_room)
    }

    /// Roughly the memory the rows take.
    pub fn bytes(&self) -> usize {
        let entries: usize = self.entries.iter().map(Vec::capacity).sum();
        entries * size_of::<Option<Entry>>()
            + self.changes.capacity() * size_of::<Change<N>>()
            + self.by_code.capacity() * size_of::<Option<Row>>()
            + self.by_memory.capacity() * (size_of::<State<N>>() + 24)
    }

    #[inline]
    fn apply(&self, row: Row, state: &State<N>, out: &mut Vec<State<N>>) {
        let changes = &self.changes[row.start as usize..(row.start + row.len) as usize];
        out.extend(changes.iter().map(|change| {
            let mut next = *state;
            for ((word, keep), set) in next.iter_mut().zip(change.keep).zip(change.set) {
                *word = *word & keep | set;
            }
            next
        }));
    }

    #[cold]
    fn add_entry(&mut self, process: usize, id: u32) -> Result<Entry, Overflow> {
        let config = self.interner.config(process, id);
        let automaton = &self.stepper.program.processes[process];
        let outline = self.stepper.outline(automaton, &config);
        let fixed = self.row(process, &outline.fixed)?;
        let first_read = self.reads.len() as u32;
        let mut places: Vec<PlaceId> = outline.reads.iter().map(|(place, _)| *place).collect();
        places.sort();
        places.dedup();
        for place in places {
            let field = self.layout.places[place.index()];
            let codes = 1 << field.bits.min(8);
            self.reads.push(Read {
                place,
                field,
                base: self.by_code.len() as u32,
                codes,
            });
            let end = self.by_code.len() + codes as usize;
            self.by_code.resize(end, None);
        }
        let entry = Entry {
            fixed,
            first_read,
            reads: (self.reads.len() as u32 - first_read) as u16,
            atomic: !outline.atomics.is_empty(),
            no_room: outline.no_room,
        };
        let entries = &mut self.entries[process];
        if entries.len() <= id as usize {
            entries.resize(id as usize + 1, None);
        }
        entries[id as usize] = Some(entry);
        Ok(entry)
    }

    /// Works out the steps of a configuration that read one place with a given value.
    #[cold]
    fn add_row(&mut self, process: usize, id: u32, read: u32, code: u32) -> Result<Row, Overflow> {
        let Read { place, codes, .. } = self.reads[read as usize];
        let config = self.interner.config(process, id);
        let automaton = &self.stepper.program.processes[process];
        let value = self.interner.value(place, code);
        let mut steps = Vec::new();
        for (at, approach) in self.stepper.outline(automaton, &config).reads {
            if at == place {
                let finished = self
                    .stepper
                    .finish(automaton, &config, &approach, &|_| value);
                steps.extend(finished);
            }
        }
        let row = self.row(process, &steps)?;
        if code >= codes {
            let old = self.reads[read as usize].base as usize;
            let base = self.by_code.len();
            self.by_code.extend_from_within(old..old + codes as usize);
            let grown = (code + 1).next_power_of_two();
            self.by_code.resize(base + grown as usize, None);
            self.reads[read as usize].base = base as u32;
            self.reads[read as usize].codes = grown;
        }
        let base = self.reads[read as usize].base;
        self.by_code[(base + code) as usize] = Some(row);
        Ok(row)
    }

    fn atomic_row(&mut self, process: usize, id: u32, state: &State<N>) -> Result<Row, Overflow> {
        let mut memory = *state;
        for (word, mask) in memory.iter_mut().zip(self.memory_mask) {
            *word &= mask;
        }
        let key = (process as u32, id, memory);
        if let Some(row) = self.by_memory.get(&key) {
            return Ok(*row);
        }
        let config = self.interner.config(process, id);
        let automaton = &self.stepper.program.processes[process];
        let values: Vec<Value> = self.interner.memory(self.layout, state);
        let mut steps = Vec::new();
        for approach in self.stepper.outline(automaton, &config).atomics {
            let memory = |place: PlaceId| values[place.index()];
            steps.extend(self.stepper.finish(automaton, &config, &approach, &memory));
        }
        let row = self.row(process, &steps)?;
        self.by_memory.insert(key, row);
        Ok(row)
    }

    /// Turns steps into changes of packed states.
    fn row(&mut self, process: usize, steps: &[Step]) -> Result<Row, Overflow> {
        let start = self.changes.len() as u32;
        for step in steps {
            let mut touched = [0; N];
            let mut set = [0; N];
            let mut replace = |field: Field, value: u32| {
                field.fill(&mut touched);
                field.set(&mut set, value)
            };
            let next = self.interner.config_id(process, &step.next);
            replace(self.layout.configs[process], next)?;
            for (place, value) in &step.writes {
                let code = self.interner.code(*place, *value);
                replace(self.layout.places[place.index()], code)?;
            }
            let keep = touched.map(|word: u64| !word);
            self.changes.push(Change { keep, set });
        }
        Ok(Row {
            start,
            len: self.changes.len() as u32 - start,
        })
    }
}
