//! What one process can do at some time of a history of changes, without widening.

use super::member::ConfigId;
use super::rules::{Act, Move, Rules};
use crate::limits::Watch;
use crate::memory::step::{Config, Step};
use crate::memory::{Atomics, Model};
use crate::program::{EdgeId, FenceKind, PlaceId, ProcessId, Value};
use crate::space::sets::{Budget, Change, Ended};
use std::rc::Rc;

/// The changes that lead to a state.
pub struct History {
    pub changes: Vec<(ProcessId, Change)>,
    /// The memory before each of them, and behind the last.
    pub memories: Vec<Vec<Value>>,
}

/// By place: stores that have not landed, and whether loads wait for them.
type ExactQueues = Vec<(PlaceId, Vec<(Value, bool)>)>;

/// What a process is doing at some time of the history.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Node {
    pub config: ConfigId,
    /// The moment it looks at.
    pub view: usize,
    /// Its newest store to each place: when it landed, and the value.
    pub own: Vec<(PlaceId, usize, Value)>,
    /// When its last store landed.
    pub last_own: usize,
    /// Under PSO.
    pub queues: ExactQueues,
    /// It has stores that do not land any more.
    pub ahead: bool,
    /// Loads wait for these.
    pub delayed: bool,
}

#[derive(Debug, Clone)]
pub struct Taken {
    pub path: Rc<[EdgeId]>,
    pub next: ConfigId,
    /// The moment at which it happens.
    pub at: usize,
    /// It is the next change itself.
    pub changes: bool,
}

/// A step of a node: what it leads to, the change of memory, and what is told of it.
pub struct Advance {
    pub node: Node,
    pub writes: Change,
    pub taken: Option<Taken>,
}

/// When its store never lands.
const NEVER: usize = usize::MAX;

/// A process at some time of a history.
pub struct Walk<'h> {
    pub process: ProcessId,
    pub history: &'h History,
    pub time: usize,
}

impl Walk<'_> {
    fn memory(&self, place: PlaceId) -> Value {
        self.history.memories[self.time][place.index()]
    }

    /// What is seen of some writes.
    fn change(&self, mut writes: Change) -> Change {
        writes.retain(|(place, value)| self.memory(*place) != *value);
        writes.sort();
        writes
    }

    /// Everything that a process can do.
    pub fn advances(
        &self,
        rules: &mut Rules,
        node: &Node,
        budget: &mut Budget,
    ) -> Result<Vec<Advance>, Ended> {
        budget.spend(8)?;
        let check = |bytes| budget.check(bytes as u64);
        let watch = Watch::new(&check);
        let mut all = self.flushes(node);
        let outline = rules.outline(node.config, &watch)?;
        for step in outline.iter() {
            let mut from = node.clone();
            if !step.fenced || from.fence() {
                self.act(rules, step, from, &watch, &mut all)?;
            }
        }
        Ok(all)
    }

    fn act(
        &self,
        rules: &mut Rules,
        step: &Move,
        from: Node,
        watch: &Watch,
        all: &mut Vec<Advance>,
    ) -> Result<(), Ended> {
        // A step happens where the process looks then.
        let mut add = |rules: &mut Rules, config: &Config, node: Node, writes: Change| {
            let config = rules.config_id(config.clone());
            let taken = Taken {
                path: step.path.clone(),
                next: config,
                at: node.view,
                changes: false,
            };
            all.push(Advance {
                node: Node { config, ..node },
                writes,
                taken: Some(taken),
            });
        };
        let is_last = self.time == self.history.changes.len();
        match &step.act {
            Act::Local(step) => add(rules, &step.next, from, Vec::new()),
            Act::Store(place, value, step) => {
                let (place, value) = (*place, *value);
                if from.ahead || is_last && rules.model() == Model::Tso {
                    let mut ahead = from.clone();
                    ahead.run_ahead(place, value);
                    add(rules, &step.next, ahead, Vec::new());
                }
                if from.ahead {
                    return Ok(());
                }
                let writes = self.change(vec![(place, value)]);
                match rules.model() {
                    Model::Pso => {
                        for queues in self.enqueued(&from, place, value) {
                            let from = from.clone();
                            add(rules, &step.next, Node { queues, ..from }, Vec::new());
                        }
                    }
                    Model::Tso => {
                        let mut landed = from;
                        let lands = self.time + writes.len();
                        landed.land(place, lands, value);
                        add(rules, &step.next, landed, writes);
                    }
                    Model::Sc => all.push(self.at_present(rules, &step.next, from, step, writes)),
                }
            }
            Act::Fence(kind, step) => {
                let mut next = from;
                let passes = match (kind, rules.model()) {
                    (FenceKind::Full, _) => next.fence(),
                    (FenceKind::StoreStore, Model::Pso) if !next.queues.is_empty() => {
                        next.delayed |= next.delays_loads();
                        for (place, queue) in std::mem::take(&mut next.queues) {
                            next.run_ahead(place, queue[queue.len() - 1].0);
                        }
                        is_last
                    }
                    (FenceKind::StoreStore, _) => true,
                    (FenceKind::StoreLoad, _) => {
                        for next in self.delayed(next) {
                            add(rules, &step.next, next, Vec::new());
                        }
                        return Ok(());
                    }
                };
                if passes {
                    add(rules, &step.next, next, Vec::new());
                }
            }
            Act::Load(place, approach) => {
                for (value, view) in self.readings(rules, &from, *place) {
                    for step in rules.finish(from.config, approach, &|_| value, watch)? {
                        let from = from.clone();
                        add(rules, &step.next, Node { view, ..from }, Vec::new());
                    }
                }
            }
            Act::Update(_, approach) | Act::Atomic(approach) => {
                let waits = match (&step.act, rules.atomics()) {
                    (Act::Update(place, _), Atomics::DrainPlace) => {
                        from.queue(*place).is_some() || from.delays_loads()
                    }
                    _ => !from.queues.is_empty(),
                };
                if waits || from.ahead {
                    return Ok(());
                }
                let memory = |place| self.memory(place);
                for taken in rules.finish(from.config, approach, &memory, watch)? {
                    let writes = self.change(taken.writes.clone());
                    all.push(self.at_present(rules, &taken.next, from.clone(), &taken, writes));
                }
            }
        }
        Ok(())
    }

    /// A step that acts on memory itself.
    fn at_present(
        &self,
        rules: &mut Rules,
        config: &Config,
        from: Node,
        step: &Step,
        writes: Change,
    ) -> Advance {
        let config = rules.config_id(config.clone());
        let changes = !writes.is_empty();
        let taken = Taken {
            path: step.path[..].into(),
            next: config,
            at: self.time,
            changes,
        };
        let view = self.time + usize::from(changes);
        Advance {
            node: Node {
                config,
                view,
                ..from
            },
            writes,
            taken: Some(taken),
        }
    }

    /// What a load can find, each value at the first moment that has it.
    fn readings(&self, rules: &Rules, node: &Node, place: PlaceId) -> Vec<(Value, usize)> {
        if node.delays_loads() {
            return Vec::new();
        }
        if let Some(queue) = node.queue(place) {
            return vec![(queue[queue.len() - 1].0, node.view)];
        }
        let first = match rules.lags() {
            true => node.view,
            false => self.time,
        };
        let own = node.own.iter().find(|(other, ..)| *other == place);
        let mut all: Vec<(Value, usize)> = Vec::new();
        for view in first..=self.time {
            let value = match own {
                Some((_, lands, value)) if *lands > view => *value,
                _ => self.history.memories[view][place.index()],
            };
            if all.iter().all(|(known, _)| *known != value) {
                all.push((value, view));
            }
        }
        all
    }

    /// Every way in which a queued store can land. Those before it land unseen with it.
    fn flushes(&self, node: &Node) -> Vec<Advance> {
        let mut all = Vec::new();
        for (at, (place, queue)) in node.queues.iter().enumerate().filter(|_| !node.ahead) {
            for (index, &(value, early)) in queue.iter().enumerate() {
                if queue[..index].iter().any(|(before, _)| *before == value) {
                    continue;
                }
                let writes = self.change(vec![(*place, value)]);
                let lands = self.time + writes.len();
                let mut next = node.clone();
                match index + 1 == queue.len() {
                    true => drop(next.queues.remove(at)),
                    false => drop(next.queues[at].1.drain(..=index)),
                }
                next.land(*place, lands, value);
                if early {
                    next.view = next.view.max(lands);
                }
                all.push(Advance {
                    node: next,
                    writes,
                    taken: None,
                });
            }
        }
        all
    }

    /// The stores to a place that can still change memory, and one that lands unseen.
    fn most_queued(&self, place: PlaceId) -> usize {
        let later = self.history.changes[self.time..].iter();
        let own = later.filter(|(writer, change)| {
            *writer == self.process && change.iter().any(|(other, _)| *other == place)
        });
        1 + own.count()
    }

    /// The nodes after a store-load fence. Of the stores before the fence that came before,
    /// the last may land unseen right before the next store: loads wait for both now.
    fn delayed(&self, node: Node) -> Vec<Node> {
        let mut all = vec![node];
        for at in 0..all[0].queues.len() {
            let (place, queue) = &all[0].queues[at];
            let most = self.most_queued(*place);
            let early = queue.iter().filter(|(_, early)| *early).count();
            if 0 < early && early < queue.len() {
                for mut without in all.clone() {
                    without.queues[at].1.remove(early - 1);
                    all.push(without);
                }
            }
            all.retain(|node| node.queues[at].1.len() <= most);
            if all.is_empty() {
                break;
            }
        }
        all.iter_mut().for_each(Node::delay_loads);
        all
    }

    /// The queues after a store. Only as many stores are kept as are still to be seen, and one
    /// that may land unseen right before the next.
    fn enqueued(&self, node: &Node, place: PlaceId, value: Value) -> Vec<ExactQueues> {
        let most = self.most_queued(place);
        let mut longer = node.queues.clone();
        let at = longer.binary_search_by_key(&place, |(place, _)| *place);
        let at = at.unwrap_or_else(|at| {
            longer.insert(at, (place, Vec::new()));
            at
        });
        let mut all = Vec::new();
        if let Some(&(_, early)) = longer[at].1.last()
            && !early
        {
            let mut same = longer.clone();
            same[at].1.pop();
            same[at].1.push((value, false));
            all.push(same);
        }
        if longer[at].1.iter().filter(|(_, early)| !early).count() < most {
            longer[at].1.push((value, false));
            all.push(longer);
        }
        all
    }
}

impl Node {
    /// A process that starts.
    pub fn start(config: ConfigId) -> Node {
        Node {
            config,
            view: 0,
            own: Vec::new(),
            last_own: 0,
            queues: Vec::new(),
            ahead: false,
            delayed: false,
        }
    }

    fn queue(&self, place: PlaceId) -> Option<&[(Value, bool)]> {
        let queue = self.queues.iter().find(|(other, _)| *other == place);
        queue.map(|(_, queue)| &queue[..])
    }

    fn delays_loads(&self) -> bool {
        let early = |(_, queue): &(_, Vec<(Value, bool)>)| queue.iter().any(|(_, early)| *early);
        self.delayed || self.queues.iter().any(early)
    }

    /// A full fence: whether it can be passed.
    fn fence(&mut self) -> bool {
        self.view = self.view.max(self.last_own);
        self.queues.is_empty() && !self.ahead
    }

    /// A store-load fence.
    fn delay_loads(&mut self) {
        self.view = self.view.max(self.last_own);
        self.delayed |= self.ahead;
        for (_, queue) in &mut self.queues {
            queue.iter_mut().for_each(|(_, early)| *early = true);
        }
    }

    /// A store reaches memory.
    fn land(&mut self, place: PlaceId, at: usize, value: Value) {
        self.own.retain(|(other, ..)| *other != place);
        self.own.push((place, at, value));
        self.own.sort();
        self.last_own = self.last_own.max(at);
    }

    /// A store that never reaches memory.
    fn run_ahead(&mut self, place: PlaceId, value: Value) {
        self.ahead = true;
        self.own.retain(|(other, ..)| *other != place);
        self.own.push((place, NEVER, value));
        self.own.sort();
    }
}
