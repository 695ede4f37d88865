//! A shortest trace to a violation.
//!
//! No state has a parent: what the engines keep is the states by level. Going back level
//! by level, the states are found from which an error is reached in time; going forward
//! through these, the trace is chosen by rules that know nothing of the order of discovery.

use super::context::Context;
use super::layout::State;
use super::level::Level;
use super::pool::{PARALLEL, Workers};
use super::trace::{Snapshot, Trace, TraceStep};
use crate::limits::{StopReason, Watch};
use crate::memory::step::Effect;
use crate::property::Violation;
use ahash::AHashSet;
use std::sync::Mutex;

/// The states that an engine has found, each under a key; sets and levels hold keys.
pub trait Visited<const N: usize>: Sync {
    type Worker: Send;

    /// The state under a key.
    fn unpack(&self, key: &State<N>) -> Snapshot;

    /// The key of what a step has led to; `None` if the search did not get there.
    fn key(&self, worker: &mut Self::Worker, after: &Snapshot) -> Option<State<N>>;

    /// Whether a step leads from the state under a key to one under a key of `target`.
    fn leads_to(
        &self,
        worker: &mut Self::Worker,
        key: &State<N>,
        target: &AHashSet<State<N>>,
    ) -> Result<bool, StopReason>;
}

/// A shortest trace to one of `errors`, and what is wrong at its end. The levels are those
/// before the errors, from the initial states on.
pub fn shortest<V: Visited<N>, const N: usize>(
    context: &Context,
    visited: &V,
    workers: &mut Workers<V::Worker>,
    levels: &[Level<N>],
    errors: impl IntoIterator<Item = State<N>>,
) -> Result<(Violation, Trace), StopReason> {
    let mut ahead = vec![errors.into_iter().collect()];
    for level in levels.iter().rev() {
        let target = ahead.last().expect("there is a target");
        ahead.push(leading_to(context, visited, workers, level, target)?);
    }
    ahead.reverse();
    walk_to_violation(context, visited, workers.first(), &ahead)
}

/// A trace through the given sets of states, one per level, and what is wrong at its end.
pub fn walk_to_violation<V: Visited<N>, const N: usize>(
    context: &Context,
    visited: &V,
    worker: &mut V::Worker,
    levels: &[AHashSet<State<N>>],
) -> Result<(Violation, Trace), StopReason> {
    let trace = walk(context, visited, worker, levels)?;
    let violation = context.violation(trace.last());
    let standstill = context.search.standstill.violation();
    Ok((violation.unwrap_or(standstill), trace))
}

/// The states of a level from which a step leads into `target`.
pub fn leading_to<V: Visited<N>, const N: usize>(
    context: &Context,
    visited: &V,
    workers: &mut Workers<V::Worker>,
    level: &Level<N>,
    target: &AHashSet<State<N>>,
) -> Result<AHashSet<State<N>>, StopReason> {
    let all = Mutex::new(AHashSet::new());
    workers.share(
        &level.chunks(),
        level.len() >= PARALLEL,
        |worker, _, chunk| {
            let mut leading = Vec::new();
            for key in *chunk {
                if visited.leads_to(worker, key, target)? {
                    leading.push(*key);
                }
            }
            all.lock().expect("no thread panics here").extend(leading);
            context.check_tracing()
        },
    )?;
    Ok(all.into_inner().expect("no thread panics here"))
}

/// Walks from the least initial state through the given sets of states, one per level.
/// Among the steps that lead on it prefers the process of the last step, its program
/// before its flushes; then the order of processes and of the program text.
fn walk<V: Visited<N>, const N: usize>(
    context: &Context,
    visited: &V,
    worker: &mut V::Worker,
    levels: &[AHashSet<State<N>>],
) -> Result<Trace, StopReason> {
    let check = |bytes: usize| {
        context.check_memory(bytes as u64)?;
        context.check_tracing()
    };
    let watch = Watch::new(&check);
    let mut least: Option<Snapshot> = None;
    for key in &levels[0] {
        let start = visited.unpack(key);
        if least.as_ref().is_none_or(|least| start < *least) {
            least = Some(start);
        }
        watch.note(context.components(), 0)?;
    }
    let initial = least.expect("a trace has a start");
    let mut steps: Vec<TraceStep> = Vec::new();
    for level in &levels[1..] {
        let now = steps.last().map_or(&initial, |step| &step.after);
        let running = steps.last().map(|step| step.process);
        let mut lead_on = |step: TraceStep| {
            let key = visited.key(worker, &step.after)?;
            level.contains(&key).then(|| TraceStep {
                after: visited.unpack(&key),
                ..step
            })
        };
        let candidates = now.steps(context.search.stepper, &watch)?.into_iter();
        let candidates = candidates.filter_map(&mut lead_on);
        let best = candidates.min_by_key(|step| {
            let flush = matches!(step.step.effect, Effect::Flush(_));
            (Some(step.process) != running, flush)
        });
        steps.push(best.expect("some step leads on"));
    }
    Ok(Trace { initial, steps })
}
