//! The execution that leads to a violation in a product of sets.
//!
//! The writes and who made them are known, and where dead places got their initial values.
//! Between two of these changes a process takes steps that nobody sees, or waits; so each
//! process is taken through the history by itself, on a way with the fewest steps, and then the
//! ways are put together: before each write, what the processes do under the memory of that
//! moment, one process after the other.

use super::Ended;
use super::moves::{ChangeId, ConfigId};
use super::states::{Found, MemoryId, Parent, SetSearch, StateId};
use super::symmetry::ExchangeId;
use crate::limits::{StopReason, Watch};
use crate::memory::step::{At, Config};
use crate::program::{PlaceId, ProcessId, Value};
use crate::property::Violation;
use crate::space::trace::{Snapshot, Trace, TraceStep};
use ahash::AHashSet;
use std::collections::VecDeque;
use std::sync::Arc;

/// The changes of memory that lead to a state.
struct History {
    changes: Vec<Changed>,
    /// The memory that they leave, without the values of dead places.
    last: MemoryId,
    /// The exchanges that lead from where they end to the state.
    exchanges: Vec<ExchangeId>,
}

/// A change of the history, and the memory before it.
struct Changed {
    /// Who wrote, and what; none where dead places get their initial values.
    write: Option<(ProcessId, ChangeId)>,
    memory: MemoryId,
}

/// The way of one process.
struct Way {
    start: ConfigId,
    moves: Vec<Move>,
}

/// A step of a process.
struct Move {
    /// The changes that have been made before.
    time: usize,
    /// The configuration that it leads to.
    to: ConfigId,
    /// It makes the next change.
    writes: bool,
}

impl SetSearch<'_> {
    /// What is wrong in a state, without the way to it.
    pub fn seen(&self, (state, members): &Found) -> Violation {
        let any = |(set, process): (&_, ProcessId)| {
            let kind = self.kind(process);
            let wanted = members[process.index()].as_ref();
            let first =
                wanted.map_or_else(|| kind.members(*set).next(), |all| all.first().copied());
            Arc::new(kind.moves.config(first.expect("sets have members")).clone())
        };
        let snapshot = Snapshot {
            memory: self.memory(self.head(*state).memory).to_vec(),
            configs: self
                .sets(*state)
                .iter()
                .zip(self.processes())
                .map(any)
                .collect(),
        };
        let violation = snapshot.violation(self.stepper.program);
        violation.unwrap_or(self.standstill.violation())
    }

    /// The trace to a combination of members of a state, and what is wrong at its end.
    pub fn trace(&mut self, (state, members): &Found) -> Result<(Violation, Trace), StopReason> {
        self.budget.allow_trace();
        let traced = self.traced(*state, members);
        traced.map_err(|ended| match ended {
            Ended::Limit(reason) => reason,
            Ended::Paused | Ended::GivenUp => {
                unreachable!("a trace may take all the work it needs")
            }
        })
    }

    fn traced(
        &mut self,
        state: StateId,
        members: &[Option<Vec<ConfigId>>],
    ) -> Result<(Violation, Trace), Ended> {
        let history = self.history(state)?;
        let back: Vec<ExchangeId> = history.exchanges.iter().rev().copied().collect();
        let mut wanted: Vec<Option<Vec<ConfigId>>> = vec![None; members.len()];
        for (process, members) in self.processes().zip(members) {
            if let Some(members) = members {
                let (who, members) = self.exchanged_members(&back, process, members);
                wanted[who.index()] = Some(members);
            }
        }
        let mut ways = Vec::new();
        for (process, wanted) in self.processes().zip(&wanted) {
            ways.push(self.way(process, &history, wanted.as_deref())?);
        }
        let stepper = &self.stepper;
        let moves = |process: ProcessId| &self.kind(process).moves;
        let starts = ways.iter().zip(self.processes());
        let mut now = Snapshot {
            memory: self.memory(history.memory(0)).to_vec(),
            configs: starts
                .map(|(way, process)| Arc::new(moves(process).config(way.start).clone()))
                .collect(),
        };
        let initial = now.clone();
        let check = |bytes| self.budget.check(bytes as u64);
        let watch = Watch::new(&check);
        let mut steps: Vec<TraceStep> = Vec::new();
        // Dead places have other values there than here, so what a step writes is compared.
        let mut take = |process: ProcessId, next: &Move| -> Result<(), Ended> {
            let config = moves(process).config(next.to);
            let before = self.memory(history.memory(next.time));
            let write = history.write(next.time).filter(|_| next.writes);
            let change = write.map_or(&[][..], |(_, change)| moves(process).change(change));
            let mut possible = now.steps(stepper, &watch)?.into_iter();
            let step = possible.find(|step| {
                step.process == process
                    && same(&step.step.next, config)
                    && is_change(before, &step.step.writes, change)
            });
            let step = step.expect("the way of a process is made of its steps");
            now = step.after.clone();
            steps.push(step);
            Ok(())
        };
        let mut done = vec![0; ways.len()];
        for time in 0..=history.changes.len() {
            for (process, way) in self.processes().zip(&ways) {
                while let Some(next) = way.moves.get(done[process.index()])
                    && next.time == time
                    && !next.writes
                {
                    take(process, next)?;
                    done[process.index()] += 1;
                }
            }
            if let Some((writer, _)) = history.write(time) {
                let at = &mut done[writer.index()];
                take(writer, &ways[writer.index()].moves[*at])?;
                *at += 1;
            }
        }
        let violation = now.violation(stepper.program);
        let violation = violation.unwrap_or(self.standstill.violation());
        Ok((violation, Trace { initial, steps }))
    }

    /// The changes that lead to a state.
    fn history(&mut self, state: StateId) -> Result<History, Ended> {
        let mut parents = Vec::new();
        let mut at = state;
        while let Some(parent) = self.head(at).parent {
            parents.push((parent, self.head(at).memory));
            at = parent.state;
        }
        // A representative of initial states is one itself.
        let mut before = self.head(at).memory;
        let mut exchanges: Vec<ExchangeId> = Vec::new();
        let mut changes = Vec::new();
        for (parent, after) in parents.into_iter().rev() {
            let kind = &self.kind(parent.writer).moves;
            let mut change = kind.change(parent.change).clone();
            let mut writer = parent.writer;
            for &id in exchanges.iter().rev() {
                let exchange = &self.symmetry.exchanges()[id];
                writer = exchange.process(writer);
                for (place, value) in &mut change {
                    let content = exchange.content(*place, *value);
                    (*place, *value) = (exchange.place(*place), content);
                }
            }
            change.sort();
            let mut written = self.memory(before).to_vec();
            for (place, value) in &change {
                written[place.index()] = *value;
            }
            let change = self.learn(writer).0.moves.change_id(change);
            changes.push(Changed {
                write: Some((writer, change)),
                memory: before,
            });
            exchanges.extend(self.exchanges_behind(parent)?);
            let mut memory = self.memory(after).to_vec();
            for &id in exchanges.iter().rev() {
                memory = self.symmetry.exchanges()[id].memory(&memory);
            }
            before = self.memory_id(memory.into());
            let written = self.memory_id(written.into());
            if written != before {
                changes.push(Changed {
                    write: None,
                    memory: written,
                });
            }
        }
        Ok(History {
            changes,
            last: before,
            exchanges,
        })
    }

    /// The exchanges from what a write leads to, to the state that stands for it.
    fn exchanges_behind(&mut self, write: Parent) -> Result<Vec<ExchangeId>, Ended> {
        if self.symmetry.is_trivial() {
            return Ok(Vec::new());
        }
        let set = self.sets(write.state)[write.writer.index()];
        let view = self.view(self.head(write.state).memory, write.writer);
        let (kind, budget) = self.learn(write.writer);
        let steps = kind.steps(set, view, budget)?;
        let mut steps = kind.step_list(steps).iter();
        let step = steps.find(|(change, _)| *change == write.change);
        let &(_, after) = step.expect("a state comes from a step of the one before");
        let product = self.after(write, after)?;
        Ok(self.representative(product)?.1)
    }

    /// A way of one process through the history with the fewest steps, to one of the wanted
    /// configurations.
    fn way(
        &mut self,
        process: ProcessId,
        history: &History,
        wanted: Option<&[ConfigId]>,
    ) -> Result<Way, Ended> {
        let (kind, budget) = self.learn(process);
        let start = kind.start(budget)?;
        let mut layers: Vec<Layer> = Vec::new();
        let mut begin: Layer = (kind.members(start))
            .map(|config| Reached {
                config,
                from: None,
                steps: 0,
            })
            .collect();
        for time in 0..=history.changes.len() {
            let layer = self.layer(process, history.memory(time), begin, time)?;
            begin = match history.changes.get(time) {
                Some(change) => self.behind(process, change, &layer, time)?,
                None => Layer::new(),
            };
            layers.push(layer);
        }
        let last = history.changes.len();
        let ends = layers[last].iter().enumerate();
        let ends = ends.filter(|(_, end)| wanted.is_none_or(|all| all.contains(&end.config)));
        let (place, _) = ends
            .min_by_key(|(_, end)| (end.steps, end.config))
            .expect("the sets hold what the process can be doing");
        let mut now = (last, place);
        let mut moves = Vec::new();
        loop {
            let reached = &layers[now.0][now.1];
            let Some(before) = reached.from else {
                moves.reverse();
                let start = reached.config;
                return Ok(Way { start, moves });
            };
            let writes = before.0 != now.0;
            let writer = history.write(before.0).map(|(writer, _)| writer);
            let waited = writes && writer != Some(process);
            if !waited {
                moves.push(Move {
                    time: before.0,
                    to: reached.config,
                    writes,
                });
            }
            now = before;
        }
    }

    /// Everything that a process reaches under one memory, from where it was when the memory
    /// came about, with the fewest steps.
    fn layer(
        &mut self,
        process: ProcessId,
        memory: MemoryId,
        mut begin: Layer,
        time: usize,
    ) -> Result<Layer, Ended> {
        let view = self.view(memory, process);
        let (kind, budget) = self.learn(process);
        begin.sort_by_key(|reached| (reached.steps, reached.config));
        let (mut waiting, mut moved) = (VecDeque::from(begin), VecDeque::<Reached>::new());
        let mut known = AHashSet::new();
        let mut layer = Layer::new();
        loop {
            // Both queues are in the order of steps.
            let next = match (waiting.front(), moved.front()) {
                (Some(first), Some(second)) if second.steps < first.steps => moved.pop_front(),
                (Some(_), _) => waiting.pop_front(),
                (None, _) => moved.pop_front(),
            };
            let Some(reached) = next else {
                return Ok(layer);
            };
            if !known.insert(reached.config) {
                continue;
            }
            budget.spend(1)?;
            kind.moves
                .each(reached.config, view, budget, |change, config| {
                    if change.is_none() {
                        moved.push_back(Reached {
                            config,
                            from: Some((time, layer.len())),
                            steps: reached.steps + 1,
                        });
                    }
                })?;
            layer.push(reached);
        }
    }

    /// Where a process can be right behind a change of the history: it made it, or waited.
    fn behind(
        &mut self,
        process: ProcessId,
        changed: &Changed,
        layer: &Layer,
        time: usize,
    ) -> Result<Layer, Ended> {
        let view = self.view(changed.memory, process);
        let own = changed.write.filter(|(writer, _)| *writer == process);
        let (kind, budget) = self.learn(process);
        let mut behind = Layer::new();
        for (place, reached) in layer.iter().enumerate() {
            let from = Some((time, place));
            let Some((_, own)) = own else {
                behind.push(Reached { from, ..*reached });
                continue;
            };
            kind.moves
                .each(reached.config, view, budget, |change, config| {
                    if change == Some(own) {
                        behind.push(Reached {
                            config,
                            from,
                            steps: reached.steps + 1,
                        });
                    }
                })?;
        }
        Ok(behind)
    }
}

/// How a process reaches a configuration.
#[derive(Debug, Clone, Copy)]
struct Reached {
    config: ConfigId,
    /// The number of changes before, and the position in that layer.
    from: Option<(usize, usize)>,
    steps: u64,
}

/// What a process reaches between two changes.
type Layer = Vec<Reached>;

impl History {
    /// The memory after this many changes.
    fn memory(&self, time: usize) -> MemoryId {
        self.changes
            .get(time)
            .map_or(self.last, |changed| changed.memory)
    }

    /// The write behind this many changes, if it is one.
    fn write(&self, time: usize) -> Option<(ProcessId, ChangeId)> {
        self.changes.get(time)?.write
    }
}

/// Whether what is written changes a memory in this way.
fn is_change(memory: &[Value], writes: &[(PlaceId, Value)], change: &[(PlaceId, Value)]) -> bool {
    let mut seen: Vec<_> = (writes.iter().copied())
        .filter(|(place, value)| memory[place.index()] != *value)
        .collect();
    seen.sort();
    seen == change
}

/// Processes with the same code fail in the same way, each at its own statement.
fn same(one: &Config, other: &Config) -> bool {
    match (one.at, other.at) {
        (At::Failed(one), At::Failed(other)) => one.fault == other.fault,
        _ => one == other,
    }
}
