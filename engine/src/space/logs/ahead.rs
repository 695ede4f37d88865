//! Processes that run ahead of their stores.
//!
//! In a state of this search every store that a process has run is in memory. In an execution
//! it may have gone on with stores that are still in its buffer. For who looks at processes alone
//! that makes no difference: the stores may land while everybody else waits. A property
//! that looks at memory, too, sees the difference: for it each process is also taken as far as
//! it gets with stores that never land.

use super::member::Member;
use super::process::{ClassSetId, ProcessLogs, SetId, ViewId};
use super::rules::{Act, Rules};
use crate::limits::{StopReason, Watch};
use crate::memory::Model;
use crate::memory::step::{At, Config};
use crate::program::{FenceKind, PlaceId, Value};
use crate::space::sets::{Budget, Class, Ended};
use indexmap::IndexSet;

/// A process with stores that do not land.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Ahead {
    member: Member,
    /// What it finds at places that it has stored to, in order.
    own: Vec<(PlaceId, Value)>,
    /// A store-load fence has been passed: loads wait for ever.
    delayed: bool,
}

impl ProcessLogs<'_> {
    /// What properties see of a set and of everything that runs ahead of it.
    pub fn ahead(
        &mut self,
        set: SetId,
        view: ViewId,
        budget: &mut Budget,
    ) -> Result<ClassSetId, Ended> {
        if !self.rules.lags() {
            return Ok(self.summary(set).classes);
        }
        if let Some(&known) = self.runs_ahead.get(&(set, view)) {
            return Ok(known);
        }
        let mut classes = self.classes(self.summary(set).classes).to_vec();
        let start = self.members(set).map(|member| Ahead {
            member: member.clone(),
            own: Vec::new(),
            delayed: false,
        });
        let mut all: IndexSet<Ahead> = start.collect();
        let mut next = 0;
        while let Some(now) = all.get_index(next).cloned() {
            next += 1;
            budget.spend(8)?;
            budget.check_states(all.len() as u64)?;
            let check = |bytes| budget.check(bytes as u64);
            let (rules, memory) = self.rules_and_memory(view);
            for ahead in rules.ahead(&now, &memory, &Watch::new(&check))? {
                let config = rules.config(ahead.member.config);
                if let At::Loc(_) = config.at {
                    classes.push(Class {
                        done: false,
                        ..Class::of(rules.process, config)
                    });
                    all.insert(ahead);
                }
            }
        }
        classes.sort();
        classes.dedup();
        let id = self.class_set_id(classes);
        self.runs_ahead.insert((set, view), id);
        Ok(id)
    }
}

impl Rules<'_> {
    /// The moves of a process that is ahead, or that get it ahead.
    fn ahead(
        &mut self,
        now: &Ahead,
        memory: &dyn Fn(PlaceId) -> Value,
        watch: &Watch,
    ) -> Result<Vec<Ahead>, StopReason> {
        let is_ahead = !now.own.is_empty();
        let outline = self.outline(now.member.config, watch)?;
        let mut all = Vec::new();
        for step in outline.iter() {
            if !self.passes(&now.member, step) {
                continue;
            }
            let mut next = now.clone();
            let mut add = |rules: &mut Self, config: &Config, next: Ahead| {
                let config = rules.config_id(config.clone());
                let member = Member {
                    config,
                    drained: false,
                    ..next.member
                };
                let member = rules.normal(member, &[], memory);
                all.push(Ahead { member, ..next });
            };
            match &step.act {
                Act::Store(place, value, step) if is_ahead || self.model() == Model::Tso => {
                    next.store(*place, *value);
                    add(self, &step.next, next);
                }
                Act::Fence(FenceKind::StoreStore, step) => {
                    if self.model() == Model::Pso {
                        next.delayed |= next.member.delays_loads();
                        for (place, queue) in std::mem::take(&mut next.member.queues) {
                            next.store(place, queue.newest());
                        }
                    }
                    if !next.own.is_empty() {
                        add(self, &step.next, next);
                    }
                }
                Act::Fence(FenceKind::StoreLoad, step) if is_ahead => {
                    next.delayed = true;
                    add(self, &step.next, next);
                }
                Act::Local(step) if is_ahead => add(self, &step.next, next),
                Act::Load(place, approach) if is_ahead && !next.delayed => {
                    let own = next.own.iter().find(|(other, _)| other == place);
                    let readings = match own {
                        Some((_, value)) => vec![(*value, next.member.log.clone())],
                        None => self.readings(&next.member, *place, memory),
                    };
                    for (value, log) in readings {
                        for step in self.finish(next.member.config, approach, &|_| value, watch)? {
                            let mut next = next.clone();
                            next.member.log = log.clone();
                            add(self, &step.next, next);
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(all)
    }
}

impl Ahead {
    /// What comes behind it may look at the past.
    fn store(&mut self, place: PlaceId, value: Value) {
        self.member.log.behind_store = true;
        match self.own.binary_search_by_key(&place, |(place, _)| *place) {
            Ok(at) => self.own[at].1 = value,
            Err(at) => self.own.insert(at, (place, value)),
        }
    }
}
