//! Why a way of the search is none of the program: the facts that rule it out.
//!
//! The moves of a way are made once more without rounding. Where they come to an end, the first
//! constraint that cannot be met needs a fact that holds before it. The fact is followed back to
//! the start: what must hold before a move so that it holds after it. With the bounds of all
//! these facts as thresholds, every one of them survives rounding, so that the same way ends at
//! the same constraint. Going back, not forward, keeps facts about two integers what they are;
//! forward, a ticket would be 1, then 2, then 3.

use super::matrix::{Fact, Matrix, Node, sum};
use super::search::Way;
use super::zone::{Move, Rounding, Thresholds, Zone};

/// Whether a way can be gone without rounding.
pub enum Gone {
    ToItsEnd,
    /// It cannot, and these facts, each at the beginning of some step, say why.
    RuledOutBy(Vec<Fact>),
}

/// Goes a way without rounding. `start` is what is known at its beginning.
pub fn go(way: &Way, start: Zone, octagon: bool) -> Gone {
    let end = Move {
        constraints: way.end.clone(),
        ..Move::default()
    };
    let moves: Vec<&Move> = way
        .steps
        .iter()
        .map(|step| &*step.data)
        .chain([&end])
        .collect();
    let mut zones = vec![start];
    for data in &moves {
        let zone = zones.last().expect("there is a first one");
        match zone.after(data, octagon, Rounding::Exact) {
            Some(after) => zones.push(after),
            None => {
                let done = zones.len();
                let refutation = Refutation { octagon };
                return Gone::RuledOutBy(refutation.facts(&zones, &moves[..done]));
            }
        }
    }
    Gone::ToItsEnd
}

/// Adds what a refutation needs; whether that is anything new.
pub fn learn(thresholds: &mut Thresholds, facts: &[Fact]) -> bool {
    let mut new = false;
    for fact in facts {
        new |= thresholds.keep(*fact);
    }
    new
}

struct Refutation {
    octagon: bool,
}

impl Refutation {
    /// The facts that are needed before each move, of which the last one is impossible.
    fn facts(&self, zones: &[Zone], moves: &[&Move]) -> Vec<Fact> {
        let mut all = Vec::new();
        let last = moves.len() - 1;
        let mut needed = self.before_empty(&zones[last], moves[last]);
        all.extend(needed.iter().copied());
        for at in (0..last).rev() {
            needed = self.before(&zones[at], moves[at], &needed);
            all.extend(needed.iter().copied());
        }
        all
    }

    /// The matrices before each constraint of a move, up to the first that cannot be met, and
    /// after the last.
    fn matrices(&self, zone: &Zone, data: &Move) -> Vec<Matrix> {
        let mut matrices = vec![zone.matrix(self.octagon).with(data.read())];
        for fact in &data.constraints {
            let mut next = matrices.last().expect("there is a first one").clone();
            match next.add(*fact) {
                Ok(()) => matrices.push(next),
                Err(_) => break,
            }
        }
        matrices
    }

    /// What must hold before a move that is impossible.
    fn before_empty(&self, zone: &Zone, data: &Move) -> Vec<Fact> {
        let matrices = self.matrices(zone, data);
        let at = matrices.len() - 1;
        let refuted = data.constraints[at].refuted();
        let needed = match matrices[at].bound(refuted.left, refuted.right) <= refuted.most {
            true => vec![refuted],
            // Only halves of odd numbers rule it out.
            false => self.least(&matrices[at], |matrix| {
                matrix.add(data.constraints[at]).is_err()
            }),
        };
        self.before_constraints(&matrices[..=at], &data.constraints[..at], needed)
    }

    /// What must hold before a move so that these facts hold after it.
    fn before(&self, zone: &Zone, data: &Move, needed: &[Fact]) -> Vec<Fact> {
        let mut facts = Vec::new();
        for fact in needed {
            let (lefts, _) = data.source(fact.left);
            let (rights, _) = data.source(fact.right);
            for left in &lefts {
                for right in &rights {
                    let most = sum(fact.most, right.plus - left.plus);
                    facts.push(Fact::new(left.node, right.node, most));
                }
            }
        }
        let matrices = self.matrices(zone, data);
        self.before_constraints(&matrices, &data.constraints, facts)
    }

    /// The same for constraints that are met one after the other.
    fn before_constraints(
        &self,
        matrices: &[Matrix],
        constraints: &[Fact],
        mut needed: Vec<Fact>,
    ) -> Vec<Fact> {
        for (constraint, before) in constraints.iter().zip(matrices).rev() {
            let facts = needed.into_iter();
            needed = facts
                .flat_map(|fact| self.split(before, *constraint, fact))
                .collect();
        }
        // What is said of twice an integer is said of it once.
        for fact in &mut needed {
            if fact.left == fact.right.negated() && fact.left != Node::ZERO {
                *fact = Fact::new(fact.left, Node::ZERO, fact.most.div_euclid(2));
            }
        }
        needed.retain(|fact| fact.left != fact.right);
        needed.sort();
        needed.dedup();
        needed
    }

    /// What a fact needs before a constraint is met: itself, if it held already, or what leads
    /// to it along the constraint.
    fn split(&self, before: &Matrix, constraint: Fact, fact: Fact) -> Vec<Fact> {
        if fact.left == fact.right || before.bound(fact.left, fact.right) <= fact.most {
            return vec![fact];
        }
        for along in [constraint, constraint.negated()] {
            let to = before.bound(fact.left, along.left);
            let from = before.bound(along.right, fact.right);
            if sum(sum(to, along.most), from) <= fact.most {
                let rest = fact.most - along.most - to;
                let first = Fact::new(fact.left, along.left, to);
                return vec![first, Fact::new(along.right, fact.right, rest)];
            }
            if !self.octagon {
                break;
            }
        }
        self.least(before, |matrix| {
            matrix.add(constraint).is_err() || matrix.bound(fact.left, fact.right) <= fact.most
        })
    }

    /// As few facts of a matrix as are enough for something; those about single integers are
    /// given up first.
    fn least(&self, matrix: &Matrix, enough: impl Fn(&mut Matrix) -> bool) -> Vec<Fact> {
        let mut facts: Vec<Fact> = matrix.facts().collect();
        facts.retain(|fact| fact.left != fact.right.negated());
        facts.sort_by_key(|fact| fact.left != Node::ZERO && fact.right != Node::ZERO);
        let mut at = 0;
        while at < facts.len() {
            let mut fewer = facts.clone();
            fewer.remove(at);
            let mut rest = Matrix::new(matrix.nodes.iter().copied(), self.octagon);
            fewer.iter().for_each(|fact| rest.note(*fact));
            let closed = rest.close();
            closed.expect("fewer facts leave more");
            match enough(&mut rest) {
                true => facts = fewer,
                false => at += 1,
            }
        }
        facts
    }
}
