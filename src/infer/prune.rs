//! Fences in the program's text that are not needed.

use super::Placement;
use super::hitting::cheapest;
use super::run::InferenceRun;
use crate::program::{FenceKind, PointId, PointSet};
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// As many fences of the text as can be removed together from a program with a placement.
///
/// The fences are numbered and handled as fence points are: the smallest set that must stay
/// is the smallest that meets all demands, and one that does not verify gives a new demand.
pub fn removable(run: &mut InferenceRun, placement: &Placement) -> BTreeMap<Span, FenceKind> {
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
    let mut enough = |kept: &PointSet| {
        let fewer: BTreeSet<Span> = removed(kept).into_keys().collect();
        run.monitor
            .say(&format!("without {} of the program's fences", fewer.len()));
        let program = run.whole.without_fences(&fewer).fenced_by(&kinds);
        run.proves(&program)
    };
    let mut demands: Vec<PointSet> = Vec::new();
    while let Some(kept) = cheapest(&demands, &vec![Some(1); own.len()]) {
        if kept.len() == all.len() || enough(&kept) {
            return removed(&kept);
        }
        let mut largest = kept.clone();
        let mut demand = PointSet::new();
        for &id in all.difference(&kept) {
            largest.insert(id);
            if largest.len() == all.len() || enough(&largest) {
                largest.remove(&id);
                demand.insert(id);
            }
        }
        demands.push(demand);
    }
    BTreeMap::new()
}
