//! Cheapest and minimal hitting sets, exactly.
//!
//! A clause is a set of fence points of which at least one must carry a fence. There are a
//! few dozen points and at most a few hundred clauses, so a branch-and-bound over the
//! smallest clause that is not hit yet is quick. Ties are broken by the order of points,
//! so the answer is always the same.
//!
//! Every sum of costs is one of different points, so none is larger than the [`total`] of
//! all points; whoever searches here makes sure that this fits.

use crate::program::{PointId, PointSet};
use std::collections::BTreeSet;

/// What a fence at each point costs; `None` where there must be none.
pub type Costs = Vec<Option<u64>>;

/// The most that a fence at one point may cost, where people and files say what it costs.
pub const MOST_COST: u64 = 1_000_000_000_000;

/// What fences at all points cost together if each costs `factor` times as much; `None` if
/// 64 bits do not hold it.
pub fn total(costs: &Costs, factor: u64) -> Option<u64> {
    let mut each = costs.iter().flatten();
    each.try_fold(0u64, |sum, cost| sum.checked_add(cost.checked_mul(factor)?))
}

/// The cost of a set of fences.
pub fn cost(fences: &PointSet, costs: &Costs) -> u64 {
    let each = fences.iter().map(|point| costs[point.index()].unwrap_or(0));
    each.sum()
}

/// The cheapest set of allowed points that hits all clauses, always the same among equals,
/// and minimal; `None` if some clause cannot be hit.
pub fn cheapest(clauses: &[PointSet], costs: &Costs) -> Option<PointSet> {
    let clauses = allowed(clauses, costs)?;
    let mut search = Search {
        clauses: &clauses,
        costs,
        best: None,
    };
    search.cheapest(&mut PointSet::new(), &mut PointSet::new(), 0);
    let (_, mut fences) = search.best?;
    // What costs nothing may have been taken in vain.
    let free = |point: &PointId| costs[point.index()] == Some(0);
    let spare: Vec<PointId> = fences.iter().copied().filter(free).collect();
    for point in spare {
        fences.remove(&point);
        if clauses.iter().any(|clause| clause.is_disjoint(&fences)) {
            fences.insert(point);
        }
    }
    Some(fences)
}

/// The minimal sets of allowed points that hit all clauses, cheapest first, at most `most`
/// of them; `None` if some clause cannot be hit.
///
/// Sets grow point by point, the cheapest first, each by the points of the first clause
/// that it does not hit. A point whose clauses are all hit by the others as well is never
/// needed again, so a set that holds one is given up; what remains when all clauses are
/// hit is minimal.
pub fn minimal(clauses: &[PointSet], costs: &Costs, most: usize) -> Option<Vec<PointSet>> {
    let clauses = allowed(clauses, costs)?;
    let needed = |set: &PointSet| {
        let alone = |clause: &PointSet| {
            let mut both = clause.intersection(set);
            both.next().filter(|_| both.next().is_none()).copied()
        };
        let needed: PointSet = clauses.iter().filter_map(alone).collect();
        needed.len() == set.len()
    };
    let mut open = BTreeSet::from([(0, PointSet::new())]);
    let mut found = Vec::new();
    while found.len() < most
        && let Some((spent, set)) = open.pop_first()
    {
        let Some(clause) = clauses.iter().find(|clause| clause.is_disjoint(&set)) else {
            // Where points cost nothing, a set may come twice.
            if !found.contains(&set) {
                found.push(set);
            }
            continue;
        };
        for &point in clause {
            let mut larger = set.clone();
            larger.insert(point);
            if needed(&larger) {
                open.insert((spent + costs[point.index()].unwrap_or(0), larger));
            }
        }
    }
    Some(found)
}

/// The clauses without the points that must not carry a fence.
fn allowed(clauses: &[PointSet], costs: &Costs) -> Option<Vec<PointSet>> {
    let usable = |clause: &PointSet| -> Option<PointSet> {
        let points = clause.iter().copied();
        let points: PointSet = points
            .filter(|point| costs[point.index()].is_some())
            .collect();
        (!points.is_empty()).then_some(points)
    };
    clauses.iter().map(usable).collect()
}

struct Search<'a> {
    clauses: &'a [PointSet],
    costs: &'a Costs,
    best: Option<(u64, PointSet)>,
}

impl Search<'_> {
    /// Extends `chosen`, never by points in `refused`.
    fn cheapest(&mut self, chosen: &mut PointSet, refused: &mut PointSet, spent: u64) {
        let bound = spent + self.lower_bound(chosen, refused);
        if self.best.as_ref().is_some_and(|(best, _)| bound >= *best) {
            return;
        }
        let open = self
            .clauses
            .iter()
            .filter(|clause| clause.is_disjoint(chosen));
        let smallest = open.min_by_key(|clause| clause.difference(refused).count());
        let Some(clause) = smallest else {
            self.best = Some((spent, chosen.clone()));
            return;
        };
        let mut points: Vec<PointId> = clause.difference(refused).copied().collect();
        points.sort_by_key(|point| (self.costs[point.index()], *point));
        let mut tried = Vec::new();
        for point in points {
            chosen.insert(point);
            let price = self.costs[point.index()].unwrap_or(0);
            self.cheapest(chosen, refused, spent + price);
            chosen.remove(&point);
            refused.insert(point);
            tried.push(point);
        }
        for point in tried {
            refused.remove(&point);
        }
    }

    /// Clauses that share no points must each be paid for.
    fn lower_bound(&self, chosen: &PointSet, refused: &PointSet) -> u64 {
        let mut taken = PointSet::new();
        let mut bound = 0;
        for clause in self.clauses {
            if clause.is_disjoint(chosen) && clause.is_disjoint(&taken) {
                let usable = clause.difference(refused);
                let prices = usable.filter_map(|point| self.costs[point.index()]);
                bound += prices.min().unwrap_or(0);
                taken.extend(clause);
            }
        }
        bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn set(points: &[u32]) -> PointSet {
        points.iter().map(|&point| PointId(point)).collect()
    }

    #[test]
    fn small_cases() {
        let costs = vec![Some(1); 5];
        assert_eq!(cheapest(&[], &costs), Some(set(&[])));
        let clauses = [set(&[0, 1]), set(&[1, 2]), set(&[3])];
        assert_eq!(cheapest(&clauses, &costs), Some(set(&[1, 3])));
        assert_eq!(cheapest(&[set(&[])], &costs), None);
        let dear = vec![Some(1), Some(5), Some(1), None, Some(1)];
        assert_eq!(cheapest(&clauses[..2], &dear), Some(set(&[0, 2])));
        assert_eq!(cheapest(&clauses, &dear), None);
        let all = minimal(&clauses, &costs, 100).unwrap();
        assert_eq!(all, [set(&[1, 3]), set(&[0, 2, 3])]);
        let clauses = [set(&[0, 1, 2]), set(&[2, 3])];
        let first = minimal(&clauses, &costs, 2).unwrap();
        assert_eq!(first, [set(&[2]), set(&[0, 3])]);
        let free = vec![Some(0); 4];
        assert_eq!(minimal(&clauses, &free, 100).unwrap().len(), 3);
        let dear = [set(&[0, 1]), set(&[1, 2])];
        let costs = vec![Some(MOST_COST), Some(2 * MOST_COST - 1), Some(MOST_COST)];
        assert_eq!(cheapest(&dear, &costs), Some(set(&[1])));
        let chain = [set(&[0, 1]), set(&[1, 2]), set(&[2, 3])];
        assert_eq!(cheapest(&chain, &free).map(|set| set.len()), Some(2));
    }

    #[test]
    fn totals_that_do_not_fit() {
        let costs = vec![Some(MOST_COST), None, Some(1)];
        assert_eq!(total(&costs, 3), Some(3 * MOST_COST + 3));
        assert_eq!(total(&costs, u64::MAX / MOST_COST + 1), None);
        assert_eq!(total(&vec![Some(1 << 63); 2], 1), None);
    }

    proptest! {
        #[test]
        fn agrees_with_trying_everything(
            clauses in prop::collection::vec(prop::collection::btree_set(0u32..8, 1..4), 0..10),
            prices in prop::collection::vec(prop::option::weighted(0.9, 1u64..4), 8),
        ) {
            let clauses: Vec<PointSet> =
                clauses.iter().map(|c| c.iter().map(|&p| PointId(p)).collect()).collect();
            let hits = |set: &PointSet| clauses.iter().all(|clause| !clause.is_disjoint(set));
            let subsets = (0u32..256).map(|mask| -> PointSet {
                (0..8).filter(|bit| mask >> bit & 1 == 1).map(PointId).collect()
            });
            let good: Vec<PointSet> = subsets
                .filter(|set| set.iter().all(|p| prices[p.index()].is_some()) && hits(set))
                .collect();
            let least = good.iter().map(|set| cost(set, &prices)).min();
            let found = cheapest(&clauses, &prices);
            prop_assert_eq!(found.as_ref().map(|set| cost(set, &prices)), least);
            prop_assert!(found.is_none_or(|set| hits(&set)));
            let mut expected: Vec<PointSet> = good
                .iter()
                .filter(|set| !good.iter().any(|other| other != *set && other.is_subset(set)))
                .cloned()
                .collect();
            expected.sort_by_key(|set| (cost(set, &prices), set.clone()));
            for most in [1, 2, 5, 1000] {
                let sets = minimal(&clauses, &prices, most).unwrap_or_default();
                prop_assert_eq!(&sets[..], &expected[..most.min(expected.len())]);
            }
        }
    }
}
