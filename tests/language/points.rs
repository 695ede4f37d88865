//! A fence point is where a person can type a fence: the program with the fence typed in
//! behaves like the program that waits at the point, wherever in the text the point may be
//! written.

use fencesmith::fences;
use fencesmith::lang::insert_fences;
use fencesmith::limits::{Limits, Monitor};
use fencesmith::lower::compile;
use fencesmith::memory::step::Config;
use fencesmith::memory::{Abstraction, Buffers, Model, Semantics};
use fencesmith::program::{FenceKind, FenceSite, PointId, PointSet, Program, Value};
use fencesmith::source::Source;
use fencesmith::space::{End, Goal, Search, Standstill, explore};
use fencesmith::verify::{Inconclusive, Verdict};
use fencesmith_testing::oracle::generate;
use fencesmith_testing::programs::{answer, capped, exact, names, program, source};
use fencesmith_testing::random::Random;
use rayon::prelude::*;
use std::collections::HashSet;

const BOUND: usize = 2;

/// Larger programs are compared as far as this many states decide them.
const MAX_STATES: u64 = 20_000;

/// Larger spaces than this are not compared state by state.
const MAX_COMPARED: u64 = 3_000;

/// What is known of a program under one model, unless there are too many states to know.
fn outcome(program: &Program, model: Model) -> Option<Verdict> {
    let options = capped(exact(model, BOUND), MAX_STATES);
    match answer(program, &options).verdict {
        Verdict::Inconclusive(Inconclusive::Limit(_)) => None,
        outcome => Some(outcome),
    }
}

/// A state without the positions of its processes.
type Shadow = (Vec<Value>, Vec<(Vec<Value>, Buffers)>);

/// All reachable states without their positions, unless there are too many. A typed fence
/// is one more position, with the same values around it as the position it stands at, so
/// this is the same for a program that waits at a point.
fn shadows(program: &Program, model: Model) -> Option<HashSet<Shadow>> {
    let semantics = Semantics {
        fuse: false,
        reset_dead: false,
        ..Semantics::new(model, Abstraction::Exact { bound: BOUND })
    };
    let found = explore(&Search {
        stepper: &semantics.stepper(program),
        goal: Goal::Snapshots,
        standstill: Standstill::Ignored,
        limits: &Limits {
            max_states: Some(MAX_COMPARED),
            ..Limits::default()
        },
        monitor: &Monitor::default(),
        threads: 1,
    });
    let shadow = |config: &Config| (config.locals.clone(), config.buffers.clone());
    let all = found.snapshots.into_iter().map(|state| {
        let configs = state.configs.iter().map(|config| shadow(config));
        (state.memory, configs.collect())
    });
    (found.end == End::Exhausted).then(|| all.collect())
}

/// How many comparisons were made, and how many of the programs compared were violated.
#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    compared: usize,
    /// State by state.
    exactly: usize,
    violated: usize,
}

impl Tally {
    fn add(self, other: Tally) -> Tally {
        Tally {
            compared: self.compared + other.compared,
            exactly: self.exactly + other.exactly,
            violated: self.violated + other.violated,
        }
    }
}

/// A program, as it is and lowered.
struct Case {
    source: Source,
    whole: Program,
}

impl Case {
    fn new(source: Source) -> Case {
        let whole = program(&source);
        Case { source, whole }
    }

    /// Compares the program that waits at some points with the text that has fences there.
    fn check(&self, fences: &[(PointId, FenceSite)], model: Model) -> Tally {
        let points: PointSet = fences.iter().map(|(point, _)| *point).collect();
        let sites = fences.iter().map(|(_, site)| (*site, FenceKind::Full));
        let text = insert_fences(&self.source, &sites.collect::<Vec<_>>());
        let typed = program(&Source::new("typed.fen", text.clone()));
        let waits = self.whole.fenced(&points);
        let typed = typed.fenced(&PointSet::new());
        let say = || format!("{} under {model}, {fences:?}\n{text}", self.source.name());
        let mut tally = Tally::default();
        if let (Some(waits), Some(typed)) = (outcome(&waits, model), outcome(&typed, model)) {
            assert_eq!(waits, typed, "{}", say());
            tally.compared = 1;
            tally.violated = usize::from(typed == Verdict::Violated);
        }
        if let (Some(waits), Some(typed)) = (shadows(&waits, model), shadows(&typed, model)) {
            let difference = waits.symmetric_difference(&typed).next();
            assert_eq!(difference, None, "{}", say());
            tally.exactly = 1;
        }
        tally
    }

    /// All sites of all points.
    fn sites(&self) -> Vec<(PointId, FenceSite)> {
        let points = self.whole.points.iter().enumerate();
        let sites = points.flat_map(|(index, point)| {
            let id = PointId(index as u32);
            point.sites.iter().map(move |site| (id, *site))
        });
        sites.collect()
    }

    fn check_single(&self, models: &[Model]) -> Tally {
        let sites = self.sites();
        let runs = sites
            .iter()
            .flat_map(|site| models.iter().map(move |model| (site, *model)));
        runs.map(|(site, model)| self.check(&[*site], model))
            .fold(Tally::default(), Tally::add)
    }

    /// Random pairs of sites, of the same point or of two.
    fn check_pairs(&self, seed: u64, pairs: usize, models: &[Model]) -> Tally {
        let sites = self.sites();
        let mut random = Random(seed);
        let runs = (0..pairs).filter(|_| sites.len() > 1).map(|_| {
            let pair = [random.pick(&sites), random.pick(&sites)];
            let model = random.pick(models);
            self.check(&pair, model)
        });
        runs.fold(Tally::default(), Tally::add)
    }
}

/// Checks every case in parallel; both verdicts must have turned up often enough.
fn check(cases: Vec<Case>, least: usize, of: impl Fn(u64, &Case) -> Tally + Sync) {
    let numbered: Vec<(u64, Case)> = (0..).zip(cases).collect();
    let tally = numbered
        .par_iter()
        .map(|(index, case)| of(*index, case))
        .reduce(Tally::default, Tally::add);
    println!("{tally:?}");
    assert!(tally.compared >= least, "{tally:?}");
    assert!(tally.exactly * 10 >= tally.compared, "{tally:?}");
    assert!(tally.violated * 20 >= tally.compared, "{tally:?}");
    assert!(tally.violated * 20 <= tally.compared * 19, "{tally:?}");
}

fn algorithms(folders: &[&str]) -> Vec<Case> {
    let names = names(folders);
    names.iter().map(|name| Case::new(source(name))).collect()
}

fn random_programs(seeds: std::ops::Range<u64>) -> Vec<Case> {
    let options = generate::Options {
        max_processes: 2,
        ..generate::Options::default()
    };
    let texts = seeds.map(|seed| (seed, generate::program(seed, &options)));
    texts
        .map(|(seed, text)| Case::new(Source::new(format!("random program {seed}"), text)))
        .collect()
}

const BUFFERED: [Model; 2] = [Model::Tso, Model::Pso];

#[test]
fn one_fence_in_litmus_shapes() {
    let cases = algorithms(&["litmus"]);
    check(cases, 1_000, |_, case| case.check_single(&BUFFERED));
}

#[test]
fn one_fence_in_mutexes_and_locks() {
    let cases = algorithms(&["mutex", "lock"]);
    check(cases, 500, |_, case| case.check_single(&[Model::Pso]));
}

#[test]
fn two_fences_in_algorithms() {
    let cases = algorithms(&["litmus", "lock", "mutex"]);
    check(cases, 500, |seed, case| {
        case.check_pairs(seed, 8, &BUFFERED)
    });
}

/// Macros, with fences in their bodies and around their calls: everything is called twice, in one
/// process or in two, in a row and with something between.
fn macros() -> Vec<Case> {
    let texts = [
        "shared bool x, y;
        macro put(a, b, r) { store a = true; load r = b; }
        process p { bool r; put(x, y, r); }
        process q { bool r; put(y, x, r); }
        final p.r || q.r;",
        "shared int[0..=2] x, y;
        macro both(v) { store x = v; store y = v; }
        process p { both(1); both(2); }
        process q { int[0..=2] r, s; load r = y; load s = x; }
        final q.r <= q.s;",
        "shared bool l; shared int[0..=2] n;
        macro take(r) { do swap r = l, true; while (r); }
        macro give() { store l = false; }
        macro count(r) { take(r); load r = n; store n = r + 1; give(); }
        process p { int[0..=2] r; count(r); if (r < 1) { count(r); } else give(); }
        process q { int[0..=2] r; while (r < 1) count(r); }
        final n >= 1 && p.r <= n;",
        "shared bool x[2]; 
        macro nothing() { }
        macro flag(i) { store x[i] = true; }
        process p[i in 0..=1] { bool r; int[0..=1] k; repeat (1) flag(i); nothing();
            for (k in 0..=0) { load r = x[1 - i]; } nothing(); }
        final p[0].r || p[1].r;",
    ];
    let sources = texts.iter().enumerate();
    let sources = sources.map(|(at, text)| Source::new(format!("macros {at}"), *text));
    sources.map(Case::new).collect()
}

#[test]
fn fences_in_macros() {
    check(macros(), 60, |_, case| case.check_single(&BUFFERED));
    check(macros(), 100, |seed, case| {
        case.check_pairs(seed, 40, &BUFFERED)
    });
}

#[test]
fn one_fence_in_random_programs() {
    let cases = random_programs(0..80);
    check(cases, 1_000, |_, case| case.check_single(&[Model::Pso]));
}

#[test]
fn two_fences_in_random_programs() {
    let cases = random_programs(300..420);
    check(cases, 800, |seed, case| {
        case.check_pairs(seed, 8, &BUFFERED)
    });
}

#[test]
fn every_point_is_found_by_its_name() {
    let mut cases = random_programs(0..200);
    cases.extend(algorithms(&["litmus", "lock", "mutex", "paper", "queue"]));
    cases.extend(macros());
    for case in cases {
        for index in 0..case.whole.points.len() {
            let point = PointId(index as u32);
            let name = fences::name(&case.whole, &case.source, point);
            let place = name.parse().expect("a name is a place");
            let found = fences::find(&case.whole, &case.source, &place);
            assert_eq!(found, Ok(point), "{name} in {}", case.source.name());
        }
    }
}

/// A property knows where its labels are in the program with fences, in array indices, too.
#[test]
fn labels_are_followed_wherever_a_property_names_them() {
    let properties = [
        "forbid p at L;",
        "forbid a[p at L ? 1 : 0];",
        "forbid a[a[p at L]];",
        "invariant a[p at L] == 0;",
    ];
    for property in properties {
        let text = format!(
            "shared bool a[2] = {{0, 1}}, x; \
             process p {{ store x = 1; store x = 0; {{ skip; }} L: store x = 1; skip; }} {property}"
        );
        let whole = compile(&Source::new("labels.fen", text)).expect("it compiles");
        let everywhere = (0..whole.points.len() as u32).map(PointId).collect();
        for fences in [PointSet::new(), everywhere] {
            let found = outcome(&whole.fenced(&fences), Model::Sc);
            assert_eq!(found, Some(Verdict::Violated), "{property}");
        }
    }
}
