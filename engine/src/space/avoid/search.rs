//! The labelled search: level by level, by one thread.
//!
//! So formulas need no locks, and the order of the search depends on nothing but the program:
//! what it takes is the same for any number of threads that found the states.

use super::labels::{Labels, Unlabelled};
use super::table::{Entry, LabelTable};
use crate::formula::{FALSE, FormulaId, TRUE, TooLarge};
use crate::limits::{Pace, StopReason};
use crate::space::context::Context;
use crate::space::judge::Judgement;
use crate::space::layout::{Overflow, State};
use crate::space::level::Level;
use crate::space::search::{End, Scope, Statistics, Unfinished};
use crate::space::successors::Tag;

/// The nodes of the graph that is labelled: states, or states that are merged.
pub trait Nodes<const N: usize> {
    /// Forgets what has grown.
    fn begin(&mut self);

    /// The node that a state is a part of, and whether it has grown by it.
    fn node(&mut self, state: &State<N>) -> Result<Located<N>, Unfinished>;

    /// Whether something is wrong in it.
    fn judge(&mut self, node: &State<N>) -> Judgement;

    /// The states that transitions lead to, with the tags of their steps.
    fn successors(
        &mut self,
        node: &State<N>,
        out: &mut Vec<(State<N>, Tag)>,
    ) -> Result<(), Unfinished>;

    /// The memory that it takes to know all this.
    fn bytes(&self) -> u64;
}

/// The node of a state.
pub struct Located<const N: usize> {
    pub node: State<N>,
    /// The state was not a part of it before.
    pub grown: bool,
}

/// How a labelling ended, and what it took.
pub struct Labelled {
    pub end: End,
    pub statistics: Statistics,
    pub reached_final: bool,
}

/// Transitions that wait for the slots of their ends to be fetched.
const BATCH: usize = 64;

/// A transition whose end is yet to be labelled.
#[derive(Clone, Copy)]
struct Arrival<const N: usize> {
    node: State<N>,
    /// The node has grown by it.
    grown: bool,
    /// Where the search for the node begins.
    home: usize,
    /// What avoids the node by way of this transition.
    through: FormulaId,
}

/// A labelling under way.
struct Labelling<'r, 'a, 'l, W, const N: usize> {
    context: &'r Context<'a>,
    nodes: &'r mut W,
    labels: &'r mut Labels<'l>,
    whole: bool,
    table: LabelTable<N>,
    /// The nodes that wait to be expanded.
    next: Level<N>,
    arrivals: Vec<Arrival<N>>,
    successors: Vec<(State<N>, Tag)>,
    /// How many nodes are in the level that is expanded.
    level: usize,
    depth: u64,
    transitions: u64,
    reached_final: bool,
    pace: Pace,
}

/// Why labelling ends early.
enum Interruption {
    Unfinished(Unfinished),
    TooLarge,
}

/// Labels all nodes that can be reached from the initial ones, or as many as decide ψ.
pub fn label<W: Nodes<N>, const N: usize>(
    context: &Context,
    nodes: &mut W,
    initial: &[State<N>],
    labels: &mut Labels,
    scope: Scope,
) -> Result<Labelled, Overflow> {
    labels.begin();
    nodes.begin();
    let mut labelling = Labelling {
        context,
        nodes,
        labels,
        whole: scope == Scope::Whole,
        table: LabelTable::new(),
        next: Level::new(),
        arrivals: Vec::new(),
        successors: Vec::new(),
        level: 0,
        depth: 0,
        transitions: 0,
        reached_final: false,
        pace: Pace::default(),
    };
    let result = labelling.go(initial);
    let mut labelled = Labelled {
        end: End::Exhausted,
        statistics: labelling.statistics(),
        reached_final: labelling.reached_final,
    };
    labels.outcome = match result {
        Ok(()) => Ok(()),
        Err(Interruption::TooLarge) => Err(Unlabelled::TooLarge),
        Err(Interruption::Unfinished(Unfinished::Stop(reason))) => {
            labelled.end = End::Limit(reason);
            Err(Unlabelled::Stop(reason))
        }
        Err(Interruption::Unfinished(Unfinished::Overflow)) => return Err(Overflow),
    };
    Ok(labelled)
}

impl<W: Nodes<N>, const N: usize> Labelling<'_, '_, '_, W, N> {
    fn go(&mut self, initial: &[State<N>]) -> Result<(), Interruption> {
        for state in initial {
            let Located { node, grown } = self.nodes.node(state)?;
            self.make_room(1)?;
            self.arrive(&Arrival {
                node,
                grown,
                home: self.table.home(&node),
                through: FALSE,
            })?;
        }
        while !self.next.is_empty() && !self.is_decided() {
            let level = std::mem::replace(&mut self.next, Level::new());
            self.level = level.len();
            self.depth += 1;
            for node in level.states() {
                self.expand(node)?;
            }
            self.label_arrivals()?;
        }
        Ok(())
    }

    /// Nothing more can be learnt.
    fn is_decided(&self) -> bool {
        !self.whole && self.labels.is_hopeless()
    }

    /// Passes the label of a node on to its successors.
    fn expand(&mut self, node: &State<N>) -> Result<(), Interruption> {
        let (slot, _) = self.table.claim(node, self.table.home(node));
        let entry = self.table.entry(slot);
        let label = entry.label();
        let again = entry.is(Entry::EXPANDED);
        *entry = entry.without(Entry::WAITING);
        if !self.whole && self.labels.excludes(label)? {
            return Ok(());
        }
        *self.table.entry(slot) = self.table.entry(slot).with(Entry::EXPANDED);
        let mut successors = std::mem::take(&mut self.successors);
        self.nodes.successors(node, &mut successors)?;
        self.transitions += if again { 0 } else { successors.len() as u64 };
        for (next, tag) in &successors {
            let through = self.labels.through(label, *tag)?;
            self.send(node, next, through)?;
        }
        if self.pace.is_due(1 + successors.len()) {
            self.check()?;
        }
        self.successors = successors;
        Ok(())
    }

    /// Lets a transition wait until its end is labelled.
    #[inline]
    fn send(
        &mut self,
        from: &State<N>,
        to: &State<N>,
        through: FormulaId,
    ) -> Result<(), Interruption> {
        if !self.whole && self.labels.excludes(through)? {
            self.labels.updates += 1;
            return Ok(());
        }
        let Located { node, grown } = self.nodes.node(to)?;
        if node == *from && !grown {
            return Ok(());
        }
        self.labels.updates += 1;
        if self.arrivals.len() == BATCH {
            self.label_arrivals()?;
        }
        let home = self.table.home(&node);
        self.table.prefetch(home);
        self.arrivals.push(Arrival {
            node,
            grown,
            home,
            through,
        });
        Ok(())
    }

    /// Labels the ends of all transitions that wait for it.
    fn label_arrivals(&mut self) -> Result<(), Interruption> {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        for arrival in &arrivals {
            self.arrive(arrival)?;
        }
        arrivals.clear();
        self.arrivals = arrivals;
        Ok(self.make_room(BATCH as u64)?)
    }

    /// Takes a transition into account in the label of its end.
    #[inline]
    fn arrive(&mut self, arrival: &Arrival<N>) -> Result<(), Interruption> {
        let (slot, new) = self.table.claim(&arrival.node, arrival.home);
        if new {
            self.add(slot, &arrival.node)?;
        }
        let entry = *self.table.entry(slot);
        let old = entry.label();
        if old == arrival.through && !arrival.grown {
            return Ok(());
        }
        let mut label = self.labels.formulas.and(old, arrival.through)?;
        if old == label && !arrival.grown {
            return Ok(());
        }
        let mut changed = old != label;
        if changed && !self.whole {
            label = self.labels.open(label)?;
            changed = label != self.labels.open(old)?;
        }
        changed |= arrival.grown;
        let mut entry = entry.labelled(label)?;
        if changed && entry.is(Entry::ERROR) {
            self.labels.avoid(label)?;
        } else if changed && !entry.is(Entry::WAITING) {
            entry = entry.with(Entry::WAITING);
            self.next.push(arrival.node);
        }
        *self.table.entry(slot) = entry;
        Ok(())
    }

    /// Takes note of a new node.
    fn add(&mut self, slot: usize, node: &State<N>) -> Result<(), StopReason> {
        let most = self.context.search.limits.max_states;
        if most.is_some_and(|most| self.table.len() > most) {
            return Err(StopReason::MaxStates);
        }
        let entry = Entry::new(TRUE);
        let judgement = self.nodes.judge(node);
        self.reached_final |= judgement == Judgement::Final;
        *self.table.entry(slot) = match judgement.is_violation() {
            true => entry.with(Entry::ERROR),
            false => entry,
        };
        Ok(())
    }

    fn make_room(&mut self, states: u64) -> Result<(), StopReason> {
        match self.table.room() < states {
            true => self
                .table
                .grow(self.context, self.bytes() - self.table.bytes()),
            false => Ok(()),
        }
    }

    fn bytes(&self) -> u64 {
        let waiting = (self.level + self.next.len()) * size_of::<State<N>>();
        self.table.bytes() + self.nodes.bytes() + waiting as u64
    }

    /// Fails if a limit is reached.
    fn check(&mut self) -> Result<(), StopReason> {
        let monitor = self.context.search.monitor;
        monitor.say(&format!(
            "labelling, {} formulas",
            self.labels.formulas.count()
        ));
        monitor.report(self.table.len(), self.depth);
        self.context.check_memory(self.bytes())?;
        self.context.check()
    }

    fn statistics(&self) -> Statistics {
        Statistics {
            states: self.table.len(),
            transitions: self.transitions,
            depth: Some(self.depth),
            configurations: self.context.interner.config_count(),
            table_bytes: self.table.bytes(),
            bytes: self.bytes(),
        }
    }
}

impl From<Unfinished> for Interruption {
    fn from(unfinished: Unfinished) -> Interruption {
        Interruption::Unfinished(unfinished)
    }
}

impl From<StopReason> for Interruption {
    fn from(reason: StopReason) -> Interruption {
        Interruption::Unfinished(reason.into())
    }
}

impl From<TooLarge> for Interruption {
    fn from(_: TooLarge) -> Interruption {
        Interruption::TooLarge
    }
}
