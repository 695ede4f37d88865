//! Can a history of changes be followed without widening, and how?
//!
//! Who changed memory, and how, is known. Each process is taken through the history by itself:
//! a node is what it is doing after some of the changes, the moment it looks at, and when
//! its own stores landed. Steps are put together by the moments at which they happen in an
//! execution: a load when it looks, a store or any other step when the process last looked,
//! an update when it changes memory.

use super::states::{LogSearch, StateId};
use super::walk::{History, Node, Taken, Walk};
use crate::limits::Watch;
use crate::memory::step::{At, Config};
use crate::program::{EdgeId, ProcessId};
use crate::space::sets::{Class, Ended};
use crate::space::trace::Snapshot;
use indexmap::IndexMap;
use std::rc::Rc;
use std::sync::Arc;

/// An execution by what its processes do; how stores reach memory is left open.
#[derive(Debug)]
pub struct OwnSteps {
    pub initial: Snapshot,
    pub steps: Vec<OwnStep>,
}

/// A step of a process other than a flush.
#[derive(Debug, Clone)]
pub struct OwnStep {
    pub process: ProcessId,
    pub path: Rc<[EdgeId]>,
    pub next: Config,
}

/// Nodes of one process before it is given up.
const MOST_NODES: usize = 200_000;

/// Roughly the memory that a node takes.
const NODE_BYTES: u64 = 400;

/// How a node was reached: the time and the position of the one before, and the step.
#[derive(Debug, Clone)]
struct Reached {
    from: Option<(usize, usize)>,
    taken: Option<Taken>,
}

type Layer = IndexMap<Node, Reached>;

impl LogSearch<'_> {
    /// The steps of an execution that leads to a violation that was found; none if there is no
    /// such execution, or it was not found.
    pub fn own_steps(&mut self) -> Result<Option<OwnSteps>, Ended> {
        let Some((state, classes)) = self.found.clone() else {
            return Ok(None);
        };
        self.budget.allow_trace();
        let history = self.history(state);
        let mut ways = Vec::new();
        for (process, wanted) in self.processes().zip(&classes) {
            match self.way(process, &history, wanted.as_ref())? {
                Some(way) => ways.push(way),
                None => return Ok(None),
            }
        }
        let initial = Snapshot {
            memory: history.memories[0].clone(),
            configs: ways.iter().map(|way| Arc::new(way.0.clone())).collect(),
        };
        let mut steps = Vec::new();
        let mut done = vec![0; ways.len()];
        for time in 0..history.memories.len() {
            for changes in [false, true] {
                for (process, (_, way)) in self.processes().zip(&ways) {
                    while let Some(next) = way.get(done[process.index()])
                        && next.at == time
                        && next.changes == changes
                    {
                        done[process.index()] += 1;
                        steps.push(OwnStep {
                            process,
                            path: next.path.clone(),
                            next: self.kind(process).rules.config(next.next).clone(),
                        });
                    }
                }
            }
        }
        Ok(Some(OwnSteps { initial, steps }))
    }

    fn history(&self, mut state: StateId) -> History {
        let mut changes = Vec::new();
        while let Some(parent) = &self.state(state).parent {
            changes.push((parent.writer, parent.change.clone()));
            state = parent.state;
        }
        changes.reverse();
        let mut memories = vec![self.memory(self.state(state).memory).to_vec()];
        for (_, change) in &changes {
            let mut memory = memories[memories.len() - 1].clone();
            for (place, value) in change {
                memory[place.index()] = *value;
            }
            memories.push(memory);
        }
        History { changes, memories }
    }

    /// How one process goes through the history to something that looks as wanted.
    fn way(
        &mut self,
        process: ProcessId,
        history: &History,
        wanted: Option<&Class>,
    ) -> Result<Option<(Config, Vec<Taken>)>, Ended> {
        let (kind, budget) = self.learn(process);
        let rules = &mut kind.rules;
        let last = history.changes.len();
        let start = {
            let check = |bytes| budget.check(bytes as u64);
            rules.start(&Watch::new(&check))?
        };
        let begin = start.into_iter().map(|member| {
            let node = Node {
                config: member.config,
                view: 0,
                own: Vec::new(),
                last_own: 0,
                queues: Vec::new(),
                ahead: false,
                delayed: false,
            };
            let reached = Reached {
                from: None,
                taken: None,
            };
            (node, reached)
        });
        let mut layer: Layer = begin.collect();
        let mut layers: Vec<Layer> = Vec::new();
        let mut done = 0;
        for time in 0..=last {
            let walk = Walk {
                process,
                history,
                time,
            };
            let mut behind = Layer::new();
            let mut next = 0;
            while let Some((node, _)) = layer.get_index(next) {
                let node = node.clone();
                budget.bytes += NODE_BYTES;
                if done + layer.len() + behind.len() > MOST_NODES {
                    return Ok(None);
                }
                let change = history.changes.get(time);
                let from = Some((time, next));
                if change.is_some_and(|(writer, _)| *writer != process) {
                    let reached = Reached { from, taken: None };
                    behind.entry(node.clone()).or_insert(reached);
                }
                for advance in walk.advances(rules, &node, budget)? {
                    let reached = Reached {
                        from,
                        taken: advance.taken,
                    };
                    if advance.writes.is_empty() {
                        layer.entry(advance.node).or_insert(reached);
                    } else if change.is_some_and(|(writer, change)| {
                        *writer == process && *change == advance.writes
                    }) {
                        behind.entry(advance.node).or_insert(reached);
                    }
                }
                next += 1;
            }
            done += layer.len();
            layers.push(std::mem::replace(&mut layer, behind));
        }
        let is_wanted = |node: &Node| {
            wanted.is_none_or(|class| {
                let config = rules.config(node.config);
                let stopped = config.at == At::Loc(rules.process.exit);
                let own = Class {
                    done: stopped && node.queues.is_empty() && !node.ahead,
                    ..Class::of(rules.process, config)
                };
                own == *class
            })
        };
        let Some(end) = layers[last].keys().position(is_wanted) else {
            return Ok(None);
        };
        let mut way = Vec::new();
        let mut now = (last, end);
        loop {
            let (node, reached) = layers[now.0].get_index(now.1).expect("it was reached");
            way.extend(reached.taken.clone());
            match reached.from {
                Some(before) => now = before,
                None => {
                    way.reverse();
                    return Ok(Some((rules.config(node.config).clone(), way)));
                }
            }
        }
    }
}
