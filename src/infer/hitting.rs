//! Cheapest and minimal hitting sets, exactly.
//!
//! A clause is a set of fence points of which at least one must carry a fence. There are a
//! few dozen points and at most a few hundred clauses, so a branch-and-bound over the
//! smallest clause that is not hit yet is quick. Ties are broken by the order of points,
//! so the answer is always the same.

use crate::program::{PointId, PointSet};

/// What a fence at each point costs; `None` where there must be none.
pub type Costs = Vec<Option<u64>>;

/// The cost of a set of fences.
pub fn cost(fences: &PointSet, costs: &Costs) -> u64 {
    let each = fences.iter().map(|point| costs[point.index()].unwrap_or(0));
    each.sum()
}

/// The cheapest set of allowed points that hits all clauses, the first in order among
/// equals; `None` if some clause cannot be hit.
pub fn cheapest(clauses: &[PointSet], costs: &Costs) -> Option<PointSet> {
    let clauses = allowed(clauses, costs)?;
    let mut search = Search {
        clauses: &clauses,
        costs,
        best: None,
    };
    search.cheapest(&mut PointSet::new(), &mut PointSet::new(), 0);
    search.best.map(|(_, fences)| fences)
}

/// All minimal sets of allowed points that hit all clauses, cheapest first, at most
/// `most` of them; `None` if some clause cannot be hit.
pub fn minimal(clauses: &[PointSet], costs: &Costs, most: usize) -> Option<Vec<PointSet>> {
    let clauses = allowed(clauses, costs)?;
    let mut sets = vec![PointSet::new()];
    // Berge's method: the minimal hitting sets of the first clauses, extended by the next.
    for clause in &clauses {
        let (hit, open): (Vec<PointSet>, Vec<PointSet>) =
            sets.into_iter().partition(|set| !set.is_disjoint(clause));
        let mut extended = Vec::new();
        for set in &open {
            for &point in clause {
                let mut larger = set.clone();
                larger.insert(point);
                if !hit.iter().any(|other| other.is_subset(&larger)) {
                    extended.push(larger);
                }
            }
        }
        sets = hit;
        sets.append(&mut extended);
        sets.sort_by(|a, b| (cost(a, costs), a).cmp(&(cost(b, costs), b)));
        sets.dedup();
        sets.truncate(most);
    }
    Some(sets)
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
            let mut sets = minimal(&clauses, &prices, 1000).unwrap_or_default();
            expected.sort();
            sets.sort();
            prop_assert_eq!(sets, expected);
        }
    }
}
