//! How one process moves while it lags behind.
//!
//! Its instructions are those of the program under sequential consistency; what a load finds
//! and when a store is seen is decided here.

use super::member::{ConfigId, Log, Member, SnapshotId};
use super::word::{Atom, Word};
use crate::limits::{StopReason, Watch};
use crate::memory::step::{Approach, At, Config, Step, Stepper};
use crate::memory::{Atomics, Model};
use crate::program::{EdgeId, FenceKind, Instr, Loc, PlaceId, PlaceRef, Process, Value};
use crate::space::sets::{Change, Interned};
use std::rc::Rc;

/// The moves of one process.
pub struct Rules<'a> {
    /// Of sequential consistency.
    stepper: &'a Stepper<'a>,
    pub process: &'a Process,
    model: Model,
    /// Loads may look at the past.
    lags: bool,
    /// So many factors with the same letters in a row become a star.
    widening: usize,
    /// The places that are loaded, in order: what snapshots hold.
    loaded: Vec<PlaceId>,
    /// By position: what is still relevant of a log.
    relevant: Vec<Relevant>,
    configs: Interned<Config>,
    outlines: Vec<Option<Rc<[Move]>>>,
    snapshots: Interned<Box<[Value]>>,
}

/// What is still relevant of the log of a process at some position, before the next
/// instruction that brings the process to the present.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Relevant {
    /// By loaded place: it may be loaded.
    loads: Vec<bool>,
    /// There may be a fence.
    fence: bool,
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
                loaded.extend(cells(place));
            }
        }
        loaded.sort();
        loaded.dedup();
        let orders = |edge: &crate::program::Edge| {
            matches!(edge.instr, Instr::Fence(FenceKind::StoreStore))
        };
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
            widening,
            relevant: relevant(process, &loaded),
            loaded,
            configs: Interned::default(),
            outlines: Vec::new(),
            snapshots: Interned::default(),
        }
    }

    /// What the process may be doing at the start.
    pub fn start(&mut self, watch: &Watch) -> Result<Vec<Member>, StopReason> {
        let configs = self.stepper.initial(self.process, watch)?;
        let start = |config| Member {
            config: self.config_id(config),
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
        for (place, value, queues, early) in member.flushes() {
            let landed = Member {
                queues,
                ..member.clone()
            };
            let mut landed = self.landed(landed, place, value, memory);
            if early {
                // The next load comes after this.
                landed.log = Log::default();
            }
            all.push(Moved {
                writes: vec![(place, value)],
                member: landed,
            });
        }
        let outline = self.outline(member.config, watch)?;
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
        let mut from = member.clone();
        if step.fenced {
            if !from.queues.is_empty() {
                return Ok(());
            }
            from.log = from.log.fenced();
        }
        let mut add = |rules: &mut Self, writes: Change, next: Config, member: Member| {
            let config = rules.config_id(next);
            let member = Member { config, ..member };
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
                    let landed = self.landed(from, *place, *value, memory);
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
                    (FenceKind::Full, _) => from.log = from.log.fenced(),
                    (FenceKind::StoreLoad, _) => {
                        from.log = from.log.fenced();
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

    /// What a load of a place can find, each value with the log of the first moment that has
    /// it: from a later one less can be seen.
    pub fn readings(
        &self,
        member: &Member,
        place: PlaceId,
        memory: &dyn Fn(PlaceId) -> Value,
    ) -> Vec<(Value, Log)> {
        if let Some(queue) = member.queue(place) {
            return vec![(queue.newest(), member.log.clone())];
        }
        let mut all: Vec<(Value, Log)> = Vec::new();
        let mut add = |value: Value, log: &dyn Fn() -> Log| {
            if all.iter().all(|(known, _)| *known != value) {
                all.push((value, log()));
            }
        };
        let log = &member.log;
        let column = self.loaded.binary_search(&place);
        let column = column.expect("snapshots hold what is loaded");
        let value = |snapshot: &SnapshotId| self.snapshots[snapshot.index()][column];
        for (at, atom) in log.before.atoms().iter().enumerate() {
            for snapshot in atom.letters() {
                add(value(snapshot), &|| Log {
                    before: log.before.behind(at),
                    after: log.after.clone(),
                });
            }
        }
        for (at, atom) in log.after.atoms().iter().enumerate() {
            for snapshot in atom.letters() {
                add(value(snapshot), &|| Log {
                    before: Word::default(),
                    after: log.after.behind(at),
                });
            }
        }
        add(memory(place), &Log::default);
        all
    }

    /// A store of the process reaches memory. At all moments before, the process finds what it
    /// stored.
    fn landed(
        &mut self,
        member: Member,
        place: PlaceId,
        value: Value,
        memory: &dyn Fn(PlaceId) -> Value,
    ) -> Member {
        let before = self.overwritten(&member.log.all(), place, value);
        let landed = Member {
            log: Log {
                before,
                after: Word::default(),
            },
            ..member
        };
        self.normal(landed, &[(place, value)], memory)
    }

    fn overwritten(
        &mut self,
        word: &Word<SnapshotId>,
        place: PlaceId,
        value: Value,
    ) -> Word<SnapshotId> {
        let Ok(column) = self.loaded.binary_search(&place) else {
            return word.clone();
        };
        self.rewritten(word, |values| values[column] = value)
    }

    fn rewritten(
        &mut self,
        word: &Word<SnapshotId>,
        change: impl Fn(&mut [Value]),
    ) -> Word<SnapshotId> {
        let mut atoms = Word::default();
        for atom in word.atoms() {
            let letters = atom.letters().iter().map(|&old| {
                let mut values = self.snapshots[old.index()].clone();
                change(&mut values);
                SnapshotId(self.snapshots.insert_full(values).0 as u32)
            });
            atoms.push(Atom::star(letters.collect()));
        }
        atoms
    }

    /// Memory changes: the moment before is one that the process can still look at.
    pub fn observe(
        &mut self,
        member: &Member,
        before: &dyn Fn(PlaceId) -> Value,
        now: &dyn Fn(PlaceId) -> Value,
    ) -> Member {
        let mut member = member.clone();
        if self.lags {
            let seen = self.snapshot(&member, before);
            member.log.after.push(Atom::star(vec![seen]));
        }
        self.normal(member, &[], now)
    }

    /// What a process at a position sees of memory.
    fn snapshot(&mut self, member: &Member, memory: &dyn Fn(PlaceId) -> Value) -> SnapshotId {
        let values = self.loaded.iter().map(|&place| memory(place));
        let mut values: Box<[Value]> = values.collect();
        if let At::Loc(at) = self.config(member.config).at {
            self.relevant[at.index()].forget(&mut values);
        }
        SnapshotId(self.snapshots.insert_full(values).0 as u32)
    }

    /// The same member in its normal form, when memory is as given with some places
    /// overwritten: without what is not looked at any more, and without moments that are no
    /// different from the next.
    pub fn normal(
        &mut self,
        mut member: Member,
        writes: &[(PlaceId, Value)],
        memory: &dyn Fn(PlaceId) -> Value,
    ) -> Member {
        if member.log.is_empty() {
            return member;
        }
        let At::Loc(at) = self.config(member.config).at else {
            member.log = Log::default();
            return member;
        };
        if !self.lags {
            member.log = Log::default();
            return member;
        }
        let now = |place: PlaceId| {
            let written = writes.iter().find(|(other, _)| *other == place);
            written.map_or_else(|| memory(place), |(_, value)| *value)
        };
        let present = self.snapshot(&member, &now);
        let relevant = self.relevant[at.index()].clone();
        let Log { before, after } = &member.log;
        let mut before = self.rewritten(before, |values| relevant.forget(values));
        let mut after = self.rewritten(after, |values| relevant.forget(values));
        if !relevant.fence {
            before.append(&after);
            (before, after) = (Word::default(), before);
        }
        after.trim(&[present]);
        after.widen(self.widening);
        match after.atoms().first() {
            None => before.trim(&[present]),
            Some(first) => before.trim(first.letters()),
        }
        before.widen(self.widening);
        member.log = Log { before, after };
        member
    }

    pub fn outline(&mut self, id: ConfigId, watch: &Watch) -> Result<Rc<[Move]>, StopReason> {
        if let Some(known) = &self.outlines[id.index()] {
            return Ok(known.clone());
        }
        let outline = self
            .stepper
            .outline(self.process, self.config(id), watch)?;
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

impl Relevant {
    fn forget(&self, values: &mut [Value]) {
        for (value, loads) in values.iter_mut().zip(&self.loads) {
            *value = if *loads { *value } else { 0 };
        }
    }
}

/// By position, what is still relevant of a log: a backward analysis to the least fixed
/// point.
fn relevant(process: &Process, loaded: &[PlaceId]) -> Vec<Relevant> {
    let nothing = Relevant {
        loads: vec![false; loaded.len()],
        fence: false,
    };
    let mut all = vec![nothing; process.locations.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (at, location) in process.locations.iter().enumerate().rev() {
            let mut here = all[at].clone();
            here.fence |= location.fenced;
            for (_, edge) in process.edges_from(Loc(at as u32)) {
                let behind = match &edge.instr {
                    Instr::Update { .. } | Instr::Atomic(_) => continue,
                    _ => &all[edge.to.index()],
                };
                for (own, later) in here.loads.iter_mut().zip(&behind.loads) {
                    *own |= later;
                }
                here.fence |= behind.fence;
                match &edge.instr {
                    Instr::Load { place, .. } => {
                        for cell in cells(place) {
                            let at = loaded.binary_search(&cell);
                            here.loads[at.expect("it is loaded")] = true;
                        }
                    }
                    Instr::Fence(FenceKind::Full | FenceKind::StoreLoad) => here.fence = true,
                    _ => {}
                }
            }
            if here != all[at] {
                all[at] = here;
                changed = true;
            }
        }
    }
    all
}

/// The places that a reference may mean.
fn cells(place: &PlaceRef) -> impl Iterator<Item = PlaceId> {
    let cells = place.cell.as_ref().map_or(1, |(cells, _)| *cells);
    let first = place.first.0;
    (first..first + cells).map(PlaceId)
}
