//! Executions that fill a queue of stores for ever.
//!
//! An execution with numbers is followed on exact buffers. At some moment the queue is frozen: it
//! is not flushed any more, and only what its process sees of it is kept. If the execution then
//! comes back to the same state of the frame, and stores to the queue on the way, the question is
//! whether integers let it go the same way again and again. The moves of the way are followed
//! backwards: what must hold so that it can be gone once, twice, and so on. When that does not
//! change any more, whoever satisfies it can go round and satisfies it again. If the numbers of the
//! execution do, the queue has no longest length.

use super::graph::Frozen;
use super::matrix::{Fact, Matrix, Node, sum};
use super::rules::{Home, Rules};
use super::start::initial_integers;
use super::zone::{Assigned, Move, Term};
use super::{Frame, Integers};
use crate::limits::{Limits, Monitor, StopReason, Watch};
use crate::memory::step::{Config, Effect, initial_values};
use crate::memory::{Buffers, Memory, Semantics};
use crate::program::{EdgeId, PlaceId, ProcessId, Program, Value};
use ahash::AHashSet;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// A queue that may be filled for ever.
pub struct Filled<'q> {
    pub process: ProcessId,
    /// Whether stores to a place go to the queue.
    pub holds: &'q dyn Fn(PlaceId) -> bool,
    /// Exact buffers of each process.
    pub buffers: Vec<Box<dyn Memory>>,
    /// The buffers of the process while the queue is frozen.
    pub frozen: Box<dyn Memory>,
    /// What is kept of buffers when the queue is frozen.
    pub freeze: &'q dyn Fn(&Buffers) -> Buffers,
    /// Only the process itself moves while the queue is frozen.
    pub alone: bool,
}

/// A step on a way round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundStep {
    pub process: ProcessId,
    /// Edges of the program.
    pub path: Vec<EdgeId>,
    /// It stores to the queue.
    pub fills: bool,
}

/// States in which the queue may be frozen, states with a frozen queue, and steps from the former
/// to look at.
const STARTS: usize = 300;
const STATES: usize = 4000;
const DEPTH: usize = 300;

/// How often a way is gone backwards before it is given up.
const ROUNDS: usize = 8;

/// Numbers beyond this are not chosen.
const MOST_NUMBER: Value = 1 << 40;

/// Ways back to the same state of the frame that are looked at in each state.
const RETURNS: usize = 3;

/// The numbers of all integers that are there.
type Numbers = BTreeMap<u32, Value>;

/// A state with numbers.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Here {
    frame: Frozen,
    numbers: Numbers,
}

/// A step that was taken.
#[derive(Clone)]
struct Taken {
    process: ProcessId,
    path: Vec<EdgeId>,
    data: Move,
    fills: bool,
}

/// A state on the way, how it was reached, and the steps that were not taken yet.
struct Level {
    here: Here,
    by: Option<Taken>,
    open: Vec<(Taken, Here)>,
}

struct Search<'s, 'q> {
    program: &'s Program,
    frame: &'s Frame,
    rules: Rules<'s>,
    queue: Filled<'q>,
    is_frozen: bool,
    limits: &'s Limits,
    monitor: &'s Monitor,
}

impl Integers<'_> {
    /// Looks for an execution that fills a queue for ever: the steps of one way round, which
    /// begins with a store to the queue. If there is none, the queue may still have no longest
    /// length.
    pub fn endless(
        &self,
        semantics: Semantics,
        queue: Filled,
        limits: &Limits,
        monitor: &Monitor,
    ) -> Result<Option<Vec<RoundStep>>, StopReason> {
        let mut search = Search {
            program: self.program,
            frame: &self.frame,
            rules: Rules::new(&self.frame, semantics.exact()),
            queue,
            is_frozen: false,
            limits,
            monitor,
        };
        search.run()
    }
}

impl Search<'_, '_> {
    fn run(&mut self) -> Result<Option<Vec<RoundStep>>, StopReason> {
        let mut known = AHashSet::new();
        let mut frozen = AHashSet::new();
        let mut open = VecDeque::new();
        if let Some(start) = self.start()? {
            known.insert(start.clone());
            open.push_back(start);
        }
        while let Some(here) = open.pop_front() {
            let start = self.freeze(&here);
            if frozen.insert(start.clone())
                && let Some(round) = self.from(start, &mut frozen)?
            {
                return Ok(Some(round));
            }
            if frozen.len() > STATES {
                return Ok(None);
            }
            self.is_frozen = false;
            for process in self.program.process_ids() {
                for (_, next) in self.steps(&here, process)? {
                    if known.len() < STARTS && known.insert(next.clone()) {
                        open.push_back(next);
                    }
                }
            }
        }
        Ok(None)
    }

    /// A state to start from. Where anything is possible, one is as good as another.
    fn start(&mut self) -> Result<Option<Here>, StopReason> {
        let program = &self.rules.frame.program;
        let places = program.places.iter();
        let first =
            |place: &crate::program::Place| *initial_values(place.initial, place.domain).start();
        let mut frame = Frozen {
            memory: places.map(first).collect(),
            configs: Vec::new(),
        };
        for process in &program.processes {
            let configs = self.rules.stepper.initial(process, &Watch::never())?;
            let Some(config) = configs.into_iter().next() else {
                return Ok(None);
            };
            frame.configs.push(Arc::new(config));
        }
        let mut numbers = Numbers::new();
        for (home, value) in initial_integers(self.program) {
            numbers.insert(self.rules.node(home).integer(), value.unwrap_or(0));
        }
        Ok(Some(Here { frame, numbers }))
    }

    /// The same state with the queue frozen. Integers in buffers get other homes.
    fn freeze(&mut self, here: &Here) -> Here {
        let process = self.queue.process;
        let mut after = here.clone();
        let config = &here.frame.configs[process.index()];
        let marked = self.rules.marked(process, &config.buffers);
        let pending = |home: Home| matches!(home, Home::Pending(of, ..) if of == process);
        after
            .numbers
            .retain(|integer, _| !pending(self.rules.home(*integer)));
        let kept = (self.queue.freeze)(&marked);
        let mut moved = Vec::new();
        let buffers = kept.with_values(&mut |spot, entry| {
            if !self.rules.is_integer_place(entry.place) {
                return entry.value;
            }
            moved.push((
                Home::Pending(process, entry.place, spot),
                entry.value as u32,
            ));
            0
        });
        for (home, mark) in moved {
            let integer = self.rules.node(home).integer();
            if let Some(number) = here.numbers.get(&mark) {
                after.numbers.insert(integer, *number);
            }
        }
        after.frame.configs[process.index()] = Arc::new(Config {
            buffers,
            ..(**config).clone()
        });
        after
    }

    /// Looks for a way round, depth first.
    fn from(
        &mut self,
        start: Here,
        known: &mut AHashSet<Here>,
    ) -> Result<Option<Vec<RoundStep>>, StopReason> {
        self.is_frozen = true;
        let open = self.moving(&start)?;
        let mut way = vec![Level {
            here: start,
            by: None,
            open,
        }];
        while let Some(last) = way.last_mut() {
            let Some((taken, next)) = last.open.pop() else {
                way.pop();
                continue;
            };
            let same = |level: &Level| level.here.frame == next.frame;
            let returns = (0..way.len()).rev().filter(|&at| same(&way[at]));
            for at in returns.take(RETURNS) {
                let round = way[at + 1..].iter().filter_map(|level| level.by.as_ref());
                let round: Vec<&Taken> = round.chain([&taken]).collect();
                let fills = round.iter().any(|taken| taken.fills);
                if fills && self.repeats(&round, &way[at].here.numbers) {
                    return Ok(Some(self.told(&round)));
                }
            }
            if way.len() < DEPTH && known.len() < STATES && known.insert(next.clone()) {
                let open = self.moving(&next)?;
                way.push(Level {
                    here: next,
                    by: Some(taken),
                    open,
                });
            }
        }
        Ok(None)
    }

    /// The steps with the queue frozen, those of its process last: they are taken first.
    fn moving(&mut self, here: &Here) -> Result<Vec<(Taken, Here)>, StopReason> {
        let mut all = Vec::new();
        for process in self.program.process_ids() {
            if !self.queue.alone && process != self.queue.process {
                all.extend(self.steps(here, process)?);
            }
        }
        all.extend(self.steps(here, self.queue.process)?);
        Ok(all)
    }

    fn steps(&mut self, here: &Here, process: ProcessId) -> Result<Vec<(Taken, Here)>, StopReason> {
        self.monitor.stop(self.limits).map_or(Ok(()), Err)?;
        let own = process == self.queue.process;
        let memory = match self.is_frozen && own {
            true => &mut self.queue.frozen,
            false => &mut self.queue.buffers[process.index()],
        };
        std::mem::swap(&mut self.rules.stepper.memory, memory);
        let config = here.frame.configs[process.index()].clone();
        let values = |place: PlaceId| here.frame.memory[place.index()];
        let ruled = self.rules.steps(process, &config, &values, &Watch::never());
        std::mem::swap(&mut self.rules.stepper.memory, memory);
        let mut all = Vec::new();
        for ruled in ruled? {
            let numbers = self.take(&here.numbers, &ruled.data);
            if numbers.is_empty() {
                continue;
            }
            let mut frame = here.frame.clone();
            for (place, value) in &ruled.step.writes {
                frame.memory[place.index()] = *value;
            }
            let path = (self.frame).origin(process, &ruled.step.path, &ruled.step.next);
            let fills = match ruled.step.effect {
                Effect::Store(place, _) => own && (self.queue.holds)(place),
                _ => false,
            };
            frame.configs[process.index()] = Arc::new(ruled.step.next);
            let taken = Taken {
                process,
                path,
                data: ruled.data,
                fills,
            };
            for numbers in numbers {
                let frame = frame.clone();
                all.push((taken.clone(), Here { frame, numbers }));
            }
        }
        Ok(all)
    }

    /// The numbers after a move, for some choices of what it chooses; none if it is not possible.
    fn take(&self, numbers: &Numbers, data: &Move) -> Vec<Numbers> {
        let mut all = Vec::new();
        for preferred in [0, Value::MIN, Value::MAX] {
            let after = self.take_with(numbers, data, preferred);
            if let Some(after) = after.filter(|after| !all.contains(after)) {
                all.push(after);
            }
        }
        all
    }

    /// The same with numbers near to one.
    fn take_with(&self, numbers: &Numbers, data: &Move, preferred: Value) -> Option<Numbers> {
        let mut now = numbers.clone();
        self.choose(&mut now, data, preferred)?;
        if !hold(&now, &data.constraints)? {
            return None;
        }
        let mut after = now.clone();
        for (integer, assigned) in &data.targets {
            match assigned {
                Assigned::Gone => after.remove(integer),
                Assigned::Term(term) => {
                    let value = number(&now, term.node)?.checked_add(term.plus)?;
                    after.insert(*integer, value)
                }
                Assigned::Either(_) | Assigned::OneOf(_) => return None,
            };
        }
        Some(after)
    }

    fn is_chosen(&self, node: Node) -> bool {
        node != Node::ZERO && matches!(self.rules.home(node.integer()), Home::Chosen(_))
    }

    /// Chooses the numbers that a move chooses, near to a number; near to zero where nothing keeps
    /// them from being arbitrarily large or small.
    fn choose(&self, now: &mut Numbers, data: &Move, preferred: Value) -> Option<()> {
        let mut chosen: Vec<Node> = data.read().filter(|node| self.is_chosen(*node)).collect();
        chosen
            .iter_mut()
            .for_each(|node| *node = Node::of(node.integer()));
        chosen.sort();
        chosen.dedup();
        if chosen.is_empty() {
            return Some(());
        }
        let mut matrix = Matrix::new(chosen.iter().copied(), self.frame.octagon);
        for fact in &data.constraints {
            let side = |node: Node| match self.is_chosen(node) {
                true => Some(Term::node(node)),
                false => Some(Term::number(number(now, node)?)),
            };
            let (left, right) = (side(fact.left)?, side(fact.right)?);
            let most = fact.most.checked_sub(left.plus)?.checked_add(right.plus)?;
            matrix.add(Fact::new(left.node, right.node, most)).ok()?;
        }
        for node in chosen {
            let most = matrix.bound(node, Node::ZERO);
            let least = matrix.bound(Node::ZERO, node).saturating_neg();
            let wanted = preferred.clamp(least, most);
            let number = match (-MOST_NUMBER..=MOST_NUMBER).contains(&wanted) {
                true => wanted,
                false => 0.clamp(least, most),
            };
            matrix.add(Fact::new(node, Node::ZERO, number)).ok()?;
            matrix.add(Fact::new(Node::ZERO, node, -number)).ok()?;
            now.insert(node.integer(), number);
        }
        Some(())
    }

    /// Whether whoever has these numbers can go round for ever.
    fn repeats(&self, round: &[&Taken], numbers: &Numbers) -> bool {
        let mut needed = Vec::new();
        for _ in 0..ROUNDS {
            let mut before = needed.clone();
            for taken in round.iter().rev() {
                match self.before(&taken.data, &before) {
                    Some(facts) => before = facts,
                    None => return false,
                }
            }
            if before == needed {
                return hold(numbers, &needed) == Some(true);
            }
            needed = before;
        }
        false
    }

    /// What must hold before a move so that it is possible and facts hold after it, for some
    /// choice of what it chooses; none if that is not known.
    fn before(&self, data: &Move, facts: &[Fact]) -> Option<Vec<Fact>> {
        let mut needed = data.constraints.clone();
        for fact in facts {
            let source = |node: Node| match &data.source(node) {
                (terms, false) if terms.len() == 1 => Some(terms[0]),
                _ => None,
            };
            let (left, right) = (source(fact.left)?, source(fact.right)?);
            let most = sum(fact.most, right.plus.checked_sub(left.plus)?);
            needed.push(Fact::new(left.node, right.node, most));
        }
        let nodes = needed.iter().flat_map(|fact| [fact.left, fact.right]);
        let mut matrix = Matrix::new(nodes.clone(), self.frame.octagon);
        // Without negations, dropping what was chosen from a closed matrix is exact.
        if self.frame.octagon && nodes.clone().any(|node| self.is_chosen(node)) {
            return None;
        }
        needed.iter().for_each(|fact| matrix.note(*fact));
        matrix.close().ok()?;
        let kept = |fact: &Fact| !self.is_chosen(fact.left) && !self.is_chosen(fact.right);
        Some(matrix.facts().filter(kept).collect())
    }

    /// A way round, from a store to the queue on.
    fn told(&self, round: &[&Taken]) -> Vec<RoundStep> {
        let steps = round.iter().map(|taken| RoundStep {
            process: taken.process,
            path: taken.path.clone(),
            fills: taken.fills,
        });
        let mut steps: Vec<RoundStep> = steps.collect();
        let first = steps.iter().position(|step| step.fills).unwrap_or(0);
        steps.rotate_left(first);
        steps
    }
}

/// The number of a node, if there is one.
fn number(numbers: &Numbers, node: Node) -> Option<Value> {
    if node == Node::ZERO {
        return Some(0);
    }
    let value = *numbers.get(&node.integer())?;
    match node == Node::of(node.integer()) {
        true => Some(value),
        false => value.checked_neg(),
    }
}

/// Whether facts hold; none if one of them is about what is not there.
fn hold(numbers: &Numbers, facts: &[Fact]) -> Option<bool> {
    for fact in facts {
        let (left, right) = (number(numbers, fact.left)?, number(numbers, fact.right)?);
        if left.checked_sub(right)? > fact.most {
            return Some(false);
        }
    }
    Some(true)
}
