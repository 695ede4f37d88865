//! Labels of the states that matter to the formula against labels of all states.

use fencesmith::infer::{
    Conclusion, EngineKind, Formula, InferOptions, Inference, Obstacle, OrderingRules, Paths,
    PdMerge, PdPrevent, infer,
};
use fencesmith::limits::{Limits, Monitor};
use fencesmith::memory::{Abstraction, Model};
use fencesmith::program::{PointSet, Program};
use fencesmith::verify::VerifyOptions;
use fencesmith_testing::cases::{case, families};
use rayon::prelude::*;

/// Larger spaces are left out.
const MOST_STATES: u64 = 200_000;

/// The ways to read ordering constraints that differ most.
const RULES: [OrderingRules; 2] = [
    OrderingRules {
        paths: Paths::All,
        pd_prevent: PdPrevent::Mix,
    },
    OrderingRules {
        paths: Paths::Acyclic,
        pd_prevent: PdPrevent::Latest,
    },
];

const ABSTRACTIONS: [Abstraction; 6] = [
    Abstraction::Fd { k: 0 },
    Abstraction::Fd { k: 1 },
    Abstraction::Fd { k: 2 },
    Abstraction::Pd { k: 0 },
    Abstraction::Pd { k: 1 },
    Abstraction::Pd { k: 2 },
];

fn options(model: Model, abstraction: Abstraction, program: &Program) -> InferOptions {
    let verify = VerifyOptions {
        limits: Limits {
            max_states: Some(MOST_STATES),
            ..Limits::default()
        },
        ..VerifyOptions::new(model, abstraction)
    };
    InferOptions {
        all: Some(1000),
        formula: true,
        ..InferOptions::new(verify, vec![Some(1); program.points.len()])
    }
}

/// The formula as it is shown; `None` if there is none.
fn shown(formula: &Option<Formula>) -> Option<String> {
    formula.as_ref().map(|formula| format!("{formula:?}"))
}

/// What was concluded, without traces.
fn concluded(found: &Inference) -> (String, Vec<PointSet>) {
    let conclusion = match &found.conclusion {
        Conclusion::Inconclusive(obstacle) => format!("{obstacle:?}"),
        Conclusion::Placed(placed) => format!("{:?} {}", placed.optimality, placed.more),
        Conclusion::Correct(_) => "correct".to_string(),
        Conclusion::IncorrectUnderSc(..) => "incorrect under SC".to_string(),
        Conclusion::Unfixable(_) => "unfixable".to_string(),
    };
    let placements = match &found.conclusion {
        Conclusion::Placed(placed) => {
            let all = [&placed.best].into_iter().chain(&placed.all);
            all.map(|placement| placement.fences.clone()).collect()
        }
        _ => Vec::new(),
    };
    (conclusion, placements)
}

/// How many formulas were compared, how many of them are not constant, and how often less was
/// labelled.
#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    formulas: usize,
    varied: usize,
    fewer: usize,
}

impl std::ops::Add for Tally {
    type Output = Tally;

    fn add(self, other: Tally) -> Tally {
        Tally {
            formulas: self.formulas + other.formulas,
            varied: self.varied + other.varied,
            fewer: self.fewer + other.fewer,
        }
    }
}

fn compare(program: &Program, relevant: &InferOptions, name: &str) -> Tally {
    let whole = InferOptions {
        whole: true,
        ..relevant.clone()
    };
    let [whole, relevant] =
        [&whole, relevant].map(|options| infer(program, options, &Monitor::default()));
    let (Some(all), Some(some)) = (whole.labelling, relevant.labelling) else {
        return Tally::default();
    };
    assert!(some.states <= all.states, "{name}");
    assert!(some.transitions <= all.transitions, "{name}");
    assert_eq!(shown(&whole.formula), shown(&relevant.formula), "{name}");
    assert_eq!(concluded(&whole), concluded(&relevant), "{name}");
    let clauses = whole
        .formula
        .map_or(0, |formula| match &formula.clauses[..] {
            [] => 0,
            [only] if only.is_empty() => 0,
            clauses => clauses.len(),
        });
    Tally {
        formulas: 1,
        varied: usize::from(clauses > 0),
        fewer: usize::from(some.updates < all.updates),
    }
}

/// Where only relevant states are merged, the formula is no stronger and still sufficient.
fn compare_merging(program: &Program, all: &InferOptions, name: &str) -> Tally {
    let relevant = InferOptions {
        pd_merge: PdMerge::Relevant,
        ..all.clone()
    };
    let [all, relevant] =
        [all, &relevant].map(|options| infer(program, options, &Monitor::default()));
    let (Some(whole), Some(part)) = (all.labelling, relevant.labelling) else {
        return Tally::default();
    };
    assert!(part.states <= whole.states, "{name}");
    let unverified = format!("{:?}", Obstacle::Unverified);
    assert_ne!(concluded(&relevant).0, unverified, "{name}");
    let (Some(strong), Some(weak)) = (&all.formula, &relevant.formula) else {
        return Tally::default();
    };
    for clause in &weak.clauses {
        let implies = |other: &Vec<_>| other.iter().all(|literal| clause.contains(literal));
        assert!(strong.clauses.iter().any(implies), "{clause:?} {name}");
    }
    Tally {
        formulas: 1,
        varied: usize::from(strong.clauses != weak.clauses),
        fewer: usize::from(part.states < whole.states),
    }
}

/// Makes a comparison on random programs, with the options of every engine.
fn random_programs(
    abstractions: &[Abstraction],
    compare: impl Fn(&Program, &InferOptions, &str) -> Tally + Sync,
) -> Tally {
    let families = families();
    let tallies = families.par_iter().flat_map(|family| {
        (5000..5060u64).into_par_iter().map(|seed| {
            let mut tally = Tally::default();
            let case = case(seed, family);
            let program = &case.program;
            for model in [Model::Tso, Model::Pso] {
                for &abstraction in abstractions {
                    let options = options(model, abstraction, program);
                    let name = format!("{model} {abstraction}\n{}", case.text);
                    let points = InferOptions {
                        engine: EngineKind::Points,
                        ..options.clone()
                    };
                    tally = tally + compare(program, &points, &name);
                    for ordering in RULES {
                        let ordered = InferOptions {
                            engine: EngineKind::Ordering,
                            ordering,
                            ..options.clone()
                        };
                        tally = tally + compare(program, &ordered, &name);
                    }
                }
            }
            tally
        })
    });
    tallies.reduce(Tally::default, |a, b| a + b)
}

/// The formula and all that follows from it do not depend on how much was labelled.
#[test]
fn what_is_not_labelled_does_not_matter() {
    let tally = random_programs(&ABSTRACTIONS, compare);
    println!("{tally:?}");
    assert!(tally.formulas > 3000 && tally.varied > 500, "{tally:?}");
    assert!(tally.fewer > 500, "{tally:?}");
}

/// What is not merged may allow more placements, and never forbids one.
#[test]
fn what_is_not_merged_forbids_nothing() {
    let tally = random_programs(&ABSTRACTIONS[3..], compare_merging);
    // Here, `varied` counts the formulas that differ.
    println!("{tally:?}");
    assert!(tally.formulas > 1500 && tally.fewer > 100, "{tally:?}");
}
