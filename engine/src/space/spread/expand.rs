//! Expanding the own states, and inserting those that others or this worker have found.

use super::Halt;
use super::member::Member;
use crate::limits::StopReason;
use crate::space::breadth::table::Table;
use crate::space::judge::Judgement;
use crate::space::layout::State;
use crate::space::search::Unfinished;
use crate::space::slots::hash;

/// Chunks of states that are expanded in a round.
const PORTION: usize = 64;

/// States whose slots are fetched at a time.
const BATCH: usize = 128;

/// Successors that a worker remembers, a power of two: many of them lead to states that were
/// sent or inserted a moment ago.
const RECENT: usize = 1 << 15;

/// Levels with fewer states than this are fast enough without.
const LARGE_LEVEL: usize = 1 << 12;

impl<const N: usize> Member<'_, '_, N> {
    /// Expands some chunks of states.
    pub fn expand_portion<'c>(
        &mut self,
        chunks: &mut impl Iterator<Item = &'c [State<N>]>,
    ) -> Result<Result<(), Unfinished>, Halt> {
        for _ in 0..PORTION {
            let Some(chunk) = chunks.next() else {
                break;
            };
            if self.recent.is_empty() && self.states >= LARGE_LEVEL as u64 {
                self.recent = vec![[0; N]; RECENT];
            }
            if let Err(why) = self.expand_chunk(chunk) {
                return Ok(Err(why));
            }
            self.peers.exchange(false)?;
            self.take_arrived()?;
        }
        Ok(self.insert_pending())
    }

    fn expand_chunk(&mut self, chunk: &[State<N>]) -> Result<(), Unfinished> {
        for state in chunk {
            self.no_room |= self.cache.successors(state, &mut self.successors)?;
            let successors = std::mem::take(&mut self.successors);
            let count = successors.as_slice().len();
            let passed = successors
                .as_slice()
                .iter()
                .try_for_each(|next| self.pass_on(*next));
            self.successors = successors;
            passed?;
            self.transitions += count as u64;
            if self.standstill.is_standstill(state, count)? {
                self.standstills.push(*state);
            }
            if self.pace.is_due(1 + count) {
                self.check()?;
            }
        }
        Ok(())
    }

    /// Gives a successor to its owner, unless it came up lately.
    #[inline]
    fn pass_on(&mut self, next: State<N>) -> Result<(), Unfinished> {
        if let Some(recent) = self.recent.get_mut(hash(&next) as usize % RECENT)
            && std::mem::replace(recent, next) == next
        {
            return Ok(());
        }
        let owner = self.directory.owner(&next);
        if owner == self.own {
            return self.enqueue_own(next);
        }
        self.send_state(owner, &next);
        Ok(())
    }

    /// Lets a state wait to be sent, or sends it with those that do.
    #[inline]
    pub fn send_state(&mut self, to: usize, state: &State<N>) {
        let outgoing = &mut self.outgoing[to];
        if outgoing.add(&self.directory, state)
            && let Some(parcel) = outgoing.seal()
        {
            self.peers.send(to, parcel);
        }
    }

    /// Lets an own state wait for its slot.
    #[inline]
    pub fn enqueue_own(&mut self, state: State<N>) -> Result<(), Unfinished> {
        if self.pending.len() >= BATCH {
            self.insert_pending()?;
        }
        if let Some(table) = &self.table {
            table.prefetch(&state);
        }
        self.pending.push(state);
        Ok(())
    }

    /// Inserts the states that wait.
    pub fn insert_pending(&mut self) -> Result<(), Unfinished> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let mut pending = std::mem::take(&mut self.pending);
        self.make_room(pending.len() as u64)?;
        let mut table = self.table.take().expect("there is room");
        for state in pending.drain(..) {
            if table.insert(&state) {
                self.states += 1;
                self.add(state);
            }
        }
        self.table = Some(table);
        self.pending = pending;
        Ok(())
    }

    /// Inserts what others have found.
    pub fn insert_arrived(&mut self) -> Result<(), Unfinished> {
        let mut arrived = std::mem::take(&mut self.arrived);
        let mut inserted = Ok(());
        for state in arrived.drain(..) {
            inserted = inserted.and_then(|()| self.enqueue_own(state));
        }
        self.arrived = arrived;
        inserted.and_then(|()| self.insert_pending())
    }

    /// Inserts a state that was judged before.
    pub fn insert_again(&mut self, state: State<N>) -> Result<(), Unfinished> {
        self.make_room(1)?;
        let table = self.table.as_mut().expect("there is room");
        self.states += u64::from(table.insert(&state));
        Ok(())
    }

    /// Takes note of a new state.
    fn add(&mut self, state: State<N>) {
        match self.judge.judge(&state) {
            Judgement::Fine => {}
            Judgement::Final => self.reached_final = true,
            Judgement::Violation => self.violations.push(state),
            Judgement::Failure => {
                self.violations.push(state);
                self.failed.push(state);
                return;
            }
        }
        self.next.push(state);
    }

    /// Makes room for so many states in the table, within the memory that the rest leaves.
    fn make_room(&mut self, states: u64) -> Result<(), StopReason> {
        let most = self.context.search.limits.max_memory;
        let others = self.bytes() - self.table_bytes();
        let room = most.map(|most| most.saturating_sub(others));
        let context = self.context;
        Table::make_room(&mut self.table, states, room, || context.check())
    }

    /// The memory that the search takes, in bytes.
    pub fn bytes(&self) -> u64 {
        let kept = self.cache.bytes() + self.context.interner.bytes();
        self.table_bytes() + kept as u64 + self.states * size_of::<State<N>>() as u64
    }

    pub fn table_bytes(&self) -> u64 {
        self.table.as_ref().map_or(0, Table::bytes) as u64
    }

    fn check(&self) -> Result<(), StopReason> {
        self.context.check()?;
        self.context.check_memory(self.bytes())
    }
}
