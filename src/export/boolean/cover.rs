//! Which cubes imply a bound.
//!
//! A bound on u − v follows from others exactly if these lead from u to v, each from one integer to
//! another, and add up to no more (with sums of two integers: or lead from an integer to its
//! negation, to twice as much). So the cubes are found along ways; that they imply the bound is
//! decided by matrices.

use crate::space::{Fact, Matrix, Node};

/// Something that is known where a condition holds.
#[derive(Debug, Clone)]
pub struct Literal {
    pub fact: Fact,
    /// The boolean, as it is called where it is read.
    pub name: String,
    /// Its value where the fact holds.
    pub truth: bool,
    /// Flags that must be set, as they are called where they are read.
    pub there: Vec<String>,
}

/// When a bound is implied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cover {
    Always,
    /// If one of these cubes holds; each is a list of literals by number.
    Cubes(Vec<Vec<usize>>),
}

impl Cover {
    pub fn is_never(&self) -> bool {
        matches!(self, Cover::Cubes(cubes) if cubes.is_empty())
    }
}

/// What may be used to imply a bound.
pub struct Known<'k> {
    pub literals: &'k [Literal],
    /// What holds in any case.
    pub facts: &'k [Fact],
    pub octagon: bool,
    /// The most literals of a cube.
    pub most: usize,
}

/// Ways may use so many of the facts that hold in any case.
const MOST_FACTS: usize = 2;

impl Known<'_> {
    /// All cubes that imply a bound, without those that others make superfluous.
    pub fn cover(&self, goal: Fact) -> Cover {
        if goal.left == goal.right {
            return match goal.most >= 0 {
                true => Cover::Always,
                false => Cover::Cubes(Vec::new()),
            };
        }
        let mut cubes = Vec::new();
        self.ways(goal, &mut Way::at(goal.left), &mut cubes);
        // A bound on v − (−v) is twice one on v.
        let twice = goal.most.saturating_mul(2).saturating_add(1);
        if self.octagon && goal.right == Node::ZERO {
            let goal = Fact::new(goal.left, goal.left.negated(), twice);
            self.ways(goal, &mut Way::at(goal.left), &mut cubes);
        }
        if self.octagon && goal.left == Node::ZERO {
            let goal = Fact::new(goal.right.negated(), goal.right, twice);
            self.ways(goal, &mut Way::at(goal.left), &mut cubes);
        }
        cubes.retain(|cube| self.implies(cube, goal));
        self.without_superfluous(cubes)
    }

    /// All ways from where one stands to the end of the goal.
    fn ways(&self, goal: Fact, way: &mut Way, cubes: &mut Vec<Vec<usize>>) {
        if way.at == goal.right {
            if way.sum <= goal.most {
                let mut cube = way.literals.clone();
                cube.sort_unstable();
                cube.dedup();
                cubes.push(cube);
            }
            return;
        }
        let literals = self.literals.iter().enumerate();
        let literals = literals.map(|(at, literal)| (Some(at), literal.fact));
        let facts = self.facts.iter().map(|fact| (None, *fact));
        for (literal, fact) in literals.chain(facts) {
            let room = match literal {
                Some(_) => way.literals.len() < self.most,
                None => way.facts < MOST_FACTS,
            };
            if !room {
                continue;
            }
            let mirrored = self.octagon.then(|| fact.negated());
            for fact in [Some(fact), mirrored].into_iter().flatten() {
                let last = way.literals.len() + 1 == self.most && literal.is_some();
                let fits = fact.left == way.at && !way.passed.contains(&fact.right);
                let hopeless = last && self.facts.is_empty() && fact.right != goal.right;
                if !fits || hopeless {
                    continue;
                }
                let mut next = way.clone();
                next.passed.push(way.at);
                next.at = fact.right;
                next.sum += fact.most;
                match literal {
                    Some(literal) => next.literals.push(literal),
                    None => next.facts += 1,
                }
                self.ways(goal, &mut next, cubes);
            }
        }
    }

    /// Whether a cube, with what holds in any case, implies a bound.
    fn implies(&self, cube: &[usize], goal: Fact) -> bool {
        let literals = cube.iter().map(|&at| self.literals[at].fact);
        let facts: Vec<Fact> = literals.chain(self.facts.iter().copied()).collect();
        let nodes = facts.iter().chain([&goal]);
        let nodes = nodes.flat_map(|fact| [fact.left, fact.right]);
        let mut matrix = Matrix::new(nodes, self.octagon);
        facts.iter().for_each(|fact| matrix.note(*fact));
        matrix.close().is_err() || matrix.bound(goal.left, goal.right) <= goal.most
    }

    /// A cube is superfluous if each literal of another one follows from one of its own.
    fn without_superfluous(&self, mut cubes: Vec<Vec<usize>>) -> Cover {
        let follows = |weak: usize, strong: usize| {
            let (weak, strong) = (&self.literals[weak], &self.literals[strong]);
            weak.there == strong.there && weaker(weak.fact, strong.fact)
        };
        let covers = |weak: &[usize], strong: &[usize]| {
            weak.iter()
                .all(|&weak| strong.iter().any(|&strong| follows(weak, strong)))
        };
        cubes.sort_by(|a, b| a.len().cmp(&b.len()).then(a.cmp(b)));
        cubes.dedup();
        let mut kept: Vec<Vec<usize>> = Vec::new();
        for cube in cubes {
            if cube.is_empty() {
                return Cover::Always;
            }
            if kept.iter().any(|other| covers(other, &cube)) {
                continue;
            }
            kept.retain(|other| !covers(&cube, other));
            kept.push(cube);
        }
        Cover::Cubes(kept)
    }
}

/// Whether a bound follows from another one on the same difference.
fn weaker(weak: Fact, strong: Fact) -> bool {
    let same = |fact: Fact| (fact.left, fact.right) == (weak.left, weak.right);
    (same(strong) || same(strong.negated())) && strong.most <= weak.most
}

/// A way from an integer on.
#[derive(Clone)]
struct Way {
    at: Node,
    passed: Vec<Node>,
    sum: i64,
    literals: Vec<usize>,
    facts: usize,
}

impl Way {
    fn at(at: Node) -> Way {
        Way {
            at,
            passed: Vec::new(),
            sum: 0,
            literals: Vec::new(),
            facts: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal(left: u32, right: u32, most: i64) -> Literal {
        Literal {
            fact: Fact::new(Node::of(left), Node::of(right), most),
            name: String::new(),
            truth: true,
            there: Vec::new(),
        }
    }

    #[test]
    fn cubes_are_ways() {
        let literals = [
            literal(1, 2, -1),
            literal(2, 3, 0),
            literal(1, 3, 5),
            literal(3, 4, 0),
        ];
        let cover = |goal: (u32, u32, i64), most: usize| {
            let known = Known {
                literals: &literals,
                facts: &[],
                octagon: false,
                most,
            };
            known.cover(Fact::new(Node::of(goal.0), Node::of(goal.1), goal.2))
        };
        assert_eq!(cover((1, 3, 0), 2), Cover::Cubes(vec![vec![0, 1]]));
        assert_eq!(cover((1, 3, 5), 2), Cover::Cubes(vec![vec![2], vec![0, 1]]));
        assert_eq!(cover((1, 3, -2), 3), Cover::Cubes(Vec::new()));
        assert_eq!(cover((1, 4, 0), 2), Cover::Cubes(Vec::new()));
        assert_eq!(cover((1, 4, 0), 3), Cover::Cubes(vec![vec![0, 1, 3]]));
        assert_eq!(cover((1, 1, 0), 1), Cover::Always);
    }
}
