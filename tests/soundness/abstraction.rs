//! The abstract models cover the exact ones, and are ordered as they should be.

use fencesmith::lower::compile;
use fencesmith::memory::step::At;
use fencesmith::memory::{Abstraction, Atomics, Model};
use fencesmith::program::Program;
use fencesmith::source::Source;
use fencesmith::space::{End, Exploration};
use fencesmith_testing::cases::{Mode, case, families, run};
use fencesmith_testing::oracle::generate::Options;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Memory, and control and locals of each process.
type Projection = (Vec<i32>, Vec<(At, Vec<i32>)>);

const FULL: Mode = Mode {
    fuse: false,
    reset_dead: false,
    full: true,
    threads: 1,
    labelled: false,
    max_states: Some(60_000),
};

/// The largest k that is looked at.
const MOST_K: usize = 3;

/// The abstractions, finest first where they are ordered.
fn abstractions() -> Vec<Abstraction> {
    let fd = (0..=MOST_K).rev().map(|k| Abstraction::Fd { k });
    let pd = (0..=MOST_K).rev().map(|k| Abstraction::Pd { k });
    fd.chain(pd).chain([Abstraction::Set]).collect()
}

/// Pairs (finer, coarser) among them: FD(k+1) ⊆ FD(k) ⊆ PD(k), FD(0) ⊆ Set.
fn ordered_pairs() -> Vec<(Abstraction, Abstraction)> {
    let (fd, pd) = (|k| Abstraction::Fd { k }, |k| Abstraction::Pd { k });
    let mut pairs: Vec<_> = (0..MOST_K).map(|k| (fd(k + 1), fd(k))).collect();
    pairs.extend((0..=MOST_K).map(|k| (fd(k), pd(k))));
    pairs.push((fd(0), Abstraction::Set));
    pairs
}

fn project(found: &Exploration) -> BTreeSet<Projection> {
    let states = found.snapshots.iter().map(|state| {
        let configs = state.configs.iter();
        let configs = configs.map(|config| (config.at, config.locals.clone()));
        (state.memory.clone(), configs.collect())
    });
    states.collect()
}

/// Checks one program; how many inclusions were checked to the end.
fn check(program: &Program, model: Model, atomics: Atomics, mode: &Mode, name: &str) -> usize {
    let explore = |abstraction| run(program, (model, abstraction), atomics, mode);
    let exact = explore(Abstraction::Exact { bound: 3 });
    let concrete = project(&exact);
    let found: Vec<(Abstraction, BTreeSet<Projection>, bool)> = abstractions()
        .into_iter()
        .map(|abstraction| (abstraction, explore(abstraction)))
        .filter(|(_, found)| found.end == End::Exhausted)
        .map(|(abstraction, found)| (abstraction, project(&found), found.violation.is_some()))
        .collect();
    for (abstraction, states, violated) in &found {
        if let Some(missing) = concrete.difference(states).next() {
            panic!("{name}: {model} {abstraction} misses {missing:?}");
        }
        let hidden = exact.violation.is_some() && !violated;
        assert!(!hidden, "{name}: {model} {abstraction} hides a violation");
    }
    let of = |wanted| {
        found
            .iter()
            .find(|(abstraction, ..)| *abstraction == wanted)
    };
    for (finer, coarser) in ordered_pairs() {
        if let (Some((_, fine, _)), Some((_, coarse, _))) = (of(finer), of(coarser))
            && let Some(extra) = fine.difference(coarse).next()
        {
            panic!("{name}: {model} {finer} is not inside {coarser}: {extra:?}");
        }
    }
    found.len()
}

#[test]
fn random_programs_are_covered() {
    let seeds: Vec<u64> = (0..120).collect();
    let checked: usize = families()
        .par_iter()
        .flat_map(|options| seeds.par_iter().map(move |&seed| (options, seed)))
        .map(|(options, seed)| {
            let case = case(seed, options);
            let program = case.program.fenced(&Default::default());
            let atomics = [Atomics::DrainPlace, Atomics::DrainAll][(seed / 2 % 2) as usize];
            let mode = Mode {
                labelled: seed % 3 == 0,
                ..FULL
            };
            let name = format!("seed {seed}\n{}", case.text);
            let models = [Model::Tso, Model::Pso].into_iter();
            models
                .map(|model| check(&program, model, atomics, &mode, &name))
                .sum::<usize>()
        })
        .sum();
    assert!(checked > 5000, "only {checked} explorations were complete");
}

fn algorithms(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            algorithms(&path, out);
        } else if path.extension().is_some_and(|end| end == "fen") {
            out.push(path);
        }
    }
}

#[test]
fn the_suite_is_covered() {
    let mut files = Vec::new();
    algorithms(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("algorithms"),
        &mut files,
    );
    let mode = Mode {
        fuse: true,
        reset_dead: true,
        max_states: Some(20_000),
        ..FULL
    };
    let checked: usize = files
        .par_iter()
        .map(|path| {
            let text = std::fs::read_to_string(path).expect("it can be read");
            let source = Source::new(path.display().to_string(), text);
            let program = compile(&source).expect("the suite compiles");
            let program = program.fenced(&Default::default());
            let models = [Model::Tso, Model::Pso].into_iter();
            models
                .map(|model| check(&program, model, Atomics::DrainPlace, &mode, source.name()))
                .sum::<usize>()
        })
        .sum();
    assert!(checked > 1000, "only {checked} explorations were complete");
}

/// Two stores of the same value by different instructions must be able to drain, or the
/// store behind the fence would never happen.
#[test]
fn labelled_stores_of_one_value_drain() {
    let text = "shared bool x, w, y; process p { store x = 1; store x = 1; store w = 1; fence; \
                store y = 1; } forbid y == 1;";
    let program = compile(&Source::new("drain.fen", text)).expect("it compiles");
    let program = program.fenced(&Default::default());
    for labelled in [false, true] {
        for abstraction in abstractions() {
            let mode = Mode { labelled, ..FULL };
            let found = run(
                &program,
                (Model::Pso, abstraction),
                Atomics::DrainPlace,
                &mode,
            );
            assert!(
                found.violation.is_some(),
                "{abstraction} labelled: {labelled}"
            );
        }
    }
}

/// With k = 0 there is no order to keep, so TSO is PSO whose atomics drain everything.
#[test]
fn tso_without_a_head_is_pso_with_drain_all() {
    let options = Options {
        with_ss_sl: false,
        ..Options::default()
    };
    for seed in 0..60 {
        let case = case(seed, &options);
        let program = case.program.fenced(&Default::default());
        for abstraction in [
            Abstraction::Set,
            Abstraction::Fd { k: 0 },
            Abstraction::Pd { k: 0 },
        ] {
            let explore = |model| {
                let found = run(&program, (model, abstraction), Atomics::DrainAll, &FULL);
                (found.end == End::Exhausted).then(|| project(&found))
            };
            let same = explore(Model::Tso) == explore(Model::Pso);
            assert!(same, "{abstraction}\n{}", case.text);
        }
    }
}
