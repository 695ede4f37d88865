//! Judgement of new states: is something wrong with this one?
//!
//! Failures, `mutex` and `final` are decided from a few bits per configuration. All other
//! properties depend only on the class of each configuration and on the places they name;
//! they are evaluated once for each combination. Most states are not even looked at that
//! closely: they pass the [`Screen`].

use super::context::Context;
use super::intern::{ClassId, ConfigId};
use super::layout::{Field, Layout, State};
use super::search::Goal;
use super::sequential::SequentialStates;
use super::trace::Snapshot;
use crate::memory::step::At;
use crate::program::{
    Atom, Expr, Loc, PlaceId, ProcessId, Program, Property, PropertyId, PropertyKind,
};
use crate::property::{self, Violation};
use ahash::AHashMap;

/// What a state means for the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    Fine,
    /// Every process has stopped, every buffer is empty, and nothing is wrong.
    Final,
    Violation,
    /// A statement has failed: a violation that has no successors.
    Failure,
}

impl Judgement {
    /// Something is wrong.
    pub fn is_violation(self) -> bool {
        matches!(self, Judgement::Violation | Judgement::Failure)
    }
}

/// One thread's judge.
pub struct Judge<'a, const N: usize> {
    context: Context<'a>,
    /// Per process.
    screens: Vec<Screen>,
    /// Per process, by configuration.
    summaries: Vec<Vec<Option<Summary>>>,
    /// The properties that are not decided by the summaries of configurations alone.
    general: Vec<PropertyId>,
    has_final: bool,
    /// States without pending stores must be among these.
    sequential: Option<&'a SequentialStates>,
    /// The places that the general properties name.
    observed: State<N>,
    /// Whether a general property is violated, by what these properties see.
    known: AHashMap<Vec<u64>, bool>,
    key: Vec<u64>,
}

/// The weights of one process's configurations. A state whose weights add up to less than
/// two (one, if there is only one process) is fine and needs no closer look.
struct Screen {
    field: Field,
    /// By configuration.
    weights: Vec<u8>,
}

/// The weight of a configuration that is part of no violation and of no final state.
const HARMLESS: u8 = 0;
/// The weight of one that has stopped or is at the label of a `mutex`: it takes another
/// such process to make a final state or a violation.
const ONE_OF_TWO: u8 = 1;
/// The weight of one that is not known yet, or that alone may make a violation.
const EXAMINE: u8 = 2;

/// What properties see of a configuration.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Summary {
    /// A statement of it has failed.
    failed: bool,
    /// It has stopped and its buffers are empty.
    done: bool,
    /// Its buffers are empty.
    drained: bool,
    /// For each `mutex` property of [`mutexes`]: whether it is at the label.
    mutexes: u64,
    /// Configurations of one class look the same to the general properties.
    class: ClassId,
}

/// The `mutex` properties that a bit in each summary decides, and their positions.
fn mutexes(program: &Program) -> impl Iterator<Item = (PropertyId, &[(ProcessId, Loc)])> {
    let mutex = |id: PropertyId| match &program.property(id).predicate {
        Expr::Atom(Atom::TwoAt(positions)) => Some((id, &positions[..])),
        _ => None,
    };
    program
        .property_ids()
        .filter_map(mutex)
        .take(u64::BITS as usize)
}

/// The properties that are not decided by the summaries of configurations alone.
fn general_properties(program: &Program) -> Vec<PropertyId> {
    let by_summary: Vec<PropertyId> = mutexes(program).map(|(id, _)| id).collect();
    let general = program
        .property_ids()
        .filter(|id| program.property(*id).kind != PropertyKind::Final && !by_summary.contains(id));
    general.collect()
}

impl<'a, const N: usize> Judge<'a, N> {
    pub fn new(context: Context<'a>) -> Judge<'a, N> {
        let (program, layout) = (context.program(), context.layout);
        let general = general_properties(program);
        let mut observed = [0; N];
        for &id in &general {
            observe(&program.property(id).predicate, layout, &mut observed);
        }
        let screen = |&field: &Field| Screen {
            field,
            weights: Vec::new(),
        };
        let is_final = |property: &Property| property.kind == PropertyKind::Final;
        Judge {
            context,
            screens: layout.configs.iter().map(screen).collect(),
            summaries: vec![Vec::new(); program.processes.len()],
            general,
            has_final: program.properties.iter().any(is_final),
            sequential: match context.search.goal {
                Goal::Robustness(states) => Some(states),
                _ => None,
            },
            observed,
            known: AHashMap::new(),
            key: Vec::new(),
        }
    }

    /// Judges a state.
    #[inline]
    pub fn judge(&mut self, state: &State<N>) -> Judgement {
        let weights = self.screens.iter().map(|screen| {
            let id = ConfigId(screen.field.get(state));
            u32::from(*screen.weights.get(id.index()).unwrap_or(&EXAMINE))
        });
        match weights.sum::<u32>() < self.screens.len().min(2) as u32 {
            true => Judgement::Fine,
            false => self.examine(state),
        }
    }

    fn examine(&mut self, state: &State<N>) -> Judgement {
        let (mut failed, mut done, mut drained) = (false, true, true);
        let (mut once, mut twice) = (0, 0);
        self.key.clear();
        for process in self.context.program().process_ids() {
            let id = ConfigId(self.context.layout.configs[process.index()].get(state));
            let summary = match self.summaries[process.index()].get(id.index()) {
                Some(Some(summary)) => *summary,
                _ => self.add_summary(process, id),
            };
            failed |= summary.failed;
            done &= summary.done;
            drained &= summary.drained;
            twice |= once & summary.mutexes;
            once |= summary.mutexes;
            self.key.push(u64::from(summary.class.0));
        }
        if failed {
            Judgement::Failure
        } else if twice != 0
            || !self.general.is_empty() && self.general_violation(state)
            || drained && self.lacks(state)
        {
            Judgement::Violation
        } else if !done {
            Judgement::Fine
        } else if self.has_final && self.violation(state).is_some() {
            Judgement::Violation
        } else {
            Judgement::Final
        }
    }

    /// What is known of a configuration, and its class: in two states that differ only in
    /// configurations for which this is the same, the same is wrong.
    pub fn seen(&self, process: ProcessId, id: ConfigId) -> (Summary, ClassId) {
        let interner = self.context.interner;
        let class = interner.class_id(process, &interner.config(process, id));
        (self.summary(process, id), class)
    }

    /// Sequential consistency would have to reach the state, and does not.
    fn lacks(&self, state: &State<N>) -> bool {
        let sequential = self.sequential;
        sequential.is_some_and(|sequential| sequential.lack(&self.unpack(state)))
    }

    /// What exactly is wrong with a state, standstills aside.
    pub fn violation(&self, state: &State<N>) -> Option<Violation> {
        self.context.violation(&self.unpack(state))
    }

    fn unpack(&self, state: &State<N>) -> Snapshot {
        self.context.unpack(state)
    }

    fn general_violation(&mut self, state: &State<N>) -> bool {
        let places = state
            .iter()
            .zip(self.observed)
            .map(|(word, mask)| word & mask);
        self.key.extend(places);
        if let Some(bad) = self.known.get(&self.key) {
            return *bad;
        }
        let bad = self
            .unpack(state)
            .with_view(self.context.program(), |view| {
                let mut properties = self.general.iter();
                properties.any(|&id| property::property(view, id).is_some())
            });
        self.known.insert(self.key.clone(), bad);
        bad
    }

    #[cold]
    fn add_summary(&mut self, process: ProcessId, id: ConfigId) -> Summary {
        let summary = self.summary(process, id);
        let alone = summary.failed || !self.general.is_empty() || self.sequential.is_some();
        let weight = match alone {
            false if !summary.done && summary.mutexes == 0 => HARMLESS,
            false => ONE_OF_TWO,
            true => EXAMINE,
        };
        let summaries = &mut self.summaries[process.index()];
        let weights = &mut self.screens[process.index()].weights;
        if summaries.len() <= id.index() {
            summaries.resize(id.index() + 1, None);
            weights.resize(id.index() + 1, EXAMINE);
        }
        summaries[id.index()] = Some(summary);
        weights[id.index()] = weight;
        summary
    }

    fn summary(&self, process: ProcessId, id: ConfigId) -> Summary {
        let program = self.context.program();
        let config = self.context.interner.config(process, id);
        let automaton = program.process(process);
        let here = |&(owner, at): &(ProcessId, Loc)| owner == process && config.at == At::Loc(at);
        let mutexes = mutexes(program).enumerate();
        let mutexes = mutexes.filter(|(_, (_, positions))| positions.iter().any(here));
        Summary {
            failed: matches!(config.at, At::Failed(_)),
            done: property::is_done(&config, automaton.exit),
            drained: config.buffers.is_empty(),
            mutexes: mutexes.fold(0, |bits, (index, _)| bits | 1 << index),
            class: match self.general.is_empty() {
                true => ClassId(0),
                false => self.context.interner.class_id(process, &config),
            },
        }
    }
}

/// Adds the fields of the places that a predicate names.
fn observe<const N: usize>(predicate: &Expr<Atom>, layout: &Layout, mask: &mut State<N>) {
    predicate.atoms(&mut |atom| match atom {
        Atom::Place(place) => layout.places[place.index()].fill(mask),
        Atom::Cell { first, len, index } => {
            for cell in first.0..first.0 + len {
                layout.places[PlaceId(cell).index()].fill(mask);
            }
            observe(index, layout, mask);
        }
        Atom::Local(..) | Atom::At(_) | Atom::TwoAt(_) => {}
    });
}
