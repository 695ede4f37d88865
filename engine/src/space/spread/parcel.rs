//! States on their way from one worker to another.

use super::directory::{Content, Directory};
use super::encode;
use crate::memory::step::Config;
use crate::program::ProcessId;
use crate::space::context::Context;
use crate::space::layout::{Field, OCCUPIED, Overflow, State};
use serde::{Deserialize, Serialize};

/// States in one parcel at most.
const MOST: usize = 1 << 12;

/// What workers send to one another.
#[derive(Serialize, Deserialize)]
pub enum Parcel {
    States(States),
    /// Configurations that the receiver counts.
    Configs(Vec<(ProcessId, Config)>),
}

/// Some states.
#[derive(Serialize, Deserialize)]
pub struct States {
    /// Which parcel of states of this sender for this receiver it is.
    sequence: u64,
    /// Component, number and content of what the receiver does not know yet.
    news: Vec<(u32, u32, Content)>,
    /// The states, with the numbers of the sender.
    #[serde(with = "serde_bytes")]
    words: Vec<u8>,
}

/// The way from this worker to another.
pub struct Outgoing {
    sequence: u64,
    /// By component and number: the receiver has its content.
    sent: Vec<Vec<bool>>,
    news: Vec<(u32, u32, Content)>,
    words: Vec<u64>,
}

impl Outgoing {
    pub fn new(components: usize) -> Outgoing {
        Outgoing {
            sequence: 0,
            sent: vec![Vec::new(); components],
            news: Vec::new(),
            words: Vec::new(),
        }
    }

    /// Adds a state; whether the parcel is full.
    #[inline]
    pub fn add<const N: usize>(&mut self, directory: &Directory<N>, state: &State<N>) -> bool {
        for (at, (_, field)) in directory.components.iter().enumerate() {
            let number = field.get(state);
            if self.sent[at].get(number as usize) != Some(&true) {
                self.introduce(directory, at, number);
            }
        }
        self.words.extend_from_slice(state);
        self.words.len() >= MOST * N
    }

    #[cold]
    fn introduce<const N: usize>(&mut self, directory: &Directory<N>, at: usize, number: u32) {
        let sent = &mut self.sent[at];
        if sent.len() <= number as usize {
            sent.resize(number as usize + 1, false);
        }
        sent[number as usize] = true;
        let content = directory.content(directory.components[at].0, number);
        self.news.push((at as u32, number, content));
    }

    /// What has been added, as a message; `None` if there is nothing.
    pub fn seal(&mut self) -> Option<Vec<u8>> {
        if self.words.is_empty() {
            return None;
        }
        self.sequence += 1;
        Some(encode(&Parcel::States(States {
            sequence: self.sequence,
            news: std::mem::take(&mut self.news),
            words: self.words.drain(..).flat_map(u64::to_le_bytes).collect(),
        })))
    }
}

/// The way from another worker to this one.
pub struct Incoming {
    sequence: u64,
    /// By component and number of the sender: the own number.
    known: Vec<Vec<u32>>,
}

/// A number of the sender that means nothing yet.
const UNKNOWN: u32 = u32::MAX;

/// The codes of places that are not used, though there are bits for them.
pub struct UnusedCodes(Vec<(Field, u64)>);

impl UnusedCodes {
    pub fn new(context: &Context) -> UnusedCodes {
        let places = context.program().places.iter().zip(&context.layout.places);
        let places = places.map(|(place, field)| (*field, place.domain.size()));
        let some = |(field, size): &(Field, u64)| *size < 1 << field.bits;
        UnusedCodes(places.filter(some).collect())
    }

    /// The state has such a code.
    fn occur_in<const N: usize>(&self, state: &State<N>) -> bool {
        let mut all = self.0.iter();
        all.any(|(field, size)| u64::from(field.get(state)) >= *size)
    }
}

impl Incoming {
    pub fn new(components: usize) -> Incoming {
        Incoming {
            sequence: 0,
            known: vec![Vec::new(); components],
        }
    }

    /// Adds the states of a parcel, with the own numbers.
    pub fn open<const N: usize>(
        &mut self,
        directory: &Directory<N>,
        unused: &UnusedCodes,
        states: &States,
        out: &mut Vec<State<N>>,
    ) -> Result<(), Fault> {
        self.sequence += 1;
        if states.sequence != self.sequence {
            return Err(Fault::Malformed);
        }
        for (at, number, content) in &states.news {
            self.learn(directory, *at as usize, *number, content)
                .ok_or(Fault::Malformed)?;
        }
        let words = states.words.chunks_exact(size_of::<State<N>>());
        if !words.remainder().is_empty() {
            return Err(Fault::Malformed);
        }
        for words in words {
            let state = state_of(words);
            if unused.occur_in(&state) {
                return Err(Fault::Malformed);
            }
            out.push(self.translate(directory, &state)?);
        }
        Ok(())
    }

    fn learn<const N: usize>(
        &mut self,
        directory: &Directory<N>,
        at: usize,
        number: u32,
        content: &Content,
    ) -> Option<()> {
        let (component, field) = *directory.components.get(at)?;
        if u64::from(number) >> field.bits != 0 {
            return None;
        }
        let own = directory.number(component, content)?;
        let known = &mut self.known[at];
        if known.len() <= number as usize {
            known.resize(number as usize + 1, UNKNOWN);
        }
        known[number as usize] = own;
        Some(())
    }

    #[inline]
    fn translate<const N: usize>(
        &self,
        directory: &Directory<N>,
        state: &State<N>,
    ) -> Result<State<N>, Fault> {
        let mut own: State<N> = std::array::from_fn(|at| state[at] & directory.common[at]);
        own[0] |= OCCUPIED;
        for (known, (_, field)) in self.known.iter().zip(&directory.components) {
            match known.get(field.get(state) as usize) {
                None | Some(&UNKNOWN) => return Err(Fault::Malformed),
                Some(number) => field.add(&mut own, *number)?,
            }
        }
        Ok(own)
    }
}

/// Why a parcel cannot be used.
pub enum Fault {
    /// It means nothing.
    Malformed,
    /// An own number outgrows its field.
    Overflow,
}

impl From<Overflow> for Fault {
    fn from(_: Overflow) -> Fault {
        Fault::Overflow
    }
}

fn state_of<const N: usize>(bytes: &[u8]) -> State<N> {
    let mut state = [0; N];
    for (word, bytes) in state.iter_mut().zip(bytes.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    state
}
