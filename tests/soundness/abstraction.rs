//! The abstract models cover the exact ones, and are ordered as they should be.

use fencesmith::lower::compile;
use fencesmith::memory::step::At;
use fencesmith::memory::{Abstraction, Atomics, Model};
use fencesmith::program::Program;
use fencesmith::source::Source;
use fencesmith::space::{End, Exploration};
use fencesmith_testing::cases::{Mode, case, families, run};
use fencesmith_testing::oracle::generate::Options;
use fencesmith_testing::random::seeds;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Memory, and control and locals of each process.
type Projection = (Vec<i64>, Vec<(At, Vec<i64>)>);

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
    let seeds: Vec<u64> = seeds(0, 80).collect();
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
    assert!(checked > 3300, "only {checked} explorations were complete");
}

/// Programs in which several store-store and store-load fences are pending at once.
fn chained() -> [Options; 3] {
    let chains = Options {
        with_chains: true,
        max_processes: 2,
        ..Options::default()
    };
    [
        Options {
            straight_line: true,
            with_atomics: false,
            ..chains.clone()
        },
        Options {
            with_loops: false,
            ..chains.clone()
        },
        chains,
    ]
}

/// Whether some process of some state has this many pending fences.
fn pending_at_once(found: &Exploration, fences: usize) -> bool {
    let configs = found.snapshots.iter().flat_map(|state| &state.configs);
    configs.map(|config| config.buffers.segments().len()).max() > Some(fences)
}

#[test]
fn several_pending_fences_are_covered() {
    let seeds: Vec<u64> = seeds(0, 70).collect();
    let counts: Vec<(usize, [usize; 3])> = chained()
        .par_iter()
        .flat_map(|options| seeds.par_iter().map(move |&seed| (options, seed)))
        .map(|(options, seed)| {
            let case = case(seed, options);
            let program = case.program.fenced(&Default::default());
            let mode = Mode {
                labelled: seed % 3 == 0,
                max_states: Some(20_000),
                ..FULL
            };
            let name = format!("seed {seed}\n{}", case.text);
            let models = [Model::Tso, Model::Pso].into_iter();
            let checked = models
                .map(|model| check(&program, model, Atomics::DrainPlace, &mode, &name))
                .sum::<usize>();
            let pso = |abstraction| {
                let what = (Model::Pso, abstraction);
                run(&program, what, Atomics::DrainPlace, &mode)
            };
            let (exact, abstract_) = (
                pso(Abstraction::Exact { bound: 3 }),
                pso(Abstraction::Fd { k: MOST_K }),
            );
            let pending = [
                pending_at_once(&exact, 2),
                pending_at_once(&exact, MOST_K + 1),
                pending_at_once(&abstract_, 2),
            ];
            (checked, pending.map(usize::from))
        })
        .collect();
    let checked: usize = counts.iter().map(|(checked, _)| checked).sum();
    let [two, many, kept] =
        [0, 1, 2].map(|at| counts.iter().map(|(_, pending)| pending[at]).sum::<usize>());
    assert!(checked > 1700, "only {checked} explorations were complete");
    assert!(two > 100, "two fences were pending in only {two} programs");
    assert!(many > 33, "more than FD keeps: only in {many} programs");
    assert!(
        kept > 100,
        "FD kept two fences apart only in {kept} programs"
    );
}

/// The order between the parts of a buffer, and what a load waits for, are forgotten only
/// if more fences are pending than k.
#[test]
fn pending_fences_are_told_apart_if_k_allows() {
    let reader = "process q { bool r, s; load r = y; load s = x; }";
    let ordered = format!(
        "shared bool x, y, z; process p {{ store x = 1; fence ss; store y = 1; fence ss; \
         store z = 1; }} {reader} final !(q.r == 1 && q.s == 0);"
    );
    let waiting = "shared bool x, y, z; process p { bool r; store x = 1; fence sl; store y = 1; \
                   fence ss; load r = z; } process q { bool s; store z = 1; fence; load s = x; } \
                   final !(p.r == 0 && q.s == 0);";
    for text in [&ordered, waiting] {
        let program = compile(&Source::new("chain.fen", text.to_string())).expect("it compiles");
        let program = program.fenced(&Default::default());
        let violated = |abstraction| {
            let what = (Model::Pso, abstraction);
            let found = run(&program, what, Atomics::DrainPlace, &FULL);
            assert_eq!(found.end, End::Exhausted, "{abstraction}: {text}");
            found.violation.is_some()
        };
        assert!(!violated(Abstraction::Exact { bound: 2 }), "{text}");
        assert!(violated(Abstraction::Fd { k: 1 }), "{text}");
        assert!(!violated(Abstraction::Fd { k: 2 }), "{text}");
        assert!(!violated(Abstraction::Pd { k: 2 }), "{text}");
    }
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
        max_states: Some(10_000),
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
