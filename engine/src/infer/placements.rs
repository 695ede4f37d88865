//! Choosing among sets of fences: what all engines share.
//!
//! An [`Engine`] says what a set of fences lacks: a demand. The cheapest set that meets all
//! demands is tried, and gives another demand or is the placement. From there come all
//! minimal placements, the kinds of fences, the fences of the text that are not needed, and
//! the counterexample that comes back without each fence.

use super::hitting::{self, cheapest};
use super::run::InferenceRun;
use super::{Conclusion, Obstacle, Optimality, Placed, Placement, kinds, prune};
use crate::program::PointSet;
use crate::words::count;

/// What is known of one fence set.
pub enum Round {
    /// Verified, with this many states.
    Verified(u64),
    /// It is not enough, and the demands say so now.
    Failed,
    Inconclusive(Obstacle),
}

/// A way to judge fence sets. Where every demand is a necessary condition, the cheapest set
/// that meets all demands and verifies is the best one.
pub trait Engine<'a> {
    /// The run that it works for.
    fn run(&mut self) -> &mut InferenceRun<'a>;

    /// Sets of points of which one must carry a fence.
    fn demands(&self) -> Vec<PointSet>;

    /// Verifies a set that meets all demands, or adds a demand that it does not meet.
    fn round(&mut self, fences: &PointSet) -> Round;

    /// What to conclude if no set of allowed points meets all demands.
    fn when_unsatisfiable(&mut self) -> Conclusion;

    /// What a placement costs at least on the exact model.
    fn lower_bound(&self) -> u64;

    /// Whether the demands are necessary for a proof under the abstraction.
    fn is_exact(&self) -> bool;
}

/// Finds the placements that were asked for.
pub fn find_placements<'a>(engine: &mut impl Engine<'a>) -> Conclusion {
    let options = engine.run().options;
    let (best, states) = match search(engine) {
        Ok(found) => found,
        Err(outcome) => return *outcome,
    };
    let mut placement = engine.run().placement(best, states);
    if let Some(prices) = options.kinds {
        kinds::weaken(engine.run(), &mut placement, prices);
    }
    if options.prune {
        let removable = prune::removable(engine.run(), &placement);
        engine.run().removable = Some(removable);
    }
    if placement.fences.is_empty() {
        return Conclusion::Correct(placement);
    }
    let (all, more) = match options.all {
        None => (Vec::new(), false),
        Some(most) => all_minimal(engine, most),
    };
    let lower_bound = engine.lower_bound();
    let optimality = match engine.is_exact() {
        _ if lower_bound == placement.cost => Optimality::Exact,
        true => Optimality::UnderAbstraction,
        false => Optimality::Unknown,
    };
    if options.why {
        placement.why = engine.run().why(&placement.fences);
    }
    Conclusion::Placed(Box::new(Placed {
        best: placement,
        optimality,
        lower_bound,
        all,
        more,
    }))
}

/// The first set that verifies, cheapest first.
fn search<'a>(engine: &mut impl Engine<'a>) -> Result<(PointSet, u64), Box<Conclusion>> {
    loop {
        let costs = &engine.run().options.costs;
        let Some(fences) = cheapest(&engine.demands(), costs) else {
            return Err(Box::new(engine.when_unsatisfiable()));
        };
        announce(engine, &fences, Some(hitting::cost(&fences, costs)));
        match engine.round(&fences) {
            Round::Verified(states) => return Ok((fences, states)),
            Round::Failed => {}
            Round::Inconclusive(reason) => {
                return Err(Box::new(Conclusion::Inconclusive(reason)));
            }
        }
    }
}

/// Every minimal placement: a minimal hitting set that verifies is one, since each of
/// its proper subsets misses a necessary demand; one that fails gives a new demand. Also
/// says whether there may be more, as there may if a limit is reached or if demands are not
/// necessary.
fn all_minimal<'a>(engine: &mut impl Engine<'a>, most: usize) -> (Vec<Placement>, bool) {
    let mut verified: Vec<Placement> = Vec::new();
    let more = 'again: loop {
        let costs = &engine.run().options.costs;
        let sets = hitting::minimal(&engine.demands(), costs, most.saturating_add(1));
        let sets = sets.unwrap_or_default();
        for fences in &sets {
            if verified.iter().any(|known| known.fences == *fences) {
                continue;
            }
            announce(engine, fences, None);
            match engine.round(fences) {
                Round::Verified(states) => {
                    let placement = engine.run().placement(fences.clone(), states);
                    verified.push(placement);
                }
                Round::Failed => continue 'again,
                Round::Inconclusive(_) => break 'again true,
            }
        }
        break sets.len() > most;
    };
    verified.sort_by(|a, b| (a.cost, &a.fences).cmp(&(b.cost, &b.fences)));
    verified.truncate(most);
    (verified, more || !engine.is_exact())
}

/// Tells whoever watches which fences are tried, and what a placement costs at least.
fn announce<'a>(engine: &mut impl Engine<'a>, fences: &PointSet, bound: Option<u64>) {
    let run = engine.run();
    let bound = bound.map(|bound| format!(", cost at least {bound}"));
    run.monitor.say(&format!(
        "round {}, {}{}",
        run.rounds + 1,
        count(fences.len() as u64, "fence"),
        bound.unwrap_or_default()
    ));
}
