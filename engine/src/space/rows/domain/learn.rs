//! What is known of sets and of configurations.

use super::super::sets::SetId;
use super::{Facts, Known, Rows};
use crate::memory::step::At;
use crate::program::ProcessId;
use crate::space::intern::ConfigId;
use crate::space::layout::{Field, State};
use crate::space::members::Gathered;

impl<const N: usize> Rows<'_, N> {
    #[inline]
    pub(super) fn known(&mut self, set: SetId) -> &Known {
        if self.sets.get(set.index()).is_none_or(Option::is_none) {
            self.learn_set(set);
        }
        self.sets[set.index()].as_ref().expect("it is known by now")
    }

    #[cold]
    fn learn_set(&mut self, set: SetId) {
        let members = self.common.task.sets.get(set);
        let along = self.along;
        let mut seen = Vec::new();
        let (mut looks, mut live) = (Gathered::default(), Gathered::default());
        for id in members.iter() {
            let facts = self.facts(along, ConfigId(id));
            let before = looks.members.len();
            looks.add(facts.look);
            if looks.members.len() > before {
                seen.push(ConfigId(id));
            }
            if !facts.failed {
                live.add(id);
            }
        }
        let len = members.len();
        let live = match live.members.len() == len {
            true => set,
            false => self.common.task.sets.id(live.set()),
        };
        if self.sets.len() <= set.index() {
            self.sets.resize(set.index() + 1, None);
        }
        self.sets[set.index()] = Some(Known {
            members,
            len: len as u64,
            live,
            seen: seen.into(),
        });
    }

    #[inline]
    pub(super) fn facts(&mut self, process: ProcessId, id: ConfigId) -> Facts {
        match self.configs[process.index()].get(id.index()) {
            Some(Some(facts)) => *facts,
            _ => self.learn_facts(process, id),
        }
    }

    #[cold]
    fn learn_facts(&mut self, process: ProcessId, id: ConfigId) -> Facts {
        let config = self.context.interner.config(process, id);
        let look = self.looks.insert_full(self.judge.seen(process, id)).0;
        let all = &mut self.configs[process.index()];
        if all.len() <= id.index() {
            all.resize(id.index() + 1, None);
        }
        let facts = Facts {
            pending: config.buffers.size() as u32,
            failed: matches!(config.at, At::Failed(_)),
            look: look as u32,
        };
        all[id.index()] = Some(facts);
        facts
    }

    /// Some process other than that along which rows go has failed: nothing comes after any
    /// state of the row.
    pub(super) fn others_failed(&mut self, row: &State<N>) -> bool {
        self.has_failed(row, |_, _| true)
    }

    /// One of those processes other than that along which rows go has failed that are asked
    /// about.
    #[inline]
    pub(super) fn has_failed(
        &mut self,
        row: &State<N>,
        asked: impl Fn(Field, u32) -> bool,
    ) -> bool {
        let layout = self.context.layout;
        for (process, &field) in layout.configs.iter().enumerate() {
            let (process, id) = (ProcessId(process as u32), field.get(row));
            if process != self.along && asked(field, id) && self.facts(process, ConfigId(id)).failed
            {
                return true;
            }
        }
        false
    }
}
