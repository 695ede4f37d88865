//! The search by sets finds the states of the plain search, and nothing else.

use fencesmith::limits::{Limits, Monitor, Watch};
use fencesmith::memory::{Abstraction, Atomics, Model, Semantics};
use fencesmith::program::Program;
use fencesmith::source::Source;
use fencesmith::space::{
    End, Exploration, Goal, Progress, Search, SetBudget, SetExplorer, Snapshot, Standstill, explore,
};
use fencesmith::verify::{Inconclusive, SearchKind, Verdict, VerifyOptions, verify};
use fencesmith_testing::cases::{Case, case, families, template_case};
use fencesmith_testing::programs;
use fencesmith_testing::random::seeds;
use rayon::prelude::*;
use std::collections::BTreeSet;

/// What states are searched under.
const ABSTRACTIONS: [Abstraction; 6] = [
    Abstraction::Exact { bound: 2 },
    Abstraction::Set,
    Abstraction::Fd { k: 0 },
    Abstraction::Fd { k: 1 },
    Abstraction::Fd { k: 2 },
    Abstraction::Fd { k: 3 },
];

const MOST_STATES: u64 = 6_000;

/// What the states of random programs are compared under.
pub fn semantics(seed: u64) -> impl Iterator<Item = Semantics> {
    let atomics = [Atomics::DrainPlace, Atomics::DrainAll][(seed % 2) as usize];
    let relaxed = [Model::Tso, Model::Pso].into_iter();
    let all = relaxed.flat_map(|model| ABSTRACTIONS.map(|abstraction| (model, abstraction)));
    let all = all.chain([(Model::Sc, Abstraction::Set)]);
    all.map(move |(model, abstraction)| Semantics {
        atomics,
        fuse: !seed.is_multiple_of(3),
        ..Semantics::new(model, abstraction)
    })
}

fn search(
    program: &Program,
    semantics: Semantics,
    goal: Goal,
    standstill: Standstill,
    sets: bool,
) -> Exploration {
    let stepper = semantics.stepper(program);
    let monitor = Monitor::default();
    let search = Search {
        stepper: &stepper,
        goal,
        standstill,
        limits: &Limits {
            max_states: Some(MOST_STATES),
            ..Limits::default()
        },
        monitor: &monitor,
        threads: 1,
    };
    match sets {
        true => in_portions(SetExplorer::new(program, &monitor, &search, true)),
        false => explore(&search),
    }
}

/// Searches by sets with many pauses.
fn in_portions(mut sets: SetExplorer) -> Exploration {
    let mut most_work = 10;
    loop {
        let budget = SetBudget {
            most_work,
            ..SetBudget::UNLIMITED
        };
        match sets.proceed(budget) {
            Progress::Ended(found) => return *found,
            Progress::Paused => most_work += most_work / 2,
            Progress::GivenUp => panic!("predicates are small"),
        }
    }
}

/// The same states, the same coverage, and a violation where there is one; `false` if there
/// are too many states to compare.
fn compare(
    program: &Program,
    semantics: Semantics,
    standstill: Standstill,
    say: &dyn Fn() -> String,
) -> bool {
    let plain = search(program, semantics, Goal::Snapshots, standstill, false);
    if plain.end != End::Exhausted {
        return false;
    }
    let sets = search(program, semantics, Goal::Snapshots, standstill, true);
    assert_eq!(sets.end, End::Exhausted, "{}", say());
    let states =
        |found: &Exploration| -> BTreeSet<Snapshot> { found.snapshots.iter().cloned().collect() };
    assert!(states(&plain) == states(&sets), "other states: {}", say());
    if plain.violation.is_none() {
        assert_eq!(plain.coverage, sets.coverage, "{}", say());
    }
    assert_eq!(plain.no_room, sets.no_room, "{}", say());
    assert_eq!(
        plain.violation.is_some(),
        sets.violation.is_some(),
        "{}",
        say()
    );
    // Only this search leaves out what others stand for.
    let first = search(program, semantics, Goal::FirstViolation, standstill, true);
    if plain.violation.is_none() {
        assert_eq!(plain.coverage, first.coverage, "{}", say());
        assert_eq!(plain.no_room, first.no_room, "{}", say());
    }
    assert_eq!(
        first.violation.is_some(),
        sets.violation.is_some(),
        "{}",
        say()
    );
    if let Some((_, trace)) = first.violation {
        let trace = trace.expect("nobody interrupts");
        let stepper = semantics.stepper(program);
        let mut now = trace.initial.clone();
        for step in &trace.steps {
            let possible = now
                .steps(&stepper, &Watch::never())
                .expect("nobody interrupts");
            let taken = possible.iter().find(|other| other.after == step.after);
            assert!(taken.is_some(), "not a step: {}", say());
            now = step.after.clone();
        }
        let wrong = now.violation_or(standstill, &stepper, &Watch::never());
        assert!(wrong.expect("nobody interrupts").is_some(), "{}", say());
    }
    true
}

/// Compares a program under all semantics of a seed; the number of comparisons.
fn compare_all(case: &Case, seed: u64) -> usize {
    let program = case.program.fenced(&Default::default());
    let standstill = [Standstill::Deadlock, Standstill::Stuck][(seed / 2 % 2) as usize];
    let compared = semantics(seed).filter(|&semantics| {
        let say = || format!("seed {seed}, {semantics:?}\n{}", case.text);
        compare(&program, semantics, standstill, &say)
    });
    compared.count()
}

#[test]
fn the_states_of_random_programs_are_the_same() {
    let compared: usize = families()
        .par_iter()
        .flat_map_iter(|family| seeds(0, 60).map(move |seed| (family, seed)))
        .map(|(family, seed)| compare_all(&case(seed, family), seed))
        .sum();
    assert!(compared > 1500, "only {compared} comparisons");
}

/// Instances of one template, which can mostly take each other's parts.
#[test]
fn who_is_who_makes_no_difference() {
    let compared: Vec<(usize, bool)> = (0..400u64)
        .into_par_iter()
        .map(|seed| {
            let case = template_case(seed);
            let program = case.program.fenced(&Default::default());
            let mut exchanges = program.exchanges(true).into_iter();
            let renames = exchanges.any(|exchange| !exchange.renames_nothing());
            (compare_all(&case, seed), renames)
        })
        .collect();
    let all: usize = compared.iter().map(|(count, _)| count).sum();
    let renaming = compared
        .iter()
        .filter(|(count, renames)| *renames && *count > 0);
    let renaming = renaming.count();
    assert!(all > 3000, "only {all} comparisons");
    assert!(
        (100..350).contains(&renaming),
        "{renaming} programs with exchanges"
    );
}

/// What is stored to places that nobody reads is forgotten, unless a property names them.
#[test]
fn values_that_nobody_reads_are_forgotten() {
    let text = "shared int[0..=9] log;
        shared int[0..=9] cells[10] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 9};
        shared bool done;
        process writer {
            int[0..=9] n = 0;
            while (n < 9) {
                n = n + 1;
                store log = n;
            }
            store done = true;
        }
        process reader {
            bool d;
            do {
                load d = done;
            } while (!d);
        end:
            skip;
        }\n";
    for model in [Model::Tso, Model::Pso] {
        let searched = |property: &str, sets: bool| {
            let source = Source::new("log", format!("{text}{property}"));
            let program = programs::program(&source).fenced(&Default::default());
            let semantics = Semantics::new(model, Abstraction::Fd { k: 1 });
            let goal = Goal::FirstViolation;
            search(&program, semantics, goal, Standstill::Ignored, sets)
        };
        let (forgotten, named) = (searched("", true), searched("forbid log > 9;", true));
        assert!(forgotten.violation.is_none() && named.violation.is_none());
        let states = |found: &Exploration| found.statistics.states;
        assert!(states(&forgotten) < states(&named));
        for property in [
            "forbid log == 9;",
            "forbid reader at end && log < 9;",
            "forbid cells[log] == 9;",
        ] {
            let found = searched(property, true);
            assert!(found.violation.is_some() && searched(property, false).violation.is_some());
        }
    }
}

/// Who stores to some cell may read another one behind that.
#[test]
fn what_is_in_other_cells_is_not_forgotten() {
    let text = "shared bool cells[2];
        shared bool go;
        process first {
            store cells[0] = true;
            fence;
            store go = true;
        }
        process second {
            bool g, found;
            int[0..=1] i = 0;
            do {
                load g = go;
            } while (!g);
            i = i + 1;
            store cells[i] = true;
            load found = cells[0];
            assert(!found);
        }";
    let source = Source::new("cells", text);
    let program = programs::program(&source).fenced(&Default::default());
    for model in [Model::Tso, Model::Pso] {
        let semantics = Semantics::new(model, Abstraction::Fd { k: 1 });
        for sets in [false, true] {
            let goal = Goal::FirstViolation;
            let found = search(&program, semantics, goal, Standstill::Ignored, sets);
            assert!(found.violation.is_some(), "{model}, by sets: {sets}");
        }
    }
}

/// Somebody who writes for ever what is there already only spins, whether or not it is read.
#[test]
fn what_is_written_again_and_again_is_not_forgotten() {
    let text = "shared bool x;
        process p {
            while (true) {
                atomic { store x = true; }
            }
        }";
    let source = Source::new("spin", text);
    let program = programs::program(&source).fenced(&Default::default());
    let semantics = Semantics::new(Model::Tso, Abstraction::Fd { k: 1 });
    for sets in [false, true] {
        let goal = Goal::FirstViolation;
        let found = search(&program, semantics, goal, Standstill::Stuck, sets);
        assert!(found.violation.is_some());
    }
}

/// A queue lock whose links are read by their owners only: without their old values there are
/// few products.
#[test]
fn old_links_of_a_queue_are_forgotten() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/growth");
    let text = std::fs::read_to_string(folder.join("mcs.fen")).expect("it is there");
    let program = programs::program(&Source::new("mcs", text)).fenced(&Default::default());
    let semantics = Semantics::new(Model::Pso, Abstraction::Fd { k: 1 });
    let goal = Goal::FirstViolation;
    let found = search(&program, semantics, goal, Standstill::Ignored, true);
    assert_eq!((found.end, found.statistics.states), (End::Exhausted, 1230));
}

/// On the suite: the same verdicts, and violations that exist on the exact model.
#[test]
fn the_suite_has_the_same_verdicts() {
    let decided: usize = programs::all()
        .par_iter()
        .map(|name| {
            let program = programs::program(&programs::source(name)).fenced(&Default::default());
            let each = [Model::Sc, Model::Tso, Model::Pso]
                .into_iter()
                .filter(|&model| {
                    let by = |search| {
                        let options = VerifyOptions {
                            search,
                            ..programs::capped(VerifyOptions::refining(model), 10_000)
                        };
                        verify(&program, &options, &Monitor::default()).verdict
                    };
                    let (plain, sets) = (by(SearchKind::Plain), by(SearchKind::Sets));
                    let limited =
                        |verdict| matches!(verdict, Verdict::Inconclusive(Inconclusive::Limit(_)));
                    if limited(plain) || limited(sets) {
                        return false;
                    }
                    assert_eq!(plain, sets, "{name} under {model}");
                    true
                });
            each.count()
        })
        .sum();
    assert!(decided > 300, "only {decided} verdicts");
}
