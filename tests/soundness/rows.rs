//! The search by rows finds the states of the plain search, and nothing else.

use crate::sets::semantics;
use fencesmith::limits::{Limits, Monitor};
use fencesmith::memory::{Abstraction, Model, Semantics};
use fencesmith::program::Program;
use fencesmith::space::{
    End, Exploration, Goal, Search, Snapshot, Standstill, explore, explore_by_rows,
};
use fencesmith_testing::cases::{Case, case, families, template_case};
use fencesmith_testing::programs;
use fencesmith_testing::random::seeds;
use rayon::prelude::*;
use std::collections::BTreeSet;

/// One thread searches state by state; so many as are given search by rows.
fn search(
    program: &Program,
    semantics: Semantics,
    goal: Goal,
    most_states: u64,
    rows: Option<usize>,
) -> Exploration {
    let search = Search {
        stepper: &semantics.stepper(program),
        goal,
        standstill: Standstill::Ignored,
        limits: &Limits {
            max_states: Some(most_states),
            ..Limits::default()
        },
        monitor: &Monitor::default(),
        threads: rows.unwrap_or(1),
    };
    match rows {
        None => explore(&search),
        Some(_) => {
            let (found, by_rows) = explore_by_rows(&search, true);
            assert!(by_rows);
            found
        }
    }
}

/// The same states, transitions, configurations and coverage, and the same violation with the
/// same trace; `false` if there are too many states to compare.
fn compare(
    program: &Program,
    semantics: Semantics,
    goal: Goal,
    most_states: u64,
    say: &dyn Fn() -> String,
) -> bool {
    let plain = search(program, semantics, goal, most_states, None);
    if plain.end != End::Exhausted {
        return false;
    }
    let states =
        |found: &Exploration| -> BTreeSet<Snapshot> { found.snapshots.iter().cloned().collect() };
    let counts = |found: &Exploration| {
        let of = &found.statistics;
        (of.states, of.transitions, of.configurations)
    };
    let violation = |found: &Exploration| {
        let violation = found.violation.as_ref();
        violation.map(|(what, trace)| (*what, trace.as_ref().map(|t| t.steps.len())))
    };
    for threads in [1, 2] {
        let rows = search(program, semantics, goal, most_states, Some(threads));
        assert_eq!(rows.end, End::Exhausted, "{}", say());
        assert!(states(&plain) == states(&rows), "other states: {}", say());
        assert_eq!(counts(&plain), counts(&rows), "{}", say());
        assert_eq!(plain.coverage, rows.coverage, "{}", say());
        assert_eq!(plain.no_room, rows.no_room, "{}", say());
        assert_eq!(violation(&plain), violation(&rows), "{}", say());
        assert!(violation(&rows).is_none_or(|(_, trace)| trace.is_some()));
    }
    // A first violation is that of the plain search, with all that it says.
    let first = |rows| search(program, semantics, Goal::FirstViolation, most_states, rows);
    let (plain, rows) = (first(None), first(Some(1)));
    assert_eq!(plain.end, rows.end, "{}", say());
    assert_eq!(violation(&plain), violation(&rows), "{}", say());
    assert_eq!(counts(&plain), counts(&rows), "{}", say());
    true
}

/// Compares a program under all semantics of a seed; the number of comparisons.
fn compare_all(case: &Case, seed: u64) -> usize {
    let program = case.program.fenced(&Default::default());
    let compared = semantics(seed).filter(|&semantics| {
        let say = || format!("seed {seed}, {semantics:?}\n{}", case.text);
        compare(&program, semantics, Goal::Snapshots, 6_000, &say)
    });
    compared.count()
}

#[test]
fn the_states_of_random_programs_are_the_same() {
    let compared: usize = families()
        .par_iter()
        .flat_map_iter(|family| seeds(0, 16).map(move |seed| (family, seed)))
        .map(|(family, seed)| compare_all(&case(seed, family), seed))
        .sum();
    assert!(compared > 500, "only {compared} comparisons");
}

#[test]
fn the_states_of_random_templates_are_the_same() {
    let compared: usize = (0..70u64)
        .into_par_iter()
        .map(|seed| compare_all(&template_case(seed), seed))
        .sum();
    assert!(compared > 500, "only {compared} comparisons");
}

/// On the suite there are as many states and transitions, and the same violations.
#[test]
fn the_suite_has_as_many_states() {
    let abstractions = [
        Abstraction::Exact { bound: 1 },
        Abstraction::Fd { k: 0 },
        Abstraction::Fd { k: 1 },
    ];
    let compared: usize = programs::all()
        .par_iter()
        .map(|name| {
            let program = programs::program(&programs::source(name)).fenced(&Default::default());
            let each = [Model::Tso, Model::Pso].into_iter();
            let each = each.flat_map(|model| abstractions.map(|a| Semantics::new(model, a)));
            let compared = each.filter(|&semantics| {
                let say = || format!("{name} under {semantics:?}");
                compare(&program, semantics, Goal::AllStates, 12_000, &say)
            });
            compared.count()
        })
        .sum();
    assert!(compared > 250, "only {compared} comparisons");
}
