//! Where the steps of some states lead, by several threads.
//!
//! Threads only read what was known before, apart from steps whose targets they look up. What
//! they say of a state depends on nothing else, so it does not matter which of them says it.
//! A state that is covered by what was known before stays covered, and is left out.

use super::graph::{NONE, Table};
use super::known::Zones;
use super::matrix::Matrix;
use super::states::States;
use super::zone::{Rounding, Thresholds, Zone};
use crate::limits::{Limits, Monitor, StopReason};
use ahash::AHashMap;
use rayon::prelude::*;

/// The states that a thread takes at a time.
pub const CHUNK: usize = 64;

/// What was known before.
pub struct Expansion<'v> {
    pub table: &'v Table,
    pub zones: &'v Zones,
    pub states: &'v States,
    pub thresholds: &'v Thresholds,
    pub octagon: bool,
    pub limits: &'v Limits,
    pub monitor: &'v Monitor,
}

/// What came of some states.
#[derive(Default)]
pub struct Chunk {
    /// The states, and how many steps each has.
    pub expanded: Vec<(u32, u32)>,
    /// Zones after moves that were not known, by move and zone.
    pub posts: Vec<((u32, u32), Option<Zone>)>,
    /// In the order of states and steps.
    pub arrivals: Vec<Arrival>,
}

/// A state that a step leads to, and that is not covered by what was known before.
pub struct Arrival {
    pub from: u32,
    /// The index of the step.
    pub via: u32,
    /// `NONE` if it was not known.
    pub frame: u32,
    pub zone: After,
}

/// The zone after a move.
#[derive(Clone, Copy)]
pub enum After {
    Known(u32),
    /// Among those that were not known.
    Found(u32),
}

impl Expansion<'_> {
    /// Expands states, on the threads of a pool if it is called there; what comes of them is in
    /// their order.
    pub fn chunks(&self, states: &[u32]) -> Result<Vec<Chunk>, StopReason> {
        let chunks = states.par_chunks(CHUNK);
        chunks.map(|states| self.chunk(states)).collect()
    }

    /// Expands a few states.
    pub fn chunk(&self, states: &[u32]) -> Result<Chunk, StopReason> {
        let mut chunk = Chunk::default();
        let mut found = AHashMap::new();
        let mut row = Vec::new();
        self.monitor.stop(self.limits).map_or(Ok(()), Err)?;
        for &state in states {
            self.state(state, &mut chunk, &mut found, &mut row);
        }
        Ok(chunk)
    }

    fn state(
        &self,
        state: u32,
        chunk: &mut Chunk,
        found: &mut AHashMap<(u32, u32), u32>,
        row: &mut Vec<u32>,
    ) {
        let (frame, before) = self.states.parts(state);
        let mut closed: Option<Matrix> = None;
        let mut steps = 0;
        for (index, (process, step)) in self.table.steps(frame).enumerate() {
            steps += 1;
            let key = (step.data, before);
            let zone = match self.table.idle[step.data as usize] {
                true => After::Known(before),
                false => match self.zones.post(step.data, before) {
                    Some(NONE) => continue,
                    Some(zone) => After::Known(zone),
                    None => After::Found(*found.entry(key).or_insert_with(|| {
                        let matrix = || self.zones.zone(before).matrix(self.octagon);
                        let matrix = closed.get_or_insert_with(matrix);
                        let rounding = Rounding::To(self.thresholds);
                        let after = self.table.moves[step.data as usize].post(matrix, rounding);
                        chunk.posts.push((key, after));
                        chunk.posts.len() as u32 - 1
                    })),
                },
            };
            match zone {
                After::Found(at) if chunk.posts[at as usize].1.is_none() => continue,
                _ => {}
            }
            let target = self.table.target(frame, (index, process, step), row);
            match (target, zone) {
                (Some(target), After::Known(zone))
                    if self.states.cover(self.zones, target, zone) => {}
                _ => chunk.arrivals.push(Arrival {
                    from: state,
                    via: index as u32,
                    frame: target.unwrap_or(NONE),
                    zone,
                }),
            }
        }
        chunk.expanded.push((state, steps));
    }
}
