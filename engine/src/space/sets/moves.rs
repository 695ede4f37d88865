//! What single configurations of one process can do, found once and kept.
//!
//! A step depends on the values of the places it reads, and whether it is seen by others on
//! the values of those it writes. A *view* holds the values of all places that the process
//! accesses; a step is kept for the value that it read, so that it is found again under
//! every view that agrees there.

use super::dead;
use super::hidden::Hidden;
use super::{Budget, Ended};
use crate::ids::ids;
use crate::limits::Watch;
use crate::memory::step::{Approach, At, Config, Effect, Step, Stepper};
use crate::program::{Instr, PlaceId, Process, Value};
use crate::property;
use ahash::RandomState;
use indexmap::IndexSet;
use std::sync::Arc;

ids!(
    /// A configuration of the process.
    ConfigId,
    /// What properties see of a configuration.
    ClassId,
    /// The values of the places that the process accesses.
    ViewId,
    /// A change of memory.
    ChangeId,
);

/// Values with numbers in the order in which they were met.
pub type Interned<T> = IndexSet<T, RandomState>;

/// The places that a step changes, with their new values, in order.
pub type Change = Vec<(PlaceId, Value)>;

/// A bit for each place's number modulo the number of bits.
pub type PlaceMask = u128;

/// The bit of a place.
fn place_bit(place: PlaceId) -> PlaceMask {
    1 << (place.0 % PlaceMask::BITS)
}

/// The configurations of one process, and their steps.
pub struct Moves<'a> {
    stepper: Arc<Stepper<'a>>,
    pub process: &'a Process,
    /// The places it accesses, in order.
    places: Vec<PlaceId>,
    configs: Interned<Config>,
    pub facts: Vec<Facts>,
    classes: Interned<Class>,
    views: Interned<Box<[Value]>>,
    changes: Interned<Change>,
    /// By change: the places that it writes.
    changed: Vec<PlaceMask>,
    /// By location: the places that it needs with empty buffers.
    needs: Vec<PlaceMask>,
    /// Some configuration has a store that must wait for room.
    pub no_room: bool,
}

/// What is known of one configuration.
pub struct Facts {
    class: ClassId,
    /// The places that it needs.
    pub needs: PlaceMask,
    /// None until somebody asks.
    outline: Option<Box<Outline>>,
    pub hidden: Hidden,
    /// The configuration that stands for it, once somebody has asked.
    pub settled: Option<ConfigId>,
}

/// The steps of a configuration, as far as they are known.
pub struct Outline {
    /// Steps that read nothing.
    pub fixed: Vec<Outcome>,
    reads: Vec<Read>,
    /// Steps that may read anything.
    atomics: Vec<Approach>,
    /// By view: what the steps that may read anything lead to.
    after_atomics: Vec<(ViewId, Vec<Outcome>)>,
}

/// A step that reads one place.
struct Read {
    /// The position of the place in a view.
    at: usize,
    approach: Approach,
    /// By the value that is read.
    outcomes: Vec<(Value, Vec<Outcome>)>,
}

/// Where a step leads, and what it writes.
#[derive(PartialEq, Eq)]
pub struct Outcome {
    pub next: ConfigId,
    pub writes: Writes,
    /// A pending store reaches memory.
    pub is_flush: bool,
}

/// Places are given by their positions in a view.
#[derive(PartialEq, Eq)]
pub enum Writes {
    Nothing,
    /// The change, if it is one.
    One(usize, Value, ChangeId),
    Several(Vec<(usize, Value)>),
}

/// What properties see of a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Class {
    /// The position, if some property names it or a statement has failed there.
    pub at: Option<At>,
    /// The locals; 0 where no property names them.
    pub locals: Vec<Value>,
    /// It has stopped with empty buffers.
    pub done: bool,
}

impl Class {
    pub fn of(process: &Process, config: &Config) -> Class {
        let locals = process.locals.iter().zip(&config.locals);
        Class {
            at: match config.at {
                At::Loc(at) if !process.location(at).visible => None,
                at => Some(at),
            },
            locals: locals
                .map(|(local, value)| if local.visible { *value } else { 0 })
                .collect(),
            done: property::is_done(config, process.exit),
        }
    }
}

impl Outline {
    /// Whether what it does depends on memory.
    pub fn reads(&self) -> bool {
        !self.reads.is_empty() || !self.atomics.is_empty()
    }
}

impl<'a> Moves<'a> {
    pub fn new(stepper: Arc<Stepper<'a>>, process: &'a Process) -> Moves<'a> {
        Moves {
            stepper,
            process,
            places: accessed_places(process),
            configs: Interned::default(),
            facts: Vec::new(),
            classes: Interned::default(),
            views: Interned::default(),
            changes: Interned::default(),
            changed: Vec::new(),
            needs: dead::needs(process),
            no_room: false,
        }
    }

    /// The configurations that the process may start in.
    pub fn start(&mut self, budget: &Budget) -> Result<Vec<ConfigId>, Ended> {
        let check = |bytes| budget.check(bytes as u64);
        let all = self.stepper.initial(self.process, &Watch::new(&check))?;
        Ok(all.into_iter().map(|config| self.intern(config)).collect())
    }

    pub fn config(&self, id: ConfigId) -> &Config {
        &self.configs[id.index()]
    }

    pub fn configs(&self) -> impl ExactSizeIterator<Item = &Config> {
        self.configs.iter()
    }

    pub fn class_of(&self, config: ConfigId) -> ClassId {
        self.facts[config.index()].class
    }

    pub fn class(&self, id: ClassId) -> &Class {
        &self.classes[id.index()]
    }

    pub fn change(&self, id: ChangeId) -> &Change {
        &self.changes[id.index()]
    }

    /// The places that a change writes.
    pub fn changed(&self, id: ChangeId) -> PlaceMask {
        self.changed[id.index()]
    }

    pub fn change_id(&mut self, change: Change) -> ChangeId {
        change_id(&mut self.changes, &mut self.changed, change)
    }

    /// The places whose values decide what the steps of a configuration are and whether they
    /// change memory: those it reads, and those its steps write. A step that reads one place
    /// writes no other. None before its steps have been found.
    pub fn concerns(&self, config: ConfigId) -> Option<PlaceMask> {
        let outline = self.facts[config.index()].outline.as_ref()?;
        if !outline.atomics.is_empty() {
            return Some(PlaceMask::MAX);
        }
        let bit = |at: usize| place_bit(self.places[at]);
        let reads = outline.reads.iter().map(|read| bit(read.at));
        let writes = outline.fixed.iter().map(|outcome| match &outcome.writes {
            Writes::Nothing => 0,
            Writes::One(at, ..) => bit(*at),
            Writes::Several(_) => PlaceMask::MAX,
        });
        Some(reads.chain(writes).fold(0, |all, bits| all | bits))
    }

    /// What the process sees of memory.
    pub fn view(&mut self, memory: &[Value]) -> ViewId {
        let values = self.places.iter().map(|place| memory[place.index()]);
        ViewId(self.views.insert_full(values.collect()).0 as u32)
    }

    /// Those of some places that the process accesses.
    pub fn own(&self, places: PlaceMask) -> PlaceMask {
        let own = self.places.iter().map(|place| place_bit(*place));
        places & own.fold(0, |all, bit| all | bit)
    }

    /// The values of some places in a view.
    pub fn values(&self, view: ViewId, places: PlaceMask) -> Box<[Value]> {
        let all = self.places.iter().zip(&self.views[view.index()]);
        let some = all.filter(|(place, _)| places & place_bit(**place) != 0);
        some.map(|(_, value)| *value).collect()
    }

    /// Calls `found` for every step of a configuration: with the change that others see, if
    /// there is one, and where the step leads.
    pub fn each(
        &mut self,
        config: ConfigId,
        view: ViewId,
        budget: &mut Budget,
        mut found: impl FnMut(Option<ChangeId>, ConfigId),
    ) -> Result<(), Ended> {
        self.learn(config, view, budget)?;
        let values = &self.views[view.index()];
        let outline = self.facts[config.index()].outline.as_ref();
        let outline = outline.expect("it has just been learned");
        let reads = outline.reads.iter().flat_map(|read| {
            let known = read.outcomes.iter();
            let mut known = known.filter(|(value, _)| *value == values[read.at]);
            &known.next().expect("it has just been learned").1
        });
        let atomics = outline.after_atomics.iter();
        let atomics = atomics.filter(|(known, _)| *known == view);
        let atomics = atomics.flat_map(|(_, outcomes)| outcomes);
        for outcome in outline.fixed.iter().chain(reads).chain(atomics) {
            let change = match &outcome.writes {
                Writes::Nothing => None,
                Writes::One(at, value, change) => (values[*at] != *value).then_some(*change),
                Writes::Several(writes) => {
                    let seen = writes.iter().filter(|(at, value)| values[*at] != *value);
                    let seen: Change = seen.map(|(at, value)| (self.places[*at], *value)).collect();
                    match seen.is_empty() {
                        true => None,
                        false => Some(change_id(&mut self.changes, &mut self.changed, seen)),
                    }
                }
            };
            found(change, outcome.next);
        }
        Ok(())
    }

    /// The steps of a configuration as far as they do not depend on memory.
    pub fn outlined(&mut self, config: ConfigId, budget: &mut Budget) -> Result<&Outline, Ended> {
        if self.facts[config.index()].outline.is_none() {
            let outline = self.outline(config, budget)?;
            self.facts[config.index()].outline = Some(outline);
        }
        let outline = self.facts[config.index()].outline.as_ref();
        Ok(outline.expect("it has just been made"))
    }

    /// The same, if it was asked for before.
    pub fn known(&self, config: ConfigId) -> &Outline {
        let outline = self.facts[config.index()].outline.as_ref();
        outline.expect("it was asked for before")
    }

    /// Finds out what a configuration does under a view, unless that is known.
    fn learn(&mut self, config: ConfigId, view: ViewId, budget: &mut Budget) -> Result<(), Ended> {
        self.outlined(config, budget)?;
        let outline = self.facts[config.index()].outline.as_ref();
        let outline = outline.expect("it has just been made");
        let values = &self.views[view.index()];
        let unknown = |read: &&Read| {
            read.outcomes
                .iter()
                .all(|(value, _)| *value != values[read.at])
        };
        let reads: Vec<usize> = match outline.reads.iter().any(|read| unknown(&read)) {
            true => (0..outline.reads.len())
                .filter(|&index| unknown(&&outline.reads[index]))
                .collect(),
            false => Vec::new(),
        };
        for index in reads {
            let outcomes = self.finish(config, view, budget, |outline| {
                std::slice::from_ref(&outline.reads[index].approach)
            })?;
            let outline = self.facts[config.index()].outline.as_mut();
            let read = &mut outline.expect("it has just been made").reads[index];
            let value = self.views[view.index()][read.at];
            debug_assert!(outcomes.iter().all(|outcome| match outcome.writes {
                Writes::Nothing => true,
                Writes::One(at, ..) => at == read.at,
                Writes::Several(_) => false,
            }));
            read.outcomes.push((value, outcomes));
        }
        let outline = self.facts[config.index()].outline.as_ref();
        let outline = outline.expect("it has just been made");
        let known = |(known, _): &(ViewId, _)| *known == view;
        if !outline.atomics.is_empty() && !outline.after_atomics.iter().any(known) {
            let outcomes = self.finish(config, view, budget, |outline| &outline.atomics)?;
            let outline = self.facts[config.index()].outline.as_mut();
            let outline = outline.expect("it has just been made");
            outline.after_atomics.push((view, outcomes));
        }
        Ok(())
    }

    /// Takes the last edges of some approaches under a view.
    fn finish(
        &mut self,
        config: ConfigId,
        view: ViewId,
        budget: &mut Budget,
        approaches: impl Fn(&Outline) -> &[Approach],
    ) -> Result<Vec<Outcome>, Ended> {
        budget.go_on()?;
        let mut taken: Vec<Step> = Vec::new();
        {
            let check = |bytes| budget.check(bytes as u64);
            let watch = Watch::new(&check);
            let values = &self.views[view.index()];
            let memory = |place: PlaceId| values[position(&self.places, place)];
            let outline = self.facts[config.index()].outline.as_ref();
            let state = &self.configs[config.index()];
            for approach in approaches(outline.expect("an outline comes first")) {
                let steps = &self.stepper;
                let steps = steps.finish(self.process, state, approach, &memory, &watch)?;
                taken.extend(steps);
            }
        }
        let outcomes: Vec<Outcome> = taken.into_iter().map(|step| self.outcome(step)).collect();
        budget.bytes += 32 + (outcomes.len() * size_of::<Outcome>()) as u64;
        Ok(outcomes)
    }

    fn outline(&mut self, config: ConfigId, budget: &mut Budget) -> Result<Box<Outline>, Ended> {
        budget.go_on()?;
        let outline = {
            let check = |bytes| budget.check(bytes as u64);
            let state = &self.configs[config.index()];
            (self.stepper).outline(self.process, state, &Watch::new(&check))?
        };
        self.no_room |= outline.no_room;
        let fixed = outline.fixed.into_iter();
        let fixed: Vec<Outcome> = fixed.map(|step| self.outcome(step)).collect();
        let reads = outline.reads.into_iter().map(|(place, approach)| Read {
            at: position(&self.places, place),
            approach,
            outcomes: Vec::new(),
        });
        let outline = Box::new(Outline {
            fixed,
            reads: reads.collect(),
            atomics: outline.atomics,
            after_atomics: Vec::new(),
        });
        let approaches = outline.reads.len() + outline.atomics.len();
        budget.bytes += (outline.fixed.len() * size_of::<Outcome>()
            + approaches * 2 * size_of::<Read>()
            + size_of::<(Facts, Outline)>()
            + self.configs[config.index()].bytes()) as u64;
        Ok(outline)
    }

    fn outcome(&mut self, step: Step) -> Outcome {
        let is_flush = matches!(step.effect, Effect::Flush(_));
        let mut writes = step.writes;
        writes.sort();
        let writes = match writes[..] {
            [] => Writes::Nothing,
            [(place, value)] => {
                let change = self.change_id(writes);
                Writes::One(position(&self.places, place), value, change)
            }
            _ => Writes::Several(
                writes
                    .into_iter()
                    .map(|(place, value)| (position(&self.places, place), value))
                    .collect(),
            ),
        };
        Outcome {
            next: self.intern(step.next),
            writes,
            is_flush,
        }
    }

    pub fn intern(&mut self, config: Config) -> ConfigId {
        let (id, new) = self.configs.insert_full(config);
        if new {
            let config = &self.configs[id];
            let needs = dead::needs_of(&self.needs, config);
            let class = Class::of(self.process, config);
            self.facts.push(Facts {
                class: ClassId(self.classes.insert_full(class).0 as u32),
                needs,
                outline: None,
                hidden: Hidden::Unknown,
                settled: None,
            });
        }
        ConfigId(id as u32)
    }
}

/// The id of a change, with a note of the places that it writes.
fn change_id(
    changes: &mut Interned<Change>,
    changed: &mut Vec<PlaceMask>,
    change: Change,
) -> ChangeId {
    let (id, new) = changes.insert_full(change);
    if new {
        let places = changes[id].iter().map(|(place, _)| place_bit(*place));
        changed.push(places.fold(0, |all, bit| all | bit));
    }
    ChangeId(id as u32)
}

fn position(places: &[PlaceId], place: PlaceId) -> usize {
    let at = places.binary_search(&place);
    at.expect("a process accesses what its steps read and write")
}

/// The places that a process reads or writes, in order.
pub fn accessed_places(process: &Process) -> Vec<PlaceId> {
    let mut places = Vec::new();
    for edge in &process.edges {
        accessed(&edge.instr, &mut places);
    }
    places.sort();
    places.dedup();
    places
}

/// The places that an instruction reads or writes.
fn accessed(instr: &Instr, out: &mut Vec<PlaceId>) {
    match instr {
        Instr::Store { place, .. } | Instr::Load { place, .. } | Instr::Update { place, .. } => {
            out.extend(place.places());
        }
        Instr::Atomic(body) => body.iter().for_each(|(instr, _)| accessed(instr, out)),
        Instr::Pass
        | Instr::Skip
        | Instr::Assign { .. }
        | Instr::Havoc { .. }
        | Instr::Guard { .. }
        | Instr::Assert { .. }
        | Instr::Fence(_) => {}
    }
}
