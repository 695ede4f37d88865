//! Zones: what is kept of a matrix, and what a step makes of it.
//!
//! A zone is the closed matrix with every bound rounded up to a *threshold*, and left out if
//! there is none. Closing the rounded matrix and rounding again changes nothing, so a zone is
//! canonical: two matrices that mean the same to the thresholds are one zone. There are finitely
//! many, which is why a search ends.

use super::matrix::{Bound, Empty, Fact, Matrix, NONE, Node, sum};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// The bounds that zones can have. The more there are, the more is told apart.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Thresholds {
    /// For differences of two integers (and sums, in an octagon).
    pub differences: BTreeSet<Bound>,
    /// For single integers.
    pub single: BTreeSet<Bound>,
}

impl Thresholds {
    pub fn len(&self) -> usize {
        self.differences.len() + self.single.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds those that a fact needs to be kept; whether that is anything new.
    pub fn keep(&mut self, fact: Fact) -> bool {
        if fact.left == fact.right || fact.left == fact.right.negated() {
            return false;
        }
        self.of_mut(fact).insert(fact.most)
    }

    fn of_mut(&mut self, fact: Fact) -> &mut BTreeSet<Bound> {
        match fact.left == Node::ZERO || fact.right == Node::ZERO {
            true => &mut self.single,
            false => &mut self.differences,
        }
    }

    /// The least threshold from this bound on.
    fn round(&self, fact: Fact) -> Option<Fact> {
        let set = match fact.left == Node::ZERO || fact.right == Node::ZERO {
            true => &self.single,
            false => &self.differences,
        };
        let most = *set.iter().find(|bound| **bound >= fact.most)?;
        Some(Fact { most, ..fact })
    }
}

impl fmt::Display for Thresholds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |set: &BTreeSet<Bound>| {
            let numbers: Vec<String> = set.iter().map(Bound::to_string).collect();
            numbers.join(",")
        };
        write!(f, "{}/{}", list(&self.differences), list(&self.single))
    }
}

impl FromStr for Thresholds {
    type Err = String;

    /// As they are shown: those for differences, a slash, those for single integers.
    fn from_str(text: &str) -> Result<Thresholds, String> {
        let set = |list: &str| {
            let numbers = list
                .split(',')
                .map(str::trim)
                .filter(|word| !word.is_empty());
            let number = |word: &str| {
                let value = word.parse::<i32>().map(Bound::from);
                value.map_err(|_| format!("'{word}' is not a number of 32 bits"))
            };
            numbers.map(number).collect::<Result<_, _>>()
        };
        let (differences, single) = text.split_once('/').unwrap_or((text, ""));
        Ok(Thresholds {
            differences: set(differences)?,
            single: set(single)?,
        })
    }
}

/// How bounds are kept between steps.
#[derive(Debug, Clone, Copy)]
pub enum Rounding<'a> {
    /// As they are.
    Exact,
    To(&'a Thresholds),
}

/// Facts that are kept, sorted; equal zones have equal facts.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Zone(pub Box<[Fact]>);

/// What a step does to integers: it is possible only if the constraints hold, and then all
/// targets get their values at once. Everything else stays.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Move {
    pub constraints: Vec<Fact>,
    /// By the number of the integer, each at most once.
    pub targets: Vec<(u32, Assigned)>,
}

/// What an integer becomes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Assigned {
    Term(Term),
    /// It is not there any more.
    Gone,
    /// It stands for several values from now on, each of which is one of these.
    Either(Vec<Term>),
    /// One of the values that this one stands for.
    OneOf(Node),
}

/// A node and a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Term {
    pub node: Node,
    pub plus: Bound,
}

impl Term {
    pub fn node(node: Node) -> Term {
        Term { node, plus: 0 }
    }

    pub fn number(plus: Bound) -> Term {
        let node = Node::ZERO;
        Term { node, plus }
    }

    pub fn negated(self) -> Term {
        Term {
            node: self.node.negated(),
            plus: -self.plus,
        }
    }
}

impl Zone {
    /// Nothing is known.
    pub fn anything() -> Zone {
        Zone(Box::new([]))
    }

    /// Whether all that the other one allows is allowed here.
    #[cfg(test)]
    pub fn covers(&self, other: &Zone) -> bool {
        let mut known = other.0.iter();
        self.0.iter().all(|fact| {
            let key = (fact.left, fact.right);
            let found = known.find(|other| (other.left, other.right) >= key);
            found.is_some_and(|o| (o.left, o.right) == key && o.most <= fact.most)
        })
    }

    /// What both allow, and perhaps more.
    pub fn join(&self, other: &Zone) -> Zone {
        let mut joined = Vec::new();
        for fact in &self.0 {
            let key = |other: &Fact| (other.left, other.right).cmp(&(fact.left, fact.right));
            if let Ok(at) = other.0.binary_search_by(key) {
                let most = fact.most.max(other.0[at].most);
                joined.push(Fact { most, ..*fact });
            }
        }
        Zone(joined.into())
    }

    /// The closed matrix of what is known.
    pub fn matrix(&self, octagon: bool) -> Matrix {
        let nodes = self.0.iter().flat_map(|fact| [fact.left, fact.right]);
        let mut matrix = Matrix::new(nodes, octagon);
        self.0.iter().for_each(|fact| matrix.note(*fact));
        matrix.close().expect("a zone is not empty");
        matrix
    }

    /// The zone after a move, if the move is possible.
    pub fn after(&self, step: &Move, octagon: bool, rounding: Rounding) -> Option<Zone> {
        step.post(&self.matrix(octagon), rounding)
    }

    /// What is kept of a closed matrix.
    fn of(matrix: &Matrix, rounding: Rounding) -> Zone {
        // A bound on v − (−v) is twice one on v, which is kept.
        let facts = matrix
            .facts()
            .filter(|fact| fact.left != fact.right.negated());
        Zone(match rounding {
            Rounding::Exact => facts.collect(),
            Rounding::To(thresholds) => facts.filter_map(|fact| thresholds.round(fact)).collect(),
        })
    }
}

impl Move {
    /// The zone after it, given the closed matrix before it; none if it is not possible.
    pub fn post(&self, before: &Matrix, rounding: Rounding) -> Option<Zone> {
        let mut before = before.with(self.read());
        let met = self
            .constraints
            .iter()
            .try_for_each(|fact| before.add(*fact));
        if met == Err(Empty) {
            return None;
        }
        if self.targets.is_empty() {
            return Some(Zone::of(&before, rounding));
        }
        Some(Zone::of(&self.assigned(&before), rounding))
    }

    /// The nodes that it reads.
    pub fn read(&self) -> impl Iterator<Item = Node> {
        let constraints = self.constraints.iter();
        let sources = self
            .targets
            .iter()
            .flat_map(|(_, assigned)| assigned.read());
        constraints
            .flat_map(|fact| [fact.left, fact.right])
            .chain(sources)
    }

    /// The terms that a node is afterwards, and whether it is one of several values.
    pub fn source(&self, node: Node) -> (Vec<Term>, bool) {
        let found = self
            .targets
            .iter()
            .find(|(integer, _)| *integer == node.integer());
        let sign = |term: &Term| match node == Node::of(node.integer()) {
            true => *term,
            false => term.negated(),
        };
        match found {
            _ if node == Node::ZERO => (vec![Term::node(node)], false),
            None => (vec![Term::node(node)], false),
            Some((_, Assigned::Term(term))) => (vec![sign(term)], false),
            Some((_, Assigned::Gone)) => (Vec::new(), false),
            Some((_, Assigned::Either(terms))) => (terms.iter().map(sign).collect(), false),
            Some((_, Assigned::OneOf(one))) => (vec![sign(&Term::node(*one))], true),
        }
    }

    /// The closed matrix after all targets have their values, given the one before.
    ///
    /// Bounds of terms are bounds of their nodes and numbers, and the weakest of several: what
    /// follows from these along a third node is among them already. Only one value of several
    /// loses its bounds on the others, and gets back what follows along third nodes.
    fn assigned(&self, before: &Matrix) -> Matrix {
        let targets = self.targets.iter().map(|(integer, _)| Node::of(*integer));
        let gone = |node: &Node| self.source(*node).0.is_empty();
        let nodes = before.nodes.iter().copied().chain(targets);
        let mut after = before.blank(nodes.filter(|node| !gone(node)));
        let sources: Vec<Source> = (after.nodes.iter())
            .map(|node| {
                let (terms, chosen) = self.source(*node);
                let at = |term: Term| (before.position(term.node), term);
                let terms = terms.into_iter().map(at).collect();
                Source { terms, chosen }
            })
            .collect();
        let chooses = sources.iter().any(|source| source.chosen);
        for (row, left) in sources.iter().enumerate() {
            for (column, right) in sources.iter().enumerate() {
                if row != column {
                    after.set(row, column, left.minus(right, before));
                }
            }
        }
        if chooses {
            after.close().expect("there were integers before");
        }
        after
    }
}

/// What a node is after a move: one of some terms, with the positions of their nodes before it.
struct Source {
    terms: Vec<(usize, Term)>,
    /// It is one of the values that its node stood for.
    chosen: bool,
}

impl Source {
    /// The bound on the difference of two nodes.
    fn minus(&self, other: &Source, before: &Matrix) -> Bound {
        // One of several values, and the others: they are not the same.
        let apart = self.chosen != other.chosen;
        let bound = |(row, left): &(usize, Term), (column, right): &(usize, Term)| match left
            .node
            .integer()
            == right.node.integer()
        {
            true if apart && left.node != Node::ZERO => NONE,
            _ => sum(before.at(*row, *column), left.plus - right.plus),
        };
        let pairs = self.terms.iter();
        let pairs = pairs.flat_map(|left| other.terms.iter().map(move |right| bound(left, right)));
        pairs.max().unwrap_or(NONE)
    }
}

impl Assigned {
    fn read(&self) -> Vec<Node> {
        match self {
            Assigned::Term(term) => vec![term.node],
            Assigned::Gone => Vec::new(),
            Assigned::Either(terms) => terms.iter().map(|term| term.node).collect(),
            Assigned::OneOf(node) => vec![*node],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::matrix::tests::numbers;
    use super::*;

    /// What a move leaves is closed, whatever is assigned.
    #[test]
    fn matrices_stay_closed() {
        let (mut moves, mut chosen) = (0, 0);
        for seed in 1..3000 {
            let octagon = seed % 2 == 0;
            let mut next = numbers(seed);
            let node = |id: i64, negated: i64| match id {
                0 => Node::ZERO,
                _ if octagon && negated == 1 => Node::of(id as u32).negated(),
                _ => Node::of(id as u32),
            };
            let mut before = Matrix::new((1..=3).map(Node::of), octagon);
            for _ in 0..next(6) {
                let (left, right) = (node(next(4), next(2)), node(next(4), next(2)));
                if left != right && left != right.negated() {
                    before.note(Fact::new(left, right, next(9) - 3));
                }
            }
            if before.close().is_err() {
                continue;
            }
            let mut step = Move::default();
            for integer in 1..=4 {
                let mut term = || Term {
                    node: node(next(4), next(2)),
                    plus: next(5) - 2,
                };
                let (one, other) = (term(), term());
                let assigned = match next(5) {
                    0 => Assigned::Term(one),
                    1 => Assigned::Gone,
                    2 => Assigned::Either(vec![one, other]),
                    3 if one.node != Node::ZERO => Assigned::OneOf(one.node),
                    _ => continue,
                };
                chosen += usize::from(matches!(assigned, Assigned::OneOf(_)));
                step.targets.push((integer, assigned));
            }
            let after = step.assigned(&before.with(step.read()));
            let mut again = after.clone();
            again.close().expect("there were integers before");
            // A bound on twice an integer follows from one on it.
            let once = |fact: &Fact| fact.left != fact.right.negated();
            let (kept, all): (Vec<Fact>, Vec<Fact>) = (
                after.facts().filter(once).collect(),
                again.facts().filter(once).collect(),
            );
            assert_eq!(kept, all, "seed {seed}: {step:?}");
            moves += 1;
        }
        assert!(moves > 2000 && chosen > 500, "{moves} {chosen}");
    }
}
