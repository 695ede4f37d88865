//! Matrices of bounds: what is known of the differences of integers.
//!
//! A *node* is an integer, its negation, or zero. An entry for a pair (u, v) bounds u − v from
//! above. Where only differences occur, no negations do. With them, a matrix is an octagon:
//! every bound on u − v is one on (−v) − (−u), and a bound on v − (−v) is twice one on v, which
//! is rounded down to an integer. Zero is its own negation, so that the bounds on single
//! integers are entries like others, and closing along paths through zero adds them up.

/// A bound, or that there is none. Sums of bounds saturate and stay bounds.
pub type Bound = i64;

pub const NONE: Bound = Bound::MAX;

/// Bounds stay within these, far from where sums overflow.
const MOST: Bound = 1 << 60;

/// An integer, its negation, or zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Node(pub u32);

impl Node {
    pub const ZERO: Node = Node(0);

    /// The integer with this number, counted from 1.
    pub fn of(integer: u32) -> Node {
        Node(2 * integer)
    }

    /// The number of its integer; 0 for zero.
    pub fn integer(self) -> u32 {
        self.0 / 2
    }

    pub fn negated(self) -> Node {
        match self {
            Node::ZERO => Node::ZERO,
            Node(id) => Node(id ^ 1),
        }
    }
}

/// That `left − right` is at most `most`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fact {
    pub left: Node,
    pub right: Node,
    pub most: Bound,
}

impl Fact {
    pub fn new(left: Node, right: Node, most: Bound) -> Fact {
        Fact { left, right, most }
    }

    /// The same said of the negations.
    pub fn negated(self) -> Fact {
        Fact::new(self.right.negated(), self.left.negated(), self.most)
    }

    /// What follows if it does not hold.
    pub fn refuted(self) -> Fact {
        Fact::new(self.right, self.left, -self.most - 1)
    }
}

/// The sum of two bounds.
pub fn sum(a: Bound, b: Bound) -> Bound {
    match a == NONE || b == NONE {
        true => NONE,
        false => a.saturating_add(b).clamp(-MOST, MOST),
    }
}

/// Bounds on all differences of some nodes.
#[derive(Debug, Clone)]
pub struct Matrix {
    /// Sorted; zero is among them, and with `octagon` the negation of each.
    pub nodes: Vec<Node>,
    /// Row by row.
    cells: Vec<Bound>,
    octagon: bool,
}

/// There are no integers with these differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Empty;

impl Matrix {
    /// Nothing is known of these nodes.
    pub fn new(nodes: impl IntoIterator<Item = Node>, octagon: bool) -> Matrix {
        let mut nodes: Vec<Node> = nodes.into_iter().collect();
        if octagon {
            let negated: Vec<Node> = nodes.iter().map(|node| node.negated()).collect();
            nodes.extend(negated);
        }
        nodes.push(Node::ZERO);
        nodes.sort();
        nodes.dedup();
        let size = nodes.len();
        let mut cells = vec![NONE; size * size];
        for at in 0..size {
            cells[at * size + at] = 0;
        }
        Matrix {
            nodes,
            cells,
            octagon,
        }
    }

    /// Nothing is known of these nodes, in a matrix of the same kind.
    pub fn blank(&self, nodes: impl IntoIterator<Item = Node>) -> Matrix {
        Matrix::new(nodes, self.octagon)
    }

    /// The same with more nodes, of which nothing is known. What is closed stays so.
    pub fn with(&self, more: impl Iterator<Item = Node>) -> Matrix {
        let mut more = more.filter(|node| self.find(*node).is_none()).peekable();
        if more.peek().is_none() {
            return self.clone();
        }
        let mut wider = self.blank(self.nodes.iter().copied().chain(more));
        let places: Vec<usize> = (self.nodes.iter())
            .map(|node| wider.position(*node))
            .collect();
        let (size, width) = (self.size(), wider.size());
        for (row, &to) in self.cells.chunks_exact(size).zip(&places) {
            for (cell, &column) in row.iter().zip(&places) {
                wider.cells[to * width + column] = *cell;
            }
        }
        wider
    }

    fn size(&self) -> usize {
        self.nodes.len()
    }

    fn find(&self, node: Node) -> Option<usize> {
        self.nodes.binary_search(&node).ok()
    }

    /// Where a node is that must be there.
    pub fn position(&self, node: Node) -> usize {
        self.find(node).expect("the node is there")
    }

    /// The bound on the difference of the nodes at two positions.
    pub fn at(&self, row: usize, column: usize) -> Bound {
        self.cells[row * self.size() + column]
    }

    /// Sets the bound on the difference of the nodes at two positions.
    pub fn set(&mut self, row: usize, column: usize, bound: Bound) {
        let size = self.size();
        self.cells[row * size + column] = bound;
    }

    /// The bound on a difference.
    pub fn bound(&self, left: Node, right: Node) -> Bound {
        match (self.find(left), self.find(right)) {
            _ if left == right => 0,
            (Some(left), Some(right)) => self.at(left, right),
            _ => NONE,
        }
    }

    /// All bounds that are there, those of nodes on themselves aside.
    pub fn facts(&self) -> impl Iterator<Item = Fact> {
        let size = self.size();
        let cells = self.cells.iter().enumerate();
        let known = cells.filter(move |(at, bound)| **bound != NONE && at / size != at % size);
        known
            .map(move |(at, bound)| Fact::new(self.nodes[at / size], self.nodes[at % size], *bound))
    }

    /// Notes a bound without drawing conclusions.
    pub fn note(&mut self, fact: Fact) {
        self.note_one(fact);
        if self.octagon {
            self.note_one(fact.negated());
        }
    }

    fn note_one(&mut self, fact: Fact) {
        let (left, right) = (self.position(fact.left), self.position(fact.right));
        let size = self.size();
        let cell = &mut self.cells[left * size + right];
        *cell = fact.most.clamp(-MOST, MOST).min(*cell);
    }

    /// Draws all conclusions.
    pub fn close(&mut self) -> Result<(), Empty> {
        loop {
            let all = 0..self.size();
            all.for_each(|through| self.shorten(through));
            if self.is_negative() {
                return Err(Empty);
            }
            // With integers, a bound on twice a node is rounded down, which may allow more.
            if !self.octagon || !self.tighten() {
                return Ok(());
            }
        }
    }

    /// Takes all ways through one node.
    fn shorten(&mut self, through: usize) {
        let size = self.size();
        for left in 0..size {
            let first = self.cells[left * size + through];
            if first == NONE {
                continue;
            }
            for right in 0..size {
                let around = sum(first, self.cells[through * size + right]);
                let cell = &mut self.cells[left * size + right];
                *cell = around.min(*cell);
            }
        }
    }

    fn is_negative(&self) -> bool {
        let size = self.size();
        (0..size).any(|at| self.cells[at * size + at] < 0)
    }

    /// Halves the bounds on v − (−v); whether anything changed.
    fn tighten(&mut self) -> bool {
        let mut changed = false;
        for node in self.nodes.clone() {
            let twice = self.bound(node, node.negated());
            if node == Node::ZERO || twice == NONE {
                continue;
            }
            let once = twice.div_euclid(2);
            if once < self.bound(node, Node::ZERO) {
                self.note(Fact::new(node, Node::ZERO, once));
                changed = true;
            }
        }
        changed
    }

    /// Adds a bound to a closed matrix, which is closed afterwards.
    pub fn add(&mut self, fact: Fact) -> Result<(), Empty> {
        if fact.left == fact.right {
            return if fact.most < 0 { Err(Empty) } else { Ok(()) };
        }
        if self.bound(fact.left, fact.right) <= fact.most {
            return Ok(());
        }
        if sum(fact.most, self.bound(fact.right, fact.left)) < 0 {
            return Err(Empty);
        }
        self.note(fact);
        for node in [fact.left, fact.right] {
            self.shorten(self.position(node));
        }
        match self.octagon {
            true => self.close(),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    const SIDE: i64 = 7;

    /// All points of a small box that facts about three integers allow.
    fn points(facts: &[Fact]) -> Vec<[i64; 3]> {
        let all = (0..SIDE.pow(3)).map(|n| [n, n / SIDE, n / SIDE / SIDE].map(|n| n % SIDE - 3));
        all.filter(|point| {
            let value = |node: Node| match node {
                Node::ZERO => 0,
                Node(id) => {
                    let value = point[node.integer() as usize - 1];
                    if id % 2 == 0 { value } else { -value }
                }
            };
            let holds = |fact: &Fact| value(fact.left) - value(fact.right) <= fact.most;
            facts.iter().all(holds)
        })
        .collect()
    }

    /// A sequence of numbers that is the same in every run.
    pub fn numbers(seed: u64) -> impl FnMut(i64) -> i64 {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        move |below| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 33) as i64 % below
        }
    }

    /// The box itself.
    fn sides(octagon: bool) -> Vec<Fact> {
        let nodes = (1..=3).map(Node::of);
        let sides = nodes.flat_map(|node| {
            let (upper, lower) = (
                Fact::new(node, Node::ZERO, 3),
                Fact::new(Node::ZERO, node, 3),
            );
            [upper, lower]
        });
        let all: Vec<Fact> = sides.collect();
        assert!(!octagon || all.len() == 6);
        all
    }

    #[test]
    fn closed_bounds_are_those_of_the_points() {
        for seed in 1..400 {
            let octagon = seed % 2 == 0;
            let mut next = numbers(seed);
            let mut facts = sides(octagon);
            for _ in 0..next(5) {
                let node = |id: i64, negated: i64| match id {
                    0 => Node::ZERO,
                    _ if octagon && negated == 1 => Node::of(id as u32).negated(),
                    _ => Node::of(id as u32),
                };
                let (left, right) = (node(next(4), next(2)), node(next(4), next(2)));
                if left != right && left != right.negated() {
                    facts.push(Fact::new(left, right, next(9) - 5));
                }
            }
            let points = points(&facts);
            let mut whole = Matrix::new((1..=3).map(Node::of), octagon);
            facts.iter().for_each(|fact| whole.note(*fact));
            let mut piecemeal = Matrix::new((1..=3).map(Node::of), octagon);
            let added = facts.iter().try_for_each(|fact| piecemeal.add(*fact));
            assert_eq!(whole.close(), added, "{facts:?}");
            assert_eq!(added.is_err(), points.is_empty(), "{facts:?}");
            if added.is_err() {
                continue;
            }
            for matrix in [&whole, &piecemeal] {
                for &left in &matrix.nodes {
                    for &right in &matrix.nodes {
                        let value = |point: &[i64; 3], node: Node| match node {
                            Node::ZERO => 0,
                            Node(id) => {
                                let value = point[node.integer() as usize - 1];
                                if id % 2 == 0 { value } else { -value }
                            }
                        };
                        let gap = |point| value(point, left) - value(point, right);
                        let most = points.iter().map(gap).max();
                        let bound = matrix.bound(left, right);
                        // Twice an integer is even, which the halved bound says.
                        let even = left == right.negated() && left != Node::ZERO;
                        let bound = if even { bound.div_euclid(2) * 2 } else { bound };
                        assert_eq!(Some(bound), most, "{left:?} {right:?} {facts:?}");
                    }
                }
            }
        }
    }
}
