//! Which states are merged, and into what.
//!
//! Two states are merged if they have the same memory and their configurations the same
//! skeletons; the result has the unions of their sets. Both are found configuration by
//! configuration, by what a thread has learnt of them: no set is looked at twice.

use crate::program::ProcessId;
use crate::space::context::Context;
use crate::space::intern::{ConfigId, SkeletonId};
use crate::space::layout::{Field, Overflow, State};
use ahash::AHashMap;

/// Unions that are found without a look into the map: at first, and at most; powers of two.
const FIRST_RECENT: usize = 1 << 6;
const MOST_RECENT: usize = 1 << 12;

/// What one thread knows of configurations and their unions.
pub struct Merger<'a, const N: usize> {
    context: Context<'a>,
    fields: Vec<Field>,
    /// Everything but the configurations.
    others: State<N>,
    /// Per process, by configuration.
    configs: Vec<Vec<Known>>,
    joins: AHashMap<(ProcessId, ConfigId, ConfigId), ConfigId>,
    /// By a hash of what was joined.
    recent: Vec<Join>,
}

/// Two configurations of a process and their union.
#[derive(Clone, Copy)]
struct Join {
    process: ProcessId,
    own: ConfigId,
    other: ConfigId,
    union: ConfigId,
}

/// What is known of a configuration.
#[derive(Clone, Copy)]
struct Known {
    skeleton: SkeletonId,
    /// The number of its pending stores.
    pending: u32,
}

const NO_SKELETON: SkeletonId = SkeletonId(u32::MAX);

const UNKNOWN: Known = Known {
    skeleton: NO_SKELETON,
    pending: 0,
};

const NO_JOIN: Join = Join {
    process: ProcessId(u32::MAX),
    own: ConfigId(0),
    other: ConfigId(0),
    union: ConfigId(0),
};

impl Join {
    #[inline]
    fn is_of(self, process: ProcessId, own: ConfigId, other: ConfigId) -> bool {
        self.own == own && self.other == other && self.process == process
    }
}

impl<'a, const N: usize> Merger<'a, N> {
    pub fn new(context: Context<'a>) -> Merger<'a, N> {
        let fields = context.layout.configs.clone();
        let mut configs = [0; N];
        for field in &fields {
            field.fill(&mut configs);
        }
        Merger {
            context,
            others: configs.map(|word: u64| !word),
            configs: vec![Vec::new(); fields.len()],
            fields,
            joins: AHashMap::new(),
            recent: vec![NO_JOIN; FIRST_RECENT],
        }
    }

    /// The key of a state: skeletons in place of configurations.
    #[inline]
    pub fn key(&mut self, state: &State<N>) -> Result<State<N>, Overflow> {
        let mut key = *state;
        for (word, others) in key.iter_mut().zip(&self.others) {
            *word &= others;
        }
        for process in 0..self.fields.len() {
            let field = self.fields[process];
            let known = self.known(process, ConfigId(field.get(state)));
            field.add(&mut key, known.skeleton.0)?;
        }
        Ok(key)
    }

    /// Whether two states are merged.
    #[inline]
    pub fn same_key(&mut self, one: &State<N>, other: &State<N>) -> bool {
        for at in 0..N {
            if (one[at] ^ other[at]) & self.others[at] != 0 {
                return false;
            }
        }
        for process in 0..self.fields.len() {
            let field = self.fields[process];
            let (one, other) = (ConfigId(field.get(one)), ConfigId(field.get(other)));
            if one != other {
                let (one, other) = (self.known(process, one), self.known(process, other));
                if one.skeleton != other.skeleton {
                    return false;
                }
            }
        }
        true
    }

    /// The union of two states; `None` if they are not merged.
    #[inline]
    pub fn join(&mut self, old: &State<N>, new: &State<N>) -> Result<Option<State<N>>, Overflow> {
        let mut joined = *old;
        for at in 0..N {
            if (old[at] ^ new[at]) & self.others[at] != 0 {
                return Ok(None);
            }
        }
        for process in 0..self.fields.len() {
            let field = self.fields[process];
            let (own, other) = (ConfigId(field.get(old)), ConfigId(field.get(new)));
            if own == other {
                continue;
            }
            let process = ProcessId(process as u32);
            let recent = self.recent[self.recent_slot(process, own, other)];
            let union = if recent.is_of(process, own, other) {
                recent.union
            } else if self.same_key(old, new) {
                self.union(process, own, other)
            } else {
                return Ok(None);
            };
            if union != own {
                field.set(&mut joined, union.0)?;
            }
        }
        Ok(Some(joined))
    }

    /// Where the union of two configurations is kept among the recent ones.
    #[inline]
    fn recent_slot(&self, process: ProcessId, own: ConfigId, other: ConfigId) -> usize {
        let mixed = (own.0.wrapping_mul(0x9e37_79b9) ^ other.0).wrapping_mul(0x85eb_ca6b);
        ((mixed >> 20) + process.0) as usize & (self.recent.len() - 1)
    }

    /// The union of two configurations with the same skeleton.
    #[cold]
    fn union(&mut self, process: ProcessId, own: ConfigId, other: ConfigId) -> ConfigId {
        let join = || self.context.interner.join(process, own, other);
        let union = *self.joins.entry((process, own, other)).or_insert_with(join);
        if self.joins.len() > self.recent.len() && self.recent.len() < MOST_RECENT {
            self.recent = vec![NO_JOIN; 4 * self.recent.len()];
        }
        let slot = self.recent_slot(process, own, other);
        self.recent[slot] = Join {
            process,
            own,
            other,
            union,
        };
        union
    }

    /// The number of pending stores that a state has, those in sets counted once each.
    #[inline]
    pub fn pending_stores(&mut self, state: &State<N>) -> usize {
        let mut pending = 0;
        for process in 0..self.fields.len() {
            let id = ConfigId(self.fields[process].get(state));
            pending += self.known(process, id).pending as usize;
        }
        pending
    }

    #[inline]
    fn known(&mut self, process: usize, id: ConfigId) -> Known {
        match self.configs[process].get(id.index()) {
            Some(&known) if known.skeleton != NO_SKELETON => known,
            _ => self.learn(process, id),
        }
    }

    #[cold]
    fn learn(&mut self, process: usize, id: ConfigId) -> Known {
        let all = &mut self.configs[process];
        if all.len() <= id.index() {
            all.resize(id.index() + 1, UNKNOWN);
        }
        let (interner, process) = (self.context.interner, ProcessId(process as u32));
        all[id.index()] = Known {
            skeleton: interner.skeleton_id(process, id),
            pending: interner.config(process, id).buffers.size() as u32,
        };
        all[id.index()]
    }

    /// Roughly the memory that it takes.
    pub fn bytes(&self) -> usize {
        let configs = self.configs.iter().map(Vec::capacity);
        configs.sum::<usize>() * size_of::<Known>()
            + (self.recent.len() + self.joins.capacity() * 8 / 7) * size_of::<Join>()
    }
}
