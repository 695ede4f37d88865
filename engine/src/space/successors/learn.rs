//! How the cache learns: the steps of configurations, turned into changes of packed states.

use super::{Change, Entry, Read, Row, SuccessorCache, UNKNOWN_ROW};
use crate::limits::{StopReason, Watch};
use crate::memory::step::{Approach, Config, Outline, Step, Stepper};
use crate::program::{PlaceId, Process, ProcessId, Value};
use crate::space::intern::ConfigId;
use crate::space::layout::{Field, State};
use crate::space::search::Unfinished;
use std::sync::Arc;

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

/// A configuration whose steps are worked out.
struct Subject<'a> {
    process: ProcessId,
    id: ConfigId,
    config: Arc<Config>,
    automaton: &'a Process,
    stepper: &'a Stepper<'a>,
    watch: &'a Watch<'a>,
}

impl Subject<'_> {
    fn outline(&self) -> Result<Outline, StopReason> {
        self.stepper
            .outline(self.automaton, &self.config, self.watch)
    }

    fn finish(
        &self,
        approach: &Approach,
        memory: &dyn Fn(PlaceId) -> Value,
    ) -> Result<Vec<Step>, StopReason> {
        let (process, config) = (self.automaton, &self.config);
        self.stepper
            .finish(process, config, approach, memory, self.watch)
    }
}

impl<const N: usize> SuccessorCache<'_, N> {
    /// Works out all rows of some processes that a state needs.
    #[cold]
    pub(super) fn learn(
        &mut self,
        state: &State<N>,
        processes: impl Fn(ProcessId) -> bool,
    ) -> Result<(), Unfinished> {
        let context = self.context;
        let check = |bytes| {
            context.check_memory((context.interner.bytes() + bytes) as u64)?;
            context.check()
        };
        let watch = Watch::resumed(self.pace, &check);
        let mut learnt = Ok(());
        for process in context
            .program()
            .process_ids()
            .filter(|&process| processes(process))
        {
            let id = ConfigId(context.layout.configs[process.index()].get(state));
            let subject = Subject {
                process,
                id,
                config: context.interner.config(process, id),
                automaton: context.program().process(process),
                stepper: context.search.stepper,
                watch: &watch,
            };
            learnt = learnt.and_then(|()| self.learn_rows(&subject, state));
        }
        self.pace = watch.pace();
        learnt
    }

    /// Works out all rows of one configuration that a state needs.
    fn learn_rows(&mut self, subject: &Subject, state: &State<N>) -> Result<(), Unfinished> {
        let (own, at) = (subject.process.index(), subject.id.index());
        let known = &mut self.processes[own].by_id;
        if known.len() <= at {
            known.resize(at + 1, UNKNOWN_ENTRY);
        }
        if known[at].main.codes == 0 {
            self.processes[own].by_id[at] = self.new_entry(subject)?;
        }
        let mut entry = self.processes[own].by_id[at];
        if self.known_row(&entry.main, state).is_none() {
            self.add_row(subject, &mut entry.main, state, true)?;
            self.processes[own].by_id[at] = entry;
        }
        let first = entry.first_read as usize;
        for at in first..first + usize::from(entry.reads) {
            let mut read = self.reads[at];
            if self.known_row(&read, state).is_none() {
                self.add_row(subject, &mut read, state, false)?;
                self.reads[at] = read;
            }
        }
        match entry.atomic {
            true => self.add_atomic_row(subject, state),
            false => Ok(()),
        }
    }

    /// What a configuration reads; the rows are yet to be worked out.
    fn new_entry(&mut self, subject: &Subject) -> Result<Entry, StopReason> {
        let outline = subject.outline()?;
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
        Ok(Entry {
            main,
            first_read,
            reads: (self.reads.len() as u32 - first_read) as u16,
            atomic,
            more: atomic || places.len() > 1,
            no_room: outline.no_room,
        })
    }

    /// Makes room for the rows of a place.
    fn read(&mut self, place: Option<PlaceId>) -> Read {
        let field = place.map_or(NO_FIELD, |place| self.context.layout.places[place.index()]);
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
        subject: &Subject,
        read: &mut Read,
        state: &State<N>,
        with_fixed: bool,
    ) -> Result<(), Unfinished> {
        let code = read.field.get(state);
        let outline = subject.outline()?;
        let mut steps = match with_fixed {
            true => outline.fixed,
            false => Vec::new(),
        };
        if let Some(place) = read.place {
            let value = self.context.interner.value(place, code);
            for (_, approach) in outline.reads.iter().filter(|(at, _)| *at == place) {
                steps.extend(subject.finish(approach, &|_| value)?);
            }
        }
        let row = self.row(subject, &steps)?;
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

    /// Works out the atomic blocks of a configuration, given the memory of a state.
    fn add_atomic_row(&mut self, subject: &Subject, state: &State<N>) -> Result<(), Unfinished> {
        let key = self.atomic_key(subject.process, subject.id, state);
        if self.by_memory.contains_key(&key) {
            return Ok(());
        }
        let values = self.context.memory(state);
        let memory = |place: PlaceId| values[place.index()];
        let mut steps = Vec::new();
        for approach in subject.outline()?.atomics {
            steps.extend(subject.finish(&approach, &memory)?);
        }
        let row = self.row(subject, &steps)?;
        self.by_memory.insert(key, row);
        Ok(())
    }

    /// Turns steps into changes of packed states.
    fn row(&mut self, subject: &Subject, steps: &[Step]) -> Result<Row, Unfinished> {
        let (layout, interner) = (self.context.layout, self.context.interner);
        let own = layout.configs[subject.process.index()];
        let merges = !self.key_sets.is_empty();
        let start = self.changes.len() - Self::WIDTH;
        let (mut changes, mut key_sets) = (Vec::new(), Vec::new());
        for step in steps {
            let mut touched = [0; N];
            let mut set = [0; N];
            let mut replace = |field: Field, value: u32| {
                field.fill(&mut touched);
                field.set(&mut set, value)
            };
            let next = interner.config_id(subject.process, &step.next);
            replace(own, next.0)?;
            for (place, value) in &step.writes {
                let code = interner.code(*place, *value);
                replace(layout.places[place.index()], code)?;
            }
            let keep = touched.map(|word: u64| !word);
            changes.push(Change { keep, set });
            if merges {
                own.set(&mut set, interner.skeleton_id(subject.process, next).0)?;
                key_sets.push(set);
            }
            let bytes = size_of_val(&changes[..]) + size_of_val(&key_sets[..]);
            subject.watch.note(1, bytes)?;
        }
        if let Some(tagger) = self.tagger {
            let tag = |step| tagger(subject.process, &subject.config, step);
            self.tags.extend(steps.iter().map(tag));
        }
        let end = start + steps.len() + Self::WIDTH;
        self.changes.truncate(start);
        self.changes.extend(changes);
        self.changes.resize(end, Change::NONE);
        if merges {
            self.key_sets.truncate(start);
            self.key_sets.extend(key_sets);
            self.key_sets.resize(end, [0; N]);
        }
        Ok(Row {
            start: start as u32,
            len: steps.len() as u32,
        })
    }
}
