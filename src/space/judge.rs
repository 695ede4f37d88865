//! Quick judgement of new states: is something wrong with this one?
//!
//! Failures, `mutex` and `final` are decided from a few bits per configuration. All other
//! properties depend only on the class of each configuration and on the places they name;
//! they are evaluated once for each combination.

use super::intern::{ConfigId, Interner, Traits};
use super::layout::{Field, Layout, State};
use super::trace::Snapshot;
use crate::program::{Atom, Expr, PlaceId, ProcessId, Program, PropertyId, PropertyKind};
use crate::property::{self, Violation};
use ahash::AHashMap;

/// What a state means for the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Fine,
    /// Every process has stopped, every buffer is empty, and nothing is wrong.
    Final,
    Violation,
    /// A statement has failed: a violation that has no successors.
    Failure,
}

/// One thread's judge.
pub struct Judge<'a, const N: usize> {
    program: &'a Program,
    interner: &'a Interner<'a>,
    layout: &'a Layout,
    quick: Vec<Quick>,
    /// Per process, by configuration id.
    traits: Vec<Vec<Option<Traits>>>,
    general: Vec<PropertyId>,
    has_final: bool,
    /// The places that the general properties name.
    observed: State<N>,
    known: AHashMap<Vec<u64>, bool>,
    key: Vec<u64>,
}

/// How notable the configurations of one process are, at a glance.
struct Quick {
    field: Field,
    /// By configuration id.
    by_id: Vec<u8>,
}

/// A configuration that is nothing special.
const DULL: u8 = 0;
/// Of no importance if there is another process and that one is dull.
const ALONE: u8 = 1;
/// To be looked at properly.
const NOTABLE: u8 = 2;

/// The properties that are not decided by the traits of configurations alone.
pub fn general_properties(program: &Program) -> Vec<PropertyId> {
    let kind = |id: PropertyId| program.property(id).kind;
    let mutexes = program
        .property_ids()
        .filter(|id| kind(*id) == PropertyKind::Mutex);
    let quick: Vec<PropertyId> = mutexes.take(64).collect();
    let all = program.property_ids();
    all.filter(|id| kind(*id) != PropertyKind::Final && !quick.contains(id))
        .collect()
}

impl<'a, const N: usize> Judge<'a, N> {
    pub fn new(
        program: &'a Program,
        interner: &'a Interner<'a>,
        layout: &'a Layout,
    ) -> Judge<'a, N> {
        let general = general_properties(program);
        let mut observed = [0; N];
        for &id in &general {
            observe(&program.property(id).predicate, layout, &mut observed);
        }
        let finals = |property: &crate::program::Property| property.kind == PropertyKind::Final;
        Judge {
            program,
            interner,
            layout,
            quick: layout
                .configs
                .iter()
                .map(|&field| Quick {
                    field,
                    by_id: Vec::new(),
                })
                .collect(),
            traits: vec![Vec::new(); program.processes.len()],
            general,
            has_final: program.properties.iter().any(finals),
            observed,
            known: AHashMap::new(),
            key: Vec::new(),
        }
    }

    /// Judges a state.
    #[inline]
    pub fn verdict(&mut self, state: &State<N>) -> Verdict {
        let notable = self.quick.iter().map(|quick| {
            let id = quick.field.get(state) as usize;
            u32::from(*quick.by_id.get(id).unwrap_or(&NOTABLE))
        });
        match notable.sum::<u32>() < self.quick.len().min(2) as u32 {
            true => Verdict::Fine,
            false => self.full_verdict(state),
        }
    }

    fn full_verdict(&mut self, state: &State<N>) -> Verdict {
        let (mut failed, mut done) = (false, true);
        let (mut once, mut twice) = (0, 0);
        self.key.clear();
        for process in self.program.process_ids() {
            let id = ConfigId(self.layout.configs[process.index()].get(state));
            let traits = match self.traits[process.index()].get(id.index()) {
                Some(Some(traits)) => *traits,
                _ => self.add_traits(process, id),
            };
            failed |= traits.failed;
            done &= traits.done;
            twice |= once & traits.crowds;
            once |= traits.crowds;
            self.key.push(u64::from(traits.class));
        }
        if failed {
            Verdict::Failure
        } else if twice != 0 || !self.general.is_empty() && self.general_violation(state) {
            Verdict::Violation
        } else if !done {
            Verdict::Fine
        } else if self.has_final && self.violation(state).is_some() {
            Verdict::Violation
        } else {
            Verdict::Final
        }
    }

    /// What exactly is wrong with a state, deadlock aside.
    pub fn violation(&self, state: &State<N>) -> Option<Violation> {
        self.unpack(state).violation(self.program)
    }

    /// Every process has stopped and every buffer is empty.
    pub fn all_done(&self, state: &State<N>) -> bool {
        self.unpack(state).all_done(self.program)
    }

    fn unpack(&self, state: &State<N>) -> Snapshot {
        Snapshot::unpack(self.interner, self.layout, state)
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
        let bad = self.unpack(state).with_view(self.program, |view| {
            let mut properties = self.general.iter();
            properties.any(|&id| property::property(view, id).is_some())
        });
        self.known.insert(self.key.clone(), bad);
        bad
    }

    #[cold]
    fn add_traits(&mut self, process: ProcessId, id: ConfigId) -> Traits {
        let traits = self.interner.traits(process, id);
        let known = &mut self.traits[process.index()];
        if known.len() <= id.index() {
            known.resize(id.index() + 1, None);
        }
        known[id.index()] = Some(traits);
        let quick = &mut self.quick[process.index()].by_id;
        if quick.len() <= id.index() {
            quick.resize(id.index() + 1, NOTABLE);
        }
        quick[id.index()] = match traits.failed || !self.general.is_empty() {
            false if !traits.done && traits.crowds == 0 => DULL,
            false => ALONE,
            true => NOTABLE,
        };
        traits
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
        Atom::Local(..) | Atom::At(_) | Atom::Crowd(_) => {}
    });
}
