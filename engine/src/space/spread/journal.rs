//! What a worker has found, written down at the end of a level so that a search can go on from
//! there.
//!
//! A worker writes what is new since the last time: the contents of the numbers that it has given
//! out, in order, and its states level by level. Read again in the same order, they get the same
//! numbers, so that states are taken as they are. All workers write at the end of the same levels;
//! a search goes on from the last of these that all have.

use super::directory::Content;
use super::member::Member;
use super::{Halt, Lost, encode};
use crate::space::intern::Widths;
use crate::space::layout::State;
use crate::space::level::Level;
use crate::space::search::Unfinished;
use serde::{Deserialize, Serialize};

/// Where a worker writes down what it has found, and reads it again. What cannot be written or
/// read ends the run.
pub trait Journal {
    /// It is time to write something down.
    fn is_due(&self) -> bool;

    /// The numbers of levels after which something was written down, in order.
    fn entries(&self) -> &[u64];

    /// Forgets what was written down after more levels than these.
    fn keep(&mut self, levels: u64) -> Result<(), Lost>;

    /// Writes something down after so many levels: all of it, or nothing.
    fn write(
        &mut self,
        levels: u64,
        head: &[u8],
        words: &mut dyn Iterator<Item = u64>,
    ) -> Result<(), Lost>;

    /// The head of what was written down after so many levels.
    fn head(&mut self, levels: u64) -> Result<Vec<u8>, Lost>;

    /// Its words, one after the other.
    fn words(&mut self, levels: u64, each: &mut dyn FnMut(u64)) -> Result<(), Lost>;

    /// Ends the run, since what is read means nothing.
    fn reject(&mut self, levels: u64) -> Lost;
}

/// What stands before the states.
#[derive(Serialize, Deserialize)]
struct Head {
    widths: Widths,
    /// By component: the contents of new numbers.
    contents: Vec<Vec<Content>>,
    /// How many states each new level has.
    levels: Vec<u64>,
    /// How many states are in no level, since a statement has failed in them.
    failed: u64,
    /// The first level with violations, and how many of its states this worker owns.
    errors: Option<(usize, u64)>,
    states: u64,
    transitions: u64,
    no_room: bool,
    reached_final: bool,
}

/// The widths of the states that were written down, if there are any.
pub fn written_widths(journal: &mut dyn Journal) -> Result<Option<Widths>, Lost> {
    let Some(&last) = journal.entries().last() else {
        return Ok(None);
    };
    Ok(Some(head(journal, last)?.widths))
}

fn head(journal: &mut dyn Journal, levels: u64) -> Result<Head, Lost> {
    let bytes = journal.head(levels)?;
    postcard::from_bytes(&bytes).map_err(|_| journal.reject(levels))
}

/// How much of a search was written down.
#[derive(Default)]
pub struct Written {
    levels: usize,
    failed: usize,
    /// By component.
    numbers: Vec<u32>,
}

impl<const N: usize> Member<'_, '_, N> {
    /// Writes down what is new.
    pub fn write_down(&mut self) -> Result<(), Lost> {
        let Some(journal) = self.journal.take() else {
            return Ok(());
        };
        let mut contents = Vec::new();
        self.written
            .numbers
            .resize(self.directory.components.len(), 0);
        for (at, (component, _)) in self.directory.components.iter().enumerate() {
            let known = self.directory.numbers(*component);
            let new = self.written.numbers[at]..known;
            let content = |number| self.directory.content(*component, number);
            contents.push(new.map(content).collect());
            self.written.numbers[at] = known;
        }
        let levels = &self.levels[self.written.levels..];
        let failed = &self.failed[self.written.failed..];
        let errors = self.errors.as_ref();
        let head = Head {
            widths: self.widths.clone(),
            contents,
            levels: levels.iter().map(|level| level.len() as u64).collect(),
            failed: failed.len() as u64,
            errors: errors.map(|(level, states)| (*level, states.len() as u64)),
            states: self.states,
            transitions: self.transitions,
            no_room: self.no_room,
            reached_final: self.reached_final,
        };
        let states = levels.iter().flat_map(Level::states).chain(failed);
        let states = states.chain(errors.into_iter().flat_map(|(_, states)| states));
        let written = journal.write(
            self.levels.len() as u64,
            &encode(&head),
            &mut states.flatten().copied(),
        );
        self.written.levels = self.levels.len();
        self.written.failed = self.failed.len();
        self.journal = Some(journal);
        written
    }

    /// Goes back to the last level that all workers have written down; whether there is one.
    pub fn read_back(&mut self) -> Result<bool, Halt> {
        let Some(journal) = self.journal.take() else {
            return Ok(false);
        };
        let own: Vec<u64> = journal.entries().to_vec();
        let all = self.meet(&own)?;
        let by_all = |level: &&u64| all.iter().all(|entries| entries.contains(level));
        let last = own.iter().rev().find(by_all).copied().unwrap_or(0);
        journal.keep(last)?;
        for levels in own.into_iter().filter(|levels| *levels <= last) {
            self.read_entry(journal, levels)?;
        }
        self.written = Written {
            levels: self.levels.len(),
            failed: self.failed.len(),
            numbers: (self.directory.components.iter())
                .map(|(component, _)| self.directory.numbers(*component))
                .collect(),
        };
        self.journal = Some(journal);
        Ok(last > 0)
    }

    fn read_entry(&mut self, journal: &mut dyn Journal, levels: u64) -> Result<(), Halt> {
        let head = head(journal, levels)?;
        let components = self.directory.components.clone();
        let mut fits = head.widths == self.widths && head.contents.len() == components.len();
        for ((component, _), contents) in components.iter().zip(&head.contents) {
            for content in contents {
                let next = self.directory.numbers(*component);
                fits = fits && self.directory.number(*component, content) == Some(next);
            }
        }
        if !fits || self.levels.len() + head.levels.len() != levels as usize {
            return Err(journal.reject(levels).into());
        }
        let mut states = Vec::new();
        let mut state: State<N> = [0; N];
        let mut at = 0;
        journal.words(levels, &mut |word| {
            state[at] = word;
            at = (at + 1) % N;
            if at == 0 {
                states.push(state);
            }
        })?;
        let counts = head.levels.iter().sum::<u64>() + head.failed;
        let errors = head.errors.map_or(0, |(_, count)| count);
        let known = |state: &State<N>| self.directory.knows(state);
        if at != 0 || states.len() as u64 != counts + errors || !states.iter().all(known) {
            return Err(journal.reject(levels).into());
        }
        let mut states = states.into_iter();
        for count in head.levels {
            let level: Vec<State<N>> = states.by_ref().take(count as usize).collect();
            self.take_back(&level)?;
            self.levels.push(match level.is_empty() {
                true => Level::new(),
                false => Level::from(level),
            });
        }
        let failed: Vec<State<N>> = states.by_ref().take(head.failed as usize).collect();
        self.take_back(&failed)?;
        self.failed.extend(failed);
        self.errors = head.errors.map(|(level, _)| (level, states.collect()));
        self.transitions = head.transitions;
        self.no_room = head.no_room;
        self.reached_final = head.reached_final;
        match self.states == head.states || self.obstacle.is_some() {
            true => Ok(()),
            false => Err(journal.reject(levels).into()),
        }
    }

    /// Inserts states that were written down. A limit stays known.
    fn take_back(&mut self, states: &[State<N>]) -> Result<(), Halt> {
        for state in states {
            match self.insert_again(*state) {
                Ok(()) => {}
                Err(Unfinished::Overflow) => return Err(Halt::Overflow),
                Err(why) => {
                    self.obstacle.get_or_insert(why);
                }
            }
        }
        Ok(())
    }
}
