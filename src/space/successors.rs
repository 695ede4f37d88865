//! Successors by table look-up.
//!
//! The steps of a process depend on its configuration and on the values of the places its
//! next instruction reads. For each configuration, and each value of such a place, the
//! steps are worked out once and kept as *rows* of masks: a successor is the state with a
//! few fields replaced. Every thread has its own rows, so looking them up takes no lock.

use super::graph::Tag;
use super::intern::{ConfigId, Interner};
use super::layout::{Field, Layout, Overflow, State};
use crate::memory::step::{Config, Step, Stepper};
use crate::program::{PlaceId, ProcessId, Value};
use ahash::AHashMap;

/// Gives a step of a process, from a configuration, a number that its transitions carry.
pub type Tagger<'a> = &'a (dyn Fn(ProcessId, &Config, &Step) -> Tag + Sync);

/// The rows that one thread has worked out so far, for one layout.
pub struct SuccessorCache<'a, const N: usize> {
    stepper: &'a Stepper<'a>,
    interner: &'a Interner<'a>,
    layout: &'a Layout,
    tagger: Option<Tagger<'a>>,
    processes: Vec<Entries>,
    /// What configurations read apart from their main place.
    reads: Vec<Read>,
    /// By `Read::base` and value code.
    by_code: Vec<Row>,
    /// SuccessorCache of atomic blocks, which may read all of memory.
    by_memory: AHashMap<(ProcessId, ConfigId, State<N>), Row>,
    /// Everything but the configuration fields and the occupied bit.
    memory_mask: State<N>,
    /// Padded, so that `SuccessorCache::WIDTH` changes can be read from the start of any row.
    changes: Vec<Change<N>>,
    /// By change; empty without a tagger.
    tags: Vec<Tag>,
}

/// What is known of the configurations of one process.
struct Entries {
    field: Field,
    by_id: Vec<Entry>,
}

/// What is known of one configuration.
#[derive(Clone, Copy)]
struct Entry {
    /// The steps that do not read memory, together with those that read one place.
    main: Read,
    /// The other places that steps read: a range of `SuccessorCache::reads`.
    first_read: u32,
    reads: u16,
    /// It may begin an atomic block.
    atomic: bool,
    /// It has more rows than the main one.
    more: bool,
    no_room: bool,
}

/// A place that some steps of a configuration read.
#[derive(Clone, Copy)]
struct Read {
    /// None if there is no such place; its only code is then 0.
    place: Option<PlaceId>,
    field: Field,
    base: u32,
    /// Values for which there is room so far.
    codes: u32,
}

/// A range of `SuccessorCache::changes`.
#[derive(Clone, Copy, PartialEq, Eq)]
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

const UNKNOWN_ROW: Row = Row {
    start: 0,
    len: u32::MAX,
};

const UNKNOWN_ENTRY: Entry = Entry {
    main: Read {
        place: None,
        field: NO_FIELD,
        base: 0,
        codes: 0,
    },
    first_read: 0,
    reads: 0,
    atomic: false,
    more: false,
    no_room: false,
};

const NO_FIELD: Field = Field {
    word: 0,
    shift: 0,
    bits: 0,
};

/// The successors of one state.
pub struct Successors<const N: usize> {
    /// Those that count, and room behind them.
    states: Vec<State<N>>,
    len: usize,
}

impl<const N: usize> Successors<N> {
    pub fn new() -> Successors<N> {
        Successors {
            states: Vec::new(),
            len: 0,
        }
    }

    pub fn as_slice(&self) -> &[State<N>] {
        &self.states[..self.len]
    }

    #[cold]
    fn make_room(&mut self, width: usize) {
        self.states.resize(2 * (self.len + width), [0; N]);
    }
}

impl<'a, const N: usize> SuccessorCache<'a, N> {
    /// How many changes are applied at a time. Most rows are short, and doing a few changes
    /// too many is cheaper than a branch on their number that cannot be foreseen.
    const WIDTH: usize = if N <= 2 { 4 } else { 1 };

    pub fn new(
        stepper: &'a Stepper<'a>,
        interner: &'a Interner<'a>,
        layout: &'a Layout,
        tagger: Option<Tagger<'a>>,
    ) -> SuccessorCache<'a, N> {
        let mut memory_mask = [0; N];
        for field in &layout.places {
            field.fill(&mut memory_mask);
        }
        SuccessorCache {
            stepper,
            interner,
            layout,
            tagger,
            processes: layout
                .configs
                .iter()
                .map(|&field| Entries {
                    field,
                    by_id: Vec::new(),
                })
                .collect(),
            reads: Vec::new(),
            by_code: Vec::new(),
            by_memory: AHashMap::new(),
            memory_mask,
            changes: vec![Change::NONE; Self::WIDTH],
            tags: Vec::new(),
        }
    }

    /// Finds all successors of a state; whether some store had to wait for room.
    #[inline]
    pub fn successors(
        &mut self,
        state: &State<N>,
        out: &mut Successors<N>,
    ) -> Result<bool, Overflow> {
        loop {
            if let Some(no_room) = self.known_successors(state, out) {
                return Ok(no_room);
            }
            self.learn(state)?;
        }
    }

    /// The successors of a state with the tags of the transitions to them.
    pub fn tagged(
        &mut self,
        state: &State<N>,
        out: &mut Vec<(State<N>, Tag)>,
    ) -> Result<(), Overflow> {
        loop {
            out.clear();
            let mut add = |row: Row| {
                for at in row.start as usize..(row.start + row.len) as usize {
                    out.push((self.changes[at].apply(state), self.tags[at]));
                }
            };
            if self.known_rows(state, &mut add).is_some() {
                return Ok(());
            }
            self.learn(state)?;
        }
    }

    /// The successors, unless some row has yet to be worked out.
    #[inline]
    fn known_successors(&self, state: &State<N>, out: &mut Successors<N>) -> Option<bool> {
        out.len = 0;
        self.known_rows(state, &mut |row| self.apply(row, state, out))
    }

    /// Visits all rows of a state, unless some have yet to be worked out; says whether some
    /// store has to wait for room.
    #[inline(always)]
    fn known_rows(&self, state: &State<N>, visit: &mut impl FnMut(Row)) -> Option<bool> {
        let mut no_room = false;
        for (process, entries) in self.processes.iter().enumerate() {
            let id = ConfigId(entries.field.get(state));
            let entry = entries.by_id.get(id.index())?;
            no_room |= entry.no_room;
            visit(self.known_row(&entry.main, state)?);
            if entry.more {
                self.other_rows(ProcessId(process as u32), id, entry, state, visit)?;
            }
        }
        Some(no_room)
    }

    /// Visits all rows of a configuration but the main one, if they are known. Few have
    /// any, and the loop over processes is faster without this inside.
    #[inline(never)]
    fn other_rows(
        &self,
        process: ProcessId,
        id: ConfigId,
        entry: &Entry,
        state: &State<N>,
        visit: &mut impl FnMut(Row),
    ) -> Option<()> {
        let first = entry.first_read as usize;
        for read in &self.reads[first..first + usize::from(entry.reads)] {
            visit(self.known_row(read, state)?);
        }
        if entry.atomic {
            let key = self.atomic_key(process, id, state);
            visit(*self.by_memory.get(&key)?);
        }
        Some(())
    }

    #[inline]
    fn known_row(&self, read: &Read, state: &State<N>) -> Option<Row> {
        let code = read.field.get(state);
        if code >= read.codes {
            return None;
        }
        let row = self.by_code[(read.base + code) as usize];
        (row != UNKNOWN_ROW).then_some(row)
    }

    /// Roughly the memory the rows take.
    pub fn bytes(&self) -> usize {
        let entries = self
            .processes
            .iter()
            .map(|entries| entries.by_id.capacity());
        entries.sum::<usize>() * size_of::<Entry>()
            + self.reads.capacity() * size_of::<Read>()
            + self.changes.capacity() * size_of::<Change<N>>()
            + self.tags.capacity() * size_of::<Tag>()
            + self.by_code.capacity() * size_of::<Row>()
            + self.by_memory.capacity() * (size_of::<State<N>>() + 24)
    }

    #[inline(always)]
    fn apply(&self, row: Row, state: &State<N>, out: &mut Successors<N>) {
        let (mut start, mut len) = (row.start as usize, row.len as usize);
        loop {
            if out.len + Self::WIDTH > out.states.len() {
                out.make_room(Self::WIDTH);
            }
            let changes = &self.changes[start..][..Self::WIDTH];
            let states = &mut out.states[out.len..][..Self::WIDTH];
            for at in 0..Self::WIDTH {
                states[at] = changes[at].apply(state);
            }
            out.len += len.min(Self::WIDTH);
            if len <= Self::WIDTH {
                return;
            }
            start += Self::WIDTH;
            len -= Self::WIDTH;
        }
    }

    /// Works out all rows that a state needs.
    #[cold]
    fn learn(&mut self, state: &State<N>) -> Result<(), Overflow> {
        for process in self.stepper.program.process_ids() {
            let known = &mut self.processes[process.index()];
            let id = ConfigId(known.field.get(state));
            let (own, at) = (process.index(), id.index());
            if known.by_id.len() <= at {
                known.by_id.resize(at + 1, UNKNOWN_ENTRY);
            }
            if known.by_id[at].main.codes == 0 {
                self.processes[own].by_id[at] = self.entry(process, id);
            }
            let mut entry = self.processes[own].by_id[at];
            if self.known_row(&entry.main, state).is_none() {
                self.add_row(process, id, &mut entry.main, state, true)?;
                self.processes[own].by_id[at] = entry;
            }
            let first = entry.first_read as usize;
            for at in first..first + usize::from(entry.reads) {
                let mut read = self.reads[at];
                if self.known_row(&read, state).is_none() {
                    self.add_row(process, id, &mut read, state, false)?;
                    self.reads[at] = read;
                }
            }
            if entry.atomic {
                self.add_atomic_row(process, id, state)?;
            }
        }
        Ok(())
    }

    /// What a configuration reads; the rows are yet to be worked out.
    fn entry(&mut self, process: ProcessId, id: ConfigId) -> Entry {
        let config = self.interner.config(process, id);
        let automaton = self.stepper.program.process(process);
        let outline = self.stepper.outline(automaton, &config);
        let mut places: Vec<PlaceId> = outline.reads.iter().map(|(place, _)| *place).collect();
        places.sort();
        places.dedup();
        let main = self.read(places.first().copied());
        let first_read = self.reads.len() as u32;
        for place in places.iter().skip(1) {
            let read = self.read(Some(*place));
            self.reads.push(read);
        }
        let atomic = !outline.atomics.is_empty();
        Entry {
            main,
            first_read,
            reads: (self.reads.len() as u32 - first_read) as u16,
            atomic,
            more: atomic || places.len() > 1,
            no_room: outline.no_room,
        }
    }

    /// Makes room for the rows of a place.
    fn read(&mut self, place: Option<PlaceId>) -> Read {
        let field = place.map_or(NO_FIELD, |place| self.layout.places[place.index()]);
        let base = self.by_code.len() as u32;
        let codes = 1 << field.bits.min(8);
        self.by_code.resize((base + codes) as usize, UNKNOWN_ROW);
        Read {
            place,
            field,
            base,
            codes,
        }
    }

    /// Works out the steps of a configuration that read a place with the value it has in
    /// a state; also the steps that read nothing, if they are wanted.
    fn add_row(
        &mut self,
        process: ProcessId,
        id: ConfigId,
        read: &mut Read,
        state: &State<N>,
        with_fixed: bool,
    ) -> Result<(), Overflow> {
        let code = read.field.get(state);
        let config = self.interner.config(process, id);
        let automaton = self.stepper.program.process(process);
        let outline = self.stepper.outline(automaton, &config);
        let mut steps = match with_fixed {
            true => outline.fixed,
            false => Vec::new(),
        };
        if let Some(place) = read.place {
            let value = self.interner.value(place, code);
            for (_, approach) in outline.reads.iter().filter(|(at, _)| *at == place) {
                let finished = self
                    .stepper
                    .finish(automaton, &config, approach, &|_| value);
                steps.extend(finished);
            }
        }
        let row = self.row(process, &config, &steps)?;
        if code >= read.codes {
            let old = read.base as usize..(read.base + read.codes) as usize;
            read.base = self.by_code.len() as u32;
            read.codes = (code + 1).next_power_of_two();
            self.by_code.extend_from_within(old);
            let end = read.base + read.codes;
            self.by_code.resize(end as usize, UNKNOWN_ROW);
        }
        self.by_code[(read.base + code) as usize] = row;
        Ok(())
    }

    fn atomic_key(
        &self,
        process: ProcessId,
        id: ConfigId,
        state: &State<N>,
    ) -> (ProcessId, ConfigId, State<N>) {
        let memory = std::array::from_fn(|at| state[at] & self.memory_mask[at]);
        (process, id, memory)
    }

    /// Works out the atomic blocks of a configuration, given the memory of a state.
    fn add_atomic_row(
        &mut self,
        process: ProcessId,
        id: ConfigId,
        state: &State<N>,
    ) -> Result<(), Overflow> {
        let key = self.atomic_key(process, id, state);
        if self.by_memory.contains_key(&key) {
            return Ok(());
        }
        let config = self.interner.config(process, id);
        let automaton = self.stepper.program.process(process);
        let values: Vec<Value> = self.interner.memory(self.layout, state);
        let mut steps = Vec::new();
        for approach in self.stepper.outline(automaton, &config).atomics {
            let memory = |place: PlaceId| values[place.index()];
            steps.extend(self.stepper.finish(automaton, &config, &approach, &memory));
        }
        let row = self.row(process, &config, &steps)?;
        self.by_memory.insert(key, row);
        Ok(())
    }

    /// Turns steps into changes of packed states.
    fn row(
        &mut self,
        process: ProcessId,
        config: &Config,
        steps: &[Step],
    ) -> Result<Row, Overflow> {
        let start = self.changes.len() - Self::WIDTH;
        let mut changes = Vec::new();
        for step in steps {
            let mut touched = [0; N];
            let mut set = [0; N];
            let mut replace = |field: Field, value: u32| {
                field.fill(&mut touched);
                field.set(&mut set, value)
            };
            let next = self.interner.config_id(process, &step.next);
            replace(self.layout.configs[process.index()], next.0)?;
            for (place, value) in &step.writes {
                let code = self.interner.code(*place, *value);
                replace(self.layout.places[place.index()], code)?;
            }
            let keep = touched.map(|word: u64| !word);
            changes.push(Change { keep, set });
        }
        if let Some(tagger) = self.tagger {
            let tags = steps.iter().map(|step| tagger(process, config, step));
            self.tags.extend(tags);
        }
        self.changes.truncate(start);
        self.changes.extend(changes);
        self.changes
            .resize(start + steps.len() + Self::WIDTH, Change::NONE);
        Ok(Row {
            start: start as u32,
            len: steps.len() as u32,
        })
    }
}

impl<const N: usize> Change<N> {
    const NONE: Change<N> = Change {
        keep: [u64::MAX; N],
        set: [0; N],
    };

    #[inline(always)]
    fn apply(&self, state: &State<N>) -> State<N> {
        std::array::from_fn(|word| state[word] & self.keep[word] | self.set[word])
    }
}
