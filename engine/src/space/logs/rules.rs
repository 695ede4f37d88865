//! How one process moves while it lags behind.
//!
//! Its instructions are those of the program under sequential consistency; what a load finds
//! and when a store is seen is decided here.

use super::member::{ConfigId, Flush, Log, Member, SnapshotId};
use super::moments::NormalForms;
use super::relevant::{Relevant, is_present, relevant};
use crate::limits::{StopReason, Watch};
use crate::memory::step::{Approach, At, Config, Step, Stepper};
use crate::memory::{Atomics, Model};
use crate::program::{EdgeId, FenceKind, Instr, PlaceId, Process, Value};
use crate::space::sets::{Change, Interned};
use std::rc::Rc;

/// The moves of one process.
pub struct Rules<'a> {
    /// Of sequential consistency.
    pub(super) stepper: &'a Stepper<'a>,
    pub process: &'a Process,
    pub(super) model: Model,
    /// Loads may look at the past.
    pub(super) lags: bool,
    /// Nothing ever brings it to the present. Its loads may then look at the past whether there
    /// is a store before them or not: that adds no behaviour, and keeps the moments in one
    /// word.
    pub(super) free: bool,
    /// So many factors with the same letters in a row become a star.
    pub(super) widening: usize,
    /// The places that are loaded, in order: what snapshots hold.
    pub(super) loaded: Vec<PlaceId>,
    /// By position: what is still relevant of a log.
    pub(super) relevant: Vec<Rc<Relevant>>,
    pub(super) configs: Interned<Config>,
    pub(super) outlines: Vec<Option<Rc<[Move]>>>,
    pub(super) snapshots: Interned<Box<[Value]>>,
    pub(super) normal_forms: NormalForms,
}

/// An instruction, with the local steps before it.
pub struct Move {
    pub path: Rc<[EdgeId]>,
    /// It passes a fence that was placed.
    pub fenced: bool,
    pub act: Act,
}

pub enum Act {
    /// Nothing that concerns memory.
    Local(Step),
    Store(PlaceId, Value, Step),
    Fence(FenceKind, Step),
    Load(PlaceId, Approach),
    Update(PlaceId, Approach),
    Atomic(Approach),
}

/// A move of a process: what it writes to memory now, and what it becomes.
pub struct Moved {
    pub writes: Change,
    pub member: Member,
}

impl<'a> Rules<'a> {
    pub fn new(
        stepper: &'a Stepper<'a>,
        process: &'a Process,
        model: Model,
        widening: usize,
    ) -> Rules<'a> {
        let mut loaded: Vec<PlaceId> = Vec::new();
        for edge in &process.edges {
            if let Instr::Load { place, .. } = &edge.instr {
                loaded.extend(place.places());
            }
        }
        loaded.sort();
        loaded.dedup();
        let orders =
            |edge: &crate::program::Edge| matches!(edge.instr, Instr::Fence(FenceKind::StoreStore));
        let free = process.edges.iter().all(|edge| !is_present(&edge.instr))
            && process.locations.iter().all(|location| !location.fenced);
        Rules {
            stepper,
            process,
            model,
            lags: match model {
                Model::Sc => false,
                Model::Tso => true,
                // Queues alone let stores be late; they cannot say that one is before another.
                Model::Pso => process.edges.iter().any(orders),
            },
            free,
            widening,
            relevant: relevant(process, &loaded, free || model == Model::Pso),
            loaded,
            configs: Interned::default(),
            outlines: Vec::new(),
            snapshots: Interned::default(),
            normal_forms: NormalForms::default(),
        }
    }

    /// What the process may be doing at the start.
    pub fn start(&mut self, watch: &Watch) -> Result<Vec<Member>, StopReason> {
        let configs = self.stepper.initial(self.process, watch)?;
        let start = |config| Member {
            config: self.config_id(config),
            drained: false,
            log: Log::default(),
            queues: Vec::new(),
        };
        Ok(configs.into_iter().map(start).collect())
    }

    pub fn config(&self, id: ConfigId) -> &Config {
        &self.configs[id.index()]
    }

    pub fn configs(&self) -> impl ExactSizeIterator<Item = &Config> {
        self.configs.iter()
    }

    /// Loads may look at the past.
    pub fn lags(&self) -> bool {
        self.lags
    }

    pub fn model(&self) -> Model {
        self.model
    }

    pub fn atomics(&self) -> Atomics {
        self.stepper.semantics.atomics
    }

    /// Takes the last edge of an approach.
    pub fn finish(
        &self,
        config: ConfigId,
        approach: &Approach,
        memory: &dyn Fn(PlaceId) -> Value,
        watch: &Watch,
    ) -> Result<Vec<Step>, StopReason> {
        let config = self.config(config);
        self.stepper
            .finish(self.process, config, approach, memory, watch)
    }

    /// The values of a snapshot.
    pub fn values(&self, id: SnapshotId) -> &[Value] {
        &self.snapshots[id.index()]
    }

    /// The snapshot with these values; none if they are too many or too few.
    pub fn snapshot_id(&mut self, values: &[Value]) -> Option<SnapshotId> {
        let fits = values.len() == self.loaded.len();
        fits.then(|| SnapshotId(self.snapshots.insert_full(values.into()).0 as u32))
    }

    pub fn config_id(&mut self, config: Config) -> ConfigId {
        let (id, new) = self.configs.insert_full(config);
        if new {
            self.outlines.push(None);
        }
        ConfigId(id as u32)
    }

    /// It has stopped, and nothing of it is on its way to memory.
    pub fn is_done(&self, member: &Member) -> bool {
        self.config(member.config).at == At::Loc(self.process.exit) && member.queues.is_empty()
    }

    /// Every move of a member.
    pub fn moves(
        &mut self,
        member: &Member,
        memory: &dyn Fn(PlaceId) -> Value,
        watch: &Watch,
    ) -> Result<Vec<Moved>, StopReason> {
        let mut all = Vec::new();
        for flush in member.flushes() {
            let Flush {
                place,
                value,
                early,
                queues,
            } = flush;
            let landed = Member {
                queues,
                ..member.clone()
            };
            let mut landed = self.landed(landed, member.config, place, value, memory);
            if early {
                // The next load comes later.
                landed.log = Log::default();
            }
            let writes = vec![(place, value)];
            let member = self.normal(landed, &writes, memory);
            all.push(Moved { writes, member });
        }
        let outline = self.outline(member.config, watch)?;
        if self.lags && self.may_drain(member) && outline.iter().any(|step| step.fenced) {
            all.push(Moved {
                writes: Vec::new(),
                member: Member {
                    drained: true,
                    log: Log::default(),
                    ..member.clone()
                },
            });
        }
        for step in outline.iter() {
            self.act(member, step, memory, watch, &mut all)?;
        }
        Ok(all)
    }

    fn act(
        &mut self,
        member: &Member,
        step: &Move,
        memory: &dyn Fn(PlaceId) -> Value,
        watch: &Watch,
        all: &mut Vec<Moved>,
    ) -> Result<(), StopReason> {
        if !self.passes(member, step) {
            return Ok(());
        }
        let mut from = member.clone();
        let mut add = |rules: &mut Self, writes: Change, next: Config, member: Member| {
            let config = rules.config_id(next);
            let member = Member {
                config,
                drained: false,
                ..member
            };
            let member = rules.normal(member, &writes, memory);
            all.push(Moved { writes, member });
        };
        match &step.act {
            Act::Local(step) => add(self, Vec::new(), step.next.clone(), from),
            Act::Store(place, value, step) => match self.model {
                Model::Pso => {
                    from.enqueue(*place, *value, self.widening);
                    add(self, Vec::new(), step.next.clone(), from);
                }
                Model::Sc | Model::Tso => {
                    let config = self.config_id(step.next.clone());
                    let landed = self.landed(from, config, *place, *value, memory);
                    add(self, vec![(*place, *value)], step.next.clone(), landed);
                }
            },
            Act::Fence(kind, step) => {
                match (kind, self.model) {
                    (FenceKind::StoreStore, Model::Sc | Model::Tso) => {}
                    (FenceKind::StoreStore, Model::Pso) | (FenceKind::Full, _)
                        if !from.queues.is_empty() =>
                    {
                        return Ok(());
                    }
                    (FenceKind::StoreStore, Model::Pso) => {}
                    (FenceKind::Full, _) => from.log = Log::default(),
                    (FenceKind::StoreLoad, _) => {
                        from.log = Log::default();
                        from.mark_early(self.widening);
                    }
                }
                add(self, Vec::new(), step.next.clone(), from);
            }
            Act::Load(place, approach) => {
                if from.delays_loads() {
                    return Ok(());
                }
                for (value, log) in self.readings(&from, *place, memory) {
                    for step in self.finish(member.config, approach, &|_| value, watch)? {
                        let from = Member {
                            log: log.clone(),
                            ..from.clone()
                        };
                        add(self, Vec::new(), step.next, from);
                    }
                }
            }
            Act::Update(place, approach) => {
                let waits = match self.atomics() {
                    Atomics::DrainAll => !from.queues.is_empty(),
                    Atomics::DrainPlace => from.queue(*place).is_some() || from.delays_loads(),
                };
                if !waits {
                    self.at_present(from, approach, memory, watch, &mut add)?;
                }
            }
            Act::Atomic(approach) => {
                if from.queues.is_empty() {
                    self.at_present(from, approach, memory, watch, &mut add)?;
                }
            }
        }
        Ok(())
    }

    /// It can pass the fence before its next instruction now.
    fn may_drain(&self, member: &Member) -> bool {
        member.queues.is_empty() && !member.drained
    }

    /// Whether a member can take a step as far as fences on the way are concerned. One that has
    /// passed a fence takes no other steps.
    pub fn passes(&self, member: &Member, step: &Move) -> bool {
        match (step.fenced, self.lags) {
            (true, true) => member.drained,
            (true, false) => member.queues.is_empty(),
            (false, _) => !member.drained,
        }
    }

    /// Steps directly on memory: the process is at the present.
    fn at_present(
        &mut self,
        from: Member,
        approach: &Approach,
        memory: &dyn Fn(PlaceId) -> Value,
        watch: &Watch,
        add: &mut dyn FnMut(&mut Self, Change, Config, Member),
    ) -> Result<(), StopReason> {
        let from = Member {
            log: Log::default(),
            ..from
        };
        for step in self.finish(from.config, approach, memory, watch)? {
            let mut writes = step.writes;
            writes.sort();
            add(self, writes, step.next, from.clone());
        }
        Ok(())
    }

    pub fn outline(&mut self, id: ConfigId, watch: &Watch) -> Result<Rc<[Move]>, StopReason> {
        if let Some(known) = &self.outlines[id.index()] {
            return Ok(known.clone());
        }
        let outline = self.stepper.outline(self.process, self.config(id), watch)?;
        let fixed = outline.fixed.into_iter().map(|step| {
            let last = *step.path.last().expect("nothing is flushed");
            let failed = matches!(step.next.at, At::Failed(_));
            let path: Rc<[EdgeId]> = step.path[..].into();
            let act = match &self.process.edge(last).instr {
                Instr::Store { .. } if !failed => {
                    let (place, value) = step.writes[0];
                    Act::Store(place, value, step)
                }
                Instr::Fence(kind) => Act::Fence(*kind, step),
                _ => Act::Local(step),
            };
            (path, act)
        });
        let reads = outline.reads.into_iter().map(|(place, approach)| {
            let path: Rc<[EdgeId]> = approach.path[..].into();
            let last = *path.last().expect("an approach has a last edge");
            let act = match &self.process.edge(last).instr {
                Instr::Update { .. } => Act::Update(place, approach),
                _ => Act::Load(place, approach),
            };
            (path, act)
        });
        let atomics = outline.atomics.into_iter().map(|approach| {
            let path: Rc<[EdgeId]> = approach.path[..].into();
            (path, Act::Atomic(approach))
        });
        let fenced = |id: &EdgeId| self.process.location(self.process.edge(*id).from).fenced;
        let moves = fixed.chain(reads).chain(atomics).map(|(path, act)| Move {
            fenced: path.iter().any(fenced),
            path,
            act,
        });
        let moves: Rc<[Move]> = moves.collect();
        self.outlines[id.index()] = Some(moves.clone());
        Ok(moves)
    }
}
