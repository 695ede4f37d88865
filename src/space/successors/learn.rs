//! How the cache learns: the steps of configurations, turned into changes of packed states.

use super::{Change, Entry, Read, Row, SuccessorCache, UNKNOWN_ROW};
use crate::memory::step::{Config, Step};
use crate::program::{PlaceId, ProcessId, Value};
use crate::space::intern::ConfigId;
use crate::space::layout::{Field, Overflow, State};

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

impl<const N: usize> SuccessorCache<'_, N> {
    /// Works out all rows that a state needs.
    #[cold]
    pub(super) fn learn(&mut self, state: &State<N>) -> Result<(), Overflow> {
        for process in self.context.program().process_ids() {
            let own = process.index();
            let id = ConfigId(self.processes[own].field.get(state));
            let mut entry = self.entry(process, id);
            if self.known_row(&entry.main, state).is_none() {
                self.add_row(process, id, &mut entry.main, state, true)?;
                self.processes[own].by_id[id.index()] = entry;
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

    /// What is known of a configuration; at first only what it reads.
    fn entry(&mut self, process: ProcessId, id: ConfigId) -> Entry {
        let known = &mut self.processes[process.index()].by_id;
        if known.len() <= id.index() {
            known.resize(id.index() + 1, UNKNOWN_ENTRY);
        }
        if known[id.index()].main.codes == 0 {
            let entry = self.new_entry(process, id);
            self.processes[process.index()].by_id[id.index()] = entry;
        }
        self.processes[process.index()].by_id[id.index()]
    }

    fn new_entry(&mut self, process: ProcessId, id: ConfigId) -> Entry {
        let config = self.context.interner.config(process, id);
        let automaton = self.context.program().process(process);
        let outline = self.context.search.stepper.outline(automaton, &config);
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
        process: ProcessId,
        id: ConfigId,
        read: &mut Read,
        state: &State<N>,
        with_fixed: bool,
    ) -> Result<(), Overflow> {
        let code = read.field.get(state);
        let config = self.context.interner.config(process, id);
        let automaton = self.context.program().process(process);
        let stepper = self.context.search.stepper;
        let outline = stepper.outline(automaton, &config);
        let mut steps = match with_fixed {
            true => outline.fixed,
            false => Vec::new(),
        };
        if let Some(place) = read.place {
            let value = self.context.interner.value(place, code);
            for (_, approach) in outline.reads.iter().filter(|(at, _)| *at == place) {
                steps.extend(stepper.finish(automaton, &config, approach, &|_| value));
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
        let config = self.context.interner.config(process, id);
        let automaton = self.context.program().process(process);
        let stepper = self.context.search.stepper;
        let values: Vec<Value> = self.context.memory(state);
        let memory = |place: PlaceId| values[place.index()];
        let mut steps = Vec::new();
        for approach in stepper.outline(automaton, &config).atomics {
            steps.extend(stepper.finish(automaton, &config, &approach, &memory));
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
        let (layout, interner) = (self.context.layout, self.context.interner);
        let start = self.changes.len() - Self::WIDTH;
        let mut changes = Vec::new();
        for step in steps {
            let mut touched = [0; N];
            let mut set = [0; N];
            let mut replace = |field: Field, value: u32| {
                field.fill(&mut touched);
                field.set(&mut set, value)
            };
            let next = interner.config_id(process, &step.next);
            replace(layout.configs[process.index()], next.0)?;
            for (place, value) in &step.writes {
                let code = interner.code(*place, *value);
                replace(layout.places[place.index()], code)?;
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
