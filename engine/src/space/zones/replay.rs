//! From a way of the search to an execution with numbers.
//!
//! The steps that processes take themselves are fixed by the way; flushes are free, as they are
//! when other counterexamples are replayed. A depth-first search looks for an order of flushes
//! on exact buffers with exact integers. In such an execution every integer is a number, or one
//! that was chosen plus a number, so the constraints of all steps are constraints on the choices.
//! Numbers that satisfy them are chosen, and the program itself is run with these.

use super::frame::Frame;
use super::graph::Frozen;
use super::judge::Judge;
use super::matrix::{Fact, Matrix, Node};
use super::rules::{Home, Rules};
use super::search::{Way, WayStep};
use super::start::{initial_integers, start};
use super::zone::{Assigned, Move, Rounding, Term, Zone};
use crate::limits::{Limits, Monitor, StopReason, Watch};
use crate::memory::Semantics;
use crate::memory::step::{At, Config, Effect};
use crate::program::{PlaceId, Program, Value};
use crate::property::Violation;
use crate::space::{Snapshot, Trace, TraceStep};
use ahash::{AHashMap, AHashSet};
use std::sync::Arc;

/// What became of a way.
pub enum Replayed {
    /// An execution of the exact model.
    Real(Violation, Trace),
    /// No execution of the exact model takes these steps.
    Spurious,
    /// The search was given up.
    Unknown,
}

/// States to look at before giving up.
const MOST_STATES: usize = 100_000;

/// Looks for an execution of the exact model that takes the steps of a way.
pub fn replay(
    program: &Program,
    frame: &Frame,
    semantics: Semantics,
    way: &Way,
    limits: &Limits,
    monitor: &Monitor,
) -> Replayed {
    let exact = semantics.exact();
    let mut rules = Rules::new(frame, exact);
    match follow(program, &mut rules, way, limits, monitor) {
        Err(_) => Replayed::Unknown,
        Ok(None) => Replayed::Spurious,
        Ok(Some((steps, end))) => {
            let execution = Execution::new(program, &rules, way, &steps, &end);
            let real = execution.and_then(|execution| execution.run(program, frame, exact));
            match real {
                Some((violation, trace)) => Replayed::Real(violation, trace),
                None => Replayed::Unknown,
            }
        }
    }
}

/// Steps on exact buffers, and the facts that make the last state wrong.
type Followed = (Vec<WayStep>, Vec<Fact>);

/// A state on the way, and how it was reached.
struct Visited {
    state: Frozen,
    zone: Zone,
    /// How many of the processes' own steps were taken.
    own: usize,
    last: Option<(usize, WayStep)>,
}

fn follow(
    program: &Program,
    rules: &mut Rules,
    way: &Way,
    limits: &Limits,
    monitor: &Monitor,
) -> Result<Option<Followed>, StopReason> {
    let judge = Judge::new(program);
    let octagon = rules.frame.octagon;
    let own: Vec<&WayStep> = way.steps.iter().filter(|step| !is_flush(step)).collect();
    let mut visited = vec![Visited {
        state: way.initial.clone(),
        zone: start(rules, program, Rounding::Exact),
        own: 0,
        last: None,
    }];
    let mut open = vec![0];
    let mut seen = AHashSet::new();
    let check = |_| monitor.stop(limits).map_or(Ok(()), Err);
    let watch = Watch::new(&check);
    while let Some(at) = open.pop() {
        let here = &visited[at];
        let (taken, state, zone) = (here.own, here.state.clone(), here.zone.clone());
        if !seen.insert((taken, state.clone(), zone.clone())) {
            continue;
        }
        watch.note(1 << 8, 0)?;
        if seen.len() > MOST_STATES {
            return Err(StopReason::MaxStates);
        }
        if taken == own.len() {
            let configs: Vec<&Config> = state.configs.iter().map(|config| &**config).collect();
            for (_, constraints) in judge.wrong(rules, &configs, &state.memory) {
                let wrong = Move {
                    constraints,
                    ..Move::default()
                };
                if zone.after(&wrong, octagon, Rounding::Exact).is_some() {
                    return Ok(Some((steps_to(&visited, at), wrong.constraints)));
                }
            }
        }
        let mut next = Vec::new();
        for process in program.process_ids() {
            let config = &state.configs[process.index()];
            let memory = |place: PlaceId| state.memory[place.index()];
            for ruled in rules.steps(process, config, &memory, &watch)? {
                let flush = matches!(ruled.step.effect, Effect::Flush(_));
                let wanted = own.get(taken).filter(|wanted| {
                    wanted.process == process
                        && wanted.path[..] == ruled.step.path[..]
                        && arrives(&ruled.step.next, &wanted.after.configs[process.index()])
                });
                if !flush && wanted.is_none() {
                    continue;
                }
                let Some(zone) = zone.after(&ruled.data, octagon, Rounding::Exact) else {
                    continue;
                };
                let mut after = state.clone();
                after.configs[process.index()] = Arc::new(ruled.step.next);
                for (place, value) in &ruled.step.writes {
                    after.memory[place.index()] = *value;
                }
                let step = WayStep {
                    process,
                    effect: ruled.step.effect,
                    path: ruled.step.path.into(),
                    data: Arc::new(ruled.data),
                    after: after.clone(),
                };
                let own = taken + usize::from(!flush);
                next.push((flush, after, zone, own, step));
            }
        }
        // The program's own step is tried first: last in, first out.
        next.sort_by_key(|(flush, ..)| !flush);
        for (_, state, zone, own, step) in next {
            open.push(visited.len());
            let last = Some((at, step));
            visited.push(Visited {
                state,
                zone,
                own,
                last,
            });
        }
    }
    Ok(None)
}

fn is_flush(step: &WayStep) -> bool {
    flushed(step.effect).is_some()
}

/// The place that a store reaches, if the step is a flush.
fn flushed(effect: Effect) -> Option<PlaceId> {
    match effect {
        Effect::Flush(entry) => Some(entry.place),
        _ => None,
    }
}

/// Whether a process arrives where it should, integers aside.
fn arrives(config: &Config, wanted: &Config) -> bool {
    match (config.at, wanted.at) {
        (At::Failed(_), At::Failed(_)) => true,
        (at, wanted_at) => at == wanted_at && config.locals == wanted.locals,
    }
}

fn steps_to(visited: &[Visited], mut at: usize) -> Vec<WayStep> {
    let mut steps = Vec::new();
    while let Some((before, step)) = &visited[at].last {
        steps.push(step.clone());
        at = *before;
    }
    steps.reverse();
    steps
}

/// An execution whose integers are known: numbers of all homes at the start and after each
/// step, and what was chosen in each step.
struct Execution<'s> {
    initial: &'s Frozen,
    steps: &'s [WayStep],
    /// One more than there are steps.
    integers: Vec<AHashMap<Home, Value>>,
    chosen: Vec<Vec<Value>>,
}

impl<'s> Execution<'s> {
    /// Chooses numbers; none if there are none, or if integers stand for several values.
    fn new(
        program: &Program,
        rules: &Rules,
        way: &'s Way,
        steps: &'s [WayStep],
        end: &[Fact],
    ) -> Option<Execution<'s>> {
        let mut unknowns = Unknowns::default();
        for (home, value) in initial_integers(program) {
            let term = match value {
                Some(value) => Term::number(value),
                None => unknowns.fresh(),
            };
            unknowns.now.insert(home, term);
        }
        let mut states = vec![unknowns.now.clone()];
        let mut chosen = Vec::new();
        for step in steps {
            chosen.push(unknowns.take(rules, &step.data)?);
            states.push(unknowns.now.clone());
        }
        let end: Option<Vec<Fact>> = end.iter().map(|fact| unknowns.fact(rules, *fact)).collect();
        unknowns.facts.extend(end?);
        let numbers = unknowns.numbers(rules.frame.octagon)?;
        let number = |term: &Term| {
            let node = term.node;
            let value = match node {
                Node::ZERO => 0,
                _ => numbers[node.integer() as usize - 1],
            };
            let positive = node == Node::of(node.integer());
            term.plus + if positive { value } else { -value }
        };
        let known = |state: &AHashMap<Home, Term>| {
            let known = state.iter().map(|(home, term)| (*home, number(term)));
            known.collect()
        };
        Some(Execution {
            initial: &way.initial,
            steps,
            integers: states.iter().map(known).collect(),
            chosen: chosen
                .iter()
                .map(|terms| terms.iter().map(number).collect())
                .collect(),
        })
    }

    /// Runs the program itself; what is wrong in the end, and how it came to that.
    fn run(
        &self,
        program: &Program,
        frame: &Frame,
        exact: Semantics,
    ) -> Option<(Violation, Trace)> {
        let initial = self.snapshot(program, self.initial, 0);
        let mut steps: Vec<TraceStep> = Vec::new();
        let mut stepper = exact.stepper(program);
        for (index, step) in self.steps.iter().enumerate() {
            let next = &step.after.configs[step.process.index()];
            let path = frame.origin(step.process, &step.path, next);
            if path.is_empty() && !is_flush(step) {
                continue;
            }
            stepper.choices = self.chosen[index].clone();
            let state = steps.last().map_or(&initial, |step| &step.after);
            let wanted = self.snapshot(program, &step.after, index + 1);
            let possible = state.steps(&stepper, &Watch::never()).ok()?;
            let taken = possible.into_iter().find(|taken| {
                taken.process == step.process
                    && taken.step.path == path
                    && flushed(taken.step.effect) == flushed(step.effect)
                    && same(&taken.after, &wanted)
            });
            steps.push(taken?);
        }
        let last = steps.last().map_or(&initial, |step| &step.after);
        let violation = last.violation(program)?;
        Some((violation, Trace { initial, steps }))
    }

    /// A state with numbers; what waits in buffers aside.
    fn snapshot(&self, program: &Program, state: &Frozen, at: usize) -> Snapshot {
        let integers = &self.integers[at];
        let mut memory = state.memory.clone();
        let mut configs: Vec<Config> = state.configs.iter().map(|c| (**c).clone()).collect();
        for (home, value) in integers {
            match home {
                Home::Place(place) => memory[place.index()] = *value,
                Home::Local(process, local) => {
                    let locals = &mut configs[process.index()].locals;
                    if let Some(known) = locals.get_mut(local.index()) {
                        *known = *value;
                    }
                }
                Home::Pending(..) | Home::Chosen(_) => {}
            }
        }
        debug_assert_eq!(memory.len(), program.places.len());
        Snapshot {
            memory,
            configs: configs.into_iter().map(Arc::new).collect(),
        }
    }
}

/// Whether two states are the same but for what waits in buffers and where statements failed.
fn same(state: &Snapshot, wanted: &Snapshot) -> bool {
    let mut configs = state.configs.iter().zip(&wanted.configs);
    state.memory == wanted.memory && configs.all(|(config, wanted)| arrives(config, wanted))
}

/// Integers as terms over what was chosen.
#[derive(Default)]
struct Unknowns {
    count: u32,
    now: AHashMap<Home, Term>,
    facts: Vec<Fact>,
}

impl Unknowns {
    fn fresh(&mut self) -> Term {
        self.count += 1;
        Term::node(Node::of(self.count))
    }

    /// Takes a step; gives what is chosen in it.
    fn take(&mut self, rules: &Rules, data: &Move) -> Option<Vec<Term>> {
        let mut chosen = Vec::new();
        for (integer, _) in &data.targets {
            let home = rules.home(*integer);
            if let Home::Chosen(_) = home {
                let fresh = self.fresh();
                self.now.insert(home, fresh);
                chosen.push(fresh);
            }
        }
        for fact in &data.constraints {
            let fact = self.fact(rules, *fact)?;
            self.facts.push(fact);
        }
        let mut changes = Vec::new();
        for (integer, assigned) in &data.targets {
            let value = match assigned {
                Assigned::Gone => None,
                Assigned::Term(term) => Some(self.term(rules, *term)?),
                Assigned::Either(_) | Assigned::OneOf(_) => return None,
            };
            changes.push((rules.home(*integer), value));
        }
        for (home, value) in changes {
            match value {
                Some(value) => self.now.insert(home, value),
                None => self.now.remove(&home),
            };
        }
        Some(chosen)
    }

    fn term(&self, rules: &Rules, term: Term) -> Option<Term> {
        if term.node == Node::ZERO {
            return Some(term);
        }
        let known = *self.now.get(&rules.home(term.node.integer()))?;
        let positive = term.node == Node::of(term.node.integer());
        let known = if positive { known } else { known.negated() };
        Some(Term {
            plus: known.plus + term.plus,
            ..known
        })
    }

    fn fact(&self, rules: &Rules, fact: Fact) -> Option<Fact> {
        let left = self.term(rules, Term::node(fact.left))?;
        let right = self.term(rules, Term::node(fact.right))?;
        Some(Fact::new(
            left.node,
            right.node,
            fact.most - left.plus + right.plus,
        ))
    }

    /// Numbers that satisfy all facts, each as near to zero as those before it allow.
    fn numbers(&self, octagon: bool) -> Option<Vec<Value>> {
        let nodes = (1..=self.count).map(Node::of);
        let mut matrix = Matrix::new(nodes.clone(), octagon);
        let mut facts = self.facts.iter();
        facts.try_for_each(|fact| matrix.add(*fact)).ok()?;
        let mut numbers = Vec::new();
        for node in nodes {
            let most = matrix.bound(node, Node::ZERO);
            let least = matrix.bound(Node::ZERO, node).saturating_neg();
            let number = 0.clamp(least, most);
            matrix.add(Fact::new(node, Node::ZERO, number)).ok()?;
            matrix.add(Fact::new(Node::ZERO, node, -number)).ok()?;
            numbers.push(number);
        }
        Some(numbers)
    }
}
