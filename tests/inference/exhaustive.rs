//! Inference against trying every set of fences.

use fencesmith::infer::hitting::{Costs, cost};
use fencesmith::infer::{
    Conclusion, EngineKind, InferOptions, Inference, Obstacle, Optimality, OrderingRules, Paths,
    PdPrevent, Placement, Prices, infer,
};
use fencesmith::limits::{Limits, Monitor};
use fencesmith::lower::compile;
use fencesmith::memory::{Abstraction, Atomics, Model, Semantics};
use fencesmith::program::{FenceKind, PointId, PointSet, Program};
use fencesmith::source::{Source, Span};
use fencesmith::space::End;
use fencesmith::verify::{Strategy, VerifyOptions};
use fencesmith_testing::cases::{Mode, case, families, run};
use fencesmith_testing::oracle;
use fencesmith_testing::random::seeds;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::Path;

/// Programs with more points, or with more states, are left out.
const MOST_POINTS: usize = 9;
const MOST_STATES: u64 = 20_000;

/// More than any of the programs has.
const ALL: usize = 1000;

const MODELS: [Model; 2] = [Model::Tso, Model::Pso];

/// A set of fences as bits, the first point the lowest.
type Mask = usize;

fn points(mask: Mask) -> PointSet {
    let bits = 0..usize::BITS;
    bits.filter(|bit| mask >> bit & 1 == 1)
        .map(PointId)
        .collect()
}

fn mask(fences: &PointSet) -> Mask {
    fences.iter().map(|point| 1 << point.index()).sum()
}

/// The masks with one bit less.
fn smaller(mask: Mask) -> impl Iterator<Item = Mask> {
    let bits = (0..usize::BITS).map(|bit| 1 << bit);
    bits.filter(move |bit| mask & bit != 0)
        .map(move |bit| mask & !bit)
}

#[derive(Debug, Clone, Copy)]
struct Setup {
    model: Model,
    abstraction: Abstraction,
    atomics: Atomics,
    engine: EngineKind,
    ordering: OrderingRules,
}

/// Every way to read ordering constraints.
fn orderings() -> impl Iterator<Item = OrderingRules> + Clone {
    let rules = [PdPrevent::Mix, PdPrevent::Literal, PdPrevent::Latest];
    let both = [Paths::All, Paths::Acyclic].into_iter();
    both.flat_map(move |paths| {
        let rules = rules.into_iter();
        rules.map(move |pd_prevent| OrderingRules { paths, pd_prevent })
    })
}

impl Setup {
    /// Whether no violation is reachable, real or not; `None` if there are too many states.
    fn correct(&self, program: &Program, fences: Mask) -> Option<bool> {
        self.proves(&program.fenced(&points(fences)))
    }

    fn proves(&self, program: &Program) -> Option<bool> {
        let mode = Mode {
            fuse: true,
            reset_dead: true,
            full: false,
            threads: 1,
            labelled: false,
            max_states: Some(MOST_STATES),
        };
        let found = run(program, (self.model, self.abstraction), self.atomics, &mode);
        match found.end {
            _ if found.violation.is_some() => Some(false),
            End::Limit(_) => None,
            _ => Some(true),
        }
    }

    fn infer(&self, program: &Program, costs: &Costs, all: Option<usize>, auto: bool) -> Inference {
        let options = InferOptions {
            all,
            why: true,
            ..self.growing(auto, costs)
        };
        infer(program, &options, &Monitor::default())
    }

    /// Options with a k that may grow.
    fn growing(&self, auto: bool, costs: &Costs) -> InferOptions {
        InferOptions {
            verify: VerifyOptions {
                strategy: match auto {
                    true => Strategy::Refine,
                    false => Strategy::Fixed,
                },
                ..self.options(costs).verify
            },
            ..self.options(costs)
        }
    }

    /// The abstraction, and some of those that are tried after it if k may grow.
    fn tried(self, auto: bool) -> impl Iterator<Item = Setup> {
        let first = self.abstraction.k().expect("it has a head");
        let last = if auto { 3 } else { first };
        (first..=last).map(move |k| self.under(self.model, Abstraction::Fd { k }))
    }

    fn options(&self, costs: &Costs) -> InferOptions {
        InferOptions {
            engine: self.engine,
            ordering: self.ordering,
            ..InferOptions::new(
                VerifyOptions {
                    limits: Limits {
                        max_states: Some(50 * MOST_STATES),
                        ..Limits::default()
                    },
                    ..VerifyOptions::under(Semantics {
                        atomics: self.atomics,
                        ..Semantics::new(self.model, self.abstraction)
                    })
                },
                costs.clone(),
            )
        }
    }

    fn by(self, engine: EngineKind) -> Setup {
        Setup { engine, ..self }
    }

    fn ordered_by(self, ordering: OrderingRules) -> Setup {
        Setup {
            engine: EngineKind::Ordering,
            ordering,
            ..self
        }
    }

    /// With the model or the abstraction replaced.
    fn under(self, model: Model, abstraction: Abstraction) -> Setup {
        Setup {
            model,
            abstraction,
            ..self
        }
    }
}

/// For every set of fences, whether the program is correct with it.
struct Truth(Vec<bool>);

impl Truth {
    /// Verifies each set.
    fn of_each(program: &Program, setup: &Setup) -> Option<Truth> {
        let sets = 0..1 << program.points.len();
        sets.map(|set| setup.correct(program, set))
            .collect::<Option<Vec<bool>>>()
            .map(Truth)
    }

    /// Verifies the sets that do not follow from others: a set is correct if a part of it
    /// is, and incorrect if a larger one is.
    fn of_decisive(program: &Program, setup: &Setup) -> Option<Truth> {
        let all: Mask = (1 << program.points.len()) - 1;
        let mut correct = vec![false; all + 1];
        let mut failing: Vec<Mask> = Vec::new();
        let mut order: Vec<Mask> = (0..=all).collect();
        order.sort_by_key(|set| set.count_ones());
        for set in order {
            if smaller(set).any(|part| correct[part]) {
                correct[set] = true;
            } else if !failing.iter().any(|large| set & !large == 0) {
                correct[set] = setup.correct(program, set)?;
                if !correct[set] {
                    let mut large = set;
                    for bit in (0..program.points.len()).map(|bit| 1 << bit) {
                        if large & bit == 0 && !setup.correct(program, large | bit)? {
                            large |= bit;
                        }
                    }
                    failing.push(large);
                }
            }
        }
        Some(Truth(correct))
    }

    fn is_monotone(&self) -> bool {
        let sets = 0..self.0.len();
        let mut steps = sets.flat_map(|set| smaller(set).map(move |part| (part, set)));
        steps.all(|(part, set)| !self.0[part] || self.0[set])
    }

    /// The minimal correct sets of points that have a price, cheapest first.
    fn minimal(&self, costs: &Costs) -> Vec<(u64, PointSet)> {
        let sets = (0..self.0.len()).filter(|&set| set & !allowed(costs) == 0);
        let minimal = sets.filter(|&set| self.0[set] && !smaller(set).any(|part| self.0[part]));
        let mut sets: Vec<_> = minimal
            .map(|set| (cost(&points(set), costs), points(set)))
            .collect();
        sets.sort();
        sets
    }
}

/// All points that have a price.
fn allowed(costs: &Costs) -> Mask {
    let priced = costs.iter().enumerate().filter(|(_, cost)| cost.is_some());
    priced.map(|(point, _)| 1 << point).sum()
}

fn uniform(program: &Program) -> Costs {
    vec![Some(1); program.points.len()]
}

/// Random prices from 0 to 3, and some points without one.
fn prices(program: &Program, seed: u64) -> Costs {
    let mut state = seed;
    let mut next = |n: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % n
    };
    let each = program.points.iter();
    each.map(|_| (next(6) != 0).then(|| next(4))).collect()
}

/// What was compared, to know that something was.
#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    wrong_under_sc: usize,
    correct: usize,
    placed: usize,
    /// Of those, more than one minimal placement.
    several: usize,
    stuck: usize,
    left_out: usize,
}

impl std::ops::Add for Tally {
    type Output = Tally;

    fn add(self, other: Tally) -> Tally {
        Tally {
            wrong_under_sc: self.wrong_under_sc + other.wrong_under_sc,
            correct: self.correct + other.correct,
            placed: self.placed + other.placed,
            several: self.several + other.several,
            stuck: self.stuck + other.stuck,
            left_out: self.left_out + other.left_out,
        }
    }
}

/// Compares all engines with the truth; the tally is the lazy engine's.
fn compare_all(program: &Program, setup: Setup, truth: &Truth, costs: &Costs, name: &str) -> Tally {
    let tally = compare(program, &setup, truth, costs, name);
    let points = compare(program, &setup.by(EngineKind::Points), truth, costs, name);
    assert_eq!(points.placed, tally.placed, "{setup:?} {name}");
    for rules in orderings().step_by(3) {
        ordered(program, &setup.ordered_by(rules), truth, costs, name);
    }
    tally
}

/// Ordering constraints give correct placements only, if not always the cheapest.
fn ordered(program: &Program, setup: &Setup, truth: &Truth, costs: &Costs, name: &str) {
    let found = setup.infer(program, costs, Some(ALL), false);
    let what = format!(
        "{setup:?} {costs:?}\n{}\n{name}",
        summary(&found.conclusion)
    );
    let expected = truth.minimal(costs);
    match &found.conclusion {
        Conclusion::Correct(_) => assert!(truth.0[0], "not correct, {what}"),
        Conclusion::Placed(placed) => {
            assert!(!truth.0[0], "correct, {what}");
            for placement in placed.all.iter().chain([&placed.best]) {
                assert!(truth.0[mask(&placement.fences)], "{what}");
            }
            assert!(placed.best.cost >= expected[0].0, "too cheap, {what}");
        }
        Conclusion::IncorrectUnderSc(..)
        | Conclusion::Inconclusive(Obstacle::Limit(_) | Obstacle::FormulaTooLarge) => {}
        Conclusion::Unfixable(..) | Conclusion::Inconclusive(Obstacle::TooCoarse) => {
            assert!(expected.is_empty(), "fixable, {what}");
        }
        Conclusion::Inconclusive(Obstacle::Inexpressible) => {}
        Conclusion::Inconclusive(
            Obstacle::Unverified
            | Obstacle::CostsTooLarge
            | Obstacle::Heap
            | Obstacle::Diverging
            | Obstacle::Integers,
        ) => {
            panic!("{what}")
        }
    }
}

/// Compares the inference under FD with a fixed k with the truth.
fn compare(program: &Program, setup: &Setup, truth: &Truth, costs: &Costs, name: &str) -> Tally {
    let mut tally = Tally::default();
    let sc = setup.under(Model::Sc, setup.abstraction);
    let Some(right) = sc.correct(program, 0) else {
        tally.left_out = 1;
        return tally;
    };
    let found = setup.infer(program, costs, Some(ALL), false);
    let expected = truth.minimal(costs);
    let what = format!(
        "{setup:?} {costs:?}\n{}\n{name}",
        summary(&found.conclusion)
    );
    match &found.conclusion {
        _ if !right => {
            let wrong = matches!(found.conclusion, Conclusion::IncorrectUnderSc(..));
            assert!(wrong, "wrong under SC, {what}");
            tally.wrong_under_sc = 1;
        }
        Conclusion::IncorrectUnderSc(..) => panic!("right under SC, {what}"),
        Conclusion::Correct(_) => {
            assert!(truth.0[0], "not correct, {what}");
            tally.correct = 1;
        }
        Conclusion::Placed(placed) => {
            assert!(!truth.0[0], "correct, {what}");
            let sets: Vec<_> = placed.all.iter().map(known).collect();
            assert_eq!(sets, expected, "{what}");
            assert!(expected.contains(&known(&placed.best)), "{what}");
            assert_eq!(placed.best.cost, expected[0].0, "{what}");
            // Where formulas are only sufficient, there may be more.
            let exact = placed.optimality != Optimality::Unknown;
            assert!(!placed.more || !exact, "{what}");
            assert_eq!(placed.best.why.len(), placed.best.fences.len(), "{what}");
            for (point, why) in placed.best.fences.iter().zip(&placed.best.why) {
                let mut fewer = placed.best.fences.clone();
                fewer.remove(point);
                let fewer = program.fenced(&fewer);
                let shown = why
                    .counterexample
                    .as_ref()
                    .and_then(|(_, why)| why.last().violation(&fewer));
                assert!(shown.is_some(), "no reason for {point:?}, {what}");
            }
            tally.several = usize::from(expected.len() > 1);
            for most in [1, expected.len() - 1, expected.len()] {
                first_few(program, setup, costs, &expected, most, &what);
            }
            tally.placed = 1;
        }
        Conclusion::Unfixable(..) => {
            assert!(expected.is_empty(), "fixable, {what}");
            let fences = allowed(costs);
            assert!(really_fails(program, setup, fences), "unreal, {what}");
            tally.stuck = 1;
        }
        Conclusion::Inconclusive(Obstacle::TooCoarse) => {
            assert!(expected.is_empty(), "fixable, {what}");
            tally.stuck = 1;
        }
        Conclusion::Inconclusive(
            Obstacle::Inexpressible
            | Obstacle::Unverified
            | Obstacle::CostsTooLarge
            | Obstacle::Heap
            | Obstacle::Diverging
            | Obstacle::Integers,
        ) => panic!("{what}"),
        Conclusion::Inconclusive(Obstacle::Limit(_) | Obstacle::FormulaTooLarge) => {
            tally.left_out = 1
        }
    }
    tally
}

/// An outcome without its traces.
fn summary(outcome: &Conclusion) -> String {
    match outcome {
        Conclusion::Correct(_) => "correct".to_string(),
        Conclusion::Placed(placed) => {
            let all: Vec<_> = placed.all.iter().map(known).collect();
            let best = known(&placed.best);
            format!("{best:?} of {all:?}, {:?}", placed.optimality)
        }
        Conclusion::IncorrectUnderSc(..) => "incorrect under SC".to_string(),
        Conclusion::Unfixable(..) => "unfixable".to_string(),
        Conclusion::Inconclusive(reason) => format!("{reason:?}"),
    }
}

fn known(placement: &Placement) -> (u64, PointSet) {
    (placement.cost, placement.fences.clone())
}

/// If only some placements are asked for, the cheapest come.
fn first_few(
    program: &Program,
    setup: &Setup,
    costs: &Costs,
    expected: &[(u64, PointSet)],
    most: usize,
    what: &str,
) {
    let found = setup.infer(program, costs, Some(most), false);
    let Conclusion::Placed(placed) = &found.conclusion else {
        panic!("asked for {most}: {}, {what}", summary(&found.conclusion));
    };
    let sets: Vec<_> = placed.all.iter().map(known).collect();
    assert_eq!(sets, expected[..most], "asked for {most}, {what}");
    let more = most < expected.len() || placed.optimality == Optimality::Unknown;
    assert_eq!(placed.more, more, "asked for {most}, {what}");
}

/// There is a violation on the exact model with short buffers.
fn really_fails(program: &Program, setup: &Setup, fences: Mask) -> bool {
    (1..=4).any(|bound| {
        let exact = setup.under(setup.model, Abstraction::Exact { bound });
        exact.correct(program, fences) == Some(false)
    })
}

/// All programs of a seed that are small enough: with points for templates, and for
/// processes.
fn programs(seed: u64, options: &oracle::generate::Options) -> Vec<(Program, String)> {
    let case = case(seed, options);
    let own = case.program.per_process();
    let mut programs = vec![(case.program, format!("seed {seed}\n{}", case.text))];
    if own.points.len() > programs[0].0.points.len() {
        programs.push((own, format!("seed {seed}, per process\n{}", case.text)));
    }
    programs.retain(|(program, _)| program.points.len() <= MOST_POINTS);
    programs
}

/// Runs a check on random programs, in parallel.
fn random_programs(
    seeds: std::ops::Range<u64>,
    check: impl Fn(u64, &Program, &Setup, &str) -> Tally + Sync,
) -> Tally {
    let families = families();
    let tallies = families.par_iter().flat_map(|family| {
        let seeds = seeds.clone().into_par_iter();
        seeds.map(|seed| {
            let mut tally = Tally::default();
            for (program, name) in programs(seed, family) {
                for model in MODELS {
                    let setup = Setup {
                        model,
                        abstraction: Abstraction::Fd { k: 1 },
                        atomics: [Atomics::DrainPlace, Atomics::DrainAll][(seed % 2) as usize],
                        engine: EngineKind::Lazy,
                        ordering: OrderingRules::default(),
                    };
                    tally = tally + check(seed, &program, &setup, &name);
                }
            }
            tally
        })
    });
    tallies.reduce(Tally::default, |a, b| a + b)
}

/// The small litmus programs.
fn litmus(most_points: usize) -> Vec<(Program, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("algorithms/litmus");
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let programs = entries.map(|entry| {
        let path = entry.expect("it can be read").path();
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let source = Source::new(path.display().to_string(), text);
        let program = compile(&source).expect("the suite compiles");
        (program, source.name().to_string())
    });
    let programs = programs.filter(|(program, _)| program.points.len() <= most_points);
    programs.collect()
}

/// With a fixed k, inference finds exactly the minimal sets that verify.
#[test]
fn random_programs_with_a_fixed_head() {
    let tally = random_programs(seeds(0, 400), |seed, program, setup, name| {
        let mut tally = Tally::default();
        for k in 0..=2 {
            let setup = setup.under(setup.model, Abstraction::Fd { k });
            let truth = match seed % 8 {
                0 => Truth::of_each(program, &setup),
                _ => Truth::of_decisive(program, &setup),
            };
            let Some(truth) = truth else {
                tally.left_out += 1;
                continue;
            };
            assert!(truth.is_monotone(), "{setup:?} {name}");
            for costs in [uniform(program), prices(program, seed)] {
                tally = tally + compare_all(program, setup, &truth, &costs, name);
            }
        }
        tally
    });
    println!("{tally:?}");
    assert!(tally.placed > 500 && tally.several > 50, "{tally:?}");
    assert!(tally.correct > 250 && tally.stuck > 25, "{tally:?}");
    assert!(tally.wrong_under_sc > 250, "{tally:?}");
}

#[test]
fn litmus_programs_with_a_fixed_head() {
    let programs = litmus(12);
    let tallies = programs.par_iter().map(|(program, name)| {
        let mut tally = Tally::default();
        for model in MODELS {
            for k in 0..=2 {
                let setup = Setup {
                    model,
                    abstraction: Abstraction::Fd { k },
                    atomics: Atomics::DrainPlace,
                    engine: EngineKind::Lazy,
                    ordering: OrderingRules::default(),
                };
                let truth = match program.points.len() {
                    0..=6 => Truth::of_each(program, &setup),
                    _ => Truth::of_decisive(program, &setup),
                };
                let Some(truth) = truth else {
                    tally.left_out += 1;
                    continue;
                };
                assert!(truth.is_monotone(), "{setup:?} {name}");
                for costs in [uniform(program), prices(program, k as u64)] {
                    tally = tally + compare_all(program, setup, &truth, &costs, name);
                }
            }
        }
        tally
    });
    let tally = tallies.reduce(Tally::default, |a, b| a + b);
    println!("{} programs, {tally:?}", programs.len());
    assert!(programs.len() > 50 && tally.placed > 200, "{tally:?}");
    assert!(tally.left_out < 5, "{tally:?}");
}

/// What random programs seldom hold: fences that matter because of a position that a
/// property names, jumps past them, and several ways from one statement to the next.
const SHAPES: [&str; 10] = [
    // To be at a label with a store pending.
    "shared bool x; process p { store x = true; cs: skip; } forbid p at cs && x == 0;",
    "shared bool x; process p { store x = true; a: skip; b: skip; }
     forbid p at b && x == 0;",
    "shared bool x; process p { store x = true; a: skip; b: skip; }
     forbid p at a && x == 0; forbid p at b && x == 0;",
    // Only one of two ways leads past the place before the label.
    "shared bool x; process p { if (*) { store x = true; goto cs; } store x = true;
     cs: skip; } forbid p at cs && x == 0;",
    "shared bool x; process p { store x = true; either { skip; } or { } cs: skip; }
     forbid p at cs && x == 0;",
    // The label stands at the head and at the end of a loop.
    "shared bool x; process p { cs: while (true) { store x = true; store x = false; } }
     forbid p at cs && x == 1;",
    "shared bool x; process p { while (true) { store x = true; store x = false; cs: skip; } }
     forbid p at cs && x == 1;",
    // Store buffering round a loop, round a jump, and through empty branches.
    "shared bool x, y; process p { bool r; do { store x = true; load r = y; } while (*); end: skip; }
     process q { bool r; store y = true; load r = x; end: skip; }
     forbid p at end && q at end && p.r == 0 && q.r == 0;",
    "shared bool x, y; process p { bool r; store x = true; either { } or { } load r = y; }
     process q { bool r; store y = true; if (r) { } load r = x; } final p.r || q.r;",
    // A failing assertion, and a place where no fence may stand.
    "shared bool x, y; process p { bool r; store x = true; store y = true; }
     process q { bool r, s; load r = y; nofence { load s = x; } assert(!r || s); }",
];

#[test]
fn shapes_with_a_fixed_head() {
    let mut tally = Tally::default();
    for text in SHAPES {
        let program = compile(&Source::new("shape.fen", text));
        let program = program.unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
        for model in MODELS {
            for k in 0..=2 {
                let setup = Setup {
                    model,
                    abstraction: Abstraction::Fd { k },
                    atomics: Atomics::DrainPlace,
                    engine: EngineKind::Lazy,
                    ordering: OrderingRules::default(),
                };
                let truth = Truth::of_each(&program, &setup).expect("it is small");
                assert!(truth.is_monotone(), "{setup:?} {text}");
                tally = tally + compare_all(&program, setup, &truth, &uniform(&program), text);
            }
        }
    }
    println!("{tally:?}");
    assert_eq!(tally.wrong_under_sc + tally.left_out, 0, "{tally:?}");
    assert!(tally.placed > 40, "{tally:?}");
}

/// With k left open, what is found holds on the exact model, and so does what is said
/// about cheaper placements.
fn refined(program: &Program, setup: &Setup, costs: &Costs, name: &str) -> Tally {
    let mut tally = Tally::default();
    let found = setup.infer(program, costs, Some(ALL), true);
    let what = format!(
        "{setup:?} {costs:?}\n{}\n{name}",
        summary(&found.conclusion)
    );
    let exact = setup.under(setup.model, Abstraction::Exact { bound: 3 });
    let holds = |fences: &PointSet| exact.correct(program, mask(fences)) != Some(false);
    match &found.conclusion {
        Conclusion::IncorrectUnderSc(..) => {
            let sc = setup.under(Model::Sc, setup.abstraction);
            assert_eq!(sc.correct(program, 0), Some(false), "{what}");
            tally.wrong_under_sc = 1;
        }
        Conclusion::Correct(_) => {
            assert!(holds(&PointSet::new()), "not correct, {what}");
            tally.correct = 1;
        }
        Conclusion::Placed(placed) => {
            for placement in &placed.all {
                assert!(
                    holds(&placement.fences),
                    "{:?} fails, {what}",
                    known(placement)
                );
            }
            assert_eq!(placed.best.cost, placed.all[0].cost, "{what}");
            if placed.optimality == Optimality::Exact {
                tally.several = 1;
                cheaper_ones_fail(program, setup, costs, placed.best.cost, &what);
            }
            tally.placed = 1;
        }
        Conclusion::Unfixable(..) => {
            let fences = allowed(costs);
            assert!(really_fails(program, setup, fences), "unreal, {what}");
            tally.stuck = 1;
        }
        Conclusion::Inconclusive(_) => tally.left_out = 1,
    }
    tally
}

fn cheaper_ones_fail(program: &Program, setup: &Setup, costs: &Costs, best: u64, what: &str) {
    let sets = (0..1 << program.points.len()).filter(|&set: &Mask| set & !allowed(costs) == 0);
    let price = |set: Mask| cost(&points(set), costs);
    let cheaper: Vec<Mask> = sets.filter(|&set| price(set) < best).collect();
    // Only the largest: with fewer fences there are more executions.
    let largest = |set: &&Mask| {
        !cheaper
            .iter()
            .any(|other| other != *set && **set & !other == 0)
    };
    for &set in cheaper.iter().filter(largest) {
        let fails = really_fails(program, setup, set);
        assert!(fails, "{:?} is cheaper, {what}", points(set));
    }
}

#[test]
fn random_programs_with_a_growing_head() {
    let tally = random_programs(seeds(400, 1000), |seed, program, setup, name| {
        let costs = [uniform(program), prices(program, seed)];
        let each = costs.iter();
        each.map(|costs| refined(program, setup, costs, name))
            .fold(Tally::default(), |a, b| a + b)
    });
    // Here, `several` counts the placements that are optimal on the exact model.
    println!("{tally:?}");
    assert!(tally.placed > 100 && tally.several > 90, "{tally:?}");
}

#[test]
fn litmus_programs_with_a_growing_head() {
    let programs = litmus(12);
    let tallies = programs.par_iter().flat_map(|(program, name)| {
        MODELS.par_iter().map(move |&model| {
            let setup = Setup {
                model,
                abstraction: Abstraction::Fd { k: 1 },
                atomics: Atomics::DrainPlace,
                engine: EngineKind::Lazy,
                ordering: OrderingRules::default(),
            };
            refined(program, &setup, &uniform(program), name)
        })
    });
    let tally = tallies.reduce(Tally::default, |a, b| a + b);
    println!("{tally:?}");
    assert_eq!(tally.placed, tally.several, "{tally:?}");
    assert_eq!(tally.left_out + tally.stuck, 0, "{tally:?}");
}

/// Under PD a cheaper placement may be missed, but what is found verifies, and costs no
/// less than the cheapest under FD.
#[test]
fn random_programs_under_pd() {
    let tally = random_programs(seeds(2400, 40), |_, program, setup, name| {
        let mut tally = Tally::default();
        let others = [setup.by(EngineKind::Lazy), setup.by(EngineKind::Points)];
        let setups = orderings()
            .map(|rules| setup.ordered_by(rules))
            .chain(others);
        for (k, setup) in (0..=2).flat_map(|k| setups.clone().map(move |setup| (k, setup))) {
            let setup = setup.under(setup.model, Abstraction::Pd { k });
            let costs = uniform(program);
            let found = setup.infer(program, &costs, Some(ALL), false);
            let what = format!("{setup:?}\n{}\n{name}", summary(&found.conclusion));
            let verifies = |fences: Mask| setup.correct(program, fences);
            match &found.conclusion {
                Conclusion::IncorrectUnderSc(..) => tally.wrong_under_sc += 1,
                Conclusion::Correct(_) => {
                    assert_ne!(verifies(0), Some(false), "not correct, {what}");
                    tally.correct += 1;
                }
                Conclusion::Placed(placed) => {
                    assert_ne!(verifies(0), Some(true), "correct, {what}");
                    for placement in placed.all.iter().chain([&placed.best]) {
                        let fences = mask(&placement.fences);
                        assert_ne!(
                            verifies(fences),
                            Some(false),
                            "{:?}, {what}",
                            known(placement)
                        );
                    }
                    let fd = setup.under(setup.model, Abstraction::Fd { k });
                    if let Some(truth) = Truth::of_decisive(program, &fd) {
                        let least = truth.minimal(&costs)[0].0;
                        assert!(placed.best.cost >= least, "{what}");
                    }
                    if program.points.len() <= 6
                        && let Some(truth) = Truth::of_each(program, &setup)
                    {
                        let sets = truth.0.iter().enumerate().filter(|(_, correct)| **correct);
                        let least = sets.map(|(set, _)| set.count_ones()).min();
                        let least = u64::from(least.expect("the placement verifies"));
                        assert!(placed.best.cost >= least, "{what}");
                        // Here, `several` counts the placements that are cheapest under PD.
                        tally.several += usize::from(placed.best.cost == least);
                    }
                    if placed.optimality == Optimality::Exact {
                        cheaper_ones_fail(program, &setup, &costs, placed.best.cost, &what);
                    }
                    tally.placed += 1;
                }
                Conclusion::Unfixable(..) => {
                    let fences = allowed(&costs);
                    assert!(really_fails(program, &setup, fences), "unreal, {what}");
                    tally.stuck += 1;
                }
                Conclusion::Inconclusive(Obstacle::TooCoarse | Obstacle::Inexpressible) => {
                    tally.stuck += 1;
                }
                Conclusion::Inconclusive(
                    Obstacle::Unverified
                    | Obstacle::CostsTooLarge
                    | Obstacle::Heap
                    | Obstacle::Diverging
                    | Obstacle::Integers,
                ) => {
                    panic!("{what}")
                }
                Conclusion::Inconclusive(Obstacle::Limit(_) | Obstacle::FormulaTooLarge) => {
                    tally.left_out += 1
                }
            }
        }
        tally
    });
    println!("{tally:?}");
    assert!(tally.placed > 40, "{tally:?}");
}

/// Every way to choose one of `choices` for each of `count` things.
fn combinations<T: Copy>(count: usize, choices: &[T]) -> Vec<Vec<T>> {
    (0..count).fold(vec![Vec::new()], |all, _| {
        let longer = |chosen: &Vec<T>| {
            let chosen = chosen.clone();
            choices
                .iter()
                .map(move |choice| [&chosen[..], &[*choice]].concat())
        };
        all.iter().flat_map(longer).collect()
    })
}

/// No cheaper kinds of fences verify at the points of the placement, and those found hold
/// on the exact model. If k may grow, this is so for each k that is tried.
fn kinds_of_fences(auto: bool, seeds: std::ops::Range<u64>) -> Tally {
    let all = [FenceKind::Full, FenceKind::StoreLoad, FenceKind::StoreStore];
    random_programs(seeds, |seed, program, setup, name| {
        let mut tally = Tally::default();
        let prices = match seed % 3 {
            0 => Prices {
                full: 4,
                store_load: 3,
                store_store: 3,
            },
            _ => Prices::default(),
        };
        let options = InferOptions {
            kinds: Some(prices),
            ..setup.growing(auto, &uniform(program))
        };
        let found = infer(program, &options, &Monitor::default());
        let Conclusion::Placed(placed) = &found.conclusion else {
            return tally;
        };
        let best = &placed.best;
        let with = |kinds: &[FenceKind]| {
            let fences = best.fences.iter().copied();
            program.fenced_by(&fences.zip(kinds.iter().copied()).collect())
        };
        let price = |kinds: &[FenceKind]| -> u64 { kinds.iter().map(|k| prices.of(*k)).sum() };
        let what = format!("{setup:?} {:?} {:?}\n{name}", best.fences, best.kinds);
        assert_eq!(best.price, Some(price(&best.kinds)), "{what}");
        let last = setup.under(setup.model, found.abstraction);
        assert_eq!(last.proves(&with(&best.kinds)), Some(true), "{what}");
        let exact = setup.under(setup.model, Abstraction::Exact { bound: 3 });
        assert_ne!(exact.proves(&with(&best.kinds)), Some(false), "{what}");
        for setup in setup.tried(auto) {
            for kinds in combinations(best.fences.len(), &all) {
                let cheaper = best.fences.len() <= 4 && price(&kinds) < price(&best.kinds);
                assert!(
                    !cheaper || setup.proves(&with(&kinds)) != Some(true),
                    "{kinds:?} {what}"
                );
            }
        }
        tally.placed = 1;
        tally.several = usize::from(best.kinds.iter().any(|kind| *kind != FenceKind::Full));
        tally
    })
}

#[test]
fn kinds_against_brute_force() {
    let tally = kinds_of_fences(false, 2500..3100);
    println!("{tally:?}");
    assert!(tally.placed > 200 && tally.several > 100, "{tally:?}");
}

#[test]
fn kinds_with_a_growing_head() {
    let tally = kinds_of_fences(true, 3400..3700);
    println!("{tally:?}");
    assert!(tally.placed > 100 && tally.several > 50, "{tally:?}");
}

/// As many of a program's own fences are removable as any subset of them, for each k that
/// is tried; and if it is said that there are no more, then removing more is wrong on the
/// exact model.
fn removable_fences(auto: bool, k: usize, seeds: std::ops::Range<u64>) -> Tally {
    random_programs(seeds, |_, program, setup, name| {
        let mut tally = Tally::default();
        let setup = &setup.under(setup.model, Abstraction::Fd { k });
        let own: Vec<Span> = program.own_fences().into_keys().collect();
        let options = InferOptions {
            prune: true,
            ..setup.growing(auto, &uniform(program))
        };
        let found = infer(program, &options, &Monitor::default());
        let fences = match &found.conclusion {
            _ if own.is_empty() || own.len() > 5 => return tally,
            Conclusion::Correct(_) => PointSet::new(),
            Conclusion::Placed(placed) => placed.best.fences.clone(),
            _ => return tally,
        };
        let without = |removed: &BTreeSet<Span>| program.without_fences(removed).fenced(&fences);
        let removable = found.removable.expect("asked for");
        let removed: BTreeSet<Span> = removable.fences.into_keys().collect();
        let what = format!("{setup:?} {removed:?}\n{name}");
        let last = setup.under(setup.model, found.abstraction);
        assert_eq!(last.proves(&without(&removed)), Some(true), "{what}");
        for chosen in combinations(own.len(), &[false, true]) {
            let pairs = own.iter().zip(&chosen).filter(|(_, gone)| **gone);
            let other: BTreeSet<Span> = pairs.map(|(span, _)| *span).collect();
            if other.len() <= removed.len() {
                continue;
            }
            let other = without(&other);
            for setup in setup.tried(auto) {
                assert_ne!(setup.proves(&other), Some(true), "{what}");
            }
            let wrong = really_fails(&other, setup, 0);
            assert!(wrong || !removable.is_most, "{what}");
        }
        tally.placed = 1;
        tally.several = usize::from(removed.len() < own.len());
        // Here, `left_out` counts the answers that leave open whether there are more.
        tally.left_out = usize::from(!removable.is_most);
        tally
    })
}

#[test]
fn removable_fences_against_brute_force() {
    let tally = removable_fences(false, 1, 3100..3400);
    println!("{tally:?}");
    assert!(tally.placed > 200 && tally.several > 10, "{tally:?}");
    let coarse = removable_fences(false, 0, 3100..3400);
    println!("{coarse:?}");
    assert!(coarse.left_out > 0, "{coarse:?}");
}

#[test]
fn removable_fences_with_a_growing_head() {
    let tally = removable_fences(true, 1, 3700..4000);
    println!("{tally:?}");
    assert!(tally.placed > 200 && tally.several > 10, "{tally:?}");
}
