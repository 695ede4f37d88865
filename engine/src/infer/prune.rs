//! Fences in the program's text that are not needed.

use super::hitting::cheapest;
use super::run::InferenceRun;
use super::{Placement, Removable};
use crate::program::{FenceKind, PointId, PointSet};
use crate::source::Span;
use crate::verify::Verdict;
use std::collections::{BTreeMap, BTreeSet};

/// As many fences of the text as can be removed together from a program with a placement.
///
/// The fences are numbered and handled as fence points are: the smallest set that must stay
/// is the smallest that meets all demands, and one that does not verify gives a new demand.
/// A demand holds on the exact model if an execution of that model shows it; if all do, no
/// more fences can be removed.
pub fn removable(run: &mut InferenceRun, placement: &Placement) -> Removable {
    let own: Vec<(Span, FenceKind)> = run.whole.own_fences().into_iter().collect();
    let all: PointSet = (0..own.len() as u32).map(PointId).collect();
    let kinds = placement
        .fences
        .iter()
        .copied()
        .zip(placement.kinds.clone());
    let kinds: BTreeMap<PointId, FenceKind> = kinds.collect();
    let removed = |kept: &PointSet| -> BTreeMap<Span, FenceKind> {
        all.difference(kept).map(|id| own[id.index()]).collect()
    };
    let mut verdict = |kept: &PointSet| {
        if *kept == all {
            // That is the program that was verified with its placement.
            return Verdict::Correct;
        }
        let fewer: BTreeSet<Span> = removed(kept).into_keys().collect();
        run.monitor
            .say(&format!("without {} of the program's fences", fewer.len()));
        let program = run.whole.without_fences(&fewer).fenced_by(&kinds);
        run.decide(&program).verdict
    };
    let costs = vec![Some(1); own.len()];
    let mut demands: Vec<PointSet> = Vec::new();
    let mut is_most = true;
    loop {
        let kept = cheapest(&demands, &costs).expect("all fences meet all demands");
        // The largest set of fences so far that is not enough, and what is known of it.
        let mut largest = kept.clone();
        let mut failure = verdict(&kept);
        if failure == Verdict::Correct {
            let fences = removed(&kept);
            return Removable { fences, is_most };
        }
        let mut demand = PointSet::new();
        for &id in all.difference(&kept) {
            largest.insert(id);
            match verdict(&largest) {
                Verdict::Correct => {
                    largest.remove(&id);
                    demand.insert(id);
                }
                known => failure = known,
            }
        }
        is_most &= failure == Verdict::Violated;
        demands.push(demand);
    }
}
