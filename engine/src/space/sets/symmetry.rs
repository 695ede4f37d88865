//! States that differ in who is who.
//!
//! An exchange of two processes maps reachable states to reachable states and violations to
//! violations, so one of all states that exchanges make of one another is enough. It is
//! chosen in two steps: processes are sorted by what is seen of their sets whatever the
//! names in them are, and among those that look the same every order is tried, as long as
//! there are few.

use super::Ended;
use super::moves::ConfigId;
use super::process::SetId;
use super::states::{MemoryId, SetSearch};
use crate::memory::step::{At, Config, Stepper};
use crate::program::{Exchange, LocalId, PlaceId, ProcessId, Program, Value};
use ahash::AHashMap;
use std::sync::Arc;

/// Orders of processes that look the same that are tried at most.
const MOST_ORDERS: usize = 120;

/// The exchanges of a program, and what they make of what was met.
#[derive(Default)]
pub struct Symmetry {
    exchanges: Vec<Exchange>,
    /// By exchange: it leaves places and values as they are.
    renames_nothing: Vec<bool>,
    by_pair: AHashMap<(ProcessId, ProcessId), ExchangeId>,
    /// Processes of which any two can be exchanged, two or more each.
    groups: Vec<Vec<ProcessId>>,
    memories: AHashMap<(ExchangeId, MemoryId), MemoryId>,
    sets: AHashMap<(ExchangeId, ProcessId, SetId), SetId>,
}

/// The position of an exchange.
pub type ExchangeId = usize;

/// A state while it is looked for the one that stands for it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Product {
    pub sets: Vec<SetId>,
    pub memory: MemoryId,
}

impl Symmetry {
    pub fn new(stepper: &Stepper) -> Symmetry {
        let program = stepper.program;
        let exchanges = program.exchanges(stepper.semantics.reset_dead);
        let numbered = exchanges.iter().enumerate();
        let by_pair: AHashMap<_, _> = numbered
            .map(|(id, exchange)| (exchange.processes, id))
            .collect();
        Symmetry {
            groups: groups(program, &by_pair),
            renames_nothing: exchanges.iter().map(Exchange::renames_nothing).collect(),
            exchanges,
            by_pair,
            ..Symmetry::default()
        }
    }

    pub fn is_trivial(&self) -> bool {
        self.groups.is_empty()
    }

    /// A process and all that it can be exchanged with.
    pub fn exchangeable(&self, process: ProcessId) -> impl Iterator<Item = ProcessId> + '_ {
        let group = self.groups.iter().find(|group| group.contains(&process));
        let others = group.into_iter().flatten().copied();
        std::iter::once(process).chain(others.filter(move |other| *other != process))
    }

    pub fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }
}

/// Processes that can all be exchanged with one another.
fn groups(
    program: &Program,
    by_pair: &AHashMap<(ProcessId, ProcessId), ExchangeId>,
) -> Vec<Vec<ProcessId>> {
    let mut groups: Vec<Vec<ProcessId>> = Vec::new();
    for id in program.process_ids() {
        let fits = |group: &&mut Vec<ProcessId>| {
            let mut members = group.iter();
            members.all(|member| by_pair.contains_key(&(*member, id)))
        };
        match groups.iter_mut().find(fits) {
            Some(group) => group.push(id),
            None => groups.push(vec![id]),
        }
    }
    groups.retain(|group| group.len() > 1);
    groups
}

impl SetSearch<'_> {
    /// The state that stands for a state, and the exchanges that lead to it, in order.
    pub fn representative(
        &mut self,
        product: Product,
    ) -> Result<(Product, Vec<ExchangeId>), Ended> {
        let (mut product, mut done) = (product, Vec::new());
        for at in 0..self.symmetry.groups.len() {
            let group = self.symmetry.groups[at].clone();
            // Sort by selection: an exchange changes the looks of nobody else.
            for (first, &process) in group.iter().enumerate() {
                let look = |other: &ProcessId| self.look(&product, *other);
                let others = &group[first..];
                let least = others.iter().copied().min_by_key(look);
                let least = least.expect("there is one");
                if self.look(&product, least) < self.look(&product, process) {
                    let id = self.symmetry.by_pair[&(process, least)];
                    product = self.exchanged(id, &product)?;
                    done.push(id);
                }
            }
            let looks: Vec<u64> = group.iter().map(|&id| self.look(&product, id)).collect();
            let mut rest = &group[..];
            for same in looks.chunk_by(|one, other| one == other) {
                let alike;
                (alike, rest) = rest.split_at(same.len());
                let orders: usize = (1..=alike.len().min(9)).product();
                let found = match orders <= MOST_ORDERS {
                    true => {
                        let mut least = (product.clone(), Vec::new());
                        self.try_orders(alike, &product, &mut Vec::new(), &mut least)?;
                        least
                    }
                    false => self.bubble(alike, product)?,
                };
                product = found.0;
                done.extend(found.1);
            }
        }
        Ok((product, done))
    }

    /// Something of a process's set that stays the same when others are exchanged.
    fn look(&self, product: &Product, process: ProcessId) -> u64 {
        let set = product.sets[process.index()];
        self.kind(process).summary(set).look
    }

    /// Tries all orders of some processes and keeps the least state.
    fn try_orders(
        &mut self,
        alike: &[ProcessId],
        product: &Product,
        done: &mut Vec<ExchangeId>,
        least: &mut (Product, Vec<ExchangeId>),
    ) -> Result<(), Ended> {
        let Some((&first, rest)) = alike.split_first() else {
            if *product < least.0 {
                *least = (product.clone(), done.clone());
            }
            return Ok(());
        };
        self.try_orders(rest, product, done, least)?;
        for &other in rest {
            let id = self.symmetry.by_pair[&(first, other)];
            let exchanged = self.exchanged(id, product)?;
            done.push(id);
            self.try_orders(rest, &exchanged, done, least)?;
            done.pop();
        }
        Ok(())
    }

    /// Exchanges neighbours as long as that makes the state less.
    fn bubble(
        &mut self,
        alike: &[ProcessId],
        product: Product,
    ) -> Result<(Product, Vec<ExchangeId>), Ended> {
        let (mut least, mut done) = (product, Vec::new());
        let mut changed = true;
        while changed {
            changed = false;
            for pair in alike.windows(2) {
                let id = self.symmetry.by_pair[&(pair[0], pair[1])];
                let exchanged = self.exchanged(id, &least)?;
                if exchanged < least {
                    least = exchanged;
                    done.push(id);
                    changed = true;
                }
            }
        }
        Ok((least, done))
    }

    /// What an exchange makes of a state.
    fn exchanged(&mut self, id: ExchangeId, product: &Product) -> Result<Product, Ended> {
        let memory = self.exchanged_memory(id, product.memory);
        let mut sets = product.sets.clone();
        for process in self.processes() {
            let to = self.symmetry.exchanges[id].process(process);
            sets[to.index()] = self.exchanged_set(id, process, product.sets[process.index()])?;
        }
        Ok(Product { sets, memory })
    }

    fn exchanged_memory(&mut self, id: ExchangeId, memory: MemoryId) -> MemoryId {
        if self.symmetry.renames_nothing[id] {
            return memory;
        }
        if let Some(&known) = self.symmetry.memories.get(&(id, memory)) {
            return known;
        }
        let values = self.symmetry.exchanges[id].memory(self.memory(memory));
        let exchanged = self.memory_id(values.into());
        self.symmetry.memories.insert((id, memory), exchanged);
        self.budget.bytes += 32;
        exchanged
    }

    fn exchanged_set(
        &mut self,
        id: ExchangeId,
        process: ProcessId,
        set: SetId,
    ) -> Result<SetId, Ended> {
        let to = self.symmetry.exchanges[id].process(process);
        if self.symmetry.renames_nothing[id] && self.is_same_kind(process, to) {
            return Ok(set);
        }
        if let Some(&known) = self.symmetry.sets.get(&(id, process, set)) {
            return Ok(known);
        }
        let stepper = &self.stepper;
        let exchange = &self.symmetry.exchanges[id];
        let kind = self.kind(process);
        let members = kind.members(set).map(|member| {
            let config = kind.moves.config(member);
            exchange.config(stepper, process, config)
        });
        let members: Vec<Config> = members.collect();
        let (kind, budget) = self.learn(to);
        budget.spend(members.len() as u64)?;
        let exchanged = kind.set_of(members, budget);
        self.symmetry.sets.insert((id, process, set), exchanged);
        self.budget.bytes += 48;
        Ok(exchanged)
    }

    /// The members of a process that some members of another become by exchanges.
    pub fn exchanged_members(
        &mut self,
        exchanges: &[ExchangeId],
        mut process: ProcessId,
        members: &[ConfigId],
    ) -> (ProcessId, Vec<ConfigId>) {
        let stepper = Arc::clone(&self.stepper);
        let mut members = members.to_vec();
        for &id in exchanges {
            let exchange = &self.symmetry.exchanges[id];
            let to = exchange.process(process);
            let moves = &self.kind(process).moves;
            let configs = members.iter().map(|&member| {
                let config = moves.config(member);
                exchange.config(&stepper, process, config)
            });
            let configs: Vec<Config> = configs.collect();
            let moves = &mut self.learn(to).0.moves;
            members = configs
                .into_iter()
                .map(|config| moves.intern(config))
                .collect();
            process = to;
        }
        (process, members)
    }
}

impl Exchange {
    /// What becomes of memory.
    pub fn memory(&self, memory: &[Value]) -> Vec<Value> {
        let mut exchanged = memory.to_vec();
        for (at, value) in memory.iter().enumerate() {
            let place = PlaceId(at as u32);
            exchanged[self.place(place).index()] = self.content(place, *value);
        }
        exchanged
    }

    /// What becomes of a configuration of a process: it is one of whoever has its part.
    pub fn config(&self, stepper: &Stepper, process: ProcessId, config: &Config) -> Config {
        let code = stepper.program.process(process);
        let is_used = |local: usize| match config.at {
            At::Loc(at) => !stepper.semantics.reset_dead || code.location(at).live[local],
            At::Failed(_) => true,
        };
        let locals = config.locals.iter().enumerate();
        let locals = locals.map(|(at, &value)| match is_used(at) {
            true => self.local(process, LocalId(at as u32), value),
            false => value,
        });
        let rename = |place, value| (self.place(place), self.content(place, value));
        Config {
            at: config.at,
            locals: locals.collect(),
            buffers: config.buffers.renamed(stepper.memory.order(), &rename),
        }
    }
}
