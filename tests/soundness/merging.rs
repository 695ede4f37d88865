//! The search of the partially disjunctive model against a naive one that merges whole
//! states in a map: the least fixed point does not depend on how it is found.

use fencesmith::limits::Watch;
use fencesmith::memory::step::{Config, Stepper, initial_values};
use fencesmith::memory::{Abstraction, Atomics, Model, Semantics};
use fencesmith::program::Program;
use fencesmith::space::{End, Snapshot};
use fencesmith_testing::cases::{Mode, case, families, run};
use fencesmith_testing::programs::{program, source};
use fencesmith_testing::random::seeds;
use rayon::prelude::*;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// A state without the contents of its sets.
fn skeleton(state: &Snapshot) -> Snapshot {
    let configs = state.configs.iter().map(|config| {
        Arc::new(Config {
            buffers: config.buffers.skeleton(),
            ..(**config).clone()
        })
    });
    Snapshot {
        memory: state.memory.clone(),
        configs: configs.collect(),
    }
}

/// The union of two states with the same skeleton.
fn join(state: &Snapshot, other: &Snapshot) -> Snapshot {
    let configs = state.configs.iter().zip(&other.configs);
    let configs = configs.map(|(config, other)| {
        Arc::new(Config {
            buffers: config.buffers.join(&other.buffers),
            ..(**config).clone()
        })
    });
    Snapshot {
        memory: state.memory.clone(),
        configs: configs.collect(),
    }
}

/// The states of the fixed point and the number of transitions between them; nothing if
/// there are more states than asked for.
fn fixed_point(
    stepper: &Stepper,
    initial: Snapshot,
    most: usize,
) -> Option<(BTreeSet<Snapshot>, u64)> {
    let mut merged: HashMap<Snapshot, Snapshot> = HashMap::new();
    let mut work: Vec<Snapshot> = Vec::new();
    let add = |state: Snapshot, merged: &mut HashMap<Snapshot, Snapshot>| {
        let key = skeleton(&state);
        let now = match merged.get(&key) {
            Some(old) => join(old, &state),
            None => state,
        };
        let grown = merged.get(&key) != Some(&now);
        merged.insert(key.clone(), now);
        grown.then_some(key)
    };
    let steps = |state: &Snapshot| match state.failed() {
        true => Vec::new(),
        false => state
            .steps(stepper, &Watch::never())
            .expect("nothing stops it"),
    };
    work.extend(add(initial, &mut merged));
    while let Some(key) = work.pop() {
        for step in steps(&merged[&key]) {
            work.extend(add(step.after, &mut merged));
        }
        if merged.len() > most {
            return None;
        }
    }
    let transitions = merged.values().map(|state| steps(state).len() as u64).sum();
    Some((merged.into_values().collect(), transitions))
}

/// The initial state, if there is only one.
fn only_start(stepper: &Stepper, program: &Program) -> Option<Snapshot> {
    let mut configs = Vec::new();
    for process in &program.processes {
        let mut all = stepper.initial(process, &Watch::never()).ok()?;
        configs.push(Arc::new(all.pop()?));
        if !all.is_empty() {
            return None;
        }
    }
    let values = program.places.iter().map(|place| {
        let mut values = initial_values(place.initial, place.domain);
        values.next().filter(|_| values.next().is_none())
    });
    Some(Snapshot {
        memory: values.collect::<Option<_>>()?,
        configs,
    })
}

/// Checks one program with several numbers of threads; whether it was small enough.
fn check(program: &Program, model: Model, k: usize, labelled: bool, name: &str) -> bool {
    const MOST: usize = 30_000;
    let abstraction = Abstraction::Pd { k };
    let mode = Mode {
        fuse: true,
        reset_dead: true,
        full: true,
        threads: 1,
        labelled,
        max_states: None,
    };
    let semantics = Semantics {
        model,
        abstraction,
        atomics: Atomics::DrainPlace,
        fuse: mode.fuse,
        reset_dead: mode.reset_dead,
    };
    let mut stepper = semantics.stepper(program);
    stepper.labelled = labelled;
    let start = only_start(&stepper, program);
    let Some(expected) = start.and_then(|start| fixed_point(&stepper, start, MOST)) else {
        return false;
    };
    let (states, transitions) = expected;
    let intact = states.iter().filter(|state| !state.failed());
    let intact: BTreeSet<&Snapshot> = intact.collect();
    for threads in [1, 2, 4] {
        let what = (model, abstraction);
        let found = run(
            program,
            what,
            Atomics::DrainPlace,
            &Mode { threads, ..mode },
        );
        let say = || format!("{name}: {model} PD({k}), {threads} threads");
        assert_eq!(found.end, End::Exhausted, "{}", say());
        assert_eq!(found.statistics.states, states.len() as u64, "{}", say());
        assert_eq!(found.statistics.transitions, transitions, "{}", say());
        let found: BTreeSet<&Snapshot> = found.snapshots.iter().collect();
        assert!(found == intact, "{}", say());
    }
    true
}

#[test]
fn random_programs_reach_the_fixed_point() {
    let seeds: Vec<u64> = seeds(0, 40).collect();
    let checked = families()
        .par_iter()
        .flat_map(|options| seeds.par_iter().map(move |&seed| (options, seed)))
        .map(|(options, seed)| {
            let case = case(seed, options);
            let program = case.program.fenced(&Default::default());
            let name = format!("seed {seed}\n{}", case.text);
            let model = [Model::Tso, Model::Pso][(seed % 2) as usize];
            let checks = (0..3).map(|k| check(&program, model, k, seed % 3 == 0, &name));
            checks.filter(|checked| *checked).count()
        })
        .sum::<usize>();
    assert!(checked > 200, "only {checked} programs were small enough");
}

/// These have queues that are long enough for several threads.
#[test]
fn the_suite_reaches_the_fixed_point() {
    let names = [
        ("mutex/dijkstra", 0),
        ("mutex/hyman", 2),
        ("mutex/szymanski", 0),
        ("paper/dek0", 0),
        ("paper/sense0", 0),
    ];
    names.par_iter().for_each(|(name, k)| {
        let program = program(&source(name)).fenced(&Default::default());
        for model in [Model::Tso, Model::Pso] {
            let checked = check(&program, model, *k, false, name);
            assert!(
                checked,
                "{name} under {model} has too many states, or initial ones"
            );
        }
    });
}
