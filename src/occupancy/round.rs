//! A way round that fills a queue.
//!
//! As long as a queue is not flushed, it matters to nobody what is in it, apart from what its
//! process sees: the newest store to each place, which places have stores pending, and which
//! fences are. So let states be seen through a *frozen* queue that keeps only that and is never
//! flushed. A step depends on nothing else, and whoever comes from a frozen state back to
//! the same one can go the same way again, and again. If the queue is stored to on the way, it
//! grows each time, from a state that is really reached: it is unbounded.
//!
//! Under TSO the whole buffer of the process is frozen. Under PSO the queue of one place is, and
//! with it everything behind a store-store fence that has a store of the queue before it, which
//! cannot leave either. The other queues are exact and bounded; a store without room is not
//! taken, so all steps are real ones.

use super::Queue;
use super::explore::{Explorer, Taken};
use super::memory::{Bounds, unbounded};
use crate::limits::{Limits, Monitor, StopReason};
use crate::memory::step::{Config, Stepper};
use crate::memory::{Buffers, Entry, Loaded, Marker, Memory, Order, Segment, Stored};
use crate::program::{Edge, EdgeId, PlaceId, Process, Program};
use crate::source::Span;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// How a queue is filled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    /// The store that fills it.
    pub store: Span,
    /// The first statement of the loop in the text.
    pub begin: Span,
    /// The last one.
    pub end: Span,
    /// What the process does on its way round, from the store on.
    pub statements: Vec<Span>,
    /// Steps of others on the way.
    pub others: usize,
}

/// The buffers of the process whose queue is frozen.
pub fn memory(order: Order, bounds: Arc<Bounds>, place: Option<PlaceId>) -> Box<dyn Memory> {
    Box::new(Frozen {
        order,
        bounds,
        place,
    })
}

/// What is kept of buffers when the queue is frozen.
pub fn freeze(order: Order, place: Option<PlaceId>, buffers: &Buffers) -> Buffers {
    let bounds = Arc::new(Bounds::new(0, std::iter::empty()));
    let frozen = Frozen {
        order,
        bounds,
        place,
    };
    frozen.frozen(buffers)
}

struct Frozen {
    order: Order,
    bounds: Arc<Bounds>,
    /// The frozen queue; none if all are.
    place: Option<PlaceId>,
}

impl Frozen {
    fn is_frozen(&self, place: PlaceId) -> bool {
        self.place.is_none_or(|own| own == place)
    }
}

impl Memory for Frozen {
    fn order(&self) -> Order {
        self.order
    }

    fn store(&self, buffers: &mut Buffers, entry: Entry) -> Stored {
        let free = self.is_frozen(entry.place);
        if !free && !self.bounds.has_room(self.order, buffers, entry.place) {
            return Stored::NoRoom;
        }
        let stored = unbounded(self.order).store(buffers, entry);
        *buffers = self.frozen(buffers);
        stored
    }

    fn load(&self, buffers: &Buffers, place: PlaceId) -> Loaded {
        unbounded(self.order).load(buffers, place)
    }

    fn flushes(&self, buffers: &Buffers, out: &mut Vec<(Entry, Buffers)>) {
        let before = out.len();
        unbounded(self.order).flushes(buffers, out);
        let flushed = out.split_off(before);
        let moving = flushed
            .into_iter()
            .filter(|(entry, _)| !self.is_frozen(entry.place));
        out.extend(moving.map(|(entry, after)| (entry, self.frozen(&after))));
    }

    fn mark(&self, buffers: &mut Buffers, marker: Marker) {
        unbounded(self.order).mark(buffers, marker);
        *buffers = self.frozen(buffers);
    }
}

impl Frozen {
    /// What is kept of buffers.
    fn frozen(&self, buffers: &Buffers) -> Buffers {
        let exact = unbounded(self.order);
        let segments = buffers.segments();
        let holds = |segment: &Segment| segment.head.iter().any(|e| self.is_frozen(e.place));
        let mut kept = Buffers::default();
        let Some(first) = segments.iter().position(holds) else {
            return buffers.clone();
        };
        // What is before the first frozen store is as it was.
        let (before, rest) = segments.split_at(first);
        for (index, segment) in before.iter().enumerate() {
            if index > 0 {
                exact.mark(&mut kept, segment.marker);
            }
            for entry in &segment.head {
                exact.store(&mut kept, *entry);
            }
        }
        if first > 0 {
            exact.mark(&mut kept, rest[0].marker);
        }
        // What is behind it, up to a store-store fence, can still move. Where loads wait for a
        // frozen store, they do for ever.
        let stuck = rest.iter().skip(1).position(|s| s.marker.store_store);
        let stuck = stuck.map_or(rest.len(), |at| at + 1);
        let (moving, stuck) = rest.split_at(stuck);
        let moving_entries = moving.iter().flat_map(|segment| &segment.head);
        let newest = newest(rest.iter().flat_map(|segment| &segment.head));
        for entry in moving_entries.filter(|entry| !self.is_frozen(entry.place)) {
            exact.store(&mut kept, *entry);
        }
        let in_moving = |place: &PlaceId| {
            let mut heads = moving.iter().flat_map(|segment| &segment.head);
            heads.any(|entry| entry.place == *place)
        };
        for (place, entry) in &newest {
            if self.is_frozen(*place) && in_moving(place) {
                exact.store(&mut kept, *entry);
            }
        }
        let store_load = rest.iter().skip(1).any(|s| s.marker.store_load);
        if !stuck.is_empty() || store_load {
            exact.mark(
                &mut kept,
                Marker {
                    store_store: !stuck.is_empty(),
                    store_load,
                },
            );
        }
        let behind = stuck.iter().flat_map(|segment| &segment.head);
        for entry in self::newest(behind).into_values() {
            exact.store(&mut kept, entry);
        }
        kept
    }
}

/// The newest store to each place.
fn newest<'e>(entries: impl Iterator<Item = &'e Entry>) -> BTreeMap<PlaceId, Entry> {
    entries.map(|entry| (entry.place, *entry)).collect()
}

/// A search for a way round.
pub struct Search<'p> {
    /// Those of the process whose queue it is have the memory of [`memory`].
    pub steppers: Vec<Stepper<'p>>,
    pub queue: Queue,
    pub order: Order,
    /// Only the process itself moves. Its steps depend on its own configuration and memory, so
    /// that states which differ in what others do are one.
    pub alone: bool,
    /// States to look at.
    pub budget: usize,
}

impl<'p> Search<'p> {
    /// Looks for a way round from the states that were visited, and says how many frozen states
    /// that took.
    pub fn run(
        self,
        visited: &Explorer<'p>,
        limits: &Limits,
        monitor: &Monitor,
    ) -> (Result<Option<Round>, StopReason>, usize) {
        let program = self.steppers[0].program;
        let own = self.queue.process.index();
        let mut states = Explorer::new(program, self.steppers);
        for at in 0..visited.states() {
            let (memory, configs) = visited.state(at);
            let seen = Config {
                buffers: freeze(self.order, self.queue.place, &configs[own].buffers),
                ..configs[own].clone()
            };
            let mut configs = match self.alone {
                true => visited.state(0).1,
                false => configs,
            };
            configs[own] = &seen;
            states.add(memory, &configs);
        }
        let budget = self.budget.saturating_add(states.states());
        let fills = |taken: &Taken| {
            let own = |place| self.queue.place.is_none_or(|own| own == place);
            taken.process == self.queue.process && taken.stored.is_some_and(own)
        };
        let mut graph: Vec<Vec<Taken>> = Vec::new();
        let mut steps = 0;
        let only = self.alone.then_some(self.queue.process);
        while graph.len() < states.states() && graph.len() < budget {
            let mut taken = Vec::new();
            let mut expanded = states.expand(graph.len(), only, &mut taken, limits, monitor);
            steps += taken.len();
            if graph.len().is_multiple_of(1024) {
                let held = steps * size_of::<Taken>() + size_of_val(&graph[..]);
                expanded = expanded.and(states.check(held, limits, monitor));
            }
            if let Err(reason) = expanded {
                return (Err(reason), states.states());
            }
            graph.push(taken);
        }
        let found = cycle(&graph, fills);
        let round = found.and_then(|cycle| self::round(program, &states, self.queue, &cycle));
        (Ok(round), states.states())
    }
}

/// Of so many cycles, the shortest is shown.
const CYCLES: usize = 16;

/// A cycle that begins with a step of the kind asked for: the states it leaves, and its steps.
/// One without steps of others is preferred.
fn cycle(graph: &[Vec<Taken>], wanted: impl Fn(&Taken) -> bool) -> Option<Vec<(usize, Taken)>> {
    let components = components(graph);
    let all = graph.iter().enumerate();
    let all = all.flat_map(|(from, out)| out.iter().map(move |taken| (from, *taken)));
    let inside = |from: usize, to: usize| components.get(to) == Some(&components[from]);
    let closing = all.filter(|(from, taken)| inside(*from, taken.to) && wanted(taken));
    let cycles = closing.take(CYCLES).map(|(from, taken)| {
        let back = path(graph, &components, taken.to, from);
        [(from, taken)].into_iter().chain(back).collect::<Vec<_>>()
    });
    cycles.min_by_key(|cycle| {
        let own = |step: &&(usize, Taken)| step.1.process != cycle[0].1.process;
        (cycle.iter().filter(own).count(), cycle.len())
    })
}

/// A shortest way from one state to another of the same component.
fn path(graph: &[Vec<Taken>], of: &[usize], from: usize, to: usize) -> Vec<(usize, Taken)> {
    let mut came: BTreeMap<usize, (usize, Taken)> = BTreeMap::new();
    let mut work = VecDeque::from([from]);
    while let Some(at) = work.pop_front() {
        if at == to {
            break;
        }
        for taken in &graph[at] {
            let inside = of.get(taken.to) == Some(&of[from]);
            if inside && taken.to != from && !came.contains_key(&taken.to) {
                came.insert(taken.to, (at, *taken));
                work.push_back(taken.to);
            }
        }
    }
    let mut steps = Vec::new();
    let mut at = to;
    while at != from {
        let step = came[&at];
        steps.push(step);
        at = step.0;
    }
    steps.reverse();
    steps
}

/// The strongly connected component of each state, after Tarjan.
fn components(graph: &[Vec<Taken>]) -> Vec<usize> {
    const NEW: usize = usize::MAX;
    let mut number = vec![NEW; graph.len()];
    let mut low = vec![0; graph.len()];
    let mut component = vec![NEW; graph.len()];
    let (mut reached, mut found) = (0, 0);
    let mut open = Vec::new();
    for start in 0..graph.len() {
        if number[start] != NEW {
            continue;
        }
        let mut path = vec![(start, 0)];
        while let Some((at, next)) = path.pop() {
            if next == 0 {
                number[at] = reached;
                low[at] = reached;
                reached += 1;
                open.push(at);
            }
            let mut out = graph[at].iter().enumerate().skip(next);
            let fresh = out.find(|(_, taken)| {
                let known = number.get(taken.to).copied();
                if let Some(known) = known.filter(|&known| known != NEW) {
                    if component[taken.to] == NEW {
                        low[at] = low[at].min(known);
                    }
                    return false;
                }
                known.is_some()
            });
            if let Some((index, taken)) = fresh {
                path.push((at, index + 1));
                path.push((taken.to, 0));
                continue;
            }
            if low[at] == number[at] {
                while let Some(member) = open.pop() {
                    component[member] = found;
                    if member == at {
                        break;
                    }
                }
                found += 1;
            }
            if let Some(&(above, _)) = path.last() {
                low[above] = low[above].min(low[at]);
            }
        }
    }
    component
}

/// A way round as the process of the queue goes it.
fn round(
    program: &Program,
    states: &Explorer,
    queue: Queue,
    cycle: &[(usize, Taken)],
) -> Option<Round> {
    let own = |taken: &Taken| taken.process == queue.process;
    let mut paths = Vec::new();
    for (from, taken) in cycle.iter().filter(|(_, taken)| own(taken)) {
        paths.push(states.steps_between(*from, *taken)?.path);
    }
    let others = cycle.iter().filter(|(_, taken)| !own(taken)).count();
    described(program.process(queue.process), &paths, others)
}

/// A way round, given the paths of the steps of its process, of which the first ends in the store.
pub fn described(process: &Process, paths: &[Vec<EdgeId>], others: usize) -> Option<Round> {
    let store = process.edge(*paths.first()?.last()?);
    let edges: Vec<_> = paths.iter().flatten().map(|id| process.edge(*id)).collect();
    // Of the loops that the round closes, the smallest with the store in it.
    let loops = edges.iter().filter(|edge| edge.back);
    let loops = loops.map(|edge| natural_loop(process, edge));
    let around = loops.filter(|inside| inside[store.from.index()]);
    let around = around.min_by_key(|inside| inside.iter().filter(|&&at| at).count())?;
    let within = |edge: &&Edge| around[edge.from.index()] && around[edge.to.index()];
    let spans = || process.edges.iter().filter(within).map(|edge| edge.span);
    let (begin, end) = (spans().min()?, spans().max_by_key(|span| span.start)?);
    let store = store.span;
    let mut statements: Vec<Span> = edges.iter().map(|edge| edge.span).collect();
    statements.dedup();
    Some(Round {
        store,
        begin,
        end,
        statements,
        others,
    })
}

/// The locations of the loop that an edge closes: those from which it is reached without passing
/// the loop's beginning.
fn natural_loop(process: &Process, back: &Edge) -> Vec<bool> {
    let mut inside = vec![false; process.locations.len()];
    inside[back.to.index()] = true;
    let mut work = vec![back.from];
    while let Some(at) = work.pop() {
        if !std::mem::replace(&mut inside[at.index()], true) {
            let into = process.edges.iter().filter(|edge| edge.to == at);
            work.extend(into.map(|edge| edge.from));
        }
    }
    inside
}
