//! Matrices of bounds and what moves make of them, against Z3.
//!
//! Without Z3 there is nothing to compare with, and the tests say that they are skipped. With
//! `FENCESMITH_Z3` set it must be there; if it is `all`, more is compared.

use fencesmith::space::{Assigned, Fact, Matrix, Move, Node, Rounding, Term, Thresholds, Zone};
use fencesmith_testing::random::Random;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// The integers of a random case.
const INTEGERS: u32 = 4;

/// A difference that small constants do not bound.
const FAR: i64 = 1_000_000;

/// How many cases are compared, if Z3 is there.
fn cases() -> Option<u64> {
    let wanted = std::env::var("FENCESMITH_Z3").ok();
    let found = Command::new("z3").arg("--version").output();
    if found.is_ok_and(|output| output.status.success()) {
        let all = wanted.is_some_and(|value| value == "all");
        return Some(if all { 400 } else { 12 });
    }
    assert!(wanted.is_none(), "z3 is not installed");
    let test = std::thread::current();
    let test = test.name().unwrap_or_default();
    // Not by a macro: what these print is only shown if a test fails.
    let _ = writeln!(std::io::stderr(), "SKIPPED: z3 is not installed ({test})");
    None
}

/// Questions to Z3, and what they should be answered.
#[derive(Default)]
struct Script {
    text: String,
    expected: Vec<(bool, String)>,
}

impl Script {
    fn declare(&mut self, prefix: char) {
        for integer in 1..=INTEGERS + 1 {
            let _ = writeln!(self.text, "(declare-const {prefix}{integer} Int)");
        }
    }

    fn begin(&mut self, assumed: &[String]) {
        self.text.push_str("(push)\n");
        for assumption in assumed {
            let _ = writeln!(self.text, "(assert {assumption})");
        }
    }

    fn end(&mut self) {
        self.text.push_str("(pop)\n");
    }

    /// Asks whether something can hold as well.
    fn ask(&mut self, condition: &str, possible: bool, what: &str) {
        self.begin(&[condition.to_string()]);
        self.text.push_str("(check-sat)\n");
        self.end();
        self.expected
            .push((possible, format!("{what}: {condition}")));
    }

    /// Everything that a bound claims: it holds, and no smaller one does.
    fn bound(&mut self, prefix: char, left: Node, right: Node, most: Option<i64>, what: &str) {
        let difference = format!("(- {} {})", term(prefix, left), term(prefix, right));
        match most {
            Some(most) => {
                self.ask(&format!("(> {difference} {})", number(most)), false, what);
                self.ask(&format!("(= {difference} {})", number(most)), true, what);
            }
            None => self.ask(&format!("(> {difference} {FAR})"), true, what),
        }
    }

    fn run(&self) {
        let mut z3 = Command::new("z3")
            .arg("-in")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("z3 runs");
        let mut input = z3.stdin.take().expect("it reads");
        let text = self.text.clone();
        let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
        let output = z3.wait_with_output().expect("it ends");
        writer.join().expect("no panic").expect("z3 reads it all");
        let said = String::from_utf8_lossy(&output.stdout);
        let answers: Vec<&str> = said.lines().collect();
        assert_eq!(answers.len(), self.expected.len(), "{said}");
        for (answer, (possible, what)) in answers.iter().zip(&self.expected) {
            let expected = if *possible { "sat" } else { "unsat" };
            assert_eq!(*answer, expected, "{what}");
        }
    }
}

fn number(value: i64) -> String {
    match value < 0 {
        true => format!("(- {})", -value),
        false => value.to_string(),
    }
}

fn term(prefix: char, node: Node) -> String {
    match node {
        Node::ZERO => "0".to_string(),
        node if node == Node::of(node.integer()) => format!("{prefix}{}", node.integer()),
        node => format!("(- {prefix}{})", node.integer()),
    }
}

fn said(prefix: char, fact: &Fact) -> String {
    let (left, right) = (term(prefix, fact.left), term(prefix, fact.right));
    format!("(<= (- {left} {right}) {})", number(fact.most))
}

/// A node: an integer, zero, or in octagons a negation.
fn node(random: &mut Random, octagon: bool) -> Node {
    match random.below(INTEGERS as usize + 1) as u32 {
        0 => Node::ZERO,
        integer if octagon && random.chance(40) => Node::of(integer).negated(),
        integer => Node::of(integer),
    }
}

fn facts(random: &mut Random, octagon: bool) -> Vec<Fact> {
    let count = 2 + random.below(5);
    let mut facts = Vec::new();
    while facts.len() < count {
        let (left, right) = (node(random, octagon), node(random, octagon));
        // What a step asks is a bound on two integers, or on one and zero.
        if left.integer() != right.integer() {
            facts.push(Fact::new(left, right, random.between(-3, 4)));
        }
    }
    facts
}

fn nodes(octagon: bool) -> Vec<Node> {
    let plus = (1..=INTEGERS).map(Node::of);
    let minus = plus.clone().filter(|_| octagon).map(Node::negated);
    plus.clone().chain(minus).chain([Node::ZERO]).collect()
}

fn known(bound: i64) -> Option<i64> {
    (bound != i64::MAX).then_some(bound)
}

fn pairs(octagon: bool) -> Vec<(Node, Node)> {
    let all = nodes(octagon);
    let pairs = all.iter().flat_map(|l| all.iter().map(move |r| (*l, *r)));
    pairs.filter(|(l, r)| l.integer() != r.integer()).collect()
}

#[test]
fn closed_matrices() {
    let Some(cases) = cases() else { return };
    for octagon in [false, true] {
        let mut script = Script::default();
        script.declare('x');
        let mut empty = 0;
        for seed in 0..cases {
            let random = &mut Random(seed);
            let facts = facts(random, octagon);
            let assumed: Vec<String> = facts.iter().map(|fact| said('x', fact)).collect();
            let mut whole = Matrix::new(nodes(octagon), octagon);
            facts.iter().for_each(|fact| whole.note(*fact));
            let closed = whole.close();
            let mut step_by_step = Matrix::new(nodes(octagon), octagon);
            let added = facts.iter().try_for_each(|fact| step_by_step.add(*fact));
            assert_eq!(closed.is_ok(), added.is_ok(), "{facts:?}");
            script.begin(&assumed);
            let what = format!("{octagon} {facts:?}");
            script.ask("true", closed.is_ok(), &what);
            if closed.is_ok() {
                for (left, right) in pairs(octagon) {
                    let bound = whole.bound(left, right);
                    assert_eq!(bound, step_by_step.bound(left, right), "{facts:?}");
                    script.bound('x', left, right, known(bound), &what);
                }
            } else {
                empty += 1;
            }
            script.end();
        }
        assert!(empty < cases, "all are empty");
        script.run();
    }
}

/// A move, with what it says about the integers before and after it.
fn random_move(random: &mut Random, octagon: bool) -> (Move, Vec<String>) {
    let mut data = Move::default();
    let mut assumed = Vec::new();
    for _ in 0..random.below(3) {
        let (left, right) = (node(random, octagon), node(random, octagon));
        if left.integer() != right.integer() {
            let fact = Fact::new(left, right, random.between(-2, 3));
            assumed.push(said('x', &fact));
            data.constraints.push(fact);
        }
    }
    for integer in 1..=INTEGERS {
        let new = format!("y{integer}");
        match random.below(4) {
            0 => {
                let node = node(random, octagon);
                let plus = random.between(-2, 2);
                assumed.push(format!(
                    "(= {new} (+ {} {}))",
                    term('x', node),
                    number(plus)
                ));
                data.targets
                    .push((integer, Assigned::Term(Term { node, plus })));
            }
            // Nothing is known of it afterwards.
            1 => data.targets.push((integer, Assigned::Gone)),
            _ => assumed.push(format!("(= {new} x{integer})")),
        }
    }
    (data, assumed)
}

#[test]
fn posts() {
    let Some(cases) = cases() else { return };
    for octagon in [false, true] {
        let mut script = Script::default();
        script.declare('x');
        script.declare('y');
        let mut possible = 0;
        for seed in 0..cases {
            let random = &mut Random(seed);
            let start = Move {
                constraints: facts(random, octagon),
                targets: Vec::new(),
            };
            let Some(before) = Zone::anything().after(&start, octagon, Rounding::Exact) else {
                continue;
            };
            let (data, assumed) = random_move(random, octagon);
            let thresholds: Thresholds = "-2,0,1/-1,2".parse().expect("thresholds");
            let after = before.after(&data, octagon, Rounding::Exact);
            let rounded = before.after(&data, octagon, Rounding::To(&thresholds));
            assert_eq!(after.is_some(), rounded.is_some());
            let mut all: Vec<String> = before.0.iter().map(|fact| said('x', fact)).collect();
            all.extend(assumed);
            let what = format!("{octagon} {before:?} {data:?}");
            script.begin(&all);
            script.ask("true", after.is_some(), &what);
            if let (Some(after), Some(rounded)) = (after, rounded) {
                possible += 1;
                let gone = |node: Node| {
                    let of = |(integer, to): &(u32, Assigned)| {
                        *integer == node.integer() && *to == Assigned::Gone
                    };
                    data.targets.iter().any(of)
                };
                for (left, right) in pairs(octagon) {
                    let find = |zone: &Zone| {
                        let same = |fact: &&Fact| (fact.left, fact.right) == (left, right);
                        zone.0.iter().find(same).map(|fact| fact.most)
                    };
                    let exact = find(&after);
                    script.bound('y', left, right, exact, &what);
                    // The rounded bound is the least threshold that holds.
                    let single = left == Node::ZERO || right == Node::ZERO;
                    let set = if single {
                        &thresholds.single
                    } else {
                        &thresholds.differences
                    };
                    let kept = find(&rounded);
                    let least = exact.and_then(|most| set.range(most..).next().copied());
                    assert_eq!(kept, least, "{what}: {left:?} {right:?}");
                    assert!(exact.is_none() || !gone(left) && !gone(right), "{what}");
                }
            }
            script.end();
        }
        assert!(
            possible * 4 > cases,
            "only {possible} of {cases} are possible"
        );
        script.run();
    }
}
