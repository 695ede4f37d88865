//! The shortest way to a violation.
//!
//! Each worker finds, level by level and backwards, its states from which a step leads on the
//! way, and tells all others. The first worker then walks forward through what all have found.

use super::Halt;
use super::member::Member;
use crate::limits::StopReason;
use crate::property::Violation;
use crate::space::breadth::path::Distinct;
use crate::space::breadth::worker::Worker;
use crate::space::layout::State;
use crate::space::path::{leading_to, walk_to_violation};
use crate::space::pool::Workers;
use crate::space::search::{End, Unfinished};
use crate::space::trace::Trace;
use ahash::AHashSet;

/// By level, the states of all workers on the way to a violation.
type Way<const N: usize> = Vec<AHashSet<State<N>>>;

impl<'a, const N: usize> Member<'a, '_, N> {
    /// The violation that was found, and for the first worker the trace to it.
    pub fn trace_errors(
        &mut self,
        end: &mut End,
    ) -> Result<Option<(Violation, Option<Trace>)>, Halt> {
        let Some((level, errors)) = self.errors.take() else {
            return Ok(None);
        };
        self.tracing = true;
        let context = self.context;
        let mut workers = Workers::new(1, |own| Worker::new(context, own, 1));
        let mut way = vec![self.tell_all(errors)?];
        let mut seen = way[0].iter();
        let seen = seen.find_map(|state| self.judge.violation(state));
        let seen = seen.unwrap_or(context.search.standstill.violation());
        if let Err(reason) = self.walk_back(level, &mut workers, &mut way)? {
            return Ok(Some(end.with_trace(Err(reason), seen)));
        }
        if self.own != 0 {
            return Ok(Some((seen, None)));
        }
        let found = walk_to_violation(&context, &Distinct(context), workers.first(), &way);
        Ok(Some(end.with_trace(found, seen)))
    }

    /// Puts the states of all levels before `level` in front of those on the way; or the reason
    /// why some worker had to give up.
    fn walk_back(
        &mut self,
        level: usize,
        workers: &mut Workers<Worker<'a, N>>,
        way: &mut Way<N>,
    ) -> Result<Result<(), StopReason>, Halt> {
        let distinct = Distinct(self.context);
        for before in (0..level).rev() {
            let ahead = way.last().expect("the errors are there");
            let own = leading_to(
                &self.context,
                &distinct,
                workers,
                &self.levels[before],
                ahead,
            );
            let gave_up: Vec<Option<StopReason>> = self.meet(&own.as_ref().err().copied())?;
            if let Some(reason) = gave_up.into_iter().flatten().next() {
                return Ok(Err(reason));
            }
            let all = self.tell_all(own.into_iter().flatten())?;
            way.push(all);
        }
        way.reverse();
        Ok(Ok(()))
    }

    /// The own states and those that all others tell of.
    fn tell_all(
        &mut self,
        own: impl IntoIterator<Item = State<N>>,
    ) -> Result<AHashSet<State<N>>, Halt> {
        let mut all: AHashSet<State<N>> = own.into_iter().collect();
        for state in &all {
            for to in 0..self.outgoing.len() {
                if to != self.own {
                    self.send_state(to, state);
                }
            }
        }
        self.meet(&())?;
        let overflow = self.obstacle == Some(Unfinished::Overflow);
        if self.meet(&overflow)?.contains(&true) {
            return Err(Halt::Overflow);
        }
        all.extend(self.arrived.drain(..));
        Ok(all)
    }
}
