//! Successors by table look-up.
//!
//! The steps of a process depend on its configuration and on the values of the places its
//! next instruction reads. For each configuration, and each value of such a place, the
//! steps are worked out once ([`learn`]) and kept as a *row* of masks: a successor is the
//! state with a few fields replaced. Every thread has a cache of its own, so looking rows
//! up takes no lock.

mod learn;

use super::context::Context;
use super::intern::ConfigId;
use super::layout::{Field, State};
use super::search::Unfinished;
use crate::ids::ids;
use crate::limits::Pace;
use crate::memory::step::{Config, Step};
use crate::program::{PlaceId, ProcessId};
use ahash::AHashMap;

ids!(
    /// What the tagger of a search made of a step.
    Tag
);

/// Gives a step of a process, from a configuration, a tag that its transitions carry.
pub type Tagger<'a> = &'a (dyn Fn(ProcessId, &Config, &Step) -> Tag + Sync);

/// The rows that one thread has worked out so far, for one layout.
pub struct SuccessorCache<'a, const N: usize> {
    context: Context<'a>,
    tagger: Option<Tagger<'a>>,
    processes: Vec<Entries>,
    /// What configurations read apart from their main place.
    reads: Vec<Read>,
    /// By `Read::base` and value code.
    by_code: Vec<Row>,
    /// Rows of atomic blocks, which may read all of memory.
    by_memory: AHashMap<(ProcessId, ConfigId, State<N>), Row>,
    /// Everything but the configuration fields and the occupied bit.
    memory_mask: State<N>,
    /// Padded, so that `SuccessorCache::WIDTH` changes can be read from the start of any row.
    changes: Vec<Change<N>>,
    /// By change, and padded in the same way: what it sets in the key of a state. Empty if
    /// states are not merged.
    key_sets: Vec<State<N>>,
    /// By change; empty without a tagger.
    tags: Vec<Tag>,
    /// What was learnt since the limits were last looked at.
    pace: Pace,
}

/// What is known of the configurations of one process.
struct Entries {
    field: Field,
    /// By configuration.
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
    /// Some store has to wait for room.
    no_room: bool,
}

/// A place that some steps of a configuration read.
#[derive(Clone, Copy)]
struct Read {
    /// None if there is no such place; its only code is then 0.
    place: Option<PlaceId>,
    field: Field,
    base: u32,
    /// Values for which there is room so far; 0 if the configuration is not known.
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

/// The successors of one state.
#[derive(Default)]
pub struct Successors<const N: usize> {
    /// Those that count, and room behind them.
    states: Vec<State<N>>,
    /// Their keys, if those were asked for.
    keys: Vec<State<N>>,
    len: usize,
}

impl<const N: usize> Successors<N> {
    pub fn as_slice(&self) -> &[State<N>] {
        &self.states[..self.len]
    }

    /// The keys of the successors.
    pub fn keys(&self) -> &[State<N>] {
        &self.keys[..self.len]
    }

    /// Leaves out all of them.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Puts a successor and its key in place of another.
    #[inline]
    pub fn replace(&mut self, at: usize, state: State<N>, key: State<N>) {
        (self.states[at], self.keys[at]) = (state, key);
    }

    /// Adds a successor and its key.
    #[inline]
    pub fn push(&mut self, state: State<N>, key: State<N>) {
        if self.len == self.states.len() {
            self.make_room(1);
        }
        (self.states[self.len], self.keys[self.len]) = (state, key);
        self.len += 1;
    }

    #[cold]
    fn make_room(&mut self, width: usize) {
        self.states.resize(2 * (self.len + width), [0; N]);
        self.keys.resize(self.states.len(), [0; N]);
    }
}

impl<'a, const N: usize> SuccessorCache<'a, N> {
    /// How many changes are applied at a time. Most rows are short, and doing a few changes
    /// too many is cheaper than a branch on their number that cannot be foreseen.
    const WIDTH: usize = if N <= 2 { 4 } else { 1 };

    pub fn new(context: Context<'a>) -> SuccessorCache<'a, N> {
        let mut memory_mask = [0; N];
        for field in &context.layout.places {
            field.fill(&mut memory_mask);
        }
        let entries = |&field: &Field| Entries {
            field,
            by_id: Vec::new(),
        };
        let merges = context.search.stepper.memory.merges();
        SuccessorCache {
            context,
            tagger: context.search.goal.tagger(),
            processes: context.layout.configs.iter().map(entries).collect(),
            reads: Vec::new(),
            by_code: Vec::new(),
            by_memory: AHashMap::new(),
            memory_mask,
            changes: vec![Change::NONE; Self::WIDTH],
            key_sets: match merges {
                true => vec![[0; N]; Self::WIDTH],
                false => Vec::new(),
            },
            tags: Vec::new(),
            pace: Pace::default(),
        }
    }

    /// Finds all successors of a state; whether some store had to wait for room.
    #[inline]
    pub fn successors(
        &mut self,
        state: &State<N>,
        out: &mut Successors<N>,
    ) -> Result<bool, Unfinished> {
        loop {
            if let Some(no_room) = self.known_successors(state, out, |_| true) {
                return Ok(no_room);
            }
            self.learn(state, |_| true)?;
        }
    }

    /// Finds the successors by steps of some processes; whether some store of theirs had to wait
    /// for room. Nobody looks at the configurations of the others.
    #[inline]
    pub fn successors_of(
        &mut self,
        processes: impl Fn(ProcessId) -> bool + Copy,
        state: &State<N>,
        out: &mut Successors<N>,
    ) -> Result<bool, Unfinished> {
        loop {
            if let Some(no_room) = self.known_successors(state, out, processes) {
                return Ok(no_room);
            }
            self.learn(state, processes)?;
        }
    }

    /// Finds all successors of a merged state, and their keys.
    #[inline]
    pub fn successors_with_keys(
        &mut self,
        state: &State<N>,
        key: &State<N>,
        out: &mut Successors<N>,
    ) -> Result<(), Unfinished> {
        loop {
            out.len = 0;
            let mut apply = |row| self.apply_with_keys(row, state, key, out);
            if self.known_rows(state, |_| true, &mut apply).is_some() {
                return Ok(());
            }
            self.learn(state, |_| true)?;
        }
    }

    /// The number of successors of a state.
    #[inline]
    pub fn count(&mut self, state: &State<N>) -> Result<usize, Unfinished> {
        loop {
            let mut count = 0;
            let mut add = |row: Row| count += row.len as usize;
            if self.known_rows(state, |_| true, &mut add).is_some() {
                return Ok(count);
            }
            self.learn(state, |_| true)?;
        }
    }

    /// The successors of a state with the tags of the transitions to them.
    pub fn tagged(
        &mut self,
        state: &State<N>,
        out: &mut Vec<(State<N>, Tag)>,
    ) -> Result<(), Unfinished> {
        loop {
            out.clear();
            let mut add = |row: Row| {
                for at in row.start as usize..(row.start + row.len) as usize {
                    out.push((self.changes[at].apply(state), self.tags[at]));
                }
            };
            if self.known_rows(state, |_| true, &mut add).is_some() {
                return Ok(());
            }
            self.learn(state, |_| true)?;
        }
    }

    /// The successors, unless some row has yet to be worked out.
    #[inline]
    fn known_successors(
        &self,
        state: &State<N>,
        out: &mut Successors<N>,
        processes: impl Fn(ProcessId) -> bool,
    ) -> Option<bool> {
        out.len = 0;
        self.known_rows(state, processes, &mut |row| self.apply(row, state, out))
    }

    /// Visits all rows of some processes in a state, unless some have yet to be worked out; says
    /// whether some store has to wait for room.
    #[inline(always)]
    fn known_rows(
        &self,
        state: &State<N>,
        processes: impl Fn(ProcessId) -> bool,
        visit: &mut impl FnMut(Row),
    ) -> Option<bool> {
        let mut no_room = false;
        for (process, entries) in self.processes.iter().enumerate() {
            if !processes(ProcessId(process as u32)) {
                continue;
            }
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

    /// What the steps of atomic blocks depend on.
    fn atomic_key(
        &self,
        process: ProcessId,
        id: ConfigId,
        state: &State<N>,
    ) -> (ProcessId, ConfigId, State<N>) {
        let memory = std::array::from_fn(|at| state[at] & self.memory_mask[at]);
        (process, id, memory)
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

    #[inline(always)]
    fn apply_with_keys(&self, row: Row, state: &State<N>, key: &State<N>, out: &mut Successors<N>) {
        let (mut start, mut len) = (row.start as usize, row.len as usize);
        loop {
            if out.len + Self::WIDTH > out.states.len() {
                out.make_room(Self::WIDTH);
            }
            let changes = &self.changes[start..][..Self::WIDTH];
            let key_sets = &self.key_sets[start..][..Self::WIDTH];
            let states = &mut out.states[out.len..][..Self::WIDTH];
            let keys = &mut out.keys[out.len..][..Self::WIDTH];
            for at in 0..Self::WIDTH {
                states[at] = changes[at].apply(state);
                let (keep, set) = (changes[at].keep, key_sets[at]);
                keys[at] = Change { keep, set }.apply(key);
            }
            out.len += len.min(Self::WIDTH);
            if len <= Self::WIDTH {
                return;
            }
            start += Self::WIDTH;
            len -= Self::WIDTH;
        }
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
            + self.key_sets.capacity() * size_of::<State<N>>()
            + self.tags.capacity() * size_of::<Tag>()
            + self.by_code.capacity() * size_of::<Row>()
            + self.by_memory.capacity() * (size_of::<State<N>>() + 24)
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
