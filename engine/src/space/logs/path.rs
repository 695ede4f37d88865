//! Can a history of changes be followed without widening, and how?
//!
//! Who changed memory, and how, is known. Each process is taken through the history by itself:
//! a node is what it is doing after some of the changes, the moment it looks at, and when
//! its own stores landed. Steps are put together by the moments at which they happen in an
//! execution: a load when it looks, a store or any other step when the process last looked,
//! an update when it changes memory.

use super::rules::Rules;
use super::states::{LogSearch, StateId};
use super::walk::{History, Node, Taken, Walk};
use crate::limits::Watch;
use crate::memory::step::{At, Config};
use crate::program::{EdgeId, ProcessId};
use crate::space::sets::{Class, Ended};
use crate::space::trace::Snapshot;
use indexmap::IndexMap;
use std::collections::VecDeque;
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

/// How a node was reached: the one before, and the step.
#[derive(Debug, Clone)]
struct Reached {
    from: Option<usize>,
    taken: Option<Taken>,
}

/// Nodes by the time at which they are.
type Nodes = IndexMap<(usize, Node), Reached>;

/// The execution behind a violation.
#[derive(Debug)]
pub enum Execution {
    Found(OwnSteps),
    /// The history cannot be followed without widening.
    None,
    /// It was not found among so many.
    GivenUp,
}

/// How one process goes through a history: where it starts, and its steps.
enum Way {
    Found(Config, Vec<Taken>),
    None,
    GivenUp,
}

/// In which order nodes are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// The first way that is found has the fewest steps.
    Breadth,
    /// Time passes whenever it can.
    Depth,
}

impl LogSearch<'_> {
    /// The steps of an execution that leads to a violation that was found.
    pub fn own_steps(&mut self) -> Result<Execution, Ended> {
        let Some((state, classes)) = self.found.clone() else {
            return Ok(Execution::None);
        };
        self.budget.allow_trace();
        let history = self.history(state);
        let mut ways = Vec::new();
        for (process, wanted) in self.processes().zip(&classes) {
            let mut way = self.way(process, &history, wanted.as_ref(), Order::Breadth)?;
            if let Way::GivenUp = way {
                way = self.way(process, &history, wanted.as_ref(), Order::Depth)?;
            }
            match way {
                Way::Found(start, steps) => ways.push((start, steps)),
                Way::None => return Ok(Execution::None),
                Way::GivenUp => return Ok(Execution::GivenUp),
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
        Ok(Execution::Found(OwnSteps { initial, steps }))
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
        order: Order,
    ) -> Result<Way, Ended> {
        let (kind, budget) = self.learn(process);
        let rules = &mut kind.rules;
        let last = history.changes.len();
        let start = {
            let check = |bytes| budget.check(bytes as u64);
            rules.start(&Watch::new(&check))?
        };
        let begin = start.into_iter().map(|member| {
            let reached = Reached {
                from: None,
                taken: None,
            };
            ((0, Node::start(member.config)), reached)
        });
        let mut nodes: Nodes = begin.collect();
        let mut open: VecDeque<usize> = (0..nodes.len()).collect();
        let next = |open: &mut VecDeque<usize>| match order {
            Order::Breadth => open.pop_front(),
            Order::Depth => open.pop_back(),
        };
        while let Some(at) = next(&mut open) {
            let (time, node) = nodes.get_index(at).expect("it was reached").0.clone();
            if time == last && wanted.is_none_or(|class| looks_like(rules, &node, class)) {
                return Ok(told(rules, &nodes, at));
            }
            if nodes.len() > MOST_NODES {
                return Ok(Way::GivenUp);
            }
            let before = nodes.len();
            let walk = Walk {
                process,
                history,
                time,
            };
            let change = history.changes.get(time);
            let (mut now, mut later) = (Vec::new(), Vec::new());
            for advance in walk.advances(rules, &node, budget)? {
                if advance.writes.is_empty() {
                    now.push((time, advance.node, advance.taken));
                } else if change
                    .is_some_and(|(writer, change)| *writer == process && *change == advance.writes)
                {
                    later.push((time + 1, advance.node, advance.taken));
                }
            }
            if change.is_some_and(|(writer, _)| *writer != process) {
                later.push((time + 1, node, None));
            }
            for (time, node, taken) in now.into_iter().chain(later) {
                let from = Some(at);
                let reached = Reached { from, taken };
                nodes.entry((time, node)).or_insert(reached);
            }
            open.extend(before..nodes.len());
            budget.bytes += NODE_BYTES * (nodes.len() - before) as u64;
        }
        Ok(Way::None)
    }
}

/// What properties see of a node.
fn looks_like(rules: &Rules, node: &Node, class: &Class) -> bool {
    let config = rules.config(node.config);
    let stopped = config.at == At::Loc(rules.process.exit);
    let own = Class {
        done: stopped && node.queues.is_empty() && !node.ahead,
        ..Class::of(rules.process, config)
    };
    own == *class
}

/// The way to a node.
fn told(rules: &Rules, nodes: &Nodes, mut at: usize) -> Way {
    let mut way = Vec::new();
    loop {
        let ((_, node), reached) = nodes.get_index(at).expect("it was reached");
        way.extend(reached.taken.clone());
        match reached.from {
            Some(before) => at = before,
            None => {
                way.reverse();
                return Way::Found(rules.config(node.config).clone(), way);
            }
        }
    }
}
