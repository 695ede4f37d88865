//! A proof that can be checked: states that contain the initial ones, lead nowhere else, and
//! violate nothing.

use super::member::{Channel, ConfigId, Log, Member, Queue, SnapshotId};
use super::process::{ProcessLogs, SetId};
use super::rules::Rules;
use super::states::{LogSearch, StateId};
use super::word::{Atom, Word};
use crate::memory::Buffers;
use crate::memory::step::{At, Config};
use crate::program::{Loc, PlaceId, Process, Program, Value};
use crate::space::sets::accessed_places;
use ahash::AHashMap;
use serde::{Deserialize, Serialize};

/// States of a search by view logs, closed under all that processes can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Invariant {
    /// One for all processes with the same code, in the order of the first.
    pub processes: Vec<InvariantProcess>,
    pub states: Vec<InvariantState>,
}

/// What the sets of one process consist of, each part once. Parts refer to one another by
/// position.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InvariantProcess {
    /// A control position and the locals.
    pub configs: Vec<(u32, Vec<Value>)>,
    /// The values of the places that the process loads.
    pub snapshots: Vec<Vec<Value>>,
    pub members: Vec<InvariantMember>,
    pub sets: Vec<Vec<u32>>,
}

/// What a process may be doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InvariantMember {
    pub config: u32,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub drained: bool,
    /// Sets of snapshots, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moments: Vec<Vec<u32>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub behind_store: bool,
    /// By place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<InvariantQueue>,
}

/// Stores to one place that have not reached memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InvariantQueue {
    pub place: u32,
    /// Before the last store-load fence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early: Option<InvariantChannel>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late: Option<InvariantChannel>,
}

/// Stores in order, all but the last of which may be lost: each part is one value, or any number
/// of some values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InvariantChannel {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub old: Vec<InvariantAtom>,
    pub last: Value,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum InvariantAtom {
    Once(Value),
    Any(Vec<Value>),
}

/// A memory, the set of each process, and where its changes lead: by process and in the order
/// of changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InvariantState {
    pub memory: Vec<Value>,
    pub sets: Vec<u32>,
    pub next: Vec<u32>,
}

impl LogSearch<'_> {
    /// The states of a search that has found everything.
    pub fn invariant(&self) -> Invariant {
        let kept = (0..self.states.len() as u32).map(StateId);
        let kept: Vec<StateId> = kept
            .filter(|&state| self.state(state).covered.is_none())
            .collect();
        let mut writers: Vec<Writer> = Vec::new();
        writers.resize_with(self.kinds().len(), Writer::default);
        let number: AHashMap<StateId, u32> = kept.iter().copied().zip(0..).collect();
        let states = kept.iter().map(|&id| {
            let state = self.state(id);
            let sets = self.processes().zip(&*state.sets).map(|(process, &set)| {
                writers[self.kind_number(process)].set(self.kind(process), set)
            });
            InvariantState {
                memory: self.memory(state.memory).to_vec(),
                sets: sets.collect(),
                next: state
                    .next
                    .iter()
                    .map(|&next| number[&self.covering(next)])
                    .collect(),
            }
        });
        let states = states.collect();
        Invariant {
            processes: writers.into_iter().map(|writer| writer.written).collect(),
            states,
        }
    }

    /// The state that covers a state, itself if nothing else does.
    fn covering(&self, mut state: StateId) -> StateId {
        while let Some(other) = self.state(state).covered {
            state = other;
        }
        state
    }
}

/// Parts that have been written, with their positions.
#[derive(Default)]
struct Writer {
    written: InvariantProcess,
    configs: AHashMap<ConfigId, u32>,
    snapshots: AHashMap<SnapshotId, u32>,
    members: AHashMap<Member, u32>,
    sets: AHashMap<SetId, u32>,
}

impl Writer {
    fn set(&mut self, kind: &ProcessLogs, set: SetId) -> u32 {
        if let Some(&known) = self.sets.get(&set) {
            return known;
        }
        let members = kind
            .members(set)
            .map(|member| self.member(&kind.rules, member));
        let members = members.collect();
        self.written.sets.push(members);
        let id = self.sets.len() as u32;
        self.sets.insert(set, id);
        id
    }

    fn member(&mut self, rules: &Rules, member: &Member) -> u32 {
        if let Some(&known) = self.members.get(member) {
            return known;
        }
        let moments = member.log.moments.atoms().iter().map(|atom| {
            let snapshots = atom.letters().iter();
            snapshots.map(|&id| self.snapshot(rules, id)).collect()
        });
        let moments = moments.collect();
        let written = InvariantMember {
            config: self.config(rules, member.config),
            drained: member.drained,
            moments,
            behind_store: member.log.behind_store,
            queues: member.queues.iter().map(queue).collect(),
        };
        self.written.members.push(written);
        let id = self.members.len() as u32;
        self.members.insert(member.clone(), id);
        id
    }

    fn snapshot(&mut self, rules: &Rules, id: SnapshotId) -> u32 {
        *self.snapshots.entry(id).or_insert_with(|| {
            self.written.snapshots.push(rules.values(id).to_vec());
            self.written.snapshots.len() as u32 - 1
        })
    }

    fn config(&mut self, rules: &Rules, id: ConfigId) -> u32 {
        *self.configs.entry(id).or_insert_with(|| {
            let config = rules.config(id);
            let At::Loc(at) = config.at else {
                unreachable!("nothing fails in a correct program");
            };
            self.written.configs.push((at.0, config.locals.clone()));
            self.written.configs.len() as u32 - 1
        })
    }
}

fn queue((place, queue): &(PlaceId, Queue)) -> InvariantQueue {
    let channel = |channel: &Channel| InvariantChannel {
        old: channel
            .old
            .atoms()
            .iter()
            .map(|atom| match atom.is_star() {
                true => InvariantAtom::Any(atom.letters().to_vec()),
                false => InvariantAtom::Once(atom.letters()[0]),
            })
            .collect(),
        last: channel.last,
    };
    InvariantQueue {
        place: place.0,
        early: queue.early.as_ref().map(channel),
        late: queue.late.as_ref().map(channel),
    }
}

impl InvariantProcess {
    /// The members of all sets, if they are ones of the process.
    pub fn read(&self, program: &Program, rules: &mut Rules) -> Result<Vec<Vec<Member>>, String> {
        let mut configs = Vec::new();
        for (at, locals) in &self.configs {
            configs.push(rules.config_id(config(rules.process, *at, locals)?));
        }
        let mut snapshots = Vec::new();
        for values in &self.snapshots {
            let id = rules.snapshot_id(values);
            snapshots.push(id.ok_or("a snapshot does not hold what the process loads")?);
        }
        let accessed = accessed_places(rules.process);
        let mut members = Vec::new();
        for member in &self.members {
            let mut moments = Word::default();
            for atom in &member.moments {
                let letters = atom.iter().map(|&at| get(&snapshots, at).copied());
                let letters: Vec<SnapshotId> = letters.collect::<Result<_, _>>()?;
                if letters.is_empty() {
                    return Err("a moment of a log is empty".to_string());
                }
                moments.push(Atom::star(letters));
            }
            let mut queues = Vec::new();
            for queue in &member.queues {
                let place = get(&program.places, queue.place).map(|_| PlaceId(queue.place))?;
                if accessed.binary_search(&place).is_err() {
                    return Err(
                        "a member has a queue of a place that it does not access".to_string()
                    );
                }
                if queues.last().is_some_and(|(last, _)| *last >= place) {
                    return Err("the queues of a member are not in order".to_string());
                }
                let queue = Queue {
                    early: queue.early.as_ref().map(InvariantChannel::read),
                    late: queue.late.as_ref().map(InvariantChannel::read),
                };
                if queue == Queue::default() {
                    return Err("a queue of a member is empty".to_string());
                }
                queues.push((place, queue));
            }
            members.push(Member {
                config: *get(&configs, member.config)?,
                drained: member.drained,
                log: Log {
                    moments,
                    behind_store: member.behind_store,
                },
                queues,
            });
        }
        let mut sets = Vec::new();
        for set in &self.sets {
            let set = set.iter().map(|&at| get(&members, at).cloned());
            sets.push(set.collect::<Result<_, _>>()?);
        }
        Ok(sets)
    }
}

impl InvariantChannel {
    fn read(&self) -> Channel {
        let mut old = Word::default();
        for atom in &self.old {
            match atom {
                InvariantAtom::Once(value) => old.push(Atom::once(*value)),
                InvariantAtom::Any(values) if values.is_empty() => {}
                InvariantAtom::Any(values) => old.push(Atom::star(values.clone())),
            }
        }
        Channel {
            old,
            last: self.last,
        }
    }
}

/// Control and locals, if the process can have them.
fn config(process: &Process, at: u32, locals: &[Value]) -> Result<Config, String> {
    let live = &get(&process.locations, at)?.live;
    let mut all = process.locals.iter().zip(live).zip(locals);
    let fit = locals.len() == process.locals.len()
        && all.all(|((local, live), value)| local.domain.contains(*value) || *value == 0 && !live);
    match fit {
        true => Ok(Config {
            at: At::Loc(Loc(at)),
            locals: locals.to_vec(),
            buffers: Buffers::default(),
        }),
        false => Err(format!("{} cannot have locals {locals:?}", process.name)),
    }
}

/// The element at a position that somebody else wrote down.
pub fn get<T>(all: &[T], at: u32) -> Result<&T, String> {
    all.get(at as usize)
        .ok_or_else(|| format!("it refers to part {at} of {}", all.len()))
}
