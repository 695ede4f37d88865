//! Weaker fences where they are enough.
//!
//! A full fence makes its process wait until nothing is pending. A store-store fence only
//! keeps later stores behind earlier ones, a store-load fence later loads; which of them
//! does at a point is decided by verifying the program with it, not by what stands there.

use super::Placement;
use super::run::InferenceRun;
use crate::memory::Model;
use crate::program::{FenceKind, PointId};
use crate::verify::Verdict;
use std::collections::BTreeSet;

/// What the kinds of fences cost, as factors of the price of the point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prices {
    pub full: u64,
    pub store_load: u64,
    pub store_store: u64,
}

impl Default for Prices {
    fn default() -> Prices {
        Prices {
            full: 3,
            store_load: 2,
            store_store: 1,
        }
    }
}

/// The most that a kind of fence may cost, where people say what it costs.
pub const MOST_KIND_COST: u64 = 1_000;

impl Prices {
    /// What a kind costs beside the others.
    pub fn of(&self, kind: FenceKind) -> u64 {
        match kind {
            FenceKind::Full => self.full,
            FenceKind::StoreLoad => self.store_load,
            FenceKind::StoreStore => self.store_store,
        }
    }

    /// What the dearest kind costs.
    pub fn dearest(&self) -> u64 {
        self.full.max(self.store_load).max(self.store_store)
    }
}

/// Finds the cheapest kinds at the points of a placement that still verify, and gives the
/// placement these kinds and their price.
///
/// A kind that does not do even if all other fences are full never does, because a full
/// fence is the strongest. The combinations of the others are tried, cheapest first.
pub fn weaken(run: &mut InferenceRun, placement: &mut Placement, prices: Prices) {
    let points: Vec<PointId> = placement.fences.iter().copied().collect();
    let costs = &run.options.costs;
    let price = |at: usize, kind| prices.of(kind) * costs[points[at].index()].unwrap_or(0);
    let proves = |run: &mut InferenceRun, kinds: &[FenceKind]| {
        let kinds = points.iter().copied().zip(kinds.iter().copied());
        let program = run.whole.fenced_by(&kinds.collect());
        run.decide(&program).verdict == Verdict::Correct
    };
    let full = vec![FenceKind::Full; points.len()];
    let mut choices: Vec<Vec<FenceKind>> = Vec::new();
    for at in 0..points.len() {
        let mut enough = vec![FenceKind::Full];
        for kind in weaker(run.options.verify.semantics.model) {
            run.monitor
                .say(&format!("kinds of fences, {} of {}", at + 1, points.len()));
            let mut kinds = full.clone();
            kinds[at] = kind;
            if price(at, kind) < price(at, FenceKind::Full) && proves(run, &kinds) {
                enough.push(kind);
            }
        }
        enough.sort_by_key(|kind| price(at, *kind));
        choices.push(enough);
    }
    let cost = |chosen: &[usize]| -> u64 {
        let each = chosen.iter().enumerate();
        each.map(|(at, &choice)| price(at, choices[at][choice]))
            .sum()
    };
    let cheapest = vec![0; points.len()];
    let mut open = BTreeSet::from([(cost(&cheapest), cheapest)]);
    while let Some((price, chosen)) = open.pop_first() {
        let pairs = choices.iter().zip(&chosen);
        let kinds: Vec<FenceKind> = pairs.map(|(kinds, &choice)| kinds[choice]).collect();
        if kinds == full || proves(run, &kinds) {
            placement.price = Some(price);
            placement.kinds = kinds;
            return;
        }
        for at in 0..points.len() {
            let mut dearer = chosen.clone();
            dearer[at] += 1;
            if dearer[at] < choices[at].len() {
                open.insert((cost(&dearer), dearer));
            }
        }
    }
}

/// The kinds that may be enough where a full fence is needed.
fn weaker(model: Model) -> Vec<FenceKind> {
    match model {
        // Stores stay in order anyway.
        Model::Sc | Model::Tso => vec![FenceKind::StoreLoad],
        Model::Pso => vec![FenceKind::StoreStore, FenceKind::StoreLoad],
    }
}
