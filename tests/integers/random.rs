//! Verdicts and executions of random programs against a naive interpreter.

use crate::generate::{Shape, program};
use fencesmith::infer::{AllowedGaps, Conclusion, InferOptions, allowed, infer};
use fencesmith::lang::insert_fences;
use fencesmith::lang::parser::parse;
use fencesmith::limits::{Limits, Monitor};
use fencesmith::lower::compile;
use fencesmith::memory::Model;
use fencesmith::program::{FenceKind, PointId, PointSet};
use fencesmith::record::{Initial, Step};
use fencesmith::replay::{Replay, replay};
use fencesmith::source::Source;
use fencesmith::verify::{Answer, Verdict, VerifyOptions, verify};
use fencesmith_testing::oracle::interpreter::{self, Atomics, Observation, Setup};
use fencesmith_testing::random::seeds;
use rayon::prelude::*;
use std::collections::BTreeSet;

pub const MODELS: [(Model, interpreter::Model); 3] = [
    (Model::Sc, interpreter::Model::Sc),
    (Model::Tso, interpreter::Model::Tso),
    (Model::Pso, interpreter::Model::Pso),
];

pub fn options(model: Model, join: bool) -> VerifyOptions {
    VerifyOptions {
        limits: Limits {
            max_states: Some(20_000),
            ..Limits::default()
        },
        join,
        ..VerifyOptions::refining(model)
    }
}

fn setup(model: interpreter::Model, max_states: usize) -> Setup {
    Setup {
        model,
        bound: 12,
        atomics: Atomics::DrainPlace,
        max_states,
    }
}

/// Whether the program is wrong, by the naive interpreter; none if it gave up.
pub fn wrong(source: &Source, model: interpreter::Model, most: usize) -> Option<bool> {
    let ast = parse(source).expect("it is a program");
    let answer = interpreter::explore(&ast, &setup(model, most));
    match (answer.violations.is_empty(), answer.complete) {
        (false, _) => Some(true),
        (true, true) if !answer.waited_for_room => Some(false),
        _ => None,
    }
}

/// The trace of a violation is written down, read and run again on the exact model.
fn replays(source: &Source, model: Model, answer: &Answer) {
    let whole = compile(source).expect("it compiles");
    let program = whole.fenced(&Default::default());
    let trace = answer.counterexample().and_then(|it| it.trace.as_ref());
    let trace = trace.expect("a violation has a trace");
    let initial = Initial::new(&program, source, &trace.initial);
    let steps = Step::all(&program, source, trace);
    let semantics = VerifyOptions::refining(model).semantics;
    let stepper = semantics.exact().stepper(&program);
    let again = replay(&stepper, source, &initial, &steps);
    assert!(
        matches!(again, Replay::Violated(..)),
        "{again:?}\n{}",
        source.text()
    );
}

/// A number that is chosen and that no local keeps is in the step alone.
#[test]
fn choices_that_nobody_reads_are_replayed() {
    let text = "shared integer y; process p { integer r, s; s = r + 1; havoc r in s..=s + 1; \
                load r = y; } final y > 5;";
    let source = Source::new("unread.fen", text);
    let program = compile(&source).expect("it compiles");
    let program = program.fenced(&Default::default());
    for (model, _) in MODELS {
        let answer = verify(&program, &options(model, false), &Monitor::default());
        assert_eq!(answer.verdict, Verdict::Violated);
        replays(&source, model, &answer);
    }
}

/// Counts of correct, violated and open verdicts.
type Tally = (usize, usize, usize);

fn compare(seed: u64, shape: Shape, most: usize) -> Tally {
    let source = Source::new("random.fen", program(seed, shape));
    let whole = compile(&source).unwrap_or_else(|e| panic!("{seed}: {e:?}\n{}", source.text()));
    let program = whole.fenced(&Default::default());
    let mut tally = (0, 0, 0);
    for (model, naive) in MODELS {
        let expected = wrong(&source, naive, most);
        for join in [false, true] {
            let answer = verify(&program, &options(model, join), &Monitor::default());
            let found = match answer.verdict {
                Verdict::Correct => Some(false),
                Verdict::Violated => Some(true),
                Verdict::Inconclusive(_) => None,
            };
            let fits = match (found, expected) {
                (Some(found), Some(expected)) => found == expected,
                _ => true,
            };
            let text = source.text();
            assert!(
                fits,
                "seed {seed} {model} join {join}: {found:?}, not {expected:?}\n{text}"
            );
            if found == Some(true) {
                replays(&source, model, &answer);
            }
            match found {
                _ if join => {}
                Some(false) => tally.0 += 1,
                Some(true) => tally.1 += 1,
                None => tally.2 += 1,
            }
        }
    }
    tally
}

fn total(all: impl ParallelIterator<Item = Tally>) -> Tally {
    all.reduce(|| (0, 0, 0), |a, b| (a.0 + b.0, a.1 + b.1, a.2 + b.2))
}

#[test]
fn verdicts_of_programs_without_loops() {
    let shape = |seed: u64| Shape {
        loops: false,
        octagons: seed.is_multiple_of(3),
        accesses: seed.is_multiple_of(5),
        statements: 6,
    };
    let tally = total(
        seeds(0, 300)
            .into_par_iter()
            .map(|seed| compare(seed, shape(seed), 30_000)),
    );
    println!("correct, violated, open: {tally:?}");
    assert!(tally.0 > 150 && tally.1 > 300, "{tally:?}");
    // Sets of stores lose what relates their values; exact heads are long enough here.
    assert!(20 * tally.2 < tally.0 + tally.1, "{tally:?}");
}

#[test]
fn verdicts_of_programs_with_loops() {
    let shape = |seed: u64| Shape {
        loops: true,
        octagons: seed.is_multiple_of(4),
        accesses: false,
        statements: 5,
    };
    let tally = total(
        seeds(0, 200)
            .into_par_iter()
            .map(|seed| compare(1 << 32 | seed, shape(seed), 3_000)),
    );
    println!("correct, violated, open: {tally:?}");
    assert!(tally.0 > 100 && tally.1 > 200, "{tally:?}");
}

/// A program whose property forbids what the memory model allows and SC does not.
fn relaxed(seed: u64, shape: Shape, naive: interpreter::Model) -> Option<Source> {
    let text = program(seed, shape);
    let end = ["\nforbid", "\ninvariant", "\nfinal"].map(|word| text.find(word));
    let text = text[..end.into_iter().flatten().min()?].to_string();
    let source = Source::new("random.fen", text.clone());
    let ends = |model| {
        let setup = setup(model, 20_000);
        let answer = interpreter::explore(&parse(&source).expect("it is a program"), &setup);
        let right = answer.complete && answer.violations.is_empty();
        let done = answer.quiescent.into_iter().filter(|state| {
            let mut processes = state.processes.iter();
            processes.all(|(_, _, next)| next.is_none())
        });
        let locals = |state: Observation| -> Vec<i64> {
            let seen = state.processes.iter().flat_map(|(_, locals, _)| locals);
            seen.filter(|(name, _)| name == "r" || name == "s")
                .map(|(_, value)| *value)
                .collect()
        };
        right.then(|| done.map(locals).collect::<BTreeSet<_>>())
    };
    let (sc, all) = (ends(interpreter::Model::Sc)?, ends(naive)?);
    let new = all.difference(&sc).next()?;
    let names = ["p.r", "p.s", "q.r", "q.s"].iter().zip(new);
    let outcome: Vec<String> = names
        .map(|(name, value)| format!("{name} == {value}"))
        .collect();
    let text = format!("{text}\nfinal !({});\n", outcome.join(" && "));
    Some(Source::new("random.fen", text))
}

/// The cheapest placements are enough, and cost what trying all sets of points says.
#[test]
fn placements_are_the_cheapest() {
    let shape = Shape {
        loops: false,
        octagons: false,
        accesses: true,
        statements: 5,
    };
    let seeds = seeds(0, 700).into_par_iter();
    let seeds = seeds.flat_map_iter(|seed| MODELS[1..].iter().map(move |m| (seed, *m)));
    let placed: usize = seeds
        .map(
            |(seed, (model, naive))| match relaxed(2 << 32 | seed, shape, naive) {
                Some(source) => usize::from(is_cheapest(&source, model, naive)),
                None => 0,
            },
        )
        .sum();
    println!("{placed} placements");
    assert!(placed >= 12, "only {placed} placements");
}

/// Whether fences are placed; they must be as few as can be.
fn is_cheapest(source: &Source, model: Model, naive: interpreter::Model) -> bool {
    let (program, text) = (compile(source).expect("it compiles"), source.text());
    let costs = allowed(&program, AllowedGaps::Anywhere).into_iter();
    let costs = costs.map(|allowed| allowed.then_some(1)).collect();
    let options = InferOptions::new(options(model, false), costs);
    let found = infer(&program, &options, &Monitor::default());
    let Conclusion::Placed(placed) = &found.conclusion else {
        return false;
    };
    let fails = |fences: &PointSet| {
        let sites = fences.iter().map(|point| {
            let site = &program.points[point.index()].sites[0];
            (*site, FenceKind::Full)
        });
        let typed = insert_fences(source, &sites.collect::<Vec<_>>());
        wrong(&Source::new("fenced.fen", typed), naive, 20_000) == Some(true)
    };
    let best = &placed.best;
    assert!(
        !fails(&best.fences),
        "wrong with its fences under {model}\n{text}"
    );
    let mut fewer = vec![PointSet::new()];
    for _ in 1..best.cost {
        let longer = fewer.iter().flat_map(|fences| {
            let next = fences.last().map_or(0, |last| last.0 + 1);
            (next..program.points.len() as u32).map(|point| {
                let mut fences = fences.clone();
                fences.insert(PointId(point));
                fences
            })
        });
        fewer = longer.collect();
    }
    for fences in fewer {
        assert!(
            fails(&fences),
            "{fences:?} are enough under {model}\n{text}"
        );
    }
    true
}
